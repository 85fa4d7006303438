//! An engine whose every iteration lasts `α + n δ` with `n` requests in it: the queueing model of
//! the llm-d workload variant autoscaler (WVA), as a closed form and as a chain.

use super::{
    birth_death::stationary,
    error::{TheoryError, count, not_negative, positive, stable},
};

/// Costs of an iteration and the mean lengths of the requests.
///
/// `δ = β (i + o) / (o + 1) + γ (i + o/2)`: a request's work, averaged over its one prefill and `o`
/// decode iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationModel {
    alpha_s: f64,
    beta_s: f64,
    gamma_s: f64,
    input_tokens: f64,
    output_tokens: f64,
}

impl IterationModel {
    /// Fixed time per iteration `alpha_s`, compute time per token `beta_s`, KV access time per
    /// token `gamma_s`, all in seconds.
    ///
    /// # Errors
    /// A number outside its domain: costs and prompts may be zero, the fixed time and the output
    /// may not.
    pub fn new(
        alpha_s: f64,
        beta_s: f64,
        gamma_s: f64,
        input_tokens: f64,
        output_tokens: f64,
    ) -> Result<Self, TheoryError> {
        Ok(Self {
            alpha_s: positive("alpha_s", alpha_s)?,
            beta_s: not_negative("beta_s", beta_s)?,
            gamma_s: not_negative("gamma_s", gamma_s)?,
            input_tokens: not_negative("input_tokens", input_tokens)?,
            output_tokens: positive("output_tokens", output_tokens)?,
        })
    }

    /// Time that one more request adds to an iteration, `δ`, in seconds.
    #[must_use]
    pub fn per_request_s(&self) -> f64 {
        let (input, output) = (self.input_tokens, self.output_tokens);
        self.beta_s * (input + output) / (output + 1.0) + self.gamma_s * (input + 0.5 * output)
    }

    /// Time of an iteration with `n` requests, `α + n δ`, in seconds; `n` may be a mean.
    #[must_use]
    pub fn iteration_s(&self, n: f64) -> f64 {
        self.alpha_s + n * self.per_request_s()
    }

    /// Time to prefill a prompt beside `n` requests, in seconds; 0 for an empty prompt.
    #[must_use]
    pub fn prefill_s(&self, n: f64) -> f64 {
        if self.input_tokens == 0.0 {
            return 0.0;
        }
        self.iteration_s(n) + (self.beta_s + self.gamma_s) * self.input_tokens
    }

    /// Time to decode one token beside `n` requests, in seconds.
    #[must_use]
    pub fn decode_s(&self, n: f64) -> f64 {
        let context = self.input_tokens + 0.5 * self.output_tokens;
        self.iteration_s(n) + self.beta_s + self.gamma_s * context
    }

    /// Requests finished per second with `n` in service: `n / (prefill + o · decode)`.
    #[must_use]
    pub fn completion_per_s(&self, n: f64) -> f64 {
        n / (self.prefill_s(n) + self.output_tokens * self.decode_s(n))
    }

    /// Load at a rate, `ρ = λ (β (i + o) + γ (o + 1)(i + o/2)) = λ (o + 1) δ`.
    ///
    /// # Errors
    /// A rate outside its domain.
    pub fn load(&self, rate_per_s: f64) -> Result<f64, TheoryError> {
        let iterations = self.output_tokens + 1.0;
        Ok(positive("rate_per_s", rate_per_s)? * iterations * self.per_request_s())
    }

    /// Mean iteration time at a rate with no limit on the batch, in seconds: `T = α / (1 − ρ)`.
    ///
    /// From `T = α + n δ` and Little's law `n = λ (o + 1) T`.
    ///
    /// # Errors
    /// A rate outside its domain, or a load of 1 or more.
    pub fn mean_iteration_s(&self, rate_per_s: f64) -> Result<f64, TheoryError> {
        Ok(self.alpha_s / (1.0 - stable(self.load(rate_per_s)?)?))
    }

    /// Mean number of requests in the engine at a rate: `λ (o + 1) T`.
    ///
    /// # Errors
    /// A rate outside its domain, or a load of 1 or more.
    pub fn mean_in_engine(&self, rate_per_s: f64) -> Result<f64, TheoryError> {
        let iteration_s = self.mean_iteration_s(rate_per_s)?;
        Ok(rate_per_s * (self.output_tokens + 1.0) * iteration_s)
    }

    /// The rate per second at which iterations take `k` times their fixed time: load `1 − 1/k`.
    /// `None` when a request adds nothing to an iteration, so that no rate does.
    ///
    /// # Errors
    /// A multiple that is not above 1.
    pub fn rate_at_multiple(&self, k: f64) -> Result<Option<f64>, TheoryError> {
        if positive("multiple of the fixed time", k)? <= 1.0 {
            let (field, requirement) = ("multiple of the fixed time", "above 1");
            return Err(TheoryError::OutOfDomain { field, value: k, requirement });
        }
        let work_s = (self.output_tokens + 1.0) * self.per_request_s();
        Ok((work_s > 0.0).then(|| (1.0 - 1.0 / k) / work_s))
    }
}

