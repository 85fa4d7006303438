//! The search for the cheapest settings of a policy: it finds what a grid finds, tries nothing twice,
//! and keeps what other users confirm.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use planner::{Axis, PolicyJob, PolicySearch, PolicySearchAnswer, Steps};
use scenario::Scenario;
use sim_core::{
    Keep,
    fleet::{
        autoscale::{
            fixed::Fixed,
            hpa::{Bounds, Hpa, Tolerance},
        },
        live::{LiveFleet, simulate_live},
        outcome::LiveRun,
        policy::{Policy, Signal},
        start_up::StartUp,
    },
};

/// Ten minutes of traffic with a burst in it.
fn fleet(job: &PolicyJob, policy: Policy, first: f64) -> LiveFleet {
    let mut scenario = Scenario::preset();
    for (key, value) in [
        ("rate", "30"),
        ("profile", "spike(120s,240s,2)"),
        ("fleet.duration", "10min"),
        ("fleet.max", "8"),
    ] {
        scenario.set(key, value).expect(key);
    }
    let mut setup = scenario.resolve().expect("numbers").setup;
    setup.workload.requests = scenario.fleet.requests(&setup.workload.source).expect("a number");
    setup.seed = job.seed(setup.seed);
    let mut fleet = scenario.fleet.fleet(setup, 1, StartUp::fixed(30.0)).expect("a fleet");
    fleet.policy = policy;
    fleet.initial_replicas = first as u32;
    fleet
}

fn run_fixed(job: &PolicyJob) -> LiveRun {
    let replicas = job.settings[0];
    let policy = Policy::Fixed(Fixed { replicas: replicas as i32 });
    simulate_live(&fleet(job, policy, replicas), Keep::default()).expect("a run")
}

fn run_hpa(job: &PolicyJob) -> LiveRun {
    let [min, target] = job.settings[..] else { panic!("{job:?}") };
    let hpa = Hpa::new(Bounds { min: min as i32, max: 8 });
    let tolerance = Tolerance::default();
    let policy = Policy::Hpa { hpa, signal: Signal::InFlight, target, tolerance };
    simulate_live(&fleet(job, policy, min), Keep::default()).expect("a run")
}

fn searched(
    axes: Vec<Axis>,
    most: usize,
    run: impl Fn(&PolicyJob) -> LiveRun,
) -> PolicySearchAnswer {
    let mut search = PolicySearch::new(axes, most, 10.0);
    loop {
        let jobs = search.next_jobs();
        if let Some(answer) = search.answer() {
            return answer;
        }
        let runs: Vec<LiveRun> = jobs.iter().map(&run).collect();
        search.accept(&runs);
    }
}

fn min(first: f64) -> Axis {
    Axis { name: "min", first, least: 1.0, most: 8.0, steps: Steps::Counts }
}

fn target() -> Axis {
    Axis { name: "target", first: 24.0, least: 0.5, most: 256.0, steps: Steps::Factors }
}

/// For a number of replicas the grid is whole: the search ends at its cheapest, wherever it began.
#[test]
fn the_fewest_replicas_are_found_from_both_ends() {
    let of = |replicas: u32| {
        run_fixed(&PolicyJob { settings: vec![f64::from(replicas)], replication: 0 })
    };
    let holds = |run: &LiveRun| run.total.slo_share() >= run.total.slo.share;
    let fewest = (1..=8).find(|&replicas| holds(&of(replicas))).expect("eight are enough");
    assert!(fewest > 1, "one is too few");
    for first in [1.0, 8.0] {
        let answer = searched(vec![min(first)], 40, run_fixed);
        let best = answer.best.expect("one holds");
        assert_eq!(best.settings, [f64::from(fewest)], "from {first}");
        assert_eq!(answer.checked.len(), 3);
    }
}

#[test]
fn an_autoscaler_is_tuned_and_nothing_is_tried_twice() {
    let answer = searched(vec![min(1.0), target()], 60, run_hpa);
    let first = &answer.trials[0];
    let best = answer.best.expect("one holds");
    assert_eq!(answer.names, ["min", "target"]);
    assert!(best.holds && (!first.holds || best.gpu_hours < first.gpu_hours), "{best:?} {first:?}");
    for (at, trial) in answer.trials.iter().enumerate() {
        assert!(answer.trials[..at].iter().all(|other| other.settings != trial.settings));
        let cheaper = trial.holds && trial.gpu_hours < best.gpu_hours;
        // Only one that other users did not confirm may be cheaper.
        assert!(!cheaper || answer.checked.iter().all(|check| check.settings == best.settings));
    }
    let mean = answer.checked.iter().map(|check| check.slo_share).sum::<f64>() / 3.0;
    assert!(mean >= 0.99, "{mean}");
    let again = searched(vec![min(1.0), target()], 60, run_hpa);
    assert_eq!(again.trials, answer.trials);
}

#[test]
fn trials_end_where_they_should() {
    let answer = searched(vec![min(1.0), target()], 7, run_hpa);
    assert!(answer.trials.len() <= 7, "{}", answer.trials.len());
}

#[test]
fn where_nothing_holds_nothing_is_offered() {
    let one = Axis { most: 1.0, ..min(1.0) };
    let answer = searched(vec![one], 40, run_fixed);
    assert_eq!((answer.best, answer.checked.len()), (None, 0));
    assert_eq!(answer.trials.len(), 1);
}
