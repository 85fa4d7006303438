//! Recordings of every format, and their scaling.

use super::{file, headroom, json, printed};

fn golden(name: &str) -> String {
    format!("{}/../../tests/golden/traces/{name}", env!("CARGO_MANIFEST_DIR"))
}

const ROWS: [(f64, u64, u64); 4] = [(0.0, 100, 10), (0.5, 200, 1), (0.5, 2000, 20), (2.25, 7, 30)];

/// The same four requests in one format.
fn written(name: &str, head: &str, row: impl Fn(f64, u64, u64) -> String) -> String {
    let rows: String = ROWS.iter().map(|&(s, input, output)| row(s, input, output)).collect();
    file(name, &format!("{head}{rows}"))
}

#[test]
fn every_format_gives_the_same_outcomes() {
    let plain = written("f_plain.csv", "arrival_s,input_tokens,output_tokens\n", |s, i, o| {
        format!("{s},{i},{o}\n")
    });
    let expected = printed(&["simulate", "--csv", "--trace", &plain]);
    assert_eq!(expected.lines().count(), 5);
    let others = [
        written("f_azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n", |s, i, o| {
            format!("2023-11-16 18:15:{:010.7},{i},{o}\n", 10.0 + s)
        }),
        written("f_mooncake.jsonl", "", |s, i, o| {
            let ms = s * 1e3;
            format!(
                "{{\"timestamp\": {ms}, \"input_length\": {i}, \"output_length\": {o}, \"hash_ids\": [1]}}\n"
            )
        }),
        written("f_records.jsonl", "", |s, i, o| {
            format!("{{\"arrival_s\": {s}, \"prompt_tokens\": {i}, \"completion_tokens\": {o}}}\n")
        }),
        written("f_semicolons.txt", "output_len;t_ms;isl\n", |s, i, o| {
            format!("{o};{};{i}\n", s * 1e3)
        }),
        written("f_aiperf.jsonl", "", |s, i, o| {
            let ns = 1_700_000_000_000_000_000 + (s * 1e9) as u64;
            format!(
                "{{\"metadata\": {{\"request_start_ns\": {ns}}}, \"metrics\": {{\"input_sequence_length\": {{\"value\": {i}, \"unit\": \"tokens\"}}, \"output_sequence_length\": {{\"value\": {o}, \"unit\": \"tokens\"}}}}}}\n"
            )
        }),
    ];
    for path in others {
        assert_eq!(printed(&["simulate", "--csv", "--trace", &path]), expected, "{path}");
    }
}

#[test]
fn published_recordings_are_read_as_they_come() {
    for (name, requests) in [
        ("azure_2023_conv_first20.csv", 20),
        ("azure_2023_conv_first2000.csv.gz", 2000),
        ("mooncake_synthetic_first150.jsonl", 150),
    ] {
        let run = json(&["simulate", "--json", "--trace", &golden(name)]);
        assert_eq!(run["offered"], requests, "{name}");
    }
    let output =
        headroom(&["simulate", "--trace", &golden("azure_2023_conv_first20.csv")]).assert();
    let notes = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(notes.contains("note: Times count from the first request"), "{notes}");
}

#[test]
fn a_recording_can_be_scaled_by_speed_or_to_the_rate() {
    let path = golden("azure_2023_conv_first2000.csv.gz");
    let by_speed = printed(&["simulate", "--csv", "--trace", &path, "--trace-speed", "4"]);
    let to_rate = ["simulate", "--csv", "--trace", &path, "--trace-rate", "2.5", "rate=10"];
    assert_eq!(printed(&to_rate), by_speed);
    let plain = printed(&["simulate", "--csv", "--trace", &path]);
    let arrivals = |text: &str| -> Vec<f64> {
        let cell = |line: &str| line.split(',').next().and_then(|cell| cell.parse().ok());
        text.lines().skip(1).map(|line| cell(line).expect("a time")).collect()
    };
    for (fast, slow) in arrivals(&by_speed).iter().zip(arrivals(&plain)) {
        assert_eq!(*fast, slow / 4.0);
    }
}

