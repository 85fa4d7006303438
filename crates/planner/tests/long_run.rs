//! What a plan says against a run a hundred times as long, over random scenarios.
//!
//! `HEADROOM_SCENARIOS` says over how many.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test stops at the first surprise, and says what it measured"
)]

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use planner::{Estimate, Plan, PlanAnswer, run_inline};
use scenario::Scenario;
use sim_core::random::split_mix;

/// Scenarios where nobody says how many.
const USUAL: u64 = 16;
/// Requests and replications of a plan where nobody says, and how many times as long the run of the truth
/// is.
const REQUESTS: u64 = 2000;
const REPLICATIONS: u64 = 8;
const LONGER: u64 = 100;

/// Random numbers of one scenario.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (split_mix(self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Equal factors alike.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * libm::pow(high / low, self.next())
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[(self.next() * words.len() as f64) as usize]
    }

    fn length(&mut self, low: f64, high: f64) -> String {
        let tokens = self.between(low, high).round();
        match self.one_of(&["fixed", "fixed", "lognormal", "uniform"]) {
            "lognormal" => format!("lognormal({tokens},{:.2})", self.between(0.2, 0.9)),
            "uniform" => {
                let shortest = sim_core::float::greater((tokens * 0.5).round(), 1.0);
                format!("uniform({shortest},{})", (tokens * 1.5).round())
            }
            _ => format!("{tokens}"),
        }
    }
}

fn scenario(number: u64) -> Scenario {
    let mut draws = Draws(split_mix(number));
    let settings = [
        ("gpu", draws.one_of(&["h100-sxm", "h200-sxm", "a100-sxm-80gb", "l40s"]).to_owned()),
        ("in", draws.length(64.0, 3000.0)),
        ("out", draws.length(16.0, 400.0)),
        ("ttft", format!("{:.0}ms", draws.between(300.0, 5000.0))),
        ("tpot", format!("{:.1}ms", draws.between(15.0, 120.0))),
        ("share", draws.one_of(&["90", "95", "99"]).to_owned()),
        ("arrivals", draws.one_of(&["poisson", "poisson", "gamma(0.5)", "even"]).to_owned()),
        ("sched.rules", draws.one_of(&["reference", "vllm-0.33"]).to_owned()),
        ("sched.max_num_seqs", draws.one_of(&["16", "64", "256"]).to_owned()),
        ("sched.max_num_batched_tokens", draws.one_of(&["1024", "4096", "8192"]).to_owned()),
        ("sim.requests", REQUESTS.to_string()),
        ("sim.replications", REPLICATIONS.to_string()),
        ("seed", (number + 1).to_string()),
    ];
    let mut scenario = Scenario::preset();
    for (key, value) in settings {
        scenario.set(key, &value).unwrap_or_else(|error| panic!("{key}={value}: {error:?}"));
    }
    scenario
}

fn plan(scenario: &Scenario) -> Option<PlanAnswer> {
    let resolved = scenario.resolve().ok()?;
    run_inline(&mut Plan::new(&resolved)).expect("it runs")
}

fn capacity(answer: Option<PlanAnswer>) -> Option<Estimate> {
    answer?.capacity_per_s.filter(|capacity| capacity.value > 0.0)
}

/// A scenario's capacity as its plan has it, and as a run that is a hundred times as long has it.
fn both(number: u64) -> Option<(Scenario, Estimate, f64)> {
    let scenario = scenario(number);
    let planned = capacity(plan(&scenario))?;
    let mut long = scenario.clone();
    let requests = REQUESTS * LONGER;
    for (key, value) in
        [("sim.requests", requests), ("sim.replications", 1), ("seed", number + 1_000_003)]
    {
        long.set(key, &value.to_string()).expect("a setting");
    }
    let truth = capacity(plan(&long))?;
    Some((scenario, planned, truth.value))
}

/// The scenario offered 1.02 times what it sustains in the long run: whether one GPU is said to do, without
/// a doubt.
fn is_called_fine(scenario: &Scenario, planned: &Estimate, truth: f64) -> bool {
    let offered = 1.02 * truth;
    // Where the interval reaches below what is offered, two numbers of GPUs are possible: a close call.
    if planned.low < offered {
        return false;
    }
    let mut scenario = scenario.clone();
    scenario.rate_per_s = offered;
    scenario.headroom = 0.0;
    let answer = plan(&scenario).expect("it has an answer");
    answer.planned.is_some_and(|point| point.stable && point.slo_share.low >= scenario.slo.share)
}

#[test]
fn no_overload_is_called_fine() {
    let wanted = std::env::var("HEADROOM_SCENARIOS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(USUAL);
    let next = AtomicU64::new(0);
    let found = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if found.lock().expect("nobody panicked").len() as u64 >= wanted || number > 10 * wanted
            {
                break;
            }
            // Out of reach, or it does not fit: there is no capacity to ask about.
            let Some((scenario, planned, truth)) = both(number) else { continue };
            let is_held = planned.low <= truth && truth <= planned.high;
            let is_fine = is_called_fine(&scenario, &planned, truth);
            // A long test tells how far it has come.
            eprintln!("{number}: held {is_held}, fine {is_fine}, {planned:?} and {truth}");
            found.lock().expect("nobody panicked").push((number, is_held, is_fine, planned, truth));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut found = found.into_inner().expect("nobody panicked");
    found.sort_by_key(|row| row.0);
    let held = found.iter().filter(|row| row.1).count();
    let fine: Vec<_> = found.iter().filter(|row| row.2).collect();
    let above = found.iter().filter(|row| row.3.low > row.4).count();
    eprintln!(
        "{} scenarios: {held} intervals hold the long run ({above} lie above it); {} called fine at 1.02 times",
        found.len(),
        fine.len()
    );
    assert!(found.len() as u64 >= wanted, "{} scenarios have an answer", found.len());
    // How many intervals hold the long run is told and not asserted: runs that begin empty sustain a little
    // more than the long run does, so that fewer hold it than nineteen of twenty.
    assert!(fine.is_empty(), "{fine:?}");
}
