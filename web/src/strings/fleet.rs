//! What the Fleet view says.

use quantity::{count, counted, duration, number, whole_percent};

pub(crate) const FLEET: &str = "Fleet";
pub(crate) const FLEET_HEADING: &str = "What a fleet does over time";
pub(crate) const REQUESTS_LATE: &str = "requests late";
pub(crate) const FLEET_RUNNING: &str = "simulating; Esc stops it";
pub(crate) const FLEET_STOPPED: &str = "stopped";
pub(crate) const FLEET_NOT_LOADED: &str = "what simulates fleets could not be loaded";
pub(crate) const HELD: &str = "Held";
pub(crate) const MISSED: &str = "Missed";
/// The four facts of the card.
pub(crate) const FLEET_FACTS: [&str; 4] =
    ["Worst window", "What limits it", "GPU-hours", "Fewest fixed that hold"];
pub(crate) const NOTHING: &str = "Nothing";
pub(crate) const TARGET_HOLDS: &str = "the target holds";
pub(crate) const REPLICAS: &str = "Replicas";
pub(crate) const START_DELAY: &str = "Start delay";
pub(crate) const MOST_REPLICAS: &str = "Most replicas";
pub(crate) const AUTOSCALER: &str = "Autoscaler";
pub(crate) const BEING_TRIED: &str = "being tried";
pub(crate) const TOO_LONG_TO_TRY: &str = "not tried: the run is long";
pub(crate) const READY_AT_MOST: &str = "ready at most";
pub(crate) const NO_STEP_RAN: &str = "of it without a step";
pub(crate) const NO_STEP_SHORT: &str = "without a step";
pub(crate) const P99_TTFT_SHORT: &str = "P99 TTFT";
pub(crate) const FIXED_SHORT: &str = "replicas";
pub(crate) const QUEUE_SHORT: &str = "longest queue";

pub(crate) const TIMELINE: &str = "The fleet over time";
pub(crate) const TIMELINE_ROWS: &str = "Rows";
pub(crate) const SVG: &str = "SVG";
pub(crate) const SVG_TITLE: &str = "Save the chart as an SVG picture";
pub(crate) const CSV: &str = "CSV";
pub(crate) const CSV_TITLE: &str = "Save the windows as a CSV table";
pub(crate) const READY: &str = "ready";
pub(crate) const STARTING: &str = "starting";
pub(crate) const DRAINING: &str = "draining";
pub(crate) const ASKED_FOR: &str = "asked for";
pub(crate) const FEW_SERVED: &str = "fewer than 100 answers";
pub(crate) const NO_FLEET_YET: &str = "The rows fill in once the run is through.";
/// Columns of the table of windows.
pub(crate) const WINDOW_COLUMNS: [&str; 10] = [
    "From",
    "Came",
    "Answered",
    "In time",
    "P50 TTFT",
    "P99 TTFT",
    "Waiting",
    "KV cache",
    "Ready",
    "Asked for",
];

pub(crate) const POLICIES: &str = "Policies on the same traffic";
pub(crate) const POLICIES_TABLE: &str = "Policies as a table";
pub(crate) const POLICIES_BESIDE: &str = "one run each";
pub(crate) const POLICIES_RUNNING: &str = "being tried";
pub(crate) const POLICY_COLUMNS: [&str; 4] = ["Policy", "Late", "P99 TTFT", "GPU-hours"];
pub(crate) const CHEAPEST: &str = "cheapest";
pub(crate) const POLICIES_NONE: &str =
    "Runs of more than 600,000 requests are not tried with other policies.";

pub(crate) const TRAFFIC: &str = "Traffic";
pub(crate) const SHAPE: &str = "Shape over time";
pub(crate) const SHAPE_STEADY: &str = "Steady";
pub(crate) const SHAPE_STEP: &str = "Step";
pub(crate) const SHAPE_SPIKE: &str = "Spike";
pub(crate) const SHAPE_DAY: &str = "Day";
pub(crate) const SCALING: &str = "Autoscaler";
pub(crate) const COLD_START: &str = "Cold start";
pub(crate) const ROUTING: &str = "Routing";
pub(crate) const FAULTS: &str = "Faults";
pub(crate) const FLEET_TARGET: &str = "Service target";
pub(crate) const FLEET_SETTINGS_COUNT: &str = "Fleet’s settings";

