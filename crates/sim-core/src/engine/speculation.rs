//! Speculative decoding: a draft model proposes tokens, and the model verifies them in one step.

use serde::{Deserialize, Serialize};

use crate::{
    float::{from_count, greater, lesser},
    random::{Purpose, Stream},
    setup::SetupError,
};

/// Speculative decoding by the model of Leviathan, Kalman and Matias, “Fast Inference from
/// Transformers via Speculative Decoding” (2023).
///
/// In each step a draft model proposes `tokens` for every decoding sequence, one after the other,
/// and the model computes all of them and one more at once. Each is kept with probability
/// `acceptance` if all before it were; the model itself gives the token after the last that is kept.
/// The step thus yields 1 to `tokens + 1` tokens, `(1 − α^(k+1)) / (1 − α)` on average, and computes
/// `tokens + 1` of them whatever comes of it, while it reads weights and KV cache once.
///
/// That acceptances are independent of one another is the assumption of the paper, too. Nothing is
/// counted of the draft model's memory, nor of its pass over the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speculation {
    /// Tokens drafted for each sequence in a step, `k`; 0 for plain decoding.
    pub tokens: u64,
    /// Probability that a drafted token is kept, `α`, 0 to 1.
    pub acceptance: f64,
    /// Time of one run of the draft model, as a share of a step in which the model decodes one token
    /// for each of the same sequences: the paper's `c`.
    pub draft_cost: f64,
}

/// Most tokens that may be drafted in a step.
const MOST_TOKENS: u64 = 64;

impl Speculation {
    /// Plain decoding: a token a step.
    pub const NONE: Self = Self { tokens: 0, acceptance: 0.0, draft_cost: 0.0 };

    /// Tokens that the model computes for a decoding sequence in a step.
    pub(crate) const fn width(&self) -> u64 {
        self.tokens + 1
    }

    /// Tokens that a step yields for a decoding sequence on average, the end of its output aside:
    /// `(1 − α^(k+1)) / (1 − α)`.
    #[must_use]
    pub fn tokens_per_step(&self) -> f64 {
        self.sum(|_| 1.0)
    }

    /// About how many steps so many tokens of one sequence take on average; exactly so many without
    /// drafts.
    ///
    /// The last step yields more than is wanted: of an output that is long beside `k` by
    /// `E[X(X − 1)] / 2 E[X]` on average, where `X` are the tokens of a step (renewal theory). Where
    /// next to every draft is kept, outputs of one length waste the same, and this is half a step off
    /// at most.
    #[must_use]
    pub fn steps(&self, tokens: f64) -> f64 {
        let mean = self.tokens_per_step();
        // E[X²] is the sum of 2j + 1 times the probability of more than j.
        let square = self.sum(|before| 2.0 * before + 1.0);
        let beyond = 0.5 * (square - mean) / mean;
        let about = if tokens > 0.0 { (tokens + beyond) / mean } else { 0.0 };
        lesser(tokens, greater(about, lesser(tokens, 1.0)))
    }

    /// Sum of a weight of `j` times the probability that more than `j` tokens come of a step.
    fn sum(&self, weight: impl Fn(f64) -> f64) -> f64 {
        let (mut sum, mut probability) = (0.0, 1.0);
        for before in 0..=self.tokens {
            sum += probability * weight(from_count(before));
            probability *= self.acceptance;
        }
        sum
    }

    pub(crate) fn check(&self) -> Result<(), SetupError> {
        let fields = [
            ("spec.tokens", from_count(self.tokens), from_count(MOST_TOKENS), "at most 64"),
            ("spec.acceptance", self.acceptance, 1.0, "between 0 and 1"),
            ("spec.draft_cost", self.draft_cost, f64::MAX, "finite and 0 or more"),
        ];
        for (field, value, most, requirement) in fields {
            if !(0.0..=most).contains(&value) {
                return Err(SetupError::OutOfDomain { field, value, requirement });
            }
        }
        Ok(())
    }
}

/// What becomes of the drafts of one request, step by step of its decoding. It depends on the
/// request alone, whatever runs beside it.
#[derive(Clone, Debug)]
pub(super) struct Acceptances(Stream);

impl Acceptances {
    /// Those of the request that is the `key`-th of its whole stream.
    pub(super) fn new(seed: u64, key: u64) -> Self {
        Self(Stream::of_request(seed, Purpose::Acceptance, key))
    }