/// The chain: at most `max_batch` in service, at most `max_queue` more waiting, further arrivals
/// lost; with `n` in service they finish at the rate of a batch of `n` (M/M/1/K, state-dependent).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationChain {
    model: IterationModel,
    max_batch: u64,
    max_queue: u64,
}

/// What the chain says of one rate. Times in seconds, rates per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationPoint {
    /// Requests finished per second: those not lost.
    pub throughput_per_s: f64,
    /// Share of the arrivals that find the queue full.
    pub share_lost: f64,
    /// Mean time in the system.
    pub response_s: f64,
    /// Mean wait before service.
    pub wait_s: f64,
    /// Mean number in service.
    pub in_service: f64,
    /// Time to prefill beside the mean number in service.
    pub prefill_s: f64,
    /// Time per output token: what is left of the mean service time after prefill.
    pub token_s: f64,
    /// Time to the first token: wait, prefill and one decode.
    pub ttft_s: f64,
    /// Mean number in service over the batch limit.
    pub utilisation: f64,
}

impl IterationChain {
    /// The chain of a model under a batch limit and a queue limit.
    ///
    /// # Errors
    /// A limit outside its domain.
    pub fn new(model: IterationModel, max_batch: u64, max_queue: u64) -> Result<Self, TheoryError> {
        count("max_batch", max_batch)?;
        if max_queue > 0 {
            count("max_queue", max_queue)?;
        }
        Ok(Self { model, max_batch, max_queue })
    }

    /// The highest rate per second it can finish: that of the full batch.
    #[must_use]
    pub fn capacity_per_s(&self) -> f64 {
        self.model.completion_per_s(self.max_batch as f64)
    }

    /// The steady state at a rate; there always is one, since a full queue turns arrivals away.
    ///
    /// # Errors
    /// A rate outside its domain.
    pub fn at(&self, rate_per_s: f64) -> Result<IterationPoint, TheoryError> {
        let rate_per_s = positive("rate_per_s", rate_per_s)?;
        let states = self.max_batch + self.max_queue;
        let completion_per_s = |n: u64| self.model.completion_per_s(n.min(self.max_batch) as f64);
        let ratios: Vec<f64> = (1..=states).map(|n| rate_per_s / completion_per_s(n)).collect();
        let probabilities = stationary(&ratios);
        let (mut in_service, mut queue, mut throughput_per_s) = (0.0, 0.0, 0.0);
        for (n, probability) in (1..=states).zip(&probabilities[1..]) {
            in_service += probability * n.min(self.max_batch) as f64;
            queue += probability * n.saturating_sub(self.max_batch) as f64;
            throughput_per_s += probability * completion_per_s(n);
        }
        // Little's law, of the queue and of the servers.
        let (wait_s, service_s) = (queue / throughput_per_s, in_service / throughput_per_s);
        let prefill_s = self.model.prefill_s(in_service);
        let token_s = (service_s - prefill_s) / self.model.output_tokens;
        Ok(IterationPoint {
            throughput_per_s,
            share_lost: probabilities[states as usize],
            response_s: wait_s + service_s,
            wait_s,
            in_service,
            prefill_s,
            token_s,
            ttft_s: wait_s + prefill_s + token_s,
            utilisation: in_service / self.max_batch as f64,
        })
    }

    /// The highest rate per second at which the chain meets both targets, in seconds; infinite
    /// targets do not bind. At most 99.9 % of capacity, as the autoscaler has it. `None` when not
    /// even a lone request meets them.
    ///
    /// # Errors
    /// A target that is not above 0.
    pub fn largest_rate_per_s(
        &self,
        ttft_s: f64,
        token_s: f64,
    ) -> Result<Option<f64>, TheoryError> {
        for (field, value) in [("ttft_s", ttft_s), ("token_s", token_s)] {
            if value.is_nan() || value <= 0.0 {
                return Err(TheoryError::OutOfDomain { field, value, requirement: "above 0" });
            }
        }
        let met = |rate_per_s: f64| {
            self.at(rate_per_s).map(|point| point.ttft_s <= ttft_s && point.token_s <= token_s)
        };
        let mut high = 0.999 * self.capacity_per_s();
        if met(high)? {
            return Ok(Some(high));
        }
        let mut low = 1e-6 * high;
        if !met(low)? {
            return Ok(None);
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if met(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Some(low))
    }
}

#[cfg(test)]
#[path = "iteration_tests.rs"]
mod tests;
