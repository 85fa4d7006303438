//! A target that even an idle engine misses: how far away it is.

use scenario::Remedy;
use sim_core::{Setup, float::greater};

use crate::{
    answer::Verdict,
    closed_form::{Kind, fluid_of, kinds_of},
};

/// The verdict, with the changes that would do. Of several classes, named as in `classes`, it is
/// about the one that is furthest from its target.
pub(crate) fn verdict(setup: &Setup, classes: &[String], remedies: Vec<Remedy>) -> Verdict {
    let kinds = kinds_of(setup);
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
