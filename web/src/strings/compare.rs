//! What Compare says.

use planner::{CompareAnswer, PairedRequests, PlanAnswer, Verdict};
use quantity::{change_plus_minus, count, counted, duration, money, number, rate, share};
use scenario::Scenario;

use crate::names;

pub(crate) const COMPARE: &str = "Compare";
pub(crate) const PIN: &str = "Pin to compare";
pub(crate) const UNPIN: &str = "Unpin A";
pub(crate) const SWAP: &str = "Swap";
pub(crate) const STOP: &str = "Stop";
pub(crate) const COMPARE_AGAIN: &str = "Compare";
pub(crate) const COMPARE_HEADING: &str = "Two scenarios under the same users";
pub(crate) const PINNED: &str = "Pinned as A. Change anything to see the difference.";
pub(crate) const UNPINNED: &str = "Unpinned. Undo brings A back.";
pub(crate) const SWAPPED: &str = "A and B swapped.";
pub(crate) const PAIR_SET: &str = "A and B are set. Undo brings back what there was.";
pub(crate) const NOTHING_PINNED: &str = "Nothing pinned yet";
pub(crate) const NOTHING_PINNED_MORE: &str = "Pin this scenario as A, change anything, and see both under the same users: who needs fewer GPUs, \
     how sure that is, and which requests feel it.";
pub(crate) const PIN_THIS: &str = "Pin this scenario";
pub(crate) const PAIRS_TITLE: &str = "Or begin with a pair of it";
pub(crate) const PAIR_WEIGHTS: &str = "BF16 against FP8 weights";
pub(crate) const PAIR_WEIGHTS_WHY: &str =
    "Half the bytes to read for each step, and more room for the KV cache.";
pub(crate) const PAIR_TP: &str = "One GPU against two for each engine";
pub(crate) const PAIR_TP_WHY: &str =
    "Tensor parallelism is faster for each request; is it cheaper for all?";
pub(crate) const PAIR_GPU: &str = "H100 against H200";
pub(crate) const PAIR_GPU_WHY: &str =
    "The same compute with more memory and bandwidth, at another price.";
pub(crate) const PAIR_BUDGET: &str = "A budget of 2,048 against 8,192 tokens a step";
pub(crate) const PAIR_BUDGET_WHY: &str =
    "Long prompts finish sooner in large steps, and others wait longer for them.";
pub(crate) const PLANNING: &str = "planning…";
pub(crate) const COMPARING: &str = "Comparing…";
pub(crate) const NOT_COMPARED: &str = "Not compared";
pub(crate) const NO_NUMBERS: &str = "One of them has no answer";
pub(crate) const NO_KNEE: &str = "One of them has no curve to draw: the reason stands above it.";
pub(crate) const PINNED_NOTICES: &str = "The pinned scenario of this link was not taken as written. Pin A again once it is as you want it.";
pub(crate) const COMPARE_KNEE: &str = "Both as load rises";
pub(crate) const COMPARE_KNEE_SUB: &str = "same users, bands are 95 % intervals";
pub(crate) const ONE_ENGINE_OF_EACH: &str = "one engine of each";
pub(crate) const PAIR_COLUMNS: [&str; 5] = ["Plan", "req/s", "TTFT P99", "TPOT P99", "Goodput"];
pub(crate) const WHAT_DIFFERS: &str = "What differs";
pub(crate) const DIFFERS_COLUMNS: [&str; 3] = ["Setting", "A", "B"];
pub(crate) const NOTHING_DIFFERS: &str = "A and B are the same. Change any setting: that is B.";
pub(crate) const NUMBERS: &str = "On one engine";
pub(crate) const NUMBERS_COLUMNS: [&str; 4] = ["Figure", "A", "B", "B against A"];
pub(crate) const ONE_SUSTAINS: &str = "Sustains";
pub(crate) const NO_CHANGE: &str = "no change";
pub(crate) const SAME_REQUESTS: &str = "The same requests";
pub(crate) const MOST_CHANGED: &str = "Requests that changed most";
pub(crate) const CHANGED_COLUMNS: [&str; 8] =
    ["Request", "Arrives", "Tokens", "TTFT, A", "TTFT, B", "E2E, A", "E2E, B", "Change"];
pub(crate) const REQUESTS_LATER: &str =
    "Each request is compared with itself once both are planned.";
pub(crate) const REQUESTS_NOT_PAIRED: &str = "No requests could be paired: one side has no load that it holds, or one has users and the other a \
     rate.";
pub(crate) const USERS_UNIT: &str = "users";
pub(crate) const RATE_UNIT: &str = "req/s";

/// “Qwen2.5-7B on H100, 100 req/s”.
pub(crate) fn side_name(scenario: &Scenario) -> String {
    let load = match scenario.closed {
        Some(closed) => counted(closed.users, "user", "users"),
        None => rate(scenario.peak_rate_per_s()),
    };
    format!(
        "{} on {}, {load}",
        names::model_short(&scenario.model),
        names::gpu_short(&scenario.gpu)
    )
}

/// “H100 GPUs”.
pub(crate) fn gpus_of(gpu: &str, gpus: u64) -> String {
    [gpu, if gpus == 1 { " GPU" } else { " GPUs" }].concat()
}

