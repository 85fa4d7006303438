//! `headroom curve`.

use std::process::ExitCode;

use import::bench::{MeasuredPoint, Times};
use measured::{FitOn, rate_of};
use planner::{Calibration, SeenLoad, measured_knee};
use report::CurveTelling;

use super::plan::{self, Depth};
use crate::{args::CurveArgs, failure::Failure, measured_files, output, pool, progress::Progress};

/// What of a time is compared with the target, by how many requests must meet it.
type Statistic = (&'static str, fn(&Times) -> Option<f64>);

const STATISTICS: [Statistic; 4] = [
    ("P99", |times| times.p99_s),
    ("P90", |times| times.p90_s),
    ("median", |times| times.p50_s),
    ("mean", |times| times.mean_s),
];

pub(crate) fn run(args: &CurveArgs) -> Result<ExitCode, Failure> {
    let files = measured_files::read(&args.measured)?;
    let threads = args.measured.threads.count();
    let mut scenario = files.scenario.clone();
    // The planned traffic is that which was measured, unless it was said otherwise.
    let observations =
        files.observations(FitOn::All).map_err(|error| measured_files::refused(&error))?;
    if let Some(first) = observations.first() {
        scenario.input = first.scenario.input;
        scenario.output = first.scenario.output;
    }
    let statistic = statistic(&files.points, scenario.slo.share);
    let seen: Vec<SeenLoad> = files.points.iter().map(|point| seen(point, statistic)).collect();
    let knee = measured_knee(&seen, &scenario.slo);
    // Each point as the model has it: the runs that a calibration begins with.
    let calibration = Calibration::new(observations)
        .map_err(|error| Failure::input(output::sentence(&error.to_string())))?;
    let runs = pool::run_all(&calibration.next_jobs(), threads, &Progress::start())?;
    let planned = plan::answer(&scenario, None, Depth::Full, threads)?;
    let names: Vec<&str> = files.points.iter().map(|point| point.name.as_str()).collect();
    let telling = CurveTelling {
        scenario: &scenario,
        read: &files.read,
        names: &names,
        seen: &seen,
        statistic: statistic.0,
        knee,
        runs: &runs,
        plan: &planned.answer,
    };
    output::print(&if args.measured.json {
        report::curve_json(&telling)
    } else {
        report::curve_text(&telling)
    })?;
    Ok(output::code(knee.is_some()))
}

/// The statistic nearest to the share that must meet the target and that all points have.
fn statistic(points: &[MeasuredPoint], share: f64) -> Statistic {
    let first = if share > 0.95 { 0 } else { usize::from(share > 0.6) };
    let has = |(_, of): &&Statistic| {
        points.iter().all(|point| {
            let is_told = |times: &Times| times.typical_s().is_none() || of(times).is_some();
            is_told(&point.ttft) && is_told(&point.tpot)
        })
    };
    STATISTICS.iter().skip(first).find(has).copied().unwrap_or(("mean or median", Times::typical_s))
}

fn seen(point: &MeasuredPoint, (_, of): Statistic) -> SeenLoad {
    SeenLoad {
        rate_per_s: rate_of(point),
        ttft_s: of(&point.ttft),
        tpot_s: of(&point.tpot),
        is_overloaded: point.is_overloaded(),
    }
}
