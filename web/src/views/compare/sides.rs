//! What is known of each side: its plan, and how sure that is.

use std::sync::Arc;

use leptos::prelude::*;
use planner::PlanAnswer;
use scenario::Scenario;

use super::Compared;
use crate::answered::{Answered, Resolution};

/// One side as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Side {
    pub(super) resolution: Resolution,
    pub(super) answer: Option<Arc<PlanAnswer>>,
    /// Whether the answer is not from all runs.
    pub(super) is_estimate: bool,
}

impl Compared {
    /// Both sides; none while nothing is pinned.
    pub(super) fn sides(self) -> Option<[Side; 2]> {
        let first = self.first.get()?;
        let second = self.state.resolution.get();
        let told = self.told();
        let of = |place: usize| told.as_ref().map(|told| Arc::new(told.answers[place].clone()));
        let a = of(0).or_else(|| self.plan_of(&first.scenario));
        let live = self.state.answered.get().and_then(|answered| answered.under(&second));
        let is_live_whole = live.as_deref().is_some_and(Answered::is_complete);
        let b = of(1).or_else(|| live.map(|answered| Arc::new(answered.answer.clone())));
        Some([
            Side { is_estimate: false, answer: a, resolution: first },
            Side { is_estimate: !is_live_whole && told.is_none(), answer: b, resolution: second },
        ])
    }

    /// A plan of a scenario from all its runs: of an earlier comparison, of when it was pinned, or of the
    /// page.
    fn plan_of(self, scenario: &Scenario) -> Option<Arc<PlanAnswer>> {
        let kept = self.shown.with(|shown| {
            let told = shown.told.as_ref().and_then(|told| {
                let place = told.of.iter().position(|of| of == scenario)?;
                Some(Arc::new(told.answer.answers[place].clone()))
            });
            let planned = || {
                let (of, answer) = shown.planned.as_ref()?;
                (of == scenario).then(|| Arc::clone(answer))
            };
            told.or_else(planned)
        });
        kept.or_else(|| {
            let answered = self.state.answered.get()?;
            let is_of = answered.is_complete() && answered.is_of(scenario);
            is_of.then(|| Arc::new(answered.answer.clone()))
        })
    }
}
