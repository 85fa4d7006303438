//! What happened: distributions, counters and the bookkeeping that proves them; and what one run
//! can say with confidence: its warm-up, intervals, stability and the sample it takes.

mod advice;
mod batch_means;
mod distribution;
#[cfg(feature = "growth")]
mod growth;
mod histogram;
mod intervals;
mod judgement;
mod recorder;
mod run;
mod sample;
mod stability;
mod timeline;
mod warm_up;
mod window_targets;
mod windows;

pub use advice::{P99_NEEDS, PercentileAdvice, requests_needed};
pub use batch_means::{Interval, mean_interval, percentile_interval, share_interval};
pub use distribution::{Distribution, EXACT_SAMPLES, Precision, ValueRun};
pub use histogram::Histogram;
pub use intervals::Intervals;
pub use judgement::{Judgement, Reason};
pub use recorder::{Finished, Recorder, Step};
pub use run::{ClassRun, Outcome, RequestRecord, Run, StepTimes};
pub use sample::SampleError;
pub use stability::{Drift, Stability, Trend, Verdict, drift, stability, trend};
pub use warm_up::{WarmUp, mser5};
pub use window_targets::{WindowShare, WindowTargets};
pub use windows::{Window, Windows};
