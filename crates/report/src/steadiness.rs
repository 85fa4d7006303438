//! How far the figures of one run can be trusted: verdict, warm-up, intervals, sample.

use std::fmt::Write as _;

use quantity::{count, duration, rate, share, token_rate};
use serde_json::{Map, Value, json};
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
        Reason::GoesUnanswered { ended, answered } => words::run_unanswered(ended, answered),
    }
}

/// That a percentile rests on few values; nothing where there are enough.
pub(crate) fn sample_advice(requests: u64) -> Option<String> {
    let advice = PercentileAdvice::new(TAIL_PERCENT, requests).ok()?;
    (!advice.is_enough())
        .then(|| words::sample_advice(requests, &advice.rank_in_words(), advice.about_needed()))
}

/// The intervals of a run; why there are none, where there are none.
fn found(run: &Run, is_recording: bool) -> Result<Vec<Figure>, String> {
    if run.judgement().verdict == Verdict::Overloaded {
        return Err(words::NO_STEADY_STATE.to_owned());
    }
    if run.windows.varies() {
        // A recording is what it is; nothing of it is drawn again.
        let way_out = if is_recording { "" } else { words::COMPARE_SEEDS };
        return Err([words::NO_ALIKE_BATCHES, way_out].concat());
    }
    let intervals = run.intervals().ok_or_else(|| words::NO_INTERVALS.to_owned())?;
    Ok(figures(&intervals))
}

/// The intervals as a table, under what they are of; why there are none, where there are none.
pub(crate) fn intervals(run: &Run, is_recording: bool) -> String {
    let figures = match found(run, is_recording) {
        Ok(figures) => figures,
        Err(reason) => return reason + "\n",
    };
    let warm_up_s = warm_up_s(run).unwrap_or(0.0);
    let rows: Vec<Vec<String>> = figures
        .iter()
        .filter_map(|Figure { name, interval, tell, .. }| {
            let Interval { value, low, high, reliable, .. } = (*interval)?;
            let note = if reliable { "" } else { words::CORRELATED };
            let cells = [(*name).to_owned(), tell(value), tell(low), tell(high), note.to_owned()];
            Some(cells.to_vec())
        })
        .collect();
    if rows.is_empty() {
        return words::NO_INTERVALS.to_owned() + "\n";
    }
    let title = words::steady_state(warm_up_s);
    format!("{title}\n{}", table::aligned(&["", "value", "from", "to", ""], &rows))
}

/// One row per figure of the steady state with its 95 % interval, SI units in the names, all digits;
/// why there are none, where there are none.
///
/// # Errors
/// The run is overloaded or too short, or its rate changes over time: in words.
pub fn intervals_csv(run: &Run, is_recording: bool) -> Result<String, String> {
    let mut text = String::from("figure,value,low,high,batches,correlation,is_reliable\n");
    for Figure { key, interval, .. } in found(run, is_recording)? {
        let Some(Interval { value, low, high, batches, correlation, reliable }) = interval else {
            continue;
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key},{value},{low},{high},{batches},{correlation},{reliable}");
    }
    Ok(text)
}

/// A number of the steady state.
struct Figure {
    /// What machines call it.
    key: &'static str,
    name: &'static str,
    /// `None` where it cannot be told.
    interval: Option<Interval>,
    tell: fn(f64) -> String,
}

fn figures(intervals: &Intervals) -> Vec<Figure> {
    let [tpot_p50, tpot_p90, tpot_p99] = intervals.tpot_s;
    let [itl_p50, itl_p90, itl_p99] = intervals.itl_s;
    let [e2e_p50, e2e_p90, e2e_p99] = intervals.e2e_s;
    let of = |key, name, interval, tell| Figure { key, name, interval, tell };
    let time = |key, name, interval| of(key, name, interval, duration);
    vec![
        time("ttft_mean_s", "TTFT mean", intervals.ttft_mean_s),
        time("ttft_p50_s", "TTFT P50", intervals.ttft_p50_s),
        time("ttft_p90_s", "TTFT P90", intervals.ttft_p90_s),
        time("ttft_p99_s", "TTFT P99", intervals.ttft_p99_s),
        time("tpot_mean_s", "TPOT mean", intervals.tpot_mean_s),
        time("tpot_p50_s", "TPOT P50", tpot_p50),
        time("tpot_p90_s", "TPOT P90", tpot_p90),
        time("tpot_p99_s", "TPOT P99", tpot_p99),
        time("itl_p50_s", "ITL P50", itl_p50),
        time("itl_p90_s", "ITL P90", itl_p90),
        time("itl_p99_s", "ITL P99", itl_p99),
        time("e2e_mean_s", "end to end mean", intervals.e2e_mean_s),
        time("e2e_p50_s", "end to end P50", e2e_p50),
        time("e2e_p90_s", "end to end P90", e2e_p90),
        time("e2e_p99_s", "end to end P99", e2e_p99),
        time("queue_wait_mean_s", "queue wait mean", intervals.queue_wait_mean_s),
        of("slo_share", "in target", intervals.slo_share, share),
        of("throughput_per_s", "finished", intervals.throughput_per_s, rate),
        of("output_tokens_per_s", "output", intervals.output_tokens_per_s, token_rate),
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
        let mut all = Map::new();
        all.insert("level".to_owned(), json!(0.95));
        for figure in figures(&intervals) {
            all.insert(figure.key.to_owned(), interval(figure.interval));
        }
        Value::Object(all)
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
            Reason::GoesUnanswered { .. } => "goes_unanswered",
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