#[test]
fn rows_out_of_order_are_sorted_aloud() {
    let path = file("mixed.csv", "arrival_s,input_tokens,output_tokens\n1,5,5\n0,7,5\n");
    let output = headroom(&["simulate", "--csv", "--trace", &path]).assert().success();
    let output = output.get_output();
    assert!(String::from_utf8_lossy(&output.stderr).contains("sorted by time"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("0,7,5,")), "{text}");
}

#[test]
fn what_a_recording_takes_the_place_of_is_said() {
    let path = golden("azure_2023_conv_first20.csv");
    let plain = printed(&["simulate", "--csv", "--trace", &path]);
    let arguments =
        ["simulate", "--csv", "--trace", &path, "class.rag=share:20", "profile=step(5s,2)"];
    let output = headroom(&arguments).assert().success().get_output().clone();
    assert_eq!(String::from_utf8_lossy(&output.stdout), plain);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("profile=step(5s,2), class.rag are not used"), "{notes}");
    // Lengths, the number of requests and a seed are the recording's own, or nobody's.
    let arguments =
        ["simulate", "--csv", "--trace", &path, "in=7", "sim.requests=90", "seed=3", "rate=5"];
    let output = headroom(&arguments).assert().success().get_output().clone();
    assert_eq!(String::from_utf8_lossy(&output.stdout), plain);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("in=7, sim.requests=90, seed=3 are not used"), "{notes}");
    assert!(notes.contains("rate=5 is not used") && notes.contains("--trace-rate"), "{notes}");
    // The rate of a plan is the one to plan for, and of a replay the one to replay at.
    for arguments in [
        &["plan", "--trace", &path, "--trace-rate", "2", "rate=5"][..],
        &["simulate", "--trace", &path, "--trace-rate", "2", "rate=5", "spec.tokens=3", "seed=3"],
    ] {
        let output = headroom(arguments).assert().get_output().clone();
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!notes.contains("not used"), "{notes}");
    }
}

/// Lengths of the scenario say nothing of a recording, so they cannot be in its way.
#[test]
fn lengths_that_are_not_used_are_not_held_against_the_memory() {
    let path = file("short.csv", "arrival_s,input_tokens,output_tokens\n0,10,5\n1,20,5\n");
    let arguments = ["simulate", "--trace", &path, "kv.capacity_tokens=100"];
    assert!(printed(&arguments).contains("2 requests sent, 2 finished"));
}

/// There is one of a recording: no other seed makes another.
#[test]
fn no_seed_is_advised_for_a_recording() {
    let drawn = ["simulate", "rate=5", "profile=step(20s,4)", "sim.requests=400"];
    assert!(printed(&drawn).contains("Compare several seeds"));
    let rows: String = (0..400)
        .map(|index| {
            let at_s = if index < 100 { f64::from(index) } else { 100.0 + 0.05 * f64::from(index) };
            format!("{at_s},100,20\n")
        })
        .collect();
    let path = file("rising.csv", &format!("arrival_s,input_tokens,output_tokens\n{rows}"));
    let text = printed(&["simulate", "--trace", &path]);
    assert!(text.contains("no two parts of the run are alike.\n"), "{text}");
    assert!(!text.contains("seed"), "{text}");
}

#[test]
fn requests_beyond_the_context_of_the_model_are_counted() {
    let text = "arrival_s,input_tokens,output_tokens\n0,500000,10\n1,10,10\n2,131072,1\n";
    let path = file("beyond.csv", text);
    for arguments in
        [&["simulate", "--trace", &path][..], &["sweep", "--rates", "0.1", "--trace", &path]]
    {
        let output = headroom(arguments).assert().success().get_output().clone();
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        let counted = "2 of 3 requests exceed this model’s context of 131,072 tokens";
        assert!(notes.contains(counted) && notes.contains("the longest has 500,010"), "{notes}");
    }
    // A model that is given by its numbers has no context to exceed, nor is the scenario’s own
    // prompt in use.
    let words = ["simulate", "step.params=7.6e9", "--trace", &path];
    assert!(headroom(&words).assert().get_output().stderr.is_empty());
    let fits = file("fits.csv", "arrival_s,input_tokens,output_tokens\n0,500,10\n1,10,10\n");
    let words = ["simulate", "in=131000", "--trace", &fits];
    let output = headroom(&words).assert().success().get_output().clone();
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("in=131000 is not used") && !notes.contains("exceed"), "{notes}");
}
