//! The published capacity search, written out independently of the planner.

use planner::{Plan, Verdict};
use scenario::Scenario;
use sim_core::Setup;

use super::reference::{Reference, run, with_rate, with_weight_bytes};

/// Halve the bracket from 1 to 40 requests per second twelve times; the lower end is the largest
/// rate known to meet the target.
pub(crate) fn capacity_per_s(setup: &Setup) -> f64 {
    let (mut holds, mut fails) = (1.0, 40.0);
    for _ in 0..12 {
        let middle = 0.5 * (holds + fails);
        let met = run(&with_rate(setup.clone(), middle)).slo_share() >= setup.slo.share;
        if met { holds = middle } else { fails = middle }
    }
    holds
}

#[test]
fn one_gpu_sustains_the_published_rate_and_the_fleet_follows() {
    let capacity = capacity_per_s(&Reference::named("rate1").setup(1.0));
    assert_eq!(format!("{capacity:.1}"), "22.6");
    assert_eq!((100.0 / capacity).ceil(), 5.0);
    assert_eq!((100.0 / capacity * 1.25).ceil(), 6.0);
}

/// The planner's own search on the same arrivals, from the preset that the page opens with.
#[test]
fn the_planner_finds_the_published_capacity_and_fleet() {
    let resolved = Scenario::preset().resolve().expect("the preset resolves");
    let mut plan = Plan::replaying(&resolved, Reference::named("rate1").trace(), 1.0);
    let answer = planner::run_inline(&mut plan).expect("valid set-ups").expect("an answer");
    let capacity = answer.capacity_per_s.expect("the target can be met");
    assert_eq!(format!("{:.1}", capacity.value), "22.6");
    let Verdict::Sized(fleet) = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert_eq!((fleet.without_headroom, fleet.with_headroom), (5, 6));
    // The bracket of the independent search: its last step is 39 / 2¹² wide.
    let bisected = capacity_per_s(&Reference::named("rate1").setup(1.0));
    assert!((capacity.value - bisected).abs() < 39.0 / 4096.0 + 5e-4 * bisected, "{bisected}");
}

/// INT4 weights read a third of the bytes, but near saturation every step also holds a prompt, and
/// prompts are bound by arithmetic: the rate rises by far less than decoding speeds up.
#[test]
fn smaller_weights_lift_the_capacity_less_than_the_decode() {
    let full = Reference::named("rate1").setup(1.0);
    let int4 = with_weight_bytes(full.clone(), 4.5e9);
    let at_low_load = |setup: &Setup| run(setup).tpot.percentile(50.0).expect("there are values");
    let decode_gain = at_low_load(&full) / at_low_load(&int4);
    let capacity_gain = capacity_per_s(&int4) / capacity_per_s(&full);
    assert!(decode_gain > 2.0, "decoding gains {decode_gain}");
    assert!(capacity_gain > 1.0, "the capacity gains {capacity_gain}");
    assert!(
        capacity_gain - 1.0 < 0.25 * (decode_gain - 1.0),
        "the capacity gains {capacity_gain}, decoding {decode_gain}"
    );
}
