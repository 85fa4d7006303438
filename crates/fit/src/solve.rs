//! Robust least squares through the replayed client.
//!
//! A run's mean TTFT and TPOT are linear in the durations of its steps, so that for a given composition of
//! steps they follow from the pieces of the replay. A fit alternates: replay all runs, then move the
//! constants with the compositions held (Levenberg-Marquardt, reweighted for a Cauchy loss).

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use sim_core::{
    float::{greater, lesser},
    least_squares::{SCALE, eliminated, loss, reweighted},
    step_time::kernel::Kernel,
};

use crate::{
    model::{Model, Terms},
    replay::{Replayed, replay},
    setting::Setting,
};

/// Step of a logarithm for derivatives.
const STEP: f64 = 0.01;
/// The most that a logarithm moves at once.
const MOST_MOVE: f64 = 0.7;
/// Rounds of replaying and moving.
const ROUNDS: usize = 3;
/// Moves in a round.
const MOVES: usize = 5;

/// A run in a fit.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'a> {
    /// The run.
    pub setting: &'a Setting,
    /// Its weight.
    pub weight: f64,
    /// What it came to at the priors.
    pub first: Option<&'a Held>,
}

struct Fitted<'a> {
    setting: &'a Setting,
    weight: f64,
    terms: Terms,
}

/// A replayed run with its composition held.
#[derive(Debug)]
pub struct Held {
    run: Replayed,
    api_s: f64,
    tpot_factor: f64,
    ttft_factor: f64,
}

/// Do something for each of many on all cores; results come in order.
pub fn for_all<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let next = AtomicUsize::new(0);
    let mine = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut all = thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(mine)).collect();
        let mut all = mine();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|it| it.0);
    all.into_iter().map(|it| it.1).collect()
}

/// A run replayed with all constants at their priors, where every fit begins; none if its network is not
/// modelled.
#[must_use]
pub fn at_priors(model: &Model, setting: &Setting) -> Option<Held> {
    let kernel = model.terms(setting).kernel(setting, &model.start())?;
    Some(Held::of(setting, &kernel))
}

/// Fit the constants of `model` to runs, from its priors. Returns their logarithms.
#[must_use]
pub fn fit(model: &Model, runs: &[Weighted<'_>]) -> Vec<f64> {
    let fitted: Vec<Fitted<'_>> = runs
        .iter()
        .map(|run| Fitted {
            setting: run.setting,
            weight: run.weight,
            terms: model.terms(run.setting),
        })
        .collect();
    let first: Vec<Option<&Held>> = runs.iter().map(|run| run.first).collect();
    let mut logs = descend(model, &fitted, &first, &model.start());
    for _ in 1..ROUNDS {
        let held = for_all(&fitted, |run| {
            let kernel = run.terms.kernel(run.setting, &logs)?;
            Some(Held::of(run.setting, &kernel))
        });
        let held: Vec<Option<&Held>> = held.iter().map(Option::as_ref).collect();
        logs = descend(model, &fitted, &held, &logs);
    }
    logs
}

impl Held {
    fn of(setting: &Setting, kernel: &Kernel) -> Self {
        let run = replay(kernel, setting.rules, setting.client.pace, &setting.client.requests);
        let tpot_s: f64 =
            run.pieces.iter().map(|it| it.tpot_weight * kernel.step_s(&it.shape)).sum();
        let ttft_s = if setting.measured.is_median { run.ttft_median_s } else { run.ttft_mean_s };
        Self {
            api_s: kernel.api_s(),
            tpot_factor: run.tpot_mean_s / tpot_s,
            ttft_factor: ttft_s / run.ttft_mean_s,
            run,
        }
    }

    /// Logarithms of predicted over measured TPOT and TTFT, for a kernel with the same composition.
    fn residuals(&self, setting: &Setting, kernel: &Kernel) -> [Option<f64>; 2] {
        let (mut tpot_s, mut ttft_s) = (0.0, self.run.ttft_fixed_s - self.api_s + kernel.api_s());
        for piece in &self.run.pieces {
            let step_s = kernel.step_s(&piece.shape);
            tpot_s += piece.tpot_weight * step_s;
            ttft_s += piece.ttft_weight * step_s;
        }
        let log = |predicted_s: f64, measured_s: f64| {
            libm::log(if predicted_s > 1e-9 { predicted_s } else { 1e-9 } / measured_s)
        };
        let measured = &setting.measured;
        [
            Some(log(tpot_s * self.tpot_factor, measured.tpot_s)),
            measured.ttft_s.map(|it| log(ttft_s * self.ttft_factor, it)),
        ]
    }
}

impl Fitted<'_> {
    const fn weights(&self) -> [f64; 2] {
        [self.weight, self.weight * self.setting.ttft_weight]
    }
}

