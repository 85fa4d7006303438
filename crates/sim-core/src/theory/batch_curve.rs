//! A server that works in batches of `b` requests, each batch `a + c b` seconds long.

use super::error::{TheoryError, count, not_negative, positive};

/// The capacity of batches: `b / (a + c b)` requests per second.
///
/// Rises with the batch from `1 / (a + c)` towards `1 / c`: the fixed cost `a` is shared, the cost
/// per request is not. (Neuts, "A general class of bulk queues with Poisson input" (1967), for the
/// queue behind it, which is stable below that capacity.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchCurve {
    fixed_s: f64,
    per_item_s: f64,
}

impl BatchCurve {
    /// Batches with a fixed cost and a cost per request, in seconds.
    ///
    /// # Errors
    /// A cost outside its domain, or both zero.
    pub fn new(fixed_s: f64, per_item_s: f64) -> Result<Self, TheoryError> {
        let fixed_s = not_negative("fixed_s", fixed_s)?;
        let per_item_s = not_negative("per_item_s", per_item_s)?;
        positive("time of a batch of one in seconds", fixed_s + per_item_s)?;
        Ok(Self { fixed_s, per_item_s })
    }

    /// Time a batch takes, in seconds.
    ///
    /// # Errors
    /// A batch size outside its domain.
    pub fn batch_s(&self, batch: u64) -> Result<f64, TheoryError> {
        Ok(self.fixed_s + self.per_item_s * count("batch size", batch)? as f64)
    }

    /// Requests per second when every batch has `batch` members: the rate below which a server that
    /// takes up to `batch` at once is stable.
    ///
    /// # Errors
    /// A batch size outside its domain.
    pub fn capacity_per_s(&self, batch: u64) -> Result<f64, TheoryError> {
        Ok(batch as f64 / self.batch_s(batch)?)
    }

    /// What capacity approaches as batches grow, `1 / c`; `None` when requests cost nothing beyond
    /// the fixed part, so that no batch is too large.
    #[must_use]
    pub fn ceiling_per_s(&self) -> Option<f64> {
        (self.per_item_s > 0.0).then(|| 1.0 / self.per_item_s)
    }

    /// Load of a server that takes up to `batch` at once: rate over capacity, stable below 1.
    ///
    /// # Errors
    /// A number outside its domain.
    pub fn load(&self, rate_per_s: f64, batch: u64) -> Result<f64, TheoryError> {
        Ok(positive("rate_per_s", rate_per_s)? / self.capacity_per_s(batch)?)
    }

    /// The smallest batch whose capacity is above a rate: the least `b > a λ / (1 − c λ)`.
    ///
    /// # Errors
    /// A rate at or above the ceiling, which no batch size serves; or a batch beyond 1,000,000.
    pub fn smallest_batch(&self, rate_per_s: f64) -> Result<u64, TheoryError> {
        let rate_per_s = positive("rate_per_s", rate_per_s)?;
        let slack = 1.0 - self.per_item_s * rate_per_s;
        if slack <= 1e-9 {
            return Err(TheoryError::Unstable { load: self.per_item_s * rate_per_s });
        }
        let least = (self.fixed_s * rate_per_s / slack) as u64;
        // A float beyond the range of u64 has saturated; it is refused before anything is added.
        let mut batch = count("smallest stable batch", least.saturating_add(1))?;
        // The division may round across a whole number either way; the capacity itself decides.
        if batch > 1 && self.load(rate_per_s, batch - 1)? < 1.0 {
            batch -= 1;
        } else if self.load(rate_per_s, batch)? >= 1.0 {
            batch += 1;
        }
        count("smallest stable batch", batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 40 ms a batch and 5 ms a request: 22, 100 and 160 per second for 1, 8 and 32; at most 200.
    #[test]
    fn the_capacity_of_a_textbook_batch() {
        let curve = BatchCurve::new(0.040, 0.005).unwrap();
        for (batch, expected) in [(1, 22.222), (8, 100.0), (32, 160.0)] {
            assert!((curve.capacity_per_s(batch).unwrap() - expected).abs() < 1e-3);
        }
        assert_eq!(curve.ceiling_per_s(), Some(200.0));
        assert_eq!(curve.smallest_batch(99.0), Ok(8));
        assert_eq!(curve.smallest_batch(100.0), Ok(9));
        assert!((curve.load(80.0, 8).unwrap() - 0.8).abs() < 1e-12);
        let absurd = BatchCurve::new(1e9, 1e-15).unwrap();
        assert!(absurd.smallest_batch(9.3e14).is_err());
        let refusal = curve.smallest_batch(200.0).unwrap_err();
        assert!(matches!(refusal, TheoryError::Unstable { .. }), "{refusal}");
    }

    #[test]
    fn free_requests_have_no_ceiling_and_free_batches_are_refused() {
        assert_eq!(BatchCurve::new(0.04, 0.0).unwrap().ceiling_per_s(), None);
        assert!(BatchCurve::new(0.0, 0.0).is_err());
        assert!(BatchCurve::new(f64::NAN, 1.0).is_err());
    }

    proptest! {
        #[test]
        fn the_smallest_batch_is_smallest(
            fixed in 0.0_f64..0.5, per_item in 1e-4_f64..0.1, share in 0.01_f64..0.99,
        ) {
            let curve = BatchCurve::new(fixed, per_item).unwrap();
            let rate = share / per_item;
            let batch = curve.smallest_batch(rate).unwrap();
            prop_assert!(curve.load(rate, batch).unwrap() < 1.0);
            prop_assert!(batch == 1 || curve.load(rate, batch - 1).unwrap() >= 1.0);
        }
    }
}
