//! Two scenarios side by side, in words, as a table and as JSON.

use planner::{CompareAnswer, Cost, LoadPoint, PairedRequests, PlanAnswer};
use quantity::{count, counted, duration, number, share};
use scenario::{FIELDS, Scenario};
use serde_json::{Value, json};

use crate::{
    cost::about,
    json::{SCHEMA, document, estimate},
    table,
    telling::tell,
};

/// A setting that differs: its key, and what it is under both.
pub type Difference = (String, [String; 2]);

/// Settings in which two scenarios differ, classes included.
#[must_use]
pub fn differences(first: &Scenario, second: &Scenario) -> Vec<Difference> {
    let shown = |scenario: &Scenario, key: &str| {
        scenario.get(key).unwrap_or_else(|| "from the catalogue".to_owned())
    };
    let mut keys: Vec<String> = FIELDS.iter().map(|field| field.key.to_owned()).collect();
    for class in first.classes.iter().chain(&second.classes) {
        let key = format!("{}{}", scenario::CLASS_PREFIX, class.name);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let differs = |key: String| {
        let texts = [shown(first, &key), shown(second, &key)];
        (texts[0] != texts[1]).then_some((key, texts))
    };
    keys.into_iter().filter_map(differs).collect()
}

/// Both, what differs in the settings, in the answer, and for each request. Costs where they are known.
#[must_use]
pub fn compare_text(
    answer: &CompareAnswer,
    (first, second): (&Scenario, &Scenario),
    costs: [Option<&Cost>; 2],
) -> String {
    let differences = differences(first, second);
    let mut text = String::new();
    if differences.is_empty() {
        text.push_str("Nothing differs in the settings.\n");
    } else {
        let rows: Vec<[String; 3]> =
            differences.into_iter().map(|(key, [a, b])| [key, a, b]).collect();
        text.push_str(&table::ragged(&["setting", "A", "B"], &rows));
    }
    text.push('\n');
    text.push_str(&figures(answer, (first, second), costs));
    text.push('\n');
    text.push_str(&match answer.capacity_change {
        Some(change) => {
            let percent =
                |value: f64| quantity::with_unit(&quantity::number_fixed(value * 100.0, 1), "%");
            let verdict = if change.low <= 0.0 && change.high >= 0.0 {
                "These runs cannot tell them apart"
            } else if change.value > 0.0 {
                "An engine of B sustains more"
            } else {
                "An engine of B sustains less"
            };
            format!(
                "{verdict}: {} ({} to {}, 95\u{202f}%, under the same users).\n",
                percent(change.value),
                percent(change.low),
                percent(change.high)
            )
        }
        None => "One of them has no capacity, so there is no difference to tell.\n".to_owned(),
    });
    if let Some(requests) = &answer.requests {
        text.push('\n');
        text.push_str(&paired_text(requests, answer));
    }
    text
}

fn figures(
    answer: &CompareAnswer,
    (first, second): (&Scenario, &Scenario),
    costs: [Option<&Cost>; 2],
) -> String {
    let [a, b] = &answer.answers;
    let told = [tell(a, first), tell(b, second)];
    let tail = |answer: &PlanAnswer, value: fn(&LoadPoint) -> f64| {
        let point = answer.planned.filter(|point| point.has_percentile(99.0));
        quantity::duration_or_unknown(point.as_ref().map(value))
    };
    let each = |answer: &PlanAnswer| match (answer.users, answer.capacity_per_s) {
        (Some(users), _) => users
            .capacity
            .map_or_else(|| "none".to_owned(), |it| format!("{} users", number(it.value))),
        (None, Some(capacity)) => {
            quantity::with_interval(capacity.value, capacity.low, capacity.high)
        }
        (None, None) => "none".to_owned(),
    };
    let row = |name: &str, values: [String; 2]| {
        let [a, b] = values;
        [name.to_owned(), a, b]
    };
    let both = |value: &dyn Fn(&PlanAnswer) -> String| [value(a), value(b)];
    let mut rows = vec![
        row("GPUs", [told[0].hero.clone(), told[1].hero.clone()]),
        row("GPUs per engine", [first, second].map(|it| count(it.gpus_per_engine()))),
        row("an engine sustains, req/s", both(&each)),
        row("TTFT P99 at the planned load", both(&|it| tail(it, |point| point.ttft_p99_s.value))),
        row("TPOT P99 at the planned load", both(&|it| tail(it, |point| point.tpot_p99_s.value))),
        row("E2E P99 at the planned load", both(&|it| tail(it, |point| point.e2e_p99_s.value))),
    ];
    if costs.iter().any(Option::is_some) {
        let known = |value: &dyn Fn(&Cost) -> String| {
            costs.map(|cost| cost.map_or_else(|| "not known".to_owned(), value))
        };
        rows.push(row("dollars an hour", known(&|cost| about(&cost.per_hour))));
        let per_million = |cost: &Cost| crate::cost::about_finely(&cost.planned.million_total);
        rows.push(row("dollars per million tokens", known(&per_million)));
    }
    table::ragged(&["", "A", "B"], &rows)
}

fn paired_text(requests: &PairedRequests, answer: &CompareAnswer) -> String {
    let all = requests.requests.max(1) as f64;
    let unit = if answer.answers[0].users.is_some() { "users" } else { "req/s" };
    let change = |seconds: f64| {
        let sign = if seconds < 0.0 { "\u{2212}" } else { "+" };
        [sign, &duration(seconds.abs())].concat()
    };
    let mut text = format!(
        "The same {} at {} {unit} on one engine of each: under B {} end sooner and {} later; on \
         average {} ({} at the median; 98\u{202f}% from {} to {}).\n",
        counted(requests.requests as u64, "request", "requests"),
        number(requests.load),
        share(requests.sooner as f64 / all),
        share(requests.later as f64 / all),
        change(requests.mean_change_s),
        change(requests.change_s[1]),
        change(requests.change_s[0]),
        change(requests.change_s[2]),
    );
    let rows: Vec<[String; 6]> = requests
        .most_changed
        .iter()
        .map(|it| {
            [
                count(it.index as u64),
                duration(it.arrival_s),
                format!("{} + {}", count(it.tokens.0), count(it.tokens.1)),
                format!("{} → {}", duration(it.ttft_s.0), duration(it.ttft_s.1)),
                format!("{} → {}", duration(it.e2e_s.0), duration(it.e2e_s.1)),
                change(it.e2e_s.1 - it.e2e_s.0),
            ]
        })
        .collect();
    text.push_str("Those that changed most:\n");
    let header = ["request", "arrives", "tokens in + out", "TTFT", "E2E", "change"];
    text.push_str(&table::ragged(&header, &rows));
    text
}

/// The same for machines.
#[must_use]
pub fn compare_json(
    answer: &CompareAnswer,
    (first, second): (&Scenario, &Scenario),
    costs: [Option<Value>; 2],
) -> String {
    let [cost_a, cost_b] = costs;
    let side = |scenario: &Scenario, answer: &PlanAnswer, cost: Option<Value>| {
        json!({
            "link": scenario.to_link(),
            "hero": tell(answer, scenario).hero,
            "gpus_per_engine": scenario.gpus_per_engine(),
            "capacity_per_s": answer.capacity_per_s.map(estimate),
            "users_capacity": answer.users.and_then(|users| users.capacity).map(estimate),
            "ttft_p99_s": answer.planned.map(|point| point.ttft_p99_s.value),
            "tpot_p99_s": answer.planned.map(|point| point.tpot_p99_s.value),
            "e2e_p99_s": answer.planned.map(|point| point.e2e_p99_s.value),
            "cost": cost,
        })
    };
    let differences: Vec<Value> = differences(first, second)
        .into_iter()
        .map(|(key, [a, b])| json!({ "key": key, "a": a, "b": b }))
        .collect();
    document(&json!({
        "schema": SCHEMA,
        "kind": "compare",
        "differences": differences,
        "a": side(first, &answer.answers[0], cost_a),
        "b": side(second, &answer.answers[1], cost_b),
        "capacity_change_share": answer.capacity_change.map(estimate),
        "requests": answer.requests,
    }))
}
