//! The few free constants of a step time, refitted to measured points.
//!
//! Each point is simulated as it was measured: the same lengths, the same load, as many requests. What the
//! client saw (mean or median TTFT and TPOT) is compared in logarithms, and [`Descent`] moves the constants.
//! Points that are not fitted are predicted all the same, so that a calibration can be held against them.
//!
//! ```text
//!   Observation ──▶ Calibration ──next_jobs──▶ [Job] ──▶ [Run] ──accept──▶ … ──▶ CalibrationAnswer
//! ```

use scenario::{ResolveError, Resolved, Scenario};
use sim_core::{
    Run, StepTimeSpec,
    least_squares::{Descent, Unknown},
    step_time::FreeConstant,
};

use crate::job::{Job, job_at};

/// A TTFT counts half: it also tells of what lies between client and engine.
const TTFT_WEIGHT: f64 = 0.5;

/// What a client saw of a point, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Time to the first token.
    pub ttft_s: Option<f64>,
    /// Whether that is a median, not a mean.
    pub ttft_is_median: bool,
    /// Time per further token.
    pub tpot_s: Option<f64>,
    /// Whether that is a median, not a mean.
    pub tpot_is_median: bool,
}

/// A measured point with the scenario that it was measured in.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// What tells it from the others.
    pub name: String,
    /// Load, lengths and number of requests of the point, on the deployment in question.
    pub scenario: Scenario,
    /// What was measured.
    pub measured: Measured,
    /// Whether constants are fitted to it; otherwise it is only predicted.
    pub is_fitted: bool,
}

/// What a model says of a point, by the statistics that were measured, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Time to the first token.
    pub ttft_s: Option<f64>,
    /// Time per further token.
    pub tpot_s: Option<f64>,
    /// Requests answered per second.
    pub requests_per_s: f64,
}

/// A constant before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// The setting that holds it.
    pub key: &'static str,
    /// Its value before.
    pub before: f64,
    /// Its value after.
    pub after: f64,
}

/// A point before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct PointAnswer {
    /// What tells it from the others.
    pub name: String,
    /// Whether constants were fitted to it.
    pub is_fitted: bool,
    /// What was measured.
    pub measured: Measured,
    /// What the model said before.
    pub before: Predicted,
    /// What it says after.
    pub after: Predicted,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationAnswer {
    /// The constants.
    pub constants: Vec<Fitted>,
    /// The points, in the order in which they were given.
    pub points: Vec<PointAnswer>,
    /// Points that constants were fitted to.
    pub fitted: u64,
}

/// Why nothing can be calibrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// A point's scenario cannot run.
    #[error("{point}: {error}")]
    Unresolved {
        /// The point.
        point: String,
        /// Why.
        error: Box<ResolveError>,
    },
    /// No point that is to be fitted has a TTFT or a TPOT.
    #[error(
        "there is no point to fit: give one that has a TTFT or a TPOT and whose server kept up with its load"
    )]
    NothingToFit,
}

/// One residual: of which point, and of which of its times.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    point: usize,
    is_ttft: bool,
    measured_s: f64,
}

#[derive(Clone, Debug)]
struct Point {
    observation: Observation,
    resolved: Resolved,
    before: Predicted,
}

/// The question “which constants make the model say what was measured?”.
#[derive(Clone, Debug)]
pub struct Calibration {
    points: Vec<Point>,
    free: Vec<FreeConstant>,
    rows: Vec<Row>,
    descent: Option<Descent>,
    stage: Stage,
    answer: Option<CalibrationAnswer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Before,
    Fit,
    After,
    Done,
}

impl Calibration {
    /// Ask for points; the constants begin where their scenarios have them, which is the same in all.
    ///
    /// # Errors
    /// A point cannot be simulated, or none is there to be fitted.
    pub fn new(observations: Vec<Observation>) -> Result<Self, CalibrationError> {
        let resolve = |observation: Observation| match observation.scenario.resolve() {
            Ok(resolved) => Ok(Point { observation, resolved, before: Predicted::default() }),
            Err(error) => Err(CalibrationError::Unresolved {
                point: observation.name,
                error: Box::new(error),
            }),
        };
        let points = observations.into_iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = points.first() else { return Err(CalibrationError::NothingToFit) };
        let free = first.resolved.setup.step_time.free_constants();
        let mut calibration = Self {
            points,
            free,
            rows: Vec::new(),
            descent: None,
            stage: Stage::Before,
            answer: None,
        };
        calibration.rows = calibration.all_rows();
        if calibration.rows.is_empty() {
            return Err(CalibrationError::NothingToFit);
        }
        Ok(calibration)
    }

