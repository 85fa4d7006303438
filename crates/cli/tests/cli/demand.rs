//! Demand in other words than a rate.

use super::{headroom, json, printed};

#[test]
fn tokens_a_day_are_a_rate() {
    let link = printed(&["link", "demand=110.592M tokens/day", "rate=5"]);
    assert!(link.contains("rate=1\n"), "{link}");
    let hourly = printed(&["link", "demand=7.2k requests/hour"]);
    assert!(hourly.contains("rate=2\n"), "{hourly}");
    let users = printed(&["link", "demand=300 users, 30s"]);
    assert!(users.contains("arrivals=closed"), "{users}");
}

#[test]
fn a_job_is_done_in_time_by_the_fewest_gpus() {
    let job = |demand: &str| json(&["plan", demand, "price=3", "--json"]);
    let answer = job("demand=20k documents in 5min");
    assert_eq!(answer["kind"], "job");
    let gpus = answer["gpus"].as_f64().expect("a number of GPUs");
    let takes_s = answer["job"]["takes_s"].as_f64().expect("a time");
    assert!(takes_s <= 300.0, "{answer}");
    // 20,000 at 24 req/s each are 833 s.
    assert_eq!(gpus, 3.0);
    let dollars = answer["dollars"]["typical"].as_f64().expect("an amount");
    assert!((dollars - gpus * takes_s / 3600.0 * 3.0).abs() < 1e-9);
    let clock = job("demand=20k documents from 23:58 to 00:03");
    assert_eq!(clock["job"], answer["job"]);
    let text = printed(&["plan", "demand=20k documents in 5min"]);
    assert!(text.starts_with("3 H100 GPUs for 20,000 requests within 5\u{202f}min"), "{text}");
    headroom(&["plan", "demand=50 documents in 500ms"]).assert().code(1);
}

/// A link carries what the page shows beside its scenario; who typed something else has the last word.
#[test]
fn a_link_carries_prices_and_a_job() {
    let link = "#v=1&rate=40&price=2..4.5&utilisation=40%25";
    let cost = json(&["plan", link, "--json"])["cost"].clone();
    assert_eq!(cost["price_per_gpu_hour"]["dollars"]["typical"], 3.0);
    assert_eq!(cost["price_per_gpu_hour"]["kind"], "given");
    assert_eq!(cost["average_load_share"], 0.4);
    let typed = json(&["plan", link, "price=5", "--json"])["cost"].clone();
    assert_eq!(typed["price_per_gpu_hour"]["dollars"]["typical"], 5.0);

    let job = "#v=1&demand=20k%20documents%20in%205min";
    assert_eq!(json(&["plan", job, "--json"])["kind"], "job");
    // Another question is about the link's scenario.
    let simulated = json(&["simulate", job, "--json"]);
    assert_eq!(simulated["kind"], json(&["simulate", "--json"])["kind"]);
    headroom(&["plan", "#v=1&price=many"]).assert().code(2);
}

#[test]
fn what_is_no_demand_is_refused() {
    for (arguments, word) in [
        (vec!["plan", "demand=lots"], "is not"),
        (vec!["plan", "demand=5k documents"], "for example demand="),
        (vec!["plan", "demand=5k documents in 1h", "--csv"], "--csv: a job has no rate"),
        (vec!["why", "demand=5k documents in 1h"], "a demand that is a job"),
        (vec!["plan", "demand=1e15 tokens/s"], "10,000"),
    ] {
        let output = headroom(&arguments).assert().code(2).get_output().stderr.clone();
        let message = String::from_utf8_lossy(&output).into_owned();
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
}
