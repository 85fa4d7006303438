//! Every published run replayed by both engines: each request, each percentile.

use sim_core::{Outcome, Run, simulate, simulate_by_oracle};

use super::reference::{KEEP_ALL, Reference, percentile, summary};

const RELATIVE: f64 = 1e-9;

fn assert_close(what: &str, ours: f64, published: f64) {
    let error = (ours - published).abs() / published.abs();
    assert!(error <= RELATIVE, "{what}: {ours}, published {published}, off by {error:e}");
}

fn assert_requests(reference: &Reference, engine: &str, run: &Run) {
    let requests = run.requests.as_ref().expect("requests were kept");
    assert_eq!(requests.len(), reference.rows.len());
    for (index, (ours, row)) in requests.iter().zip(&reference.rows).enumerate() {
        let what = |event| format!("{} by {engine}, request {index}, {event}", reference.name);
        assert_eq!(ours.outcome, Outcome::Completed, "{}", what("outcome"));
        assert_close(&what("first token"), ours.first_token_s, row.first_token_s);
        assert_close(&what("finish"), ours.finish_s, row.finish_s);
        let (ttft_s, published_s) =
            (ours.first_token_s - ours.arrival_s, row.first_token_s - row.arrival_s);
        assert_close(&what("TTFT"), ttft_s, published_s);
    }
}

fn assert_figures(reference: &Reference, engine: &str, run: &Run) {
    let published = &reference.published;
    let (ours, theirs) = (summary(run), &published.summary);
    assert_eq!(run.itl.count(), published.itl_count, "{} by {engine}", reference.name);
    for (what, value, expected) in [
        ("ITL P50", percentile(&run.itl, 50.0), published.itl_p50),
        ("ITL P99", percentile(&run.itl, 99.0), published.itl_p99),
        ("longest ITL", percentile(&run.itl, 100.0), published.itl_max),
        ("TTFT P50", ours.ttft_p50, theirs.ttft_p50),
        ("TTFT P99", ours.ttft_p99, theirs.ttft_p99),
        ("TPOT P50", ours.tpot_p50, theirs.tpot_p50),
        ("TPOT P99", ours.tpot_p99, theirs.tpot_p99),
        ("output tokens per second", ours.output_tps, theirs.output_tps),
        ("goodput", ours.goodput, theirs.goodput),
        ("share within the target", ours.slo_ok, theirs.slo_ok),
    ] {
        assert_close(&format!("{} by {engine}, {what}", reference.name), value, expected);
    }
}

#[test]
fn both_engines_reproduce_every_published_request_and_figure() {
    let all = Reference::all();
    assert_eq!(all.len(), 8, "every published run is replayed");
    for reference in &all {
        let setup = reference.setup(1.0);
        let fast = simulate(&setup, KEEP_ALL).expect("a valid set-up");
        let slow = simulate_by_oracle(&setup, KEEP_ALL).expect("a valid set-up");
        for (engine, run) in [("the fast engine", &fast), ("the oracle", &slow)] {
            assert_eq!(run.verify(), Ok(()), "{} by {engine}", reference.name);
            assert_requests(reference, engine, run);
            assert_figures(reference, engine, run);
        }
    }
}

#[test]
fn one_arrival_stream_is_behind_every_rate() {
    let unit = Reference::named("rate1");
    for (name, rate) in [("rate10", 10.0), ("rate20", 20.0), ("rate25", 25.0)] {
        for (slow, fast) in unit.rows.iter().zip(&Reference::named(name).rows) {
            assert_close(name, slow.arrival_s / rate, fast.arrival_s);
        }
    }
}
