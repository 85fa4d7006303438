//! Every kind of number, as it is shown.

use quantity::{
    Unit, about, axis_duration, axis_number, change, change_plus_minus, count, count_of, duration,
    explicit, explicit_number, format, memory, money, money_range, number, number_fixed, over,
    per_hour, per_million_tokens, per_month, plus_minus, range, range_tight, rate, share,
    token_rate, tokens, whole, whole_percent, with_interval,
};

/// Compares, with a plain space in the table for the narrow one in the text.
#[track_caller]
fn shows(text: &str, expected: &str) {
    assert_eq!(text.replace('\u{202f}', " "), expected);
}

#[test]
fn a_narrow_space_stands_before_units_and_per_cent() {
    assert_eq!(duration(0.047), "47\u{202f}ms");
    assert_eq!(share(0.25), "25\u{202f}%");
    assert_eq!(duration(500.0), "8\u{202f}min 20\u{202f}s");
}

#[test]
fn times() {
    for (seconds, text) in [
        (0.047, "47 ms"),
        (0.212, "212 ms"),
        (0.0166, "16.6 ms"),
        (0.2124, "212 ms"),
        (0.9994, "999 ms"),
        (0.9995, "1 s"),
        (0.9996, "1 s"),
        (1.0, "1 s"),
        (2.97, "2.97 s"),
        (2.9666, "2.97 s"),
        (53.2, "53.2 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (60.0, "1 min"),
        (119.7, "2 min"),
        (500.0, "8 min 20 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h"),
        (11_400.0, "3 h 10 min"),
        (11_429.0, "3 h 10 min"),
        (7_170.1, "2 h"),
        (359_970.0, "100 h"),
        (864_000.0, "240 h"),
        (0.0001, "0.1 ms"),
        (0.000_085, "85 µs"),
        (0.0, "0 ms"),
        (-0.0, "0 ms"),
        (-0.005, "−5 ms"),
        (-2.5, "−2.5 s"),
        (-500.0, "−8 min 20 s"),
        (f64::NAN, "unknown"),
        (f64::INFINITY, "beyond scale"),
    ] {
        shows(&duration(seconds), text);
    }
    shows(&over(&duration(60.0)), "over 1 min");
}

#[test]
fn rates_counts_and_tokens() {
    for (per_s, text) in [
        (22.6, "22.6 req/s"),
        (22.587, "22.6 req/s"),
        (0.35, "0.35 req/s"),
        (100.0, "100 req/s"),
        (0.0, "0 req/s"),
        (10_000.0, "10,000 req/s"),
        (999.95, "1,000 req/s"),
        (1e-7, "1e−7 req/s"),
        (2.5e17, "2.5e17 req/s"),
    ] {
        shows(&rate(per_s), text);
    }
    shows(&token_rate(4968.0), "4,970 tok/s");
    assert_eq!(count(0), "0");
    assert_eq!(count(999), "999");
    assert_eq!(count(1_746), "1,746");
    assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    assert_eq!(count_of(1_746, 7_434), "1,746 of 7,434");
    shows(&tokens(1024.0), "1,024 tokens");
    shows(&tokens(131_072.0), "131,072 tokens");
    shows(&tokens(1.0), "1 token");
    assert_eq!(quantity::counted(1, "row", "rows"), "1 row");
    assert_eq!(quantity::counted(0, "row", "rows"), "0 rows");
    assert_eq!(quantity::counted(12_345, "row", "rows"), "12,345 rows");
    shows(&format(6.0, Unit::Gpus), "6 GPUs");
    shows(&format(1.0, Unit::Gpus), "1 GPU");
    assert_eq!(whole(2.5), "3");
    assert_eq!(whole(-0.4), "0");
}

#[test]
fn shares() {
    for (value, text) in [
        (0.235, "23.5 %"),
        (0.9997, "99.97 %"),
        (0.999_96, "over 99.99 %"),
        (0.999_94, "99.99 %"),
        (0.99, "99 %"),
        (0.999, "99.9 %"),
        (0.000_05, "under 0.01 %"),
        (0.0001, "0.01 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.25, "25 %"),
        (0.012_34, "1.23 %"),
        (0.1235, "12.4 %"),
        (1.5, "150 %"),
        (-0.1, "−10 %"),
        (f64::NAN, "unknown"),
    ] {
        shows(&share(value), text);
    }
    shows(&format(99.0, Unit::Percent), "99 %");
    shows(&whole_percent(0.356), "36 %");
    shows(&whole_percent(0.355), "36 %");
    shows(&whole_percent(0.0), "0 %");
}

#[test]
fn changes() {
    for (new_over_old, text) in [
        (1.13, "+13 %"),
        (0.22, "−78 %"),
        (1.0, "0 %"),
        (1.004, "+0.4 %"),
        (0.9999, "0 %"),
        (1.994, "+99 %"),
        (5.0, "5 times"),
        (2.0, "2 times"),
        (2.54, "2.5 times"),
        (13.4, "13 times"),
        (0.0, "−100 %"),
    ] {
        shows(&change(new_over_old), text);
    }
    shows(&change_plus_minus(0.22, 0.03), "−78 % ± 3");
}

#[test]
fn sizes_and_speeds() {
    const GIB: f64 = 1_073_741_824.0;
    for (bytes, text) in [
        (14.2 * GIB, "14.2 GiB"),
        (1.2 * GIB, "1.2 GiB"),
        (131.0 * GIB, "131 GiB"),
        (57_344.0, "56 KiB"),
        (0.0, "0 B"),
        (17.0, "17 B"),
        (1023.7 * 1_048_576.0, "1 GiB"),
        (2048.0 * GIB, "2 TiB"),
    ] {
        shows(&memory(bytes), text);
    }
    shows(&format(14.2, Unit::Gibibytes), "14.2 GiB");
    shows(&format(80.0, Unit::Gigabytes), "80 GB");
    shows(&format(3.35e12, Unit::BytesPerSecond), "3.35 TB/s");
    shows(&format(989.4e12, Unit::FlopsPerSecond), "989 TFLOP/s");
    shows(&format(999.9e12, Unit::FlopsPerSecond), "1 PFLOP/s");
    shows(&format(0.5, Unit::BytesPerSecond), "0.5 B/s");
    shows(&format(7.62e9, Unit::Parameters), "7.62 B");
    shows(&format(350e6, Unit::Parameters), "350 M");
}

#[test]
fn amounts_of_money() {
    assert_eq!(per_hour(15.0), "$15.00 / h");
    assert_eq!(per_month(10_950.0), "$10,950 a month");
    assert_eq!(per_million_tokens(0.16), "$0.16 per million tokens");
    assert_eq!(money(1_234_567.0), "$1,234,567");
    assert_eq!(money(999.994), "$999.99");
    assert_eq!(money(999.996), "$1,000");
    assert_eq!(money(0.001_64), "$0.0016");
    assert_eq!(money(0.0), "$0.00");
    assert_eq!(money(-2.5), "−$2.50");
    assert_eq!(money_range(12.0, 21.0), "$12 to $21");
    assert_eq!(money_range(2.0, 3.5), "$2.00 to $3.50");
    assert_eq!(money_range(12.2, 12.4), "$12");
    assert_eq!(money(f64::NAN), "unknown");
}

#[test]
fn intervals() {
    shows(&plus_minus(0.212_3, 0.021_7, Unit::Seconds), "212 ± 22 ms");
    shows(&plus_minus(212.3, 21.7, Unit::Milliseconds), "212 ± 22 ms");
    shows(&plus_minus(1.0346, 0.0123, Unit::Seconds), "1.035 ± 0.012 s");
    shows(&plus_minus(1034.6, 12.3, Unit::Milliseconds), "1.035 ± 0.012 s");
    shows(&plus_minus(22.587, 0.5, Unit::RequestsPerSecond), "22.59 ± 0.50 req/s");
    shows(&plus_minus(4968.0, 1234.0, Unit::TokensPerSecond), "5,000 ± 1,200 tok/s");
    shows(&plus_minus(0.0166, 0.0, Unit::Seconds), "16.6 ms");
    shows(&plus_minus(0.9873, 0.0123, Unit::Share), "98.7 ± 1.2 %");
    shows(&plus_minus(1.0, 0.0996, Unit::Seconds), "1.00 ± 0.10 s");
    shows(&plus_minus(f64::NAN, 1.0, Unit::Seconds), "unknown");
    assert_eq!(with_interval(22.6, 22.2, 23.2), "22.6 (22.2 to 23.2)");
    assert_eq!(with_interval(212.3, 190.6, 234.0), "212 (191 to 234)");
    assert_eq!(range(5.0, 7.0), "5 to 7");
    assert_eq!(range(6.0, 6.0), "6");
    assert_eq!(range_tight(5.0, 6.0), "5–6");
    shows(&about("6"), "≈ 6");
}

#[test]
fn axes_may_shorten() {
    for (value, text) in [
        (0.0, "0"),
        (25.0, "25"),
        (0.02, "0.02"),
        (2_500.0, "2,500"),
        (10_000.0, "10k"),
        (1_500_000.0, "1.5M"),
        (2e9, "2G"),
        (0.1 + 0.2, "0.3"),
    ] {
        shows(&axis_number(value), text);
    }
    for (seconds, text) in [
        (0.01, "10 ms"),
        (0.5, "500 ms"),
        (1.0, "1 s"),
        (100.0, "100 s"),
        (2e4, "20k s"),
        (0.0, "0"),
    ] {
        shows(&axis_duration(seconds), text);
    }
}

#[test]
fn fields_keep_their_unit_and_their_digits() {
    for (value, unit, text) in [
        (1000.0, Unit::Milliseconds, "1,000 ms"),
        (1250.0, Unit::Milliseconds, "1,250 ms"),
        (0.5, Unit::Milliseconds, "0.5 ms"),
        (1.0, Unit::Seconds, "1 s"),
        (0.25, Unit::Share, "25 %"),
        (0.9975, Unit::Share, "99.75 %"),
        (1024.0, Unit::Tokens, "1,024 tokens"),
        (2.5, Unit::DollarsPerHour, "$2.5 / h"),
        (0.7, Unit::Number, "0.7"),
        (256.0, Unit::Count, "256"),
    ] {
        shows(&explicit(value, unit), text);
    }
    assert_eq!(explicit_number(1000.0, Unit::Milliseconds), "1,000");
    assert_eq!(explicit_number(0.25, Unit::Share), "25");
    shows(&format(1000.0, Unit::Milliseconds), "1 s");
}

#[test]
fn plain_numbers() {
    for (value, text) in [
        (22.587, "22.6"),
        (4_968.0, "4,970"),
        (0.35, "0.35"),
        (-0.0, "0"),
        (-0.000_012_3, "−0.0000123"),
        (f64::NEG_INFINITY, "beyond scale"),
    ] {
        assert_eq!(number(value), text);
    }
    assert_eq!(number_fixed(22.0, 1), "22.0");
    assert_eq!(number_fixed(-0.04, 1), "0.0");
    assert_eq!(number_fixed(1234.5, 0), "1,235");
}

#[test]
fn neighbours_that_differ_look_different() {
    use quantity::{distinct, number_to, rounded_to};
    assert_eq!(distinct(&[5.0, 21.92, 21.934, 40.0]), ["5", "21.92", "21.93", "40"]);
    assert_eq!(distinct(&[21.9, 21.9]), ["21.9", "21.9"]);
    assert_eq!(distinct(&[]), Vec::<String>::new());
    // Seven digits are the most.
    assert_eq!(distinct(&[1.0, 1.000_000_1]), ["1", "1"]);
    assert_eq!(number_to(4_905.83, 5), "4,905.8");
    assert_eq!(rounded_to(4_905.83, 3), 4_910.0);
    assert_eq!(number_to(f64::NAN, 5), "unknown");
}
