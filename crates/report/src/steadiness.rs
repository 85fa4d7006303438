//! How far the figures of one run can be trusted: verdict, warm-up, intervals, sample.

use quantity::{count, duration, rate, share, token_rate};
use serde_json::{Value, json};
use sim_core::{
    Run,
    measure::{Interval, Intervals, Judgement, PercentileAdvice, Reason, Verdict},
};

use crate::{table, windows, words};

/// The percentile that advice is given on.
const TAIL_PERCENT: f64 = 99.0;

/// What a run was, in a sentence.
pub(crate) fn verdict(run: &Run) -> String {
    let Judgement { reason, .. } = run.judgement();
    match reason {
        Reason::Settled => words::RUN_STABLE.to_owned(),
        Reason::KeepsUp => words::RUN_KEEPS_UP.to_owned(),
        Reason::StillChanging => words::RUN_STILL_CHANGING.to_owned(),
        Reason::TooShort => words::RUN_TOO_SHORT.to_owned(),
        Reason::PilesUp { came, left } => words::run_overloaded(came, left),
    }
}

/// That a percentile rests on few values; nothing where there are enough.
pub(crate) fn sample_advice(requests: u64) -> Option<String> {
    let advice = PercentileAdvice::new(TAIL_PERCENT, requests).ok()?;
    (!advice.is_enough())
        .then(|| words::sample_advice(requests, &advice.rank_in_words(), advice.about_needed()))
}

/// The intervals as a table, under what they are of; why there are none, where there are none.
pub(crate) fn intervals(run: &Run, is_recording: bool) -> String {
    if run.judgement().verdict == Verdict::Overloaded {
        return words::NO_STEADY_STATE.to_owned() + "\n";
    }
    if run.windows.varies() {
        // A recording is what it is; nothing of it is drawn again.
        let way_out = if is_recording { "" } else { words::COMPARE_SEEDS };
        return [words::NO_ALIKE_BATCHES, way_out, "\n"].concat();
    }
    let Some(intervals) = run.intervals() else { return words::NO_INTERVALS.to_owned() + "\n" };
    let warm_up_s = warm_up_s(run).unwrap_or(0.0);
    let rows: Vec<Vec<String>> = figures(&intervals)
        .iter()
        .filter_map(|(name, figure, tell)| {
            let Interval { value, low, high, reliable, .. } = (*figure)?;
            let note = if reliable { "" } else { words::CORRELATED };
            let cells = [(*name).to_owned(), tell(value), tell(low), tell(high), note.to_owned()];
            Some(cells.to_vec())
        })
        .collect();
    let title = words::steady_state(warm_up_s);
    format!("{title}\n{}", table::aligned(&["", "value", "from", "to", ""], &rows))
}

type Figure = (&'static str, Option<Interval>, fn(f64) -> String);

fn figures(intervals: &Intervals) -> [Figure; 10] {
    [
        ("TTFT mean", intervals.ttft_mean_s, duration),
        ("TTFT P50", intervals.ttft_p50_s, duration),
        ("TTFT P90", intervals.ttft_p90_s, duration),
        ("TTFT P99", intervals.ttft_p99_s, duration),
        ("TPOT mean", intervals.tpot_mean_s, duration),
        ("end to end mean", intervals.e2e_mean_s, duration),
        ("queue wait mean", intervals.queue_wait_mean_s, duration),
        ("in target", intervals.slo_share, share),
        ("finished", intervals.throughput_per_s, rate),
        ("output", intervals.output_tokens_per_s, token_rate),
    ]
}

/// When the warm-up ends, in seconds from the start.
fn warm_up_s(run: &Run) -> Option<f64> {
    Some(run.warm_up()?.drop as f64 * run.windows.width_s())
}

/// Each class of a run with its figures, in the order of its names.
pub(crate) fn classes(run: &Run, names: &[String]) -> String {
    const HEADER: [&str; 9] = [
        "class",
        "sent",
        "finished",
        "in target",
        "TTFT P50",
        "TTFT P99",
        "TPOT P50",
        "TPOT P99",
        "end to end P99",
    ];
    let rows: Vec<Vec<String>> = run
        .classes
        .iter()
        .zip(names)
        .map(|(class, name)| {
            let told = |value: Option<f64>| quantity::duration_or_unknown(value);
            vec![
                name.clone(),
                count(class.offered),
                count(class.completed),
                share(class.slo_share()),
                told(class.ttft.percentile(50.0)),
                told(class.ttft.percentile(TAIL_PERCENT)),
                told(class.tpot.percentile(50.0)),
                told(class.tpot.percentile(TAIL_PERCENT)),
                told(class.e2e.percentile(TAIL_PERCENT)),
            ]
        })
        .collect();
    table::aligned(&HEADER, &rows)
}

/// Verdict, warm-up and intervals for machines. What cannot be told is `null`.
pub(crate) fn steadiness_json(run: &Run) -> Value {
    let Judgement { verdict, reason } = run.judgement();
    let told = verdict != Verdict::Overloaded;
    let intervals = run.intervals().filter(|_| told).map(|intervals| {
        json!({
            "level": 0.95,
            "ttft_mean_s": interval(intervals.ttft_mean_s),
            "ttft_p50_s": interval(intervals.ttft_p50_s),
            "ttft_p90_s": interval(intervals.ttft_p90_s),
            "ttft_p99_s": interval(intervals.ttft_p99_s),
            "tpot_mean_s": interval(intervals.tpot_mean_s),
            "e2e_mean_s": interval(intervals.e2e_mean_s),
            "queue_wait_mean_s": interval(intervals.queue_wait_mean_s),
            "slo_share": interval(intervals.slo_share),
            "throughput_per_s": interval(intervals.throughput_per_s),
            "output_tokens_per_s": interval(intervals.output_tokens_per_s),
        })
    });
    json!({
        "verdict": match verdict {
            Verdict::Stable => "stable",
            Verdict::Transient => "transient",
            Verdict::Overloaded => "overloaded",
        },
        "reason": match reason {
            Reason::Settled => "settled",
            Reason::KeepsUp => "keeps_up",
            Reason::PilesUp { .. } => "piles_up",
            Reason::StillChanging => "still_changing",
            Reason::TooShort => "too_short",
        },
        "warm_up_s": warm_up_s(run),
        "by_window": windows::targets_json(run),
        "intervals": intervals,
    })
}

fn interval(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |interval| {
        json!({
            "value": interval.value,
            "low": interval.low,
            "high": interval.high,
            "batches": interval.batches,
            "correlation": interval.correlation,
            "is_reliable": interval.reliable,
        })
    })
}
