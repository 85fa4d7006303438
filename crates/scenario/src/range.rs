//! Numbers held within what is simulated.

use quantity::Unit;

use crate::{
    field::Field,
    notice::ZERO_MEANS,
    reading::{self, Whole},
    writing,
};

/// A value, and a sentence for each thing about it that was not taken as written.
pub(crate) type Taken<T> = (T, Vec<String>);

/// Read a real number and move it into the range of its field.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn real(field: &Field, text: &str) -> Result<Taken<f64>, String> {
    if is_none(field, text) {
        return Ok((0.0, Vec::new()));
    }
    let value = reading::real(text, field.quantity)?;
    let kept = |end: f64| writing::shifted(end, -reading::shift(field.quantity));
    let (min, max) = (kept(field.min), kept(field.max));
    if value < min {
        return Ok((min, vec![beyond(field, field.min)]));
    }
    if value > max {
        return Ok((max, vec![beyond(field, field.max)]));
    }
    let said = if value == 0.0 { zero_means(field) } else { None };
    Ok((value, said.into_iter().collect()))
}

/// Read a whole number and move it into the range of its field.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn whole(field: &Field, text: &str) -> Result<Taken<u64>, String> {
    if is_none(field, text) {
        return Ok((0, Vec::new()));
    }
    // A float beyond the range of u64 saturates.
    let (min, max) = (field.min as u64, field.max as u64);
    let value = match reading::whole(text, field.quantity)? {
        Whole::Exact(0) if field.none.is_some() => {
            return Ok((0, zero_means(field).into_iter().collect()));
        }
        Whole::Exact(value) if (min..=max).contains(&value) => return Ok((value, Vec::new())),
        Whole::Exact(value) => value as f64,
        Whole::Other(value) => value,
    };
    if value < field.min {
        return Ok((min, vec![beyond(field, field.min)]));
    }
    if value > field.max {
        return Ok((max, vec![beyond(field, field.max)]));
    }
    let rounded = libm::round(value);
    if rounded == value {
        return Ok((rounded as u64, Vec::new()));
    }
    let sentence = [
        &whole_from(field.label, &field.end(field.min), &field.end(field.max), field.example),
        " Using ",
        &quantity::editable(rounded),
        ".",
    ]
    .concat();
    Ok((rounded as u64, vec![sentence]))
}

/// “Prompt is a whole number from 0 to 10,000,000, for example 1024.”
pub(crate) fn whole_from(what: &str, min: &str, max: &str, example: &str) -> String {
    [what, " is a whole number from ", min, " to ", max, ", for example ", example, "."].concat()
}

/// Whether the text is the word for a zero that means none.
fn is_none(field: &Field, text: &str) -> bool {
    field.none.is_some() && text.trim().eq_ignore_ascii_case(writing::NONE)
}

/// What a zero is taken for, and how to say what is meant.
fn zero_means(field: &Field) -> Option<String> {
    let meaning = field.none?;
    let none = writing::NONE;
    let sentence = [
        ZERO_MEANS,
        meaning,
        ". Write ",
        none,
        " to say so, or a value above 0, for example ",
        field.example,
        ". Using ",
        none,
        ".",
    ];
    Some(sentence.concat())
}

/// Read a share of one, and move it into limits given in per cent.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn share(text: &str, what: &str, (min, max): (f64, f64)) -> Result<Taken<f64>, String> {
    let value = reading::real(text, Unit::Percent)?;
    let kept = |end: f64| writing::shifted(end, -reading::shift(Unit::Percent));
    let (end, most) = if value < kept(min) {
        (min, "Least")
    } else if value > kept(max) {
        (max, "Most")
    } else {
        return Ok((value, Vec::new()));
    };
    let number = quantity::editable(end);
    let with_unit = quantity::with_unit(&number, "%");
    Ok((kept(end), vec![format!("{most} we simulate for {what} is {with_unit}. Using {number}.")]))
}

/// Read a plain number and move it into a range of its own.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn plain(text: &str, what: &str, limits: (f64, f64)) -> Result<Taken<f64>, String> {
    measured(text, Unit::Number, what, limits)
}

/// Read a time in seconds and move it into a range of its own.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn seconds(text: &str, what: &str, limits: (f64, f64)) -> Result<Taken<f64>, String> {
    measured(text, Unit::Seconds, what, limits)
}

/// Read a number in a unit and move it into a range of its own.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn measured(
    text: &str,
    unit: Unit,
    what: &str,
    (min, max): (f64, f64),
) -> Result<Taken<f64>, String> {
    let value = reading::real(text, unit)?;
    let (end, most) = if value < min {
        (min, "Least")
    } else if value > max {
        (max, "Most")
    } else {
        return Ok((value, Vec::new()));
    };
    let number = quantity::editable(end);
    let with_unit = match unit {
        Unit::Seconds => quantity::with_unit(&number, "s"),
        _ => number.clone(),
    };
    Ok((end, vec![format!("{most} we simulate for {what} is {with_unit}. Using {number}.")]))
}

/// “Most we simulate is 10,000 req/s. Using 10,000.”
fn beyond(field: &Field, end: f64) -> String {
    if let (true, Some(meaning)) = (end == 0.0, field.none) {
        let none = writing::NONE;
        return [
            "There is nothing below 0; ",
            none,
            " stands for ",
            meaning,
            ". Using ",
            none,
            ".",
        ]
        .concat();
    }
    let most = if end == field.max { "Most" } else { "Least" };
    let number = field.end(end);
    let with_unit = field.with_unit(end);
    format!("{most} we simulate is {with_unit}. Using {number}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FIELDS;

    #[test]
    fn limits_of_whole_numbers_are_told_to_the_last_digit() {
        let seed = crate::field("seed").expect("a field");
        let told = whole(seed, "1e30").map(|(value, sentences)| (value, sentences.concat()));
        let most = "Most we simulate is 18446744073709551615. Using 18446744073709551615.";
        assert_eq!(told, Ok((u64::MAX, most.to_owned())));
        assert_eq!(seed.range().as_deref(), Some("0 to 18446744073709551615"));
        for field in FIELDS.iter().filter(|field| field.is_whole() && field.max > 0.0) {
            for end in [field.min, field.max] {
                let digits = field.end(end).replace(',', "");
                assert_eq!(digits, (end as u64).to_string(), "{}", field.key);
            }
        }
    }
}
