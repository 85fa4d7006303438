//! The late part of the page's module: fetched when somebody needs it, or once the page has nothing
//! better to do.

use std::{cell::Cell, rc::Rc, time::Duration};

use js_sys::{Object, Promise, Reflect};
use leptos::{ev, prelude::*};
use scenario::Scenario;
use sim_worker::late;
use wasm_bindgen::{
    JsCast, JsValue,
    prelude::{Closure, wasm_bindgen},
};

use crate::{
    answered::Resolution,
    dom::{El, Nodes, el},
    strings,
    worker_client::script,
};

/// Rest before an unasked attempt where the browser does not tell when it has time, in milliseconds.
const REST_MS: u64 = 2_000;
/// The endings of the two files, which otherwise are called alike.
const SCRIPT_ENDING: &str = ".js";
const LATE_ENDING: &str = "_late.wasm";

/// Whether the late part is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Not there, and nobody has asked for it.
    Absent,
    /// On its way.
    Loading,
    /// There.
    Here,
    /// Somebody asked for it, and it did not come.
    Failed,
}

/// The late part. Copies share it.
#[derive(Clone, Copy)]
pub(crate) struct LatePart {
    /// Whether it is there.
    pub(crate) stage: RwSignal<Stage>,
    /// Its module, compiled, for workers.
    pub(crate) module: StoredValue<JsValue, LocalStorage>,
    /// Whether somebody waits for it.
    wanted: StoredValue<bool>,
    /// What goes on once it is there, or has failed to come.
    waiting: StoredValue<Vec<Box<dyn FnOnce()>>, LocalStorage>,
}

#[wasm_bindgen]
extern "C" {
    fn fetch(address: &str) -> Promise;

    #[wasm_bindgen(js_namespace = WebAssembly)]
    fn instantiate(bytes: &JsValue, imports: &Object) -> Promise;
}

impl LatePart {
    /// None yet; a module that was not cut has all of it.
    pub(crate) fn new() -> Self {
        let stage = if late::is_apart() { Stage::Absent } else { Stage::Here };
        scenario::set_late_part_absent(stage == Stage::Absent);
        Self {
            stage: RwSignal::new(stage),
            module: StoredValue::new_local(JsValue::UNDEFINED),
            wanted: StoredValue::new(false),
            waiting: StoredValue::new_local(Vec::new()),
        }
    }

    /// Goes on at once if it is there, and otherwise once it is, or has failed to come.
    pub(crate) fn before(self, then: Box<dyn FnOnce()>) {
        if self.stage.get_untracked() == Stage::Here {
            then();
            return;
        }
        self.waiting.update_value(|waiting| waiting.push(then));
        self.want();
    }

    /// What a scenario resolves to. A memo of it follows the late part where only that says what would
    /// help.
    pub(crate) fn resolution(self, scenario: Scenario) -> Resolution {
        let resolution = Resolution::new(scenario);
        if !resolution.is_final {
            self.stage.track();
        }
        resolution
    }

    /// Is there, or has failed to come.
    fn settle(self, stage: Stage) {
        scenario::set_late_part_absent(stage != Stage::Here);
        let waiting = self.waiting.try_update_value(std::mem::take).unwrap_or_default();
        self.stage.set(stage);
        for then in waiting {
            then();
        }
    }

    /// Somebody needs it: fetches it unless it is there or on its way.
    pub(crate) fn want(self) {
        self.wanted.set_value(true);
        self.load();
    }

    /// Fetches it when the browser has time, if nobody asked for it before. Nobody hears of it if
    /// that fails.
    pub(crate) fn expect(self) {
        if self.stage.get_untracked() != Stage::Absent {
            return;
        }
        let load = move || {
            if self.stage.get_untracked() == Stage::Absent {
                self.load();
            }
        };
        let once = Rc::new(Cell::new(Some(load)));
        let run = move || {
            if let Some(load) = once.take() {
                load();
            }
        };
        if request_idle_callback_with_handle(run.clone()).is_err() {
            set_timeout(run, Duration::from_millis(REST_MS));
        }
    }

    fn load(self) {
        if matches!(self.stage.get_untracked(), Stage::Loading | Stage::Here) {
            return;
        }
        self.stage.set(Stage::Loading);
        let script = script();
        let name = script.strip_suffix(SCRIPT_ENDING).unwrap_or(&script);
        self.follow(&fetch(&[name, LATE_ENDING].concat()), move |response| {
            let bytes = Reflect::get(&response, &JsValue::from_str("arrayBuffer"))
                .and_then(|read| read.unchecked_into::<js_sys::Function>().call0(&response));
            let Ok(bytes) = bytes else { return self.fail() };
            self.follow(bytes.unchecked_ref(), move |bytes| {
                self.follow(&instantiate(&bytes, &late::imports()), move |both| {
                    let module = Reflect::get(&both, &JsValue::from_str("module"));
                    self.module.set_value(module.unwrap_or_default());
                    self.settle(Stage::Here);
                });
            });
        });
    }

    /// Goes on with what a promise brings.
    fn follow(self, promise: &Promise, then: impl FnOnce(JsValue) + 'static) {
        let failed = move |_: JsValue| self.fail();
        let _ = Reflect::get(promise, &JsValue::from_str("then")).and_then(|method| {
            method.unchecked_into::<js_sys::Function>().call2(
                promise,
                &Closure::once_into_js(then),
                &Closure::once_into_js(failed),
            )
        });
    }

    fn fail(self) {
        let wanted = self.wanted.get_value();
        self.settle(if wanted { Stage::Failed } else { Stage::Absent });
    }

    /// What `build` makes, once the late part is there; until then `instead` tells how far that is,
    /// with a way to try again if it `failed`.
    pub(crate) fn view(
        self,
        failed: &str,
        instead: fn(&str, Option<El>) -> Nodes,
        build: impl FnOnce() -> Nodes,
    ) -> Nodes {
        match self.in_its_place(failed, instead) {
            Some(nodes) => nodes,
            None => build(),
        }
    }

    /// What stands there until the late part has come; in one copy, whatever is built then.
    #[inline(never)]
    fn in_its_place(self, failed: &str, instead: fn(&str, Option<El>) -> Nodes) -> Option<Nodes> {
        match self.stage.get() {
            Stage::Here => None,
            Stage::Failed => {
                let retry = el("button")
                    .attr("type", "button")
                    .class("button")
                    .on(ev::click, move |_| self.want())
                    .text(strings::TRY_AGAIN);
                Some(instead(failed, Some(retry)))
            }
            Stage::Absent | Stage::Loading => {
                self.want();
                Some(instead(strings::LOADING, None))
            }
        }
    }
}

/// In the place of a few elements.
pub(crate) fn note(text: &str, action: Option<El>) -> Nodes {
    let said = el("p").class("control-help").attr("role", "status").text(text);
    el("div").class("late-note").child([said.into(), Nodes::from(action)]).into()
}

/// In the place of a view or a card of this id.
pub(crate) fn card(id: &str, text: &str, action: Option<El>) -> Nodes {
    let said = el("p").class("headline").attr("role", "status").text(text);
    el("section")
        .class("card know-card")
        .attr("id", id)
        .attr("tabindex", "-1")
        .attr("aria-label", strings::ANSWER_LABEL)
        .child([said.into(), Nodes::from(action)])
        .into()
}
