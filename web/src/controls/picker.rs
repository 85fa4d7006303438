//! Pickers for model and GPU: a button with the choice and its facts; a panel with a search field
//! and a listbox. Moving the highlight previews nothing.

use std::time::Duration;

use leptos::{ev, prelude::*};
use scenario::{Listed, Scenario};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, Node};

use crate::{
    browser,
    dom::{El, el},
    icons::Icon,
    memo::{effect, memo},
    names, settings,
    state::State,
    strings,
};

/// Gap between the button and its panel, CSS px.
const GAP_PX: f64 = 4.0;
/// Height that the panel may take, CSS px.
const PANEL_PX: f64 = 480.0;
/// Rows that a page key moves by.
const PAGE_ROWS: usize = 6;

/// How long rows are looked at before the page goes on, milliseconds.
const SLICE_MS: f64 = 8.0;

/// What a picker picks.
struct Kind {
    /// Id of the control, and key of the field.
    id: &'static str,
    search: &'static str,
    chosen: fn(&Scenario) -> &str,
    /// Rows for what was typed: of the short list, and then of the wide catalogue.
    rows: fn(&str) -> Vec<Row>,
    /// Whether the short list has a name.
    is_short: fn(&str) -> bool,
}

/// One entry.
struct Row {
    slug: String,
    name: String,
    facts: String,
}

static MODEL: Kind = Kind {
    id: "model",
    search: strings::SEARCH_MODELS,
    chosen: |scenario| &scenario.model,
    rows: |query| {
        let found = names::catalogue().map(|all| all.search_models(query)).unwrap_or_default();
        let row = |model: &catalog::Model| Row {
            slug: model.slug.clone(),
            name: model.name.clone(),
            facts: names::model_facts(model),
        };
        let short = found.into_iter().map(row).collect();
        beyond(short, scenario::wide_models(query), MODEL.is_short)
    },
    is_short: |name| names::find_model(name).is_some(),
};

static GPU: Kind = Kind {
    id: "gpu",
    search: strings::SEARCH_GPUS,
    chosen: |scenario| &scenario.gpu,
    rows: |query| {
        let found = names::catalogue().map(|all| all.search_gpus(query)).unwrap_or_default();
        let row = |gpu: &catalog::Gpu| Row {
            slug: gpu.slug.clone(),
            name: gpu.name.clone(),
            facts: names::gpu_facts(gpu),
        };
        let short = found.into_iter().map(row).collect();
        beyond(short, scenario::wide_gpus(query), GPU.is_short)
    },
    is_short: |name| names::find_gpu(name).is_some(),
};

/// Rows of the short list, and what the wide catalogue has beyond it.
fn beyond(mut rows: Vec<Row>, wide: Vec<Listed>, is_short: fn(&str) -> bool) -> Vec<Row> {
    for Listed { slug, name, maker, facts } in wide {
        if !is_short(&slug) {
            let facts = [maker, facts].join(", ");
            rows.push(Row { slug, name, facts });
        }
    }
    rows
}

/// Picks the model.
pub(crate) fn model_picker() -> El {
    picker(&MODEL)
}

/// Picks the GPU.
pub(crate) fn gpu_picker() -> El {
    picker(&GPU)
}

fn picker(kind: &'static Kind) -> El {
    let state = expect_context::<State>();
    let chosen = memo(move |_| state.current.with(|scenario| (kind.chosen)(scenario).to_owned()));
    let button = el("button").attr("type", "button").class("picker-button");
    let picker = Picker { kind, state, chosen, is_open: RwSignal::new(false), button };
    let is_open = picker.is_open;
    let toggle = {
        let picker = picker.clone();
        move |_| {
            if is_open.get_untracked() {
                picker.close();
            } else {
                // What is beyond the short list comes with it.
                picker.state.late.want();
                is_open.set(true);
            }
        }
    };
    let button = picker
        .button
        .clone()
        .attr("aria-haspopup", "listbox")
        .truth_of("aria-expanded", move || is_open.get())
        .on(ev::click, toggle)
        .child([
            el("span").class("hidden-but-read").text(&strings::picker_label(kind.id)),
            el("span").class("picker-name").text_of(move || chosen_row(kind, chosen).name),
            el("span").class("picker-facts").text_of(move || chosen_row(kind, chosen).facts),
            Icon::Down.el(),
        ]);
    el("div")
        .class("picker")
        .attr("id", &format!("control-{}", kind.id))
        .child(button)
        .when(move || is_open.get(), move || panel(&picker))
}

