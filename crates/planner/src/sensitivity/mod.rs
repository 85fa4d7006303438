//! How far the answer moves when inputs that nobody knows exactly move within their ranges.
//!
//! Each input is put at both ends of its range, everything else as it is, and planned again under the
//! same users: a bar. Then all inputs are drawn together, a number of times, each from its own range and
//! independent of the others: what comes out in between tells how sure the answer is as a whole. Draws
//! are those of an additive recurrence (Roberts, "The unreasonable effectiveness of quasirandom
//! sequences", 2018), which fills the ranges evenly and needs no random numbers.

mod input;

use scenario::{Resolved, Scenario};
use serde::{Deserialize, Serialize};
use sim_core::Run;

use crate::{
    answer::{PlanAnswer, Verdict},
    cost::Dollars,
    job::Job,
    plan::Plan,
    several::Several,
};

pub use input::{Uncertain, What};

/// How often all inputs are drawn together.
const DRAWS: usize = 60;
/// Draws that are planned together.
const WAVE: usize = 20;
/// The part of the draws that is told as the answer's range.
const LIKELY: (f64, f64) = (0.1, 0.9);

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// GPUs before they are rounded up: what is compared, since it has no steps.
    pub gpus_unrounded: f64,
    /// GPUs.
    pub gpus: u64,
    /// Dollars for an hour of so many GPUs before they are rounded up; `None` without a price.
    pub per_hour: Option<f64>,
}

/// One input between its ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// What is uncertain.
    pub input: Uncertain,
    /// With it at its lower end; `None` where the target is then out of reach.
    pub low: Option<Outcome>,
    /// With it at its upper end.
    pub high: Option<Outcome>,
}

/// How far the answer moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityAnswer {
    /// With every input as it is.
    pub base: Outcome,
    /// The widest first.
    pub bars: Vec<Bar>,
    /// With all inputs drawn together: the 10th and the 90th percentile; draws without an answer count as
    /// the greatest. `None` where more than a tenth have none.
    pub likely: Option<(Outcome, Outcome)>,
    /// How often that was done.
    pub draws: u32,
    /// Draws in which the target was out of reach, or the scenario could not run.
    pub without_answer: u32,
}

/// What plans are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Bars,
    Draws,
    Done,
}

/// The question "how far may it be off?".
#[derive(Clone, Debug)]
pub struct Sensitivity {
    scenario: Scenario,
    inputs: Vec<Uncertain>,
    price: Option<Dollars>,
    stage: Stage,
    /// Of each plan in flight what it stands for; `None` where the scenario could not run.
    plans: Several,
    /// For each end of each input, or each draw: the place of its plan, if it has one, and its price.
    asked: Vec<(Option<usize>, Option<f64>)>,
    base: Option<Outcome>,
    bars: Vec<Bar>,
    drawn: Vec<Option<Outcome>>,
    runs_taken: u32,
    runs_before: u32,
}

impl Sensitivity {
    /// Ask about a scenario with these inputs; the price is that of an hour of one GPU.
    #[must_use]
    pub fn new(
        scenario: &Scenario,
        resolved: &Resolved,
        inputs: Vec<Uncertain>,
        price: Option<Dollars>,
    ) -> Self {
        let typical = price.map(|price| price.typical);
        let mut asked = vec![(Some(0), typical)];
        let mut plans = vec![Plan::new(resolved)];
        for input in &inputs {
            for end in [input.range.0, input.range.1] {
                if input.what == What::Price {
                    asked.push((Some(0), Some(end)));
                    continue;
                }
                let moved = input.put(scenario, end).and_then(|own| own.resolve().ok());
                asked.push((moved.as_ref().map(|_| plans.len()), typical));
                plans.extend(moved.as_ref().map(Plan::new));
            }
        }
        Self {
            scenario: scenario.clone(),
            inputs,
            price,
            stage: Stage::Bars,
            plans: Several::new(plans),
            asked,
            base: None,
            bars: Vec::new(),
            drawn: Vec::new(),
            runs_taken: 0,
            runs_before: 0,
        }
    }

    /// Runs that can be made now; none when the question is answered.
    #[must_use]
    pub fn next_jobs(&mut self) -> Vec<Job> {
        while self.stage != Stage::Done {
            let jobs = self.plans.next_jobs();
            if !jobs.is_empty() {
                return jobs;
            }
            self.next_stage();
        }
        Vec::new()
    }

    /// Take the runs of the jobs handed out last, in job order.
    pub fn accept(&mut self, runs: &[Run]) {
        self.runs_taken += runs.len() as u32;
        self.plans.accept(runs);
    }

    /// Runs taken, and about how many there will be in what is asked now.
    #[must_use]
    pub fn progress(&self) -> (u32, u32) {
        (self.runs_taken, (self.runs_before + self.plans.about()).max(self.runs_taken))
    }

    fn next_stage(&mut self) {
        let each = self.scenario.gpus_per_engine();
        let answers: Vec<Option<PlanAnswer>> =
            self.plans.answers().map(Option::<&_>::cloned).collect();
        let outcome = |&(place, price): &(Option<usize>, Option<f64>)| {
            outcome(answers.get(place?)?.as_ref()?, each, price)
        };
        let found: Vec<Option<Outcome>> = self.asked.iter().map(outcome).collect();
        if self.stage == Stage::Bars {
            let mut ends = found.into_iter();
            self.base = ends.next().flatten();
            for input in &self.inputs {
                let (low, high) = (ends.next().flatten(), ends.next().flatten());
                self.bars.push(Bar { input: input.clone(), low, high });
            }
            if self.base.is_none() {
                self.stage = Stage::Done;
                return;
            }
        } else {
            self.drawn.extend(found);
        }
        self.next_draws();
    }

