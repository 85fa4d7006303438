//! What the settings are called, and what is said of them.

use quantity::{Unit, number};

use super::{CATALOGUE, with_unit};

pub(crate) const ARRIVALS: &str = "Arrivals";
pub(crate) const ENGINE: &str = "Engine";
pub(crate) const ACCURACY: &str = "Accuracy";
pub(crate) const LENGTHS: &str = "Lengths";
pub(crate) const GPUS_PER_ENGINE: &str = "GPUs each";
pub(crate) const MEMORY: &str = "Memory";
pub(crate) const MEMORY_WEIGHTS: &str = "Weights";
pub(crate) const MEMORY_KV: &str = "KV cache";
pub(crate) const MEMORY_RESERVE: &str = "The engine’s own";
pub(crate) const MEMORY_FREE: &str = "Left alone";
pub(crate) const MEMORY_UNKNOWN: &str = "No GPU’s memory is known: numbers took its place, or \
     the model does not fit.";
pub(crate) const MIX: &str = "Mix of requests";
pub(crate) const AUTO: &str = "Auto";
pub(crate) const PATTERN: &str = "Pattern";
pub(crate) const PATTERN_POISSON: &str = "Poisson";
pub(crate) const PATTERN_BURSTY: &str = "Bursty";
pub(crate) const PATTERN_EVEN: &str = "Even";
pub(crate) const PATTERN_ON_OFF: &str = "On/off";
pub(crate) const PATTERN_CLOSED: &str = "Users";
pub(crate) const USERS: &str = "Users";
pub(crate) const USERS_HELP: &str = "How many there are over all GPUs; each sends the next request \
     only after its last answer. They take the place of the request rate.";
pub(crate) const THINK: &str = "Think time";
pub(crate) const THINK_HELP: &str = "Mean time between an answer and the next request; with a \
     schedule, between one request and the next.";
pub(crate) const PACING: &str = "Next request";
pub(crate) const PACING_ANSWER: &str = "After the answer";
pub(crate) const PACING_SCHEDULE: &str = "By schedule";
pub(crate) const OVERLOAD: &str = "Overload and retries";
pub(crate) const OVERLOAD_NOTHING: &str = "None";
pub(crate) const BURSTINESS: &str = "Burstiness";
pub(crate) const BURSTINESS_HELP: &str =
    "Shape of the gamma-distributed gaps: 1 is Poisson, below 1 arrivals come in bursts.";
pub(crate) const BURST: &str = "Burst";
pub(crate) const BURST_HELP: &str = "Mean length of a burst.";
pub(crate) const LULL: &str = "Lull";
pub(crate) const LULL_HELP: &str = "Mean length of a lull between bursts.";
pub(crate) const LULL_SHARE: &str = "Rate in a lull";
pub(crate) const LULL_SHARE_HELP: &str =
    "The rate in a lull as a share of that in a burst; their mean is the request rate.";

pub(crate) const PROFILE: &str = "Rate over time";
pub(crate) const PROFILE_CONSTANT: &str = "Constant";
pub(crate) const PROFILE_STEP: &str = "Step";
pub(crate) const PROFILE_RAMP: &str = "Ramp";
pub(crate) const PROFILE_SPIKE: &str = "Spike";
pub(crate) const PROFILE_DAILY: &str = "Daily curve";
pub(crate) const PROFILE_HOURS: &str = "Day by hours";
pub(crate) const PROFILE_POINTS: &str = "Points";
pub(crate) const PROFILE_FACTOR: &str = "Times the rate";
pub(crate) const PROFILE_FACTOR_HELP: &str =
    "What the request rate is multiplied with once it has changed.";
