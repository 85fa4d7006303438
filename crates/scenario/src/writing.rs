//! Numbers to texts that read back to the same bits.

use quantity::Unit;

use crate::{field::Field, reading};

/// What stands for a zero that means none.
pub(crate) const NONE: &str = "none";

/// The shortest decimal text of `value · 10^shift` that reads back exactly.
pub(crate) use quantity::plain as decimal;

/// A time in seconds with its unit: `60s`.
pub(crate) fn seconds(value_s: f64) -> String {
    format!("{}s", decimal(value_s, 0))
}

/// A real number as links write it, such that it reads back to the same bits.
pub(crate) fn real(value: f64, unit: Unit) -> String {
    let (written, exact) = match unit {
        Unit::Milliseconds => {
            (format!("{}ms", decimal(value, 3)), format!("{}s", decimal(value, 0)))
        }
        // A bare number up to one is read as a share, so that up to one per cent is written as one.
        Unit::Percent if value > 0.01 => (decimal(value, 2), decimal(value, 0)),
        _ => return decimal(value, 0),
    };
    // Of numbers with sixteen and more digits some have no decimal neighbour in the written unit.
    if reading::real(&written, unit) == Ok(value) { written } else { exact }
}

/// The real number of a setting, as links write it.
pub(crate) fn setting(value: f64, field: &Field) -> String {
    if value == 0.0 && field.none.is_some() { NONE.to_owned() } else { real(value, field.quantity) }
}

/// The float nearest to `value · 10^shift`, by its shortest decimal text.
pub(crate) fn shifted(value: f64, shift: i32) -> f64 {
    quantity::nearest_double(&decimal(value, shift)).unwrap_or(value)
}

/// Decimal gigabytes, as vendors count: “80 GB”.
pub(crate) fn gigabytes(bytes: f64) -> String {
    quantity::format(bytes / 1e9, Unit::Gigabytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_short_and_positional_where_people_read_them() {
        for (value, shift, text) in [
            (0.0, 0, "0"),
            (-0.0, 3, "0"),
            (1.0, 3, "1000"),
            (0.04, 3, "40"),
            (0.0255, 3, "25.5"),
            (0.99, 2, "99"),
            (0.07, 2, "7"),
            (0.9999, 2, "99.99"),
            (0.0005, 0, "0.0005"),
            (0.000_05, 0, "0.00005"),
            (0.000_005, 0, "5e-6"),
            (57_344.0, 0, "57344"),
            (959_123_000.0, 0, "959123000"),
            (15.2e9, 0, "1.52e10"),
            (989e12, 0, "9.89e14"),
            (-12.5, 0, "-12.5"),
        ] {
            assert_eq!(decimal(value, shift), text);
        }
        assert_eq!(decimal(f64::NAN, 0), "NaN");
        assert_eq!(decimal(f64::INFINITY, 3), "inf");
        assert_eq!(gigabytes(15.2e9), "15.2\u{202f}GB");
    }

    #[test]
    fn without_a_shift_every_float_reads_back() {
        let mut bits = 1u64;
        for _ in 0..20_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(bits);
            if value.is_finite() && value != 0.0 {
                assert_eq!(decimal(value, 0).parse(), Ok(value));
            }
        }
    }
}
