//! The published capacity search, written out independently of the planner.

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
