//! A workload whose rate does not change: what a capacity is measured with.
//!
//! A capacity is a rate, so it is asked of a steady load. Where the scenario's rate changes over
//! time, each run holds one rate, and the fleet is sized for the peak. A spike that ends soon may
//! find room in the queue, so this is the safe side.

use std::sync::Arc;

use sim_core::{
    RequestSource, Setup,
    workload::{Mix, RateProfile},
};

/// The set-up with its rate held; bursts, whose mean rate is the asked one, stay.
pub(crate) fn steady(setup: &Setup) -> Setup {
    changed(setup, |mix| mix.arrivals.profile = RateProfile::Constant)
}

/// The same without bursts, for a permanent overload that no lull interrupts.
pub(crate) fn unbroken(setup: &Setup) -> Setup {
    changed(setup, |mix| mix.arrivals.bursts = None)
}

fn changed(setup: &Setup, change: impl FnOnce(&mut Mix)) -> Setup {
    let mut setup = setup.clone();
    if let RequestSource::Mixed(mix) = &mut setup.workload.source {
        change(Arc::make_mut(mix));
    }
    setup
}
