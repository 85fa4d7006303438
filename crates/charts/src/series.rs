//! The curves of the knee chart, made from its data once: drawing and readout share them.

use crate::curve::Curve;
use crate::data::{Interval, KneeData, KneePoint, Readout};

/// A curve with the ends of its interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Band {
    pub(crate) value: Curve,
    pub(crate) low: Curve,
    pub(crate) high: Curve,
}

/// All curves over the offered rate in requests per second. Times to first token are natural
/// logarithms of seconds, since that is the space in which they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) ttft_p50_ln: Curve,
    pub(crate) ttft_p99_ln: Band,
    pub(crate) closed_form_ln: Curve,
    pub(crate) tpot_p99: Band,
    /// What is missing to the offered rate, whose curve is flat where all requests meet the target:
    /// so no interpolated goodput exceeds the offered rate where no measured one does.
    pub(crate) shortfall: Band,
    /// The rate from which on latencies are withheld.
    pub(crate) unstable_from: Option<f64>,
}

impl Band {
    fn through(points: &[KneePoint], of: impl Fn(&KneePoint) -> Interval) -> Self {
        let finite = |point: &&KneePoint| of(point).is_finite();
        let curve = |end: fn(Interval) -> f64| {
            let points = points.iter().filter(finite);
            Curve::through(points.map(|point| (point.rate_per_s, end(of(point)))))
        };
        Self {
            value: curve(|i| i.value),
            // An interval contains its value, whatever came in.
            low: curve(|i| if i.low < i.value { i.low } else { i.value }),
            high: curve(|i| if i.high > i.value { i.high } else { i.value }),
        }
    }

    fn at(&self, rate_per_s: f64) -> Option<Interval> {
        Some(Interval {
            value: self.value.at(rate_per_s)?,
            low: self.low.at(rate_per_s)?,
            high: self.high.at(rate_per_s)?,
        })
    }
}

impl Series {
    /// The curves of `data`: finite values, up to the last stable rate.
    pub(crate) fn of(data: &KneeData) -> Self {
        let unstable_from = unstable_from(data);
        let is_shown = |rate: f64| {
            rate.is_finite() && rate >= 0.0 && unstable_from.is_none_or(|limit| rate < limit)
        };
        let first_unstable = first_unstable(data);
        let points: Vec<KneePoint> = data
            .points
            .iter()
            .filter(|point| is_shown(point.rate_per_s))
            .filter(|point| first_unstable.is_none_or(|limit| point.rate_per_s < limit))
            .copied()
            .collect();
        let ln = |value: f64| if value > 0.0 { libm::log(value) } else { f64::NAN };
        let ln_interval =
            |i: Interval| Interval { value: ln(i.value), low: ln(i.low), high: ln(i.high) };
        let closed_form = data.closed_form.iter().filter(|(rate, _)| is_shown(*rate));
        Self {
            ttft_p50_ln: Curve::through(points.iter().map(|p| (p.rate_per_s, ln(p.ttft_p50_s)))),
            ttft_p99_ln: Band::through(&points, |p| ln_interval(p.ttft_p99_s)),
            closed_form_ln: Curve::through(closed_form.map(|&(rate, s)| (rate, ln(s)))),
            tpot_p99: Band::through(&points, |p| p.tpot_p99_s),
            shortfall: Band::through(&with_origin(&points), |p| {
                let missing = |goodput: f64| p.rate_per_s - goodput;
                let Interval { value, low, high } = p.goodput_per_s;
                Interval { value: missing(value), low: missing(high), high: missing(low) }
            }),
            unstable_from,
        }
    }

    /// Requests per second that meet the target at an offered rate.
    pub(crate) fn goodput_at(&self, rate_per_s: f64) -> Option<Interval> {
        self.shortfall.at(rate_per_s).map(|missing| Interval {
            value: rate_per_s - missing.value,
            low: rate_per_s - missing.high,
            high: rate_per_s - missing.low,
        })
    }

    fn read(&self, rate_per_s: f64) -> Readout {
        let exp = |ln: f64| libm::exp(ln);
        Readout {
            rate_per_s,
            unstable: self.unstable_from.is_some_and(|limit| rate_per_s >= limit),
            ttft_p50_s: self.ttft_p50_ln.at(rate_per_s).map(exp),
            ttft_p99_s: self.ttft_p99_ln.at(rate_per_s).map(|i| Interval {
                value: exp(i.value),
                low: exp(i.low),
                high: exp(i.high),
            }),
            closed_form_s: self.closed_form_ln.at(rate_per_s).map(exp),
            tpot_p99_s: self.tpot_p99.at(rate_per_s),
            goodput_per_s: self.goodput_at(rate_per_s),
        }
    }
}

/// The series at `rate_per_s`, read from the very curves that the chart draws.
#[must_use]
pub fn readout(data: &KneeData, rate_per_s: f64) -> Readout {
    Series::of(data).read(rate_per_s)
}

fn first_unstable(data: &KneeData) -> Option<f64> {
    let rates = data.points.iter().filter(|p| !p.stable).map(|p| p.rate_per_s);
    rates.filter(|rate| rate.is_finite() && *rate >= 0.0).min_by(f64::total_cmp)
}

fn unstable_from(data: &KneeData) -> Option<f64> {
    let ceiling = data.ceiling_per_s.filter(|rate| rate.is_finite() && *rate > 0.0);
    ceiling.or_else(|| first_unstable(data))
}

/// No load, no goodput: the one point that needs no measurement.
fn with_origin(points: &[KneePoint]) -> Vec<KneePoint> {
    let Some(first) = points.iter().find(|p| p.goodput_per_s.is_finite()) else {
        return Vec::new();
    };
    let origin = KneePoint { rate_per_s: 0.0, goodput_per_s: Interval::exact(0.0), ..*first };
    [&[origin], points].concat()
}
