//! Where a thumb stands for a value, to which values it snaps, and what the arrow keys do.

use super::Field;

/// The slider of a setting. All numbers are in the unit of its field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slider {
    /// Value at the left end.
    pub min: f64,
    /// Value at the right end.
    pub max: f64,
    /// How positions map to values.
    pub scale: Scale,
    /// Round values to which dragging snaps.
    pub snap: Snap,
    /// What the keys do.
    pub steps: StepSizes,
}

/// How positions map to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios: `min · (max / min)^position`.
    Log,
}

/// Round values to which dragging snaps. The ends of the slider always count as round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Snap {
    /// These, times every power of ten.
    Decades(&'static [f64]),
    /// These, times every power of two.
    Octaves(&'static [f64]),
    /// Whole multiples of this.
    Multiples(f64),
}

/// What the keys do: arrow, Shift with arrow, and page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSizes {
    /// Factors.
    Multiply([f64; 3]),
    /// Summands.
    Add([f64; 3]),
}

/// Size of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An arrow key.
    Small,
    /// An arrow key with Shift.
    Large,
    /// Page up or page down.
    Page,
}

/// Direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To larger values.
    Up,
    /// To smaller values.
    Down,
}

impl Slider {
    /// Position of a value, 0 at the left end and 1 at the right. Values beyond stand at the ends.
    #[must_use]
    pub fn position(&self, value: f64) -> f64 {
        if value.is_nan() || value <= self.min {
            return 0.0;
        }
        if value >= self.max {
            return 1.0;
        }
        match self.scale {
            Scale::Linear => (value - self.min) / (self.max - self.min),
            Scale::Log => libm::log(value / self.min) / libm::log(self.max / self.min),
        }
    }

    /// Value at a position from 0 to 1. Positions beyond give the ends, exactly.
    #[must_use]
    pub fn value_at(&self, position: f64) -> f64 {
        if position.is_nan() || position <= 0.0 {
            return self.min;
        }
        if position >= 1.0 {
            return self.max;
        }
        match self.scale {
            Scale::Linear => self.min + (self.max - self.min) * position,
            Scale::Log => self.min * libm::pow(self.max / self.min, position),
        }
    }

    /// The round value nearest to a value, within the slider.
    #[must_use]
    pub fn snapped(&self, value: f64) -> f64 {
        if value.is_nan() || value <= self.min {
            return self.min;
        }
        if value >= self.max {
            return self.max;
        }
        let mut best = self.min;
        let mut consider = |candidate: f64| {
            let inside = candidate >= self.min && candidate <= self.max;
            if inside && self.distance(value, candidate) < self.distance(value, best) {
                best = candidate;
            }
        };
        consider(self.max);
        match self.snap {
            Snap::Decades(round) => {
                let (_, exponent) = three_digits(value);
                for power in exponent - 1..=exponent + 1 {
                    round.iter().for_each(|&digits| consider(decimal(digits, power)));
                }
            }
            Snap::Octaves(round) => {
                let octave = libm::floor(libm::log2(value));
                for power in [octave - 1.0, octave, octave + 1.0] {
                    round.iter().for_each(|&digits| consider(digits * libm::exp2(power)));
                }
            }
            Snap::Multiples(unit) => consider(libm::round(value / unit) * unit),
        }
        best
    }

    /// How far apart two values look on the slider.
    fn distance(&self, a: f64, b: f64) -> f64 {
        match self.scale {
            Scale::Linear => (a - b).abs(),
            Scale::Log if a > b => a / b,
            Scale::Log => b / a,
        }
    }
}

impl Field {
    /// Value after a key press, in the unit of the field: rounded to three significant digits, and
    /// always another one unless the end of the range is reached. A page of a whole number is exact,
    /// so that 1,024 becomes 2,048 and 1,024 again. A setting without a slider stays.
    #[must_use]
    pub fn stepped(&self, value: f64, step: Step, direction: Direction) -> f64 {
        let Some(slider) = &self.slider else { return value };
        if !value.is_finite() {
            return slider.min;
        }
        let size = |sizes: [f64; 3]| match step {
            Step::Small => sizes[0],
            Step::Large => sizes[1],
            Step::Page => sizes[2],
        };
        let raw = match (slider.steps, direction) {
            (StepSizes::Multiply(sizes), Direction::Up) => value * size(sizes),
            (StepSizes::Multiply(sizes), Direction::Down) => value / size(sizes),
            (StepSizes::Add(sizes), Direction::Up) => value + size(sizes),
            (StepSizes::Add(sizes), Direction::Down) => value - size(sizes),
        };
        let rounded = match step {
            Step::Page if self.is_whole() => libm::round(raw),
            _ => self.rounded(raw),
        };
        let moved = self.moved(value, rounded, direction);
        // A value typed beyond the slider steps within all that is simulated.
        let beyond = value < slider.min || value > slider.max;
        let (min, max) = if beyond { (self.min, self.max) } else { (slider.min, slider.max) };
        if moved < min {
            min
        } else if moved > max {
            max
        } else {
            moved
        }
    }

