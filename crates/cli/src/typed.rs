//! Numbers of options. What cannot be used is refused with what may be typed instead; clap puts the
//! option and the value before it.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    ops::RangeInclusive,
};

/// Rates and speeds beyond these say more of a typing mistake than of traffic, and times become so
/// long or so short that sums of them lose their digits.
const REACH: RangeInclusive<f64> = 1e-4..=1e6;

/// A rate per second or a speed within reach.
pub(crate) fn in_reach(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if REACH.contains(&value) => Ok(value),
        _ => Err("it must be a number from 0.0001 to 1,000,000, for example 12.5".to_owned()),
    }
}

/// How many of something: one at least, and no more than the round robin deals among.
pub(crate) fn some(text: &str) -> Result<NonZeroUsize, String> {
    let most = sim_core::workload::MAX_REPLICAS as usize;
    whole(text)
        .and_then(|value| NonZeroUsize::new(usize::try_from(value).ok()?))
        .filter(|value| value.get() <= most)
        .ok_or_else(|| "it must be a whole number from 1 to 100,000, for example 4".to_owned())
}

/// How many requests.
pub(crate) fn requests(text: &str) -> Result<NonZeroU32, String> {
    whole(text).and_then(|value| NonZeroU32::new(u32::try_from(value).ok()?)).ok_or_else(|| {
        "it must be a whole number from 1 to 4,294,967,295, for example 2000".to_owned()
    })
}

/// A time of 0 or more, seconds where no unit is typed.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match quantity::parse(text, quantity::Unit::Seconds) {
        Ok(value) if (0.0..=1e7).contains(&value) => Ok(value),
        _ => Err("it must be a time from 0 to 115 days, for example 2s".to_owned()),
    }
}

/// A part above 0 and at most 1.
pub(crate) fn part(text: &str) -> Result<f64, String> {
    match quantity::parse(text, quantity::Unit::Share) {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("it must be above 0 and at most 100 %, for example 60%".to_owned()),
    }
}

/// The root of random numbers.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(text).ok_or_else(|| {
        format!("it must be a whole number of 0 or more and at most {}, for example 7", u64::MAX)
    })
}

/// A whole number, perhaps with its thousands separated.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let mut groups = text.split(',');
    let first = groups.next()?;
    // “1,5” can mean two things.
    let separates = first.len() <= 3 && groups.clone().all(|group| group.len() == 3);
    if text.contains(',') && !separates {
        return None;
    }
    text.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_with_and_without_separators() {
        assert_eq!(requests("8,640,000").map(NonZeroU32::get), Ok(8_640_000));
        assert_eq!(some(" 4 ").map(NonZeroUsize::get), Ok(4));
        assert_eq!(seed("0"), Ok(0));
        for bad in ["0", "-1", "1.5", "many", "", "99999999999", "1,2,3", "1,5", "1234,567", ","] {
            assert!(some(bad).is_err() && requests(bad).is_err(), "{bad}");
        }
        for bad in ["0", "-2", "NaN", "inf", "1e7"] {
            assert!(in_reach(bad).is_err(), "{bad}");
        }
    }
}
