//! `headroom tornado`: how far the answer may be off.

use super::{file, headroom, json, printed};

const FEW: [&str; 4] = ["tornado", "sim.requests=200", "sim.replications=2", "price=2..4"];

fn ask(more: &[&str]) -> serde_json::Value {
    json(&[&FEW[..], &["--json"], more].concat())
}

#[test]
fn bars_say_where_their_ranges_are_from() {
    let answer = ask(&[]);
    let bars = answer["bars"].as_array().expect("bars");
    let keys: Vec<&str> = bars.iter().filter_map(|bar| bar["key"].as_str()).collect();
    for key in ["rate", "in", "out", "step.mfu", "step.bandwidth", "step.overhead_s", "price"] {
        assert!(keys.contains(&key), "{key} in {keys:?}");
    }
    assert!(bars.iter().all(|bar| bar["source"].as_str().is_some_and(|it| !it.is_empty())));
    let price = bars.iter().find(|bar| bar["key"] == "price").expect("a bar");
    assert_eq!(price["range"], serde_json::json!([2.0, 4.0]));
    let text = printed(&FEW);
    assert!(text.starts_with("As it stands: $"), "{text}");
    assert!(text.contains("8 of 10 of 60 draws lie from "), "{text}");
}

#[test]
fn ranges_of_one_s_own_replace_and_add() {
    let answer = ask(&["--range", "rate=50%..300%", "--range", "headroom=10%..50%"]);
    let bars = answer["bars"].as_array().expect("bars");
    let bar = |key: &str| bars.iter().find(|bar| bar["key"] == key).expect("a bar");
    assert_eq!(bar("rate")["range"], serde_json::json!([0.5, 3.0]));
    let gpus =
        |bar: &serde_json::Value, end: &str| bar[end]["gpus_unrounded"].as_f64().expect("a number");
    assert!((gpus(bar("rate"), "high") / gpus(bar("rate"), "low") - 6.0).abs() < 1e-9);
    let headroom = bar("headroom");
    assert!((gpus(headroom, "high") / gpus(headroom, "low") - 1.5 / 1.1).abs() < 1e-9);
}

#[test]
fn the_tornado_is_drawn() {
    let path = file("tornado.svg", "");
    printed(&[&FEW[..], &["--chart", &path]].concat());
    let svg = std::fs::read_to_string(path).expect("it was written");
    assert!(svg.contains("<title>What each input does to the answer</title>"));
    assert!(svg.contains("Compute efficiency") && svg.contains("Request rate"), "no names");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    for (range, word) in [
        ("rate", "it has no range"),
        ("rate=3", "two ends"),
        ("rate=2..1", "comes first"),
        ("model=1..2", "no number"),
        ("step.mfu=0.5..120%", "cannot take"),
    ] {
        let arguments = ["tornado", "--range", range];
        let output = headroom(&arguments).assert().code(2).get_output().stderr.clone();
        let message = String::from_utf8_lossy(&output).into_owned();
        assert!(message.contains(word), "{range}: {message}");
    }
    headroom(&["tornado", "ttft=1ms"]).assert().code(1);
    headroom(&["tornado", "model=llama-3.1-70b"]).assert().code(1);
}