/// “22.6 req/s each”.
pub(crate) fn each_sustains(per_s: f64, gpus_each: u64, is_estimate: bool) -> String {
    let shown = rate(per_s);
    let shown = if is_estimate { quantity::about(&shown) } else { shown };
    if gpus_each == 1 { format!("{shown} each") } else { format!("{shown} for each {gpus_each}") }
}

/// “$18.93 an hour”.
pub(crate) fn dollars_an_hour(dollars: f64) -> String {
    format!("about {} an hour", money(dollars))
}

/// “At the planned load P99: TTFT 212 ms, TPOT 16.6 ms”.
pub(crate) fn at_plan(ttft_s: f64, tpot_s: f64) -> String {
    format!("P99 as planned: TTFT {}, TPOT {}", duration(ttft_s), duration(tpot_s))
}

/// “TTFT 287 ms, TPOT 25.7 ms”.
pub(crate) fn latencies(ttft: &str, tpot: &str, short: bool) -> String {
    if short { format!("{ttft}, {tpot}") } else { format!("TTFT {ttft}, TPOT {tpot}") }
}

pub(crate) fn spoken_pair(rate: &str, a: &str, b: &str) -> String {
    format!("{rate}: A {a}; B {b}")
}

pub(crate) fn worker_stopped(message: &str) -> String {
    format!("The simulator stopped: {message}. Change a setting to try again.")
}

pub(crate) fn settings_differ(settings: usize) -> String {
    match settings {
        0 => String::new(),
        some => counted(some as u64, "setting", "settings"),
    }
}

/// “at 16.7 req/s”.
pub(crate) fn at_load(rate: &str) -> String {
    format!("at {rate}")
}

/// “62 %”.
pub(crate) fn comparing(part: f64) -> String {
    format!("Comparing, {}", quantity::whole_percent(part))
}

/// “1,024 + 256”.
pub(crate) fn tokens_in_out((input, output): (u64, u64)) -> String {
    format!("{} + {}", count(input), count(output))
}

/// “−3.04 s”, “+12 ms”.
pub(crate) fn signed_duration(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "\u{2212}" } else { "+" };
    [sign, &duration(seconds.abs())].concat()
}

/// “2,000 requests at 16.7 req/s on one engine of each”.
pub(crate) fn same_requests(requests: &PairedRequests, unit: &str) -> String {
    format!(
        "{} at {} {unit} on one engine of each",
        counted(requests.requests as u64, "request", "requests"),
        number(requests.load)
    )
}

/// How many end sooner, and by how much.
pub(crate) fn requests_changed(requests: &PairedRequests) -> String {
    let part = |some: usize| share(some as f64 / requests.requests.max(1) as f64);
    format!(
        "Under B {} end sooner and {} later: {} at the median, 98\u{202f}% of them between {} and {}.",
        part(requests.sooner),
        part(requests.later),
        signed_duration(requests.change_s[1]),
        signed_duration(requests.change_s[0]),
        signed_duration(requests.change_s[2])
    )
}

fn gpus(answer: &PlanAnswer, scenario: &Scenario) -> Option<u64> {
    match &answer.verdict {
        Verdict::Sized(fleet) => Some(fleet.with_headroom * scenario.gpus_per_engine()),
        _ => None,
    }
}

/// The difference in one sentence, and what the runs say of it.
pub(crate) fn difference(
    answer: &CompareAnswer,
    (first, second): (&Scenario, &Scenario),
) -> (String, Vec<String>) {
    if first == second {
        let more = "Change any setting: that is B.".to_owned();
        return ("A and B are the same".to_owned(), vec![more]);
    }
    let both = (gpus(&answer.answers[0], first), gpus(&answer.answers[1], second));
    let title = match both {
        (Some(a), Some(b)) if a == b => format!("Both need {}", counted(a, "GPU", "GPUs")),
        (Some(a), Some(b)) if b < a => format!("B needs {} fewer", counted(a - b, "GPU", "GPUs")),
        (Some(a), Some(b)) => format!("B needs {} more", counted(b - a, "GPU", "GPUs")),
        (Some(_), None) => "Only A has an answer".to_owned(),
        (None, Some(_)) => "Only B has an answer".to_owned(),
        (None, None) => "Neither has an answer".to_owned(),
    };
    let mut lines = Vec::new();
    if let Some(change) = answer.capacity_change {
        let half = (change.high - change.low) / 2.0;
        let said = change_plus_minus(1.0 + change.value, half);
        let percent = |value: f64| {
            let sign = if value < 0.0 { "\u{2212}" } else { "+" };
            let whole = quantity::whole_percent(value.abs());
            [sign, &whole].concat()
        };
        let interval = format!(
            "{} to {}, 95\u{202f}%, paired: same users",
            percent(change.low),
            percent(change.high)
        );
        let engines = if first.gpus_per_engine() == second.gpus_per_engine() {
            String::new()
        } else {
            " An engine of B is another number of GPUs.".to_owned()
        };
        lines.push(if change.low <= 0.0 && change.high >= 0.0 {
            format!("These runs cannot tell what an engine sustains apart ({interval}).{engines}")
        } else {
            format!("An engine of B sustains {said} ({interval}).{engines}")
        });
    }
    (title, lines)
}
