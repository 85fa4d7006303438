//! Scenarios that give no set-up but still an answer: what is in the way, and the way round it.

use scenario::{ResolveError, Scenario};

use crate::answer::{PlanAnswer, Verdict};

impl PlanAnswer {
    /// The answer to a scenario that cannot run, where `error` says so; `None` where the scenario
    /// is mistaken rather than impossible (an unknown name, a number outside its domain).
    #[must_use]
    pub fn impossible(scenario: &Scenario, error: &ResolveError) -> Option<Self> {
        let remedies = error.remedies().to_vec();
        let verdict = match *error {
            ResolveError::DoesNotFit { weight_bytes, available_bytes, .. } => {
                Verdict::DoesNotFit { weight_bytes, available_bytes, remedies }
            }
            ResolveError::NoRoom { capacity_tokens, needed_tokens, .. } => {
                Verdict::NoRoom { capacity_tokens, needed_tokens, remedies }
            }
            ResolveError::TooLong { ref sentence, .. } => {
                Verdict::TooLong { sentence: sentence.clone(), remedies }
            }
            _ => return None,
        };
        Some(Self {
            verdict,
            users: None,
            rate_per_s: scenario.peak_rate_per_s(),
            headroom: scenario.headroom,
            capacity_per_s: None,
            ceiling_per_s: None,
            knee: Vec::new(),
            planned: None,
            classes: Vec::new(),
            requests_that_fit: 0,
            replications: 0,
            requests: 0,
            simulated_requests: 0,
            simulated_steps: 0,
        })
    }
}
