//! Alternatives, comparisons and sensitivities against plans of their own.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

use planner::{
    Alternatives, AlternativesAnswer, Basis, Compare, CompareAnswer, Dollars, Plan, Sensitivity,
    SensitivityAnswer, Uncertain, Verdict, What, closed_form, run_inline,
};
use scenario::{Resolved, Scenario};
use sim_core::Run;

fn scenario(settings: &str) -> Scenario {
    let mut scenario = Scenario::preset();
    let few = "sim.requests=300 sim.replications=3 ";
    for word in [few, settings].concat().split_whitespace() {
        let (key, value) = word.split_once('=').expect("a setting");
        scenario.set(key, value).unwrap_or_else(|error| panic!("{word}: {error:?}"));
    }
    scenario
}

fn resolved(settings: &str) -> Resolved {
    scenario(settings).resolve().unwrap_or_else(|error| panic!("{settings}: {error}"))
}

fn price(device: &catalog::Device) -> Option<Dollars> {
    let (low, high) = device.price_per_hour.as_ref()?;
    Some(Dollars::between(low.value, high.value))
}

fn alternatives(settings: &str, wanted: usize) -> AlternativesAnswer {
    let scenario = scenario(settings);
    let names = ["h100-sxm", "l40s", "h200-sxm", "mi300x"];
    let devices: Vec<_> = names.iter().map(|name| catalog::device(name).expect(name)).collect();
    let model = catalog::checkpoint(&scenario.model).expect("a model");
    let mut asked = Alternatives::new(&scenario, (&devices, &model), &price, wanted, None);
    loop {
        let jobs = asked.next_jobs();
        if jobs.is_empty() {
            return asked.answer();
        }
        let runs: Vec<Run> = jobs.iter().map(|job| job.run().expect("it runs")).collect();
        asked.accept(&runs);
    }
}

const MODEL: &str = "model=llama-3.1-8b rate=40";

/// What is left out by bounds would not have been among what is told.
#[test]
fn pruning_loses_nothing_of_the_cheapest_and_of_the_front() {
    let (few, all) = (alternatives(MODEL, 3), alternatives(MODEL, 1000));
    assert!(all.rows.iter().all(|row| row.basis == Basis::Simulated));
    let simulated = few.rows.iter().filter(|row| row.basis == Basis::Simulated).count();
    assert!(simulated < all.rows.len(), "nothing was pruned of {}", all.rows.len());
    for place in 0..3 {
        assert_eq!(few.rows[place].link, all.rows[place].link);
        assert_eq!(few.rows[place].per_hour, all.rows[place].per_hour);
    }
    let front = |answer: &AlternativesAnswer| -> Vec<String> {
        answer.rows.iter().filter(|row| row.is_on_front).map(|row| row.link.clone()).collect()
    };
    assert_eq!(front(&few), front(&all));
}

/// A bounded row claims at most what a simulation of it finds.
#[test]
fn bounds_hold() {
    let (few, all) = (alternatives(MODEL, 1), alternatives(MODEL, 1000));
    let bounded = few.rows.iter().filter(|row| row.basis == Basis::Bounded);
    let mut count = 0;
    for row in bounded {
        let Some(found) = all.rows.iter().find(|other| other.link == row.link) else { continue };
        assert!(row.capacity_per_s >= found.capacity_per_s, "{row:?} {found:?}");
        assert!(row.gpus <= found.gpus && row.per_hour.typical <= found.per_hour.typical);
        assert!(row.e2e_p99_s <= found.e2e_p99_s, "{row:?} {found:?}");
        count += 1;
    }
    assert!(count >= 5, "{count} rows");
}

/// The tuned limits sustain at least as much as the scenario's, to what runs cannot tell apart.
#[test]
fn tuning_loses_nothing() {
    let answer = alternatives(&[MODEL, " sched.max_num_seqs=16"].concat(), 2);
    let tuned = answer.tuned.expect("something is tuned");
    let capacity = tuned.answer.capacity_per_s.expect("a capacity").value;
    assert!(capacity > 1.1 * tuned.untuned_capacity_per_s, "{capacity} {tuned:?}");
    assert!(tuned.max_num_seqs > 16);
    let again = run_inline(&mut Plan::new(
        &Scenario::from_link(&tuned.link).scenario.resolve().expect("it resolves"),
    ));
    assert_eq!(again.expect("it runs").as_ref(), Some(&*tuned.answer));
}

fn compare(first: &str, second: &str) -> CompareAnswer {
    let mut compare = Compare::new(&resolved(first), &resolved(second));
    loop {
        let jobs = compare.next_jobs();
        if jobs.is_empty() {
            return compare.finish().expect("it runs").expect("an answer");
        }
        let runs: Vec<Run> = jobs.iter().map(|job| job.run().expect("it runs")).collect();
        compare.accept(&runs);
    }
}

#[test]
fn a_scenario_does_not_differ_from_itself() {
    let answer = compare("rate=40", "rate=40");
    let change = answer.capacity_change.expect("both have a capacity");
    assert_eq!((change.low, change.value, change.high), (0.0, 0.0, 0.0));
    let requests = answer.requests.expect("requests");
    assert_eq!((requests.requests, requests.sooner, requests.later), (300, 0, 0));
    assert_eq!(requests.mean_change_s, 0.0);
}

