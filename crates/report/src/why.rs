//! Why no more: what binds, in words, as a table and as JSON.

use planner::{Gain, Limit, WhyAnswer};
use quantity::share;
use scenario::Scenario;
use serde_json::json;

use crate::{
    json::{SCHEMA, document, estimate},
    table,
};

/// Said where there is no capacity to ask about.
pub const WHY_OUT_OF_REACH: &str = "Even an idle engine misses the target, so no capacity is there to ask about; headroom plan \
     tells what would bring it into reach.";

/// What binds and what would bind next, and what a little more of each thing gives.
#[must_use]
pub fn why_text(answer: &WhyAnswer) -> String {
    let rows = gain_rows(&answer.gains);
    format!("{}\n\n{}", why_lines(answer).join("\n"), table::aligned(&GAIN_COLUMNS, &rows))
}

/// The sentences alone.
#[must_use]
pub fn why_lines(answer: &WhyAnswer) -> Vec<String> {
    let mut lines = vec![binding(answer)];
    lines.extend(
        answer.binding_target.map(|target| {
            format!("Of what was promised, {} holds it down most.", limit_name(target))
        }),
    );
    lines.extend(next(answer));
    lines
}

/// “Arithmetic binds: with 10 % more, one GPU sustains 24.5 req/s instead of 21.9, (11.9 % more;
/// 95 % interval 10.2 % to 13.5 %).”
fn binding(answer: &WhyAnswer) -> String {
    let capacity = answer.capacity.value;
    let Some(gain) = gain_of(&answer.gains, answer.binding) else {
        return format!(
            "Nothing of engine and machine binds by itself: a little more of one thing changes \
             nothing that these runs can tell. One GPU sustains {}.",
            load(capacity, answer)
        );
    };
    let (size, interval) = growth(gain);
    let interval = interval.map_or_else(String::new, |interval| format!("; {interval}"));
    format!(
        "{} binds: {}, and one GPU sustains {} instead of {} ({size}{interval}).",
        capitalised(limit_name(gain.limit)),
        much(gain),
        load(capacity * (1.0 + gain.gain.value), answer),
        load(capacity, answer),
    )
}

/// “With twice as much it sustains 87 % more; then the requests at once bind.”
fn next(answer: &WhyAnswer) -> Option<String> {
    let next = answer.next.as_ref()?;
    let doubled = &next.doubled;
    let then = match next.binding {
        Some(limit) => format!("then what binds is {}", limit_name(limit)),
        None => "and nothing else binds even then".to_owned(),
    };
    let (size, interval) = growth(doubled);
    let interval = interval.map_or_else(String::new, |interval| format!(" ({interval})"));
    Some(format!("With {} it sustains {size}{interval}; {then}.", times(doubled)))
}

fn gain_of(gains: &[Gain], limit: Option<Limit>) -> Option<&Gain> {
    gains.iter().find(|gain| Some(gain.limit) == limit)
}

/// “22.6 req/s”, “1,220 users”.
fn load(value: f64, answer: &WhyAnswer) -> String {
    if answer.is_users {
        format!("{} users", quantity::number(value))
    } else {
        quantity::rate(value)
    }
}

/// “give 10 % more of it”, “shorten it by 9 %”.
fn much(gain: &Gain) -> String {
    if is_time(gain.limit) {
        format!("take {} off it", share(1.0 - 1.0 / gain.factor))
    } else {
        format!("give {} more of it", share(gain.factor - 1.0))
    }
}

fn times(gain: &Gain) -> String {
    if is_time(gain.limit) { "half of it".to_owned() } else { "twice as much".to_owned() }
}

/// Growth from which on people say how many times as much.
const MANY: f64 = 9.0;

/// “11.9 % more” and “95 % interval 10.2 % to 13.5 %”, where there is one; “125 times as much” where it
/// is a multiple.
fn growth(gain: &Gain) -> (String, Option<String>) {
    let planner::Estimate { value, low, high } = gain.gain;
    if value >= MANY {
        let times = |growth: f64| quantity::number(sim_core::float::greater(0.0, 1.0 + growth));
        let interval = || format!("95\u{202f}% interval {} to {} times", times(low), times(high));
        return (format!("{} times as much", times(value)), (low < high).then(interval));
    }
    let percent = |value: f64| quantity::with_unit(&quantity::number_fixed(value * 100.0, 1), "%");
    let more = if value < 0.0 { "less" } else { "more" };
    let size = format!("{} {more}", percent(value.abs()));
    let interval =
        (low < high).then(|| format!("95 % interval {} to {}", percent(low), percent(high)));
    (size, interval)
}

