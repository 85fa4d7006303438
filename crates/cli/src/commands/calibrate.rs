//! `headroom calibrate`.

use std::process::ExitCode;

use planner::{Calibration, CalibrationAnswer};
use report::CalibrationTelling;

use crate::{
    args::CalibrateArgs, failure::Failure, measured_files, output, pool, progress::Progress,
};

/// Runs of a search, about; for telling how far it has come.
const ROUNDS: u32 = 30;

pub(crate) fn run(args: &CalibrateArgs) -> Result<ExitCode, Failure> {
    let files = measured_files::read(&args.measured)?;
    let observations =
        files.observations(args.on.into()).map_err(|error| measured_files::refused(&error))?;
    let points = observations.len() as u32;
    let mut calibration = Calibration::new(observations)
        .map_err(|error| Failure::input(output::sentence(&error.to_string())))?;
    let progress = Progress::start();
    progress.expect(ROUNDS * points);
    let answer: CalibrationAnswer = loop {
        let jobs = calibration.next_jobs();
        if jobs.is_empty() {
            break calibration.answer().cloned().ok_or_else(|| {
                Failure::input("the fit ended without an answer; this is a fault of the program")
            })?;
        }
        calibration.accept(&pool::run_all(&jobs, args.measured.threads.count(), &progress)?);
    };
    drop(progress);
    let mut scenario = files.scenario.clone();
    answer
        .put_into(&mut scenario)
        .map_err(|notice| Failure::input(format!("{}: {}", notice.key, notice.message)))?;
    let telling = CalibrationTelling { answer: &answer, scenario: &scenario, read: &files.read };
    output::print(&if args.measured.json {
        report::calibration_json(&telling)
    } else {
        report::calibration_text(&telling)
    })?;
    Ok(ExitCode::SUCCESS)
}