pub(crate) const PROFILE_AT: &str = "Begins after";
pub(crate) const PROFILE_AT_HELP: &str = "When the rate begins to change.";
pub(crate) const PROFILE_TO: &str = "Ends after";
pub(crate) const PROFILE_TO_HELP: &str = "When the ramp is at its end.";
pub(crate) const PROFILE_LENGTH: &str = "Lasts";
pub(crate) const PROFILE_LENGTH_HELP: &str = "How long the spike lasts.";
pub(crate) const TROUGH: &str = "Quietest hour";
pub(crate) const TROUGH_HELP: &str = "The quietest hour as a share of the busiest.";
pub(crate) const PEAK_HOUR: &str = "Busiest hour";
pub(crate) const PEAK_HOUR_HELP: &str = "Hour of the day at which the rate is highest, 0 to 23.";
pub(crate) const POINTS: &str = "Time and factor of each point";
pub(crate) const POINTS_HELP: &str =
    "Times and factors of the rate, such as 0s:1, 10min:2; every:1h makes them repeat.";
pub(crate) const HOURS: &str = "Factor at each hour from midnight";
pub(crate) const HOURS_HELP: &str = "24 factors of the rate, the first at midnight.";

pub(crate) const PROMPT_LENGTHS: &str = "Prompt lengths";
pub(crate) const ANSWER_LENGTHS: &str = "Answer lengths";
pub(crate) const FIXED: &str = "Fixed";
pub(crate) const UNIFORM: &str = "Uniform";
pub(crate) const LOGNORMAL: &str = "Lognormal";
pub(crate) const QUANTILES: &str = "Quantiles";
pub(crate) const QUANTILES_HELP: &str =
    "Percentiles and their lengths in tokens, from 0, the shortest, to 100, the longest.";
pub(crate) const SPREAD: &str = "Spread";
pub(crate) const SPREAD_HELP: &str =
    "Sigma of the lognormal lengths around their median: 0 is none, 1 is what chats show.";
pub(crate) const SHORTEST: &str = "Shortest";
pub(crate) const SHORTEST_HELP: &str = "No request is shorter.";
pub(crate) const LONGEST: &str = "Longest";
pub(crate) const LONGEST_HELP: &str = "No request is longer.";

pub(crate) const MIX_HELP: &str = "Classes differ from the requests set above in what you fill in; \
     what they leave over is as set above.";
pub(crate) const ADD_CLASS: &str = "Add a class";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const CLASS_NAME: &str = "Name";
pub(crate) const CLASS_NAME_HELP: &str = "Up to 24 small letters, digits, - and _.";
pub(crate) const CLASS_SHARE: &str = "Share, %";
pub(crate) const CLASS_SHARE_HELP: &str = "Per cent of all requests that are of this class.";
pub(crate) const CLASS_PROMPT: &str = "Prompt";
pub(crate) const CLASS_ANSWER: &str = "Answer";
pub(crate) const CLASS_LENGTH_HELP: &str =
    "Tokens, such as 4000, uniform(100,900) or lognormal(512,0.9); empty for as set above.";
pub(crate) const CLASS_TTFT_HELP: &str =
    "Longest time to first token of this class, such as 2s; empty for as set above.";
pub(crate) const CLASS_TPOT_HELP: &str =
    "Longest mean gap between tokens of this class, such as 60ms; empty for as set above.";
pub(crate) const CLASS_PRIORITY: &str = "Priority";
pub(crate) const PRIORITY_HELP: &str = "Lower goes first, under rules that have priorities.";

pub(crate) const CLASS_PREFIX: &str = "Prefix";
pub(crate) const CLASS_PREFIX_HELP: &str = "Tokens with which the prompts of this class begin \
     alike; empty for those that all prompts share.";

pub(crate) const CLASS_PATIENCE: &str = "Patience";
pub(crate) const CLASS_PATIENCE_HELP: &str = "After so long clients of this class give up, such \
     as 10s; 0 for never, empty for as set below.";

