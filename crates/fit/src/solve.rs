//! Robust least squares through the replayed client.

use sim_core::step_time::kernel::Kernel;

use crate::{
    parameters::Model,
    replay::{Replayed, replay},
    setting::Setting,
};

/// Loss: quadratic to here, linear beyond, in logarithms.
const SCALE: f64 = 0.12;

/// What a row's run came to, with its pieces.
#[derive(Clone, Debug)]
pub struct Linear {
    run: Replayed,
    api_s: f64,
    tpot_factor: f64,
    ttft_factor: f64,
    tpot_s: f64,
    ttft_s: Option<f64>,
}

impl Linear {
    /// Simulate a setting.
    pub fn of(setting: &Setting, kernel: &Kernel) -> Self {
        let run = replay(kernel, setting.rules, setting.pace, &setting.requests);
        let tpot: f64 = run.pieces.iter().map(|it| it.tpot_weight * kernel.step_s(&it.shape)).sum();
        let ttft = if setting.is_ttft_median { run.ttft_median_s } else { run.ttft_mean_s };
        Self {
            api_s: kernel.api_s(),
            tpot_factor: run.tpot_mean_s / tpot,
            ttft_factor: ttft / run.ttft_mean_s,
            tpot_s: setting.tpot_s,
            ttft_s: setting.ttft_s,
            run,
        }
    }

    /// TPOT and TTFT for another kernel with the same composition of steps.
    pub fn predict(&self, kernel: &Kernel) -> (f64, f64) {
        let (mut tpot, mut ttft) = (0.0, self.run.ttft_fixed_s - self.api_s + kernel.api_s());
        for piece in &self.run.pieces {
            let step_s = kernel.step_s(&piece.shape);
            tpot += piece.tpot_weight * step_s;
            ttft += piece.ttft_weight * step_s;
        }
        (tpot * self.tpot_factor, ttft * self.ttft_factor)
    }

    fn residuals(&self, kernel: &Kernel) -> (f64, Option<f64>) {
        let (tpot, ttft) = self.predict(kernel);
        let log = |predicted: f64, measured: f64| {
            libm::log(if predicted > 1e-9 { predicted } else { 1e-9 } / measured)
        };
        (log(tpot, self.tpot_s), self.ttft_s.map(|it| log(ttft, it)))
    }

    /// The run itself.
    pub fn run(&self) -> &Replayed {
        &self.run
    }
}

/// Do something for each of many, on two threads, in order.
pub fn for_all<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut all: Vec<(usize, U)> = std::thread::scope(|scope| {
        let worker = || {
            let mut mine = Vec::new();
            loop {
                let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(item) = items.get(at) else { return mine };
                mine.push((at, work(item)));
            }
        };
        let other = scope.spawn(worker);
        let mut mine = worker();
        if let Ok(others) = other.join() {
            mine.extend(others);
        }
        mine
    });
    all.sort_by_key(|it| it.0);
    all.into_iter().map(|it| it.1).collect()
}

/// Fit a model to settings, each with its weight, from `start`.
pub fn fit(model: &Model, settings: &[(&Setting, f64)], start: &[f64], rounds: usize) -> Vec<f64> {
    let mut logs = start.to_vec();
    for _ in 0..rounds {
        let linears = for_all(settings, |(setting, _)| {
            model.kernel(setting, &logs).ok().map(|kernel| Linear::of(setting, &kernel))
        });
        logs = descend(model, settings, &linears, &logs, 4);
    }
    logs
}

fn rho(residual: f64) -> f64 {
    let z = residual / SCALE;
    SCALE * SCALE * libm::log1p(z * z)
}

fn weight_of(residual: f64) -> f64 {
    let z = residual / SCALE;
    1.0 / (1.0 + z * z)
}

fn cost(model: &Model, settings: &[(&Setting, f64)], linears: &[Option<Linear>], logs: &[f64]) -> f64 {
    let mut sum = 0.0;
    for ((setting, weight), linear) in settings.iter().zip(linears) {
        let (Some(linear), Ok(kernel)) = (linear, model.kernel(setting, logs)) else { continue };
        let (tpot, ttft) = linear.residuals(&kernel);
        sum += weight * rho(tpot);
        if let Some(ttft) = ttft {
            sum += weight * setting.ttft_weight * rho(ttft);
        }
    }
    for (at, parameter) in model.parameters.iter().enumerate() {
        let z = (logs[at] - libm::log(parameter.prior)) / parameter.spread;
        sum += z * z * SCALE * SCALE;
    }
    sum
}

