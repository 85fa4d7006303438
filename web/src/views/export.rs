//! Export: what can be taken away of the scenario and its answer, to be copied or saved. Every text is
//! the command line's own.

use std::sync::Arc;

use js_sys::encode_uri_component;
use leptos::{ev, prelude::*};
use planner::PlanAnswer;
use protocol::{LongAsked, ReportNews, ReportTexts};
use report::Deployment;
use scenario::Scenario;
use web_sys::HtmlDialogElement;

use super::second_worker::{Heard, SecondWorker};
use crate::{
    browser,
    dom::{El, el, in_body},
    icons::Icon,
    memo::{memo, on_change},
    state::State,
    strings, url_state,
};

/// Something to take away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Link,
    Command,
    Scenario,
    Markdown,
    Html,
    Csv,
    Json,
    Serve,
    Bench,
    Kubernetes,
}

/// What is said of an item: its group, its name, what it holds, and its file.
struct About {
    group: usize,
    name: &'static str,
    what: &'static str,
    file: &'static str,
}

impl Item {
    const ALL: [Self; 10] = [
        Self::Link,
        Self::Command,
        Self::Scenario,
        Self::Markdown,
        Self::Html,
        Self::Csv,
        Self::Json,
        Self::Serve,
        Self::Bench,
        Self::Kubernetes,
    ];

    const fn about(self) -> About {
        let (group, name, what, file) = match self {
            Self::Link => (0, "Link", "the whole scenario", "headroom-link.txt"),
            Self::Command => (0, "Command", "headroom plan, the same numbers", "headroom.sh"),
            Self::Scenario => (0, "Scenario file", "every setting as JSON", "scenario.json"),
            Self::Markdown => (1, "Markdown", "answer, costs, what binds, sources", "report.md"),
            Self::Html => (1, "HTML page", "the same with its chart, opens offline", "report.html"),
            Self::Csv => (2, "CSV", "the knee, a row for each rate", "knee.csv"),
            Self::Json => (2, "JSON", "the whole answer in SI units", "plan.json"),
            Self::Serve => (3, "vllm serve", "one engine as it was planned", "serve.sh"),
            Self::Bench => {
                (3, "vllm bench serve", "the benchmark that would verify it", "bench.sh")
            }
            Self::Kubernetes => (4, "Kubernetes", "deployment, autoscaling, alerts", "vllm.yaml"),
        };
        About { group, name, what, file }
    }

    /// Whether it takes more runs than the answer.
    const fn is_report(self) -> bool {
        matches!(self, Self::Markdown | Self::Html | Self::Json)
    }

    /// What the browser is told that it is.
    const fn kind(self) -> &'static str {
        match self {
            Self::Html => "data:text/html;charset=utf-8,",
            Self::Csv => "data:text/csv;charset=utf-8,",
            Self::Json | Self::Scenario => "data:application/json;charset=utf-8,",
            _ => "data:text/plain;charset=utf-8,",
        }
    }
}

/// The reports, which a worker of their own writes.
#[derive(Clone, Debug, Default, PartialEq)]
enum Reports {
    #[default]
    NotAsked,
    Running(u32, u32),
    Written(Arc<ReportTexts>),
    Refused(String),
}

/// What the dialog's parts share.
#[derive(Clone, Copy)]
struct Export {
    state: State,
    chosen: RwSignal<Item>,
    reports: RwSignal<Reports>,
    worker: StoredValue<SecondWorker, LocalStorage>,
}

/// Opens the dialog; a door, as thin as can be.
#[inline(never)]
pub(crate) fn open(state: State) {
    open_late(state);
}

#[inline(never)]
fn open_late(state: State) {
    // What it follows ends with it.
    let owner = Owner::new();
    let dialog = owner.with(|| dialog(state));
    let node: HtmlDialogElement = dialog.node::<HtmlDialogElement>().clone();
    in_body([dialog.on(ev::close, move |_| {
        node.remove();
        owner.cleanup();
    })]);
    let opened = document().get_element_by_id("export");
    if let Some(dialog) = opened {
        let dialog: &HtmlDialogElement = wasm_bindgen::JsCast::unchecked_ref(&dialog);
        // Only one that is not in the page refuses.
        let _ = dialog.show_modal();
    }
}

