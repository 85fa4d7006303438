//! From a double to the shortest decimal digits that name it.
//!
//! The standard library's printing is faster and brings sixteen kilobytes to every page. Nearly all
//! numbers that people write have few digits, and are found by one division each; the rest, which come
//! from a computation, by long division of whole numbers. The tests hold the two together.

use crate::nearest::{FRACTION_BITS, LEAST_EXPONENT, Whole};

/// Decimals of fifteen digits are all different doubles, so that one that reads back is the shortest.
const TELLING: f64 = 1e15;
/// The powers of ten that are doubles themselves, which makes a division by them exact to the last bit.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The digits `d₁d₂d₃…` and the exponent of `0.d₁d₂d₃… × 10^exponent`, without zeros at either end;
/// no digits for zero. Of the shortest that read back as `value` they are the nearest to it. The
/// number must be finite; its sign is not looked at.
pub(crate) fn shortest(value: f64) -> (Vec<u8>, i32) {
    let value = value.abs();
    if value == 0.0 {
        return (Vec::new(), 0);
    }
    few_digits(value).unwrap_or_else(|| long_division(value))
}

/// The digits of a number with no more than fifteen, and that many powers of ten around one.
fn few_digits(value: f64) -> Option<(Vec<u8>, i32)> {
    for (decimals, power) in POWERS.iter().enumerate() {
        let scaled = value * power + 0.5;
        if scaled >= TELLING {
            break;
        }
        let mut whole = scaled as u64;
        if whole as f64 / power == value {
            let mut digits = Vec::new();
            while whole > 0 {
                digits.push((whole % 10) as u8);
                whole /= 10;
            }
            let exponent = digits.len() as i32 - decimals as i32;
            let zeros = digits.iter().take_while(|digit| **digit == 0).count();
            digits.drain(..zeros);
            digits.reverse();
            return Some((digits, exponent));
        }
    }
    None
}

/// Digit by digit, until what is left is within half the distance to the neighbouring doubles (Steele
/// and White, “How to print floating-point numbers accurately”, 1990).
fn long_division(value: f64) -> (Vec<u8>, i32) {
    let bits = value.to_bits();
    let stored = bits & ((1 << (FRACTION_BITS - 1)) - 1);
    let biased = (bits >> (FRACTION_BITS - 1)) as i32;
    let fraction = if biased > 0 { stored | 1 << (FRACTION_BITS - 1) } else { stored };
    let binary = LEAST_EXPONENT + if biased > 0 { biased - 1 } else { 0 };
    // Below a power of two the doubles lie twice as close. All is doubled, so that halves are whole.
    let is_edge = stored == 0 && biased > 1;
    let mut rest = Whole::from(fraction);
    rest.shift(if is_edge { 2 } else { 1 });
    let mut unit = Whole::from(if is_edge { 4 } else { 2 });
    let (mut below, mut above) = (Whole::from(1), Whole::from(if is_edge { 2 } else { 1 }));
    if binary > 0 {
        for whole in [&mut rest, &mut below, &mut above] {
            whole.shift(binary.unsigned_abs());
        }
    } else {
        unit.shift(binary.unsigned_abs());
    }
    // A bound itself reads back as an even fraction: ties go there.
    let is_even = fraction.is_multiple_of(2);
    let reaches = |rest: &Whole, unit: &Whole, above: &Whole| {
        if !rest.is_less_than(unit) {
            return true;
        }
        let mut missing = unit.clone();
        missing.subtract(rest);
        if is_even { !above.is_less_than(&missing) } else { missing.is_less_than(above) }
    };
    // At first not more than the power of ten looked for, from the power of two.
    let top = binary + u64::BITS as i32 - fraction.leading_zeros() as i32 - 1;
    let mut exponent = (top * 30_103).div_euclid(100_000);
    for _ in 0..exponent.unsigned_abs() {
        if exponent > 0 {
            unit.times_plus(10, 0);
        } else {
            for whole in [&mut rest, &mut below, &mut above] {
                whole.times_plus(10, 0);
            }
        }
    }
    while reaches(&rest, &unit, &above) {
        unit.times_plus(10, 0);
        exponent += 1;
    }
    let mut digits = Vec::new();
    loop {
        for whole in [&mut rest, &mut below, &mut above] {
            whole.times_plus(10, 0);
        }
        let mut digit = 0;
        while !rest.is_less_than(&unit) {
            rest.subtract(&unit);
            digit += 1;
        }
        let is_near = if is_even { !below.is_less_than(&rest) } else { rest.is_less_than(&below) };
        let is_near_above = reaches(&rest, &unit, &above);
        if is_near || is_near_above {
            rest.times_plus(2, 0);
            digits.push(digit + u8::from(is_near_above && (!is_near || !rest.is_less_than(&unit))));
            return (digits, exponent);
        }
        digits.push(digit);
    }
}