/// Levenberg-Marquardt for fixed compositions.
pub fn descend(
    model: &Model,
    settings: &[(&Setting, f64)],
    linears: &[Option<Linear>],
    start: &[f64],
    steps: usize,
) -> Vec<f64> {
    const STEP: f64 = 0.01;
    let count = start.len();
    let mut logs = start.to_vec();
    let mut damping = 1e-3;
    let mut now = cost(model, settings, linears, &logs);
    for _ in 0..steps {
        let pairs: Vec<_> = settings.iter().zip(linears).collect();
        let rows = for_all(&pairs, |((setting, weight), linear)| {
            let mut rows = Vec::new();
            let Some(linear) = linear else { return rows };
            let Ok(kernel) = model.kernel(setting, &logs) else { return rows };
            let (tpot, ttft) = linear.residuals(&kernel);
            let mut tpot_row = vec![0.0; count];
            let mut ttft_row = vec![0.0; count];
            for at in 0..count {
                if !model.matters(at, setting) {
                    continue;
                }
                let mut moved = logs.clone();
                moved[at] += STEP;
                let Ok(kernel) = model.kernel(setting, &moved) else { continue };
                let (tpot_moved, ttft_moved) = linear.residuals(&kernel);
                tpot_row[at] = (tpot_moved - tpot) / STEP;
                if let (Some(moved), Some(ttft)) = (ttft_moved, ttft) {
                    ttft_row[at] = (moved - ttft) / STEP;
                }
            }
            rows.push((weight * weight_of(tpot), tpot, tpot_row));
            if let Some(ttft) = ttft {
                rows.push((weight * setting.ttft_weight * weight_of(ttft), ttft, ttft_row));
            }
            rows
        });
        let mut matrix = vec![vec![0.0; count]; count];
        let mut right = vec![0.0; count];
        for (weight, residual, row) in rows.iter().flatten() {
            for i in 0..count {
                if row[i] == 0.0 {
                    continue;
                }
                right[i] -= weight * residual * row[i];
                for j in 0..count {
                    matrix[i][j] += weight * row[i] * row[j];
                }
            }
        }
        for (at, parameter) in model.parameters.iter().enumerate() {
            let stiffness = SCALE * SCALE / (parameter.spread * parameter.spread);
            matrix[at][at] += stiffness;
            right[at] -= stiffness * (logs[at] - libm::log(parameter.prior));
        }
        let mut accepted = false;
        for _ in 0..6 {
            let mut damped = matrix.clone();
            for (at, row) in damped.iter_mut().enumerate() {
                row[at] += damping * matrix[at][at] + 1e-12;
            }
            let delta = solve(damped, right.clone());
            let moved: Vec<f64> =
                logs.iter().zip(&delta).map(|(log, step)| log + step.clamp(-0.7, 0.7)).collect();
            let then = cost(model, settings, linears, &moved);
            if then < now {
                accepted = true;
                let gain = (now - then) / now;
                logs = moved;
                now = then;
                damping *= 0.3;
                if gain < 1e-5 {
                    return logs;
                }
                break;
            }
            damping *= 8.0;
        }
        if !accepted {
            break;
        }
    }
    logs
}

/// Gaussian elimination with pivots.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for at in 0..count {
        let pivot = (at..count)
            .max_by(|&a, &b| matrix[a][at].abs().total_cmp(&matrix[b][at].abs()))
            .unwrap_or(at);
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        if matrix[at][at].abs() < 1e-300 {
            continue;
        }
        for below in at + 1..count {
            let factor = matrix[below][at] / matrix[at][at];
            if factor != 0.0 {
                for column in at..count {
                    let value = matrix[at][column];
                    matrix[below][column] -= factor * value;
                }
                right[below] -= factor * right[at];
            }
        }
    }
    let mut solution = vec![0.0; count];
    for at in (0..count).rev() {
        let rest: f64 = (at + 1..count).map(|column| matrix[at][column] * solution[column]).sum();
        if matrix[at][at].abs() >= 1e-300 {
            solution[at] = (right[at] - rest) / matrix[at][at];
        }
    }
    solution
}
