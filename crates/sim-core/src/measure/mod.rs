//! What happened: distributions, counters and the bookkeeping that proves them.

mod distribution;
mod histogram;
mod recorder;
mod run;

pub use distribution::{Distribution, EXACT_SAMPLES, Precision, ValueRun};
pub use histogram::Histogram;
pub use recorder::{Finished, Recorder, Step};
pub use run::{Outcome, RequestRecord, Run, StepTimes};
