//! Batches that are served whole, by mean lengths: sequential, static and dynamic batching.

use crate::{
    float::{greater, lesser},
    step_time::{StepModel, StepTimeSpec},
    workload::LengthSpec,
};

use super::md1::md1_wait_exceeded_s;

/// Quantiles from which the mean of a longest output is taken.
const POINTS: u32 = 16;

/// Most batches that settle the size of the next.
const MOST_ROUNDS: u32 = 100;

/// A server of whole batches with the mean lengths of its requests. A batch of `n` takes one step
/// for all prompts and then as many as its longest output asks for.
#[derive(Clone, Debug)]
pub struct WholeBatches {
    model: StepModel,
    most: f64,
    max_delay_s: f64,
    input_tokens: f64,
    /// Kinds of outputs, each with its share of the requests.
    outputs: Vec<(f64, LengthSpec)>,
}

/// What the closed form says of one rate. Times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchPoint {
    /// Requests in a batch.
    pub batch: f64,
    /// Duration of the step for its prompts.
    pub prefill_s: f64,
    /// From the first tokens to the end of the batch, when all its results are returned.
    pub decode_s: f64,
    /// Share of the time at work, 0 to 1.
    pub busy_share: f64,
}

impl WholeBatches {
    /// Batches of up to `max_batch` requests, the oldest of which is held back for company for
    /// `max_delay_s` at most. `outputs` are kinds of output lengths with their shares, 1 in all.
    #[must_use]
    pub fn new(
        step_time: &StepTimeSpec,
        (max_batch, max_delay_s): (u64, f64),
        input_tokens: f64,
        outputs: Vec<(f64, LengthSpec)>,
    ) -> Self {
        let most = greater(1.0, max_batch as f64);
        Self { model: StepModel::new(step_time), most, max_delay_s, input_tokens, outputs }
    }

    fn step_s(&self, tokens: f64, sequences: f64, context_tokens: f64) -> f64 {
        let lines = self.model.lines_of_fluid(tokens, sequences);
        greater(lines.flat_s, lines.base_s + lines.slope_s * context_tokens) + lines.overhead_s
    }

    /// The longest of so many outputs, on average.
    fn longest_tokens(&self, batch: f64) -> f64 {
        let mut longest = self.outputs.iter().map(|(share, of)| share * of.mean_tokens()).sum();
        for (share, output) in &self.outputs {
            let members = share * batch;
            let of_kind = longest_of(output, greater(1.0, members));
            // A kind that only some batches have a member of lengthens only those.
            let shown = lesser(1.0, members);
            longest = greater(longest, longest + shown * (of_kind - longest));
        }
        longest
    }

    /// Time of the step for the prompts of a batch, in seconds.
    fn prefill_s(&self, batch: f64) -> f64 {
        self.step_s(batch * self.input_tokens, batch, 0.0)
    }

    /// Time to decode a batch to the end of its longest output, in seconds.
    fn decode_s(&self, batch: f64) -> f64 {
        let longest = self.longest_tokens(batch);
        let context = batch * (self.input_tokens + 0.5 * longest);
        greater(0.0, longest - 1.0) * self.step_s(batch, batch, context)
    }

    fn batch_s(&self, batch: f64) -> f64 {
        self.prefill_s(batch) + self.decode_s(batch)
    }

    /// The highest rate per second at which requests can be finished: full batches without a pause,
    /// `b / S(b)` as in [`BatchCurve`](super::BatchCurve).
    #[must_use]
    pub fn ceiling_per_s(&self) -> f64 {
        self.most / self.batch_s(self.most)
    }

    /// The steady state at a rate; `None` if there is none. Who arrives during a batch makes up the
    /// next: `n = λ S(n)`, but one at least, and with who comes while the oldest is held back.
    #[must_use]
    pub fn at(&self, rate_per_s: f64) -> Option<BatchPoint> {
        if rate_per_s >= self.ceiling_per_s() {
            return None;
        }
        let company = 1.0 + rate_per_s * self.max_delay_s;
        let mut batch = lesser(company, self.most);
        for _ in 0..MOST_ROUNDS {
            let next = greater(company, rate_per_s * self.batch_s(batch));
            let next = lesser(next, self.most);
            let is_settled = (next - batch).abs() <= 1e-9 * next;
            batch = next;
            if is_settled {
                break;
            }
        }
        let (prefill_s, decode_s) = (self.prefill_s(batch), self.decode_s(batch));
        let busy_share = lesser(1.0, rate_per_s * (prefill_s + decode_s) / batch);
        Some(BatchPoint { batch, prefill_s, decode_s, busy_share })
    }

    /// The wait in seconds, before the step for its prompt, that a share `tail` of the requests
    /// exceed; infinite where there is no steady state.
    ///
    /// Poisson arrivals find a batch under way with the share of time at work, and then wait for
    /// what is left of it, which is uniform. Beyond that, one at a time is M/D/1; full batches are
    /// an M/D/1 queue of batches whose arrivals, being sums of `b` gaps, vary `b` times less, so
    /// that its wait is divided by `b` as in Kingman's approximation. The oldest is held back for
    /// company, but no longer than a batch takes to fill.
    #[must_use]
    pub fn wait_exceeded_s(&self, rate_per_s: f64, tail: f64) -> f64 {
        let Some(point) = self.at(rate_per_s) else { return f64::INFINITY };
        let left = greater(0.0, 1.0 - tail / point.busy_share);
        let residual_s = left * (point.prefill_s + point.decode_s);
        let queue_s =
            md1_wait_exceeded_s(rate_per_s / self.most, self.batch_s(self.most), tail) / self.most;
        let served_s =
            if self.most > 1.0 { residual_s + queue_s } else { greater(residual_s, queue_s) };
        let filling_s = (self.most - 1.0) / rate_per_s;
        greater(served_s, lesser(self.max_delay_s, filling_s))
    }