/// A policy by its word in links.
pub(crate) fn fleet_policy(word: &str) -> &str {
    match word {
        "hpa" => "HPA v2",
        "fixed" => "Fixed",
        "keda" => "KEDA",
        "knative" => "Knative KPA",
        "wva-v1" => "WVA saturation V1",
        "wva-v2" => "WVA saturation V2",
        "trend" => "Trend forecast",
        other => other,
    }
}

/// The other words of a fleet’s settings.
pub(crate) fn fleet_word(word: &str) -> &str {
    match word {
        "in-flight" => "Requests in flight",
        "queue" => "Requests waiting",
        "running" => "Requests running",
        "kv-usage" => "KV cache, %",
        "rate" => "Request rate",
        "token-rate" => "Token rate",
        "gpu-busy" => "GPU busy, %",
        "gpu-memory" => "GPU memory, %",
        "cpu" => "CPU, %",
        "least-in-flight" => "Fewest in flight",
        "shared-queue" => "One shared queue",
        "round-robin" => "Round robin",
        "random" => "Random",
        "power-of-two" => "Better of two",
        "least-kv" => "Fewest KV tokens",
        "none" => "None",
        "replica" => "A replica is lost",
        "node" => "A node is lost",
        "metrics" => "No metrics for 5 min",
        other => fleet_policy(other),
    }
}

/// What an autoscaler does, in a sentence.
pub(crate) fn policy_note(word: &str) -> &'static str {
    match word {
        "hpa" => "Kubernetes’ HPA on the mean over the replicas, every 15 s.",
        "fixed" => "Nobody decides: as many as the fewest.",
        "keda" => "KEDA on the sum, polled every 30 s; its HPA every 15 s. From and to zero.",
        "knative" => {
            "Requests at once, averaged over 60 s, with a panic window of 6 s. From and to zero."
        }
        "wva-v1" => "llm-d’s variant autoscaler by saturation of KV cache and queue, every 60 s.",
        "wva-v2" => "llm-d’s variant autoscaler by tokens of demand and capacity, every 60 s.",
        _ => "A line through the last five minutes, looked ahead along by a start delay.",
    }
}

/// “1 to 10 replicas”.
pub(crate) fn fleet_bounds(min: u64, max: u64) -> String {
    [&count(min), " to ", &count(max), " replicas"].concat()
}

/// “60 s to start”.
pub(crate) fn fleet_start(start_s: f64) -> String {
    [&duration(start_s), " to start"].concat()
}

/// “1,746 of 7,434”; of millions only how many there are, or the first number would push them out.
pub(crate) fn late_of(late: u64, offered: u64) -> String {
    if offered >= 1_000_000 {
        return ["of ", &count(offered)].concat();
    }
    quantity::count_of(late, offered)
}

/// What a live region says.
pub(crate) fn fleet_announcement(hero: &str, headline: &str, pill: &str) -> String {
    [hero, " ", headline, ". ", pill, "."].concat()
}

/// “3 replicas all the time.”
pub(crate) fn fleet_fixed(replicas: u64) -> String {
    format!("{} all the time.", counted(replicas, "replica", "replicas"))
}

/// Nothing was ever asked for.
pub(crate) fn fleet_never_asked(first: u64) -> String {
    format!(
        "The autoscaler never asked for more than the {} of the beginning.",
        counted(first, "replica", "replicas")
    )
}

/// What was asked for, and how long it takes.
pub(crate) fn fleet_asked(asked: u64, start_s: f64) -> String {
    format!(
        "The autoscaler asked for {} at most; a start takes {}.",
        count(asked),
        duration(start_s)
    )
}

