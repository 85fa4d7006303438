//! A workload whose rate does not change: what a capacity is measured with.
//!
//! A capacity is a rate, so it is asked of a steady load. Where the scenario's rate changes over
//! time, each run holds one rate, and the fleet is sized for the peak. A spike that ends soon may
//! find room in the queue, so this is the safe side.

use std::sync::Arc;

use sim_core::{
    ArrivalProcess, RequestSource, Setup, Trace,
    workload::{Mix, RateProfile, TraceRow},
};

/// The set-up with its rate held; bursts, whose mean rate is the asked one, stay.
pub(crate) fn steady(setup: &Setup) -> Setup {
    changed(setup, |mix| mix.arrivals.profile = RateProfile::Constant)
}

/// The same with plain Poisson arrivals: a permanent overload that no lull interrupts.
pub(crate) fn unbroken(setup: &Setup) -> Setup {
    let mut setup = changed(setup, |mix| {
        mix.arrivals.bursts = None;
        mix.arrivals.process = ArrivalProcess::Poisson;
    });
    if let RequestSource::Generated { process, .. } = &mut setup.workload.source {
        *process = ArrivalProcess::Poisson;
    }
    setup
}

/// A recording with its lengths at 1 req/s, evenly spaced; other traffic as it is.
pub(crate) fn evenly_spaced(setup: &Setup) -> Setup {
    let mut setup = setup.clone();
    if let RequestSource::Replay { trace, speed } = &mut setup.workload.source {
        let spaced =
            |(index, row): (usize, &TraceRow)| TraceRow { arrival_s: index as f64, ..*row };
        let rows = trace.rows().iter().enumerate().map(spaced).collect();
        // Its rows were sound, and are still in order.
        if let Ok(spaced) = Trace::new(rows) {
            (*trace, *speed) = (Arc::new(spaced), 1.0);
        }
    }
    setup
}

fn changed(setup: &Setup, change: impl FnOnce(&mut Mix)) -> Setup {
    let mut setup = setup.clone();
    if let RequestSource::Mixed(mix) = &mut setup.workload.source {
        change(Arc::make_mut(mix));
    }
    setup
}
