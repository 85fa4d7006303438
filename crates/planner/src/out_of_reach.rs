//! A target that even an idle engine misses, and what would bring it into reach.

use scenario::Remedy;
use sim_core::{Setup, float::greater, theory::Fluid};

use crate::answer::Verdict;

/// How much above the floor a suggested target lies, so that it holds for more than an idle engine.
const EASE: f64 = 1.25;

/// The verdict, with the targets that would do.
pub(crate) fn verdict(setup: &Setup, fluid: &Fluid) -> Verdict {
    let ttft_floor_s = fluid.lone_prefill_s();
    let tpot_floor_s = fluid.lone_decode_s();
    let mut remedies = Vec::new();
    for (key, floor_s, target_s, what) in [
        ("ttft", ttft_floor_s, setup.slo.ttft_s, "an idle engine’s prefill"),
        ("tpot", tpot_floor_s, setup.slo.tpot_s, "an idle engine’s step"),
    ] {
        if floor_s * EASE > target_s {
            let target_ms = two_digits_up(floor_s * EASE * 1e3);
            remedies.push(Remedy {
                key: key.to_owned(),
                value: format!("{target_ms}ms"),
                effect: format!("25 % above {what}"),
            });
        }
    }
    Verdict::OutOfReach { ttft_floor_s, tpot_floor_s, remedies }
}

/// Round up to two significant digits; values from 0.01 on.
fn two_digits_up(value: f64) -> f64 {
    let mut unit = 0.001;
    while value >= unit * 100.0 {
        unit *= 10.0;
    }
    let units = greater(1.0, (value / unit * (1.0 - 1e-12)).ceil());
    // Through text, so that 0.07 is not 0.07000000000000001.
    format!("{:.3}", units * unit).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_round_and_never_below() {
        for (value, expected) in
            [(51.2, 52.0), (5.05, 5.1), (0.071, 0.071), (412.3, 420.0), (0.9, 0.9)]
        {
            assert_eq!(two_digits_up(value), expected);
        }
    }
}
