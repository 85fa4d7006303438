//! Who is waiting, in the order of admission.

use std::collections::{BTreeSet, VecDeque};

use crate::engine::vllm::Policy;

use super::request::{RequestId, Tracked};

/// Waiting requests.
#[derive(Clone, Debug)]
pub(super) enum WaitingQueue {
    Fcfs(VecDeque<RequestId>),
    /// By priority, arrival and number.
    Priority(BTreeSet<(i64, u64, RequestId)>),
}

impl WaitingQueue {
    pub(super) const fn new(policy: Policy) -> Self {
        match policy {
            Policy::Fcfs => Self::Fcfs(VecDeque::new()),
            Policy::Priority => Self::Priority(BTreeSet::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Fcfs(queue) => queue.len(),
            Self::Priority(queue) => queue.len(),
        }
    }

    /// A request came.
    pub(super) fn add(&mut self, request: &Tracked) {
        match self {
            Self::Fcfs(queue) => queue.push_back(request.id),
            Self::Priority(queue) => {
                queue.insert(place(request));
            }
        }
    }

    /// A request comes back; under `priority` it has no claim to the front.
    pub(super) fn put_back(&mut self, request: &Tracked) {
        match self {
            Self::Fcfs(queue) => queue.push_front(request.id),
            Self::Priority(queue) => {
                queue.insert(place(request));
            }
        }
    }

    pub(super) fn first(&self) -> Option<RequestId> {
        match self {
            Self::Fcfs(queue) => queue.front().copied(),
            Self::Priority(queue) => queue.first().map(|&(_, _, id)| id),
        }
    }

    pub(super) fn remove(&mut self, request: &Tracked) {
        match self {
            // The first, where admission takes it from.
            Self::Fcfs(queue) if queue.front() == Some(&request.id) => {
                queue.pop_front();
            }
            Self::Fcfs(queue) => queue.retain(|&id| id != request.id),
            Self::Priority(queue) => {
                queue.remove(&place(request));
            }
        }
    }

    pub(super) fn ids(&self) -> Vec<RequestId> {
        match self {
            Self::Fcfs(queue) => queue.iter().copied().collect(),
            Self::Priority(queue) => queue.iter().map(|&(_, _, id)| id).collect(),
        }
    }
}

const fn place(request: &Tracked) -> (i64, u64, RequestId) {
    (request.priority, request.arrival, request.id)
}
