//! What is known of the settings: the numbers that they resolve to, and the last simulated answer,
//! with what becomes of it when they change.

use std::sync::Arc;

use planner::{ClosedForm, PlanAnswer, Verdict, closed_form};
use scenario::{Ledger, ResolveError, Resolved, Scenario};

/// Scenario and what it resolves to. Equal scenarios resolve equally once all is known, so only they
/// are compared.
#[derive(Clone, Debug)]
pub(crate) struct Resolution {
    /// The scenario.
    pub(crate) scenario: Scenario,
    /// Numbers and ledger, or why there are none.
    pub(crate) outcome: Arc<Result<(Resolved, ClosedForm), ResolveError>>,
    /// Where there are no numbers for the whole: those of the engine that can be computed.
    figures: Arc<Ledger>,
    /// Whether all is known of it; what would help an impossible scenario only the late part can say.
    pub(crate) is_final: bool,
}

impl Resolution {
    /// Resolves a scenario.
    pub(crate) fn new(scenario: Scenario) -> Self {
        let outcome = scenario.resolve().map(|resolved| {
            let instant = closed_form(&resolved);
            (resolved, instant)
        });
        let figures = if outcome.is_ok() { Ledger::default() } else { scenario.figures() };
        let is_final = outcome.is_ok() || scenario::late_part_is_here();
        Self { scenario, outcome: Arc::new(outcome), figures: Arc::new(figures), is_final }
    }

    /// The number that is in force for a setting, typed or not, if it can be told.
    pub(crate) fn figure(&self, key: &str) -> Option<f64> {
        let ledger = match self.outcome.as_ref() {
            Ok((resolved, _)) => &resolved.ledger,
            Err(_) => self.figures.as_ref(),
        };
        ledger.0.iter().find(|entry| entry.key == key).map(|entry| entry.value)
    }

    /// Why there are no numbers for the whole, if there are none.
    pub(crate) fn error(&self) -> Option<String> {
        self.outcome.as_ref().as_ref().err().map(ResolveError::without_remedies)
    }
}

impl PartialEq for Resolution {
    fn eq(&self, other: &Self) -> bool {
        self.scenario == other.scenario && self.is_final == other.is_final
    }
}

/// How good an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// Nothing of these settings is simulated yet: an answer to others, scaled by the closed forms.
    Scaled,
    /// From the first of several runs.
    FirstRun,
    /// The last word: all runs are in that the scenario asks for.
    Complete,
}

/// An answer and what was asked.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    /// The settings that it answers.
    pub(crate) resolution: Resolution,
    /// What came out.
    pub(crate) answer: PlanAnswer,
    /// How good it is.
    pub(crate) stand: Stand,
    /// When the person made the change, until the chart has been painted.
    pub(crate) input_ms: f64,
}

impl Answered {
    /// The answer for the present settings: itself if it is theirs, or else about what it becomes
    /// under them, so that a number follows a slider from one run to the next. None where nothing of
    /// it can be carried over.
    pub(crate) fn under(self: &Arc<Self>, now: &Resolution) -> Option<Arc<Self>> {
        if self.is_of(&now.scenario) {
            return Some(Arc::clone(self));
        }
        let (_, from) = self.resolution.outcome.as_ref().as_ref().ok()?;
        let (resolved, to) = now.outcome.as_ref().as_ref().ok()?;
        let answer = self.answer.scaled(from, to, resolved)?;
        let input_ms = self.input_ms;
        let stand = Stand::Scaled;
        Some(Arc::new(Self { resolution: now.clone(), answer, stand, input_ms }))
    }

    /// Whether it answers these settings.
    pub(crate) fn is_of(&self, scenario: &Scenario) -> bool {
        self.resolution.scenario == *scenario
    }

    /// Whether it is the last word.
    pub(crate) fn is_complete(&self) -> bool {
        self.stand == Stand::Complete
    }

    /// Whether it gives a number of GPUs.
    pub(crate) fn is_sized(&self) -> bool {
        matches!(self.answer.verdict, Verdict::Sized(_))
    }
}