fn dialog(state: State) -> El {
    let reports = RwSignal::new(Reports::default());
    let worker = SecondWorker::new(state, move |heard| hear(reports, heard));
    let worker = StoredValue::new_local(worker);
    let export = Export { state, chosen: RwSignal::new(Item::Link), reports, worker };
    let dialog = el("dialog")
        .class("key-sheet export-sheet")
        .attr("id", "export")
        .attr("aria-labelledby", "export-title");
    let node: HtmlDialogElement = dialog.node::<HtmlDialogElement>().clone();
    let closing = node.clone();
    // Undone or changed beneath, its texts would be another scenario's.
    on_change(move || state.current.track(), move || node.close());
    let close = el("button")
        .attr("type", "button")
        .class("button button-quiet")
        .attr("aria-label", strings::CLOSE)
        .on(ev::click, move |_| closing.close())
        .child(Icon::Close.el());
    let head = el("div")
        .class("key-head")
        .child([el("h2").attr("id", "export-title").text(strings::EXPORT), close]);
    let body = el("div").class("export-columns").child([list(export), preview(export)]);
    dialog.child(el("div").class("key-body").child([head, body]))
}

/// The items in their groups.
fn list(export: Export) -> El {
    let group = |(place, name): (usize, &&str)| {
        let items = Item::ALL.into_iter().filter(|item| item.about().group == place);
        el("div").class("export-group").attr("role", "group").attr("aria-label", name).child(
            [el("p").class("export-group-name").attr("aria-hidden", "true").text(name)]
                .into_iter()
                .chain(items.map(|item| entry(export, item)))
                .collect::<Vec<El>>(),
        )
    };
    el("nav")
        .class("export-list")
        .attr("aria-label", strings::EXPORT_LIST)
        .child(strings::EXPORT_GROUPS.iter().enumerate().map(group).collect::<Vec<El>>())
}

fn entry(export: Export, item: Item) -> El {
    let about = item.about();
    let choose = move |_| {
        export.chosen.set(item);
        if item.is_report() {
            export.ask();
        }
    };
    el("button")
        .attr("type", "button")
        .class("export-entry")
        .truth_of("aria-pressed", move || export.chosen.get() == item)
        .on(ev::click, choose)
        .child([
            el("span").class("export-name").text(about.name),
            el("span").class("export-what").text(about.what),
        ])
}

/// What is chosen, with what can be done with it.
fn preview(export: Export) -> El {
    let text = memo(move |_| export.text(export.chosen.get()));
    let is_there = move || text.with(Result::is_ok);
    let copy = move |_| {
        let Ok(text) = text.get_untracked() else { return };
        let (state, item) = (export.state, export.chosen.get_untracked());
        browser::copy(&text, move |worked| {
            let said = match (worked, item) {
                (false, _) => strings::COPY_FAILED,
                (true, Item::Command | Item::Serve | Item::Bench) => strings::COPIED_COMMAND,
                (true, _) => strings::COPIED,
            };
            state.toast.set(Some(said.to_owned()));
        });
    };
    let save = move |_| {
        let Ok(text) = text.get_untracked() else { return };
        let item = export.chosen.get_untracked();
        let encoded = String::from(encode_uri_component(&text));
        browser::save(&[item.kind(), &encoded].concat(), item.about().file);
        export.state.toast.set(Some(strings::file_saved(item.about().file)));
    };
    let action =
        |name: &str, class: &str| el("button").attr("type", "button").class(class).text(name);
    let sub = move || match text.get() {
        Ok(text) => {
            [export.chosen.get().about().file, ", ", &strings::lines(text.lines().count())].concat()
        }
        Err(_) => String::new(),
    };
    let head = el("div").class("export-head").child([
        el("h3").class("export-title").text_of(move || export.chosen.get().about().name),
        el("span").class("export-sub").text_of(sub),
        action(strings::COPY, "button button-small")
            .flag_of("disabled", move || !is_there())
            .on(ev::click, copy),
        action(strings::DOWNLOAD, "button button-small")
            .flag_of("disabled", move || !is_there())
            .on(ev::click, save),
    ]);
    let shown = move || {
        let is_page = export.chosen.get() == Item::Html;
        match text.get() {
            Ok(_) if is_page => said(strings::EXPORT_HTML),
            Ok(text) => el("pre")
                .class("export-text")
                .attr("tabindex", "0")
                .attr("role", "region")
                .attr("aria-label", export.chosen.get().about().name)
                .text(&text),
            Err(why) => said(&why),
        }
    };
    el("div").class("export-preview").child(head).region(shown)
}

