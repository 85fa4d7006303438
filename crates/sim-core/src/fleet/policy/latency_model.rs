//! WVA's queueing-model analyzer at work: costs of an iteration learned from latencies, and the rate
//! that a replica with such costs can take.

use crate::fleet::autoscale::wva::{
    DEFAULT_STATE, Environment, ParameterFilter, QueueAnalyzer, QueueConfig, RequestSize, Targets,
    inferred_targets, initial_guess, observed_targets,
};

use super::{Observed, Totals, WVA_INTERVAL_S};

/// Updates until what is learned is trusted; before them targets come from what is observed.
const UPDATES_TO_TRUST: u32 = 3;
/// Requests that may wait, as a multiple of those at once, in the tuner's queue.
const QUEUE_FACTOR: u32 = 10;

/// What it remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct LatencyModel {
    filter: Option<ParameterFilter>,
    updates: u32,
    before: Totals,
}

impl LatencyModel {
    /// Learn from the last interval, and size the fleet for its rate; `None` where nobody was answered
    /// in it, or no rate keeps the targets.
    pub(super) fn replicas(
        &mut self,
        observed: &Observed,
        (max_batch, targets, multiplier): (u32, Option<&Targets>, f64),
    ) -> Option<i32> {
        let (now, before) = (observed.totals, self.before);
        self.before = now;
        let answered = now.answered - before.answered;
        if answered <= 0.0 {
            return None;
        }
        let mean = |sum: f64| sum / answered;
        let (input, output) = (
            mean(now.input_tokens - before.input_tokens),
            mean(now.output_tokens - before.output_tokens),
        );
        let (ttft_s, itl_s) = (mean(now.ttft_s - before.ttft_s), mean(now.tpot_s - before.tpot_s));
        let rate_per_s = (now.offered - before.offered) / WVA_INTERVAL_S;
        let ready = f64::from(observed.ready_count().max(1));
        let size = RequestSize { input: input as f32, output: output as f32 };
        let environment = Environment {
            rate_per_min: (60.0 * rate_per_s / ready) as f32,
            size,
            max_batch,
            ttft_ms: (1000.0 * ttft_s) as f32,
            itl_ms: (1000.0 * itl_s) as f32,
        };
        let parameters = if let Some(filter) = &mut self.filter {
            // What the model cannot serve teaches it nothing.
            if filter.update(&environment).is_ok() {
                self.updates += 1;
            }
            filter.parameters()
        } else {
            let guess = initial_guess(&environment).unwrap_or(DEFAULT_STATE);
            let noise = (environment.ttft_ms, environment.itl_ms);
            self.filter.insert(ParameterFilter::new(guess, noise)).parameters()
        };
        let targets = match targets {
            Some(targets) => *targets,
            None if self.updates >= UPDATES_TO_TRUST => {
                inferred_targets(&parameters, (input, output), multiplier)
            }
            None => observed_targets(ttft_s, itl_s)?,
        };
        let max_queue = max_batch.saturating_mul(QUEUE_FACTOR);
        let config = QueueConfig { max_batch, max_queue, parameters };
        let (rates, _) = QueueAnalyzer::new(config, size).ok()?.size(&targets).ok()?;
        let each = if rates.ttft < rates.itl { rates.ttft } else { rates.itl };
        (each > 0.0).then(|| (rate_per_s / f64::from(each)).ceil() as i32)
    }
}
