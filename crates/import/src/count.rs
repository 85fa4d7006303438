//! Numbers as people and programs write them.

use std::borrow::Cow;

use sim_core::workload::MAX_LENGTH_TOKENS;

/// Read a token count: `512`, `512.0`, `"1,024"`. The error is the rest of the sentence that names
/// the column and the value.
pub(crate) fn tokens(text: &str, decimal_comma: bool) -> Result<u64, &'static str> {
    if let Ok(count) = text.parse::<u64>() {
        return within_bounds(count);
    }
    if text.is_empty() {
        return Err("give a whole number of tokens");
    }
    // A count has no fraction: "1,024" is a thousand wherever it is written.
    let plain = if grouped(text) {
        Cow::Owned(text.replace(',', ""))
    } else {
        decimal(text, decimal_comma)
    };
    let Some(number) = nearest(&plain) else {
        return Err("not a number; give a whole number of tokens");
    };
    if !number.is_finite() {
        Err("not finite; give a whole number of tokens")
    } else if number < 0.0 {
        Err("below 0; give a whole number of tokens")
    } else if number.fract() != 0.0 {
        Err("not whole; give a whole number of tokens")
    } else {
        // A float above the bound saturates and stays above it.
        within_bounds(number as u64)
    }
}

fn within_bounds(count: u64) -> Result<u64, &'static str> {
    if count > MAX_LENGTH_TOKENS {
        Err("above 1,000,000,000 tokens; is the column in another unit?")
    } else {
        Ok(count)
    }
}