/// Twice the bandwidth and arithmetic on the same users: every request ends sooner, and the interval is
/// narrow because the users are the same.
#[test]
fn a_faster_machine_serves_every_request_sooner() {
    let fast = "step.bandwidth=6.7e12 step.peak_flops=1.978e15";
    let answer = compare("", fast);
    let change = answer.capacity_change.expect("both have a capacity");
    assert!(change.low > 0.5 && change.high < 1.6, "{change:?}");
    let requests = answer.requests.expect("requests");
    assert_eq!((requests.sooner, requests.later), (300, 0));
    assert!(requests.change_s.iter().all(|change_s| *change_s < 0.0), "{requests:?}");
    let most = requests.most_changed.first().expect("a request");
    assert!(most.e2e_s.1 < most.e2e_s.0);
    // The plans are those of the scenarios.
    let plan = run_inline(&mut Plan::new(&resolved(fast))).expect("it runs").expect("an answer");
    assert_eq!(answer.answers[1].capacity_per_s, plan.capacity_per_s);
    // Nearly everything that chance does to one it does to the other.
    let alone = plan.capacity_per_s.expect("a capacity");
    let width = |low: f64, high: f64, value: f64| (high - low) / value;
    let paired = width(change.low, change.high, 1.0 + change.value);
    assert!(paired < 2.0 * width(alone.low, alone.high, alone.value), "{change:?} {alone:?}");
}

fn sensitivity(settings: &str) -> SensitivityAnswer {
    let (scenario, resolved) = (scenario(settings), resolved(settings));
    let dollars = Dollars::between(2.0, 4.0);
    let inputs = Uncertain::all(&scenario, &resolved, Some(&dollars));
    let mut asked = Sensitivity::new(&scenario, &resolved, inputs, Some(dollars));
    loop {
        let jobs = asked.next_jobs();
        if jobs.is_empty() {
            return asked.answer().expect("it is answered").expect("the scenario has an answer");
        }
        let runs: Vec<Run> = jobs.iter().map(|job| job.run().expect("it runs")).collect();
        asked.accept(&runs);
    }
}

/// Each end of a bar is what a plan of that scenario says.
#[test]
fn bars_are_plans_of_their_own() {
    let answer = sensitivity("");
    let base = answer.base;
    let plan = |settings: &str| {
        let answer = run_inline(&mut Plan::new(&resolved(settings))).expect("it runs");
        let answer = answer.expect("an answer");
        let Verdict::Sized(size) = answer.verdict else { panic!("{:?}", answer.verdict) };
        (size.with_headroom, answer.rate_per_s * 1.25 / answer.capacity_per_s.expect("one").value)
    };
    assert_eq!((base.gpus, base.gpus_unrounded), plan(""));
    for (what, settings) in [
        (What::Load, ["rate=80", "rate=125"]),
        (What::Answers, ["out=205", "out=320"]),
        (What::Setting("step.overhead_s".to_owned()), ["", ""]),
    ] {
        let bar = answer.bars.iter().find(|bar| bar.input.what == what).expect("a bar");
        let ends = [bar.low.expect("an answer"), bar.high.expect("an answer")];
        if settings[0].is_empty() {
            // Less overhead, fewer GPUs.
            assert!(ends[0].gpus_unrounded < base.gpus_unrounded);
            assert!(ends[1].gpus_unrounded > base.gpus_unrounded);
            continue;
        }
        for (end, settings) in ends.iter().zip(settings) {
            assert_eq!((end.gpus, end.gpus_unrounded), plan(settings), "{settings}");
        }
    }
    // A price changes money and no GPU.
    let price = answer.bars.iter().find(|bar| bar.input.what == What::Price).expect("a bar");
    let (low, high) = (price.low.expect("one"), price.high.expect("one"));
    assert_eq!((low.gpus, high.gpus), (base.gpus, base.gpus));
    let ratio = high.per_hour.expect("dollars") / low.per_hour.expect("dollars");
    assert!((ratio - 2.0).abs() < 1e-12);
}

#[test]
fn the_widest_bar_comes_first_and_draws_lie_around_the_answer() {
    let answer = sensitivity("");
    let width = |bar: &planner::Bar| {
        let dollars = |end: Option<planner::Outcome>| end.and_then(|end| end.per_hour);
        (dollars(bar.high).expect("one") - dollars(bar.low).expect("one")).abs()
    };
    assert!(answer.bars.windows(2).all(|pair| width(&pair[0]) >= width(&pair[1])));
    let (low, high) = answer.likely.expect("draws have answers");
    let (low, high) = (low.per_hour.expect("one"), high.per_hour.expect("one"));
    let base = answer.base.per_hour.expect("one");
    assert!(low < base && base < high, "{low} {base} {high}");
    // All together move it further than the widest alone does to one side.
    assert!(high / low > 1.5, "{low} {high}");
    assert_eq!((answer.draws, answer.without_answer), (60, 0));
}

/// The closed form stands behind every bound; where it has no capacity there is none.
#[test]
fn what_the_closed_form_rules_out_is_counted() {
    let answer = alternatives("model=llama-3.1-8b rate=40 tpot=1ms", 3);
    assert!(answer.rows.iter().all(|row| row.gpus_each > 1 || row.weights != "bf16"), "{answer:?}");
    assert!(answer.hopeless > 0);
    assert_eq!(closed_form(&resolved("tpot=1ms")).capacity_per_s, 0.0);
}
