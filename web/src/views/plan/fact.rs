//! The four facts of the answer card.

use planner::{FleetSize, LoadPoint, PlanAnswer};
use quantity::{about, duration, whole_percent};
use scenario::{Scenario, SchedRules};

use crate::{answered::Answered, strings};

/// One fact: a label, and two values with a line each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fact {
    /// What it is about.
    pub(crate) label: &'static str,
    /// First value.
    pub(crate) value: String,
    /// Its line, and a shorter one for where there is little room.
    pub(crate) line: (String, String),
    /// Second value.
    pub(crate) second: String,
    /// Its line, again with a shorter one.
    pub(crate) second_line: (String, String),
}

impl Fact {
    /// The same before all runs are in: what was measured is about right. How many requests fit is computed,
    /// and what limits a step is a word.
    fn about(self) -> Self {
        let marked = |text: String| {
            let is_figure = text.starts_with(|c: char| c.is_ascii_digit());
            if is_figure { about(&text) } else { text }
        };
        let is_computed = self.label == strings::KV_CACHE;
        Self {
            value: marked(self.value),
            line: (marked(self.line.0), marked(self.line.1)),
            second: if is_computed { self.second } else { marked(self.second) },
            ..self
        }
    }
}

/// What an answer says.
pub(crate) fn facts(answered: &Answered, fleet: &FleetSize) -> [Fact; 4] {
    let (answer, scenario) = (&answered.answer, &answered.resolution.scenario);
    let facts = [
        load_fact(scenario, answer.planned.as_ref()),
        limit_fact(scenario, answer.planned.as_ref()),
        cache_fact(scenario, answer),
        sure_fact(answered, fleet),
    ];
    if answered.is_complete() { facts } else { facts.map(Fact::about) }
}

/// The places where the facts will be.
pub(crate) fn no_facts(scenario: &Scenario) -> [Fact; 4] {
    let empty = |label, line: &str| Fact {
        label,
        value: strings::UNKNOWN.to_owned(),
        line: whole(line),
        ..Fact::default()
    };
    [
        load_fact(scenario, None),
        empty(strings::WHAT_LIMITS, ""),
        empty(strings::KV_CACHE, strings::IN_USE_AT_PEAK),
        empty(strings::HOW_SURE, ""),
    ]
}

fn load_fact(scenario: &Scenario, planned: Option<&LoadPoint>) -> Fact {
    let shown = |value: fn(&LoadPoint) -> f64| {
        planned
            .filter(|point| point.has_percentile(99.0))
            .map_or_else(|| strings::UNKNOWN.to_owned(), |point| duration(value(point)))
    };
    // Classes have targets of their own.
    let target = |target_s| scenario.classes.is_empty().then_some(target_s);
    Fact {
        label: strings::AT_PLANNED_LOAD,
        value: shown(|point| point.ttft_p99_s.value),
        line: strings::p99_with_target("TTFT", target(scenario.slo.ttft_s)),
        second: shown(|point| point.tpot_p99_s.value),
        second_line: strings::p99_with_target("TPOT", target(scenario.slo.tpot_s)),
    }
}

fn limit_fact(scenario: &Scenario, planned: Option<&LoadPoint>) -> Fact {
    let label = strings::WHAT_LIMITS;
    let Some(point) = planned else {
        return Fact { label, value: strings::UNKNOWN.to_owned(), ..Fact::default() };
    };
    let compute = point.compute_bound_share;
    let (word, share) = if compute >= 0.5 {
        (strings::COMPUTE, compute)
    } else {
        (strings::BANDWIDTH, 1.0 - compute)
    };
    let most = match scenario.rules {
        SchedRules::Sequential => 1,
        _ => scenario.sched.max_num_seqs,
    };
    Fact {
        label,
        value: word.to_owned(),
        line: strings::of_step_time(share),
        second: strings::sequences(point.mean_running, most),
        second_line: whole(strings::RUNNING_ON_AVERAGE),
    }
}

fn cache_fact(scenario: &Scenario, answer: &PlanAnswer) -> Fact {
    let by_batches = scenario.rules.form_whole_batches();
    if by_batches || !scenario.limits_memory() {
        let (line, short) =
            if by_batches { strings::NO_MEMORY_OF_BATCHES } else { strings::NO_MEMORY };
        return Fact {
            label: strings::KV_CACHE,
            value: strings::NOT_MODELLED.to_owned(),
            line: (line.to_owned(), short.to_owned()),
            ..Fact::default()
        };
    }
    Fact {
        label: strings::KV_CACHE,
        value: answer.planned.map_or_else(
            || strings::UNKNOWN.to_owned(),
            |point| whole_percent(point.kv_peak_share),
        ),
        line: whole(strings::IN_USE_AT_PEAK),
        second: strings::requests(answer.requests_that_fit),
        second_line: whole(strings::LARGEST_FIT),
    }
}

fn sure_fact(answered: &Answered, fleet: &FleetSize) -> Fact {
    let answer = &answered.answer;
    let gpus_each = answered.resolution.scenario.gpus_per_engine();
    let all = |engines: u64| engines.saturating_mul(gpus_each);
    // What is asked in users is answered in users.
    let (found, unit) = match &answer.users {
        Some(users) => (users.capacity, "users"),
        None => (answer.capacity_per_s, "req/s"),
    };
    let line = found
        .map(|capacity| strings::one_holds(capacity.low, capacity.high, unit))
        .unwrap_or_default();
    Fact {
        label: strings::HOW_SURE,
        value: strings::gpus(all(fleet.with_headroom_low), all(fleet.with_headroom_high)),
        line,
        second: strings::PUBLISHED_FORMULA.to_owned(),
        second_line: whole(&match answered.is_complete() {
            true => strings::runs_of(answer.replications),
            false => strings::NOT_CALIBRATED.to_owned(),
        }),
    }
}

/// A line that is short enough everywhere.
fn whole(line: &str) -> (String, String) {
    (line.to_owned(), line.to_owned())
}
