//! What a calibration on two points of a curve gains on the rest of it.

use sim_core::{
    least_squares::{Descent, Unknown},
    step_time::kernel::Kernel,
};

use crate::{
    errors::Predicted,
    model::Model,
    replay::{Pace, replay},
    setting::Setting,
    solve::for_all,
};

/// Loads that a curve must have, so that two of them leave some to be predicted.
const LEAST_POINTS: usize = 4;
/// Share of a rate below which an engine did not keep up with it.
const KEPT_UP: f64 = 0.95;
/// A TTFT counts half, as in all fits.
const TTFT_WEIGHT: f64 = 0.5;

/// Which two points of a curve are fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The least and the greatest load that the engine kept up with.
    LowestHighest,
    /// The least, and the one in the middle.
    LowestMiddle,
}

/// A run of a curve that was not fitted: its place among all runs, and what was said of it before and after.
#[derive(Clone, Copy, Debug)]
pub struct Spared {
    /// Its place.
    pub at: usize,
    /// By the constants that the curve began with.
    pub before: Predicted,
    /// By those of its two points.
    pub after: Predicted,
}

/// Calibrate each curve on a pair of its points, and predict the others. `logs` are the constants that each run
/// begins with: those of a fit that never saw its group.
#[must_use]
pub fn two_points(
    model: &Model,
    all: &[Setting],
    logs: &[Option<Vec<f64>>],
    pair: Pair,
) -> Vec<Spared> {
    let found = for_all(&curves(all), |curve| calibrated(model, all, logs, curve, pair));
    found.into_iter().flatten().collect()
}

/// Curves with enough stable loads, each in the order of its load.
fn curves(all: &[Setting]) -> Vec<Vec<usize>> {
    let mut by_curve: std::collections::BTreeMap<&str, Vec<usize>> =
        std::collections::BTreeMap::new();
    for (at, setting) in all.iter().enumerate() {
        if setting.counts && is_stable(setting) {
            by_curve.entry(&setting.curve).or_default().push(at);
        }
    }
    let mut curves: Vec<Vec<usize>> = by_curve.into_values().collect();
    for curve in &mut curves {
        curve.sort_by(|a, b| load(&all[*a]).total_cmp(&load(&all[*b])));
        curve.dedup_by(|a, b| load(&all[*a]) == load(&all[*b]));
    }
    curves.retain(|curve| curve.len() >= LEAST_POINTS);
    curves
}

fn load(setting: &Setting) -> f64 {
    match setting.client.pace {
        Pace::InFlight(count) => count as f64,
        Pace::Every(gap_s) => 1.0 / gap_s,
    }
}

/// Whether an engine kept up: what a closed loop asks for it always does.
fn is_stable(setting: &Setting) -> bool {
    match setting.client.pace {
        Pace::InFlight(_) => true,
        Pace::Every(gap_s) => {
            setting.measured.output_per_s >= KEPT_UP * setting.client.mean_output() / gap_s
        }
    }
}

fn calibrated(
    model: &Model,
    all: &[Setting],
    logs: &[Option<Vec<f64>>],
    curve: &[usize],
    pair: Pair,
) -> Vec<Spared> {
    let second = match pair {
        Pair::LowestHighest => curve.len() - 1,
        Pair::LowestMiddle => curve.len() / 2,
    };
    let fitted = [curve[0], curve[second]];
    let Some(Some(logs)) = logs.get(curve[0]) else { return Vec::new() };
    let kernel = |at: usize| model.terms(&all[at]).kernel(&all[at], logs);
    let Some(api_s) = kernel(curve[0]).map(|it| it.api_s()) else { return Vec::new() };
    let factor = Unknown { start: 0.0, spread: 1.0, bounds: (-2.3, 2.3) };
    let api = Unknown { start: libm::log(api_s), spread: 3.0, bounds: (-10.0, 2.0) };
    let weights = fitted.iter().flat_map(|at| [1.0, ttft_weight(&all[*at])]).collect();
    let mut descent = Descent::new(vec![factor, factor, api], weights);
    while !descent.asks().is_empty() {
        let of = |asked: &Vec<f64>| {
            fitted.iter().flat_map(|at| residuals(&all[*at], kernel(*at), asked)).collect()
        };
        let residuals: Vec<Vec<f64>> = descent.asks().iter().map(of).collect();
        descent.tell(&residuals);
    }
    let spared = curve.iter().filter(|at| !fitted.contains(at));
    spared
        .filter_map(|&at| {
            let kernel = kernel(at)?;
            let before = predicted(&all[at], &kernel);
            let after = predicted(&all[at], &moved(&kernel, descent.best()));
            Some(Spared { at, before, after })
        })
        .collect()
}

/// None where a TTFT has no weight in a fit at all.
fn ttft_weight(setting: &Setting) -> f64 {
    if setting.ttft_weight > 0.0 && setting.measured.ttft_s.is_some() { TTFT_WEIGHT } else { 0.0 }
}

/// Factors on memory and on arithmetic, and the API's time for a request of these prompts.
fn moved(kernel: &Kernel, logs: &[f64]) -> Kernel {
    kernel.scaled(libm::exp(logs[0]), libm::exp(logs[1])).with_api_s(libm::exp(logs[2]))
}

fn residuals(setting: &Setting, kernel: Option<Kernel>, logs: &[f64]) -> [f64; 2] {
    let Some(kernel) = kernel else { return [f64::NAN; 2] };
    let found = predicted(setting, &moved(&kernel, logs));
    let measured = &setting.measured;
    let ttft = measured.ttft_s.filter(|_| ttft_weight(setting) > 0.0);
    [
        libm::log(found.tpot_s / measured.tpot_s),
        ttft.map_or(0.0, |measured_s| libm::log(found.ttft_s / measured_s)),
    ]
}

fn predicted(setting: &Setting, kernel: &Kernel) -> Predicted {
    let run = replay(kernel, setting.rules, setting.client.pace, &setting.client.requests);
    setting.predicted(&run)
}
