//! The group of settings in which a recording takes the place of drawn requests: where its file is
//! given, and what became of it. What was understood of one comes late.

use leptos::{ev, prelude::*};
use wasm_bindgen::{JsCast, prelude::Closure};
use web_sys::DragEvent;

use super::recorded::recorded;
use crate::{
    browser,
    controls::Fold,
    dom::{El, el},
    recording::recording_in,
    state::State,
    strings,
};

/// Endings that the chooser shows first; what a file is, is told by what is in it.
const ENDINGS: &str = ".csv,.tsv,.txt,.json,.jsonl,.gz";

/// The folded group.
pub(crate) fn recording_group() -> El {
    Fold {
        id: "recording",
        name: strings::RECORDING,
        summary: |_| {
            let state = expect_context::<State>();
            state.kept.track();
            state.recording.with(|kept| match recording_in(kept) {
                Some(recording) => strings::recording_summary(&recording.name, recording.requests),
                None => match state.lost_name() {
                    Some(name) => strings::recording_lost(&name),
                    None => strings::NO_RECORDING.to_owned(),
                },
            })
        },
        is_changed: |_| expect_context::<State>().recording.with(Option::is_some),
        begins_open: false,
        furnish: |body, _| furnish(body),
    }
    .el()
}

fn furnish(body: El) -> El {
    let state = expect_context::<State>();
    listen(state);
    let choose = move |event: ev::Event| {
        let Some(input) = browser::input_of(&event) else { return };
        state.open_file(input.files());
        // The same file can be chosen again.
        input.set_value("");
    };
    let zone = el("label").class("drop-zone").child([
        el("input")
            .attr("type", "file")
            .attr("id", "recording-file")
            .attr("accept", ENDINGS)
            .attr("aria-describedby", "recording-help")
            .on(ev::change, choose),
        el("span").class("drop-zone-name").text(strings::CHOOSE_FILE),
    ]);
    let kind = move || if state.file_is_refused.get() { "invalid" } else { "under-way" };
    let message = el("p")
        .class("control-message")
        .attr("role", "status")
        .attr_of("data-kind", kind)
        .flag_of("hidden", move || state.file_said.with(Option::is_none))
        .text_of(move || state.file_said.get().unwrap_or_default());
    let help =
        el("p").class("control-help").attr("id", "recording-help").text(strings::CHOOSE_HELP);
    // It is there only once the late part has read it.
    body.child([zone, help, message])
        .when(move || state.recording.with(Option::is_some), move || recorded(state))
}

/// A file may be dropped anywhere: elsewhere the browser would leave the page for it.
fn listen(state: State) {
    let hear = Closure::<dyn Fn(DragEvent)>::new(move |event: DragEvent| {
        let Some(data) = event.data_transfer() else { return };
        if !data.types().includes(&"Files".into(), 0) {
            return;
        }
        event.prevent_default();
        if event.type_() == "drop" {
            state.open_file(data.files());
        }
    });
    for event in ["dragover", "drop"] {
        let callback = hear.as_ref().unchecked_ref();
        let _ = window().add_event_listener_with_callback(event, callback);
    }
    // As long as the page.
    hear.forget();
}
