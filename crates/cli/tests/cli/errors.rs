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
    refused(&["plan", "profile=spike(60s,3)"], &["spike(60s,3)", "how long", "Rate profile"]);
    refused(&["plan", "profile=step(60s,500)"], &["profile=step(60s,500)", "Most", "100"]);
    refused(&["plan", "arrivals=onoff(20s)"], &["onoff(20s)", "Arrivals"]);
    refused(&["plan", "in=quantiles(50:700)"], &["quantiles(50:700)", "100", "Prompt"]);
    refused(&["plan", "class.chat=in:512"], &["in:512", "share", "Class chat"]);
    refused(&["plan", "class.chat=share:60,inn:512"], &["“inn”", "“in”"]);
    refused(&["plan", "class.a b=share:60"], &["“a b”", "name"]);
    refused(
        &["plan", "class.a=share:70", "class.b=share:50"],
        &["a 70", "b 50", "120", "class.a.share=50"],
    );
    refused(&["catalog", "gpus", "h9000"], &["h9000", "headroom catalog"]);
    refused(&["plan", "model=nope"], &["nope", "headroom catalog models"]);
    refused(&["plan", "gpu=nope"], &["nope", "headroom catalog gpus"]);
    refused(&["plan", "gpu=nope"], &["step.peak_flops, step.bandwidth and kv.capacity_tokens"]);
    refused(
        &["plan", "model=gpt5"],
        &["gpt5", "step.params, step.weight_bytes and step.kv_bytes_per_token"],
    );
    for key in ["foo", "ratte"] {
        refused(&["plan", &format!("{key}=3")], &[key, "headroom plan --help lists all keys"]);
    }
    refused(&["plan", "seed=1e30"], &["seed=1e30", "Most", "18446744073709551615"]);
    refused(&["know", "--proof-seed", "1e30"], &["at most 18446744073709551615"]);
}

