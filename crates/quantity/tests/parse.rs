//! What people type, and what it comes to.

use quantity::{Dimension, ParseError, Unit, explicit, format, parse};

#[track_caller]
fn reads(text: &str, unit: Unit, expected: f64) {
    assert_eq!(parse(text, unit), Ok(expected), "{text:?} as {unit:?}");
}

#[test]
fn plain_numbers_are_in_the_unit_asked_for() {
    reads("100", Unit::RequestsPerSecond, 100.0);
    reads(" 40 ", Unit::Milliseconds, 40.0);
    reads("1,024", Unit::Tokens, 1024.0);
    reads("1,024,000.5", Unit::Number, 1_024_000.5);
    reads("1\u{202f}024", Unit::Tokens, 1024.0);
    reads("1 024", Unit::Tokens, 1024.0);
    reads("1e3", Unit::RequestsPerSecond, 1000.0);
    reads("1E+3", Unit::Number, 1000.0);
    reads("2.5e\u{2212}3", Unit::Number, 0.0025);
    reads("\u{2212}5", Unit::Number, -5.0);
    reads("+5", Unit::Number, 5.0);
    reads(".5", Unit::Number, 0.5);
    reads("5.", Unit::Number, 5.0);
    assert!(parse("-0", Unit::Number).is_ok_and(f64::is_sign_positive));
}

#[test]
fn times_of_every_kind() {
    reads("2 s", Unit::Milliseconds, 2000.0);
    reads("2s", Unit::Seconds, 2.0);
    reads("0.5ms", Unit::Milliseconds, 0.5);
    reads("0.5ms", Unit::Seconds, 0.0005);
    reads("40 ms", Unit::Seconds, 0.04);
    reads("16.6 ms", Unit::Seconds, 0.0166);
    reads("85 µs", Unit::Seconds, 0.000_085);
    reads("85us", Unit::Milliseconds, 0.085);
    reads("5 min", Unit::Seconds, 300.0);
    reads("8 min 20 s", Unit::Seconds, 500.0);
    reads("8min20s", Unit::Seconds, 500.0);
    reads("3 h 10 min", Unit::Seconds, 11_400.0);
    reads("-8 min 20 s", Unit::Seconds, -500.0);
    reads("1 day", Unit::Seconds, 86_400.0);
    reads("1e-3 seconds", Unit::Milliseconds, 1.0);
    reads("1 s", Unit::Milliseconds, 1000.0);
}

#[test]
fn rates_tokens_and_counts() {
    reads("100 req/s", Unit::RequestsPerSecond, 100.0);
    reads("100 requests per second", Unit::RequestsPerSecond, 100.0);
    reads("1.5k", Unit::RequestsPerSecond, 1500.0);
    reads("1.5k req/s", Unit::RequestsPerSecond, 1500.0);
    reads("100rps", Unit::RequestsPerSecond, 100.0);
    reads("100 qps", Unit::RequestsPerSecond, 100.0);
    reads("600 req/min", Unit::RequestsPerSecond, 10.0);
    reads("5 /s", Unit::RequestsPerSecond, 5.0);
    reads("4096 tokens", Unit::Tokens, 4096.0);
    reads("4k tokens", Unit::Tokens, 4000.0);
    reads("1 token", Unit::Tokens, 1.0);
    reads("4,970 tok/s", Unit::TokensPerSecond, 4970.0);
    reads("2M", Unit::Tokens, 2e6);
    reads("256 sequences", Unit::Count, 256.0);
    reads("6 GPUs", Unit::Gpus, 6.0);
    reads("7.62B", Unit::Parameters, 7.62e9);
    reads("350M parameters", Unit::Parameters, 350e6);
}

#[test]
fn shares_sizes_speeds_and_money() {
    reads("25 %", Unit::Share, 0.25);
    reads("99.9%", Unit::Share, 0.999);
    reads("0.25", Unit::Share, 0.25);
    reads("1", Unit::Share, 1.0);
    reads("25", Unit::Share, 0.25);
    reads("25 percent", Unit::Percent, 25.0);
    reads("0.5", Unit::Percent, 0.5);
    reads("14.2 GiB", Unit::Gibibytes, 14.2);
    reads("1 GiB", Unit::Bytes, 1_073_741_824.0);
    reads("80 GB", Unit::Gigabytes, 80.0);
    reads("80 GB", Unit::Bytes, 80e9);
    reads("56 KiB", Unit::Bytes, 57_344.0);
    reads("57344", Unit::Bytes, 57_344.0);
    reads("3.35 TB/s", Unit::BytesPerSecond, 3.35e12);
    reads("989 TFLOP/s", Unit::FlopsPerSecond, 989e12);
    reads("989 TFLOPS", Unit::FlopsPerSecond, 989e12);
    reads("989T", Unit::FlopsPerSecond, 989e12);
    reads("$2.50", Unit::DollarsPerHour, 2.5);
    reads("$2.50 / h", Unit::DollarsPerHour, 2.5);
    reads("2.5 $/h", Unit::DollarsPerHour, 2.5);
    reads("\u{2212}$2.50", Unit::Dollars, -2.5);
    reads("10,950 dollars", Unit::Dollars, 10_950.0);
}

