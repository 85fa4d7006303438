//! The headroom gauge: load in solid cells, room in dashed ones, a mark at the load asked.

use leptos::prelude::*;
use quantity::number;

use super::card::{Beneath, Card, Gauge};
use crate::{
    dom::{El, el},
    memo::memo,
    strings,
};

/// From this many GPUs on one bar stands for all of them.
const MOST_CELLS: u64 = 24;

const FULL: char = 'f';
const PART: char = 'p';
const ROOM: char = 'r';

/// What the gauge is drawn from.
#[derive(Default)]
struct Scale {
    /// What one engine holds, per second.
    each_per_s: f64,
    /// GPUs of each engine.
    gpus_each: u64,
    /// The load asked, per second.
    asked_per_s: f64,
    /// What all GPUs carry, per second.
    carried_per_s: f64,
    /// How many cells there are.
    cells: u64,
    /// The load as a multiple of what all GPUs carry.
    load: f64,
    /// Whether what they hold is the closed form's.
    is_estimate: bool,
}

impl Scale {
    /// The scale of the card's gauge, if it has one.
    fn of(card: &Card) -> Self {
        let Beneath::Gauge(Gauge { engines, gpus_each, asked_per_s, each_per_s, is_estimate }) =
            card.beneath
        else {
            return Self::default();
        };
        let carried_per_s = each_per_s * engines as f64;
        let load = if carried_per_s > 0.0 { asked_per_s / carried_per_s } else { 0.0 };
        let cells = if engines > MOST_CELLS { 1 } else { engines };
        Self { each_per_s, gpus_each, asked_per_s, carried_per_s, cells, load, is_estimate }
    }

    /// Where the mark stands, as a part of the cells.
    fn at(&self) -> f64 {
        if self.load > 1.0 { 1.0 } else { self.load }
    }

    /// Cells that the load fills.
    fn filled(&self) -> f64 {
        self.at() * self.cells as f64
    }

    /// A letter for each cell: only if it differs are the cells others.
    fn pattern(&self) -> String {
        (0..self.cells)
            .map(|index| match self.filled() - index as f64 {
                load if load >= 1.0 => FULL,
                load if load > 0.0 => PART,
                _ => ROOM,
            })
            .collect()
    }

    /// How full the one cell is that is neither full nor empty.
    fn part(&self) -> f64 {
        self.filled() - self.filled().floor()
    }

    /// What passes the end is drawn past it, and the scale makes room for it: how much, as a part of
    /// the bar.
    fn over(&self) -> f64 {
        if self.load > 1.0 { 1.0 - 1.0 / self.load } else { 0.0 }
    }
}

/// The gauge of the card.
pub(crate) fn gauge(card: Memo<Card>) -> El {
    let scale = move || card.with(Scale::of);
    let pattern = memo(move |_| scale().pattern());
    let cells =
        el("div")
            .class("gauge-cells")
            .attr("aria-hidden", "true")
            .region(move || pattern.get().chars().map(|kind| cell(kind, card)).collect::<Vec<_>>())
            .when(
                move || scale().load > 1.0,
                move || {
                    el("div").class("gauge-over").style_of("width", move || percent(scale().over()))
                },
            )
            .child(el("div").class("gauge-mark").style_of("transform", move || {
                ["translateX(", &percent(scale().at()), ")"].concat()
            }));
    let asked = el("span")
        .class("gauge-asked")
        .text_of(move || number(scale().asked_per_s))
        .child(el("span").class("wide-only").text(strings::ASKED_UNIT));
    // The sign of a closed form takes no room, so that nothing moves when it goes.
    let sign = || {
        let text = move || if scale().is_estimate { quantity::about("") } else { String::new() };
        el("span").class("gauge-about").text_of(text)
    };
    let labels = el("div")
        .class("gauge-labels")
        .child(
            el("span")
                .class("gauge-each")
                .child(sign())
                .text_of(move || strings::per_server(scale().each_per_s, scale().gpus_each)),
        )
        .child(asked)
        .child(
            el("span")
                .class("gauge-carried")
                .child(sign())
                .text_of(move || strings::carried(scale().carried_per_s)),
        );
    el("div").class("gauge").child([cells, labels])
}

fn cell(kind: char, card: Memo<Card>) -> El {
    let full = if kind == FULL { "true" } else { "false" };
    let cell = el("div").class("gauge-cell").attr("data-full", full);
    if kind != PART {
        return cell;
    }
    let width = move || percent(card.with(|card| Scale::of(card).part()));
    cell.child(el("div").class("gauge-load").style_of("width", width))
}

/// A share in percent, to two decimals.
fn percent(share: f64) -> String {
    let hundredths = (share * 1e4).round() as u32;
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}