/// The row in force; one that the catalogue does not have is called by its slug.
fn chosen_row(kind: &Kind, chosen: Memo<String>) -> Row {
    let slug = chosen.get();
    let row = (kind.rows)("").into_iter().find(|row| row.slug == slug);
    row.unwrap_or_else(|| Row { name: slug.clone(), slug, facts: String::new() })
}

/// A picker, open or not.
#[derive(Clone)]
struct Picker {
    kind: &'static Kind,
    state: State,
    /// The slug in force.
    chosen: Memo<String>,
    is_open: RwSignal<bool>,
    button: El,
}

impl Picker {
    fn close(&self) {
        self.is_open.set(false);
        browser::focus(self.button.node());
    }

    fn pick(&self, slug: &str) {
        self.state.last_control.set("rate");
        self.state.apply(self.kind.id, slug);
        self.close();
    }
}

/// Under the button if there is room, else as far up as needed: left and top, CSS px of the window.
fn place_under(button: &HtmlElement) -> (f64, f64) {
    let rect = button.get_bounding_client_rect();
    let window_height = window().inner_height().ok().and_then(|h| h.as_f64()).unwrap_or(PANEL_PX);
    let lowest = window_height - PANEL_PX - GAP_PX;
    let under = rect.bottom() + GAP_PX;
    let top = if under > lowest { lowest } else { under };
    (rect.left(), if top < GAP_PX { GAP_PX } else { top })
}

fn panel(picker: &Picker) -> El {
    let kind = picker.kind;
    let (left, top) = place_under(picker.button.node());
    let query = RwSignal::new(String::new());
    let all = (kind.rows)("");
    let active = RwSignal::new(start_at(&all, &picker.chosen.get_untracked()));
    let panel = Panel { picker: picker.clone(), query, active };
    let search = search_field(&panel);
    effect({
        let search = search.clone();
        move || {
            // It has just been put on the page.
            browser::focus(search.node());
            reveal(kind, active.get_untracked());
        }
    });
    // Leaving for anything but the panel itself closes it without touching the focus.
    let on_leave = {
        let picker = picker.clone();
        move |event: ev::FocusEvent| {
            let node = |target: Option<web_sys::EventTarget>| target?.dyn_into::<Node>().ok();
            let inside = node(event.related_target());
            let stays = node(event.current_target()).is_some_and(|p| p.contains(inside.as_ref()));
            if !stays {
                picker.close();
            }
        }
    };
    let list = el("ul")
        .class("picker-list")
        .attr("role", "listbox")
        .attr("id", &list_id(kind))
        .attr("aria-label", kind.search)
        .region(move || panel.options());
    el("div")
        .class("picker-panel")
        .style("left", &browser::px(left))
        .style("top", &browser::px(top))
        .on(ev::focusout, on_leave)
        .child([search, list])
        .when(
            move || found(kind, query).is_empty(),
            move || {
                el("p")
                    .class("picker-empty")
                    .text_of(move || query.with(|query| strings::nothing_found(query)))
            },
        )
}

fn search_field(panel: &Panel) -> El {
    let Panel { query, active, .. } = *panel;
    let kind = panel.picker.kind;
    let panel = panel.clone();
    el("input")
        .class("picker-search")
        .attr("type", "text")
        .attr("role", "combobox")
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("aria-label", kind.search)
        .attr("placeholder", kind.search)
        .attr("aria-expanded", "true")
        .attr("aria-controls", &list_id(kind))
        .attr_maybe("aria-activedescendant", move || {
            let at = active.get();
            (at < found(kind, query).len()).then(|| row_id(kind, at))
        })
        .on(ev::input, move |event| {
            if let Some(input) = browser::input_of(&event) {
                query.set(input.value());
                active.set(0);
            }
        })
        .on(ev::keydown, move |event| panel.hear_key(&event))
}

fn list_id(kind: &Kind) -> String {
    format!("{}-list", kind.id)
}

fn row_id(kind: &Kind, index: usize) -> String {
    format!("{}-{index}", kind.id)
}

/// The rows for what is typed.
fn found(kind: &Kind, query: RwSignal<String>) -> Vec<Row> {
    query.with(|query| (kind.rows)(query.trim()))
}

/// The panel of an open picker.
#[derive(Clone)]
struct Panel {
    picker: Picker,
    query: RwSignal<String>,
    /// Index of the highlighted row.
    active: RwSignal<usize>,
}

