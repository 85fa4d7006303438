//! Ends and ticks of axes: round numbers, few of them.

use crate::scale::{Scale, Spread};

/// At most this many labelled ticks on an axis.
const MOST_TICKS: usize = 6;
/// From this height on a logarithmic axis has ticks at 2 and 5 as well.
const MINOR_TICKS_FROM_PX: f64 = 160.0;

/// The largest 1, 2 or 5 times a power of ten that is not above `value`, which is above zero.
pub(crate) fn round_down(value: f64) -> f64 {
    let decade = decade_of(value);
    let mut best = decade;
    for step in [2.0, 5.0, 10.0] {
        if step * decade <= value * (1.0 + 1e-12) {
            best = step * decade;
        }
    }
    best
}

/// The smallest 1, 2 or 5 times a power of ten that is not below `value`, which is above zero.
pub(crate) fn round_up(value: f64) -> f64 {
    let decade = decade_of(value);
    let steps = [1.0, 2.0, 5.0];
    let fits = steps.into_iter().find(|step| step * decade >= value * (1.0 - 1e-12));
    fits.unwrap_or(10.0) * decade
}

/// Ticks of a linear axis that starts at zero, at least `spacing_px` apart, zero among them.
pub(crate) fn linear_ticks(high: f64, length_px: f64, spacing_px: f64) -> Vec<f64> {
    if !(high > 0.0 && high.is_finite() && length_px > 0.0) {
        return vec![0.0];
    }
    let widest = (length_px / spacing_px).floor();
    let most = if widest < MOST_TICKS as f64 { widest } else { MOST_TICKS as f64 };
    if most < 1.0 {
        return vec![0.0];
    }
    let step = round_up(high / most);
    let count = (high / step + 1e-9).floor() as u32;
    (0..=count).map(|i| f64::from(i) * step).collect()
}

/// Ticks of a logarithmic axis: decades, and 2 and 5 times them where there is room or need.
pub(crate) fn log_ticks(scale: &Scale, length_px: f64) -> Vec<f64> {
    debug_assert_eq!(scale.spread(), Spread::Log);
    let within =
        |value: f64| value >= scale.low() * (1.0 - 1e-12) && value <= scale.high() * (1.0 + 1e-12);
    let first = libm::floor(libm::log10(scale.low())) as i32;
    let last = libm::ceil(libm::log10(scale.high())) as i32;
    let decades: Vec<i32> = (first..=last).filter(|e| within(power_of_ten(*e))).collect();
    if decades.len() > MOST_TICKS {
        let stride = decades.len().div_ceil(MOST_TICKS);
        return decades.into_iter().step_by(stride).map(power_of_ten).collect();
    }
    let fine: Vec<f64> = (first..=last)
        .flat_map(|e| [1.0, 2.0, 5.0].map(|step| step * power_of_ten(e)))
        .filter(|value| within(*value))
        .collect();
    let fine_fits = length_px >= MINOR_TICKS_FROM_PX && fine.len() <= MOST_TICKS;
    if decades.len() < 2 || fine_fits {
        fine
    } else {
        decades.into_iter().map(power_of_ten).collect()
    }
}

fn decade_of(value: f64) -> f64 {
    let decade = power_of_ten(libm::floor(libm::log10(value)) as i32);
    // The logarithm may round across a power of ten.
    if decade > value {
        decade / 10.0
    } else if decade * 10.0 <= value {
        decade * 10.0
    } else {
        decade
    }
}

/// Decimal literals read back exactly, unlike a computed power.
fn power_of_ten(exponent: i32) -> f64 {
    quantity::nearest_double(&format!("1e{exponent}")).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_one_two_five() {
        for (value, down, up) in [
            (0.017, 0.01, 0.02),
            (3.4, 2.0, 5.0),
            (4.0, 2.0, 5.0),
            (5.0, 5.0, 5.0),
            (0.001, 0.001, 0.001),
            (1000.0, 1000.0, 1000.0),
            (7.0, 5.0, 10.0),
        ] {
            assert_eq!(round_down(value), down, "{value}");
            assert_eq!(round_up(value), up, "{value}");
        }
    }

    #[test]
    fn linear_ticks_are_few_and_round() {
        assert_eq!(linear_ticks(27.83, 642.0, 92.0), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);
        assert_eq!(linear_ticks(27.83, 296.0, 64.0), [0.0, 10.0, 20.0]);
        assert_eq!(linear_ticks(0.05, 70.5, 18.0), [0.0, 0.02, 0.04]);
        assert_eq!(linear_ticks(f64::NAN, 70.0, 18.0), [0.0]);
        assert_eq!(linear_ticks(1.0, 70.0, 100.0), [0.0]);
    }

    #[test]
    fn log_ticks_are_decades_until_there_is_need_or_room_for_more() {
        let scale = |low, high| Scale::new(Spread::Log, (low, high), (100.0, 0.0));
        assert_eq!(log_ticks(&scale(0.02, 5.0), 116.0), [0.1, 1.0]);
        assert_eq!(log_ticks(&scale(0.2, 0.5), 116.0), [0.2, 0.5]);
        assert_eq!(log_ticks(&scale(0.05, 0.5), 116.0), [0.05, 0.1, 0.2, 0.5]);
        assert_eq!(log_ticks(&scale(0.1, 2.0), 200.0), [0.1, 0.2, 0.5, 1.0, 2.0]);
        let wide = log_ticks(&scale(1e-9, 1e12), 116.0);
        assert!(wide.len() <= MOST_TICKS && wide.len() >= 3, "{wide:?}");
    }
}
