//! How far a percentile from a sample can be trusted, in numbers and in words.

use crate::{float::lesser, quantile::normal_quantile};

use super::{
    distribution::nearest_rank,
    sample::{SampleError, enough, percentile, probability},
};

/// What a percentile of a sample rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentileAdvice {
    /// The percentile, 0 to 100.
    pub percent: f64,
    /// Requests in the sample.
    pub requests: u64,
    /// Rank of the percentile from the largest value down: 1 is the largest.
    pub rank_from_top: u64,
    /// Requests needed for an interval of ± 10 % at 95 % confidence.
    pub needed: u64,
}

/// Half-width asked of a percentile in words, as a part of it, and its confidence.
const HALF_WIDTH: f64 = 0.1;
const LEVEL: f64 = 0.95;

/// Requests needed for a P99 within ± 10 % at 95 % confidence: what [`requests_needed`] says, for
/// callers that ask nothing else.
pub const P99_NEEDS: u64 = 1_794;

impl PercentileAdvice {
    /// What a percentile (nearest rank) of a number of independent requests rests on.
    ///
    /// # Errors
    /// No request, or a percentile outside (0, 100).
    pub fn new(percent: f64, requests: u64) -> Result<Self, SampleError> {
        percentile(percent)?;
        enough(requests.try_into().unwrap_or(usize::MAX), 1)?;
        let rank_from_top = requests - nearest_rank(percent, requests) + 1;
        let needed = requests_needed(percent, HALF_WIDTH, LEVEL, 1.0)?;
        Ok(Self { percent, requests, rank_from_top, needed })
    }

    /// Values above the percentile's own.
    #[must_use]
    pub const fn beyond(&self) -> u64 {
        self.rank_from_top - 1
    }

    /// Whether the sample is large enough for ± 10 % at 95 % confidence.
    #[must_use]
    pub const fn is_enough(&self) -> bool {
        self.requests >= self.needed
    }

    /// The rank from the largest value down: "largest", "third-largest".
    #[must_use]
    pub fn rank_in_words(&self) -> String {
        ordinal(self.rank_from_top)
    }

    /// Requests needed for ± 10 %, rounded up to two digits.
    #[must_use]
    pub const fn about_needed(&self) -> u64 {
        two_digits(self.needed)
    }

    /// For example "P99 from 240 requests is its third-largest value; for ± 10 % it takes about
    /// 1800 requests".
    #[must_use]
    pub fn in_words(&self) -> String {
        let Self { percent, requests, rank_from_top, needed } = self;
        let (name, noun) =
            (ordinal(*rank_from_top), if *requests == 1 { "request" } else { "requests" });
        let fact = format!("P{percent} from {requests} {noun} is its {name} value");
        if self.is_enough() {
            return fact;
        }
        format!("{fact}; for ± 10 % it takes about {} requests", two_digits(*needed))
    }
}

/// Requests needed for a percentile to be known within `± half_width` of itself at a confidence
/// level.
///
/// For an exponential tail the `p`-quantile `q` has density `(1 − p)(−ln(1 − p)) / q` there, so by
/// the variance of an order statistic `n = (z / (r ln(1/(1 − p))))² p / (1 − p)`, for a relative
/// half-width `r`. Correlated requests need more: `correlation` is the factor by which correlation
/// raises the variance, 1 for independent requests.
///
/// # Errors
/// A percentile, half-width, level or correlation outside its domain, or a number beyond counting.
pub fn requests_needed(
    percent: f64,
    half_width: f64,
    level: f64,
    correlation: f64,
) -> Result<u64, SampleError> {
    let p = percentile(percent)? / 100.0;
    let level = probability("confidence level", level)?;
    let out_of_domain =
        |field, value, requirement| Err(SampleError::OutOfDomain { field, value, requirement });
    if !(half_width > 0.0 && half_width.is_finite()) {
        return out_of_domain("half-width", half_width, "above 0");
    }
    if !(correlation >= 1.0 && correlation.is_finite()) {
        return out_of_domain("correlation factor", correlation, "1 or more");
    }
    let z = normal_quantile(0.5 * (1.0 + level)).unwrap_or(f64::INFINITY);
    let relative = z / (half_width * -libm::log1p(-p));
    let number = correlation * relative * relative * p / (1.0 - p);
    // Nothing less than five values beyond the percentile, on either side, gives an interval.
    let floor = 5.0 / lesser(p, 1.0 - p);
    let number = crate::float::greater(number, floor).ceil();
    if number < 1e15 {
        Ok(number as u64)
    } else {
        out_of_domain("half-width", half_width, "wider: no run is that long")
    }
}

