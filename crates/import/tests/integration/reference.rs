//! Whole published traces against their published summary. The traces are too large to be kept
//! here: `HEADROOM_REFERENCE_TRACES=<folder> cargo test -p import --features published-traces`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use import::{
    servegen::{self, Statistics},
    trace::{self, ImportedTrace},
};

use crate::bytes;

fn folder() -> PathBuf {
    std::env::var_os("HEADROOM_REFERENCE_TRACES").expect("HEADROOM_REFERENCE_TRACES is set").into()
}

/// The published summary: column to text, by trace.
fn summaries(folder: &Path) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut reader = csv_rows(&String::from_utf8(bytes(&folder.join("SUMMARY.csv"))).unwrap());
    let header = reader.remove(0);
    reader
        .into_iter()
        .map(|row| (row[0].clone(), header.iter().cloned().zip(row).collect()))
        .collect()
}

/// Rows of a table with quotation marks.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let parts = line.split('"').enumerate();
        let joined: String = parts
            .map(|(index, part)| if index % 2 == 1 { part.replace(',', " ") } else { part.into() })
            .collect();
        joined.split(',').map(str::to_owned).collect()
    };
    text.lines().map(row).collect()
}

/// Equal to all printed digits.
fn assert_printed(what: &str, got: f64, printed: &str) {
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let want: f64 = printed.parse().unwrap();
    let digit = (0..decimals).fold(1.0, |digit, _| digit / 10.0);
    assert!((got - want).abs() <= 0.5 * digit + 1e-9, "{what}: {got} instead of {printed}");
}

/// The published percentiles are interpolated between order statistics.
fn interpolated(
    trace: &ImportedTrace,
    percent: f64,
    length: fn(&trace::ImportedRequest) -> u64,
) -> f64 {
    let mut lengths: Vec<u64> = trace.rows.iter().map(length).collect();
    lengths.sort_unstable();
    let place = percent / 100.0 * (lengths.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    lengths[low] as f64 + place.fract() * (lengths[high] - lengths[low]) as f64
}

#[test]
fn traces_match_their_published_summary() {
    let folder = folder();
    let summaries = summaries(&folder);
    for (file, row) in [
        ("azure2023_conv.csv", "azure2023_conv"),
        (
            "llmservingsim_RTX4090_Llama-3.1-8B.csv",
            "llmservingsim sharegpt sps10 (RTX4090 Llama-3.1-8B)",
        ),
        (
            "llmservingsim_RTXPRO6000_Qwen3-32B.csv",
            "llmservingsim sharegpt sps10 (RTXPRO6000 Qwen3-32B)",
        ),
    ] {
        let published = &summaries[row];
        let trace = trace::read(Some(file), &bytes(&folder.join(file))).unwrap();
        assert_eq!(trace.skipped_total, 0, "{file}");
        let summary = trace.summary();
        let number = summary.requests as f64;
        let (input, output) = (summary.input_tokens, summary.output_tokens);
        for (column, got) in [
            ("n", number),
            ("duration_s", summary.span_s),
            // Published over requests, ours over gaps.
            ("mean_rate_rps", summary.mean_rate_per_s.unwrap() * number / (number - 1.0)),
            ("cv_interarrival", summary.gap_cv.unwrap()),
            ("in_mean", input.mean),
            ("in_p50", interpolated(&trace, 50.0, |row| row.input_tokens)),
            ("in_p99", interpolated(&trace, 99.0, |row| row.input_tokens)),
            ("in_max", input.max as f64),
            ("out_mean", output.mean),
            ("out_p50", interpolated(&trace, 50.0, |row| row.output_tokens)),
            ("out_p99", interpolated(&trace, 99.0, |row| row.output_tokens)),
            ("out_max", output.max as f64),
        ] {
            assert_printed(&format!("{file}, {column}"), got, &published[column]);
        }
        if file == "azure2023_conv.csv" {
            // With this many requests the nearest ranks are the published percentiles.
            let ranks = [input.p50, input.p99, output.p50, output.p99];
            assert_eq!(ranks, [1020, 4142, 129, 601]);
        }
    }
}

#[test]
fn the_mooncake_head_is_read_whole() {
    let file = "mooncake_synthetic_head1500.jsonl";
    let trace = trace::read(Some(file), &bytes(&folder().join(file))).unwrap();
    let summary = trace.summary();
    assert_eq!((summary.requests, trace.skipped_total), (1500, 0));
    assert_eq!(summary.span_s, 405.914);
    let largest = trace.rows.iter().flat_map(|row| &row.prefix_hashes).max();
    assert_eq!(largest, Some(&26_751));
}

#[test]
fn statistics_match_their_published_summary() {
    let folder = folder();
    let summaries = summaries(&folder);
    let read = |file: &str| servegen::read(Some(file), &bytes(&folder.join(file))).unwrap();
    let Statistics::Rates(rates) = read("servegen_rate_600s.csv") else { panic!("rates") };
    let Statistics::Clients(clients) = read("servegen_clients_peak.csv") else { panic!("clients") };
    let Statistics::Lengths(lengths) = read("servegen_token_hist_peak.csv") else {
        panic!("lengths")
    };
    assert_eq!((rates.len(), clients.len(), lengths.len()), (5, 5, 17));
    for series in &rates {
        let published = &summaries[&format!("ServeGen {}", series.workload)];
        let name = &series.workload;
        assert_printed(name, series.mean_rate_per_s(), &published["mean_rate_rps"]);
        let peak = published["peak_over_mean_60s"].split(' ').next().unwrap();
        assert_printed(name, series.peak_over_mean().unwrap(), peak);
        let group = clients.iter().find(|group| group.workload == *name).unwrap();
        let cv = published["cv_interarrival"].split(' ').nth(2).unwrap();
        assert_printed(name, group.rate_weighted_cv().unwrap(), cv);
        for (field, column) in [("input_tokens", "in_mean"), ("output_tokens", "out_mean")] {
            let histogram = lengths.iter().find(|one| one.workload == *name && one.field == field);
            if let Some(histogram) = histogram {
                // The published mean is that of shares before they were rounded to six decimals.
                let mean = histogram.mean_tokens().unwrap();
                let middles = histogram.bins.iter().map(|bin| 0.5 * (bin.from + bin.to));
                let rounding: f64 = middles.map(|middle| 5e-7 * (middle - mean).abs()).sum();
                let printed: f64 = published[column].parse().unwrap();
                assert!((mean - printed).abs() <= 0.05 + rounding, "{name}: {mean}");
                assert!(rounding < 1.0, "{name}: {rounding}");
            }
        }
    }
}
