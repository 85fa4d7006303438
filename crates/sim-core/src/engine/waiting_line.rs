//! Who waits, who is turned away, and who is served next: the overload policy of a queue.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::setup::SetupError;

/// What a queue does when more arrives than can be served.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverloadPolicy {
    /// Most requests that may wait; one more is rejected (429 or 503).
    pub queue_limit: Option<u64>,
    /// A request that has waited longer than this, in seconds, is dropped instead of served.
    pub max_wait_s: Option<f64>,
    /// Who is served next.
    pub order: ServiceOrder,
    /// Controlled delay: drops from a queue whose waits stay above a target.
    pub codel: Option<Codel>,
    /// Server time in seconds that turning one request away takes; engines add it to their next
    /// step, batchers to their next batch. Servers with slots turn away for nothing.
    pub rejection_cost_s: f64,
    /// How long in seconds a rejected client is told to wait (`Retry-After`).
    pub retry_after_s: Option<f64>,
}

/// Who is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServiceOrder {
    /// The one that has waited longest.
    OldestFirst,
    /// The one that came last: under overload some are served in time, instead of all too late.
    NewestFirst,
    /// The most important class of the workload's mix (the least priority number); among equals the
    /// one that has waited longest. Servers with slots know no classes: oldest first.
    ByPriority,
}

/// Constants of controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Codel {
    /// Wait in seconds that a standing queue may have.
    pub target_s: f64,
    /// How long in seconds waits must stay above the target before the first drop.
    pub interval_s: f64,
}

impl OverloadPolicy {
    /// Everybody waits, in order of arrival, for as long as it takes.
    pub const UNBOUNDED: Self = Self {
        queue_limit: None,
        max_wait_s: None,
        order: ServiceOrder::OldestFirst,
        codel: None,
        rejection_cost_s: 0.0,
        retry_after_s: None,
    };

    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        let above_zero = |field, value: f64| {
            if value.is_finite() && value > 0.0 {
                Ok(())
            } else {
                let requirement = "finite and above 0 seconds";
                Err(SetupError::OutOfDomain { field, value, requirement })
            }
        };
        if let Some(max_wait_s) = self.max_wait_s {
            above_zero("overload.max_wait_s", max_wait_s)?;
        }
        if let Some(codel) = self.codel {
            above_zero("overload.codel.target_s", codel.target_s)?;
            above_zero("overload.codel.interval_s", codel.interval_s)?;
        }
        let times = [
            ("overload.rejection_cost_s", self.rejection_cost_s),
            ("overload.retry_after_s", self.retry_after_s.unwrap_or(0.0)),
        ];
        for (field, value) in times {
            if !(value.is_finite() && value >= 0.0) {
                let requirement = "finite and 0 seconds or more";
                return Err(SetupError::OutOfDomain { field, value, requirement });
            }
        }
        Ok(())
    }
}

/// Something that waits since some time.
pub(super) trait Waiting {
    /// When it began to wait, in seconds.
    fn since_s(&self) -> f64;

    /// Which of the line's queues it stands in under [`ServiceOrder::ByPriority`]; 0 is served
    /// first.
    fn rank(&self) -> usize {
        0
    }
}

/// What became of a request at the head of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken<T> {
    /// It is served now.
    Served(T),
    /// It is dropped; somebody else may be served.
    Dropped(T),
}

/// A queue under an overload policy.
#[derive(Clone, Debug)]
pub(super) struct WaitingLine<T> {
    policy: OverloadPolicy,
    /// One queue per rank that has been seen; only one unless served by priority.
    queues: Vec<VecDeque<T>>,
    /// Those in the queues who have not left.
    length: u64,
    codel: CodelState,
}

impl<T: Waiting + Copy> WaitingLine<T> {
    pub(super) fn new(policy: OverloadPolicy) -> Self {
        Self { policy, queues: vec![VecDeque::new()], length: 0, codel: CodelState::default() }
    }

