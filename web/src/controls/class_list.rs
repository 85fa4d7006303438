//! The mix of requests: classes that can be added, changed and taken away.

use std::sync::Arc;

use leptos::{ev, prelude::*};
use scenario::{MAX_CLASSES, Scenario};

use super::entry::{Entry, Read, Take};
use crate::{
    browser,
    dom::{El, el},
    icons::Icon,
    keys,
    memo::{effect, memo},
    settings::{self, ClassPart},
    state::State,
    strings,
};

/// Id of the control.
const ID: &str = "classes";

/// The classes in the order in which the page shows them: a key that stays, and the name.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shown {
    rows: Vec<(u32, String)>,
    next: u32,
}

impl Shown {
    /// Drops what the scenario no longer has; what is new to it comes last.
    fn follow(&mut self, scenario: &Scenario) {
        let classes = &scenario.classes;
        self.rows.retain(|(_, name)| classes.iter().any(|class| class.name == *name));
        for class in classes {
            if self.rows.iter().all(|(_, name)| *name != class.name) {
                self.rows.push((self.next, class.name.clone()));
                self.next += 1;
            }
        }
    }

    fn name(&self, key: u32) -> String {
        self.rows.iter().find(|row| row.0 == key).map(|row| row.1.clone()).unwrap_or_default()
    }
}

/// The list with its total.
pub(crate) fn class_list() -> El {
    let state = expect_context::<State>();
    let shown = RwSignal::new(Shown::default());
    // Its own changes have changed it already.
    effect(move || {
        state.current.with(|scenario| {
            let mut now = shown.get_untracked();
            now.follow(scenario);
            if shown.with_untracked(|before| *before != now) {
                shown.set(now);
            }
        });
    });
    let taken = memo(move |_| Some(state.current.with(settings::shares_taken)));
    let is_too_much = move || taken.get().unwrap_or(0.0) > 100.0 + 1e-6;
    let has_rows = memo(move |_| state.current.with(|scenario| !scenario.classes.is_empty()));
    let has_room = memo(move |_| state.current.with(|s| s.classes.len() < MAX_CLASSES));
    let total = move || {
        el("p")
            .class("class-total")
            .attr("role", "status")
            .truth_of("data-bad", is_too_much)
            .text_of(move || strings::class_total(taken.get().unwrap_or(0.0)))
    };
    let add = move || {
        el("button")
            .attr("type", "button")
            .class("button button-small")
            .on(ev::click, move |_| add(state, shown))
            .text(strings::ADD_CLASS)
    };
    el("div")
        .class("control class-list")
        .attr("role", "group")
        .attr("id", &format!("control-{ID}"))
        .attr("aria-label", strings::MIX)
        .truth_of("data-last", move || state.last_control.get() == ID)
        .child(el("p").class("control-help").text(strings::MIX_HELP))
        .list(
            move || shown.with(|shown| shown.rows.iter().map(|row| row.0).collect()),
            move |key| row(state, shown, key),
        )
        .when(move || has_rows.get(), total)
        .when(move || has_room.get(), add)
}

fn add(state: State, shown: RwSignal<Shown>) {
    state.last_control.set(ID);
    let mut scenario = state.scenario.get_untracked();
    let Some(name) = settings::add_class(&mut scenario) else { return };
    shown.update(|shown| shown.follow(&scenario));
    state.change(scenario);
    let key = shown
        .with_untracked(|shown| shown.rows.iter().find(|row| row.1 == name).map_or(0, |row| row.0));
    request_animation_frame(move || focus_on(&field_id(key, "name")));
}

fn remove(state: State, shown: RwSignal<Shown>, key: u32) {
    state.last_control.set(ID);
    let mut scenario = state.scenario.get_untracked();
    let name = shown.with_untracked(|shown| shown.name(key));
    settings::remove_class(&mut scenario, &name);
    state.kept.rename(&kept_name(&name, ""), None);
    state.change(scenario);
    // The button that had the focus is gone.
    request_animation_frame(|| focus_on("control-classes"));
}

/// Focuses a field, or the last button within a group.
fn focus_on(id: &str) {
    let Some(element) = document().get_element_by_id(id) else { return };
    let button = element.query_selector(":scope > button").ok().flatten();
    browser::focus(&button.unwrap_or(element));
}

/// What the text of a field is kept under; `part` is empty for the beginning of all of them.
fn kept_name(class: &str, part: &str) -> String {
    ["class.", class, ".", part].concat()
}

fn field_id(key: u32, part: &str) -> String {
    format!("class-{key}-{part}")
}

