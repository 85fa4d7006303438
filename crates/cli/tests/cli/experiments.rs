//! Claims by command.

use super::{headroom, json, printed};

#[test]
fn experiments_are_listed_with_their_claims() {
    let list = printed(&["experiment"]);
    assert!(list.lines().count() >= 16, "{list}");
    assert!(list.contains("queue-lags"), "{list}");
    assert_eq!(list, printed(&["experiment", "list"]));
}

#[test]
fn an_experiment_tells_its_claim_its_figures_and_what_holds() {
    let text = printed(&["experiment", "activation-beats-threshold"]);
    assert!(text.starts_with("KEDA with threshold 10 and activationThreshold 50"), "{text}");
    assert!(text.contains("40 messages, activation 50"), "{text}");
    assert!(text.contains("holds  With 40 messages KEDA says 0"), "{text}");
    let told = json(&["experiment", "activation-beats-threshold", "--json"]);
    assert_eq!(told["holds"], true);
    assert_eq!(told["tables"][0]["rows"][0]["values"][1], 4.0);
}

#[test]
fn an_unknown_experiment_is_refused_with_a_way_out() {
    let output = headroom(&["experiment", "luck"]).assert().code(2).get_output().stderr.clone();
    assert!(String::from_utf8_lossy(&output).contains("headroom experiment list"));
}