pub(crate) const BATCHING: &str = "Batching";
pub(crate) const RULES_REFERENCE: &str = "Reference";
pub(crate) const RULES_VLLM: &str = "vLLM 0.33";
pub(crate) const RULES_VLLM_OLD: &str = "vLLM 0.11";
pub(crate) const RULES_STATIC: &str = "Static";
pub(crate) const RULES_DYNAMIC: &str = "Dynamic";
pub(crate) const RULES_SEQUENTIAL: &str = "Sequential";
pub(crate) const DELAY: &str = "Longest wait";
pub(crate) const DELAY_HELP: &str = "How long the oldest request waits for a batch to fill.";

/// “80.0 GB on each GPU”.
pub(crate) fn memory_of(bytes: f64) -> String {
    [&quantity::memory(bytes), " on each GPU"].concat()
}

/// By which rule the memory is shared out.
pub(crate) const fn memory_note(is_deployed: bool) -> &'static str {
    if is_deployed {
        "Shared out as this version of vLLM does at start-up."
    } else {
        "By rule of thumb: 90 % for the engine, 1.8 GB of them its own. A version, a format or \
         more GPUs below or above make it as vLLM does."
    }
}

/// “vLLM 0.19, FP8 weights”, by what was said of it.
pub(crate) fn memory_summary(scenario: &scenario::Scenario) -> String {
    if !scenario.knows_memory() {
        return "given by numbers".to_owned();
    }
    if !scenario.is_deployed() {
        return "rule of thumb".to_owned();
    }
    let said = |key: &str| scenario.get(key).filter(|text| text != crate::settings::AUTO);
    let engine = said("engine").unwrap_or_else(|| "vllm-0.33".to_owned());
    let mut parts = vec![word(&engine)];
    if let Some(format) = said("weights") {
        parts.push(word(&format) + " weights");
    }
    if let Some(format) = said("kv_dtype") {
        parts.push(word(&format) + " KV");
    }
    parts.join(", ")
}

/// “fits”, “needs 4 GPUs”, “does not fit”; of an engine that has a number of GPUs now.
pub(crate) fn fits(needed: Option<u64>, now: u64) -> String {
    match needed {
        Some(gpus) if gpus <= now => super::FITS.to_owned(),
        Some(gpus) => ["needs ", &quantity::counted(gpus, "GPU", "GPUs")].concat(),
        None => super::DOES_NOT_FIT_SHORT.to_owned(),
    }
}

/// A word of links as a choice shows it.
pub(crate) fn word(word: &str) -> String {
    if let Some(version) = word.strip_prefix("vllm-") {
        return ["vLLM ", version].concat();
    }
    let shown = match word {
        "auto" => AUTO,
        "fp8_per_token_head" => "FP8 by token and head",
        "fp32" | "bf16" | "fp8" | "int8" | "int4" | "mxfp4" | "nvfp4" => {
            return word.to_ascii_uppercase();
        }
        "on" => "On",
        "off" => "Off",
        "fcfs" => "In order of arrival",
        "priority" => "By priority",
        "fifo" => "Oldest first",
        "lifo" => "Newest first",
        "codel" => "Oldest first, CoDel",
        "first-token" => "First token",
        "answer" => "Whole answer",
        "stopped" => "Stopped",
        "finished" => "Finished",
        "fixed" => "All alike",
        "exponential" => "Exponential",
        "lognormal" => "Lognormal",
        other => other,
    };
    shown.to_owned()
}

/// “Newest first, at most 100 wait, 3 retries”, by the settings that differ.
pub(crate) fn overload_summary(scenario: &scenario::Scenario) -> String {
    let preset = scenario::Scenario::preset();
    let mut parts = Vec::new();
    for (key, before, after) in [
        ("overload.policy", "", ""),
        ("overload.queue_limit", "at most ", " wait"),
        ("overload.deadline", "at most ", " s"),
        ("clients.patience", "patience ", " s"),
        ("clients.retries", "", " retries"),
        ("clients.throttle", "throttling ", ""),
    ] {
        let text = scenario.get(key).unwrap_or_default();
        if Some(&text) != preset.get(key).as_ref() {
            let shown = if key == "clients.throttle" { text } else { word(&text) };
            parts.push([before, &shown, after].concat());
        }
    }
    if parts.is_empty() { OVERLOAD_NOTHING.to_owned() } else { parts.join(", ") }
}