    fn next_draws(&mut self) {
        let done = self.drawn.len();
        if done >= DRAWS {
            self.stage = Stage::Done;
            return;
        }
        self.stage = Stage::Draws;
        self.runs_before = self.runs_taken;
        let (mut plans, mut asked) = (Vec::new(), Vec::new());
        for draw in done..(done + WAVE).min(DRAWS) {
            let (scenario, price) = self.draw(draw);
            let resolved = scenario.and_then(|own| own.resolve().ok());
            asked.push((resolved.as_ref().map(|_| plans.len()), price));
            plans.extend(resolved.as_ref().map(Plan::quick));
        }
        (self.plans, self.asked) = (Several::new(plans), asked);
    }

    /// The scenario and the price with every input somewhere in its range, equal factors alike.
    fn draw(&self, draw: usize) -> (Option<Scenario>, Option<f64>) {
        let steps = steps(self.inputs.len());
        let mut own = Some(self.scenario.clone());
        let mut price = self.price.map(|price| price.typical);
        for (input, step) in self.inputs.iter().zip(steps) {
            let turns = 0.5 + (draw + 1) as f64 * step;
            let (low, high) = input.range;
            let value = low * libm::pow(high / low, turns - libm::floor(turns));
            if input.what == What::Price {
                price = Some(value);
            }
            own = own.and_then(|own| input.put(&own, value));
        }
        (own, price)
    }

    /// The answer once it is there; inside, `None` where the scenario itself has none.
    #[must_use]
    pub fn answer(&self) -> Option<Option<SensitivityAnswer>> {
        (self.stage == Stage::Done).then(|| self.so_far())
    }

    /// What is known so far: at first nothing, then the bars, then the draws made.
    #[must_use]
    pub fn so_far(&self) -> Option<SensitivityAnswer> {
        let base = self.base?;
        let mut bars = self.bars.clone();
        let width = |bar: &Bar| {
            let of = |end: Option<Outcome>| end.map_or(f64::INFINITY, |end| measure(&end));
            (of(bar.high) - of(bar.low)).abs()
        };
        // What is out of reach at both ends has no width, and is the widest.
        let width = |bar: &Bar| {
            let width = width(bar);
            if width.is_nan() { f64::INFINITY } else { width }
        };
        bars.sort_by(|a, b| width(b).total_cmp(&width(a)));
        let mut drawn: Vec<Outcome> = self.drawn.iter().flatten().copied().collect();
        drawn.sort_by(|a, b| measure(a).total_cmp(&measure(b)));
        let rank = |part: f64| {
            let place = (part * self.drawn.len() as f64).ceil() as usize;
            drawn.get(place.max(1) - 1).copied()
        };
        Some(SensitivityAnswer {
            base,
            bars,
            likely: rank(LIKELY.0).zip(rank(LIKELY.1)),
            draws: self.drawn.len() as u32,
            without_answer: (self.drawn.len() - drawn.len()) as u32,
        })
    }
}

/// What bars are measured in: dollars, or GPUs where there is no price.
fn measure(outcome: &Outcome) -> f64 {
    outcome.per_hour.unwrap_or(outcome.gpus_unrounded)
}

fn outcome(answer: &PlanAnswer, gpus_each: u64, price: Option<f64>) -> Option<Outcome> {
    let Verdict::Sized(fleet) = &answer.verdict else { return None };
    let (asked, capacity) = match answer.users {
        Some(users) => (users.asked, users.capacity?.value),
        None => (answer.rate_per_s, answer.capacity_per_s?.value),
    };
    let gpus_unrounded = asked * (1.0 + answer.headroom) / capacity * gpus_each as f64;
    Some(Outcome {
        gpus_unrounded,
        gpus: fleet.with_headroom.saturating_mul(gpus_each),
        per_hour: price.map(|price| price * gpus_unrounded),
    })
}

/// The steps of the additive recurrence in so many dimensions: powers of one over the root of
/// `x^(d+1) = x + 1`, parts of a turn.
fn steps(dimensions: usize) -> Vec<f64> {
    let power = dimensions as f64 + 1.0;
    let mut root = 2.0;
    for _ in 0..60 {
        root = libm::pow(1.0 + root, 1.0 / power);
    }
    let mut step = 1.0;
    let next = |_| {
        step /= root;
        step
    };
    (0..dimensions).map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In one dimension it is the golden ratio, in two the plastic number.
    #[test]
    fn the_recurrence_is_the_published_one() {
        let golden = 0.618_033_988_749_894_8;
        assert!((steps(1)[0] - golden).abs() < 1e-12, "{:?}", steps(1));
        let plastic = 1.324_717_957_244_746;
        assert!((steps(2)[0] - 1.0 / plastic).abs() < 1e-12);
        assert!((steps(2)[1] - 1.0 / (plastic * plastic)).abs() < 1e-12);
    }
}