    /// The rounded value, or `value` moved by one unit of its last shown digit if rounding undid it.
    fn moved(&self, value: f64, rounded: f64, direction: Direction) -> f64 {
        let (_, exponent) = three_digits(value);
        let last_digit = decimal(1.0, exponent - 2);
        let unit = if self.is_whole() && last_digit < 1.0 { 1.0 } else { last_digit };
        match direction {
            Direction::Up if rounded <= value => self.rounded(value + unit),
            Direction::Down if rounded >= value => self.rounded(value - unit),
            _ => rounded,
        }
    }

    fn rounded(&self, value: f64) -> f64 {
        let (value, _) = three_digits(value);
        if self.is_whole() { libm::round(value) } else { value }
    }
}

/// A number rounded to three significant digits, and the exponent of its first digit.
fn three_digits(value: f64) -> (f64, i32) {
    // By its decimal digits, which are alike on every target.
    let rounded = quantity::rounded_to(value, 3);
    (rounded, quantity::magnitude(rounded))
}

/// The float nearest to `digits · 10^power`.
fn decimal(digits: f64, power: i32) -> f64 {
    quantity::nearest_double(&quantity::plain(digits, power)).unwrap_or(digits)
}

#[cfg(test)]
mod tests {
    use super::super::{FIELDS, field};
    use super::*;

    fn slider(key: &str) -> Slider {
        field(key).and_then(|field| field.slider).expect("a slider")
    }

    #[test]
    fn positions_and_values_are_inverse_and_exact_at_the_ends() {
        for field in FIELDS {
            let Some(slider) = field.slider else { continue };
            assert_eq!(slider.value_at(0.0), slider.min, "{}", field.key);
            assert_eq!(slider.value_at(1.0), slider.max, "{}", field.key);
            let mut last = f64::NEG_INFINITY;
            for thousandth in 0..=1000 {
                let position = f64::from(thousandth) / 1000.0;
                let value = slider.value_at(position);
                assert!(value > last, "{} grows", field.key);
                assert!((slider.position(value) - position).abs() < 1e-12, "{}", field.key);
                last = value;
            }
        }
        assert_eq!(slider("rate").position(100.0), 0.6);
    }

    #[test]
    fn dragging_snaps_to_round_values() {
        for (key, value, snapped) in [
            ("rate", 97.0, 100.0),
            ("rate", 0.13, 0.12),
            ("rate", 9_400.0, 10_000.0),
            ("rate", 8_100.0, 8_000.0),
            ("in", 1000.0, 1024.0),
            ("in", 700.0, 768.0),
            ("out", 1.1, 1.0),
            ("ttft", 950.0, 1000.0),
            ("tpot", 44.0, 40.0),
            ("headroom", 27.4, 25.0),
            ("headroom", 1.0, 0.0),
        ] {
            assert_eq!(slider(key).snapped(value), snapped, "{key} {value}");
        }
    }

    #[test]
    fn snapped_values_stay_where_they_are() {
        for field in FIELDS {
            let Some(slider) = field.slider else { continue };
            for thousandth in 0..=1000 {
                let once = slider.snapped(slider.value_at(f64::from(thousandth) / 1000.0));
                assert_eq!(slider.snapped(once), once, "{}", field.key);
                assert!(once >= slider.min && once <= slider.max, "{}", field.key);
            }
        }
    }

    #[test]
    fn keys_step_as_documented() {
        for (key, value, step, direction, expected) in [
            ("rate", 100.0, Step::Small, Direction::Up, 101.0),
            ("rate", 101.0, Step::Small, Direction::Down, 100.0),
            ("rate", 100.0, Step::Large, Direction::Up, 110.0),
            ("rate", 100.0, Step::Page, Direction::Down, 50.0),
            ("rate", 9_999.0, Step::Small, Direction::Up, 10_000.0),
            ("rate", 0.1, Step::Small, Direction::Down, 0.1),
            ("out", 1.0, Step::Small, Direction::Up, 2.0),
            ("out", 16.0, Step::Small, Direction::Down, 15.0),
            ("in", 200_000.0, Step::Large, Direction::Down, 182_000.0),
            ("in", 1_024.0, Step::Page, Direction::Up, 2_048.0),
            ("in", 2_048.0, Step::Page, Direction::Down, 1_024.0),
            ("in", 1_025.0, Step::Page, Direction::Down, 513.0),
            ("headroom", 25.0, Step::Small, Direction::Down, 24.0),
            ("headroom", 25.0, Step::Large, Direction::Up, 30.0),
            ("headroom", 90.0, Step::Page, Direction::Up, 100.0),
        ] {
            let field = field(key).expect("a field");
            assert_eq!(field.stepped(value, step, direction), expected, "{key} {value}");
        }
    }

    #[test]
    fn every_step_moves_until_the_end() {
        for field in FIELDS {
            let Some(slider) = field.slider else { continue };
            for step in [Step::Small, Step::Large, Step::Page] {
                let mut value = slider.min;
                while value < slider.max {
                    let next = field.stepped(value, step, Direction::Up);
                    assert!(next > value, "{} {value}", field.key);
                    value = next;
                }
                while value > slider.min {
                    let next = field.stepped(value, step, Direction::Down);
                    assert!(next < value, "{} {value}", field.key);
                    value = next;
                }
            }
        }
    }
}
