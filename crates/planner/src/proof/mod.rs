//! "How we know": the simulator's own truths, checked anew whenever somebody asks.
//!
//! A proof is a question like [`Plan`](crate::Plan): a state machine that hands out independent
//! [`ProofJob`]s and takes their [`Finding`]s back in job order.
//!
//! ```text
//!   seed ──▶ random set-ups, every policy ──▶ truths with both sides of each comparison
//!        ──▶ queues with closed forms     ──▶ theory beside the simulation's own interval
//!        ──▶ engines under overload       ──▶ plateaus beside their ceilings
//!        ──▶ published settings           ──▶ printed figures beside ours
//! ```
//!
//! Everything follows from the seed, to the bit: the page, the command line and the tests see the
//! same numbers, and the fingerprint says so.

mod answer;
mod check;
mod published;
mod queues;
mod records;
mod saturation;
mod setups;

pub use answer::{
    Compared, Plateau, PlateauKind, Printed, ProofAnswer, PublishedCell, Queue, QueuePoint, State,
    Truth, TruthKind,
};
pub use check::{Finding, ProofJob};
pub use queues::MOST_QUEUES_OUTSIDE;

use answer::{merge, tests_of};
use check::Check;

/// Random set-ups: each policy is met this often.
const SETUPS_PER_POLICY: u32 = 20;
/// Set-ups in one round.
const SETUPS_PER_ROUND: u32 = 44;

/// The question "how do we know?".
#[derive(Clone, Debug)]
pub struct Proof {
    seed: u64,
    /// Checks that have not been handed out, the next round last.
    rounds: Vec<Vec<Check>>,
    pending: usize,
    answer: ProofAnswer,
}

impl Proof {
    /// Ask. Another seed makes other set-ups and other arrivals.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut rounds = Vec::new();
        let setups = SETUPS_PER_POLICY * setups::POLICIES;
        let mut first = 0;
        while first < setups {
            let end = (first + SETUPS_PER_ROUND).min(setups);
            rounds.push((first..end).map(Check::Setup).collect());
            first = end;
        }
        rounds.push((0..saturation::POINTS).map(Check::Plateau).collect());
        rounds.push((0..published::SETTINGS).map(Check::Published).collect());
        for load in 0..queues::LOADS.len() {
            rounds.push(Queue::ALL.iter().map(|&queue| Check::Queue(queue, load)).collect());
        }
        rounds.reverse();
        let total = rounds.iter().map(Vec::len).sum::<usize>() as u32;
        Self { seed, rounds, pending: 0, answer: ProofAnswer::new(seed, total) }
    }

    /// Checks that can be made now, independent of each other; none when all are made. Their
    /// findings must be [accepted](Self::accept) before more are asked for.
    #[must_use]
    pub fn next_jobs(&mut self) -> Vec<ProofJob> {
        let round = self.rounds.pop().unwrap_or_default();
        self.pending = round.len();
        let seed = self.seed;
        round.into_iter().map(|check| ProofJob { seed, check }).collect()
    }

    /// Take the findings of the jobs handed out last, in job order.
    pub fn accept(&mut self, findings: Vec<Finding>) {
        for finding in findings.into_iter().take(self.pending) {
            merge(&mut self.answer, finding);
        }
        self.pending = 0;
        tests_of(&mut self.answer, self.rounds.is_empty());
    }

    /// Checks made, and how many there are.
    #[must_use]
    pub const fn progress(&self) -> (u32, u32) {
        (self.answer.done, self.answer.total)
    }

    /// What has been found so far.
    #[must_use]
    pub const fn answer(&self) -> &ProofAnswer {
        &self.answer
    }

    /// Whether every check has been made.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.answer.is_complete()
    }
}

/// Prove here and now, one check after the other.
#[must_use]
pub fn prove_inline(seed: u64) -> ProofAnswer {
    let mut proof = Proof::new(seed);
    loop {
        let jobs = proof.next_jobs();
        if jobs.is_empty() {
            return proof.answer;
        }
        let findings = jobs.iter().map(ProofJob::run).collect();
        proof.accept(findings);
    }
}
