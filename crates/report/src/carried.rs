//! The other way round: what a given number of GPUs, or a budget, carries.

use planner::{Estimate, PlanAnswer};
use quantity::{count, money, share};
use scenario::Scenario;
use serde_json::{Value, json};

use crate::{cost::Price, json::estimate, words};

/// What so many GPUs carry at the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// GPUs there are.
    pub gpus: u64,
    /// Engines that they make; what is left over makes none.
    pub engines: u64,
    /// GPUs of an engine.
    pub gpus_each: u64,
    /// Requests per second that they carry at the target, without headroom; of a closed loop users.
    pub load: Estimate,
    /// Room wanted above the load.
    pub headroom: f64,
    /// Whether the load is in users.
    pub is_users: bool,
    /// Mean tokens of a request, prompt and answer together.
    pub tokens_each: f64,
}

impl Carried {
    /// What `gpus` carry by an answer; `None` where it has no capacity. `tokens_each` are the mean
    /// tokens of a request.
    #[must_use]
    pub fn by(gpus: u64, answer: &PlanAnswer, gpus_each: u64, tokens_each: f64) -> Option<Self> {
        let engines = gpus / gpus_each.max(1);
        let (each, is_users) = match answer.users {
            Some(users) => (users.capacity?, true),
            None => (answer.capacity_per_s?, false),
        };
        let times = |value: f64| value * engines as f64;
        Some(Self {
            gpus,
            engines,
            gpus_each,
            load: Estimate {
                value: times(each.value),
                low: times(each.low),
                high: times(each.high),
            },
            headroom: answer.headroom,
            is_users,
            tokens_each,
        })
    }

    /// GPUs that a budget of dollars an hour pays for at a price; at most those that fit a number.
    #[must_use]
    pub fn gpus_of_budget(dollars_per_hour: f64, price_per_hour: f64) -> u64 {
        // A rounding error must not take a GPU; a float beyond the range of u64 saturates.
        (dollars_per_hour / price_per_hour * (1.0 + 1e-12)).floor() as u64
    }

    /// With the headroom that is wanted kept free.
    fn with_headroom(&self) -> f64 {
        self.load.value / (1.0 + self.headroom)
    }

    fn unit(&self) -> &'static str {
        if self.is_users { words::USERS } else { words::RATE }
    }
}

/// What they carry, in sentences; `budget` is what is paid for them at a price.
#[must_use]
pub fn carried_text(carried: &Carried, budget: Option<(f64, &Price)>) -> String {
    let unit = carried.unit();
    let mut text = String::new();
    if let Some((dollars, price)) = budget {
        let gpus = |per_hour: f64| count(Carried::gpus_of_budget(dollars, per_hour));
        let of = &price.per_hour;
        text.push_str(&format!(
            "{} an hour pays for {} at {} each",
            money(dollars),
            quantity::counted(carried.gpus, "GPU", "GPUs"),
            money(of.typical)
        ));
        if !of.is_exact() {
            text.push_str(&format!(
                " ({} at {}, {} at {})",
                gpus(of.high),
                money(of.high),
                gpus(of.low),
                money(of.low)
            ));
        }
        text.push_str(".\n");
    }
    if carried.engines == 0 {
        text.push_str(&format!(
            "That is less than one engine of {}.\n",
            quantity::counted(carried.gpus_each, "GPU", "GPUs")
        ));
        return text;
    }
    let what = quantity::counted(carried.gpus, "GPU", "GPUs");
    let verb = if carried.gpus == 1 { "carries" } else { "carry" };
    text.push_str(&format!("{what} {verb} {}", words::carried_load(&carried.load, unit)));
    if carried.headroom > 0.0 {
        let left = words::load_text(carried.with_headroom(), unit);
        text.push_str(&format!(", or {left} with {} headroom", share(carried.headroom)));
    }
    text.push_str(".\n");
    if !carried.is_users {
        let per_day = carried.with_headroom() * 86_400.0;
        text.push_str(&format!(
            "With the headroom kept free that is {} requests and {} tokens a day, if they come evenly.\n",
            quantity::number(per_day),
            quantity::number(per_day * carried.tokens_each)
        ));
    }
    text
}

/// The same for machines.
#[must_use]
pub fn carried_value(
    carried: &Carried,
    scenario: &Scenario,
    budget: Option<(f64, &Price)>,
) -> Value {
    json!({
        "gpus": carried.gpus,
        "engines": carried.engines,
        "gpus_per_engine": scenario.gpus_per_engine(),
        "unit": if carried.is_users { "users" } else { "requests_per_s" },
        "load": estimate(carried.load),
        "load_with_headroom": carried.with_headroom(),
        "tokens_per_day": (!carried.is_users)
            .then(|| carried.with_headroom() * 86_400.0 * carried.tokens_each),
        "budget": budget.map(|(dollars, price)| json!({
            "dollars_per_hour": dollars,
            "gpus_at_low_price": Carried::gpus_of_budget(dollars, price.per_hour.low),
            "gpus_at_high_price": Carried::gpus_of_budget(dollars, price.per_hour.high),
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_buys_whole_gpus() {
        assert_eq!(Carried::gpus_of_budget(40.0, 2.5), 16);
        assert_eq!(Carried::gpus_of_budget(0.3, 0.1), 3);
        assert_eq!(Carried::gpus_of_budget(1.0, 2.5), 0);
    }

    #[test]
    fn what_is_less_than_an_engine_is_said() {
        let load = Estimate { value: 0.0, low: 0.0, high: 0.0 };
        let (is_users, headroom, tokens_each) = (false, 0.25, 1280.0);
        let carried =
            Carried { gpus: 3, engines: 0, gpus_each: 4, load, headroom, is_users, tokens_each };
        assert_eq!(carried_text(&carried, None), "That is less than one engine of 4 GPUs.\n");
    }
}
