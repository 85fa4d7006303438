//! GPUs for a rate: the division with headroom.

use crate::answer::{Estimate, FleetSize};

/// `ceil(rate / capacity)`, at least 1; `None` if the capacity is nothing or the number absurd.
///
/// The quotient is eased by one part in 10¹² first, so that a rounding error in the product with
/// the headroom cannot buy a GPU.
#[must_use]
pub(crate) fn gpus_for(rate_per_s: f64, capacity_per_s: f64) -> Option<u64> {
    let quotient = rate_per_s / capacity_per_s;
    if !(quotient.is_finite() && quotient < 1e12) {
        return None;
    }
    Some(((quotient * (1.0 - 1e-12)).ceil() as u64).max(1))
}

impl FleetSize {
    /// Divide, rounding once. `None` if the capacity is nothing.
    #[must_use]
    pub fn divide(rate_per_s: f64, headroom: f64, capacity_per_s: &Estimate) -> Option<Self> {
        let wanted_per_s = rate_per_s * (1.0 + headroom);
        let with_headroom = gpus_for(wanted_per_s, capacity_per_s.value)?;
        Some(Self {
            without_headroom: gpus_for(rate_per_s, capacity_per_s.value)?,
            with_headroom,
            with_headroom_low: gpus_for(wanted_per_s, capacity_per_s.high)?,
            // A capacity that may be nothing has no upper end that means anything.
            with_headroom_high: gpus_for(wanted_per_s, capacity_per_s.low).unwrap_or(u64::MAX),
            carried_per_s: capacity_per_s.value * with_headroom as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_division() {
        let capacity = Estimate { value: 22.6, low: 22.0, high: 23.2 };
        let size = FleetSize::divide(100.0, 0.25, &capacity).unwrap();
        assert_eq!((size.without_headroom, size.with_headroom), (5, 6));
        assert_eq!((size.with_headroom_low, size.with_headroom_high), (6, 6));
        assert!((size.carried_per_s - 135.6).abs() < 1e-9);
    }

    #[test]
    fn rounding_errors_buy_no_gpu() {
        // 3 · 1.1 is 3.3000000000000003; three GPUs of 1.1 carry it.
        assert_eq!(gpus_for(3.0 * 1.1, 1.1), Some(3));
        assert_eq!(gpus_for(0.001, 20.0), Some(1));
        assert_eq!(gpus_for(1.0, 0.0), None);
        assert_eq!(gpus_for(f64::NAN, 1.0), None);
    }
}