    /// Join the line; the request itself if the line is full.
    pub(super) fn join(&mut self, request: T) -> Result<(), T> {
        if self.policy.queue_limit.is_some_and(|limit| self.length >= limit) {
            return Err(request);
        }
        let rank = match self.policy.order {
            ServiceOrder::ByPriority => request.rank(),
            ServiceOrder::OldestFirst | ServiceOrder::NewestFirst => 0,
        };
        if self.queues.len() <= rank {
            self.queues.resize_with(rank + 1, VecDeque::new);
        }
        if let Some(queue) = self.queues.get_mut(rank) {
            queue.push_back(request);
            self.length += 1;
        }
        Ok(())
    }

    /// Somebody in the line has left it. The place stays until its turn comes; `is_there` must
    /// then say so.
    pub(super) fn left(&mut self) {
        self.length -= 1;
    }

    /// Whose turn it is, past the places of those who have left.
    pub(super) fn head(&mut self, is_there: impl Fn(&T) -> bool) -> Option<T> {
        for queue in &mut self.queues {
            loop {
                let end = match self.policy.order {
                    ServiceOrder::NewestFirst => queue.back(),
                    ServiceOrder::OldestFirst | ServiceOrder::ByPriority => queue.front(),
                };
                match end {
                    None => break,
                    Some(request) if is_there(request) => return Some(*request),
                    Some(_) => pop(queue, self.policy.order),
                };
            }
        }
        None
    }

    /// Since when the one has waited that has waited longest, in seconds, past the places of those
    /// who have left.
    pub(super) fn oldest_s(&mut self, is_there: impl Fn(&T) -> bool) -> Option<f64> {
        let mut oldest_s = None;
        for queue in &mut self.queues {
            while queue.front().is_some_and(|request| !is_there(request)) {
                queue.pop_front();
            }
            if let Some(first) = queue.front()
                && oldest_s.is_none_or(|since_s| first.since_s() < since_s)
            {
                oldest_s = Some(first.since_s());
            }
        }
        oldest_s
    }

    /// Take whoever is next, to be served or dropped.
    pub(super) fn take(&mut self, now_s: f64, is_there: impl Fn(&T) -> bool) -> Option<Taken<T>> {
        let request = self.head(is_there)?;
        let queue = self.queues.iter_mut().find(|queue| !queue.is_empty())?;
        pop(queue, self.policy.order);
        self.length -= 1;
        let too_late = self.is_too_late(&request, now_s);
        let waited_s = now_s - request.since_s();
        let is_last = self.length == 0;
        let controlled = self
            .policy
            .codel
            .is_some_and(|codel| self.codel.drops(&codel, now_s, waited_s, is_last));
        Some(if too_late || controlled { Taken::Dropped(request) } else { Taken::Served(request) })
    }

    /// Whether it has waited longer than anybody may.
    pub(super) fn is_too_late(&self, request: &T, now_s: f64) -> bool {
        self.policy.max_wait_s.is_some_and(|limit_s| now_s - request.since_s() > limit_s)
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Everybody in the line, and the places of those who have left.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.queues.iter().flatten()
    }
}

fn pop<T>(queue: &mut VecDeque<T>, order: ServiceOrder) {
    let _ = match order {
        ServiceOrder::NewestFirst => queue.pop_back(),
        ServiceOrder::OldestFirst | ServiceOrder::ByPriority => queue.pop_front(),
    };
}

/// The state machine of controlled delay (RFC 8289, section 5).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CodelState {
    /// When waits will have been above the target for a whole interval.
    first_above_s: Option<f64>,
    /// When the next request is dropped, while dropping.
    drop_next_s: Option<f64>,
    /// Drops in this spell of dropping; the drop rate grows with its square root.
    count: u32,
}

