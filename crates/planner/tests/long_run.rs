//! What a plan says against runs a hundred times as long, over random scenarios.
//!
//! `HEADROOM_SCENARIOS` says over how many, `HEADROOM_FIRST` from which on; there are as many overloads as
//! scenarios, unless `HEADROOM_OVERLOADS` says how many.
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

use planner::{Estimate, Job, Plan, PlanAnswer, Verdict, run_inline};
use scenario::{Resolved, Scenario};
use sim_core::{engine::Attendance, random::split_mix};

/// Scenarios where nobody says how many.
const USUAL: u64 = 16;
/// Requests and replications of a plan where nobody says, and how many times as long the runs of the truth
/// are; there are as many of them.
const REQUESTS: u64 = 2000;
const REPLICATIONS: u64 = 8;
const LONGER: u64 = 100;

/// Relative width within which the long run's capacity is looked for by one run, and by all of them.
const COARSE: f64 = 0.012;
const FINE: f64 = 0.001;

/// How often an interval is to hold the long run.
const LEVEL: f64 = 0.95;
/// How seldom so few hold it by chance that the test fails.
const CHANCE: f64 = 0.01;

/// How much more than the long run sustains is offered.
const TOO_MUCH: f64 = 1.02;

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

fn plan(resolved: &Resolved) -> PlanAnswer {
    run_inline(&mut Plan::new(resolved)).expect("it runs").expect("an answer")
}

/// Share of the requests of so many long runs that meet the target at a rate, their start included.
fn long_run_share(resolved: &Resolved, rate_per_s: f64, runs: u64) -> f64 {
    let share = |run: u64| {
        let mut setup = resolved.setup.clone();
        setup.workload.requests = REQUESTS * LONGER;
        // Other users than those of the plan.
        setup.seed = split_mix(setup.seed + 1_000_003 + 7919 * run);
        setup.workload.source.set_rate(rate_per_s);
        let job = Job { setup, attendance: Attendance::OPEN };
        job.run().expect("it runs").slo_share()
    };
    (0..runs).map(share).sum::<f64>() / runs as f64
}

