//! The answer to a scenario that gives no numbers.

use planner::PlanAnswer;
use report::Telling;
use scenario::{ResolveError, Scenario};

use super::card::{Card, no_answer, unanswered};
use crate::answered::Resolution;

/// What is in the way, and what would help; without that where it could not be loaded.
pub(crate) fn refused(resolution: &Resolution, error: &ResolveError) -> Card {
    if resolution.is_final {
        with_changes(&resolution.scenario, error)
    } else {
        unanswered(&error.without_remedies())
    }
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
