//! Bad input: each message names field, value and remedy, the exit code is 2, nothing panics.

use super::{file, headroom};

/// Run, expect bad input, and find all `parts` in the message.
fn refused(arguments: &[&str], parts: &[&str]) {
    let output = headroom(arguments).assert().code(2).get_output().clone();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in parts {
        assert!(message.contains(part), "{arguments:?} should say {part}: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
    assert!(output.stdout.is_empty(), "{arguments:?} prints a result beside its error");
}

#[test]
fn settings() {
    refused(&["plan", "rate=-5"], &["rate=-5", "Least", "0.1"]);
    refused(&["plan", "rate=0"], &["rate=0", "Least", "0.1"]);
    refused(&["plan", "rate=1e300"], &["rate=1e300", "Most", "10,000"]);
    refused(&["plan", "out=0"], &["out=0", "Least", "1"]);
    refused(&["plan", "rate=NaN"], &["Request rate", "NaN", "100"]);
    refused(&["plan", "rate="], &["Request rate", "no value"]);
    refused(&["plan", "rate=5 ms"], &["Request rate", "5 ms", "req/s"]);
    refused(&["plan", "ttft=fast"], &["TTFT", "fast", "500ms"]);
    refused(&["plan", "in=1.5.2"], &["Prompt", "1.5.2", "1024"]);
    refused(&["plan", "arrivals=gamma(x)"], &["Arrivals", "“x”", "gamma(0.5)"]);
    refused(&["plan", "ratte=5"], &["ratte", "rate"]);
    refused(&["plan", "model=qwen2.5-7"], &["qwen2.5-7", "qwen2.5-7b"]);
    refused(&["plan", "gpu=h1000"], &["h1000", "h100"]);
    refused(&["plan", "step.mfu=none"], &["none"]);
    refused(&["plan", "rate"], &["“rate”", "key=value"]);
}

/// An error says nothing of what would have been used: nothing is.
#[test]
fn errors_promise_nothing() {
    for setting in ["rate=-5", "rate=NaN", "gpu=h1000", "step.mfu=none"] {
        let output = headroom(&["plan", setting]).assert().code(2).get_output().clone();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!message.contains("sing ") && !message.contains("as it was"), "{message}");
    }
}

/// Links are moved into range with a note, as the page does: an old link never breaks.
#[test]
fn absurd_values_of_a_link_are_moved_into_range_aloud() {
    let output = headroom(&["link", "#v=1&rate=1e300"]).assert().success().get_output().clone();
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(notes.contains("note: rate=1e300") && notes.contains("Using 10,000"), "{notes}");
}

#[test]
fn options() {
    refused(&["plan", "--threads", "0"], &["--threads"]);
    refused(&["sweep", "--rates", "1,-2"], &["-2", "above 0"]);
    refused(&["sweep", "--rates", "1,inf"], &["inf", "above 0"]);
    refused(&["simulate", "--trace-speed", "2"], &["--trace"]);
    refused(&["simulate", "--gpus", "0"], &["--gpus"]);
    refused(&["plan", "--json", "--csv"], &["--json", "--csv"]);
    refused(&["plan", "--preset", "nothing"], &["nothing", "qwen2.5-7b-h100"]);
    refused(&["plan", "#v=1&rate=5", "--preset", "qwen2.5-7b-h100"], &["--preset", "link"]);
    refused(&["fly"], &["fly"]);
}

#[test]
fn json_files() {
    let path = file("broken.json", "{\n  \"rate\": 5,\n  oops\n}");
    refused(&["plan", &path], &["broken.json", "line 3"]);
    let path = file("wrong.json", "{\"rate\": \"many\"}");
    refused(&["plan", "--json-file", &path], &["wrong.json", "many"]);
    let path = file("negative.json", "{\"rate\": -3}");
    refused(&["plan", &path], &["negative.json", "rate=-3", "0.1"]);
    let path = file("list.json", "[1, 2]");
    refused(&["plan", &path], &["list.json", "object"]);
    let path = file("binary.json", "");
    std::fs::write(&path, [0xff, 0xfe, 0x00]).expect("it can be written");
    refused(&["plan", &path], &["binary.json", "UTF-8"]);
}

#[test]
fn recordings() {
    let cases = [
        ("", "arrival_s"),
        ("arrival_s,input_tokens,output_tokens\n", "no request"),
        ("arrival_s,input_tokens\n0,5\n", "output_tokens"),
        ("1,2,3\n4,5,6\n", "arrival_s"),
        (
            "arrival_s,input_tokens,output_tokens\n0,5,5\nsoon,5,5\n",
            "line 3, column arrival_s: “soon”",
        ),
        ("arrival_s,input_tokens,output_tokens\n-1,5,5\n", "line 2, column arrival_s: “-1”"),
        ("arrival_s,input_tokens,output_tokens\nNaN,5,5\n", "line 2, column arrival_s: “NaN”"),
        (
            "arrival_s,input_tokens,output_tokens\n1,5,5\n0,5,5\n",
            "line 3, column arrival_s: “0” is before",
        ),
        ("arrival_s,input_tokens,output_tokens\n0,x,5\n", "line 2, column input_tokens: “x”"),
        ("arrival_s,input_tokens,output_tokens\n0,5.5,5\n", "line 2, column input_tokens: “5.5”"),
        ("arrival_s,input_tokens,output_tokens\n0,5,0\n", "line 2, column output_tokens: “0”"),
        ("arrival_s,input_tokens,output_tokens\n0,5,2000000000\n", "line 2, column output_tokens"),
        ("arrival_s,input_tokens,output_tokens\n0,5\n", "line 2, column output_tokens: “”"),
    ];
    for (index, (text, expected)) in cases.into_iter().enumerate() {
        let name = format!("bad_{index}.csv");
        let path = file(&name, text);
        refused(&["simulate", "--trace", &path], &[&name, expected]);
        refused(&["plan", "--trace", &path], &[&name, expected]);
    }
    refused(&["simulate", "--trace", env!("CARGO_TARGET_TMPDIR")], &["folder"]);
}

#[test]
fn a_recording_without_a_span_needs_a_rate() {
    let path = file("at_once.csv", "arrival_s,input_tokens,output_tokens\n3,5,5\n3,5,5\n");
    refused(&["plan", "--trace", &path], &["at_once.csv", "--trace-rate"]);
    headroom(&["plan", "--trace", &path, "--trace-rate", "2"]).assert().success();
}