/// The shortest decimal text of `value · 10^shift` that reads back exactly, positional where people
/// read it so: “1000”, “0.00005”, “5e-6”, “1.52e10”.
#[must_use]
pub fn plain(value: f64, shift: i32) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    if !value.is_finite() {
        return if value.is_nan() { "NaN".to_owned() } else { [sign, "inf"].concat() };
    }
    let (digits, exponent) = shortest(value);
    let mut text: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    let places = exponent + shift;
    match places {
        _ if text.is_empty() => return "0".to_owned(),
        -4..=0 => {
            let zeros = ["0.", "0.0", "0.00", "0.000", "0.0000"];
            text.insert_str(0, zeros[places.unsigned_abs() as usize]);
        }
        1..=9 => {
            let before = places.unsigned_abs() as usize;
            while text.len() < before {
                text.push('0');
            }
            if text.len() > before {
                text.insert(before, '.');
            }
        }
        _ => {
            if text.len() > 1 {
                text.insert(1, '.');
            }
            text.push('e');
            text.push_str(&(places - 1).to_string());
        }
    }
    [sign, &text].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard library's digits are the oracle.
    fn check(value: f64) {
        let text = format!("{:e}", value.abs());
        let (mantissa, exponent) = text.split_once('e').expect("a power");
        let mut expected: Vec<u8> =
            mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        while expected.last() == Some(&0) {
            expected.pop();
        }
        let exponent = exponent.parse::<i32>().expect("a power") + 1;
        let exponent = if expected.is_empty() { 0 } else { exponent };
        assert_eq!(shortest(value), (expected, exponent), "{value:e}");
    }

    /// Numbers without pattern, the same in every run.
    fn random() -> impl Iterator<Item = u64> {
        std::iter::successors(Some(1_u64), |bits| {
            Some(bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963))
        })
    }

    #[test]
    fn all_kinds_of_bits_have_the_digits_of_the_standard_library() {
        random().take(30_000).map(f64::from_bits).filter(|v| v.is_finite()).for_each(check);
    }

    #[test]
    fn numbers_of_every_day_have_too() {
        for bits in random().take(30_000) {
            let value = (bits >> 11) as f64 / (1_u64 << 53) as f64;
            for power in [1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e15] {
                check(value * power);
            }
            for decimals in [1e0, 1e1, 1e3, 1e5, 1e8, 1e12, 1e20] {
                check((bits >> 40) as f64 / decimals);
            }
        }
    }

    #[test]
    fn edges_and_their_neighbours_have_too() {
        for exponent in 0..2047_u64 {
            let edge = exponent << 52;
            for bits in [edge, edge + 1, edge + 2, edge.saturating_sub(1), edge.saturating_sub(2)] {
                check(f64::from_bits(bits));
            }
        }
        for value in
            [f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0, 9_007_199_254_740_994.0, 1e15, 1e22, 1e23]
        {
            check(value);
        }
    }

    #[test]
    fn texts_are_short_and_positional_where_people_read_them() {
        for (value, shift, text) in [
            (0.0, 0, "0"),
            (-0.0, 3, "0"),
            (1.0, 3, "1000"),
            (0.04, 3, "40"),
            (0.0255, 3, "25.5"),
            (0.9999, 2, "99.99"),
            (0.0005, 0, "0.0005"),
            (0.000_05, 0, "0.00005"),
            (0.000_005, 0, "5e-6"),
            (959_123_000.0, 0, "959123000"),
            (15.2e9, 0, "1.52e10"),
            (1e300, 0, "1e300"),
            (-12.5, 0, "-12.5"),
            (f64::NAN, 0, "NaN"),
            (f64::INFINITY, 3, "inf"),
            (f64::NEG_INFINITY, 0, "-inf"),
        ] {
            assert_eq!(plain(value, shift), text);
        }
    }
}
