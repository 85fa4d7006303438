//! What is said beside the plan: cost, what holds it back, alternatives, what would change it, demand.

use charts::CostDot;
use quantity::{count, duration, money, rate, whole_percent};

pub(crate) const CANCEL: &str = "Cancel";
pub(crate) const DECISION_STOPPED: &str = "Stopped. What was found by then is shown.";
pub(crate) const DECISION_GO_ON: &str = "Run again";
pub(crate) const DECISION_RECORDED: &str =
    "Asked of the settings’ own requests only. Remove the recording to ask it.";
pub(crate) const DECISION_NO_ANSWER: &str =
    "This set-up has no answer to ask about. The card above says what would help.";
pub(crate) const DECISION_WAITS: &str = "The plan comes first.";
pub(crate) const DECISION_NEXT: &str = "Next, once the question before it is answered.";
pub(crate) const DECISION_BEGINS: &str = "Simulating…";

pub(crate) const COST_TITLE: &str = "Cost";
pub(crate) const NO_PRICE: &str =
    "The catalogue has no price for this GPU. Give one to see the cost.";
pub(crate) const PER_HOUR: &str = "Per hour, headroom included";
pub(crate) const PER_MONTH: &str = "Per month";
pub(crate) const PER_MILLION_ANSWER: &str = "Per million tokens of answers";
pub(crate) const PER_MILLION_PROMPT: &str = "Per million tokens of prompts";
pub(crate) const PRICE_FIELD: &str = "Price of a GPU";
pub(crate) const LOAD_FIELD: &str = "Mean load";
pub(crate) const LOAD_PLACEHOLDER: &str = "100 %";
pub(crate) const COST_COLUMNS: [&str; 6] =
    ["$ per million tokens", "req/s each", "Prompt", "Answer", "Both", "Prompt’s part"];

pub(crate) const WHY_TITLE: &str = "What holds it back";
pub(crate) const WHY_BESIDE: &str = "A little more of each thing, simulated";
pub(crate) const WHY_SCALE: &str = "Gain in what one engine sustains";
pub(crate) const WHY_COLUMNS: [&str; 6] =
    ["What", "Setting", "Changed by", "Capacity, %", "From", "To"];

pub(crate) const ALTERNATIVES_TITLE: &str = "Cheaper or faster";
pub(crate) const ALTERNATIVES_BESIDE: &str =
    "Every GPU, number of GPUs and format that fits, same load and target";
pub(crate) const ALTERNATIVES_SIGNS: &str =
    "*: nothing that costs no more is faster. ≥, ≤: only bounded, not simulated.";
pub(crate) const ALTERNATIVES_COLUMNS: [&str; 12] = [
    "",
    "GPUs",
    "GPU",
    "Per engine",
    "Weights",
    "$ per hour",
    "req/s each",
    "TTFT P99",
    "TPOT P99",
    "E2E P99",
    "Binds",
    "Use",
];
pub(crate) const USE_THIS: &str = "Use this";
pub(crate) const USE_TUNED: &str = "Use the cheapest with these limits";
pub(crate) const IN_USE: &str = "In use";
pub(crate) const SHOW_FEWER: &str = "Show fewer";
pub(crate) const COSTS_AXES: &str = "Cost against latency";
pub(crate) const ON_FRONT: &str = "Nothing that costs no more is faster";
pub(crate) const OFF_FRONT: &str = "Others that were simulated";
pub(crate) const COSTS_CURSOR: &str = "Read a set-up";
pub(crate) const COSTS_LATENCY: &str = "P99 end-to-end latency at the planned load";

pub(crate) const TORNADO_TITLE: &str = "What would change it";
pub(crate) const TORNADO_BESIDE: &str = "Each input between the ends of its range, planned again";
pub(crate) const LOWER_END: &str = "Lower end of the range";
pub(crate) const UPPER_END: &str = "Upper end";
pub(crate) const OUT_OF_REACH_END: &str = "Out of reach";
pub(crate) const TORNADO_COLUMNS: [&str; 6] =
    ["Input", "From", "To", "Answer at the one", "At the other", "Where the range is from"];

pub(crate) const DEMAND: &str = "Asked as";
pub(crate) const DEMAND_RATE: &str = "Requests per second";
pub(crate) const DEMAND_USERS: &str = "Users who think";
pub(crate) const DEMAND_TOKENS: &str = "Tokens per day";
pub(crate) const DEMAND_JOB: &str = "A job with an end";
pub(crate) const DEMAND_IS_USERS: &str = "Taken in as users who wait for their answers.";

/// “62 %, about 3 s left”.
pub(crate) fn decision_far(part: f64, left_s: f64) -> String {
    format!("{}, about {} left", whole_percent(part), duration(left_s.round()))
}

/// “$3.15 ($1.99 to $5.00) an hour each, assumed”.
pub(crate) fn price_beside(price: &str, kind: &str) -> String {
    format!("{price} an hour for a GPU, {kind}")
}

/// “−20 % to +25 %”.
pub(crate) fn from_to(low: &str, high: &str) -> String {
    format!("{low} to {high}")
}

pub(crate) fn show_all(rows: usize) -> String {
    format!("Show all {}", count(rows as u64))
}

/// “Use 4 L40S in fp8”.
pub(crate) fn use_alternative(name: &str, weights: &str) -> String {
    format!("Use {name} in {}", weights.to_ascii_uppercase())
}

/// A dot of the chart in words.
pub(crate) fn cost_dot(dot: &CostDot) -> String {
    format!(
        "{} an hour ({} to {}): P99 end to end {}",
        dot.name,
        money(dot.low),
        money(dot.high),
        duration(dot.latency_s)
    )
}

/// What a demand became.
pub(crate) fn demand_is_rate(rate_per_s: f64) -> String {
    format!("Taken in as {}.", rate(rate_per_s))
}
