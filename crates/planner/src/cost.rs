//! What an answer costs: by the hour, by the month, and by the million tokens.
//!
//! A price is a range, because nobody knows another's contract: each amount is that range times a
//! number of GPUs or a time on them. What a request costs is the price of an engine for the time
//! between two requests, so that it falls as the load rises, and is least at the capacity.
//!
//! The cost of a request is shared out between its prompt and its answer by the engine's time. The
//! prompt is charged with what it adds to the steps of the batch that the load keeps running, the
//! answer with the rest of the time in which the engine works: so a prompt that is computed while the
//! step waits for memory costs little, as it does on the machine.

use scenario::Resolved;
use serde::{Deserialize, Serialize};
use sim_core::{
    float::{greater, lesser},
    step_time::StepModel,
};

use crate::answer::{LoadPoint, PlanAnswer, Verdict};

/// Hours of a month: a twelfth of 365 days.
pub const HOURS_PER_MONTH: f64 = 730.0;

/// Dollars, from the lowest to the highest; the typical amount lies between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dollars {
    /// At the lowest price.
    pub low: f64,
    /// At the typical price.
    pub typical: f64,
    /// At the highest price.
    pub high: f64,
}

impl Dollars {
    /// One amount.
    #[must_use]
    pub const fn exactly(amount: f64) -> Self {
        Self { low: amount, typical: amount, high: amount }
    }

    /// Between two amounts; the typical one is their geometric mean, which is as many times the low one
    /// as the high one is of it.
    #[must_use]
    pub fn between(low: f64, high: f64) -> Self {
        Self { low, typical: (low * high).sqrt(), high }
    }

    /// So many times as much.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, typical: self.typical * factor, high: self.high * factor }
    }

    /// Whether there is no range.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }
}

/// What tokens cost at one load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenCost {
    /// Requests per second on one engine.
    pub rate_per_s: f64,
    /// Dollars for a request.
    pub request: Dollars,
    /// Dollars per million tokens of prompts; `None` where prompts are empty.
    pub million_input: Option<Dollars>,
    /// Dollars per million tokens of answers.
    pub million_output: Dollars,
    /// Dollars per million tokens of both.
    pub million_total: Dollars,
    /// The prompts' part of the engine's time, 0 to 1.
    pub prompt_share: f64,
}

/// What an answer costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Dollars for an hour of one GPU.
    pub price_per_hour: Dollars,
    /// GPUs with headroom.
    pub gpus: u64,
    /// Dollars for an hour of them.
    pub per_hour: Dollars,
    /// Dollars for a month of them.
    pub per_month: Dollars,
    /// Dollars for an hour of those that only headroom asks for.
    pub headroom_per_hour: Dollars,
    /// Mean load over the planned load, 0 to 1: what the GPUs are used for, averaged over time.
    pub average_load: f64,
    /// At the planned load.
    pub planned: TokenCost,
    /// At the mean load, of the same GPUs: what tokens cost once idle hours are paid for. At a mean
    /// load that is the planned one it is the same.
    pub averaged: TokenCost,
    /// At the capacity: the least that tokens can cost within the target.
    pub knee: TokenCost,
}

impl Cost {
    /// What an answer costs at `price_per_hour` dollars for an hour of a GPU, `gpus_each` of which are
    /// an engine; `average_load` is the mean load over the planned one where somebody knows it, and
    /// otherwise follows from a rate that changes over time. `None` where the answer is no number of
    /// GPUs, or the load is nothing.
    #[must_use]
    pub fn of(
        answer: &PlanAnswer,
        resolved: &Resolved,
        gpus_each: u64,
        price_per_hour: Dollars,
        average_load: Option<f64>,
    ) -> Option<Self> {
        let Verdict::Sized(fleet) = &answer.verdict else { return None };
        let planned = answer.planned?;
        let capacity_per_s = answer.capacity_per_s?.value;
        let knee = nearest(&answer.knee, capacity_per_s)?;
        let all = |engines: u64| engines.saturating_mul(gpus_each);
        let gpus = all(fleet.with_headroom);
        let spare = gpus.saturating_sub(all(fleet.without_headroom));
        let per_hour = price_per_hour.times(gpus as f64);
        let average_load = average_load.unwrap_or_else(|| mean_over_peak(resolved));
        let engine_per_hour = price_per_hour.times(gpus_each as f64);
        let at = |point: &LoadPoint| token_cost(resolved, engine_per_hour, point);
        let planned = at(&planned)?;
        Some(Self {
            price_per_hour,
            gpus,
            per_hour,
            per_month: per_hour.times(HOURS_PER_MONTH),
            headroom_per_hour: price_per_hour.times(spare as f64),
            average_load,
            planned,
            averaged: planned.at_part(average_load)?,
            knee: at(knee)?,
        })
    }
}