/// What went wrong; empty if nothing did.
pub(crate) fn fleet_fault_told(fault: &str, at_s: f64, restarted: u64) -> String {
    let again = || counted(restarted, "request", "requests");
    match fault {
        "replica" => format!("A replica was lost at {}: {} began again.", duration(at_s), again()),
        "node" => format!("A node was lost at {}: {} began again.", duration(at_s), again()),
        "metrics" => format!("There were no metrics for 5 min from {} on.", duration(at_s)),
        _ => String::new(),
    }
}

/// A time of the run: “7:30”, minutes and seconds, or hours and minutes in a long run.
pub(crate) fn clock(at_s: f64, end_s: f64) -> String {
    let unit = if end_s >= 7200.0 { at_s / 60.0 } else { at_s };
    let whole = (unit + 1e-9) as u64;
    let zero = if whole % 60 < 10 { "0" } else { "" };
    [&(whole / 60).to_string(), ":", zero, &(whole % 60).to_string()].concat()
}

/// “P99 TTFT, at 6:00”.
pub(crate) fn worst_window(at_s: f64, end_s: f64) -> String {
    ["P99 TTFT, at ", &clock(at_s, end_s)].concat()
}

/// “403 waiting”.
pub(crate) fn waiting(requests: u64) -> String {
    [&count(requests), " waiting"].concat()
}

/// “longest queue, at 8:10”.
pub(crate) fn longest_queue(at_s: f64, end_s: f64) -> String {
    ["longest queue, at ", &clock(at_s, end_s)].concat()
}

/// “5 s: 0.05 % late”, where there is little room.
pub(crate) fn start_instead_short(start_s: f64, late: &str) -> String {
    [&duration(start_s), ": ", late, " late"].concat()
}

/// “5 fixed would hold”.
pub(crate) fn fixed_would_hold(replicas: u64) -> String {
    [&count(replicas), " fixed would hold"].concat()
}

/// “5 s instead: 0.05 % late”.
pub(crate) fn start_instead(start_s: f64, late: &str) -> String {
    [&duration(start_s), " instead: ", late, " late"].concat()
}

/// “3 are too few”.
pub(crate) fn too_few_fixed(replicas: u64) -> String {
    [&count(replicas), " are too few"].concat()
}

/// “all 10 asked for”.
pub(crate) fn all_asked(most: u64) -> String {
    ["all ", &count(most), " asked for"].concat()
}

/// “asked for 6 of 10 at most”.
pub(crate) fn asked_at_most(asked: u64, most: u64) -> String {
    ["asked for ", &count(asked), " of ", &count(most), " at most"].concat()
}

/// “6 replicas”.
pub(crate) fn most_ready(replicas: u32) -> String {
    counted(u64::from(replicas), "replica", "replicas")
}

/// “2.83 h”.
pub(crate) fn gpu_hours(hours: f64) -> String {
    quantity::with_unit(&number(hours), "h")
}

/// “11 starts, 1 GPU each”.
pub(crate) fn replicas_started(started: u64, gpus: u64) -> String {
    let starts = counted(started, "start", "starts");
    [&starts, ", ", &counted(gpus, "GPU", "GPUs"), " each"].concat()
}

/// “67 % idle”.
pub(crate) fn idle(part: f64) -> String {
    [&whole_percent(part), " idle"].concat()
}

/// “5 fixed”.
pub(crate) fn fixed_count(replicas: &str) -> String {
    [replicas, " fixed"].concat()
}

/// “replicas, none late”.
pub(crate) fn replicas_late(late: &str) -> String {
    ["replicas, ", late, " late"].concat()
}

/// “33 % less”, of GPU-hours beside those of the fleet.
pub(crate) fn hours_change(hours: f64, beside: f64) -> String {
    if beside <= 0.0 {
        return String::new();
    }
    let ratio = hours / beside;
    let (part, word) = if ratio < 1.0 { (1.0 - ratio, " less") } else { (ratio - 1.0, " more") };
    [&whole_percent(part), word, " than this"].concat()
}

