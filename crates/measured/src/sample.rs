//! A load test to try a calibration with, for whoever has none at hand.

/// The text of the sample: made by the simulator with other constants than the catalogue's, not measured.
pub const SAMPLE: &str = include_str!("../../../assets/samples/load-test.csv");
/// What it is called.
pub const SAMPLE_NAME: &str = "sample made by the simulator.csv";

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use planner::{Calibration, CalibrationAnswer};
    use scenario::Scenario;

    use super::*;
    use crate::{FitOn, MeasuredFiles};

    /// The constants of the machine that it pretends to come from.
    const CONSTANTS: [(&str, &str); 3] =
        [("step.mfu", "0.41"), ("step.bandwidth", "2.7e12"), ("step.overhead_s", "6ms")];
    /// Requests in flight, and how far TTFT and TPOT are moved.
    const POINTS: [(u64, f64, f64); 6] = [
        (1, 1.02, 0.99),
        (4, 0.98, 1.01),
        (16, 1.03, 1.0),
        (32, 0.97, 0.98),
        (64, 1.01, 1.02),
        (128, 0.99, 1.01),
    ];

    fn set(scenario: &mut Scenario, key: &str, value: &str) {
        scenario.set(key, value).unwrap();
    }

    fn made() -> String {
        let mut text =
            "concurrency,input_tokens,output_tokens,requests,ttft_ms,tpot_ms\n".to_owned();
        for (users, ttft, tpot) in POINTS {
            let mut scenario = Scenario::preset();
            for (key, value) in CONSTANTS {
                set(&mut scenario, key, value);
            }
            set(&mut scenario, "in", "1024");
            set(&mut scenario, "out", "256");
            set(&mut scenario, "arrivals", &format!("closed({users},0s)"));
            set(&mut scenario, "sim.requests", &format!("{}", 10 * users));
            let measured = planner::Measured { tpot_s: Some(1.0), ..planner::Measured::default() };
            let point =
                planner::Observation { name: String::new(), scenario, measured, is_fitted: true };
            let run = Calibration::new(vec![point]).unwrap().next_jobs()[0].run().unwrap();
            let ms = |time_s: Option<f64>, factor: f64| 1e3 * time_s.unwrap() * factor;
            let (ttft_ms, tpot_ms) = (ms(run.ttft.mean(), ttft), ms(run.tpot.mean(), tpot));
            writeln!(text, "{users},1024,256,{},{ttft_ms:.2},{tpot_ms:.3}", 10 * users).unwrap();
        }
        text
    }

    fn fitted() -> CalibrationAnswer {
        let mut files = MeasuredFiles::new(Scenario::preset(), Vec::new());
        files.add(SAMPLE_NAME, SAMPLE.as_bytes()).unwrap();
        files.complete().unwrap();
        let mut calibration = Calibration::new(files.observations(FitOn::All).unwrap()).unwrap();
        loop {
            let jobs = calibration.next_jobs();
            if jobs.is_empty() {
                return calibration.answer().unwrap().clone();
            }
            let runs: Vec<_> = jobs.iter().map(|job| job.run().unwrap()).collect();
            calibration.accept(&runs);
        }
    }

    #[test]
    fn the_sample_is_what_the_simulator_says() {
        assert_eq!(SAMPLE, made());
    }

    #[test]
    fn a_fit_to_the_sample_halves_the_error_and_more() {
        let answer = fitted();
        assert_eq!((answer.points.len(), answer.fitted), (6, 6));
        for point in &answer.points {
            let off = |predicted: Option<f64>| {
                (predicted.unwrap() / point.measured.tpot_s.unwrap() - 1.0).abs()
            };
            let (before, after) = (off(point.before.tpot_s), off(point.after.tpot_s));
            assert!(before > 0.1 && after < 0.04, "{}: {before} {after}", point.name);
        }
    }
}
