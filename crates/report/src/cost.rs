//! What an answer costs, in words and as JSON.

use planner::{Cost, Dollars, TokenCost};
use quantity::{money, money_range, rate, share};
use serde_json::{Value, json};

use crate::table;

/// What an hour of a GPU costs, and who says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// Dollars for an hour of one GPU.
    pub per_hour: Dollars,
    /// How it is known: “assumed”, “given”.
    pub kind: &'static str,
    /// Who says so.
    pub source: String,
}

impl Price {
    /// The catalogue's range for a GPU; `None` where it has none.
    #[must_use]
    pub fn of_catalogue(device: &catalog::Device) -> Option<Self> {
        let (low, high) = device.price_per_hour.as_ref()?;
        Some(Self {
            per_hour: Dollars::between(low.value, high.value),
            kind: high.citation.kind.word(),
            source: format!("{}; the typical price is the geometric mean", high.citation.line()),
        })
    }
}

/// How the cost of a request is shared out, for whoever asks where a figure comes from.
pub const SPLIT_RULE: &str = "A request costs the price of its engine for the time between two requests; its prompt is charged with what it adds to the steps of the batch that runs at that load, its answer with the rest of the engine’s working time.";

/// The cost as a few sentences and a table.
#[must_use]
pub fn cost_text(cost: &Cost, price: &Price) -> String {
    let mut lines = vec![format!(
        "About {} an hour, {} a month ({} at {} an hour each; {}: {}).",
        about(&cost.per_hour),
        about(&cost.per_month),
        quantity::counted(cost.gpus, "GPU", "GPUs"),
        about(&cost.price_per_hour),
        price.kind,
        price.source
    )];
    if cost.headroom_per_hour.high > 0.0 {
        lines.push(format!("Of that, headroom costs {} an hour.", about(&cost.headroom_per_hour)));
    }
    if cost.average_load < 1.0 {
        lines.push(format!(
            "Averaged over time the load is {} of the planned one; the GPUs are paid for all the same.",
            share(cost.average_load)
        ));
    }
    lines.push(SPLIT_RULE.to_owned());
    format!("{}\n\n{}", lines.join("\n"), tokens(cost))
}

/// “$12 to $30”, “$18.00”.
pub(crate) fn about(dollars: &Dollars) -> String {
    if dollars.is_exact() {
        money(dollars.typical)
    } else {
        format!("{} ({})", money(dollars.typical), money_range(dollars.low, dollars.high))
    }
}

/// The same with three digits below a dollar, where cents are too coarse: “$0.0354 ($0.0224 to $0.0563)”.
pub(crate) fn about_finely(dollars: &Dollars) -> String {
    if dollars.high >= 1.0 {
        return about(dollars);
    }
    let fine = |amount: f64| ["$", &quantity::number(amount)].concat();
    if dollars.is_exact() {
        fine(dollars.typical)
    } else {
        format!("{} ({} to {})", fine(dollars.typical), fine(dollars.low), fine(dollars.high))
    }
}

fn tokens(cost: &Cost) -> String {
    const HEADER: [&str; 6] =
        ["$ per million tokens", "req/s each", "prompt", "answer", "both", "prompt’s part"];
    let row = |name: &str, at: &TokenCost| {
        let input =
            at.million_input.map_or_else(|| "none".to_owned(), |dollars| about_finely(&dollars));
        vec![
            name.to_owned(),
            rate(at.rate_per_s).replace("\u{202f}req/s", ""),
            input,
            about_finely(&at.million_output),
            about_finely(&at.million_total),
            share(at.prompt_share),
        ]
    };
    let mut rows = vec![row("at the planned load", &cost.planned)];
    if cost.average_load < 1.0 {
        rows.push(row("averaged over time", &cost.averaged));
    }
    rows.push(row("at the capacity", &cost.knee));
    table::aligned(&HEADER, &rows)
}

/// The cost for machines: dollars.
#[must_use]
pub fn cost_value(cost: &Cost, price: &Price) -> Value {
    json!({
        "price_per_gpu_hour": { "dollars": cost.price_per_hour, "kind": price.kind, "source": price.source },
        "gpus": cost.gpus,
        "per_hour": cost.per_hour,
        "per_month": cost.per_month,
        "hours_per_month": planner::HOURS_PER_MONTH,
        "headroom_per_hour": cost.headroom_per_hour,
        "average_load_share": cost.average_load,
        "split_rule": SPLIT_RULE,
        "at_planned_load": cost.planned,
        "averaged_over_time": cost.averaged,
        "at_capacity": cost.knee,
    })
}
