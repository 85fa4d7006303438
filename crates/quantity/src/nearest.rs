//! From decimal digits to the nearest double.
//!
//! The standard library's reader is faster and brings eleven kilobytes of powers of five that no
//! compression makes smaller. What people type is short, so that exact whole numbers do; the tests
//! hold the two together.

/// More significant digits than these cannot change the nearest double, but whether any of them is
/// not zero can.
const DIGITS: usize = 800;
/// Beyond these powers of ten a number is zero or infinite, whatever its first eight hundred digits.
const GREATEST_POWER: i32 = 2_000;
/// Bits of a double's fraction, with the leading one that is not stored.
pub(crate) const FRACTION_BITS: i32 = 53;
/// The exponent of the least bit of the smallest double.
pub(crate) const LEAST_EXPONENT: i32 = -1074;
/// The exponent of the least bit of the greatest double.
const GREATEST_EXPONENT: i32 = 971;

/// The double nearest to a decimal number such as `-12.5`, `.5`, `7.` or `1e-9`, ties to even, as
/// IEEE 754 rounds; infinite beyond the greatest double. `None` for anything else, words such as
/// `inf` and `nan` included.
#[must_use]
pub fn nearest_double(text: &str) -> Option<f64> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (plain, power) = match text.split_once(['e', 'E']) {
        Some((plain, power)) => (plain, whole_power(power)?),
        None => (text, 0),
    };
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let all = || whole.bytes().chain(fraction.bytes());
    if all().next().is_none() || !all().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: Vec<u8> = all().skip_while(|byte| *byte == b'0').map(|byte| byte - b'0').collect();
    let fraction_digits = i32::try_from(fraction.len()).unwrap_or(i32::MAX);
    let magnitude = of_digits(&digits, power.saturating_sub(fraction_digits));
    Some(if negative { -magnitude } else { magnitude })
}

/// A signed whole number; one beyond all doubles stands for all of those.
fn whole_power(text: &str) -> Option<i32> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = unsigned
        .bytes()
        .fold(0_i32, |value, byte| value.saturating_mul(10).saturating_add(i32::from(byte - b'0')));
    Some(if text.starts_with('-') { -value } else { value })
}

/// The double nearest to `digits × 10^power`. The first digit is not zero.
pub(crate) fn of_digits(digits: &[u8], power: i32) -> f64 {
    if digits.is_empty() {
        return 0.0;
    }
    let mut digits = digits.to_vec();
    let mut power = power;
    if digits.len() > DIGITS {
        let cut = digits.len() - DIGITS;
        let is_more = digits.iter().skip(DIGITS).any(|digit| *digit != 0);
        digits.truncate(DIGITS);
        power = power.saturating_add(i32::try_from(cut).unwrap_or(i32::MAX));
        if is_more
            && let Some(last) = digits.last_mut()
            && *last == 0
        {
            *last = 1;
        }
    }
    if power < -GREATEST_POWER {
        0.0
    } else if power > GREATEST_POWER {
        f64::INFINITY
    } else {
        quotient(&digits, power)
    }
}

/// The nearest double by long division of whole numbers.
fn quotient(digits: &[u8], power: i32) -> f64 {
    let mut over = Whole::default();
    for digit in digits {
        over.times_plus(10, u32::from(*digit));
    }
    let mut under = Whole(vec![1]);
    let scaled = if power < 0 { &mut under } else { &mut over };
    for _ in 0..power.unsigned_abs() {
        scaled.times_plus(10, 0);
    }
    // So that `under ≤ over < 2 under`: the quotient is one point something, times `2^exponent`.
    let mut exponent = over.bits() - under.bits();
    if exponent > 0 { &mut under } else { &mut over }.shift(exponent.unsigned_abs());
    if over.is_less_than(&under) {
        exponent -= 1;
        over.shift(1);
    }
    // A small double has fewer bits, the smallest only one; half of it may still round up to it.
    let least = (exponent + 1 - FRACTION_BITS).max(LEAST_EXPONENT);
    let mut fraction = 0_u64;
    for _ in least..=exponent {
        fraction *= 2;
        if !over.is_less_than(&under) {
            over.subtract(&under);
            fraction += 1;
        }
        over.shift(1);
    }
    // What is left, doubled once too often for the last bit: it is compared to half of that bit.
    let rounds_up = exponent + 1 >= least
        && !over.is_less_than(&under)
        && (under.is_less_than(&over) || fraction % 2 == 1);
    fraction += u64::from(rounds_up);
    if least > GREATEST_EXPONENT { f64::INFINITY } else { scaled_by(fraction, least) }
}

/// `fraction × 2^exponent`, exactly, for a fraction that fits a double.
fn scaled_by(fraction: u64, exponent: i32) -> f64 {
    let top = u64::BITS as i32 - fraction.leading_zeros() as i32;
    if top < FRACTION_BITS {
        return f64::from_bits(fraction);
    }
    // A fraction rounded up to the next power of two has one bit more, and that one is zero.
    let biased = (exponent - LEAST_EXPONENT + 1) as u64 + u64::from(top > FRACTION_BITS);
    let stored = fraction & ((1 << (FRACTION_BITS - 1)) - 1);
    if biased > 2046 { f64::INFINITY } else { f64::from_bits(biased << 52 | stored) }
}

