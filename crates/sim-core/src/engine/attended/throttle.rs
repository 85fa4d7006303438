//! The account of adaptive throttling.

use std::collections::VecDeque;

use crate::float::greater;

/// The attempts whose end became known in the last window.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    /// When attempts ended, and whether they were accepted.
    ended: VecDeque<(f64, bool)>,
    accepted: u64,
}

impl Window {
    pub(super) fn add(&mut self, now_s: f64, accepted: bool) {
        self.ended.push_back((now_s, accepted));
        self.accepted += u64::from(accepted);
    }

    pub(super) fn rejection_probability(&mut self, now_s: f64, k: f64, window_s: f64) -> f64 {
        while let Some(&(ended_s, accepted)) = self.ended.front()
            && ended_s <= now_s - window_s
        {
            self.ended.pop_front();
            self.accepted -= u64::from(accepted);
        }
        let requests = self.ended.len() as f64;
        greater(0.0, (requests - k * self.accepted as f64) / (requests + 1.0))
    }
}
