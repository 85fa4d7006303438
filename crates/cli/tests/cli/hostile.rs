//! Every setting and every option against what nobody should type: each message names what it is about,
//! shows the value, says what to write instead, and sends nothing that would steer a terminal.

use super::{file, headroom};

/// What no setting takes, whatever it is.
const VALUES: [&str; 18] = [
    "-7.5",
    "NaN",
    "inf",
    "-inf",
    "1e308",
    "99999999999999999999999",
    "5 parsecs",
    "",
    "  ",
    "💥",
    "\u{1b}[31m5",
    "5\n6",
    "\u{202e}5",
    "(((((",
    "lognormal(",
    "0x10",
    "1,2,3",
    "null",
];

/// Words with which a message says what to write instead.
const REMEDIES: [&str; 11] = [
    "for example",
    "did you mean",
    "Did you mean",
    "Least we simulate",
    "Most we simulate",
    "is none of:",
    "none stands for",
    "Write none",
    "is a whole number from",
    "headroom catalog",
    "it must be",
];

/// Run, expect bad input, and hold the message to the rule.
fn refused(arguments: &[&str], named: &str, value: &str) {
    let output = headroom(arguments).assert().code(2).get_output().clone();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = format!("{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{told}");
    assert!(!message.contains("panicked"), "{told}");
    let label = scenario::field(named).map_or(named, |field| field.label);
    let is_named = message.contains(named) || message.contains(label);
    assert!(is_named, "it should name {named}: {told}");
    let shown: String = quantity::visible(value.trim()).chars().take(20).collect();
    assert!(message.contains(&shown), "it should show the value: {told}");
    assert!(
        REMEDIES.iter().any(|words| message.contains(words)),
        "it should say what helps: {told}"
    );
    let is_sent = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!message.contains(is_sent), "it should steer no terminal: {message:?}");
    assert!(message.len() < 1000, "it should be short: {told}");
}

#[test]
fn settings_of_the_command_line() {
    for field in scenario::FIELDS {
        for value in VALUES {
            let word = format!("{}={value}", field.key);
            refused(&["link", &word], field.key, value);
        }
    }
    let long = "9".repeat(5000);
    for key in ["rate", "in", "model", "gpu", "seed", "arrivals", "class.a"] {
        refused(&["link", &format!("{key}={long}")], key, &long);
    }
}

#[test]
fn settings_of_files() {
    for key in
        ["rate", "in", "out", "ttft", "share", "model", "sched.rules", "turns", "clients.retries"]
    {
        for value in ["\"-7.5\"", "\"NaN\"", "-7.5", "1e308", "null", "true", "[]", "{}", "\"\""] {
            let path = file("hostile.json", &format!("{{\"{key}\": {value}}}"));
            refused(&["link", &path], "hostile.json", "");
            refused(&["link", &path], key, "");
        }
    }
}

/// Links are opened with what is right in them. What is not is told, and by its code where it would
/// steer a terminal.
#[test]
fn settings_of_links_are_told() {
    for field in scenario::FIELDS {
        for (value, written) in [("-7.5", "-7.5"), ("\u{1b}[31m5", "%1B%5B31m5")] {
            let output = headroom(&["link", &format!("v=1&{}={written}", field.key)]).assert();
            let output = output.get_output();
            let notes = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(notes.contains("note: ") && !notes.contains("panicked"), "{notes}");
            assert!(notes.contains(&quantity::visible(value)), "{}: {notes}", field.key);
            assert!(!notes.contains('\u{1b}'), "{notes:?}");
        }
    }
}

#[test]
fn numbers_of_options() {
    let options: [(&[&str], &[&str]); 5] = [
        (&["plan"], &["--threads"]),
        (&["sweep"], &["--rates", "--threads"]),
        (&["simulate"], &["--gpus", "--replicas", "--requests", "--threads"]),
        (&["know"], &["--proof-seed"]),
        (
            &["fleet"],
            &[
                "--target",
                "--activation",
                "--min",
                "--max",
                "--initial",
                "--start",
                "--start-cv",
                "--provision",
                "--nodes",
                "--quota",
                "--warm",
                "--scrape",
                "--window",
                "--requests",
            ],
        ),
    ];
    for (command, names) in options {
        for name in names {
            // Rates are a list, and may be several.
            let is_list = |value: &&str| *name == "--rates" && *value == "1,2,3";
            for value in VALUES.into_iter().filter(|value| !is_list(value)) {
                refused(&[command, &[name, value]].concat(), name, value);
            }
        }
    }
    for (name, value) in
        [("--target", "0"), ("--scrape", "0"), ("--window", "1e-9"), ("--max", "0")]
    {
        refused(&["fleet", name, value], name, value);
    }
    for (name, value) in
        [("--fault", "-5"), ("--fault", "node@-5"), ("--floor", "-5"), ("--begin", "-5")]
    {
        refused(&["fleet", name, value], name, value);
    }
    refused(&["link", "--base", "\u{1b}[31m"], "--base", "\u{1b}[31m");
    refused(&["fleet", "--policy", "fixed", "--min", "0"], "--min", "0");
    let output = headroom(&["plan", "--th\u{1b}[31mreads"]).assert().code(2).get_output().clone();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("'--th\\u{1b}[31mreads'") && message.contains("--help"), "{message}");
    assert!(!message.contains('\u{1b}'), "{message:?}");
}

#[test]
fn settings_of_memory() {
    for key in
        ["tp", "pp", "max_model_len", "max_num_seqs", "num_gpu_blocks", "sliding_layers", "context"]
    {
        for value in ["-7.5", "NaN", "1e308", "5 parsecs", "", "\u{1b}[31m5", "0x10"] {
            let word = format!("{key}={value}");
            refused(&["memory", "model=llama-3.1-8b", &word], key, value);
        }
    }
    for key in ["gpu_memory_gib", "weights_gib", "activation_gib", "non_torch_gib", "kv_cache_gib"]
    {
        for value in ["-7.5", "NaN", "inf", "1e308", "5 parsecs", ""] {
            refused(&["memory", "model=llama-3.1-8b", &format!("{key}={value}")], key, value);
        }
    }
    refused(&["memory", "model=llama-3.1-8b", "context=0"], "context", "0");
    refused(&["memory", "model=llama-3.1-8b", "gpu_memory_gib=0"], "gpu_memory_gib", "0");
    refused(&["memory", "model=llama-3.1-8b", "tp=1,2,3"], "tp", "1,2,3");
    let output = headroom(&["memory", "model=llama-3.1-8b", "window=4096"]).assert().success();
    let notes = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(notes.contains("window=4096 has no effect without layers"), "{notes}");
}