    /// Runs to make, in any order; none when the answer is there.
    #[must_use]
    pub fn next_jobs(&self) -> Vec<Job> {
        match self.stage {
            Stage::Before => self.points.iter().map(|point| point.job(&[])).collect(),
            Stage::Fit => {
                let asked = self.descent.as_ref().map_or(&[][..], Descent::asks);
                asked.iter().flat_map(|logs| self.fitted_jobs(&values(logs))).collect()
            }
            Stage::After => {
                let found = self.found();
                self.points.iter().map(|point| point.job(&found)).collect()
            }
            Stage::Done => Vec::new(),
        }
    }

    /// Take the runs of [`Self::next_jobs`], in its order.
    pub fn accept(&mut self, runs: &[Run]) {
        match self.stage {
            Stage::Before => self.take_before(runs),
            Stage::Fit => self.take_fit(runs),
            Stage::After => self.take_after(runs),
            Stage::Done => {}
        }
    }

    /// The answer, once there are no jobs left.
    #[must_use]
    pub const fn answer(&self) -> Option<&CalibrationAnswer> {
        self.answer.as_ref()
    }

    fn all_rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (point, it) in self.points.iter().enumerate().filter(|it| it.1.observation.is_fitted) {
            let Measured { ttft_s, tpot_s, .. } = it.observation.measured;
            rows.extend(ttft_s.map(|measured_s| Row { point, is_ttft: true, measured_s }));
            rows.extend(tpot_s.map(|measured_s| Row { point, is_ttft: false, measured_s }));
        }
        rows
    }

    /// Points that rows are about, once each.
    fn fitted_points(&self) -> impl Iterator<Item = (usize, &Point)> {
        self.points
            .iter()
            .enumerate()
            .filter(|(at, _)| self.rows.iter().any(|row| row.point == *at))
    }

    fn fitted_jobs(&self, values: &[f64]) -> Vec<Job> {
        self.fitted_points().map(|(_, point)| point.job(values)).collect()
    }

    fn take_before(&mut self, runs: &[Run]) {
        for (point, run) in self.points.iter_mut().zip(runs) {
            point.before = point.predicted(run);
        }
        // What the model does not tell, such as the TPOT of single tokens, no constants can fit.
        let points = &self.points;
        self.rows.retain(|row| row.predicted_s(&points[row.point].before).is_some());
        let weights =
            self.rows.iter().map(|row| if row.is_ttft { TTFT_WEIGHT } else { 1.0 }).collect();
        let unknown = |free: &FreeConstant| Unknown {
            start: libm::log(free.value),
            spread: free.spread,
            bounds: (libm::log(free.bounds.0), libm::log(free.bounds.1)),
        };
        self.descent = Some(Descent::new(self.free.iter().map(unknown).collect(), weights));
        self.stage = if self.rows.is_empty() { Stage::After } else { Stage::Fit };
    }

    fn take_fit(&mut self, runs: &[Run]) {
        let places: Vec<usize> = self.fitted_points().map(|it| it.0).collect();
        let residuals: Vec<Vec<f64>> = runs
            .chunks(places.len().max(1))
            .map(|runs| self.rows.iter().map(|row| self.residual(row, &places, runs)).collect())
            .collect();
        if let Some(descent) = &mut self.descent {
            descent.tell(&residuals);
            if descent.asks().is_empty() {
                self.stage = Stage::After;
            }
        }
    }

    /// Logarithm of predicted over measured.
    fn residual(&self, row: &Row, places: &[usize], runs: &[Run]) -> f64 {
        let run = places.iter().position(|place| *place == row.point).and_then(|at| runs.get(at));
        let predicted_s =
            run.and_then(|run| row.predicted_s(&self.points[row.point].predicted(run)));
        predicted_s.map_or(f64::NAN, |it| libm::log(it / row.measured_s))
    }

    fn found(&self) -> Vec<f64> {
        self.descent.as_ref().map_or_else(Vec::new, |descent| values(descent.best()))
    }

    fn take_after(&mut self, runs: &[Run]) {
        let found = self.found();
        let points = self.points.iter().zip(runs).map(|(point, run)| PointAnswer {
            name: point.observation.name.clone(),
            is_fitted: point.observation.is_fitted,
            measured: point.observation.measured,
            before: point.before,
            after: point.predicted(run),
        });
        let constants = self.free.iter().zip(&found).map(|(free, &value)| {
            let before = self.in_scenario(free);
            // Factors are on top of those that the scenario has.
            let after = if is_factor(free.key) { before * value } else { value };
            Fitted { key: free.key, before, after: rounded(after) }
        });
        self.answer = Some(CalibrationAnswer {
            constants: constants.collect(),
            points: points.collect(),
            fitted: self.fitted_points().count() as u64,
        });
        self.stage = Stage::Done;
    }

    /// A constant as the scenario has it.
    fn in_scenario(&self, free: &FreeConstant) -> f64 {
        let typed = self.points.first().and_then(|it| it.observation.scenario.number(free.key));
        if is_factor(free.key) { typed.unwrap_or(1.0) } else { free.value }
    }
}