    /// The share of requests of a kind, 0 to 1, whose mean time per output token is within
    /// `tpot_s`: results are returned when the whole batch is done, so that short outputs wait for
    /// long ones. An output of one token has no such time.
    #[must_use]
    pub fn within_tpot(&self, point: &BatchPoint, output: &LengthSpec, tpot_s: f64) -> f64 {
        // A kind served alone ends with its own output.
        let alone_s = self.step_s(1.0, 1.0, self.input_tokens + 0.5 * output.mean_tokens());
        let mut within = 0.0;
        for share in midpoints(8 * POINTS) {
            let gaps = greater(0.0, output.at(share) - 1.0);
            let decode_s = if point.batch > 1.0 { point.decode_s } else { gaps * alone_s };
            within += f64::from(decode_s <= tpot_s * gaps || gaps < 0.5);
        }
        within / f64::from(8 * POINTS)
    }
}

/// The middles of so many equal parts of 0 to 1.
fn midpoints(parts: u32) -> impl Iterator<Item = f64> {
    (0..parts).map(move |index| (f64::from(index) + 0.5) / f64::from(parts))
}

/// The mean of the longest of `number` lengths: the quantile at `u^(1/number)`, averaged over `u`.
fn longest_of(length: &LengthSpec, number: f64) -> f64 {
    let at = |u: f64| length.at(libm::exp(libm::log(u) / number));
    midpoints(POINTS).map(at).sum::<f64>() / f64::from(POINTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::BatchCurve;

    const fn fixed(tokens: u64) -> LengthSpec {
        LengthSpec::Fixed { tokens }
    }

    fn affine(max_batch: u64, max_delay_s: f64, output: LengthSpec) -> WholeBatches {
        let step = StepTimeSpec::Affine { fixed_s: 0.040, per_item_s: 0.005 };
        WholeBatches::new(&step, (max_batch, max_delay_s), 0.0, vec![(1.0, output)])
    }

    #[test]
    fn one_pass_batches_have_the_textbook_capacity() {
        let curve = BatchCurve::new(0.040, 0.005).unwrap();
        for batch in [1, 8, 32] {
            let ceiling = affine(batch, 0.0, fixed(1)).ceiling_per_s();
            assert!((ceiling / curve.capacity_per_s(batch).unwrap() - 1.0).abs() < 1e-12);
            let long = affine(batch, 0.0, fixed(64)).ceiling_per_s();
            assert!((64.0 * long / ceiling - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_batch_is_who_came_during_the_last() {
        let batches = affine(32, 0.0, fixed(1));
        // n = λ (0.04 + 0.005 n) at 100 per second: 8.
        let point = batches.at(100.0).unwrap();
        assert!((point.batch - 8.0).abs() < 1e-6, "{point:?}");
        assert_eq!(point.busy_share, 1.0);
        let idle = batches.at(0.1).unwrap();
        assert_eq!(idle.batch, 1.0);
        assert!((idle.busy_share - 0.0045).abs() < 1e-12);
        assert!(batches.at(batches.ceiling_per_s()).is_none());
        assert_eq!(batches.wait_exceeded_s(1e9, 0.01), f64::INFINITY);
    }

    #[test]
    fn the_longest_of_several_is_longer() {
        let uniform = LengthSpec::Uniform { min_tokens: 0, max_tokens: 1_000 };
        // The mean of the longest of n is n / (n + 1) of the range.
        for (number, expected) in [(1.0, 500.0), (3.0, 750.0), (9.0, 900.0)] {
            let longest = longest_of(&uniform, number);
            assert!((longest - expected).abs() < 12.0, "{number}: {longest}");
        }
        assert!((longest_of(&fixed(7), 100.0) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn a_rare_long_kind_lengthens_some_batches() {
        let step = StepTimeSpec::Affine { fixed_s: 0.01, per_item_s: 0.0 };
        let outputs = vec![(0.9, fixed(11)), (0.1, fixed(1_001))];
        let batches = WholeBatches::new(&step, (64, 0.0), 0.0, outputs);
        let (few, many) = (batches.longest_tokens(2.0), batches.longest_tokens(64.0));
        assert!(few > 100.0 && few < 600.0, "{few}");
        assert_eq!(many, 1_001.0);
        let full = batches.at(0.99 * batches.ceiling_per_s()).unwrap();
        assert_eq!(batches.within_tpot(&full, &fixed(11), 0.1), 0.0);
        assert_eq!(batches.within_tpot(&full, &fixed(1_001), 0.1), 1.0);
        assert_eq!(batches.within_tpot(&full, &fixed(1), 1e-9), 1.0);
    }

    #[test]
    fn company_is_waited_for_but_not_beyond_a_full_batch() {
        let patient = affine(8, 2.0, fixed(1));
        assert_eq!(patient.wait_exceeded_s(0.5, 0.01), 2.0);
        // At 70 per second 7 more come within 100 ms.
        assert!((0.1..0.3).contains(&patient.wait_exceeded_s(70.0, 0.01)));
    }
}