/// Text that [`nearest`] understands: without the commas between thousands, and with a point
/// where a comma is the decimal sign.
pub(crate) fn decimal(text: &str, decimal_comma: bool) -> Cow<'_, str> {
    if decimal_comma && !text.contains('.') && text.matches(',').count() == 1 {
        Cow::Owned(text.replace(',', "."))
    } else if grouped(text) {
        Cow::Owned(text.replace(',', ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// Read a finite number.
pub(crate) fn finite(text: &str, decimal_comma: bool) -> Option<f64> {
    nearest(&decimal(text, decimal_comma)).filter(|number| number.is_finite())
}

/// The double nearest to a number as the standard library reads it, words included, without the
/// tables of its reader, which weigh more than all else that is done here with numbers.
pub(crate) fn nearest(text: &str) -> Option<f64> {
    quick(text).or_else(|| quantity::nearest_double(text)).or_else(|| word(text))
}

/// A number that is none, or no finite one.
fn word(text: &str) -> Option<f64> {
    let word = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is = |known: &str| word.eq_ignore_ascii_case(known);
    let number = if is("nan") {
        f64::NAN
    } else if is("inf") || is("infinity") {
        f64::INFINITY
    } else {
        return None;
    };
    Some(if text.starts_with('-') { -number } else { number })
}

/// The nearest double where the digits are few enough for a single division of whole numbers, as
/// those of most numbers are; `None` where they are not, and for what is no number.
fn quick(text: &str) -> Option<f64> {
    /// `5^27` is the greatest power of five below `2^63`, and a double holds whole numbers up to
    /// `2^53` and powers of ten up to `10^22`.
    const POWERS: (usize, usize) = (27, 19);
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.len() > POWERS.0 {
        return None;
    }
    let mut digits = 0_u64;
    for part in [whole, fraction] {
        for byte in part.bytes() {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            digits = digits.checked_mul(10)?.checked_add(digit)?;
        }
    }
    let power = fraction.len();
    let magnitude = if digits <= EXACT && power <= POWERS.1 {
        // Both are exact, and a division is rounded once.
        digits as f64 / 10_u64.pow(power as u32) as f64
    } else {
        // A quotient of 65 bits or more: whether something is left only matters where the rest of
        // them are half of the last bit that is kept, and then the least bit tells.
        let shift = u64::BITS + digits.leading_zeros();
        let divisor = u128::from(5_u64.pow(power as u32));
        let dividend = u128::from(digits) << shift;
        let is_more = !dividend.is_multiple_of(divisor);
        let quotient = (dividend / divisor) | u128::from(is_more);
        let exponent = u64::from(shift) + power as u64;
        quotient as f64 * f64::from_bits((1023 - exponent) << (f64::MANTISSA_DIGITS - 1))
    };
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Whether commas, and only they, part the whole digits in threes: `1,024`, `12,345,678.9`.
fn grouped(text: &str) -> bool {
    let whole = text.split('.').next().unwrap_or_default();
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().unwrap_or_default();
    whole.contains(',')
        && (1..=3).contains(&first.len())
        && digits(first)
        && groups.all(|group| group.len() == 3 && digits(group))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// To the bit, and the same texts are refused.
    fn as_the_standard_library(text: &str) -> Result<(), TestCaseError> {
        let expected = text.parse::<f64>().ok();
        prop_assert_eq!(nearest(text).map(f64::to_bits), expected.map(f64::to_bits), "{}", text);
        if let Some(quick) = quick(text) {
            prop_assert_eq!(Some(quick.to_bits()), expected.map(f64::to_bits), "{}", text);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn numbers_are_read_to_the_bit(
            text in "[-+]?[0-9]{0,20}(\\.[0-9]{0,28})?([eE][-+]?[0-9]{0,3})?",
            zeros in "0{0,12}",
            number in 0.0..1e9_f64,
            bits in any::<u64>(),
            halfway in (1_u64 << 52)..(1 << 53),
        ) {
            as_the_standard_library(&text)?;
            as_the_standard_library(&format!("0.{zeros}{}", bits >> 1))?;
            for number in [number, number * 1e-6, f64::from_bits(bits)] {
                as_the_standard_library(&format!("{number}"))?;
                as_the_standard_library(&format!("{number:e}"))?;
            }
            // Between two doubles, and a little beside.
            as_the_standard_library(&format!("{halfway}.5"))?;
            as_the_standard_library(&format!("{}", 2 * halfway + 1))?;
            as_the_standard_library(&format!("{}.0000001", 2 * halfway + 1))?;
        }
    }

    #[test]
    fn words_and_scraps_are_read_as_the_standard_library_reads_them() {
        for text in [
            "nan",
            "-NaN",
            "+inf",
            "-Infinity",
            "infinit",
            "",
            "-",
            "+",
            ".",
            "-.",
            "1.",
            ".5",
            "+-1",
            "1..2",
            "0x10",
            "1e",
            "e5",
            "1_0",
            " 1",
            "-0",
            "-0.0",
            "0e999",
            "1e999",
            "9007199254740993",
            "18446744073709551615",
            "18446744073709551616",
            "0.000000000000000000000000001",
        ] {
            as_the_standard_library(text).unwrap();
        }
    }

    #[test]
    fn counts_are_read_as_written() {
        for (text, comma, count) in [
            ("0", false, 0),
            ("512", false, 512),
            ("512.0", false, 512),
            ("+7", false, 7),
            ("1e3", false, 1000),
            ("1,024", false, 1024),
            ("1,024", true, 1024),
            ("512,0", true, 512),
            ("12,345,678", false, 12_345_678),
        ] {
            assert_eq!(tokens(text, comma), Ok(count), "{text}");
        }
    }

    #[test]
    fn what_is_no_count_says_why() {
        for (text, why) in [
            ("", "give"),
            ("-1", "below 0"),
            ("1.5", "not whole"),
            ("1.024", "not whole"),
            ("many", "not a number"),
            ("NaN", "not finite"),
            ("1,02", "not a number"),
            ("18446744073709551616", "above"),
            ("1000000001", "above"),
        ] {
            let error = tokens(text, false).unwrap_err();
            assert!(error.starts_with(why), "{text}: {error}");
        }
    }

    #[test]
    fn commas_mean_what_the_separator_leaves_them() {
        assert_eq!(finite("1,5", true), Some(1.5));
        assert_eq!(finite("1,5", false), None);
        assert_eq!(finite("1,234.5", false), Some(1234.5));
        assert_eq!(finite("inf", false), None);
    }
}