impl CalibrationAnswer {
    /// Put the constants into a scenario.
    ///
    /// # Errors
    /// A setting refuses its value, with the reason; those that a fit finds are within range.
    pub fn put_into(&self, scenario: &mut Scenario) -> Result<(), scenario::Notice> {
        for constant in &self.constants {
            scenario.set(constant.key, &quantity::editable(constant.after))?;
        }
        scenario.set("step.calibrated_on", &quantity::editable(self.fitted as f64))?;
        Ok(())
    }
}

impl Row {
    const fn predicted_s(&self, predicted: &Predicted) -> Option<f64> {
        if self.is_ttft { predicted.ttft_s } else { predicted.tpot_s }
    }
}

impl Point {
    /// Its run with other constants; with none, as its scenario has them.
    fn job(&self, values: &[f64]) -> Job {
        let rate_per_s = self.resolved.setup.workload.source.rate_per_s().unwrap_or(1.0);
        let mut job = job_at(&self.resolved.setup, rate_per_s, 0);
        job.attendance = self.resolved.attendance;
        let step_time: StepTimeSpec = job.setup.step_time.with_free_constants(values);
        job.setup.step_time = step_time;
        job
    }

    fn predicted(&self, run: &Run) -> Predicted {
        let Measured { ttft_is_median, tpot_is_median, .. } = self.observation.measured;
        let of = |times: &sim_core::Distribution, is_median| {
            let found = if is_median { times.percentile(50.0) } else { times.mean() };
            found.filter(|time_s| *time_s > 0.0)
        };
        Predicted {
            ttft_s: of(&run.ttft, ttft_is_median),
            tpot_s: of(&run.tpot, tpot_is_median),
            requests_per_s: run.throughput_per_s(),
        }
    }
}

fn is_factor(key: &str) -> bool {
    key.ends_with("_factor")
}

fn values(logs: &[f64]) -> Vec<f64> {
    logs.iter().map(|log| libm::exp(*log)).collect()
}

