//! A target that even an idle engine misses, and what would bring it into reach.

use scenario::{CLASS_PREFIX, REST, Remedy};
use sim_core::{Setup, float::greater};

use crate::{
    answer::Verdict,
    closed_form::{Kind, fluid_of, kinds_of},
};

/// How much above the floor a suggested target lies, so that it holds for more than an idle engine.
const EASE: f64 = 1.25;

/// Most remedies offered.
const MOST_REMEDIES: usize = 4;

/// The verdict, with the targets that would do. Of several classes, named as in `classes`, it is
/// about the one that is furthest from its target.
pub(crate) fn verdict(setup: &Setup, classes: &[String]) -> Verdict {
    let kinds = kinds_of(setup);
    let mut remedies = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        remedies.extend(remedies_of(kind, classes.get(index)));
    }
    remedies.truncate(MOST_REMEDIES);
    let mut worst = 0;
    for (index, kind) in kinds.iter().enumerate() {
        if excess(kind) > kinds.get(worst).map_or(0.0, excess) {
            worst = index;
        }
    }
    let fluid = kinds.get(worst).map_or_else(|| fluid_of(setup), |kind| kind.fluid);
    Verdict::OutOfReach {
        class: classes.get(worst).cloned(),
        ttft_floor_s: fluid.lone_prefill_s(),
        tpot_floor_s: fluid.lone_decode_s(),
        remedies,
    }
}

/// How many times its targets a lone request takes, by the worse of the two.
fn excess(kind: &Kind) -> f64 {
    greater(
        kind.fluid.lone_prefill_s() / kind.slo.ttft_s,
        kind.fluid.lone_decode_s() / kind.slo.tpot_s,
    )
}

fn remedies_of(kind: &Kind, class: Option<&String>) -> Vec<Remedy> {
    let prefix = match class {
        Some(name) if name != REST => format!("{CLASS_PREFIX}{name}."),
        _ => String::new(),
    };
    let mut remedies = Vec::new();
    for (key, floor_s, target_s, what) in [
        ("ttft", kind.fluid.lone_prefill_s(), kind.slo.ttft_s, "an idle engine’s prefill"),
        ("tpot", kind.fluid.lone_decode_s(), kind.slo.tpot_s, "an idle engine’s step"),
    ] {
        if floor_s * EASE > target_s {
            let target_ms = two_digits_up(floor_s * EASE * 1e3);
            remedies.push(Remedy {
                key: format!("{prefix}{key}"),
                value: format!("{target_ms}ms"),
                effect: format!("25 % above {what}"),
            });
        }
    }
    remedies
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
