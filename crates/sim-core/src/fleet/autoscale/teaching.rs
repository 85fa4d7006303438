//! The textbook's loop: one ratio, one tolerance, one window; to put beside HPA v2.
//!
//! `desired = ⌈current · metric / target⌉`, with replicas that are still starting counted as there and
//! as idle. It differs from HPA v2 in that it has no limit of rate, no notion of an unready pod, and a
//! window that keeps its edge; and in that replicas which are still starting are never called off.

use super::replicas_of;

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TeachingRule {
    /// The metric's target per replica.
    pub target: f64,
    /// By how much the ratio may miss 1.
    pub tolerance: f64,
    /// Least number of replicas.
    pub min_replicas: i32,
    /// Greatest number of replicas.
    pub max_replicas: i32,
    /// For how long fewer replicas have to be wanted, in seconds.
    pub scale_down_window_s: f64,
}

impl Default for TeachingRule {
    /// 60 % of the slots, a tenth, 3 to 12 replicas, 300 s.
    fn default() -> Self {
        Self {
            target: 0.6,
            tolerance: 0.1,
            min_replicas: 3,
            max_replicas: 12,
            scale_down_window_s: 300.0,
        }
    }
}

/// What one tick came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What the ratio asks for, within the bounds.
    pub desired: i32,
    /// What is done: up at once, down to the most that was desired within the window.
    pub replicas: i32,
}

impl TeachingRule {
    /// Decide, and remember what was desired. `current` counts starting replicas; `metric` is the
    /// mean load over all of them.
    pub fn decide(
        &self,
        desired_log: &mut Vec<(f64, i32)>,
        current: i32,
        metric: f64,
        now_s: f64,
    ) -> Wanted {
        let ratio = metric / self.target;
        let desired = if (ratio - 1.0).abs() <= self.tolerance {
            current
        } else {
            replicas_of((f64::from(current) * ratio).ceil())
        };
        let desired = desired.min(self.max_replicas).max(self.min_replicas);
        desired_log.retain(|&(at_s, _)| now_s - at_s <= self.scale_down_window_s);
        desired_log.push((now_s, desired));
        let most = desired_log.iter().map(|&(_, desired)| desired).max().unwrap_or(desired);
        let replicas = if desired > current { desired } else { current.min(most) };
        Wanted { desired, replicas }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_of_the_window_is_in_it() {
        let rule = TeachingRule::default();
        let mut log = Vec::new();
        assert_eq!(rule.decide(&mut log, 6, 0.9, 0.0), Wanted { desired: 9, replicas: 9 });
        assert_eq!(rule.decide(&mut log, 9, 0.1, 300.0), Wanted { desired: 3, replicas: 9 });
        assert_eq!(rule.decide(&mut log, 9, 0.1, 300.5), Wanted { desired: 3, replicas: 3 });
    }

    #[test]
    fn the_tolerance_keeps_the_count() {
        let rule = TeachingRule::default();
        assert_eq!(rule.decide(&mut Vec::new(), 5, 0.65, 0.0).replicas, 5);
        assert_eq!(rule.decide(&mut Vec::new(), 5, 0.67, 0.0).replicas, 6);
    }
}
