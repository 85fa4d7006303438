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
    let Ok(number) = plain.parse::<f64>() else {
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

/// Text that `parse::<f64>` understands: without the commas between thousands, and with a point
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
    decimal(text, decimal_comma).parse().ok().filter(|number: &f64| number.is_finite())
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
    use super::*;

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