/// “not even 20 of them”.
pub(crate) fn none_holds(most: u64) -> String {
    ["not even ", &count(most), " of them"].concat()
}

/// “Twenty-five minutes”: how long, and in windows of which width.
pub(crate) fn timeline_subtitle(length_s: f64, window_s: f64) -> String {
    [&duration(length_s), " in windows of ", &duration(window_s)].concat()
}

/// What the chart says, for those who do not see it.
pub(crate) fn timeline_summary(late: &str, worst: &str, at: &str, ready: u32) -> String {
    format!(
        "{late} of the requests were late; the worst window was at {at}, with a P99 TTFT of {worst}; at most {ready} replicas were ready."
    )
}

/// The cursor’s reading in words.
pub(crate) fn spoken_window(at: &str, parts: &[(&str, String)]) -> String {
    let mut said = at.to_owned();
    for (name, value) in parts {
        said.push_str("; ");
        said.push_str(name);
        said.push(' ');
        said.push_str(value);
    }
    said
}

/// “HPA v2, 60 s start”: a policy in few words.
pub(crate) fn policy_name(word: &str, min: u64, start_s: Option<f64>) -> String {
    if word == "fixed" {
        return [&count(min), " fixed"].concat();
    }
    let name = match word {
        "knative" => "Knative",
        "wva-v1" => "WVA V1",
        "wva-v2" => "WVA V2",
        "trend" => "Trend",
        other => fleet_policy(other),
    };
    match start_s {
        Some(start_s) => [name, ", ", &duration(start_s), " start"].concat(),
        None => name.to_owned(),
    }
}

/// What a rate profile of another kind is, for whoever looks for its controls.
pub(crate) fn other_shape(text: &str) -> String {
    ["The rate follows ", text, ", as set under Arrivals in Plan."].concat()
}

pub(crate) const FLEET_CURSOR: &str = "Time";
pub(crate) const THIS: &str = " (this)";
pub(crate) const RATE_RISES: &str = "rate rises";
pub(crate) const RATE_FALLS: &str = "rate falls";
pub(crate) const SURGE_STARTS: &str = "surge starts";
pub(crate) const SURGE_ENDS: &str = "surge ends";
pub(crate) const RAMP_STARTS: &str = "ramp starts";
pub(crate) const RAMP_ENDS: &str = "ramp ends";
pub(crate) const REPLICA_LOST: &str = "replica lost";
pub(crate) const NODE_LOST: &str = "node lost";
pub(crate) const NO_METRICS: &str = "metrics fail";
pub(crate) const NEW_READY: &str = "new replicas ready";
pub(crate) const SCALED_DOWN: &str = "scaled down";
pub(crate) const READY_STARTING: &str = "ready + starting";
pub(crate) const NO_LIMIT: &str = "no limit";

/// “100 req/s asked”.
pub(crate) fn asked_rate(rate_per_s: f64) -> String {
    [&quantity::rate(rate_per_s), " asked"].concat()
}

/// “ready, 6 asked for”.
pub(crate) fn ready_asked(asked: u64) -> String {
    ["ready, ", &count(asked), " asked"].concat()
}

/// “fullest 70 %”.
pub(crate) fn fullest(part: f64) -> String {
    ["fullest ", &whole_percent(part)].concat()
}

/// “of 34 answers”.
pub(crate) fn of_answers(served: u64) -> String {
    ["of ", &counted(served, "answer", "answers")].concat()
}

/// “target 1 s”.
pub(crate) fn target_is(target_s: f64) -> String {
    ["target ", &duration(target_s)].concat()
}

/// “≈ 2.8 h so far”.
pub(crate) fn hours_so_far(hours: &str) -> String {
    [hours, " h so far"].concat()
}

/// “up to 200 req/s”.
pub(crate) fn up_to_rate(rate_per_s: f64) -> String {
    ["up to ", &quantity::rate(rate_per_s)].concat()
}

pub(crate) const FLEET_TARGET_HELP: &str = "What each replica should have of the signal; three quarters of the engine’s sequences until it is set.";
