//! Running requests by importance.

use super::waiting::Rank;

/// A sorted list: there are at most as many running requests as slots, so that keeping it costs
/// less than a tree does.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    sorted: Vec<(Rank, u32)>,
}

impl Ranks {
    pub(super) const fn new() -> Self {
        Self { sorted: Vec::new() }
    }

    pub(super) fn insert(&mut self, rank: Rank, id: u32) {
        let place = self.place(rank);
        self.sorted.insert(place, (rank, id));
    }

    /// Take out the request of a rank, which is in the list.
    pub(super) fn remove(&mut self, rank: Rank) {
        let place = self.place(rank);
        self.sorted.remove(place);
    }

    /// The least important.
    pub(super) fn last(&self) -> Option<u32> {
        self.sorted.last().map(|&(_, id)| id)
    }

    fn place(&self, rank: Rank) -> usize {
        self.sorted.partition_point(|&(other, _)| other < rank)
    }
}
