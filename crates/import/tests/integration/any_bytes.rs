//! Properties: nothing panics, and what is written is read.

use import::{servegen, trace};
use proptest::{collection::vec, prelude::*};

/// Reading ends, and what is read can be replayed.
fn check(bytes: &[u8]) {
    if let Ok(trace) = trace::read(None, bytes) {
        assert!(!trace.rows.is_empty());
        assert!(trace.to_trace().is_ok(), "{:?}", trace.rows);
        let summary = trace.summary();
        assert!(summary.span_s >= 0.0 && summary.input_tokens.mean.is_finite());
    }
    let _ = servegen::read(Some("x"), bytes);
}

/// Pieces of the files that are read, so that random texts get past the header.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("arrival_s,input_tokens,output_tokens\n".to_owned()),
        Just("TIMESTAMP;ContextTokens;GeneratedTokens\r\n".to_owned()),
        Just("workload,t_window_s,field,bin_lo,bin_hi,prob\n".to_owned()),
        Just("{\"timestamp\": 1, \"input_length\": 2, \"output_length\": 3}\n".to_owned()),
        Just("{\"metadata\": {\"request_start_ns\": 1e30}, \"metrics\": 0}\n".to_owned()),
        Just("2023-11-16 18:15:46.6805900".to_owned()),
        "[0-9]{1,40}",
        "[0-9]{0,20}[.,][0-9]{0,40}(e[-+]?[0-9]{1,12})?",
        "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2})?([.][0-9]{0,12})?(Z|[-+][0-9]{2}:?[0-9]{0,2})?",
        "[,;|\t\r\n\"{}:#\\[\\]-]",
        any::<String>(),
    ]
}

fn gzip(text: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

proptest! {
    #[test]
    fn bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        check(&bytes);
    }

    #[test]
    fn broken_gzip_never_panics(bytes in vec(any::<u8>(), 0..200), text in "[a-z0-9,\n]{0,80}") {
        check(&[&[0x1f, 0x8b, 8, 0][..], &bytes].concat());
        let mut packed = gzip(text.as_bytes());
        packed.extend(bytes);
        check(&packed);
    }

    #[test]
    fn texts_of_likely_pieces_never_panic(pieces in vec(piece(), 0..40)) {
        check(pieces.concat().as_bytes());
    }

    #[test]
    fn tables_of_likely_cells_never_panic(rows in vec((piece(), piece(), piece()), 1..20)) {
        let mut text = "timestamp,input_tokens,output_tokens\n".to_owned();
        for (a, b, c) in rows {
            text.push_str(&format!("{a},{b},{c}\n"));
        }
        check(text.as_bytes());
    }

    #[test]
    fn what_is_written_is_read(
        rows in vec((0.0..1e7_f64, 0..1_000_000_000_u64, 1..1_000_000_000_u64), 1..50),
        separator in prop_oneof![Just(','), Just(';'), Just('\t'), Just('|')],
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n")],
        packed in any::<bool>(),
    ) {
        let mut text = ["output_tokens", "arrival_s", "input_tokens"].join(&separator.to_string());
        text.push_str(end);
        for (arrival_s, input, output) in &rows {
            text.push_str(&format!("{output}{separator}{arrival_s}{separator}{input}{end}"));
        }
        let bytes = if packed { gzip(text.as_bytes()) } else { text.into_bytes() };
        let trace = trace::read(None, &bytes).unwrap();
        let mut want = rows;
        want.sort_by(|a, b| a.0.total_cmp(&b.0));
        let got: Vec<_> =
            trace.rows.iter().map(|row| (row.arrival_s, row.input_tokens, row.output_tokens)).collect();
        prop_assert_eq!(got, want);
        prop_assert_eq!(trace.skipped_total, 0);
    }
}
