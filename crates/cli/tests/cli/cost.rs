//! Prices, costs, and what a budget carries.

use super::{headroom, json, printed, recording};

const SMALL: [&str; 3] = ["plan", "sim.requests=500", "sim.replications=2"];

fn plan(more: &[&str]) -> serde_json::Value {
    json(&[&SMALL[..], &["--json"], more].concat())
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn a_plan_says_what_it_costs_and_who_says_so() {
    let cost = &plan(&[])["cost"];
    assert_eq!(cost["price_per_gpu_hour"]["kind"], "assumed");
    assert_eq!(number(&cost["price_per_gpu_hour"]["dollars"]["low"]), 1.99);
    assert!((number(&cost["per_hour"]["high"]) - 30.0).abs() < 1e-9);
    let at = &cost["at_planned_load"];
    let paid = 1024.0 * number(&at["million_input"]["typical"])
        + 256.0 * number(&at["million_output"]["typical"]);
    assert!((paid * 1e-6 / number(&at["request"]["typical"]) - 1.0).abs() < 1e-12);
    let text = printed(&SMALL);
    assert!(
        text.contains("a month (6 GPUs at $3.15 ($1.99 to $5.00) an hour each; assumed: "),
        "{text}"
    );
    assert!(text.contains("its prompt is charged with what it adds to the steps"), "{text}");
}

#[test]
fn a_price_of_one_s_own_counts() {
    let cost = &plan(&["price=2.5", "utilisation=50%"])["cost"];
    assert_eq!(cost["price_per_gpu_hour"]["kind"], "given");
    assert_eq!(number(&cost["per_hour"]["typical"]), 15.0);
    assert_eq!(number(&cost["headroom_per_hour"]["typical"]), 2.5);
    let total = |at: &str| number(&cost[at]["million_total"]["typical"]);
    assert!((total("averaged_over_time") / total("at_planned_load") - 2.0).abs() < 1e-12);
}

/// A recording’s own lengths are paid for, not the scenario’s.
#[test]
fn recorded_tokens_are_what_is_paid_for() {
    let trace = recording("rate1");
    let cost =
        &json(&["plan", "--trace", &trace, "--trace-rate", "1", "price=3", "--json"])["cost"];
    assert_eq!(number(&cost["per_hour"]["typical"]), 18.0);
    let at = &cost["at_planned_load"];
    let tokens = 1e6 * number(&at["request"]["typical"]) / number(&at["million_total"]["typical"]);
    assert!((tokens - 1280.0).abs() < 1e-6, "{tokens}");
}

#[test]
fn gpus_and_budgets_carry_what_the_plan_says() {
    let answer = plan(&["--gpus", "8"]);
    let each = number(&answer["capacity_per_s"]["value"]);
    assert!((number(&answer["carried"]["load"]["value"]) - 8.0 * each).abs() < 1e-9);
    let carried = &plan(&["--budget", "40", "price=2..4"])["carried"];
    // 40 over the geometric mean of 2 and 4, and over both.
    assert_eq!(carried["gpus"], 14);
    assert_eq!(carried["budget"]["gpus_at_low_price"], 20);
    assert_eq!(carried["budget"]["gpus_at_high_price"], 10);
    let text = printed(&[&SMALL[..], &["--budget", "1", "price=2"]].concat());
    assert!(
        text.contains("That is less than one engine of 1\u{202f}GPU")
            || text.contains("less than one engine"),
        "{text}"
    );
}

#[test]
fn money_that_cannot_be_used_is_refused() {
    let refused = |arguments: &[&str], word: &str| {
        let output = headroom(arguments).assert().code(2).get_output().stderr.clone();
        let message = String::from_utf8_lossy(&output).into_owned();
        assert!(message.contains(word), "{message}");
    };
    refused(&["plan", "price=4..2"], "The lower price comes first");
    refused(&["plan", "utilisation=0"], "utilisation=0");
    refused(&["sweep", "price=2"], "price: this command has no use for it");
    refused(&["plan", "gpu=l40", "--budget", "40"], "the catalogue has no price for L40");
    // Without a price there is an answer, and no cost.
    assert!(plan(&["model=qwen2.5-7b", "gpu=l40", "rate=1", "ttft=5s"])["cost"].is_null());
}
