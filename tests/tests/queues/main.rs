//! Batching, generation and overload against published simulators, request by request.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod batching;
mod generation;
mod little;
mod overload;
mod own;

use std::{path::Path, sync::Arc};

use sim_core::{Trace, TraceRow, Workload, workload::RequestSource};

/// The columns of a golden file, by name.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/queues").join(name);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        let header = lines.next().expect("a header");
        Self { header, rows: lines.collect() }
    }

    fn texts(&self, column: &str) -> Vec<&str> {
        let index = self.header.iter().position(|name| name == column).expect("the column");
        self.rows.iter().map(|row| row[index].as_str()).collect()
    }

    /// Numbers of a column; an empty cell is NaN.
    fn numbers(&self, column: &str) -> Vec<f64> {
        let number = |text: &str| {
            if text.is_empty() { f64::NAN } else { text.parse().expect("a number") }
        };
        self.texts(column).into_iter().map(number).collect()
    }
}

/// A workload that replays arrivals and output lengths; prompts are empty.
fn replay(arrivals_s: &[f64], outputs: impl Iterator<Item = u64>) -> Workload {
    let rows: Vec<TraceRow> = arrivals_s
        .iter()
        .zip(outputs)
        .map(|(&arrival_s, output_tokens)| TraceRow { arrival_s, input_tokens: 0, output_tokens })
        .collect();
    let requests = rows.len() as u64;
    let trace = Arc::new(Trace::new(rows).expect("arrivals in order"));
    Workload { source: RequestSource::Replay { trace, speed: 1.0 }, requests }
}

fn assert_close(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{what}: {ours} against {theirs}");
}

/// Nearest-rank percentile of `values`, written out as the reference for the measures.
fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}
