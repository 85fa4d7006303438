//! Fleets behind routers, beside the division.
#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use planner::{Plan, Replicas, ReplicasAnswer, run_inline};
use scenario::Scenario;
use sim_core::fleet::router::Router;

fn ask(settings: &[(&str, &str)]) -> Option<ReplicasAnswer> {
    let mut scenario = Scenario::preset();
    for (key, value) in [("sim.requests", "1000"), ("sim.replications", "3")] {
        scenario.set(key, value).expect("a setting");
    }
    for (key, value) in settings {
        scenario.set(key, value).expect("a setting");
    }
    let resolved = scenario.resolve().expect("it resolves");
    let answer = run_inline(&mut Plan::new(&resolved)).expect("it runs").expect("an answer");
    let question = Replicas::new(&resolved, &answer, 2, 120.0)?;
    let runs: Vec<_> = question.jobs().iter().map(|job| job.run().expect("it runs")).collect();
    question.answer(&runs)
}

#[test]
fn a_router_that_looks_needs_no_more_than_one_that_does_not() {
    let answer = ask(&[]).expect("an answer");
    let fewest = |router: Router| {
        let found = answer.fewest.iter().find(|(it, _)| *it == router).expect("it is tried");
        found.1.expect("enough were tried")
    };
    assert!(fewest(Router::LeastInFlight) <= fewest(Router::RoundRobin));
    assert!(fewest(Router::RoundRobin) <= fewest(Router::Random));
    // Pooling helps, and no fleet does with fewer than what can be finished at all.
    assert!(fewest(Router::LeastInFlight) <= answer.by_division.0);
    assert!(fewest(Router::LeastInFlight) * 25 > 100, "{answer:?}");
    assert_eq!(answer.n_plus_one, Some(fewest(Router::LeastInFlight) + 1));
}

#[test]
fn fewer_replicas_serve_less_well() {
    let answer = ask(&[]).expect("an answer");
    let shares: Vec<f64> = answer.out.iter().map(|(_, point)| point.slo_share.value).collect();
    assert_eq!(answer.out.iter().map(|(out, _)| *out).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(shares[0] > 0.999 && shares[2] < shares[0], "{shares:?}");
    // Four finish 98 of 100 requests a second at most.
    let (_, two_out) = answer.out[2];
    assert!(!two_out.holds, "{two_out:?}");
    // While one is away the others have room for its part.
    let (restart_s, lost) = answer.lost.expect("one is lost");
    assert_eq!(restart_s, 120.0);
    assert!(lost.slo_share.value < shares[0] && lost.slo_share.value > 0.9, "{lost:?}");
}

#[test]
fn users_and_what_has_no_number_have_no_fleet() {
    assert_eq!(ask(&[("arrivals", "closed(200,10s)")]), None);
    assert_eq!(ask(&[("ttft", "1ms")]), None);
}