/// What scheduling rules do, by their value in the choice.
pub(crate) fn rules_note(rules: &str) -> &'static str {
    match rules {
        "vllm-0.33" => "Continuous batching by vLLM’s V1 scheduler: paged memory, preemption.",
        "vllm-0.11" => "vLLM’s V1 scheduler as it was up to release 0.11.",
        "static" => "Whole batches, each served until its longest answer is done.",
        "dynamic" => "Whole batches that wait for company, up to a limit.",
        "sequential" => "One request at a time.",
        _ => "Continuous batching; memory is reserved for the whole answer.",
    }
}

/// “80 % of requests are as set above.”
pub(crate) fn class_total(taken_percent: f64) -> String {
    let percent = |value: f64| with_unit(&number(value), "%");
    if taken_percent > 100.0 + 1e-6 {
        format!(
            "The shares add up to {}. Make them {} or less.",
            percent(taken_percent),
            percent(100.0)
        )
    } else if taken_percent > 100.0 - 1e-6 {
        "Every request is of one of these classes.".to_owned()
    } else {
        format!("The other {} of requests are as set above.", percent(100.0 - taken_percent))
    }
}

/// “Class chat”.
pub(crate) fn class_named(name: &str) -> String {
    format!("Class {name}")
}

/// “Remove class chat”.
pub(crate) fn remove_class(name: &str) -> String {
    format!("{REMOVE} class {name}")
}

/// Two classes cannot have one name.
pub(crate) fn class_exists(new: &str, now: &str) -> String {
    format!("There is a class “{new}” already. Choose another name. Still using {now}.")
}

/// What is no name.
pub(crate) fn class_name_refused(text: &str, now: &str) -> String {
    let short: String = text.trim().chars().take(40).collect();
    format!(
        "“{short}” is no name for a class. Use up to 24 small letters, digits, - and _, but not \
         “rest”. Still using {now}."
    )
}

/// What is no number: the value, the field, an example, and what is in force.
pub(crate) fn refused_number(problem: &str, label: &str, example: &str, now: &str) -> String {
    // Where the catalogue decides there is neither an example nor a number of one's own.
    if example.is_empty() {
        return format!("{problem}. For “{label}” give a number, or nothing for auto.");
    }
    format!("{problem}. For “{label}” give for example {example}. Still using {now}.")
}

/// Whether a text is a number below nothing.
pub(crate) fn is_negative(text: &str, unit: Unit) -> bool {
    quantity::parse(text, unit).is_ok_and(|value| value < 0.0)
}

/// “-5” is less than 0, to go before what is said of any number that is refused.
pub(crate) fn negative(text: &str) -> String {
    let short: String = text.trim().chars().take(40).collect();
    ["“", &short, "” is less than 0"].concat()
}

/// What comes of a number that a spread does not reach.
pub(crate) fn nearest_with_spread(asked: f64, now: f64) -> String {
    let whole = quantity::whole;
    ["With this spread the nearest to ", &whole(asked), " is ", &whole(now), ". Using it."].concat()
}

/// “Give KV cache back to the catalogue”.
pub(crate) fn back_to_catalogue(label: &str) -> String {
    format!("{AUTO}: give {label} back to {CATALOGUE}")
}

pub(crate) const TURNS_HELP: &str = "Each turn is a request whose prompt is the conversation so far \
     and the prompt set above; the rate stays that of requests. 1: requests on their own.";
pub(crate) const TURN_THINK_HELP: &str =
    "From an answer to the next turn of the same user, on average.";
