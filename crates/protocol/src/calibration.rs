//! A calibration: files that were measured, what was understood of them, and the constants that follow.

use serde::{Deserialize, Serialize};

/// Files to calibrate on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationAsked {
    /// The scenario, as its link.
    pub link: String,
    /// The files, in order.
    pub files: Vec<GivenFile>,
}

/// A file, or a text that was pasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenFile {
    /// What it is called in messages.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What the worker tells of a calibration, in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CalibrationNews {
    /// What was understood of the files. Without points there is nothing to fit, and no more news.
    Understood(Box<Understood>),
    /// Runs done, and about how many there are in all.
    Progress(u32, u32),
    /// Why nothing can be fitted.
    Refused(String),
    /// What came out.
    Answer(Box<CalibrationOutcome>),
}

/// What was understood of some files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Understood {
    /// Each file, in order.
    pub files: Vec<UnderstoodFile>,
    /// Their points, in order.
    pub points: Vec<UnderstoodPoint>,
    /// Settings that were taken from them, as links write them.
    pub taken: Vec<(String, String)>,
    /// Whole sentences on what a person should know of it.
    pub notes: Vec<String>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderstoodFile {
    /// Its name.
    pub name: String,
    /// What it is, in a few words; why it cannot be used, in a sentence.
    pub what: String,
    /// Whether it cannot be used.
    pub is_refused: bool,
    /// The first places that are not used, with the reason.
    pub skipped: Vec<String>,
    /// How many are not used.
    pub skipped_total: u64,
}

/// One point of a load test. Times are seconds, of the statistic that the file has: mean before median.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnderstoodPoint {
    /// What tells it from the others: its load.
    pub name: String,
    /// Mean prompt, tokens.
    pub input_tokens: Option<f64>,
    /// Mean output, tokens.
    pub output_tokens: Option<f64>,
    /// Time to the first token.
    pub ttft_s: Option<f64>,
    /// Time per further token.
    pub tpot_s: Option<f64>,
    /// Requests answered per second, as nearly as the file tells.
    pub requests_per_s: f64,
    /// Whether its server did not keep up, so that nothing is fitted to it.
    pub is_overloaded: bool,
}

/// What a calibration found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationOutcome {
    /// The constants.
    pub constants: Vec<FittedConstant>,
    /// The points, in the order of [`Understood::points`].
    pub points: Vec<CalibratedPoint>,
    /// Points that constants were fitted to.
    pub fitted: u64,
}

/// A constant before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FittedConstant {
    /// The setting that holds it.
    pub key: String,
    /// Its value before.
    pub before: f64,
    /// Its value after.
    pub after: f64,
}

/// A point before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibratedPoint {
    /// Its load.
    pub name: String,
    /// Whether constants were fitted to it.
    pub is_fitted: bool,
    /// Time to the first token.
    pub ttft: CalibratedTime,
    /// Time per further token.
    pub tpot: CalibratedTime,
}

/// A time as it was measured and as the model says, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibratedTime {
    /// As it was measured.
    pub measured_s: Option<f64>,
    /// What the model said before.
    pub before_s: Option<f64>,
    /// What it says after.
    pub after_s: Option<f64>,
}

impl CalibratedTime {
    /// How far the model is off, as a ratio less one, before or after.
    #[must_use]
    pub fn error(&self, is_after: bool) -> Option<f64> {
        let predicted_s = if is_after { self.after_s } else { self.before_s };
        Some(predicted_s? / self.measured_s.filter(|it| *it > 0.0)? - 1.0)
    }
}

impl CalibrationOutcome {
    /// Median of the absolute errors of the points that have one, the lower of two in the middle.
    #[must_use]
    pub fn median_error(&self, is_ttft: bool, is_after: bool) -> Option<f64> {
        let errors = self.points.iter().filter_map(|point| {
            let time = if is_ttft { point.ttft } else { point.tpot };
            time.error(is_after).map(|error| (error.abs(), 0.0))
        });
        let mut errors: Vec<(f64, f64)> = errors.collect();
        sim_core::sort::by_first(&mut errors);
        errors.get(errors.len().div_ceil(2).checked_sub(1)?).map(|error| error.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_of_what_has_been_measured() {
        let time = |measured_s, before_s, after_s| CalibratedTime {
            measured_s: Some(measured_s),
            before_s: Some(before_s),
            after_s: Some(after_s),
        };
        let of = |tpot| CalibratedPoint { tpot, ..CalibratedPoint::default() };
        let outcome = CalibrationOutcome {
            points: vec![of(time(2.0, 1.0, 2.1)), of(time(4.0, 3.0, 4.0))],
            ..CalibrationOutcome::default()
        };
        assert_eq!(outcome.median_error(false, false), Some(0.25));
        assert_eq!(outcome.median_error(false, true), Some(0.0));
        assert_eq!(outcome.median_error(true, true), None);
        assert_eq!(CalibratedTime::default().error(true), None);
    }
}
