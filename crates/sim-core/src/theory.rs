//! Closed forms, drawn beside the simulation.

use crate::{
    float::{greater, lesser},
    setup::EngineSpec,
    step_time::{StepModel, StepTimeSpec},
};

/// Mean wait in an M/D/1 queue, in seconds; infinite at or above full load.
///
/// Pollaczek-Khinchine with constant service: `ρ s / (2 (1 − ρ))`.
#[must_use]
pub fn md1_mean_wait_s(rate_per_s: f64, service_s: f64) -> f64 {
    let load = rate_per_s * service_s;
    if load >= 1.0 { f64::INFINITY } else { load * service_s / (2.0 * (1.0 - load)) }
}

/// The wait in seconds that a share `tail` of the arrivals at an M/D/1 queue exceed; infinite at or
/// above full load.
///
/// By the exponential tail `P(W > t) ≈ C e^(−θt)`, where `θ` solves `λ (e^(θs) − 1) = θ` and
/// `C = (1 − ρ) / (ρ e^(θs) − 1)` (Cramér-Lundberg; Tijms, "A First Course in Stochastic Models",
/// ch. 9). Exact as `t` grows; within a few per cent at the 99th percentile from 20 % load on.
#[must_use]
pub fn md1_wait_exceeded_s(rate_per_s: f64, service_s: f64, tail: f64) -> f64 {
    let load = rate_per_s * service_s;
    if load >= 1.0 {
        return f64::INFINITY;
    }
    // Fewer than `tail` of the arrivals wait at all.
    if load <= tail || service_s <= 0.0 {
        return 0.0;
    }
    let decay = md1_decay(load);
    let weight = (1.0 - load) / (load * libm::exp(decay) - 1.0);
    greater(0.0, libm::log(weight / tail) / decay * service_s)
}

/// The positive root `x` of `ρ (e^x − 1) = x`: the decay of the tail per service time.
fn md1_decay(load: f64) -> f64 {
    let excess = |x: f64| load * libm::expm1(x) - x;
    // The function dips below zero after 0 and rises through the root, which lies beyond its least
    // point at −ln ρ.
    let mut low = -libm::log(load);
    let mut high = 2.0 * low + 1e-9;
    while excess(high) < 0.0 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Continuous batching as a fluid: mean lengths, no randomness but the wait for prefill.
#[derive(Clone, Copy, Debug)]
pub struct Fluid {
    model: StepModel,
    engine: EngineSpec,
    input_tokens: f64,
    output_tokens: f64,
}

/// What the fluid says of one rate. Times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidPoint {
    /// Mean time per output token.
    pub tpot_s: f64,
    /// Requests decoding.
    pub decoding: f64,
    /// Duration of a step that prefills one prompt beside the decoding requests.
    pub prefill_s: f64,
}

impl Fluid {
    /// An engine and the mean lengths of its requests.
    #[must_use]
    pub fn new(
        step_time: &StepTimeSpec,
        engine: EngineSpec,
        input_tokens: f64,
        output_tokens: f64,
    ) -> Self {
        Self {
            model: StepModel::new(step_time),
            engine,
            input_tokens,
            output_tokens: greater(1.0, output_tokens),
        }
    }

    fn step_s(&self, tokens: f64, sequences: f64, context_tokens: f64) -> f64 {
        let lines = self.model.lines_of_fluid(tokens, sequences);
        greater(lines.flat_s, lines.base_s + lines.slope_s * context_tokens) + lines.overhead_s
    }

    /// Tokens of context that a decoding request has on average: its prompt and half its output.
    fn context_per_request(&self) -> f64 {
        self.input_tokens + 0.5 * self.output_tokens
    }

    /// Time in seconds from the first step on a lone prompt to its first token.
    #[must_use]
    pub fn lone_prefill_s(&self) -> f64 {
        self.prefill_s(0.0)
    }

    /// Time per output token of a lone request, in seconds.
    #[must_use]
    pub fn lone_decode_s(&self) -> f64 {
        self.step_s(1.0, 1.0, self.context_per_request())
    }

    /// Time to prefill one prompt beside `decoding` requests, in seconds, over as many steps as the
    /// token budget asks for.
    fn prefill_s(&self, decoding: f64) -> f64 {
        let context = decoding * self.context_per_request();
        let room = greater(1.0, self.engine.max_num_batched_tokens as f64 - decoding);
        let chunks = greater(1.0, (self.input_tokens / room).ceil());
        let chunk = self.input_tokens / chunks;
        chunks * self.step_s(chunk + decoding, decoding + 1.0, context)
    }