/// "largest", "second-largest", …, "24th-largest".
fn ordinal(rank: u64) -> String {
    const WORDS: [&str; 10] = [
        "", "second-", "third-", "fourth-", "fifth-", "sixth-", "seventh-", "eighth-", "ninth-",
        "tenth-",
    ];
    let word = usize::try_from(rank).ok().and_then(|rank| WORDS.get(rank.wrapping_sub(1)));
    if let Some(word) = word {
        return format!("{word}largest");
    }
    let ending = match (rank % 100, rank % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{rank}{ending}-largest")
}

/// Rounded up to two significant digits: what is "about" pretends to no more.
const fn two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    number.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn small_samples_are_told_in_words() {
        let words =
            |percent, requests| PercentileAdvice::new(percent, requests).unwrap().in_words();
        assert_eq!(
            words(99.0, 240),
            "P99 from 240 requests is its third-largest value; for ± 10 % it takes about 1800 \
             requests"
        );
        assert!(words(99.0, 120).starts_with("P99 from 120 requests is its second-largest value"));
        assert!(words(99.9, 1).starts_with("P99.9 from 1 request is its largest value"));
        assert_eq!(words(99.0, 10_000), "P99 from 10000 requests is its 101st-largest value");
        assert_eq!(words(50.0, 4_023), "P50 from 4023 requests is its 2012th-largest value");
    }

    #[test]
    fn ordinals_read_well() {
        let names = [1, 2, 10, 11, 12, 13, 21, 22, 23, 24, 111, 101].map(ordinal);
        assert_eq!(names[0], "largest");
        assert_eq!(names[2], "tenth-largest");
        assert_eq!(
            names[3..10].join(" "),
            "11th-largest 12th-largest 13th-largest 21st-largest 22nd-largest 23rd-largest \
             24th-largest"
        );
        assert_eq!(names[10..].join(" "), "111th-largest 101st-largest");
    }

    /// Exponential values: with the number asked for, P99 is within 10 % in about 95 % of samples
    /// (between 92 % and 98 % of 600, four standard errors).
    #[test]
    fn the_number_needed_delivers() {
        let needed = requests_needed(99.0, 0.1, 0.95, 1.0).unwrap();
        assert_eq!(needed, P99_NEEDS);
        let truth = libm::log(100.0);
        let mut stream = Stream::new(5, Purpose::Arrivals);
        let hits = (0..600)
            .filter(|_| {
                let mut values: Vec<f64> = (0..needed).map(|_| stream.exponential()).collect();
                values.sort_unstable_by(f64::total_cmp);
                let p99 = values[nearest_rank(99.0, needed) as usize - 1];
                (p99 / truth - 1.0).abs() <= 0.1
            })
            .count();
        assert!((552..=588).contains(&hits), "{hits}");
    }

    #[test]
    fn correlation_and_impossible_wishes() {
        let plain = requests_needed(90.0, 0.05, 0.95, 1.0).unwrap();
        let correlated = requests_needed(90.0, 0.05, 0.95, 40.0).unwrap();
        assert!(correlated.abs_diff(40 * plain) <= 40);
        assert!(requests_needed(99.0, 1e-9, 0.95, 1.0).is_err());
        assert!(requests_needed(99.0, 0.1, 0.95, 0.5).is_err());
        assert!(requests_needed(100.0, 0.1, 0.95, 1.0).is_err());
        assert!(requests_needed(99.0, f64::NAN, 0.95, 1.0).is_err());
        assert!(PercentileAdvice::new(99.0, 0).is_err());
        assert!(PercentileAdvice::new(f64::NAN, 10).is_err());
    }
}