/// One class.
fn row(state: State, shown: RwSignal<Shown>, key: u32) -> El {
    let name = memo(move |_| shown.with(|shown| shown.name(key)));
    let part = move |part: ClassPart| part_field(state, shown, key, part);
    let caches = memo(move |_| state.current.with(settings::caches_prefixes));
    let hasty = memo(move |_| state.current.with(settings::loses_patience));
    el("fieldset")
        .class("class-row")
        .child(
            el("legend")
                .class("hidden-but-read")
                .text_of(move || strings::class_named(&name.get())),
        )
        .child(
            el("div").class("class-head").child([
                name_field(state, shown, key),
                part(ClassPart::SHARE),
                el("button")
                    .attr("type", "button")
                    .class("button-quiet class-remove")
                    .attr_of("aria-label", move || strings::remove_class(&name.get()))
                    .attr("title", strings::REMOVE)
                    .on(ev::click, move |_| remove(state, shown, key))
                    .child(Icon::Close.el()),
            ]),
        )
        .child([part(ClassPart::INPUT), part(ClassPart::OUTPUT)])
        .child(el("div").class("class-foot").child([
            part(ClassPart::TTFT),
            part(ClassPart::TPOT),
            part(ClassPart::PRIORITY),
        ]))
        .when(move || caches.get(), move || part(ClassPart::PREFIX))
        .when(move || hasty.get(), move || part(ClassPart::PATIENCE))
}

fn name_field(state: State, shown: RwSignal<Shown>, key: u32) -> El {
    let name = move || shown.with(|shown| shown.name(key));
    let take: Take = Arc::new(move |scenario, text| {
        let before = shown.with_untracked(|shown| shown.name(key));
        settings::rename_class(scenario, &before, text)
    });
    let renamed = move |entry: Entry| {
        let before = shown.with_untracked(|shown| shown.name(key));
        // The row is the same one under its new name, and must be so before the scenario is.
        let mut scenario = state.scenario.get_untracked();
        if let Some(text) = entry.typed()
            && settings::rename_class(&mut scenario, &before, &text).is_ok()
        {
            let new = text.trim().to_ascii_lowercase();
            state.kept.rename(&kept_name(&before, ""), Some(&kept_name(&new, "")));
            shown.update(|shown| {
                if let Some(row) = shown.rows.iter_mut().find(|row| row.0 == key) {
                    row.1 = new;
                }
            });
            entry.forget();
            state.change(scenario);
        } else {
            entry.commit();
        }
    };
    let read: Read = Box::new(move |_| name());
    let kept = Box::new(move || kept_name(&name(), "name"));
    let entry = Entry::new(state, ID, kept, read, take);
    let label = (strings::CLASS_NAME, strings::CLASS_NAME_HELP);
    typed(entry, &field_id(key, "name"), label, None, Box::new(renamed))
}

fn part_field(state: State, shown: RwSignal<Shown>, key: u32, part: ClassPart) -> El {
    let read: Read = Box::new(move |scenario| {
        settings::class_part(scenario, &shown.with(|shown| shown.name(key)), part)
    });
    let take: Take = Arc::new(move |scenario, text| {
        let name = shown.with_untracked(|shown| shown.name(key));
        settings::put_class_part(scenario, &name, part, text)
    });
    let kept =
        Box::new(move || kept_name(&shown.with_untracked(|shown| shown.name(key)), part.key));
    let entry = Entry::new(state, ID, kept, read, take);
    let inherited = memo(move |_| state.current.with(|scenario| part.inherited(scenario)));
    let field = typed(
        entry,
        &field_id(key, part.key),
        (part.label, part.help),
        Some(inherited),
        Box::new(Entry::commit),
    );
    field.attr("data-part", part.key)
}

/// A label, its field, and the line beneath.
fn typed(
    entry: Entry,
    id: &str,
    (label, help): (&'static str, &'static str),
    inherited: Option<Memo<String>>,
    commit: Box<dyn Fn(Entry)>,
) -> El {
    let commit = std::rc::Rc::new(commit);
    let on_change = std::rc::Rc::clone(&commit);
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Enter" => commit(entry),
        "Escape" => entry.forget(),
        "z" | "Z" if (event.ctrl_key() || event.meta_key()) && entry.undo_text() => {
            event.prevent_default();
        }
        _ => {}
    };
    let input = el("input")
        .attr("type", "text")
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("id", id)
        .attr("title", help)
        .attr_maybe("placeholder", move || inherited.map(|inherited| inherited.get()))
        .truth_of("aria-invalid", move || entry.is_refused.get())
        .truth_of(keys::TYPED, move || entry.is_being_typed())
        .property_of("value", move || entry.text())
        .on(ev::input, move |event| {
            if let Some(input) = browser::input_of(&event) {
                entry.type_in(input.value());
            }
        })
        .on(ev::change, move |_| on_change(entry))
        .on(ev::keydown, on_key);
    let field = el("label").class("class-field").child([
        el("span").class("class-label").text(label),
        el("span")
            .class("field")
            .truth_of("data-invalid", move || entry.is_refused.get())
            .child(input),
    ]);
    entry.with_message(el("div").class("class-part").child(field))
}