impl TokenCost {
    /// The same engine with a part of the load, 0 to 1.
    fn at_part(self, part: f64) -> Option<Self> {
        let factor = 1.0 / part;
        (factor.is_finite() && part > 0.0).then(|| Self {
            rate_per_s: self.rate_per_s * part,
            request: self.request.times(factor),
            million_input: self.million_input.map(|dollars| dollars.times(factor)),
            million_output: self.million_output.times(factor),
            million_total: self.million_total.times(factor),
            prompt_share: self.prompt_share,
        })
    }
}

/// The point of a knee that is nearest to a rate.
fn nearest(knee: &[LoadPoint], rate_per_s: f64) -> Option<&LoadPoint> {
    let distance = |point: &&LoadPoint| (point.rate_per_s - rate_per_s).abs();
    knee.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Of a rate that goes up and down for ever, its mean over its peak; otherwise 1.
fn mean_over_peak(resolved: &Resolved) -> f64 {
    let profile = match resolved.setup.workload.source.whole() {
        sim_core::RequestSource::Mixed(mix) => &mix.arrivals.profile,
        _ => return 1.0,
    };
    let mean = profile.mean_factor().map(|mean| mean / profile.peak_factor());
    mean.filter(|part| *part > 0.0 && *part <= 1.0).unwrap_or(1.0)
}

/// What tokens cost on an engine at a load.
fn token_cost(resolved: &Resolved, per_hour: Dollars, point: &LoadPoint) -> Option<TokenCost> {
    let per_s = answered_per_s(point);
    let request = per_hour.times(1.0 / (3600.0 * per_s));
    if !(per_s > 0.0 && request.high.is_finite()) {
        return None;
    }
    let (input, output) = resolved.setup.workload.source.mean_tokens();
    let prompt_share = prompt_share(resolved, point);
    let of = |share: f64, tokens: f64| request.times(1e6 * share / tokens);
    Some(TokenCost {
        rate_per_s: point.rate_per_s,
        request,
        million_input: (input > 0.0).then(|| of(prompt_share, input)),
        million_output: of(1.0 - prompt_share, greater(1.0, output)),
        million_total: of(1.0, greater(1.0, input + output)),
        prompt_share,
    })
}

/// Requests answered per second in the long run. What a run finishes until its last token lies a little
/// below, by how long that one takes.
fn answered_per_s(point: &LoadPoint) -> f64 {
    if point.stable {
        point.rate_per_s * point.answered_share
    } else {
        point.throughput_per_s.value
    }
}

/// The prompts' part of the time in which an engine works, 0 to 1.
fn prompt_share(resolved: &Resolved, point: &LoadPoint) -> f64 {
    let (input, output) = resolved.setup.workload.source.mean_tokens();
    if input <= 0.0 || point.busy_share <= 0.0 {
        return 0.0;
    }
    let model = StepModel::new(&resolved.setup.step_time);
    let batch = greater(1.0, point.mean_running);
    let context = batch * (input + 0.5 * output);
    let step_s = |tokens: f64, sequences: f64| {
        let lines = model.lines_of_fluid(tokens, sequences);
        greater(lines.flat_s, lines.base_s + lines.slope_s * context) + lines.overhead_s
    };
    let room = greater(1.0, resolved.setup.engine.max_num_batched_tokens as f64 - batch);
    let chunks = greater(1.0, (input / room).ceil());
    let added_s = chunks * (step_s(batch + input / chunks, batch + 1.0) - step_s(batch, batch));
    lesser(1.0, greater(0.0, answered_per_s(point) * added_s / point.busy_share))
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops at the first surprise")]
mod tests {
    use scenario::Scenario;

    use super::*;
    use crate::{Plan, run_inline};

    fn cost(settings: &[(&str, &str)], price: Dollars, average: Option<f64>) -> Option<Cost> {
        let mut scenario = Scenario::preset();
        for (key, value) in [("sim.requests", "500"), ("sim.replications", "2")] {
            scenario.set(key, value).expect("a setting");
        }
        for (key, value) in settings {
            scenario.set(key, value).expect("a setting");
        }
        let resolved = scenario.resolve().expect("it resolves");
        let answer = run_inline(&mut Plan::new(&resolved)).expect("it runs").expect("an answer");
        Cost::of(&answer, &resolved, scenario.gpus_per_engine(), price, average)
    }

    /// All that is paid is what tokens are charged with.
    #[test]
    fn the_books_balance() {
        let cost = cost(&[], Dollars::between(2.0, 4.5), None).expect("a cost");
        assert_eq!(cost.gpus, 6);
        assert!((cost.per_hour.typical - 18.0).abs() < 1e-12, "{cost:?}");
        assert_eq!(cost.headroom_per_hour.low, 2.0);
        assert!((cost.per_month.high - 6.0 * 4.5 * 730.0).abs() < 1e-9);
        for at in [cost.planned, cost.averaged, cost.knee] {
            let input = at.million_input.expect("prompts have tokens");
            let paid = 1024e-6 * input.typical + 256e-6 * at.million_output.typical;
            assert!((paid - at.request.typical).abs() < 1e-12, "{at:?}");
            let both = 1280e-6 * at.million_total.typical;
            assert!((both - at.request.typical).abs() < 1e-12, "{at:?}");
            assert!((0.0..=1.0).contains(&at.prompt_share));
        }
        // Six GPUs at 3 dollars for 100 requests per second: a two-hundredth of a cent each.
        assert!((cost.planned.request.typical - 18.0 / (3600.0 * 100.0)).abs() < 1e-12, "{cost:?}");
        assert!(cost.knee.million_total.typical < cost.planned.million_total.typical);
        assert_eq!(cost.planned, cost.averaged);
    }

    /// A token of an answer takes a step of its own; that of a prompt is one of many in a step.
    #[test]
    fn answers_cost_more_by_the_token() {
        let cost = cost(&[], Dollars::exactly(3.0), None).expect("a cost");
        let input = cost.knee.million_input.expect("prompts have tokens");
        assert!(cost.knee.million_output.typical > 1.5 * input.typical, "{:?}", cost.knee);
    }

    #[test]
    fn idle_hours_are_paid_for() {
        let price = Dollars::exactly(3.0);
        let half = cost(&[], price, Some(0.5)).expect("a cost");
        let ratio = half.averaged.million_total.typical / half.planned.million_total.typical;
        assert!((ratio - 2.0).abs() < 1e-12);
        // A cosine between 0.5 and 1 has a mean of 0.75.
        let day = cost(&[("profile", "daily(0.5)")], price, None).expect("a cost");
        assert!((day.average_load - 0.75).abs() < 1e-9, "{}", day.average_load);
        // What changes once has no mean over time.
        let step = cost(&[("profile", "step(60s,2)")], price, None).expect("a cost");
        assert_eq!(step.average_load, 1.0);
        assert_eq!(cost(&[], price, Some(0.0)), None);
    }

    #[test]
    fn what_cannot_be_served_has_no_cost() {
        assert_eq!(cost(&[("ttft", "1ms")], Dollars::exactly(3.0), None), None);
    }

    #[test]
    fn empty_prompts_cost_nothing() {
        let cost = cost(&[("in", "0")], Dollars::exactly(3.0), None).expect("a cost");
        assert_eq!((cost.knee.million_input, cost.knee.prompt_share), (None, 0.0));
    }
}
