//! Many steps at once: while the batch does not change, step times are an arithmetic progression.

use crate::{float::from_count, step_time::ContextLines};

use super::has_arrived;

/// Steps of one fixed batch whose context grows by a constant a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jump {
    /// Duration of the first step in seconds.
    pub(super) first_s: f64,
    /// How much longer each step is than the one before, in seconds.
    pub(super) slope_s: f64,
    /// How many steps.
    pub(super) steps: u64,
    /// Whether arithmetic sets the pace.
    pub(super) compute_bound: bool,
}

impl Jump {
    /// The longest jump of at most `most` steps on one branch of the step time, starting at
    /// `context` tokens that grow by `growth` a step.
    #[inline]
    pub(super) fn along(lines: &ContextLines, context: u64, growth: u64, most: u64) -> Self {
        let line_s = lines.base_s + lines.slope_s * from_count(context);
        let rise_s = lines.slope_s * from_count(growth);
        if lines.flat_s <= line_s {
            return Self {
                first_s: line_s + lines.overhead_s,
                slope_s: rise_s,
                steps: most,
                compute_bound: false,
            };
        }
        let steps = if most > 1 && rise_s > 0.0 {
            // The line takes over in the first step in which it is no longer below the flat part.
            most.min(whole_steps((lines.flat_s - line_s) / rise_s))
        } else {
            most
        };
        Self { first_s: lines.flat_s + lines.overhead_s, slope_s: 0.0, steps, compute_bound: true }
    }

    /// Time that the first `steps` steps take, in seconds.
    #[inline]
    pub(super) fn total_s(&self, steps: u64) -> f64 {
        let k = from_count(steps);
        k * self.first_s + self.slope_s * (0.5 * k * (k - 1.0))
    }

    /// Shorten the jump so that it ends with the first step after which `arrival_s` has arrived.
    #[inline]
    pub(super) fn stop_at_arrival(&mut self, now_s: f64, arrival_s: f64) {
        let meets = |steps| has_arrived(arrival_s, now_s + self.total_s(steps));
        if self.steps == 1 || !meets(self.steps - 1) {
            return;
        }
        // Root of k · first + slope · k (k - 1) / 2 = wait, in the form that loses no digits.
        let wait_s = arrival_s - now_s;
        let half_step_s = self.first_s - 0.5 * self.slope_s;
        let root = (half_step_s * half_step_s + 2.0 * self.slope_s * wait_s).sqrt();
        let guess = whole_steps(2.0 * wait_s / (half_step_s + root)).min(self.steps);
        // Rounding may be off by one; the steps' own sum decides.
        let is_first = guess == 1 || !meets(guess - 1);
        let is_met = guess == self.steps || meets(guess);
        // A copy, so that the jump itself can stay in registers.
        let whole = *self;
        self.steps = if is_first && is_met { guess } else { whole.search(guess, now_s, arrival_s) };
    }

    /// The first number of steps after which `arrival_s` has arrived, sought from a guess.
    #[cold]
    #[inline(never)]
    fn search(self, guess: u64, now_s: f64, arrival_s: f64) -> u64 {
        let meets = |steps| has_arrived(arrival_s, now_s + self.total_s(steps));
        let mut steps = guess;
        while steps > 1 && meets(steps - 1) {
            steps -= 1;
        }
        while steps < self.steps && !meets(steps) {
            steps += 1;
        }
        steps
    }
}

/// The least whole number of steps, 1 or more, that is not below `steps`; 1 where that is no
/// number. A float beyond the range of 63 bits saturates.
#[inline]
fn whole_steps(steps: f64) -> u64 {
    let below = steps as i64;
    below.saturating_add(i64::from((below as f64) < steps)).max(1).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_branch_ends_where_the_line_takes_over(
            flat_s in 0.0_f64..0.1,
            base_s in 0.001_f64..0.1,
            slope_s in 0.0_f64..1e-5,
            context in 0_u64..100_000,
            growth in 1_u64..300,
            most in 1_u64..5_000,
        ) {
            let lines = ContextLines { flat_s, base_s, slope_s, overhead_s: 0.0005 };
            let jump = Jump::along(&lines, context, growth, most);
            prop_assert!((1..=most).contains(&jump.steps));
            for index in [0, jump.steps / 2, jump.steps - 1] {
                let line_s = base_s + slope_s * (context + index * growth) as f64;
                let expected_s = if line_s > flat_s { line_s } else { flat_s } + 0.0005;
                let step_s = jump.first_s + jump.slope_s * index as f64;
                prop_assert!((step_s - expected_s).abs() <= 1e-12, "{step_s} {expected_s}");
            }
        }

        #[test]
        fn the_arrival_is_met_by_the_first_step_that_reaches_it(
            first_s in 1e-4_f64..0.1,
            slope_s in 0.0_f64..1e-3,
            most in 1_u64..2_000,
            now_s in 0.0_f64..1e5,
            wait_s in 0.0_f64..20.0,
        ) {
            let arrival_s = now_s + wait_s;
            let mut jump = Jump { first_s, slope_s, steps: most, compute_bound: false };
            let whole = jump;
            jump.stop_at_arrival(now_s, arrival_s);
            let expected = (1..=most)
                .find(|&k| has_arrived(arrival_s, now_s + whole.total_s(k)))
                .unwrap_or(most);
            prop_assert_eq!(jump.steps, expected);
        }
    }
}
