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
            let target_us = two_digits_up((floor_s * EASE * 1e6).ceil() as u64);
            remedies.push(Remedy {
                key: format!("{prefix}{key}"),
                value: milliseconds(target_us),
                effect: format!("25 % above {what}"),
            });
        }
    }
    remedies
}

/// Round up to two significant digits.
fn two_digits_up(value: u64) -> u64 {
    let mut unit: u64 = 1;
    while value / unit >= 100 {
        unit *= 10;
    }
    value.div_ceil(unit) * unit
}

/// Microseconds as a link writes milliseconds. In whole numbers: this is all that the worker ever
/// writes of numbers with a fraction, and the tables for them are a tenth of what it would weigh.
fn milliseconds(us: u64) -> String {
    let (whole, thousandths) = (us / 1_000, us % 1_000);
    if thousandths == 0 {
        return format!("{whole}ms");
    }
    let digits = format!("{thousandths:03}");
    format!("{whole}.{}ms", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_round_and_never_below() {
        for (us, expected) in [
            (51_200, "52ms"),
            (5_050, "5.1ms"),
            (71, "0.071ms"),
            (412_300, "420ms"),
            (900, "0.9ms"),
            (1, "0.001ms"),
            (99_001, "100ms"),
        ] {
            assert_eq!(milliseconds(two_digits_up(us)), expected);
        }
        assert!(two_digits_up(u64::MAX / 2) >= u64::MAX / 2);
    }
}
