//! What became of the attempts of clients that react, beside what became of users' requests.

use quantity::{count, counted, share};
use scenario::Scenario;
use serde_json::{Value, json};
use sim_core::{
    Distribution, Run,
    clients::{AttemptCounts, SessionCounts},
    engine::AttendedRun,
};

use crate::json::distribution;

/// The attempts of a run, or of all replicas together.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    /// How they ended.
    pub counts: AttemptCounts,
    /// Of those that were answered, from being sent to the first token, in seconds: what a client
    /// measures that does not know when it meant to send.
    pub ttft_from_send: Distribution,
    /// What became of the sessions, where clients have any.
    pub sessions: Option<SessionCounts>,
}

impl Attempts {
    /// Those of a run, and the run.
    #[must_use]
    pub fn of(run: AttendedRun) -> (Run, Self) {
        let AttendedRun { run, attempts: counts, ttft_from_send, sessions } = run;
        (run, Self { counts, ttft_from_send, sessions })
    }

    /// Add those of another replica.
    pub fn add(&mut self, other: &Self) {
        let (mine, counts) = (&mut self.counts, &other.counts);
        match (&mut self.sessions, &other.sessions) {
            (Some(mine), Some(theirs)) => mine.add(theirs),
            (mine, theirs) => *mine = mine.or(*theirs),
        }
        for (mine, theirs) in [
            (&mut mine.sent, counts.sent),
            (&mut mine.retries, counts.retries),
            (&mut mine.completed, counts.completed),
            (&mut mine.rejected, counts.rejected),
            (&mut mine.never_fit, counts.never_fit),
            (&mut mine.dropped, counts.dropped),
            (&mut mine.abandoned, counts.abandoned),
            (&mut mine.throttled, counts.throttled),
            (&mut mine.forbidden, counts.forbidden),
            (&mut mine.wasted_tokens, counts.wasted_tokens),
        ] {
            *mine += theirs;
        }
        self.ttft_from_send.merge(&other.ttft_from_send);
    }
}

/// Whether a latency from the real sending may differ from that from the intended one.
pub(crate) fn has_two_views(scenario: &Scenario) -> bool {
    scenario.clients.retries > 0 || scenario.closed.is_some_and(|closed| closed.on_schedule)
}

/// How the requests ended that got no answer: “420 rejected, 60 dropped after waiting.” Nothing
/// where all were answered.
pub(crate) fn unanswered(run: &Run) -> Option<String> {
    let parts = [
        (run.rejected, "rejected"),
        (run.dropped, "dropped after waiting"),
        (run.abandoned, "given up by their clients"),
        (run.throttled, "held back by their clients"),
    ];
    let parts = named(&parts);
    (!parts.is_empty()).then(|| format!("Without an answer: {}.", parts.join(", ")))
}

/// How the attempts ended, in sentences.
pub(crate) fn sentences(attempts: &Attempts, scenario: &Scenario) -> Vec<String> {
    let counts = attempts.counts;
    let ends = named(&[
        (counts.completed, "answered"),
        (counts.rejected, "rejected"),
        (counts.dropped, "dropped after waiting"),
        (counts.abandoned, "given up"),
    ]);
    let mut sentences = Vec::new();
    // Without retries each request is one attempt, and has been told of.
    if scenario.clients.retries > 0 {
        let tries = counted(counts.sent, "attempt", "attempts");
        let retries = counted(counts.retries, "retry", "retries");
        sentences.push(format!("{tries} sent, {retries} among them: {}.", ends.join(", ")));
    }
    sentences.extend(attempts.sessions.iter().flat_map(of_sessions));
    if counts.never_fit > 0 {
        let tries = counted(counts.never_fit, "attempt", "attempts");
        sentences.push(format!("{tries} rejected for good: no empty engine has room for them."));
    }
    if counts.throttled > 0 {
        let held = counted(counts.throttled, "attempt", "attempts");
        sentences.push(format!("{held} held back by clients that throttled themselves."));
    }
    if counts.forbidden > 0 {
        let retries = counted(counts.forbidden, "retry", "retries");
        sentences.push(format!("{retries} forbidden by the retry budget."));
    }
    if counts.wasted_tokens > 0 {
        let tokens = counted(counts.wasted_tokens, "token", "tokens");
        sentences.push(format!("{tokens} generated for clients that had gone."));
    }
    if has_two_views(scenario) {
        sentences.push(TWO_VIEWS.to_owned());
    }
    sentences
}

/// How the sessions ended, and how their conversations grew.
fn of_sessions(counts: &SessionCounts) -> [String; 2] {
    let ends = named(&[
        (counts.completed, "ended"),
        (counts.broken_off, "broken off by a turn without an answer"),
        (counts.under_way, "still under way at the end"),
    ]);
    let met = counted(counts.found + counts.begun, "session", "sessions");
    let found = count(counts.found);
    let turns = counted(counts.turns, "turn", "turns");
    let known = share(counts.history_share());
    let cut = if counts.cut_turns == 0 {
        String::new()
    } else {
        format!(" {} went without the oldest turns of their conversation.", count(counts.cut_turns))
    };
    [
        format!("{met}, {found} of them found under way: {}.", ends.join(", ")),
        format!(
            "{turns}: {known} of their prompt tokens had been in the conversation before.{cut}"
        ),
    ]
}

/// Row of the latencies that count from the real sending.
pub(crate) const FROM_SEND: &str = "TTFT from send";

const TWO_VIEWS: &str = "TTFT counts from when a request was first meant to be sent, TTFT from \
                         send from the attempt that was answered: a client that measures so omits \
                         the wait before it (coordinated omission).";

fn named(parts: &[(u64, &str)]) -> Vec<String> {
    let some = parts.iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| format!("{} {what}", count(*number))).collect()
}

/// The same for machines.
pub(crate) fn json(attempts: &Attempts) -> Value {
    let counts = attempts.counts;
    json!({
        "sent": counts.sent,
        "retries": counts.retries,
        "completed": counts.completed,
        "rejected": counts.rejected,
        "never_fit": counts.never_fit,
        "dropped": counts.dropped,
        "abandoned": counts.abandoned,
        "throttled": counts.throttled,
        "forbidden": counts.forbidden,
        "wasted_tokens": counts.wasted_tokens,
        "ttft_from_send": distribution(&attempts.ttft_from_send),
        "sessions": attempts.sessions.as_ref().map(sessions_json),
    })
}

fn sessions_json(counts: &SessionCounts) -> Value {
    json!({
        "found_under_way": counts.found,
        "begun": counts.begun,
        "completed": counts.completed,
        "broken_off": counts.broken_off,
        "under_way": counts.under_way,
        "turns": counts.turns,
        "cut_turns": counts.cut_turns,
        "input_tokens": counts.input_tokens,
        "history_tokens": counts.history_tokens,
        "history_share": counts.history_share(),
    })
}
