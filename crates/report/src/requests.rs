//! Every request of a run, as CSV.

use std::fmt::Write as _;

use sim_core::{Outcome, RequestRecord};

/// One row per request in order of arrival. Times are seconds with all their digits (they read back
/// to the same bits), empty where the event did not happen.
#[must_use]
pub fn requests_csv(requests: &[RequestRecord]) -> String {
    let mut text =
        String::from("arrival_s,input_tokens,output_tokens,first_token_s,finish_s,outcome\n");
    for request in requests {
        let RequestRecord { arrival_s, input_tokens, output_tokens, .. } = request;
        let (first, finish) = (time(request.first_token_s), time(request.finish_s));
        let outcome = outcome(request.outcome);
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "{arrival_s},{input_tokens},{output_tokens},{first},{finish},{outcome}");
    }
    text
}

fn time(seconds: f64) -> String {
    if seconds.is_finite() { seconds.to_string() } else { String::new() }
}

/// The word for an outcome in files.
pub(crate) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Rejected => "rejected",
        Outcome::Dropped => "dropped",
        Outcome::Abandoned => "abandoned",
        Outcome::Throttled => "throttled",
        Outcome::InFlight => "in_flight",
    }
}
