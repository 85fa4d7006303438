//! A run over time, as CSV and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sim_core::measure::{Window, Windows};

/// One row per window of time, SI units in the header, all digits. Means are empty where no request
/// got its last token.
#[must_use]
pub fn windows_csv(windows: &Windows) -> String {
    let mut text = String::from(
        "start_s,end_s,arrivals,completed,unanswered,slo_met,input_tokens,output_tokens,\
         mean_in_flight,in_flight,ttft_mean_s,tpot_mean_s,e2e_mean_s,queue_wait_mean_s\n",
    );
    for window in windows.iter() {
        let Window { start_s, end_s, arrivals, completed, unanswered, slo_met, .. } = window;
        let Window { input_tokens, output_tokens, mean_in_flight, in_flight, .. } = window;
        let [ttft, tpot, e2e, wait] =
            [window.ttft_mean_s, window.tpot_mean_s, window.e2e_mean_s, window.queue_wait_mean_s]
                .map(|mean| mean.map(|mean| mean.to_string()).unwrap_or_default());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{start_s},{end_s},{arrivals},{completed},{unanswered},{slo_met},{input_tokens},\
             {output_tokens},{mean_in_flight},{in_flight},{ttft},{tpot},{e2e},{wait}"
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
        })
    };
    windows.iter().map(row).collect()
}