/// Whether less of it is better: times of the machine.
const fn is_time(limit: Limit) -> bool {
    matches!(limit, Limit::Overhead | Limit::TimePerSequence)
}

/// Columns of [`gain_rows`].
pub const GAIN_COLUMNS: [&str; 6] = ["", "setting", "changed by", "capacity, %", "from", "to"];

/// What a little more of each thing gives, with the interval.
#[must_use]
pub fn gain_rows(gains: &[Gain]) -> Vec<Vec<String>> {
    let row = |gain: &Gain| {
        let change = if is_time(gain.limit) { 1.0 / gain.factor } else { gain.factor };
        let planner::Estimate { value, low, high } = gain.gain;
        let percent = |value: f64| {
            if value >= MANY {
                return format!("{} times", quantity::number(1.0 + value));
            }
            quantity::number_fixed(value * 100.0, 1)
        };
        vec![
            capitalised(limit_name(gain.limit)),
            setting(gain.limit).to_owned(),
            quantity::change(change),
            percent(value),
            percent(low),
            percent(high),
        ]
    };
    gains.iter().map(row).collect()
}

/// What it is called in a sentence.
pub(crate) const fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Sequences => "the number of requests at once",
        Limit::TokenBudget => "the token budget of a step",
        Limit::QueueBound => "the length of the queue",
        Limit::KvCache => "the KV cache",
        Limit::Compute => "arithmetic",
        Limit::Bandwidth => "memory bandwidth",
        Limit::Overhead => "the fixed time of a step",
        Limit::TimePerSequence => "the time of each sequence in a step",
        Limit::TtftTarget => "the target for TTFT",
        Limit::TpotTarget => "the target for TPOT",
    }
}

/// The key that sets it.
const fn setting(limit: Limit) -> &'static str {
    match limit {
        Limit::Sequences => "sched.max_num_seqs",
        Limit::TokenBudget => "sched.max_num_batched_tokens",
        Limit::QueueBound => "overload.queue_limit",
        Limit::KvCache => "kv.capacity_tokens",
        Limit::Compute => "step.peak_flops",
        Limit::Bandwidth => "step.bandwidth",
        Limit::Overhead => "step.overhead_s",
        Limit::TimePerSequence => "step.per_item_s",
        Limit::TtftTarget => "ttft",
        Limit::TpotTarget => "tpot",
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The same for machines; `None` is a target out of reach.
#[must_use]
pub fn why_json(answer: Option<&WhyAnswer>, scenario: &Scenario) -> String {
    let gain = |gain: &Gain| {
        json!({
            "limit": gain.limit,
            "kind": gain.limit.kind(),
            "factor": gain.factor,
            "gain_share": estimate(gain.gain),
            "elasticity": gain.elasticity(),
        })
    };
    document(&json!({
        "schema": SCHEMA,
        "kind": "why",
        "link": scenario.to_link(),
        "capacity": answer.map(|answer| json!({
            "unit": if answer.is_users { "users" } else { "requests_per_s" },
            "estimate": estimate(answer.capacity),
        })),
        "binding": answer.and_then(|answer| answer.binding),
        "binding_target": answer.and_then(|answer| answer.binding_target),
        "gains": answer.map(|answer| answer.gains.iter().map(gain).collect::<Vec<_>>()),
        "next": answer.and_then(|answer| answer.next.as_ref()).map(|next| json!({
            "doubled": gain(&next.doubled),
            "binding": next.binding,
            "gains": next.gains.iter().map(gain).collect::<Vec<_>>(),
        })),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_told_as_such_and_small_growth_in_per_cent() {
        let gain = |value: f64, low: f64, high: f64| Gain {
            limit: Limit::Bandwidth,
            factor: 2.0,
            gain: planner::Estimate { value, low, high },
        };
        let told = |gain: Gain| {
            let (size, interval) = growth(&gain);
            let plain = |text: String| text.replace('\u{202f}', " ");
            (plain(size), interval.map(plain))
        };
        assert_eq!(
            told(gain(0.119, 0.102, 0.135)),
            ("11.9 % more".to_owned(), Some("95 % interval 10.2 % to 13.5 %".to_owned()))
        );
        assert_eq!(
            told(gain(123.88, 103.0, 139.0)),
            ("125 times as much".to_owned(), Some("95 % interval 104 to 140 times".to_owned()))
        );
        // A wide interval ends at nothing, not below it.
        assert_eq!(
            told(gain(162.0, -2171.0, 2500.0)).1,
            Some("95 % interval 0 to 2,500 times".to_owned())
        );
        let rows = gain_rows(&[gain(123.88, 103.0, 139.0)]);
        assert!(rows[0][3].contains("125 times"), "{rows:?}");
    }
}