/// The largest rate per second that the long run sustains, looked for around what a plan says: at first
/// by one run, then by all.
fn long_run_capacity(resolved: &Resolved, planned: &Estimate) -> f64 {
    let holds =
        |rate_per_s, runs| long_run_share(resolved, rate_per_s, runs) >= resolved.setup.slo.share;
    let (mut low, mut high) = (0.0, 1.05 * planned.high);
    let mut asked = 0.97 * planned.value;
    while high - low > COARSE * high {
        if holds(asked, 1) {
            low = asked;
        } else {
            high = asked;
        }
        asked = if low == 0.0 { 0.95 * high } else { 0.5 * (low + high) };
    }
    (low, high) = ((1.0 - COARSE) * low, (1.0 + COARSE) * high);
    while high - low > FINE * high {
        let middle = 0.5 * (low + high);
        if holds(middle, REPLICATIONS) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// What was found of a scenario.
#[derive(Clone, Copy, Debug)]
struct Found {
    planned: Estimate,
    long_run_per_s: f64,
    is_held: bool,
}

/// A scenario with the capacity that its plan finds; nothing where it is out of reach or does not fit, so
/// that there is no capacity to ask about.
fn planned(number: u64) -> Option<(Scenario, Resolved, Estimate)> {
    let scenario = scenario(number);
    let resolved = scenario.resolve().ok()?;
    let capacity = plan(&resolved).capacity_per_s.filter(|capacity| capacity.value > 0.0)?;
    Some((scenario, resolved, capacity))
}

impl Found {
    fn of(number: u64) -> Option<Self> {
        let (_, resolved, planned) = planned(number)?;
        let long_run_per_s = long_run_capacity(&resolved, &planned);
        let is_held = planned.low <= long_run_per_s && long_run_per_s <= planned.high;
        Some(Self { planned, long_run_per_s, is_held })
    }
}

/// Whether one GPU is said to do for a rate, without a doubt.
fn is_called_fine(mut scenario: Scenario, rate_per_s: f64) -> bool {
    (scenario.rate_per_s, scenario.headroom) = (rate_per_s, 0.0);
    let answer = plan(&scenario.resolve().expect("it resolves"));
    let Verdict::Sized(size) = answer.verdict else { return false };
    // Where the interval reaches below what is offered, two numbers of GPUs are possible: a close call.
    let holds = answer
        .planned
        .is_some_and(|point| point.stable && point.slo_share.low >= scenario.slo.share);
    size.with_headroom_high == 1 && holds
}

/// Whether a scenario is called fine at [`TOO_MUCH`] times what it sustains in the long run.
fn is_overload_called_fine(number: u64) -> Option<bool> {
    let (scenario, resolved, planned) = planned(number)?;
    // Nothing is called fine above the lower end of the interval. Where the long run sustains that much
    // less, what is offered lies above it.
    let enough_per_s = planned.low / TOO_MUCH;
    let sustains = long_run_share(&resolved, enough_per_s, REPLICATIONS);
    if enough_per_s == 0.0 || sustains >= resolved.setup.slo.share {
        return Some(false);
    }
    let long_run_per_s = long_run_capacity(&resolved, &planned);
    eprintln!("{number}: {planned:?} lies above {long_run_per_s}");
    Some(is_called_fine(scenario, TOO_MUCH * long_run_per_s))
}

fn from_environment(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Looks at so many scenarios that have an answer, on two threads, in order of their numbers.
fn of_scenarios<T: Send + std::fmt::Debug>(
    wanted: u64,
    look: impl Fn(u64) -> Option<T> + Sync,
) -> Vec<T> {
    let first = from_environment("HEADROOM_FIRST", 0);
    let next = AtomicU64::new(first);
    let found = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let enough = found.lock().expect("nobody panicked").len() as u64 >= wanted;
            if enough || number > first + 10 * wanted {
                break;
            }
            let Some(one) = look(number) else { continue };
            // A long test tells how far it has come.
            eprintln!("{number}: {one:?}");
            found.lock().expect("nobody panicked").push((number, one));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut found = found.into_inner().expect("nobody panicked");
    found.sort_by_key(|one| one.0);
    assert!(found.len() as u64 >= wanted, "{} scenarios have an answer", found.len());
    found.into_iter().map(|one| one.1).collect()
}

/// The fewest of so many intervals that hold the truth unless it is by a chance of [`CHANCE`], where each
/// holds it with [`LEVEL`]: 182 of 200.
fn fewest_held(intervals: usize) -> usize {
    let (mut exactly, mut at_most) = (1.0 - LEVEL, 0.0);
    // Misses instead of hits: the sum begins with none.
    exactly = libm::pow(1.0 - exactly, intervals as f64);
    let mut misses = 0;
    while misses < intervals {
        at_most += exactly;
        if 1.0 - at_most <= CHANCE {
            break;
        }
        exactly *= (intervals - misses) as f64 / (misses + 1) as f64 * (1.0 - LEVEL) / LEVEL;
        misses += 1;
    }
    intervals - misses
}

#[test]
fn fewer_than_182_of_200_are_no_chance() {
    assert_eq!([fewest_held(200), fewest_held(16), fewest_held(1)], [182, 13, 0]);
}

#[test]
fn intervals_hold_the_long_run_as_often_as_they_say() {
    let found = of_scenarios(from_environment("HEADROOM_SCENARIOS", USUAL), Found::of);
    let held = found.iter().filter(|one| one.is_held).count();
    let above = found.iter().filter(|one| one.planned.low > one.long_run_per_s).count();
    let mut widths: Vec<f64> =
        found.iter().map(|one| (one.planned.high - one.planned.low) / one.long_run_per_s).collect();
    widths.sort_by(f64::total_cmp);
    let off = found.iter().map(|one| one.planned.value / one.long_run_per_s - 1.0).sum::<f64>();
    let n = found.len();
    eprintln!(
        "{n} scenarios: {held} intervals hold the long run ({above} lie above it); half are narrower than \
         {:.1} %, nine tenths than {:.1} %; values are {:+.2} % off in the mean",
        100.0 * widths[n / 2],
        100.0 * widths[n * 9 / 10],
        100.0 * off / n as f64,
    );
    assert!(held >= fewest_held(n), "{held} of {n} intervals hold the long run");
}

/// Nobody is told that one GPU does for what it does not sustain.
#[test]
fn no_overload_is_called_fine() {
    let usual = from_environment("HEADROOM_SCENARIOS", USUAL);
    let wanted = from_environment("HEADROOM_OVERLOADS", usual);
    let fine = of_scenarios(wanted, |number| Some((number, is_overload_called_fine(number)?)));
    let fine: Vec<u64> = fine.iter().filter(|one| one.1).map(|one| one.0).collect();
    eprintln!("{wanted} scenarios: {} overloads called fine", fine.len());
    assert!(fine.is_empty(), "scenarios {fine:?}");
}
