//! What a job with an end takes, in words and as JSON.

use planner::BatchAnswer;
use quantity::{count, counted, duration, number, rate};
use scenario::Scenario;
use serde_json::json;

use crate::{
    cost::{Price, about},
    json::{SCHEMA, document},
    names,
};

/// A job in a few sentences.
#[must_use]
pub fn batch_text(answer: &BatchAnswer, scenario: &Scenario, price: Option<&Price>) -> String {
    let gpu = names::gpu(&scenario.gpu);
    let each = scenario.gpus_per_engine();
    let what = format!(
        "{} within {}",
        counted(answer.requests, "request", "requests"),
        duration(answer.within_s)
    );
    let Some(engines) = answer.engines else {
        return format!(
            "No answer\n\n{what}: even with one request on each of {} {gpu} engines the last one ends \
             after {}.\n",
            count(answer.requests),
            duration(answer.takes_s)
        );
    };
    let gpus = engines.saturating_mul(each);
    let noun = if gpus == 1 { "GPU" } else { "GPUs" };
    let mut text = format!("{} {gpu} {noun} for {what}\n\n", count(gpus));
    text.push_str(&format!(
        "The last request ends after {}; an engine finishes {} on the whole, its last requests \
         included, in which it is not full.\n",
        duration(answer.takes_s),
        rate(answer.rate_per_s)
    ));
    text.push_str(&match answer.engines_by_division {
        division if division == engines => {
            format!("The division by the closed form’s ceiling gives {}, too.\n", counted(division, "engine", "engines"))
        }
        division => format!(
            "The division by the closed form’s ceiling gives {}: it leaves out how an engine fills and \
             runs empty.\n",
            counted(division, "engine", "engines")
        ),
    });
    if answer.is_extrapolated {
        text.push_str(
            "An engine’s part is longer than what was simulated; beyond that it goes on at the rate found.\n",
        );
    }
    if let Some(price) = price {
        let hours = answer.takes_s / 3600.0;
        let all = price.per_hour.times(gpus as f64 * hours);
        text.push_str(&format!(
            "It costs {} ({} GPU-hours at {} an hour; {}: {}).\n",
            about(&all),
            number(gpus as f64 * hours),
            about(&price.per_hour),
            price.kind,
            price.source
        ));
    }
    text.push_str("A job has no target for latency: only the end of its last request counts.\n");
    text
}

/// The same for machines.
#[must_use]
pub fn batch_json(answer: &BatchAnswer, scenario: &Scenario, price: Option<&Price>) -> String {
    let each = scenario.gpus_per_engine();
    let gpus = answer.engines.map(|engines| engines.saturating_mul(each));
    let dollars = gpus
        .zip(price)
        .map(|(gpus, price)| json!(price.per_hour.times(gpus as f64 * answer.takes_s / 3600.0)));
    document(&json!({
        "schema": SCHEMA,
        "kind": "job",
        "link": scenario.to_link(),
        "gpus": gpus,
        "gpus_per_engine": each,
        "job": answer,
        "dollars": dollars,
    }))
}