impl CodelState {
    /// Whether the request that is being taken is dropped.
    pub(super) fn drops(
        &mut self,
        codel: &Codel,
        now_s: f64,
        waited_s: f64,
        is_last: bool,
    ) -> bool {
        if waited_s < codel.target_s || is_last {
            self.first_above_s = None;
            self.drop_next_s = None;
            return false;
        }
        let above_since_s = *self.first_above_s.get_or_insert(now_s + codel.interval_s);
        match self.drop_next_s {
            None if now_s >= above_since_s => {
                // A spell that follows closely on another goes on at about its rate.
                self.count = if self.count > 2 { self.count - 2 } else { 1 };
                self.drop_next_s = Some(self.next_drop(codel, now_s));
                true
            }
            Some(next_s) if now_s >= next_s => {
                self.count += 1;
                self.drop_next_s = Some(self.next_drop(codel, next_s));
                true
            }
            _ => false,
        }
    }

    fn next_drop(&self, codel: &Codel, from_s: f64) -> f64 {
        from_s + codel.interval_s / f64::from(self.count).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Waiting for f64 {
        fn since_s(&self) -> f64 {
            *self
        }
    }

    fn line(policy: OverloadPolicy, arrivals: &[f64]) -> WaitingLine<f64> {
        let mut line = WaitingLine::new(policy);
        for &arrival_s in arrivals {
            let _ = line.join(arrival_s);
        }
        line
    }

    #[test]
    fn a_full_line_rejects() {
        let policy = OverloadPolicy { queue_limit: Some(2), ..OverloadPolicy::UNBOUNDED };
        let mut line = line(policy, &[0.0, 1.0]);
        assert_eq!(line.join(2.0), Err(2.0));
        assert_eq!(line.take(3.0, |_| true), Some(Taken::Served(0.0)));
        assert_eq!(line.join(3.0), Ok(()));
    }

    #[test]
    fn the_newest_first_leaves_the_oldest() {
        let policy =
            OverloadPolicy { order: ServiceOrder::NewestFirst, ..OverloadPolicy::UNBOUNDED };
        let mut line = line(policy, &[0.0, 1.0, 2.0]);
        assert_eq!(line.take(3.0, |_| true), Some(Taken::Served(2.0)));
        assert_eq!(line.len(), 2);
    }

    #[test]
    fn the_oldest_is_told_past_those_who_left() {
        let policy =
            OverloadPolicy { order: ServiceOrder::NewestFirst, ..OverloadPolicy::UNBOUNDED };
        let mut line = line(policy, &[0.0, 1.0, 2.0]);
        assert_eq!(line.oldest_s(|_| true), Some(0.0));
        line.left();
        assert_eq!(line.oldest_s(|&since_s| since_s > 0.0), Some(1.0));
        assert_eq!(line.head(|_| true), Some(2.0));
        assert_eq!(line.oldest_s(|_| false), None);
    }

    #[test]
    fn a_deadline_drops_what_waited_longer() {
        let policy = OverloadPolicy { max_wait_s: Some(1.0), ..OverloadPolicy::UNBOUNDED };
        let mut line = line(policy, &[0.0, 1.5]);
        assert_eq!(line.take(2.5, |_| true), Some(Taken::Dropped(0.0)));
        assert_eq!(line.take(2.5, |_| true), Some(Taken::Served(1.5)));
        assert_eq!(line.take(2.5, |_| true), None);
    }

    /// A standing queue of 5 s against a target of 0.1 s: nothing for one interval, then drops at
    /// growing rate: after 1/√1, 1/√2, 1/√3 … intervals.
    #[test]
    fn controlled_delay_drops_faster_and_faster() {
        let codel = Codel { target_s: 0.1, interval_s: 1.0 };
        let mut state = CodelState::default();
        let mut drops = Vec::new();
        for tick in 0..400 {
            let now_s = f64::from(tick) * 0.01;
            if state.drops(&codel, now_s, 5.0, false) {
                drops.push(now_s);
            }
        }
        let expected = [1.0, 2.0, 2.0 + 1.0 / 2_f64.sqrt(), 2.7071 + 0.5774, 3.2845 + 0.5];
        assert_eq!(drops.len(), expected.len());
        for (drop, expected) in drops.iter().zip(expected) {
            assert!((drop - expected).abs() <= 0.011, "{drop} {expected}");
        }
        assert!(!state.drops(&codel, 4.0, 0.05, false), "a short wait ends the spell");
        assert_eq!(state.drop_next_s, None);
    }
}
