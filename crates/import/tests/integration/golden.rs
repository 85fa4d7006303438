//! The committed traces, value by value.

use import::trace::TraceFormat;

use crate::{bytes, close, golden_path, read};

/// `summary.csv` is from an independent computation; equal but for the order of summation.
#[test]
fn summaries_are_those_computed_independently() {
    let table = String::from_utf8(bytes(&golden_path("summary.csv"))).unwrap();
    let mut files = 0;
    for line in table.lines().skip(1) {
        let (file, numbers) = line.split_once(',').unwrap();
        let want: Vec<f64> = numbers.split(',').map(|text| text.parse().unwrap()).collect();
        let trace = read(file);
        let summary = trace.summary();
        let (input, output) = (summary.input_tokens, summary.output_tokens);
        let got = [
            summary.requests as f64,
            summary.span_s,
            summary.mean_rate_per_s.unwrap(),
            summary.gap_cv.unwrap(),
            input.mean,
            input.p50 as f64,
            input.p99 as f64,
            input.max as f64,
            output.mean,
            output.p50 as f64,
            output.p99 as f64,
            output.max as f64,
        ];
        for (column, (got, want)) in got.into_iter().zip(want).enumerate() {
            assert!(close(got, want), "{file}, number {column}: {got} instead of {want}");
        }
        let replayed = trace.to_trace().unwrap();
        assert_eq!(replayed.rows().len(), trace.rows.len());
        assert_eq!(replayed.mean_rate_per_s(), summary.mean_rate_per_s);
        files += 1;
    }
    assert_eq!(files, 4);
}

#[test]
fn azure_dates_are_the_seconds_that_others_make_of_them() {
    let dates = read("azure_2023_conv_first20.csv");
    let seconds = read("azure_2023_conv_first2000.csv.gz");
    assert_eq!(dates.format, TraceFormat::Azure);
    assert_eq!(seconds.format, TraceFormat::Table);
    assert_eq!(seconds.notes, ["Unpacked with gzip."]);
    // To the bit: nanoseconds are subtracted as whole numbers.
    assert_eq!(dates.rows, seconds.rows[..20]);
    assert_eq!(
        dates.notes,
        ["Times count from the first request, at “2023-11-16 18:15:46.6805900”."]
    );
}

#[test]
fn mooncake_keeps_the_blocks_of_prompts() {
    let trace = read("mooncake_synthetic_first150.jsonl");
    assert_eq!(trace.format, TraceFormat::Mooncake);
    let mut ids: Vec<u64> =
        trace.rows.iter().flat_map(|row| row.prefix_hashes.iter().copied()).collect();
    assert_eq!(ids.len(), 4074);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3763);
    // Blocks are of 512 tokens, the last one not full.
    for row in &trace.rows {
        assert_eq!(row.input_tokens.div_ceil(512), row.prefix_hashes.len() as u64);
    }
}

#[test]
fn a_spreadsheet_of_another_country_is_read() {
    let trace = read("own_semicolons.csv");
    assert_eq!(trace.skipped_total, 0);
    assert_eq!(
        trace.notes,
        [
            "80 requests were earlier than the row above; the rows were sorted by time.",
            "Which requests follow each other in a conversation is not replayed: each request counts for \
             itself."
        ]
    );
    assert!(trace.rows.windows(2).all(|pair| pair[0].arrival_s <= pair[1].arrival_s));
    let sessions = trace.rows.iter().filter_map(|row| row.session).max().unwrap();
    assert_eq!(sessions, 59);
    // Numbered by the file's order: its first line is a later request.
    assert_eq!(trace.rows.iter().find(|row| row.arrival_s == 2.121_151).unwrap().session, Some(0));
}
