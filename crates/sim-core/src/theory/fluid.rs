//! Continuous batching as a fluid: what mean lengths alone say of an engine.

use crate::{
    engine::Speculation,
    float::{from_count, greater, lesser},
    setup::EngineSpec,
    step_time::{StepModel, StepTimeSpec},
};

/// Continuous batching as a fluid: mean lengths, no randomness but the wait for prefill.
#[derive(Clone, Copy, Debug)]
pub struct Fluid {
    model: StepModel,
    engine: EngineSpec,
    input_tokens: f64,
    output_tokens: f64,
    cached_tokens: f64,
    speculation: Speculation,
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
            cached_tokens: 0.0,
            speculation: Speculation::NONE,
        }
    }

    /// The same with speculative decoding.
    #[must_use]
    pub const fn with_speculation(self, speculation: Speculation) -> Self {
        Self { speculation, ..self }
    }

    /// The same with a prefix cache in which so many tokens of each prompt are found: they need not
    /// be computed, but are read as context. That requests share their memory is not counted.
    #[must_use]
    pub fn with_cached(self, cached_tokens: f64) -> Self {
        Self { cached_tokens: lesser(cached_tokens, self.input_tokens), ..self }
    }

    /// Tokens of a prompt that have to be computed.
    fn prefilled_tokens(&self) -> f64 {
        self.input_tokens - self.cached_tokens
    }

    fn step_s(&self, tokens: f64, sequences: f64, context_tokens: f64) -> f64 {
        let lines = self.model.lines_of_fluid(tokens, sequences);
        greater(lines.flat_s, lines.base_s + lines.slope_s * context_tokens) + lines.overhead_s
    }

    /// Duration of a step beside whose decoding sequences so many tokens of so many prompts are
    /// prefilled, in seconds: with the drafts, where there are any.
    fn mixed_step_s(&self, decoding: f64, prompt_tokens: f64, prompts: f64) -> f64 {
        let context = decoding * self.context_per_request();
        let computed = decoding * self.width() + prompt_tokens;
        let verified_s = self.step_s(computed, decoding + prompts, context);
        let Speculation { tokens, draft_cost, .. } = self.speculation;
        if tokens == 0 || decoding == 0.0 {
            return verified_s;
        }
        verified_s + from_count(tokens) * draft_cost * self.step_s(decoding, decoding, context)
    }

    /// Tokens that a step computes for a decoding request.
    fn width(&self) -> f64 {
        from_count(self.speculation.width())
    }

    /// Gaps between the tokens of a request, and the steps of its decoding.
    fn gaps_and_steps(&self) -> (f64, f64) {
        let gaps = self.output_tokens - 1.0;
        (gaps, self.speculation.steps(gaps))
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
        let step_s = self.mixed_step_s(1.0, 0.0, 0.0);
        let (gaps, steps) = self.gaps_and_steps();
        if gaps > 0.0 { step_s * (steps / gaps) } else { step_s }
    }

    /// Time to prefill one prompt beside `decoding` requests, in seconds, over as many steps as the
    /// token budget asks for.
    fn prefill_s(&self, decoding: f64) -> f64 {
        let decoded = decoding * self.width();
        let room = greater(1.0, self.engine.max_num_batched_tokens as f64 - decoded);
        let chunks = greater(1.0, (self.prefilled_tokens() / room).ceil());
        let chunk = self.prefilled_tokens() / chunks;
        chunks * self.mixed_step_s(decoding, chunk, 1.0)
    }

    /// The highest rate per second at which requests can be finished: as many decode as slots,
    /// memory and token budget allow, and prefill keeps pace with them in the same steps.
    #[must_use]
    pub fn ceiling_per_s(&self) -> f64 {
        let budget = self.engine.max_num_batched_tokens as f64;
        let (_, steps) = self.gaps_and_steps();
        let final_tokens =
            self.input_tokens + self.output_tokens + from_count(self.speculation.tokens);
        let in_memory = greater(1.0, self.engine.kv_capacity_tokens as f64 / final_tokens);
        let slots = lesser(self.engine.max_num_seqs as f64, in_memory);
        // Requests that end in each step, at most: when every slot turns over once in `steps` steps
        // and the budget holds their prompts and everybody's decode tokens.
        let ending = lesser(
            slots / greater(1.0, steps),
            budget / greater(1.0, self.prefilled_tokens() + steps * self.width()),
        );
        let decoding = ending * steps;
        ending / self.mixed_step_s(decoding, ending * self.prefilled_tokens(), ending)
    }

    /// The steady state at a rate; `None` if there is none.
    #[must_use]
    pub fn at(&self, rate_per_s: f64) -> Option<FluidPoint> {
        let (gaps, steps) = self.gaps_and_steps();
        let mut decoding = 0.0;
        for _ in 0..200 {
            let prefill_s = self.prefill_s(decoding);
            let idle_of_prefill = 1.0 - rate_per_s * prefill_s;
            if idle_of_prefill <= 0.0 || decoding > self.engine.max_num_seqs as f64 {
                return None;
            }
            let batch = greater(1.0, decoding);
            let decode_s = self.mixed_step_s(batch, 0.0, 0.0);
            let steps_per_s = rate_per_s + idle_of_prefill / decode_s;
            let next = rate_per_s * steps / steps_per_s;
            let settled = (next - decoding).abs() <= 1e-9 * (1.0 + next);
            decoding = next;
            if settled {
                let share = if gaps > 0.0 { steps / gaps } else { 1.0 };
                let tpot_s = share / steps_per_s;
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
    fn what_is_found_in_the_cache_is_not_computed() {
        let whole = Fluid::new(&H100, ENGINE, 1024.0, 256.0);
        let cached = whole.with_cached(512.0);
        let half = Fluid::new(&H100, ENGINE, 512.0, 256.0);
        assert_eq!(cached.lone_prefill_s(), half.lone_prefill_s());
        assert_eq!(cached.lone_decode_s(), whole.lone_decode_s());
        assert!(whole.ceiling_per_s() < cached.ceiling_per_s());
        assert!(cached.ceiling_per_s() <= half.ceiling_per_s());
        assert_eq!(whole.with_cached(0.0).ceiling_per_s(), whole.ceiling_per_s());
    }

    #[test]
    fn drafts_speed_up_the_lone_and_lower_the_ceiling() {
        let plain = Fluid::new(&H100, ENGINE, 64.0, 201.0);
        let speculation = Speculation { tokens: 4, acceptance: 0.7, draft_cost: 0.05 };
        let drafted = plain.with_speculation(speculation);
        // 2.77 tokens in the time of 1.2 steps, but for the end of the output.
        let gain = plain.lone_decode_s() / drafted.lone_decode_s();
        assert!((gain - 2.773 / 1.2).abs() < 0.03, "{gain}");
        assert!(drafted.ceiling_per_s() < plain.ceiling_per_s());
        assert_eq!(drafted.lone_prefill_s(), plain.lone_prefill_s());
        // Without drafts nothing changes by a bit.
        let none = plain.with_speculation(Speculation { tokens: 0, ..speculation });
        assert_eq!(none.at(3.0), plain.at(3.0));
        assert_eq!(none.ceiling_per_s(), plain.ceiling_per_s());
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
