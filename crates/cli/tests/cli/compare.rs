//! `headroom compare`: two scenarios under the same users.

use super::{file, headroom, json, printed};

const FEW: [&str; 3] = ["compare", "sim.requests=300", "sim.replications=3"];

#[test]
fn what_differs_is_told_with_its_interval() {
    let arguments = [&FEW[..], &["vs", "gpu=h200-sxm", "price=3"]].concat();
    let text = printed(&arguments);
    assert!(text.contains("gpu      h100-sxm  h200-sxm"), "{text}");
    assert!(text.contains("An engine of B sustains more: "), "{text}");
    assert!(text.contains("Those that changed most:"), "{text}");
    assert!(text.contains("dollars an hour"), "{text}");
    let answer = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(answer["differences"][0]["key"], "gpu");
    assert_eq!(answer["differences"].as_array().map(Vec::len), Some(1));
    let change = &answer["capacity_change_share"];
    assert!(change["low"].as_f64() <= change["value"].as_f64());
    assert_eq!(answer["requests"]["requests"], 300);
    // Each side is the plan of its link.
    let link = answer["b"]["link"].as_str().expect("a link");
    let plan = json(&["plan", link, "--json"]);
    assert_eq!(plan["capacity_per_s"], answer["b"]["capacity_per_s"]);
}

#[test]
fn files_and_links_are_whole_scenarios() {
    let path = file("compared.json", &printed(&["link", "rate=40", "sim.requests=300", "--json"]));
    let link = "#v=1&rate=40&sim.requests=300&in=2048";
    let answer = json(&["compare", &path, link, "--json"]);
    assert_eq!(answer["differences"][0]["key"], "in");
    let same = printed(&["compare", &path, "vs", &path]);
    assert!(same.starts_with("Nothing differs in the settings."), "{same}");
    assert!(same.contains("These runs cannot tell them apart: 0"), "{same}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    for (words, code, word) in [
        (vec!["compare", "gpu=h100-sxm"], 2, "put vs between"),
        (vec!["compare", "rate=3", "vs"], 2, "nothing stands after vs"),
        (vec!["compare", "rate=3", "vs", "gpu=nothing"], 2, "nothing"),
        (vec!["compare", "rate=3", "vs", "demand=5 documents in 1h"], 2, "a job has no rate"),
        (vec!["compare", "rate=3", "vs", "model=llama-3.1-70b"], 2, "B: "),
    ] {
        let output = headroom(&words).assert().code(code).get_output().stderr.clone();
        let message = String::from_utf8_lossy(&output).into_owned();
        assert!(message.contains(word), "{words:?}: {message}");
    }
}

/// A link of the page in whose Compare view something is pinned is a whole comparison.
#[test]
fn a_link_with_a_pinned_scenario_is_both() {
    let few = "sim.requests=300&sim.replications=3";
    let pinned = few.replace('=', "%3D").replace('&', "%26");
    let link =
        format!("https://example.org/#v=1&{few}&gpu=h200-sxm&view=compare&versus=v%3D1%26{pinned}");
    let told = json(&["compare", &link, "--json"]);
    let (a, b) = (format!("v=1&{few}"), format!("v=1&{few}&gpu=h200-sxm"));
    assert_eq!(told, json(&["compare", &a, "vs", &b, "--json"]));
    let bad = link.replace("v%3D1%26", "v%3D1%26rate%3Dmany%26");
    let output = headroom(&["compare", &bad]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("many"), "{said}");
}
