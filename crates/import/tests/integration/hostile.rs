//! Files that nobody meant well: each ends in a sentence, soon, and within bounds.

use std::io::Write as _;

use import::{Observed, observe};
use proptest::{collection::vec, prelude::*};

fn message(bytes: &[u8]) -> String {
    match observe(Some("h"), bytes) {
        Err(error) => error.to_string(),
        Ok(found) => panic!("read as {found:?}"),
    }
}

/// What is read holds together: no point without a time, no time that is not above 0.
fn check(bytes: &[u8]) {
    let Ok(Observed::Benchmark(found)) = observe(None, bytes) else { return };
    assert!(!found.points.is_empty());
    for point in &found.points {
        let times = [point.ttft, point.tpot, point.e2e];
        assert!(point.ttft.typical_s().is_some() || point.tpot.typical_s().is_some());
        let all = times.iter().flat_map(|it| [it.mean_s, it.p50_s, it.p90_s, it.p99_s]).flatten();
        assert!(all.into_iter().all(|time_s| time_s > 0.0 && time_s.is_finite()), "{point:?}");
    }
}

const RUN: &str = r#"{"num_prompts": 8, "request_rate": "inf", "max_concurrency": 2, "duration": 1.5,
    "completed": 8, "failed": 0, "total_input_tokens": 256, "total_output_tokens": 128,
    "mean_ttft_ms": 215.5, "mean_tpot_ms": 11.2, "p99_ttft_ms": 734.4, "errors": ["", "a\"b"]}"#;
const START: &str = "INFO Initializing a V1 LLM engine (v0.19.0) with config: model='m', tensor_parallel_size=2\n\
    INFO Model loading took 14.38 GiB memory and 45.5 seconds\nINFO Available KV cache memory: 58.7 GiB\n\
    INFO GPU KV cache size: 480,000 tokens\nINFO Maximum concurrency for 8,192 tokens per request: 58.59x\n\
    INFO Actual usage is 14.41 GiB for weight, 1.96 GiB for peak activation\n";

#[test]
fn truncated_json_says_where_it_ends() {
    for length in [1, 20, RUN.len() / 2, RUN.len() - 1] {
        let text = message(&RUN.as_bytes()[..length]);
        assert!(text.contains("not valid JSON") && text.contains("cut off"), "{length}: {text}");
    }
    check(RUN.as_bytes());
}

#[test]
fn a_hundred_megabytes_end_within_bounds() {
    let numbers = format!("[{}1]", "1,".repeat(50 << 20));
    assert!(message(numbers.as_bytes()).contains("holds more than 3,000,000 values"));
    let text = format!("{{\"a\": \"{}\"}}", "x".repeat(100 << 20));
    assert!(message(text.as_bytes()).contains("its keys are “a”"));
    let blank = " ".repeat(100 << 20);
    assert!(message(blank.as_bytes()).contains("is empty"));
    let nested = "{\"a\":".repeat(20 << 20);
    assert!(message(nested.as_bytes()).contains("not valid JSON"));
    let line = format!("concurrency,ttft_ms\n{}", "1,".repeat(50 << 20));
    assert!(message(line.as_bytes()).contains(" values under 2 column names"));
}

#[test]
fn a_bomb_of_rows_or_columns_ends_in_a_sentence() {
    let rows = format!("concurrency,ttft_ms\n{}", "4,5\n".repeat(8 << 20));
    assert!(message(rows.as_bytes()).contains("more than 20,000 values"));
    let wide = format!("{}\n", "ttft_x_note,".repeat(1 << 20));
    check(wide.as_bytes());
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..300 {
        packer.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    assert!(message(&packer.finish().unwrap()).contains("more than 256 MiB"));
}

#[test]
fn other_encodings_are_undone_or_named() {
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(RUN.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert!(
        matches!(observe(None, &utf16), Ok(Observed::Benchmark(found)) if found.notes[0].contains("UTF-16"))
    );
    assert!(message(b"PK\x03\x04\x14\0").contains("a zip archive or a spreadsheet"));
    let binary: Vec<u8> =
        (0..100_000_u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert!(message(&binary).contains("no column for"), "{}", message(&binary));
    let latin = RUN.replace("a\\\"b", "caf\u{e9}").chars().map(|c| c as u8).collect::<Vec<u8>>();
    check(&latin);
}

/// Pieces of the files that are read.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(RUN.to_owned()),
        Just(START.to_owned()),
        Just("\"mean_ttft_ms\": ".to_owned()),
        Just("{\"benchmarks\": [{\"metrics\": {\"inter_token_latency_ms\": {\"successful\": {\"mean\": ".to_owned()),
        Just("{\"load_summary\": {\"requested_rate\": 1e308}, \"successes\": {\"latency\": ".to_owned()),
        Just("{\"time_to_first_token\": {\"unit\": \"ms\", \"avg\": -1}}".to_owned()),
        Just("concurrency,ttft_ms,tpot_ms,e2e_ms,osl\n".to_owned()),
        Just("GPU KV cache size: ".to_owned()),
        Just("Infinity".to_owned()),
        Just("\"\\".to_owned()),
        "[-]?[0-9]{1,25}([.][0-9]{1,20})?(e[-+]?[0-9]{1,4})?",
        "[,;|\t\r\n\"{}:#\\[\\]-]",
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        check(&bytes);
    }

    #[test]
    fn texts_of_likely_pieces_never_panic(pieces in vec(piece(), 0..30)) {
        check(pieces.concat().as_bytes());
    }

    #[test]
    fn what_is_cut_or_changed_never_panics(cut in 0..400_usize, at in 0..400_usize, byte in any::<u8>()) {
        for whole in [RUN, START] {
            let mut bytes = whole.as_bytes().to_vec();
            let place = at % bytes.len();
            bytes[place] = byte;
            bytes.truncate(bytes.len().saturating_sub(cut));
            check(&bytes);
        }
    }

    #[test]
    fn tables_of_any_numbers_never_panic(rows in vec((piece(), piece(), piece(), piece()), 1..10)) {
        let mut text = "rate,ttft_ms,tpot_ms,e2e_ms\n".to_owned();
        for (a, b, c, d) in rows {
            text.push_str(&format!("{a},{b},{c},{d}\n"));
        }
        check(text.as_bytes());
    }

    #[test]
    fn what_is_written_is_read(
        points in vec((1..5000_u64, 1e-3..100.0_f64, 1e-3..1.0_f64, 2..5000_u64), 1..30),
    ) {
        let mut text = "concurrency,output_tokens,ttft_ms,tpot_ms,e2e_ms\n".to_owned();
        for (count, ttft_s, tpot_s, output) in &points {
            let e2e_s = ttft_s + (output - 1) as f64 * tpot_s;
            text.push_str(&format!("{count},{output},{},{},{}\n", ttft_s * 1e3, tpot_s * 1e3, e2e_s * 1e3));
        }
        let Ok(Observed::Benchmark(found)) = observe(None, text.as_bytes()) else {
            return Err(TestCaseError::fail(text));
        };
        for ((_, ttft_s, tpot_s, _), point) in points.iter().zip(&found.points) {
            prop_assert!((point.ttft.mean_s.unwrap() / ttft_s - 1.0).abs() < 1e-9);
            prop_assert!((point.tpot.mean_s.unwrap() / tpot_s - 1.0).abs() < 1e-9);
        }
        prop_assert_eq!(found.points.len(), points.len());
    }
}
