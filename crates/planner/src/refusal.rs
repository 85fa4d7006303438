//! Scenarios that give no set-up but still an answer: what is in the way, and the way round it.

use scenario::{Remedy, ResolveError, Scenario};

use crate::{
    answer::{PlanAnswer, Verdict},
    reach,
};

/// Most changes offered.
const MOST_REMEDIES: usize = 4;

/// Changes with which the scenario runs and its target is met, single settings first; those that
/// only let it run where none of them can be brought to that.
fn changes(scenario: &Scenario, error: &ResolveError) -> Vec<Remedy> {
    let mut found = scenario.remedies_that(error, &reach::is_met);
    for change in error.remedies() {
        if found.iter().all(|other| other.key != change.key) {
            found.extend(reach::with_targets(scenario, change));
        }
    }
    if found.is_empty() {
        return error.remedies().to_vec();
    }
    found.truncate(MOST_REMEDIES);
    found.into_iter().map(Remedy::meeting_target).collect()
}

impl PlanAnswer {
    /// The answer to a scenario that cannot run, where `error` says so; `None` where the scenario
    /// is mistaken rather than impossible (an unknown name, a number outside its domain).
    #[must_use]
    pub fn impossible(scenario: &Scenario, error: &ResolveError) -> Option<Self> {
        let remedies = changes(scenario, error);
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
