//! The answer to a scenario that gives no numbers.

use planner::PlanAnswer;
use report::Telling;
use scenario::{ResolveError, Scenario};

use super::card::{Card, no_answer, run_pill, unanswered};
use crate::{answered::Resolution, state::Activity, strings};

/// What is in the way, and what would help; while that is being loaded, or could not be, that is said.
pub(crate) fn refused(resolution: &Resolution, error: &ResolveError, now: &Activity) -> Card {
    if resolution.is_final {
        return with_changes(&resolution.scenario, error);
    }
    let reason = error.without_remedies();
    if let Activity::Running(done, total) = now {
        return Card { pill: run_pill(*done, *total, false), ..unanswered(&reason) };
    }
    unanswered(&[&reason, " ", strings::CHANGES_NOT_LOADED].concat())
}

/// A door, as thin as can be.
#[inline(never)]
pub(crate) fn with_changes(scenario: &Scenario, error: &ResolveError) -> Card {
    searched(scenario, error)
}

#[inline(never)]
fn searched(scenario: &Scenario, error: &ResolveError) -> Card {
    match PlanAnswer::impossible(scenario, error) {
        Some(answer) => no_answer(&report::tell(&answer, scenario)),
        None => no_answer(&Telling::mistaken(error)),
    }
}
