//! Who waits, in the order of admission.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, VecDeque},
};

use crate::engine::vllm::spec::Policy;

/// How important a request is: priority, then arrival; the least goes first.
pub(super) type Rank = (i64, u64);

/// A waiting request under `priority`. No two have the same rank; the greatest is the first to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    rank: Rank,
    id: u32,
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

/// Waiting requests, by their journeys.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    Fcfs(VecDeque<u32>),
    Priority(BinaryHeap<Place>),
}

impl Waiting {
    pub(super) const fn new(policy: Policy) -> Self {
        match policy {
            Policy::Fcfs => Self::Fcfs(VecDeque::new()),
            Policy::Priority => Self::Priority(BinaryHeap::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Fcfs(queue) => queue.len(),
            Self::Priority(queue) => queue.len(),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A request comes; its rank is asked for where it decides.
    #[inline]
    pub(super) fn add(&mut self, id: u32, rank: impl FnOnce() -> Rank) {
        match self {
            Self::Fcfs(queue) => queue.push_back(id),
            Self::Priority(queue) => queue.push(Place { rank: rank(), id }),
        }
    }

    /// A preempted request comes back to the front; under `priority` it has no claim to it.
    pub(super) fn put_back(&mut self, id: u32, rank: Rank) {
        match self {
            Self::Fcfs(queue) => queue.push_front(id),
            Self::Priority(queue) => queue.push(Place { rank, id }),
        }
    }

    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        match self {
            Self::Fcfs(queue) => queue.front().copied(),
            Self::Priority(queue) => queue.peek().map(|first| first.id),
        }
    }

    #[inline]
    pub(super) fn pop_first(&mut self) {
        match self {
            Self::Fcfs(queue) => {
                queue.pop_front();
            }
            Self::Priority(queue) => {
                queue.pop();
            }
        }
    }

    /// Whoever it is leaves the queue, wherever it stands.
    pub(super) fn remove(&mut self, id: u32) {
        match self {
            Self::Fcfs(queue) => queue.retain(|&other| other != id),
            Self::Priority(queue) => queue.retain(|other| other.id != id),
        }
    }

    /// All of them, first to last.
    #[cfg(any(test, feature = "oracle"))]
    pub(super) fn all(&self) -> Vec<u32> {
        match self {
            Self::Fcfs(queue) => queue.iter().copied().collect(),
            Self::Priority(queue) => {
                let last_to_first = queue.clone().into_sorted_vec();
                last_to_first.into_iter().rev().map(|place| place.id).collect()
            }
        }
    }
}
