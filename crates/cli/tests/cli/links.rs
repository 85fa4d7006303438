//! Links: written, explained, taken.

use super::{file, headroom, json, printed};

#[test]
fn a_link_says_what_differs_from_the_defaults() {
    assert_eq!(printed(&["link"]), "#v=1&rev=1\n");
    let base = "https://example.org/headroom/";
    let link = printed(&["link", "rate=250", "ttft=0.5 s", "--base", base]);
    assert_eq!(link, format!("{base}#v=1&rev=1&rate=250&ttft=500ms\n"));
    // A base that was copied with its empty fragment.
    assert_eq!(
        printed(&["link", "--base", "https://example.org/#"]),
        "https://example.org/#v=1&rev=1\n"
    );
}

#[test]
fn a_link_gives_the_scenario_that_it_was_written_from() {
    let link = printed(&["link", "rate=18", "in=lognormal(512,0.9)", "seed=7", "sim.requests=200"]);
    let by_link = printed(&["simulate", "--csv", link.trim()]);
    let settings = ["rate=18", "in=lognormal(512,0.9)", "seed=7", "sim.requests=200"];
    assert_eq!(by_link, printed(&[&["simulate", "--csv"][..], &settings].concat()));
    // Without its address, and with one setting changed.
    let bare = link.trim().trim_start_matches('#');
    assert_eq!(printed(&["link", bare, "rate=19"]), link.replace("rate=18", "rate=19"));
}

#[test]
fn a_link_is_explained() {
    let text = printed(&["link", "https://example.org/#v=1&rate=250"]);
    let line = |key: &str| {
        text.lines().find(|line| line.get(2..).is_some_and(|l| l.starts_with(&format!("{key} "))))
    };
    assert!(line("rate").is_some_and(|line| line.starts_with('*') && line.contains("250")));
    assert!(line("gpu").is_some_and(|line| line.starts_with(' ') && line.contains("h100")));
}

#[test]
fn json_goes_out_and_in() {
    let text = printed(&["link", "--json", "rate=33", "tpot=50"]);
    let path = file("scenario.json", &text);
    for arguments in [&["link", "--json", &path][..], &["link", "--json", "--json-file", &path]] {
        assert_eq!(printed(arguments), text);
    }
    assert_eq!(json(&["link", "--json", &path, "rate=34"])["rate"], 34);
    assert_eq!(
        printed(&["link", "--preset", "qwen2.5-7b-h100", "rate=5"]),
        printed(&["link", "rate=5"])
    );
}

#[test]
fn what_a_link_leaves_open_is_told() {
    let output = headroom(&["link", "#v=1&rate=250&colour=red"]).assert().success();
    let notes = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(notes.contains("colour"), "{notes}");
    // A value that cannot be used: the explanation stands, the exit code says so.
    let output = headroom(&["link", "#v=1&rate=fast"]).assert().code(2);
    assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("fast"));
    headroom(&["plan", "#v=1&rate=fast"]).assert().code(2);
}

/// What was moved into range stands above the answer, where nobody passes over it.
#[test]
fn an_answer_begins_with_what_was_not_taken_as_written() {
    let link = "v=1&rate=-5&colour=red&sim.requests=100&sim.replications=2";
    let told = "note: rate=-5: Least we simulate is 0.1\u{202f}req/s. Using 0.1.\nnote: colour=red";
    for command in [&["plan", "--quick"][..], &["simulate"], &["sweep", "--rates", "5"]] {
        let text = printed(&[command, &[link]].concat());
        assert!(text.starts_with(told), "{command:?}: {text}");
        let answer = json(&[command, &[link, "--json"]].concat());
        let notices = answer["notices"].as_array().expect("a list");
        assert_eq!(notices.len(), 2, "{command:?}");
        assert_eq!(notices[0]["key"], "rate");
        assert_eq!(notices[0]["kind"], "clamped");
        assert_eq!(notices[1]["kind"], "unknown");
    }
    assert!(notes(&["sweep", "--rates", "5", "--csv", link]).contains("note: rate=-5"));
    assert_eq!(json(&["plan", "--quick", "--json", "rate=5"])["notices"], serde_json::Value::Null);
}

/// What a command notes on standard error beside a success.
fn notes(arguments: &[&str]) -> String {
    let output = headroom(arguments).assert().success().get_output().clone();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_prompt_beyond_the_context_is_cut_alike_at_every_door() {
    let note = "note: in=200000: Prompt 200,000 is longer than this model’s 131,072 tokens. Using 131,072.";
    let path = file("long.json", r#"{"in": 200000}"#);
    for word in ["in=200000", "#v=1&in=200000", &path] {
        assert_eq!(json(&["link", "--json", word])["in"], 131_072, "{word}");
        assert!(notes(&["link", "--json", word]).contains(note), "{word}");
    }
    // The model may be named after the length.
    let words = ["link", "in=40000", "model=mistral-7b-v0.3"];
    assert_eq!(printed(&words), "#v=1&rev=1&model=mistral-7b-v0.3&in=32768\n");
}

#[test]
fn settings_without_effect_are_told() {
    let expected = "note: Shared prefix (prefix=500) has no effect under sched.rules=reference and \
                    sched.prefix_caching=off; set sched.rules=vllm-0.33 and \
                    sched.prefix_caching=on to use it.\n";
    let quick = "sim.requests=50";
    for arguments in [
        &["link", "prefix=500"][..],
        &["link", "#v=1&prefix=500"],
        &["simulate", quick, "prefix=500"],
        &["sweep", "--rates", "5", quick, "prefix=500"],
    ] {
        assert_eq!(notes(arguments), expected, "{arguments:?}");
    }
    assert_eq!(notes(&["simulate", quick, "step.mfu=0.4"]), "");
}