    /// Tokens that the next step yields, by inversion of one uniform number.
    #[inline]
    pub(super) fn next(&mut self, speculation: &Speculation) -> u64 {
        let uniform = self.0.uniform();
        let (mut tokens, mut probability) = (1, speculation.acceptance);
        while tokens <= speculation.tokens && uniform <= probability {
            tokens += 1;
            probability *= speculation.acceptance;
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECULATIONS: [Speculation; 5] = [
        Speculation { tokens: 1, acceptance: 0.3, draft_cost: 0.0 },
        Speculation { tokens: 4, acceptance: 0.7, draft_cost: 0.0 },
        Speculation { tokens: 7, acceptance: 0.9, draft_cost: 0.0 },
        Speculation { tokens: 3, acceptance: 1.0, draft_cost: 0.0 },
        Speculation { tokens: 5, acceptance: 0.0, draft_cost: 0.0 },
    ];

    #[test]
    fn the_mean_is_the_papers_formula() {
        for speculation in SPECULATIONS {
            let (k, alpha) = (speculation.tokens, speculation.acceptance);
            let formula = if alpha == 1.0 {
                from_count(k + 1)
            } else {
                (1.0 - libm::pow(alpha, from_count(k + 1))) / (1.0 - alpha)
            };
            assert!((speculation.tokens_per_step() - formula).abs() < 1e-12);
        }
        // The paper's own example, section 3.1: α = 0.8 and γ = 5 give 3.69 tokens an iteration.
        let five = Speculation { tokens: 5, acceptance: 0.8, draft_cost: 0.0 };
        assert!((five.tokens_per_step() - 3.69).abs() < 0.005);
        assert_eq!(Speculation::NONE.tokens_per_step(), 1.0);
    }

    /// Every number of tokens within four standard errors of its probability: false alarms are one
    /// in sixteen thousand, and the seed is fixed.
    #[test]
    fn steps_yield_as_many_tokens_as_they_should() {
        const STEPS: u64 = 200_000;
        for speculation in SPECULATIONS {
            let mut counts = vec![0_u64; speculation.tokens as usize + 2];
            for key in 0..STEPS / 50 {
                let mut acceptances = Acceptances::new(3, key);
                for _ in 0..50 {
                    counts[acceptances.next(&speculation) as usize] += 1;
                }
            }
            let total: u64 = counts.iter().enumerate().map(|(tokens, n)| tokens as u64 * n).sum();
            let mean = total as f64 / STEPS as f64;
            // Nothing varies more than a fair coin between 1 and all.
            let error = 0.5 * from_count(speculation.tokens) / (STEPS as f64).sqrt();
            assert!((mean - speculation.tokens_per_step()).abs() < 4.0 * error + 1e-12);
            for (tokens, count) in counts.iter().enumerate().skip(1) {
                let beyond = libm::pow(speculation.acceptance, tokens as f64);
                let here = libm::pow(speculation.acceptance, (tokens - 1) as f64);
                let is_last = tokens as u64 == speculation.tokens + 1;
                let expected = if is_last { here } else { here - beyond };
                let error = (expected * (1.0 - expected) / STEPS as f64).sqrt();
                let share = *count as f64 / STEPS as f64;
                assert!(
                    (share - expected).abs() <= 4.0 * error + 1e-12,
                    "{speculation:?} {tokens}"
                );
            }
            assert_eq!(counts[0], 0);
        }
    }

    #[test]
    fn outputs_take_as_many_steps_as_foretold() {
        for speculation in SPECULATIONS {
            for (wanted, tolerance) in [(200_u64, 0.003), (30, 0.01), (1, 1e-9)] {
                let mut steps = 0_u64;
                for key in 0..4_000 {
                    let mut acceptances = Acceptances::new(9, key);
                    let mut tokens = 0;
                    while tokens < wanted {
                        tokens += acceptances.next(&speculation);
                        steps += 1;
                    }
                }
                let mean = steps as f64 / 4_000.0;
                let foretold = speculation.steps(from_count(wanted));
                assert!((mean - foretold).abs() <= 0.5, "{mean} {foretold}");
                let error = (mean - foretold).abs() / mean;
                assert!(error <= tolerance || speculation.acceptance == 1.0, "{mean} {foretold}");
            }
        }
        for tokens in [0.0, 0.4, 1.0, 255.0] {
            assert_eq!(Speculation::NONE.steps(tokens), tokens);
        }
    }

    #[test]
    fn constants_outside_their_domain_are_named() {
        let fine = Speculation { tokens: 4, acceptance: 0.7, draft_cost: 0.05 };
        assert_eq!(fine.check(), Ok(()));
        for (bad, field) in [
            (Speculation { tokens: 65, ..fine }, "spec.tokens"),
            (Speculation { acceptance: 1.1, ..fine }, "spec.acceptance"),
            (Speculation { draft_cost: f64::NAN, ..fine }, "spec.draft_cost"),
        ] {
            assert!(bad.check().unwrap_err().to_string().contains(field));
        }
    }
}