fn said(text: &str) -> El {
    el("p").class("export-said").attr("role", "status").text(text)
}

impl Export {
    /// Has the reports written, unless they are or cannot be.
    fn ask(self) {
        let is_recorded = self.state.recorded_per_s.get_untracked().is_some();
        let is_asked =
            matches!(self.reports.get_untracked(), Reports::Running(..) | Reports::Written(_));
        if is_recorded || is_asked {
            return;
        }
        self.reports.set(Reports::Running(0, 0));
        let link = self.state.scenario.with_untracked(Scenario::to_link);
        let packed = protocol::pack(&LongAsked::Report(link));
        self.worker.with_value(|worker| worker.ask(packed));
    }

    /// The text of an item, or why there is none yet.
    fn text(self, item: Item) -> Result<String, String> {
        let state = self.state;
        let scenario = state.scenario.get();
        match item {
            Item::Link => Ok(url_state::link_to(state, state.view.get())),
            Item::Command => {
                let is_recorded = state.recorded_per_s.get().is_some();
                let trace = if is_recorded { "--trace FILE " } else { "" };
                Ok(["headroom plan ", trace, "'", &scenario.to_link(), "'\n"].concat())
            }
            Item::Scenario => Ok(scenario.to_json()),
            Item::Markdown => self.report(|texts| &texts.markdown),
            Item::Html => self.report(|texts| &texts.html),
            Item::Json => self.report(|texts| &texts.json),
            Item::Csv => self.answer().map(|answer| report::knee_csv(&answer.knee)),
            Item::Serve => self.deployed(report::serve_command),
            Item::Bench => self.deployed(report::bench_command),
            Item::Kubernetes => self.deployed(report::kubernetes),
        }
    }

    fn report(self, tell: fn(&ReportTexts) -> &String) -> Result<String, String> {
        if self.state.recorded_per_s.get().is_some() {
            return Err(strings::EXPORT_RECORDED.to_owned());
        }
        match self.reports.get() {
            Reports::Written(texts) => Ok(tell(&texts).clone()),
            Reports::Refused(why) => Err(why),
            Reports::NotAsked => Err(strings::writing_report(0.0)),
            Reports::Running(done, about) => {
                Err(strings::writing_report(f64::from(done) / f64::from(about.max(1))))
            }
        }
    }

    /// The whole answer of what is set.
    fn answer(self) -> Result<PlanAnswer, String> {
        let resolution = self.state.resolution.get();
        if let Some(why) = resolution.error() {
            return Err(why);
        }
        let answered = self
            .state
            .answered
            .get()
            .filter(|answered| answered.is_complete() && answered.is_of(&resolution.scenario));
        answered.map(|it| it.answer.clone()).ok_or_else(|| strings::EXPORT_WAITS.to_owned())
    }

    fn deployed(self, tell: fn(&Scenario, &Deployment) -> String) -> Result<String, String> {
        let answer = self.answer()?;
        let resolution = self.state.resolution.get();
        let Ok((resolved, _)) = resolution.outcome.as_ref() else {
            return Err(strings::EXPORT_NO_FLEET.to_owned());
        };
        let scenario = self.state.scenario.get();
        Deployment::of(&answer, &scenario, resolved)
            .map(|deployment| tell(&scenario, &deployment))
            .ok_or_else(|| strings::EXPORT_NO_FLEET.to_owned())
    }
}

/// Takes what the worker tells.
fn hear(reports: RwSignal<Reports>, heard: Heard) {
    let now = match heard {
        Ok((packed, _)) => match protocol::unpack::<ReportNews>(&packed) {
            Some(ReportNews::Progress(done, about)) => Reports::Running(done, about),
            Some(ReportNews::Texts(texts)) => Reports::Written(Arc::from(texts)),
            Some(ReportNews::Refused(why)) => Reports::Refused(why),
            None => return,
        },
        Err(message) => Reports::Refused(strings::worker_stopped(&message)),
    };
    reports.set(now);
}