/// A whole number of any size, the least significant part first, without leading zeros.
#[derive(Clone, Default)]
pub(crate) struct Whole(Vec<u32>);

impl From<u64> for Whole {
    fn from(value: u64) -> Self {
        let mut whole = Self(vec![value as u32, (value >> u32::BITS) as u32]);
        whole.trim();
        whole
    }
}

impl Whole {
    /// Multiplies by one number and adds another.
    pub(crate) fn times_plus(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for part in &mut self.0 {
            carry += u64::from(*part) * u64::from(factor);
            *part = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Multiplies by `2^bits`.
    pub(crate) fn shift(&mut self, bits: u32) {
        self.times_plus(1 << (bits % 32), 0);
        if !self.0.is_empty() {
            self.0.splice(0..0, (0..bits / 32).map(|_| 0));
        }
    }

    /// The number of binary digits.
    fn bits(&self) -> i32 {
        let top = self.0.last().map_or(0, |part| u32::BITS - part.leading_zeros());
        (self.0.len().saturating_sub(1) as i32) * 32 + top as i32
    }

    pub(crate) fn is_less_than(&self, other: &Self) -> bool {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev())).is_lt()
    }

    /// Subtracts a number that is not greater.
    pub(crate) fn subtract(&mut self, other: &Self) {
        let mut borrowed = false;
        for (at, part) in self.0.iter_mut().enumerate() {
            let less = other.0.get(at).copied().unwrap_or(0);
            let (once, first) = part.overflowing_sub(less);
            let (twice, second) = once.overflowing_sub(u32::from(borrowed));
            *part = twice;
            borrowed = first || second;
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard library rounds exactly; it is the oracle.
    fn check(text: &str) {
        let expected: f64 = text.parse().unwrap_or_else(|_| panic!("{text} is a number"));
        let found = nearest_double(text).unwrap_or_else(|| panic!("{text} is a number"));
        assert_eq!(found.to_bits(), expected.to_bits(), "{text}: {found:e}, not {expected:e}");
    }

    /// Numbers without pattern, the same in every run.
    fn random() -> impl Iterator<Item = u64> {
        std::iter::successors(Some(1_u64), |bits| {
            Some(bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963))
        })
    }

    #[test]
    fn every_double_reads_back_from_its_shortest_digits() {
        for value in random().take(20_000).map(f64::from_bits).filter(|value| value.is_finite()) {
            check(&format!("{value:e}"));
            check(&format!("{value:.20e}"));
        }
    }

    #[test]
    fn what_people_type_is_what_the_standard_library_reads() {
        for bits in random().take(20_000) {
            check(&format!("{}.{}", bits >> 52, bits >> 20 & 0xfff));
            check(&format!("{}e{}", bits >> 30 & 0xffff, (bits >> 50) as i32 % 340));
            check(&format!("-{}e-{}", bits & 0xffff_ffff, (bits >> 50) % 345));
        }
    }

    #[test]
    fn ties_go_to_the_even_neighbour_and_the_least_more_goes_up() {
        for text in ["9007199254740993", "9007199254740995", "4503599627370496.5", "0.5e-323"] {
            check(text);
            check(&format!("{text}1").replace("e-3231", "e-323"));
        }
        let half_of_the_smallest = format!("{:.1100e}", f64::from_bits(1));
        let (digits, power) = half_of_the_smallest.split_once('e').expect("a power");
        for change in ["1", "0", "01"] {
            check(&format!("{digits}{change}e{power}"));
        }
        let exact_half = "2.4703282292062327208299439643411068618252990130716238221279284125033775363510437593264991818081799618989828234772285886546332835517796989819938739800539093906315035659515570226392290858392449105184435931802849936536152500319370457678249219365623669863658480757001585769269903706311928279558551332927834338409351978015531246597263579574622766465272827220056374006485499977096599470454020828166226237857393450736339007967761930577506740176324673600968951340535537458516661134223766678604137293497973780095703457386450862963396893115253e-324";
        check(exact_half);
        check(&exact_half.replace("e-324", "1e-324"));
        check(&format!("{}{}e-324", &exact_half[..exact_half.len() - 5], "0".repeat(900) + "1"));
    }

    #[test]
    fn ends_of_the_range() {
        for text in [
            "0",
            "-0",
            "0.000",
            "0e999999999999",
            "1e400",
            "-1e400",
            "1e-400",
            "1e99999999999",
            "1e-99999999999",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "179769313486231580793728971405301e276",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "4.9e-324",
            "2.4e-324",
            "2.5e-324",
            "7.4e-324",
            ".5",
            "5.",
            "+5",
        ] {
            check(text);
        }
        check(&format!("{}e-1000", "1".repeat(1000)));
        check(&format!("0.{}1e1000", "0".repeat(999)));
        check(&format!("1{}", "0".repeat(308)));
        check(&format!("1{}", "0".repeat(309)));
        check(&format!("1{}e-2500", "0".repeat(2500)));
    }

    #[test]
    fn what_is_not_a_plain_number_is_none() {
        for text in [
            "", "-", "+", ".", "e5", "1e", "1e+", "1e5.5", "inf", "NaN", "1,5", "1 ", " 1", "--1",
            "0x1", "1_0",
        ] {
            assert_eq!(nearest_double(text), None, "{text:?}");
        }
    }
}
