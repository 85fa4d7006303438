//! What is said of traffic that is more than one kind of request at a steady rate.

use planner::PlanAnswer;
use scenario::{REST, Scenario, SchedRules};
use sim_core::{Slo, measure::P99_NEEDS};

use crate::words;

/// Bursts that a run should see before its numbers stand for more than the bursts it happened on.
const ENOUGH_BURSTS: f64 = 20.0;

/// Shares closer to all than this are all.
const ROUNDING: f64 = 1e-9;

/// That the fleet is sized for the peak of a rate that changes.
pub(crate) fn peak(answer: &PlanAnswer, scenario: &Scenario) -> Option<String> {
    let factor = scenario.peak_factor();
    scenario
        .changes_over_time()
        .then(|| words::peak(answer.rate_per_s, scenario.rate_per_s, factor))
}

/// That the tails come from few requests.
pub(crate) fn few_requests(answer: &PlanAnswer) -> Option<String> {
    let requests = answer.requests * u64::from(answer.replications);
    // By nearest rank one in a hundred values lies above P99.
    (requests < P99_NEEDS).then(|| words::few_requests(requests, requests / 100 + 1, P99_NEEDS))
}

/// What the users of a closed loop come to.
pub(crate) fn users(answer: &PlanAnswer, scenario: &Scenario) -> Option<String> {
    let closed = scenario.closed?;
    let each_per_s = answer.capacity_per_s?.value;
    Some(words::users(closed.think_s, closed.on_schedule, each_per_s))
}

/// What it means that batches are served whole, and where a GPU has to be idle for that to hold.
pub(crate) fn whole_batches(answer: &PlanAnswer, scenario: &Scenario) -> Option<String> {
    let rules = scenario.rules;
    if !rules.form_whole_batches() {
        return None;
    }
    let mut words = words::batches_are_whole(rules.are_sequential());
    if let SchedRules::Dynamic { max_delay_s } = rules {
        words.push_str(&words::batches_wait(scenario.sched.max_num_seqs, max_delay_s));
    }
    // At the least rate there is hardly any company.
    let lone_s = answer.knee.first()?.e2e_p50_s.value;
    if lone_s > scenario.slo.ttft_s {
        words.push_str(&words::batches_are_too_long(lone_s, scenario.slo.ttft_s));
    }
    Some(words)
}

/// What sessions come to.
pub(crate) fn sessions(scenario: &Scenario) -> Option<String> {
    scenario.has_sessions().then(|| words::SESSIONS.to_owned())
}

/// That some requests get no answer.
pub(crate) fn unanswered(answer: &PlanAnswer) -> Option<String> {
    let planned = answer.planned?;
    let part = 1.0 - planned.answered_share;
    (part > ROUNDING && planned.has_percentile(99.0)).then(|| words::unanswered(part))
}

/// Which target each class is held to.
pub(crate) fn classes(scenario: &Scenario) -> Option<String> {
    if scenario.classes.is_empty() {
        return None;
    }
    let left = 1.0 - scenario.classes.iter().map(|class| class.share).sum::<f64>();
    let named =
        |name: &str, share: f64, slo: Slo| words::class(name, share, slo.ttft_s, slo.tpot_s);
    let mut kinds: Vec<String> = scenario
        .classes
        .iter()
        .map(|class| named(&class.name, class.share, scenario.target(Some(&class.name))))
        .collect();
    if left > ROUNDING {
        kinds.push(named(REST, left, scenario.slo));
    }
    Some(words::classes(&kinds))
}

/// What each class gets at the planned load; nothing where its latencies are withheld.
pub(crate) fn class_figures(answer: &PlanAnswer) -> Option<String> {
    answer.planned.filter(|planned| planned.stable)?;
    let told: Vec<String> = answer
        .classes
        .iter()
        .map(|class| {
            words::class_figures(&class.name, class.slo_share, class.ttft_p99_s, class.tpot_p99_s)
        })
        .collect();
    (!told.is_empty()).then(|| words::by_class(&told))
}

/// That the runs are short beside the bursts.
pub(crate) fn few_bursts(answer: &PlanAnswer, scenario: &Scenario) -> Option<String> {
    let bursts = scenario.bursts?;
    let capacity_per_s = answer.capacity_per_s?.value;
    let cycle_s = bursts.on_s + bursts.off_s;
    let seen = answer.requests as f64 / capacity_per_s / cycle_s;
    let wanted = ENOUGH_BURSTS * cycle_s * capacity_per_s;
    (seen < ENOUGH_BURSTS).then(|| words::few_bursts(answer.requests, seen, wanted))
}
