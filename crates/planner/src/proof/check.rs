//! One check, and what it found.

use super::{
    answer::{Plateau, PublishedCell, Queue, QueuePoint, TruthKind},
    published, queues, saturation, setups,
};

/// An independent check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProofJob {
    pub(super) seed: u64,
    pub(super) check: Check,
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Check {
    /// Every truth on one random set-up.
    Setup(u32),
    /// A queue at one of the loads.
    Queue(Queue, usize),
    /// An engine that never runs out of work.
    Plateau(usize),
    /// A published setting with its printed figures.
    Published(usize),
}

impl ProofJob {
    /// Make the check. One takes milliseconds to some tens of them.
    #[must_use]
    pub fn run(&self) -> Finding {
        let seed = self.seed;
        let found = match self.check {
            Check::Setup(index) => setups::check(seed, index),
            Check::Queue(queue, load) => queues::check(seed, queue, load),
            Check::Plateau(index) => saturation::check(seed, index),
            Check::Published(index) => published::check(seed, index),
        };
        found.unwrap_or_else(|problem| Finding::failed(self.check.kind(), problem))
    }
}

impl Check {
    /// The truth that falls with a check that cannot be made.
    const fn kind(self) -> TruthKind {
        match self {
            Self::Setup(_) => TruthKind::Conservation,
            Self::Queue(..) => TruthKind::Queues,
            Self::Plateau(_) => TruthKind::Plateaus,
            Self::Published(_) => TruthKind::Published,
        }
    }
}

/// What one check found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// Requests simulated.
    pub(super) requests: u64,
    /// Mixes the bits of every outcome.
    pub(super) bits: u64,
    /// One entry for each truth that was looked at.
    pub(super) readings: Vec<Reading>,
    pub(super) queue: Option<QueuePoint>,
    pub(super) plateau: Option<Plateau>,
    pub(super) cells: Vec<PublishedCell>,
}

/// One truth on one set-up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) kind: TruthKind,
    /// As [`TruthKind`] documents them.
    pub(super) figures: [f64; 5],
    pub(super) problem: Option<String>,
}

impl Finding {
    fn failed(kind: TruthKind, problem: String) -> Self {
        let reading = Reading { kind, figures: [0.0; 5], problem: Some(problem) };
        Self { readings: vec![reading], ..Self::default() }
    }
}
