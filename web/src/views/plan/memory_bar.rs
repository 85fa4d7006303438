//! The memory of one GPU as one bar, and each part of it in words.

use leptos::prelude::*;
use scenario::Memory;

use crate::{
    dom::{El, el},
    memo::memo,
    state::State,
    strings,
};

/// What the memory is shared out to, in the order of the bar: the name of its colour, its name, and its
/// bytes.
type Part = (&'static str, &'static str, fn(&Memory) -> f64);

const PARTS: [Part; 4] = [
    ("weights", strings::MEMORY_WEIGHTS, |memory| memory.weight_bytes),
    ("kv", strings::MEMORY_KV, |memory| memory.kv_bytes),
    ("reserve", strings::MEMORY_RESERVE, |memory| memory.reserve_bytes),
    ("free", strings::MEMORY_FREE, |memory| memory.kept_free_bytes),
];

/// The bar and its parts; a sentence where no GPU's memory is known.
pub(super) fn memory_bar() -> El {
    let state = expect_context::<State>();
    let memory = memo(move |_| {
        state.resolution.with(|resolution| match resolution.outcome.as_ref() {
            Ok((resolved, _)) => Some(resolved.memory).filter(|memory| memory.total_bytes > 0.0),
            Err(_) => None,
        })
    });
    let is_known = move || memory.with(Option::is_some);
    el("div")
        .class("memory")
        .when(is_known, move || drawn(memory))
        .when(move || !is_known(), || el("p").class("control-help").text(strings::MEMORY_UNKNOWN))
        .child(el("p").class("control-help").text_of(move || {
            strings::memory_note(state.current.with(scenario::Scenario::is_deployed)).to_owned()
        }))
}

fn drawn(memory: Memo<Option<Memory>>) -> El {
    let bytes = move |of: fn(&Memory) -> f64| {
        let bytes = memory.with(|memory| memory.as_ref().map_or(0.0, of));
        // What a person gave may be more than there is.
        if bytes > 0.0 { bytes } else { 0.0 }
    };
    let whole = move || {
        let parts: f64 = PARTS.iter().map(|(_, _, of)| bytes(*of)).sum();
        if parts > 0.0 { parts } else { 1.0 }
    };
    let cells = PARTS.map(|(colour, _, of)| {
        el("span").class("memory-cell").attr("data-part", colour).style_of("width", move || {
            let permille = (bytes(of) / whole() * 1e3).round() as u32;
            format!("{}.{}%", permille / 10, permille % 10)
        })
    });
    let rows = PARTS.map(|(colour, name, of)| {
        el("li").class("memory-row").child([
            el("span").class("memory-key").attr("data-part", colour).attr("aria-hidden", "true"),
            el("span").text(name),
            el("span").class("memory-bytes").text_of(move || quantity::memory(bytes(of))),
        ])
    });
    let total = move || strings::memory_of(memory.with(|it| it.map_or(0.0, |it| it.total_bytes)));
    el("div").child([
        el("p").class("memory-total").text_of(total),
        el("div").class("memory-cells").attr("aria-hidden", "true").child(cells),
        el("ul").class("memory-rows").child(rows),
    ])
}
