//! What was understood of a recording, and what can be done with it.

use leptos::{ev, prelude::*};
use protocol::Recording;
use quantity::Unit;

use crate::{
    browser,
    dom::{El, Nodes, el},
    recording::recording_in,
    state::State,
    strings,
};

/// Where the file is chosen: the focus goes there when the rest is gone.
const FILE_ID: &str = "recording-file";
/// Digits of a rate that has room in its field; what is in force has them all.
const DIGITS: usize = 6;

/// The recording in force, anew when it is another.
///
/// The only way to what is in here, and never inlined: the page loads it when somebody has a
/// recording.
#[inline(never)]
pub(crate) fn recorded(state: State) -> Nodes {
    recorded_late(state)
}

#[inline(never)]
fn recorded_late(state: State) -> Nodes {
    let described = move || {
        state.recording.with(|kept| {
            recording_in(kept).map_or_else(Vec::new, |recording| describe(state, recording))
        })
    };
    el("div")
        .class("recorded")
        .attr("role", "group")
        .attr("aria-label", strings::UNDERSTOOD)
        .region(described)
        .child([actions(state)])
        .into()
}

fn describe(state: State, recording: &Recording) -> Vec<El> {
    let fact = |(name, value): &(&str, String)| {
        el("div").child([el("dt").text(name), el("dd").text(value)])
    };
    let facts = strings::recording_facts(recording);
    let mut told = vec![
        el("p").class("recorded-name").text(&recording.name),
        el("dl").child(facts.iter().map(fact).collect::<Vec<_>>()),
        el("p").class("control-help").text(&strings::burstiness_of(recording.gap_cv)),
        rate_field(state),
        el("p").class("control-help").text_of(move || {
            let rate_per_s = state.current.with(|scenario| scenario.rate_per_s);
            strings::replayed(rate_per_s, recorded_at(state))
        }),
    ];
    let largest = recording.largest_request_tokens;
    let beyond = move || {
        let context = state.current.with(scenario::Scenario::context_tokens);
        let beyond = context.filter(|&context_tokens| context_tokens < largest);
        beyond.map_or_else(String::new, |tokens| strings::beyond_context(largest, tokens))
    };
    let caution = el("p").class("control-message").attr("data-kind", "clamped");
    told.push(caution.flag_of("hidden", move || beyond().is_empty()).text_of(beyond));
    told.extend(details(strings::HOW_IT_WAS_READ, &recording.notes, true));
    told.extend(details(strings::ROWS_LEFT_OUT, &recording.skipped, false));
    told
}

/// A list that folds; none where nothing is in it.
fn details(title: &str, lines: &[String], is_open: bool) -> Option<El> {
    if lines.is_empty() {
        return None;
    }
    let line = |text: &String| el("li").text(text);
    let list = el("ul").child(lines.iter().map(line).collect::<Vec<_>>());
    let details = el("details").child([el("summary").text(title), list]);
    Some(if is_open { details.attr("open", "") } else { details })
}

/// The rate at which the recording counts as made, requests per second.
fn recorded_at(state: State) -> f64 {
    state.recorded_per_s.get().unwrap_or(1.0)
}

/// The field with that rate.
fn rate_field(state: State) -> El {
    let refusal = RwSignal::new(String::new());
    let is_refused = move || refusal.with(|refusal| !refusal.is_empty());
    let now = move || quantity::editable(quantity::rounded_to(recorded_at(state), DIGITS));
    let put = move |event: ev::Event| {
        let Some(text) = browser::typed(&event) else { return };
        match quantity::parse(&text, Unit::RequestsPerSecond) {
            Ok(rate_per_s) if rate_per_s > 0.0 && rate_per_s.is_finite() => {
                refusal.set(String::new());
                if Some(rate_per_s) != state.recorded_per_s.get_untracked() {
                    state.record_at(rate_per_s);
                }
            }
            _ => {
                let now = untrack(|| recorded_at(state));
                refusal.set(strings::no_recorded_rate(&text, now));
            }
        }
    };
    let input = el("input")
        .attr("type", "text")
        .attr("inputmode", "decimal")
        .attr("autocomplete", "off")
        .attr("id", "field-recorded-at")
        .attr("aria-label", strings::RECORDED_AT_SPOKEN)
        .truth_of("aria-invalid", is_refused)
        .property_of("value", now)
        .on(ev::change, put);
    let field = el("label")
        .class("field field-wide")
        .truth_of("data-invalid", is_refused)
        .child([input, el("span").class("field-unit").attr("aria-hidden", "true").text("req/s")]);
    let message = el("p")
        .class("control-message")
        .attr("role", "status")
        .attr("data-kind", "invalid")
        .flag_of("hidden", move || !is_refused())
        .text_of(move || refusal.get());
    el("div").class("control").attr("id", "control-recorded-at").child([
        el("span").class("control-label").text(strings::RECORDED_AT),
        field,
        message,
    ])
}

fn actions(state: State) -> El {
    let button = |text| el("button").attr("type", "button").class("button button-small").text(text);
    let remove = move |_| {
        state.forget_recording();
        browser::catch_focus(FILE_ID);
    };
    el("div").class("recorded-actions").child([
        button(strings::SAVE_FILE).on(ev::click, move |_| state.save_recording()),
        button(strings::REMOVE_RECORDING).on(ev::click, remove),
        el("span").class("control-help").text(strings::NOT_IN_LINKS),
    ])
}
