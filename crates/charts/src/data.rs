//! What the knee chart shows: plain numbers, no planner types.

/// A value with the ends of its 95 % interval. The ends equal the value where no interval is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The value itself.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// A value with the ends of its interval.
    #[must_use]
    pub const fn new(value: f64, low: f64, high: f64) -> Self {
        Self { value, low, high }
    }

    /// A value whose interval is not known.
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// True if the value and both ends are finite.
    pub(crate) fn is_finite(self) -> bool {
        self.value.is_finite() && self.low.is_finite() && self.high.is_finite()
    }
}

/// The engine measured at one offered rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneePoint {
    /// Offered rate, requests per second.
    pub rate_per_s: f64,
    /// Median time to first token, seconds.
    pub ttft_p50_s: f64,
    /// 99th percentile of the time to first token, seconds.
    pub ttft_p99_s: Interval,
    /// 99th percentile of the time per output token, seconds.
    pub tpot_p99_s: Interval,
    /// Requests per second that met the target.
    pub goodput_per_s: Interval,
    /// False where the queue grows without end. Curves end at the last stable rate.
    pub stable: bool,
}

/// All that the knee chart draws.
#[derive(Clone, Debug, PartialEq)]
pub struct KneeData {
    /// Measured points, in any order. Points with a rate that is not finite are left out.
    pub points: Vec<KneePoint>,
    /// The closed form: offered rate in requests per second, time to first token in seconds.
    pub closed_form: Vec<(f64, f64)>,
    /// Target for the time to first token, seconds.
    pub ttft_target_s: f64,
    /// Target for the time per output token, seconds.
    pub tpot_target_s: f64,
    /// The largest rate at which the target holds, requests per second.
    pub capacity_per_s: Option<Interval>,
    /// The rate that one server will get, requests per second.
    pub planned_rate_per_s: Option<f64>,
    /// The rate from which the queue grows without end, requests per second.
    pub ceiling_per_s: Option<f64>,
    /// What takes the rate, for the axis title: “one GPU”, “one replica”.
    pub server: String,
    /// Whether capacity, planned rate and ceiling are about right only; their names say so.
    pub is_estimate: bool,
}

/// The series at one rate, as the readout line shows them. `None` where the chart shows nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Readout {
    /// The rate read, requests per second.
    pub rate_per_s: f64,
    /// True if the rate is at or above the ceiling: latencies are withheld there.
    pub unstable: bool,
    /// Median time to first token, seconds.
    pub ttft_p50_s: Option<f64>,
    /// 99th percentile of the time to first token, seconds.
    pub ttft_p99_s: Option<Interval>,
    /// The closed form's time to first token, seconds.
    pub closed_form_s: Option<f64>,
    /// 99th percentile of the time per output token, seconds.
    pub tpot_p99_s: Option<Interval>,
    /// Requests per second that met the target.
    pub goodput_per_s: Option<Interval>,
}
