//! What a link says beside the scenario: what a GPU-hour costs, how much of the planned load there is on
//! average, and a job with an end. None of it is a setting; all of it is of the command line, too.

use leptos::prelude::*;
use planner::{Dollars, MoneyError, read_average_load};
use report::Price;
use scenario::{Demand, page_word};

use crate::state::State;

/// The keys in a link.
pub(super) const PRICE: &str = "price";
pub(super) const LOAD: &str = "utilisation";
pub(super) const DEMAND: &str = "demand";

/// The price that a person gave, if it can be used.
pub(super) fn typed_price(words: &str) -> Option<Dollars> {
    Dollars::read(&page_word(words, PRICE)?).ok()
}

/// The mean load that a person gave, if it can be used.
pub(super) fn typed_load(words: &str) -> Option<f64> {
    read_average_load(&page_word(words, LOAD)?).ok()
}

/// The job that a person gave: so many requests within so many seconds.
pub(super) fn job(words: &str) -> Option<(u64, f64)> {
    match Demand::read(&page_word(words, DEMAND)?) {
        Ok(Demand::Job { requests, within_s }) => Some((requests, within_s)),
        _ => None,
    }
}

/// What an hour of a GPU costs: as given, or as the catalogue has it.
pub(super) fn price_of(words: &str, gpu: &str) -> Option<Price> {
    match typed_price(words) {
        Some(per_hour) => Some(Price { per_hour, kind: "given", source: "typed".to_owned() }),
        None => Price::of_catalogue(&catalog::device(gpu).ok()?),
    }
}

/// Reads a price or a mean load and writes it as links have it; empty text takes it away.
pub(super) fn money_written(key: &str, text: &str) -> Result<String, MoneyError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(String::new());
    }
    if key == PRICE {
        return Ok(Dollars::read(text)?.written());
    }
    Ok(quantity::plain(read_average_load(text)?, 0))
}

/// Puts a word into the link; an empty one takes it away.
pub(super) fn put(state: State, key: &str, value: &str) {
    let before = state.words.get_untracked();
    let mut now = String::new();
    for other in [PRICE, LOAD, DEMAND] {
        let kept = if other == key { None } else { page_word(&before, other) };
        let value = kept.as_deref().unwrap_or(if other == key { value } else { "" });
        if !value.is_empty() {
            let value = String::from(js_sys::encode_uri_component(value));
            for part in ["&", other, "=", &value] {
                now.push_str(part);
            }
        }
    }
    if now != before {
        // An entry of the history of its own.
        state.mover.set_value("");
        state.words.set(now);
    }
}