/// A file counts as if it were typed: what is wrong in it is refused, an unknown key as well as a bad
/// value. A link is opened with what is right in it, unless a value cannot be used at all.
#[test]
fn files_are_refused_as_arguments_are() {
    for (text, parts) in [
        (r#"{"foo": 3}"#, ["foo=3", "Unknown key"]),
        (r#"{"ratte": 3}"#, ["ratte", "rate"]),
        (r#"{"rate": 99999}"#, ["rate=99999", "Most"]),
        (r#"{"rate": "fast"}"#, ["fast", "Request rate"]),
        (r#"{"sched.rules": "magic"}"#, ["magic", "Scheduling rules"]),
        (r#"{"v": "x"}"#, ["version “x”", "Leave it out"]),
        (r#"{"rev": "x"}"#, ["revision “x”", "Leave it out"]),
    ] {
        let path = file("as_typed.json", text);
        for arguments in [&["link", &path][..], &["link", "--json-file", &path]] {
            refused(arguments, &parts);
            refused(arguments, &["as_typed.json"]);
        }
    }
    let newer = file("newer_version.json", r#"{"v": 2, "foo": 3, "rate": 40}"#);
    let output = headroom(&["link", &newer]).assert().success().get_output().clone();
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("newer version") && notes.contains("“foo”"), "{notes}");
    headroom(&["plan", "--quick", "v=1&foo=3&rate=99999", "sim.requests=100"]).assert().success();
}

/// An error says nothing of what would have been used: nothing is.
#[test]
fn errors_promise_nothing() {
    for setting in ["rate=-5", "rate=NaN", "gpu=h1000", "step.mfu=none", "foo=3"] {
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
    let whole = "a whole number from 1 to";
    for value in ["0", "-1", "2.5"] {
        refused(&["plan", "--threads", value], &["--threads", value, whole, "for example 4"]);
        for option in ["--gpus", "--replicas", "--requests"] {
            refused(&["simulate", option, value], &[option, value, whole, "for example"]);
        }
    }
    refused(&["know", "--proof-seed", "-1"], &["--proof-seed", "-1", "0 or more", "example 7"]);
    refused(&["sweep", "--rates", "-2"], &["--rates", "-2", "from 0.0001 to 1,000,000"]);
    refused(&["chart", "--out", "x.png"], &["--out x.png", "SVG", "x.svg"]);
    assert!(!std::path::Path::new("x.png").exists());
    for rate in ["-2", "inf", "NaN", "0", "1e-8", "1e300"] {
        let rates = format!("1,{rate}");
        refused(&["sweep", "--rates", &rates], &[rate, "from 0.0001 to 1,000,000"]);
    }
    for option in ["--trace-speed", "--trace-rate"] {
        for value in ["1e-12", "1e15", "-1"] {
            refused(
                &["simulate", "--trace", "x", option, value],
                &[option, value, "from 0.0001 to 1,000,000"],
            );
        }
    }
    refused(&["simulate", "--trace-speed", "2"], &["--trace"]);
    refused(&["simulate", "--trace-rate", "2"], &["--trace"]);
    refused(
        &["simulate", "--trace", "x", "--trace-rate", "2", "--trace-speed", "2"],
        &["--trace-rate", "--trace-speed"],
    );
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
    const HEADER: &str = "arrival_s,input_tokens,output_tokens";
    let cases: [(&str, &[&str]); 14] = [
        ("", &["is empty", "header"]),
        ("{HEADER}\n", &["no row"]),
        ("arrival_s,input_tokens\n0,5\n", &["line 1", "output"]),
        ("1,2,3\n4,5,6\n", &["line 1", "arrival"]),
        ("{HEADER}\n0,5,5\nsoon,5,5\n", &["line 3", "arrival_s is “soon”", "12.5"]),
        ("{HEADER}\n-1,5,5\n", &["line 2", "arrival_s is “-1”"]),
        ("{HEADER}\nNaN,5,5\n", &["line 2", "arrival_s is “NaN”"]),
        ("{HEADER}\n0,x,5\n", &["line 2", "input_tokens is “x”"]),
        ("{HEADER}\n0,5.5,5\n", &["line 2", "input_tokens is “5.5”"]),
        ("{HEADER}\n0,5,0\n", &["line 2", "output_tokens is 0"]),
        ("{HEADER}\n0,5,2000000000\n", &["line 2", "output_tokens is “2000000000”"]),
        ("{HEADER}\n0,5\n", &["line 2", "output_tokens"]),
        ("{\"timestamp\": 5, \"input_length\": oops}\n", &["line 1", "JSON"]),
        ("PK\u{3}\u{4}rest of an archive", &["zip", "unpack"]),
    ];
    for (index, (text, expected)) in cases.into_iter().enumerate() {
        let name = format!("bad_{index}.csv");
        let path = file(&name, &text.replace("{HEADER}", HEADER));
        let parts = [&[name.as_str()], expected].concat();
        let message = headroom(&["plan", "--trace", &path]).assert().code(2).get_output().clone();
        assert!(!String::from_utf8_lossy(&message.stderr).contains("?."), "{name}");
        refused(&["simulate", "--trace", &path], &parts);
        refused(&["plan", "--trace", &path], &parts);
    }
    let path = file("cut.csv.gz", "");
    std::fs::write(&path, [0x1f, 0x8b, 8, 0, 1, 2]).expect("it can be written");
    refused(&["simulate", "--trace", &path], &["cut.csv.gz", "gzip", "again"]);
    refused(&["simulate", "--trace", env!("CARGO_TARGET_TMPDIR")], &["folder"]);
}

/// Rows that cannot be used are refused, with their number, until somebody says to leave them out.
#[test]
fn bad_rows_are_left_out_only_when_asked() {
    let text = "arrival_s,input_tokens,output_tokens\n0,5,5\nsoon,5,5\n1,5,0\n2,5,5\n";
    let path = file("some_bad.csv", text);
    refused(
        &["simulate", "--trace", &path],
        &["line 3", "“soon”", "Of 4 rows 2", "--skip-bad-rows"],
    );
    let output = headroom(&["simulate", "--trace", &path, "--skip-bad-rows"]).assert().success();
    let output = output.get_output();
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(notes.contains("note: 2 of 4 rows left out"), "{notes}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("2 requests sent"));
    refused(&["simulate", "--skip-bad-rows"], &["--trace"]);
}

#[test]
fn a_recording_without_a_span_needs_a_rate() {
    let path = file("at_once.csv", "arrival_s,input_tokens,output_tokens\n3,5,5\n3,5,5\n");
    refused(&["plan", "--trace", &path], &["at_once.csv", "--trace-rate"]);
    headroom(&["plan", "--trace", &path, "--trace-rate", "2"]).assert().success();
}