#[track_caller]
fn refuses(text: &str, unit: Unit, message: &str) {
    let said = parse(text, unit).map_err(|error| error.to_string());
    assert_eq!(said, Err(message.to_owned()));
}

#[test]
fn errors_name_what_was_wrong() {
    refuses("abc", Unit::RequestsPerSecond, "“abc” is not a request rate");
    refuses("", Unit::Seconds, "Nothing typed where a time belongs");
    refuses("  ", Unit::Seconds, "Nothing typed where a time belongs");
    refuses("2 kg", Unit::Seconds, "“2 kg” is not a time; write ms or s");
    refuses("2 kg", Unit::Milliseconds, "“2 kg” is not a time; write ms or s");
    refuses("NaN", Unit::Number, "“NaN” is not a plain number");
    refuses("inf", Unit::Seconds, "“inf” is too large for a time");
    refuses("-∞", Unit::Seconds, "“-∞” is too large for a time");
    refuses("1e999", Unit::Number, "“1e999” is too large for a plain number");
    refuses("1e308 h", Unit::Seconds, "“1e308 h” is too large for a time");
    refuses("2 s", Unit::Tokens, "“2 s” is not a number of tokens; write tokens, or no unit");
    refuses("40 ms", Unit::RequestsPerSecond, "“40 ms” is not a request rate; write req/s");
    refuses("5 k", Unit::Share, "“5 k” is not a share; write %, or a number from 0 to 1");
    refuses(
        "1,5",
        Unit::Seconds,
        "“1,5” is not a time; write a point for decimals, a comma only for thousands",
    );
    refuses("1.2.3", Unit::Number, "“1.2.3” is not a plain number");
    refuses("--5", Unit::Number, "“--5” is not a plain number");
    refuses("5 min -3 s", Unit::Seconds, "“5 min -3 s” is not a time");
    refuses("5 min 3", Unit::Seconds, "“5 min 3” is not a time; write ms or s");
    assert_eq!(
        parse("2 kg", Unit::Seconds),
        Err(ParseError::WrongUnit {
            text: "2 kg".to_owned(),
            unit: "kg".to_owned(),
            expected: Dimension::Time
        })
    );
}

#[test]
fn commas_are_for_thousands_only() {
    for text in ["1,5", "1,0000", ",100", "1234,567", "1.5,000", "1,,000", "1,000,"] {
        assert!(
            matches!(parse(text, Unit::Number), Err(ParseError::Comma { .. })),
            "{text}: {:?}",
            parse(text, Unit::Number)
        );
    }
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "", " ", "1", ",", ".", "e", "-", "\u{2212}", "%", "$", "ms", "min", "per", "/", "µ", "∞",
        "k",
    ];
    let units = [Unit::Seconds, Unit::Tokens, Unit::Share, Unit::DollarsPerHour, Unit::Bytes];
    for a in pieces {
        for b in pieces {
            for c in pieces {
                for d in pieces {
                    let text = [a, b, c, d].concat();
                    for unit in units {
                        if let Ok(value) = parse(&text, unit) {
                            assert!(value.is_finite(), "{text}");
                        }
                    }
                }
            }
        }
    }
}

const UNITS: [Unit; 19] = [
    Unit::Seconds,
    Unit::Milliseconds,
    Unit::RequestsPerSecond,
    Unit::Tokens,
    Unit::TokensPerSecond,
    Unit::Share,
    Unit::Percent,
    Unit::Bytes,
    Unit::Gibibytes,
    Unit::Gigabytes,
    Unit::BytesPerSecond,
    Unit::Flops,
    Unit::FlopsPerSecond,
    Unit::Parameters,
    Unit::Count,
    Unit::Gpus,
    Unit::Dollars,
    Unit::DollarsPerHour,
    Unit::Number,
];

/// Numbers of all sizes between the two powers of ten, the same in every run.
fn values(from: i32, to: i32) -> impl Iterator<Item = f64> {
    let mut state = 1_u64;
    (0..1000).map(move |i| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mantissa = 1.0 + 9.0 * (state >> 11) as f64 / (1_u64 << 53) as f64;
        let power = from + i % (to - from);
        format!("{mantissa}e{power}").parse().unwrap_or(1.0)
    })
}

#[test]
fn what_a_field_shows_reads_back_to_twelve_digits() {
    for unit in UNITS {
        for value in values(-6, 14) {
            let text = explicit(value, unit);
            let back = parse(&text, unit).expect(&text);
            assert!((back - value).abs() <= 1e-11 * value, "{value} {unit:?}: {text} is {back}");
        }
    }
}

#[test]
fn what_is_shown_reads_back_close() {
    for unit in UNITS {
        // Whole things and money are shown to the piece and the cent.
        let from = match unit {
            Unit::Tokens | Unit::Count | Unit::Gpus | Unit::Parameters | Unit::Bytes => 2,
            Unit::Dollars | Unit::DollarsPerHour => 1,
            Unit::Share => -2,
            Unit::Percent => 0,
            _ => -4,
        };
        for value in values(from, if matches!(unit, Unit::Share) { 0 } else { 7 }) {
            let text = format(value, unit);
            if text.starts_with("over") {
                continue;
            }
            let back = parse(&text, unit).expect(&text);
            assert!((back - value).abs() <= 0.01 * value, "{value} {unit:?}: {text} is {back}");
        }
    }
}