fn cost(model: &Model, runs: &[Fitted<'_>], held: &[Option<&Held>], logs: &[f64]) -> f64 {
    let pairs: Vec<_> = runs.iter().zip(held).collect();
    let costs = for_all(&pairs, |(run, held)| {
        let (Some(held), Some(kernel)) = (held, run.terms.kernel(run.setting, logs)) else {
            return 0.0;
        };
        let residuals = held.residuals(run.setting, &kernel);
        let terms = residuals.into_iter().zip(run.weights());
        terms.map(|(residual, weight)| residual.map_or(0.0, |it| weight * loss(it))).sum::<f64>()
    });
    let priors = model.parameters.iter().zip(logs).map(|(parameter, log)| {
        let z = (log - libm::log(parameter.prior)) / parameter.spread;
        z * z * SCALE * SCALE
    });
    costs.iter().sum::<f64>() + priors.sum::<f64>()
}

/// One residual with its weight and its slopes.
struct Slopes {
    weight: f64,
    residual: f64,
    slopes: Vec<(usize, f64)>,
}

fn slopes(run: &Fitted<'_>, held: &Held, logs: &[f64]) -> Vec<Slopes> {
    let Some(kernel) = run.terms.kernel(run.setting, logs) else { return Vec::new() };
    let here = held.residuals(run.setting, &kernel);
    let mut rows = [Vec::new(), Vec::new()];
    let mut places: Vec<usize> = run.terms.free.iter().map(|it| it.1).collect();
    places.sort_unstable();
    places.dedup();
    let mut moved = logs.to_vec();
    for at in places {
        moved[at] += STEP;
        if let Some(kernel) = run.terms.kernel(run.setting, &moved) {
            let there = held.residuals(run.setting, &kernel);
            for (row, (here, there)) in rows.iter_mut().zip(here.into_iter().zip(there)) {
                if let (Some(here), Some(there)) = (here, there) {
                    row.push((at, (there - here) / STEP));
                }
            }
        }
        moved[at] = logs[at];
    }
    let mut found = Vec::with_capacity(2);
    for ((residual, weight), slopes) in here.into_iter().zip(run.weights()).zip(rows) {
        if let Some(residual) = residual {
            found.push(Slopes { weight: weight * reweighted(residual), residual, slopes });
        }
    }
    found
}

/// Levenberg-Marquardt with compositions held.
fn descend(model: &Model, runs: &[Fitted<'_>], held: &[Option<&Held>], start: &[f64]) -> Vec<f64> {
    let mut logs = start.to_vec();
    let mut damping = 1e-3;
    let mut now = cost(model, runs, held, &logs);
    let pairs: Vec<_> = runs.iter().zip(held).collect();
    for _ in 0..MOVES {
        let rows = for_all(&pairs, |(run, held)| {
            held.map_or_else(Vec::new, |held| slopes(run, held, &logs))
        });
        let equations = Equations::of(model, &logs, rows.iter().flatten());
        let mut is_better = false;
        for _ in 0..6 {
            let moved = equations.moved(&logs, damping);
            let then = cost(model, runs, held, &moved);
            if then < now {
                is_better = (now - then) / now > 1e-5;
                (logs, now, damping) = (moved, then, damping * 0.3);
                break;
            }
            damping *= 8.0;
        }
        if !is_better {
            break;
        }
    }
    logs
}

/// Normal equations.
struct Equations {
    matrix: Vec<Vec<f64>>,
    right: Vec<f64>,
}

impl Equations {
    fn of<'a>(model: &Model, logs: &[f64], rows: impl Iterator<Item = &'a Slopes>) -> Self {
        let count = logs.len();
        let mut matrix = vec![vec![0.0; count]; count];
        let mut right = vec![0.0; count];
        for row in rows {
            for &(i, slope) in &row.slopes {
                right[i] -= row.weight * row.residual * slope;
                for &(j, other) in &row.slopes {
                    matrix[i][j] += row.weight * slope * other;
                }
            }
        }
        for (at, parameter) in model.parameters.iter().enumerate() {
            let stiffness = SCALE * SCALE / (parameter.spread * parameter.spread);
            matrix[at][at] += stiffness;
            right[at] -= stiffness * (logs[at] - libm::log(parameter.prior));
        }
        Self { matrix, right }
    }

    /// The logarithms after a damped step.
    fn moved(&self, logs: &[f64], damping: f64) -> Vec<f64> {
        let mut matrix = self.matrix.clone();
        for (at, row) in matrix.iter_mut().enumerate() {
            row[at] *= 1.0 + damping;
        }
        let steps = eliminated(matrix, self.right.clone());
        logs.iter().zip(&steps).map(|(log, step)| log + within(*step)).collect()
    }
}

/// A step of a logarithm that is not too long.
fn within(step: f64) -> f64 {
    greater(-MOST_MOVE, lesser(MOST_MOVE, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_many_comes_back_in_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(for_all(&items, |item| item * 2), (0..2000).step_by(2).collect::<Vec<_>>());
    }
}