/// Four digits: no measurement knows more.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let scale = libm::pow(10.0, 3.0 - libm::floor(libm::log10(value)));
    libm::round(value * scale) / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(settings: &[&str], ttft_s: f64, tpot_s: f64) -> Observation {
        let mut scenario = Scenario::preset();
        for setting in settings {
            let (key, value) = setting.split_once('=').unwrap();
            scenario.set(key, value).unwrap();
        }
        let measured =
            Measured { ttft_s: Some(ttft_s), tpot_s: Some(tpot_s), ..Measured::default() };
        Observation { name: settings.join(" "), scenario, measured, is_fitted: true }
    }

    fn answer(observations: Vec<Observation>) -> CalibrationAnswer {
        let mut calibration = Calibration::new(observations).unwrap();
        loop {
            let jobs = calibration.next_jobs();
            if jobs.is_empty() {
                return calibration.answer().unwrap().clone();
            }
            let runs: Vec<Run> = jobs.iter().map(|job| job.run().unwrap()).collect();
            calibration.accept(&runs);
        }
    }

    /// Points measured on a machine whose constants are known: the model itself with other numbers.
    fn measured_with(constants: &[&str], kind: &[&str]) -> Vec<Observation> {
        let loads: [&[&str]; 4] = [
            &["arrivals=closed(1,0s)", "sim.requests=20"],
            &["arrivals=closed(16,0s)", "sim.requests=160"],
            &["arrivals=closed(64,0s)", "sim.requests=640"],
            &["arrivals=even", "rate=5", "sim.requests=300"],
        ];
        loads
            .iter()
            .map(|load| {
                let settings: Vec<&str> = kind.iter().chain(*load).copied().collect();
                let with: Vec<&str> = settings.iter().chain(constants).copied().collect();
                let truth = Calibration::new(vec![observed(&with, 1.0, 1.0)]).unwrap();
                let run = truth.next_jobs()[0].run().unwrap();
                observed(&settings, run.ttft.mean().unwrap(), run.tpot.mean().unwrap())
            })
            .collect()
    }

    #[test]
    fn constants_of_a_machine_are_found_again() {
        for (constants, kind) in [
            (&["step.mfu=0.4", "step.bandwidth=2.6e12", "step.overhead_s=2ms"][..], &[][..]),
            (&["step.fixed_s=12ms", "step.per_item_s=0.9ms"], &["step.kind=affine"]),
        ] {
            let found = answer(measured_with(constants, kind));
            // Bandwidth and overhead of a roofline are told apart by little but the cache; a fixed time is not.
            for text in
                constants.iter().filter(|it| !it.contains("bandwidth") && !it.contains("overhead"))
            {
                let mut scenario = Scenario::preset();
                let (key, value) = text.split_once('=').unwrap();
                scenario.set(key, value).unwrap();
                let want = scenario.number(key).unwrap();
                let constant = found.constants.iter().find(|it| it.key == key).unwrap();
                let off = (constant.after / want - 1.0).abs();
                assert!(off < 0.05, "{key}: {} {want}", constant.after);
            }
            for point in &found.points {
                let off = point.after.tpot_s.unwrap() / point.measured.tpot_s.unwrap() - 1.0;
                let was = point.before.tpot_s.unwrap() / point.measured.tpot_s.unwrap() - 1.0;
                // What is left is the pull of where the search began.
                assert!(off.abs() < 0.02 && off.abs() < 0.1 * was.abs(), "{point:?}");
            }
        }
    }

    #[test]
    fn what_is_left_out_is_predicted_and_bends_nothing() {
        let mut all = measured_with(&["step.mfu=0.4", "step.bandwidth=2.6e12"], &[]);
        let fitted = answer(all.clone());
        all[2].is_fitted = false;
        all[2].measured.tpot_s = Some(5.0);
        let found = answer(all);
        let off = found.points[2].after.tpot_s.unwrap() / fitted.points[2].after.tpot_s.unwrap();
        assert!((off - 1.0).abs() < 0.03 && found.fitted == 3, "{off}");
    }

    #[test]
    fn constants_go_into_the_scenario_and_its_link() {
        let found = answer(measured_with(&["step.mfu=0.4"], &[]));
        let mut scenario = Scenario::preset();
        found.put_into(&mut scenario).unwrap();
        let link = scenario.to_link();
        assert!(link.contains("step.mfu=0.") && link.contains("step.calibrated_on=4"), "{link}");
        let ledger = Scenario::from_link(&link).scenario.resolve().unwrap().ledger;
        let entry = ledger.get("step.mfu").unwrap();
        assert_eq!(entry.kind, scenario::Provenance::Calibrated);
        assert_eq!(entry.source, "fitted to 4 measured points by headroom calibrate");
    }

    #[test]
    fn nothing_to_fit_is_an_error() {
        let mut point = observed(&["rate=5"], 1.0, 1.0);
        point.is_fitted = false;
        assert!(matches!(Calibration::new(vec![point]), Err(CalibrationError::NothingToFit)));
        let mut point = observed(&[], 1.0, 1.0);
        point.scenario.model = "nothing-like-it".to_owned();
        assert!(matches!(Calibration::new(vec![point]), Err(CalibrationError::Unresolved { .. })));
    }
}
