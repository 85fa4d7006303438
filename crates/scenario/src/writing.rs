//! Numbers to texts that read back to the same bits.

/// The shortest decimal text of `value · 10^shift` that reads back exactly.
pub(crate) fn decimal(value: f64, shift: i32) -> String {
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let Ok(exponent) = exponent.parse::<i32>() else { return scientific };
    let exponent = exponent + shift;
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits = mantissa.replace('.', "");
    let positional = match exponent {
        _ if value == 0.0 => "0".to_owned(),
        -5..0 => format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize)),
        0..9 => {
            let before = exponent as usize + 1;
            if digits.len() <= before {
                format!("{digits}{}", "0".repeat(before - digits.len()))
            } else {
                format!("{}.{}", &digits[..before], &digits[before..])
            }
        }
        _ => format!("{mantissa}e{exponent}"),
    };
    format!("{sign}{positional}")
}

/// A number in a sentence, thousands set apart by commas.
pub(crate) fn spoken(value: f64) -> String {
    let text = if value.abs() < 1e15 { format!("{value}") } else { decimal(value, 0) };
    let (whole, rest) = text.split_at(text.find(['.', 'e']).unwrap_or(text.len()));
    let digits = whole.trim_start_matches('-');
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if whole.starts_with('-') { "−" } else { "" };
    format!("{sign}{grouped}{rest}")
}

/// Decimal gigabytes, as vendors count: `80 GB`, `15.2 GB`.
pub(crate) fn gigabytes(bytes: f64) -> String {
    let tenths = libm::round(bytes / 1e8) / 10.0;
    format!("{tenths}\u{202f}GB")
}