impl Panel {
    fn hear_key(&self, event: &ev::KeyboardEvent) {
        let rows = untrack(|| found(self.picker.kind, self.query));
        let last = rows.len().saturating_sub(1);
        let at = self.active.get_untracked();
        let to = match event.key().as_str() {
            "ArrowDown" if at < last => at + 1,
            "ArrowDown" | "Home" => 0,
            "ArrowUp" if at > 0 => at - 1,
            "ArrowUp" | "End" => last,
            "PageDown" if at + PAGE_ROWS < last => at + PAGE_ROWS,
            "PageDown" => last,
            "PageUp" => at.saturating_sub(PAGE_ROWS),
            "Enter" => {
                event.prevent_default();
                if let Some(row) = rows.get(at) {
                    self.picker.pick(&row.slug);
                }
                return;
            }
            "Escape" => {
                event.prevent_default();
                event.stop_propagation();
                self.picker.close();
                return;
            }
            _ => return,
        };
        event.prevent_default();
        self.active.set(to);
        reveal(self.picker.kind, to);
    }

    fn options(&self) -> Vec<El> {
        self.picker.state.late.stage.track();
        let Picker { kind, state, .. } = self.picker;
        let rows = found(kind, self.query);
        let said: Vec<Said> =
            rows.iter().map(|row| (row.slug.clone(), RwSignal::new(None))).collect();
        let options = rows.into_iter().zip(&said).enumerate();
        let options =
            options.map(|(index, (row, (_, said)))| self.option(index, row, *said)).collect();
        say_what_fits(kind, state.current.get_untracked(), said, 0);
        options
    }

    fn option(&self, index: usize, row: Row, said: RwSignal<Option<String>>) -> El {
        let active = self.active;
        let Picker { kind, chosen, .. } = &self.picker;
        let is_chosen = chosen.with_untracked(|chosen| *chosen == row.slug);
        let fits = move || {
            let fits = said.with(|said| said.as_deref() == Some(strings::FITS));
            if fits { "true" } else { "false" }
        };
        let picker = self.picker.clone();
        el("li")
            .class("picker-row")
            .attr("role", "option")
            .attr("id", &row_id(kind, index))
            .attr("aria-selected", if is_chosen { "true" } else { "false" })
            .truth_of("data-active", move || active.get() == index)
            .on(ev::pointermove, move |_| active.set(index))
            .on(ev::mousedown, |event| event.prevent_default())
            .on(ev::click, move |_| picker.pick(&row.slug))
            .child([
                el("span").class("picker-name").text(&row.name),
                el("span")
                    .class("picker-fits")
                    .attr_of("data-fits", fits)
                    .text_of(move || said.get().unwrap_or_default()),
                el("span").class("picker-facts").text(&row.facts),
            ])
    }
}

/// The slug of a row, and what is said of whether it fits, once that is known.
type Said = (String, RwSignal<Option<String>>);

/// Fills in what is said of the rows from one on, a few at a time, so that the page hears whoever types
/// meanwhile. Rows that are gone end it.
fn say_what_fits(kind: &'static Kind, now: Scenario, rows: Vec<Said>, from: usize) {
    set_timeout(
        move || {
            let began_ms = browser::now_ms();
            for (index, (slug, said)) in rows.iter().enumerate().skip(from) {
                if browser::now_ms() - began_ms > SLICE_MS {
                    return say_what_fits(kind, now, rows, index);
                }
                let needed = gpus_needed(kind, &now, slug);
                if said.try_set(Some(strings::fits(needed, now.gpus_per_engine()))).is_some() {
                    return;
                }
            }
        },
        Duration::ZERO,
    );
}

fn start_at(rows: &[Row], chosen: &str) -> usize {
    rows.iter().position(|row| row.slug == chosen).unwrap_or(0)
}

/// How many GPUs an engine needs for a row to give a scenario that can be simulated: as many as it has,
/// or more where engines are set up as their versions do; none where no number helps.
fn gpus_needed(kind: &Kind, now: &Scenario, slug: &str) -> Option<u64> {
    let mut scenario = now.clone();
    scenario.set(kind.id, slug).ok()?;
    // As picking it would.
    scenario.limit_to_context();
    if scenario.is_possible() {
        return Some(scenario.gpus_per_engine());
    }
    let more = settings::GPUS_PER_ENGINE.iter().filter_map(|gpus| gpus.parse::<u64>().ok());
    more.filter(|gpus| scenario.is_deployed() && *gpus > scenario.gpus_per_engine()).find(|gpus| {
        let mut wider = scenario.clone();
        wider.deploy.tp = Some(*gpus);
        wider.is_possible()
    })
}

/// Scrolls a row into view.
fn reveal(kind: &Kind, index: usize) {
    if let Some(row) = document().get_element_by_id(&row_id(kind, index)) {
        let options = web_sys::ScrollIntoViewOptions::new();
        options.set_block(web_sys::ScrollLogicalPosition::Nearest);
        row.scroll_into_view_with_scroll_into_view_options(&options);
    }
}