    /// The highest rate per second at which requests can be finished: as many decode as slots,
    /// memory and token budget allow, and prefill keeps pace with them in the same steps.
    #[must_use]
    pub fn ceiling_per_s(&self) -> f64 {
        let budget = self.engine.max_num_batched_tokens as f64;
        let gaps = self.output_tokens - 1.0;
        let final_tokens = self.input_tokens + self.output_tokens;
        let in_memory = greater(1.0, self.engine.kv_capacity_tokens as f64 / final_tokens);
        let slots = lesser(self.engine.max_num_seqs as f64, in_memory);
        // Requests that end in each step, at most: when every slot turns over once in `gaps` steps
        // and the budget holds their prompts and everybody's decode token.
        let ending =
            lesser(slots / greater(1.0, gaps), budget / greater(1.0, self.input_tokens + gaps));
        let decoding = ending * gaps;
        let tokens = decoding + ending * self.input_tokens;
        let context = decoding * self.context_per_request();
        ending / self.step_s(tokens, decoding + ending, context)
    }

    /// The steady state at a rate; `None` if there is none.
    #[must_use]
    pub fn at(&self, rate_per_s: f64) -> Option<FluidPoint> {
        let gaps = self.output_tokens - 1.0;
        let mut decoding = 0.0;
        for _ in 0..200 {
            let prefill_s = self.prefill_s(decoding);
            let idle_of_prefill = 1.0 - rate_per_s * prefill_s;
            if idle_of_prefill <= 0.0 || decoding > self.engine.max_num_seqs as f64 {
                return None;
            }
            let batch = greater(1.0, decoding);
            let decode_s = self.step_s(batch, batch, batch * self.context_per_request());
            let steps_per_s = rate_per_s + idle_of_prefill / decode_s;
            let next = rate_per_s * gaps / steps_per_s;
            let settled = (next - decoding).abs() <= 1e-9 * (1.0 + next);
            decoding = next;
            if settled {
                let tpot_s = 1.0 / steps_per_s;
                return Some(FluidPoint { tpot_s, decoding, prefill_s });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H100: StepTimeSpec = StepTimeSpec::Roofline {
        params: 7.6e9,
        weight_bytes: 15.2e9,
        kv_bytes_per_token: 57344.0,
        peak_flops: 989e12,
        bandwidth_bytes_per_s: 3.35e12,
        mfu: 0.5,
        overhead_s: 0.5e-3,
    };
    const ENGINE: EngineSpec =
        EngineSpec { max_num_batched_tokens: 8192, max_num_seqs: 256, kv_capacity_tokens: 959_123 };

    #[test]
    fn md1_mean_wait_matches_known_values() {
        // ρ = 0.5, s = 1: 0.5 / (2 · 0.5) = 0.5.
        assert_eq!(md1_mean_wait_s(0.5, 1.0), 0.5);
        assert_eq!(md1_mean_wait_s(2.0, 1.0), f64::INFINITY);
    }

    /// Against Lindley's recursion on 400,000 arrivals: the share that waits longer than the closed
    /// form's 99th percentile is 1 %, within 0.15 % (five standard errors, inflated for
    /// autocorrelation).
    #[test]
    fn md1_tail_matches_a_simulation() {
        for (seed, load) in [(1, 0.3), (2, 0.6), (3, 0.8)] {
            let bound_s = md1_wait_exceeded_s(load, 1.0, 0.01);
            let mut stream = crate::random::Stream::new(seed, crate::random::Purpose::Arrivals);
            let (mut wait_s, mut longer) = (0.0_f64, 0);
            for _ in 0..400_000 {
                longer += u32::from(wait_s > bound_s);
                wait_s = greater(0.0, wait_s + 1.0 - stream.exponential() / load);
            }
            let share = f64::from(longer) / 400_000.0;
            assert!((share - 0.01).abs() < 0.0015, "load {load}: {share}");
        }
    }

    #[test]
    fn the_fluid_is_near_the_published_figures() {
        let fluid = Fluid::new(&H100, ENGINE, 1024.0, 256.0);
        // Published at 10 req/s: TPOT P50 7.5 ms; the simulator saturates at 6,187 tok/s.
        let tpot_s = fluid.at(10.0).unwrap().tpot_s;
        assert!((tpot_s - 0.0075).abs() < 0.0004, "{tpot_s}");
        let ceiling = fluid.ceiling_per_s();
        assert!((ceiling - 6187.0 / 256.0).abs() < 1.2, "{ceiling}");
        assert!(fluid.at(40.0).is_none());
    }

    #[test]
    fn one_token_outputs_and_tiny_budgets_are_defined() {
        for (budget, output) in [(1, 1.0), (1, 300.0), (8192, 1.0)] {
            let engine = EngineSpec { max_num_batched_tokens: budget, ..ENGINE };
            let fluid = Fluid::new(&H100, engine, 0.0, output);
            assert!(fluid.ceiling_per_s().is_finite() && fluid.ceiling_per_s() > 0.0);
            assert!(fluid.at(0.01).is_some());
        }
    }
}
