//! A run over time, as CSV and JSON.

use std::fmt::Write as _;

use quantity::{count_of, counted, duration, share};
use serde_json::{Value, json};
use sim_core::{
    Run,
    measure::{Window, WindowTargets, Windows},
};

/// Share of the requests that ended in a window which met their target; `None` where none ended.
fn slo_share(window: &Window) -> Option<f64> {
    let ended = window.completed + window.unanswered;
    (ended > 0).then(|| window.slo_met as f64 / ended as f64)
}

/// How the target held over time, in a sentence; nothing where the run is too short to tell.
pub(crate) fn targets(run: &Run) -> Option<String> {
    let WindowTargets { width_s, windows, meeting, worst } = run.window_targets()?;
    let ended = counted(worst.ended, "request", "requests");
    Some(format!(
        "In windows of {}, {} met the target; the worst, from {} on, for {} of {ended}.",
        duration(width_s),
        count_of(meeting, windows),
        duration(worst.start_s),
        share(worst.slo_share()),
    ))
}

/// The same of one engine of a planned fleet under the scenario's profile.
#[must_use]
pub fn plan_over_time(run: &Run) -> Option<String> {
    let sentence = targets(run)?;
    let duration = duration(run.duration_s());
    Some(format!("Over {duration} of the profile, on one engine of that fleet: {sentence}"))
}

/// The same for machines; `null` where there is nothing to tell.
pub(crate) fn targets_json(run: &Run) -> Value {
    let Some(found) = run.window_targets() else { return Value::Null };
    json!({
        "width_s": found.width_s,
        "windows": found.windows,
        "meeting": found.meeting,
        "meeting_share": found.meeting_share(),
        "worst": {
            "start_s": found.worst.start_s,
            "end_s": found.worst.end_s,
            "ended": found.worst.ended,
            "slo_met": found.worst.slo_met,
            "slo_share": found.worst.slo_share(),
        },
    })
}

/// One row per window of time, SI units in the header, all digits. Means are empty where no request
/// got its last token.
#[must_use]
pub fn windows_csv(windows: &Windows) -> String {
    let mut text = String::from(
        "start_s,end_s,arrivals,completed,unanswered,slo_met,input_tokens,output_tokens,\
         mean_in_flight,in_flight,ttft_mean_s,tpot_mean_s,e2e_mean_s,queue_wait_mean_s,slo_share\n",
    );
    for window in windows.iter() {
        let Window { start_s, end_s, arrivals, completed, unanswered, slo_met, .. } = window;
        let Window { input_tokens, output_tokens, mean_in_flight, in_flight, .. } = window;
        let [ttft, tpot, e2e, wait] =
            [window.ttft_mean_s, window.tpot_mean_s, window.e2e_mean_s, window.queue_wait_mean_s]
                .map(|mean| mean.map(|mean| mean.to_string()).unwrap_or_default());
        let share = slo_share(&window).map(|share| share.to_string()).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{start_s},{end_s},{arrivals},{completed},{unanswered},{slo_met},{input_tokens},\
             {output_tokens},{mean_in_flight},{in_flight},{ttft},{tpot},{e2e},{wait},{share}"
        );
    }
    text
}

pub(crate) fn windows_json(windows: &Windows) -> Value {
    let row = |window: Window| {
        json!({
            "start_s": window.start_s,
            "end_s": window.end_s,
            "arrivals": window.arrivals,
            "completed": window.completed,
            "unanswered": window.unanswered,
            "slo_met": window.slo_met,
            "input_tokens": window.input_tokens,
            "output_tokens": window.output_tokens,
            "mean_in_flight": window.mean_in_flight,
            "in_flight": window.in_flight,
            "ttft_mean_s": window.ttft_mean_s,
            "tpot_mean_s": window.tpot_mean_s,
            "e2e_mean_s": window.e2e_mean_s,
            "queue_wait_mean_s": window.queue_wait_mean_s,
            "slo_share": slo_share(&window),
        })
    };
    windows.iter().map(row).collect()
}
