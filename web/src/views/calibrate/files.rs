//! Where files are given: chosen, dropped or pasted.

use std::{cell::RefCell, collections::VecDeque, rc::Rc, sync::Arc};

use js_sys::{Promise, Reflect, Uint8Array};
use leptos::{ev, prelude::*};
use protocol::{GivenFile, UnderstoodFile};
use wasm_bindgen::{JsCast, JsValue, prelude::Closure};
use web_sys::{DragEvent, File, FileList};

use super::{ask, panel};
use crate::{
    browser,
    dom::{El, Nodes, el},
    state::State,
    strings,
};

/// Endings that the chooser shows first; what a file is, is told by what is in it.
const ENDINGS: &str = ".json,.jsonl,.csv,.tsv,.txt,.log,.gz";
/// The largest file that is read, MiB: what is larger keeps every request, which a fit does not need.
const MOST_MIB: u64 = 64;

/// The card where files are given.
pub(super) fn give(state: State) -> El {
    let choose = move |event: ev::Event| {
        let Some(input) = browser::input_of(&event) else { return };
        take_files(state, input.files());
        // The same file can be chosen again.
        input.set_value("");
    };
    let zone = el("label").class("drop-zone").child([
        el("input")
            .attr("type", "file")
            .attr("id", "calibrate-file")
            .attr("multiple", "")
            .attr("accept", ENDINGS)
            .attr("aria-describedby", "calibrate-help")
            .on(ev::change, choose),
        el("span").class("drop-zone-name").text(strings::CHOOSE_MEASURED),
    ]);
    let help =
        el("p").class("control-help").attr("id", "calibrate-help").text(strings::MEASURED_HELP);
    let label = el("label")
        .class("calibrate-paste-label")
        .attr("for", "calibrate-text")
        .text(strings::PASTE_LABEL);
    let field = el("textarea")
        .class("calibrate-text")
        .attr("id", "calibrate-text")
        .attr("rows", "3")
        .attr("spellcheck", "false")
        .attr("placeholder", strings::PASTE_HINT);
    let read = {
        let field = field.clone();
        move |_| {
            let area: &web_sys::Element = field.node();
            let Some(area) = area.dyn_ref::<web_sys::HtmlTextAreaElement>() else { return };
            let text = area.value();
            if text.trim().is_empty() {
                state.toast.set(Some(strings::NOTHING_PASTED.to_owned()));
                return;
            }
            let file = GivenFile { name: strings::PASTED.to_owned(), bytes: text.into_bytes() };
            ask(state, &Arc::new(vec![file]), Vec::new());
        }
    };
    let read = el("button")
        .attr("type", "button")
        .class("button")
        .attr("id", "calibrate-read")
        .on(ev::click, read)
        .text(strings::READ_PASTED);
    panel("card panel calibrate-give", strings::GIVE_FILES, strings::GIVE_FILES_BESIDE)
        .child([zone, help, label, field])
        .child(el("div").class("calibrate-actions").child(read))
}

/// For whoever has no file: the command that makes one, and a sample.
pub(super) fn none_yet(state: State) -> Nodes {
    let command = move || state.scenario.with(strings::bench_command);
    let copy = move |_| {
        let text = state.scenario.with_untracked(strings::bench_command);
        browser::copy(&text, move |worked| {
            let said = if worked { strings::COMMAND_COPIED } else { strings::COPY_FAILED };
            state.toast.set(Some(said.to_owned()));
        });
    };
    let sample = move |_| {
        let file = GivenFile {
            name: measured::SAMPLE_NAME.to_owned(),
            bytes: measured::SAMPLE.as_bytes().to_vec(),
        };
        ask(state, &Arc::new(vec![file]), Vec::new());
    };
    let button = |text: &str| el("button").attr("type", "button").class("button").text(text);
    panel("card panel calibrate-none", strings::NO_FILE_YET, strings::NO_FILE_YET_BESIDE)
        .child([
            el("p").class("calibrate-words").text(strings::MEASURE_WITH),
            el("pre").class("calibrate-command").child(el("code").text_of(command)),
            el("div")
                .class("calibrate-actions")
                .child(button(strings::COPY_COMMAND).on(ev::click, copy)),
            el("p").class("calibrate-words").text(strings::SAMPLE_TOLD),
            el("div").class("calibrate-actions").child(
                button(strings::TRY_SAMPLE).attr("id", "calibrate-sample").on(ev::click, sample),
            ),
        ])
        .into()
}

/// Files may be dropped anywhere on the view.
pub(super) fn take_drops(within: El, state: State) -> El {
    let has_files = |event: &DragEvent| {
        event.data_transfer().filter(|data| data.types().includes(&"Files".into(), 0))
    };
    let over = move |event: DragEvent| {
        if has_files(&event).is_some() {
            event.prevent_default();
        }
    };
    let dropped = move |event: DragEvent| {
        if let Some(data) = has_files(&event) {
            event.prevent_default();
            // Elsewhere on the page a file that is dropped is a recording.
            event.stop_propagation();
            take_files(state, data.files());
        }
    };
    within.on(ev::dragover, over).on(ev::drop, dropped)
}

/// Files on their way into memory.
struct Reading {
    state: State,
    left: VecDeque<File>,
    read: Vec<GivenFile>,
    unread: Vec<UnderstoodFile>,
}

fn take_files(state: State, files: Option<FileList>) {
    let Some(files) = files else { return };
    let left: VecDeque<File> = (0..files.length()).filter_map(|at| files.get(at)).collect();
    if left.is_empty() {
        return;
    }
    let reading = Reading { state, left, read: Vec::new(), unread: Vec::new() };
    read_next(&Rc::new(RefCell::new(reading)));
}

/// One file after the other; then all of them are asked about.
fn read_next(reading: &Rc<RefCell<Reading>>) {
    let next = reading.borrow_mut().left.pop_front();
    let Some(file) = next else {
        let mut reading = reading.borrow_mut();
        let files = std::mem::take(&mut reading.read);
        let unread = std::mem::take(&mut reading.unread);
        return ask(reading.state, &Arc::new(files), unread);
    };
    let name = file.name();
    if file.size() > (MOST_MIB << 20) as f64 {
        return pass_over(reading, name, strings::measured_too_large(MOST_MIB));
    }
    let bytes = Reflect::get(&file, &JsValue::from_str("arrayBuffer"))
        .and_then(|read| read.unchecked_into::<js_sys::Function>().call0(&file));
    let Ok(promise) = bytes else {
        return pass_over(reading, name, strings::MEASURED_UNREAD.to_owned());
    };
    let (taken, failed) = (Rc::clone(reading), Rc::clone(reading));
    let missing = name.clone();
    let then = Closure::once_into_js(move |buffer: JsValue| {
        let bytes = Uint8Array::new(&buffer).to_vec();
        taken.borrow_mut().read.push(GivenFile { name, bytes });
        read_next(&taken);
    });
    let fail = Closure::once_into_js(move |_: JsValue| {
        pass_over(&failed, missing, strings::MEASURED_UNREAD.to_owned());
    });
    follow(promise.unchecked_ref(), &then, &fail);
}

fn pass_over(reading: &Rc<RefCell<Reading>>, name: String, what: String) {
    let file = UnderstoodFile { name, what, is_refused: true, ..UnderstoodFile::default() };
    reading.borrow_mut().unread.push(file);
    read_next(reading);
}

fn follow(promise: &Promise, then: &JsValue, fail: &JsValue) {
    let _ = Reflect::get(promise, &JsValue::from_str("then"))
        .and_then(|method| method.unchecked_into::<js_sys::Function>().call2(promise, then, fail));
}
