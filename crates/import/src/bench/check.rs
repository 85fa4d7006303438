//! Points checked together, and against themselves.

use crate::error::ImportError;

use super::{Benchmark, Gathered, Load, MeasuredPoint};

/// No server gives a user a token in less: five thousand a second.
const LEAST_TPOT_S: f64 = 0.2e-3;
/// How far TTFT, TPOT and the whole may be apart before one of them means something else.
const MOST_APART: f64 = 0.25;
/// How far requests in flight may be from rate × time before the time is in another unit.
const OTHER_UNIT: f64 = 30.0;

impl Gathered {
    /// Check the points, and leave out those that measure nothing.
    pub(super) fn finish(mut self, file: &str) -> Result<Benchmark, ImportError> {
        let failed: u64 = self.points.iter().map(|it| it.1.failed).sum();
        for (_, point) in &mut self.points {
            point.ttft.keep_positive();
            point.tpot.keep_positive();
            point.e2e.keep_positive();
        }
        if self.may_be_seconds {
            self.undo_wrong_unit();
        }
        let mut kept = Vec::new();
        for (at, mut point) in std::mem::take(&mut self.points) {
            match usable(&point) {
                Ok(()) => {
                    self.agree(&mut point);
                    self.tell_failures(&point);
                    kept.push(point);
                }
                Err(reason) => self.skip(at, reason),
            }
        }
        if kept.is_empty() {
            return Err(self.nothing(file, failed));
        }
        self.note_skipped(kept.len());
        Ok(Benchmark {
            format: self.format,
            points: kept,
            skipped: self.skipped,
            skipped_total: self.skipped_total,
            notes: self.notes,
        })
    }

    /// Some tools name columns “ms” and write seconds.
    fn undo_wrong_unit(&mut self) {
        let mut votes = self.points.iter().map(|(_, point)| in_seconds(point)).peekable();
        let is_wrong = votes.peek().is_some() && votes.all(|vote| vote == Some(true));
        if !is_wrong {
            return;
        }
        for (_, point) in &mut self.points {
            for times in [&mut point.ttft, &mut point.tpot, &mut point.e2e] {
                times.scale(1e3);
            }
        }
        self.note(
            "Times are read as seconds, though they are named milliseconds: as those, a token would \
             come every few microseconds.",
        );
    }

    /// TTFT, TPOT and the whole belong together: `e2e = TTFT + (n − 1) · TPOT`.
    fn agree(&mut self, point: &mut MeasuredPoint) {
        let whole = (point.ttft.mean_s, point.e2e.mean_s, point.output_tokens);
        let (Some(ttft_s), Some(e2e_s), Some(output)) = whole else { return };
        if output <= 1.5 || e2e_s <= ttft_s {
            return;
        }
        let implied_s = (e2e_s - ttft_s) / (output - 1.0);
        let Some(tpot_s) = point.tpot.mean_s else {
            point.tpot.mean_s = Some(implied_s);
            self.note("TPOT is worked out as (end to end − TTFT) ÷ (output − 1).");
            return;
        };
        if (tpot_s / implied_s - 1.0).abs() > MOST_APART {
            point.tpot = super::Times { mean_s: Some(implied_s), ..super::Times::default() };
            self.note(format!(
                "{}: a TPOT of {} does not go with TTFT, end to end and output; {} is used, which \
                 does. Some tools count each token’s event twice, or include the first token.",
                point.name,
                ms(tpot_s),
                ms(implied_s)
            ));
        }
    }

    fn tell_failures(&mut self, point: &MeasuredPoint) {
        if point.failed > 0 {
            self.note(format!(
                "{}: {} of {} requests failed; times are those of the others.",
                point.name,
                quantity::count(point.failed),
                quantity::count(point.failed + point.completed.unwrap_or(0))
            ));
        }
    }

    fn nothing(self, file: &str, failed: u64) -> ImportError {
        let file = file.to_owned();
        if failed > 0 {
            return ImportError::AllFailed { file, failed };
        }
        match self.skipped.into_iter().next() {
            Some(first) => ImportError::NothingUsable {
                file,
                rows: self.skipped_total,
                place: format!("{} {}", self.place, first.line),
                reason: first.reason,
            },
            None => ImportError::NoRows { file },
        }
    }

    fn note_skipped(&mut self, kept: usize) {
        if let Some(first) = self.skipped.first() {
            let sentence = format!(
                "{} of {} runs left out; the first is {} {}: {}.",
                quantity::count(self.skipped_total as u64),
                quantity::count((self.skipped_total + kept) as u64),
                self.place,
                first.line,
                first.reason
            );
            self.note(sentence);
        }
    }
}

/// Whether a point measures anything.
fn usable(point: &MeasuredPoint) -> Result<(), String> {
    if point.completed == Some(0) {
        return Err("no request was answered".to_owned());
    }
    if point.ttft.typical_s().is_none() && point.tpot.typical_s().is_none() {
        return Err("it has neither TTFT nor TPOT; measure with streaming".to_owned());
    }
    if let Load::PerSecond(rate) = point.load
        && !(rate.is_finite() && rate > 0.0)
    {
        return Err("its rate is not above 0".to_owned());
    }
    if matches!(point.load, Load::InFlight(0) | Load::AtOnce(0)) {
        return Err("it had no request in flight".to_owned());
    }
    Ok(())
}

/// Whether times that were read as milliseconds are seconds; `None` where nothing tells.
fn in_seconds(point: &MeasuredPoint) -> Option<bool> {
    // Little's law: requests in flight are those that come per second times their time.
    let by_law = match (point.load, point.requests_per_s, point.e2e.mean_s) {
        (Load::InFlight(count), Some(rate), Some(e2e_s)) if rate > 0.0 => {
            Some(count as f64 / (rate * e2e_s) > OTHER_UNIT)
        }
        _ => None,
    };
    by_law.or_else(|| point.tpot.typical_s().map(|tpot_s| tpot_s < LEAST_TPOT_S))
}

/// “12.3 ms”.
fn ms(time_s: f64) -> String {
    quantity::with_unit(&quantity::number_fixed(1e3 * time_s, 2), "ms")
}
