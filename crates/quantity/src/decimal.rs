//! Decimal digits of a number and their rounding.
//!
//! Rounding works on the shortest digits that name the number, half away from zero: 2.5 becomes 3,
//! and 1.005 becomes 1.01 although the nearest double lies a little below it. What people see is
//! what is rounded.

use crate::nearest::of_digits;
use crate::shortest::shortest;

/// A finite number as decimal digits: `0.d₁d₂d₃… × 10^exponent`, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// The shortest digits that read back as `value`; `None` if it is not finite.
    pub(crate) fn of(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let (digits, exponent) = shortest(value);
        Some(Self { negative: value < 0.0, digits, exponent })
    }

    /// True for zero, of either sign.
    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Power of ten of the first digit: 0 for 1 to 9.99…, −1 for 0.1 to 0.99…; 0 for zero.
    pub(crate) fn magnitude(&self) -> i32 {
        if self.is_zero() { 0 } else { self.exponent - 1 }
    }

    /// The number times `10^power`, exactly.
    pub(crate) fn shifted(mut self, power: i32) -> Self {
        // Zero has one form, whatever it is multiplied by.
        if !self.is_zero() {
            self.exponent += power;
        }
        self
    }

    /// Rounded to `count` significant digits.
    pub(crate) fn to_significant(&self, count: usize) -> Self {
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        self.to_decimals(count.saturating_sub(self.magnitude() + 1))
    }

    /// Rounded to `decimals` digits after the point; negative rounds before the point.
    pub(crate) fn to_decimals(&self, decimals: i32) -> Self {
        let keep = self.exponent.saturating_add(decimals);
        let mut rounded = self.clone();
        if keep < 0 {
            rounded.digits.clear();
        } else if let Some(&next) = self.digits.get(keep as usize) {
            rounded.digits.truncate(keep as usize);
            if next >= 5 {
                rounded.bump();
            }
        }
        rounded.trim();
        rounded
    }

    /// Digits after the point that the number has.
    pub(crate) fn decimals(&self) -> i32 {
        let after = self.digits.len() as i32 - self.exponent;
        if after > 0 && !self.is_zero() { after } else { 0 }
    }

    /// With thousands separated, and at least `least_decimals` digits after the point. Never “−0”.
    pub(crate) fn text(&self, least_decimals: i32) -> String {
        let mut text = String::new();
        if self.negative && !self.is_zero() {
            text.push(crate::MINUS);
        }
        let whole_digits = if self.exponent > 1 { self.exponent } else { 1 };
        for place in (0..whole_digits).rev() {
            text.push(self.digit_at(place));
            if place > 0 && place % 3 == 0 {
                text.push(',');
            }
        }
        let decimals =
            if self.decimals() > least_decimals { self.decimals() } else { least_decimals };
        if decimals > 0 {
            text.push('.');
            text.extend((1..=decimals).map(|place| self.digit_at(-place)));
        }
        text
    }

    /// One digit before the point, and a power of ten: “1.2e−9”.
    pub(crate) fn scientific(&self) -> String {
        let power = self.magnitude();
        let sign = if power < 0 { String::from(crate::MINUS) } else { String::new() };
        format!("{}e{sign}{}", self.clone().shifted(-power).text(0), power.unsigned_abs())
    }

    /// The nearest double.
    pub(crate) fn value(&self) -> f64 {
        let magnitude = of_digits(&self.digits, self.exponent - self.digits.len() as i32);
        if self.negative && !self.is_zero() { -magnitude } else { magnitude }
    }

    fn digit_at(&self, place: i32) -> char {
        let index = usize::try_from(self.exponent - 1 - place).ok();
        let digit = index.and_then(|index| self.digits.get(index)).copied().unwrap_or(0);
        char::from(b'0' + digit)
    }

    /// Adds one to the last digit kept.
    fn bump(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.exponent += 1;
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        let leading = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..leading);
        self.exponent -= leading as i32;
        if self.digits.is_empty() {
            self.exponent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(value: f64, decimals: i32) -> String {
        Decimal::of(value).expect("finite").to_decimals(decimals).text(0)
    }

    #[test]
    fn rounds_half_away_from_zero_on_the_digits_seen() {
        for (value, decimals, text) in [
            (2.5, 0, "3"),
            (3.5, 0, "4"),
            (-2.5, 0, "−3"),
            (1.005, 2, "1.01"),
            (0.125, 2, "0.13"),
            (999.5, 0, "1,000"),
            (0.05, 1, "0.1"),
            (0.04, 1, "0"),
            (-0.04, 1, "0"),
            (0.5, 0, "1"),
            (0.49, 0, "0"),
            (1234.0, -2, "1,200"),
            (1250.0, -2, "1,300"),
            (4.0, -1, "0"),
            (5.0, -1, "10"),
            (1e21, 0, "1,000,000,000,000,000,000,000"),
        ] {
            assert_eq!(rounded(value, decimals), text, "{value} to {decimals}");
        }
    }

    #[test]
    fn keeps_significant_digits() {
        let three = |value| Decimal::of(value).expect("finite").to_significant(3).text(0);
        assert_eq!(three(22.587), "22.6");
        assert_eq!(three(4968.0), "4,970");
        assert_eq!(three(0.000_123_456), "0.000123");
        assert_eq!(three(99.95), "100");
        assert_eq!(three(0.0), "0");
        assert_eq!(three(-0.0), "0");
        assert_eq!(three(5e-324).len(), 326);
    }

    #[test]
    fn shifts_without_error() {
        let shifted = Decimal::of(0.0166).expect("finite").shifted(3);
        assert_eq!(shifted.text(0), "16.6");
        assert_eq!(shifted.text(3), "16.600");
        assert_eq!(shifted.value(), 16.6);
        assert_eq!(Decimal::of(1.25e-9).expect("finite").scientific(), "1.25e−9");
        assert_eq!(Decimal::of(f64::NAN), None);
        assert_eq!(Decimal::of(f64::INFINITY), None);
    }
}
