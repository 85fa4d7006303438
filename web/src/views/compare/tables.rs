//! Beside and beneath the chart: what differs in the settings, the numbers of both, and the requests
//! that changed most.

use charts::{Interval, readout};
use leptos::prelude::*;
use planner::{ChangedRequest, CompareAnswer, PairedRequests};
use quantity::{change, change_plus_minus, count, duration, rate};
use scenario::field;

use super::{
    Compared,
    chart::{pair, planned},
};
use crate::{
    dom::{El, el},
    memo::memo,
    strings,
    views::know::table,
};

fn panel(class: &str, title: &'static str, beside: impl Fn() -> String + 'static) -> El {
    el("section").class(class).child(el("div").class("panel-head").child([
        el("h2").class("panel-title").text(title),
        el("span").class("panel-sub").text_of(beside),
    ]))
}

fn row(name: &str, cells: &[(String, &'static str)]) -> El {
    let cell = |(text, tone): &(String, &'static str)| el("td").attr("data-tone", tone).text(text);
    el("tr")
        .child(el("th").attr("scope", "row").text(name))
        .child(cells.iter().map(cell).collect::<Vec<_>>())
}

/// What differs in the settings.
pub(super) fn settings(compared: Compared) -> El {
    let told =
        memo(move |_| compared.both().map_or_else(Vec::new, |[a, b]| report::differences(&a, &b)));
    let rows = move || {
        let line = |(key, [a, b]): &report::Difference| {
            let label = field(key).map_or(key.as_str(), |field| field.label);
            row(label, &[(a.clone(), ""), (b.clone(), "")])
        };
        told.with(|told| told.iter().map(line).collect::<Vec<El>>())
    };
    let none = move || if told.with(Vec::is_empty) { strings::NOTHING_DIFFERS } else { "" };
    panel("card panel compare-settings", strings::WHAT_DIFFERS, move || {
        strings::settings_differ(told.with(Vec::len))
    })
    .child([
        table(strings::WHAT_DIFFERS, &strings::DIFFERS_COLUMNS, rows)
            .flag_of("hidden", move || told.with(Vec::is_empty)),
        el("p").class("control-help").text_of(none),
    ])
}

/// One line of the numbers.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    name: &'static str,
    values: [String; 2],
    change: String,
    tone: &'static str,
}

/// The numbers of both at one load, and how far B is from A.
pub(super) fn figures(compared: Compared) -> El {
    let told = memo(move |_| figures_of(compared));
    let rows = move || {
        let line = |figure: &Figure| {
            let [a, b] = figure.values.clone();
            row(figure.name, &[(a, ""), (b, ""), (figure.change.clone(), figure.tone)])
        };
        told.with(|told| told.iter().map(line).collect::<Vec<El>>())
    };
    let beside =
        move || planned(compared).map_or_else(String::new, |load| strings::at_load(&rate(load)));
    panel("card panel compare-figures", strings::NUMBERS, beside).child(table(
        strings::NUMBERS,
        &strings::NUMBERS_COLUMNS,
        rows,
    ))
}

fn figures_of(compared: Compared) -> Vec<Figure> {
    let Some((pair, load)) = pair(compared).zip(planned(compared)) else { return Vec::new() };
    let both = pair.both.each_ref().map(|knee| readout(knee, load));
    let time = |name, tell: fn(&charts::Readout) -> Option<Interval>| {
        figure(name, both.each_ref().map(tell), duration, false)
    };
    let mut figures =
        vec![sustained(compared, pair.both.each_ref().map(|knee| knee.capacity_per_s))];
    figures.push(time(strings::TTFT_P99, |read| read.ttft_p99_s));
    figures.push(time(strings::TPOT_P99, |read| read.tpot_p99_s));
    figures.push(figure(
        strings::GOODPUT,
        both.each_ref().map(|read| read.goodput_per_s),
        rate,
        true,
    ));
    figures
}

/// What one engine sustains, with the paired interval once that is known.
fn sustained(compared: Compared, values: [Option<Interval>; 2]) -> Figure {
    let paired = compared.told().and_then(|answer| answer.capacity_change);
    let mut figure = figure(strings::ONE_SUSTAINS, values, rate, true);
    let Some(paired) = paired else { return figure };
    let half = (paired.high - paired.low) / 2.0;
    let is_apart = paired.low > 0.0 || paired.high < 0.0;
    figure.change = if is_apart {
        change_plus_minus(1.0 + paired.value, half)
    } else {
        strings::NO_CHANGE.to_owned()
    };
    figure.tone = tone(is_apart, paired.value > 0.0);
    figure
}

/// A change is told where the intervals of both keep apart; good is green.
fn figure(
    name: &'static str,
    values: [Option<Interval>; 2],
    tell: fn(f64) -> String,
    more_is_good: bool,
) -> Figure {
    let shown =
        values.map(|value| value.map_or_else(|| strings::UNKNOWN.to_owned(), |it| tell(it.value)));
    let [Some(a), Some(b)] = values else {
        return Figure { name, values: shown, change: strings::UNKNOWN.to_owned(), tone: "" };
    };
    let is_apart = a.high < b.low || b.high < a.low;
    let told = if is_apart { change(b.value / a.value) } else { strings::NO_CHANGE.to_owned() };
    let tone = tone(is_apart, (b.value > a.value) == more_is_good);
    Figure { name, values: shown, change: told, tone }
}

const fn tone(is_apart: bool, is_good: bool) -> &'static str {
    match (is_apart, is_good) {
        (false, _) => "none",
        (true, true) => "good",
        (true, false) => "worse",
    }
}

/// The same requests under both: how many end sooner, and those that changed most.
pub(super) fn requests(compared: Compared) -> El {
    let told = memo(move |_| {
        let shown = compared.shown.get();
        let both = compared.both();
        let last = shown.told.as_ref();
        last.map(|told| {
            (told.answer.requests.clone(), both.as_ref() != Some(&told.of), unit(&told.answer))
        })
    });
    let paired = move |tell: fn(&PairedRequests, &'static str) -> String| {
        move || {
            told.with(|told| {
                let (requests, _, unit) = told.as_ref()?;
                Some(tell(requests.as_ref()?, unit))
            })
        }
    };
    let beside = paired(strings::same_requests);
    let sentence = paired(|requests, _| strings::requests_changed(requests));
    let missing = move || {
        told.with(|told| match told {
            None => strings::REQUESTS_LATER,
            Some((None, ..)) => strings::REQUESTS_NOT_PAIRED,
            Some(_) => "",
        })
    };
    let rows = move || {
        told.with(|told| {
            let Some((Some(requests), ..)) = told else { return Vec::new() };
            requests.most_changed.iter().map(changed).collect::<Vec<El>>()
        })
    };
    let is_stale = move || told.with(|told| told.as_ref().is_some_and(|(_, stale, _)| *stale));
    let has_rows = move || told.with(|told| matches!(told, Some((Some(_), ..))));
    panel("card panel compare-requests", strings::SAME_REQUESTS, move || {
        beside().unwrap_or_default()
    })
    .child(
        el("div").class("compare-requests-told").class_of("stale", is_stale).child([
            el("p").class("words").text_of(move || sentence().unwrap_or_default()),
            el("p").class("control-help").text_of(missing),
            table(strings::MOST_CHANGED, &strings::CHANGED_COLUMNS, rows)
                .flag_of("hidden", move || !has_rows()),
        ]),
    )
}

fn unit(answer: &CompareAnswer) -> &'static str {
    if answer.answers[0].users.is_some() { strings::USERS_UNIT } else { strings::RATE_UNIT }
}

fn changed(request: &ChangedRequest) -> El {
    let saved = request.e2e_s.1 - request.e2e_s.0;
    let tone = if saved < 0.0 { "good" } else { "worse" };
    row(
        &count(request.index as u64),
        &[
            (duration(request.arrival_s), ""),
            (strings::tokens_in_out(request.tokens), ""),
            (duration(request.ttft_s.0), ""),
            (duration(request.ttft_s.1), ""),
            (duration(request.e2e_s.0), ""),
            (duration(request.e2e_s.1), ""),
            (strings::signed_duration(saved), tone),
        ],
    )
}
