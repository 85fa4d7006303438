//! Who waits, in the order of admission.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, VecDeque},
};

use crate::{engine::vllm::spec::Policy, workload::Request};

/// How important a request is: priority, then arrival; the least goes first.
pub(super) type Rank = (i64, u64);

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Candidate {
    /// It has never run.
    New(Request),
    /// It was preempted.
    Preempted(u32),
}

/// A waiting request under `priority`. No two have the same rank; the greatest is the first to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    rank: Rank,
    candidate: Candidate,
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        other.rank.cmp(&self.rank)
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Place {}

/// Waiting requests.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    Fcfs {
        /// The first to resume last.
        preempted: Vec<u32>,
        arrived: VecDeque<Request>,
    },
    Priority(BinaryHeap<Place>),
}

impl Waiting {
    pub(super) const fn new(policy: Policy) -> Self {
        match policy {
            Policy::Fcfs => Self::Fcfs { preempted: Vec::new(), arrived: VecDeque::new() },
            Policy::Priority => Self::Priority(BinaryHeap::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Fcfs { preempted, arrived } => preempted.len() + arrived.len(),
            Self::Priority(queue) => queue.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Fcfs { preempted, arrived } => preempted.is_empty() && arrived.is_empty(),
            Self::Priority(queue) => queue.is_empty(),
        }
    }

    pub(super) fn add(&mut self, request: Request, rank: Rank) {
        match self {
            Self::Fcfs { arrived, .. } => arrived.push_back(request),
            Self::Priority(queue) => {
                queue.push(Place { rank, candidate: Candidate::New(request) });
            }
        }
    }

    /// A preempted request comes back; under `priority` it has no claim to the front.
    pub(super) fn put_back(&mut self, id: u32, rank: Rank) {
        match self {
            Self::Fcfs { preempted, .. } => preempted.push(id),
            Self::Priority(queue) => {
                queue.push(Place { rank, candidate: Candidate::Preempted(id) });
            }
        }
    }

    pub(super) fn first(&self) -> Option<Candidate> {
        match self {
            Self::Fcfs { preempted, arrived } => match preempted.last() {
                Some(id) => Some(Candidate::Preempted(*id)),
                None => arrived.front().copied().map(Candidate::New),
            },
            Self::Priority(queue) => queue.peek().map(|first| first.candidate),
        }
    }

    pub(super) fn pop_first(&mut self) {
        match self {
            Self::Fcfs { preempted, arrived } => {
                if preempted.pop().is_none() {
                    arrived.pop_front();
                }
            }
            Self::Priority(queue) => {
                queue.pop();
            }
        }
    }

    /// All of them, first to last.
    #[cfg(any(test, feature = "oracle"))]
    pub(super) fn all(&self) -> Vec<Candidate> {
        match self {
            Self::Fcfs { preempted, arrived } => {
                let resumed = preempted.iter().rev().map(|&id| Candidate::Preempted(id));
                resumed.chain(arrived.iter().copied().map(Candidate::New)).collect()
            }
            Self::Priority(queue) => {
                let last_to_first = queue.clone().into_sorted_vec();
                last_to_first.into_iter().rev().map(|place| place.candidate).collect()
            }
        }
    }
}
