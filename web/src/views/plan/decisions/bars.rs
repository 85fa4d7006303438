//! Bars beside their names, drawn by the browser: each row reads as a line of text.

use crate::dom::{El, el};

/// One bar from a base to a value.
pub(super) struct Span {
    /// Where it begins and ends, parts of the track from 0 to 1.
    pub(super) from: f64,
    pub(super) to: f64,
    /// Class of its colour.
    pub(super) ink: &'static str,
}

/// A row of bars.
pub(super) struct Row {
    pub(super) name: String,
    /// Beneath or beside the name.
    pub(super) note: String,
    pub(super) spans: Vec<Span>,
    /// What is said left of the track, and right of it.
    pub(super) ends: (String, String),
    /// Whether it stands out.
    pub(super) is_main: bool,
}

/// Rows under each other, with a line through all tracks at `base`.
pub(super) fn bars(name: &str, rows: &[Row], base: Option<f64>) -> El {
    let percent = |part: f64| [&quantity::plain(part, 2), "%"].concat();
    let span = move |span: &Span| {
        let (low, high) =
            if span.from < span.to { (span.from, span.to) } else { (span.to, span.from) };
        el("span")
            .class("strip-span")
            .attr("data-ink", span.ink)
            .style("left", &percent(low))
            .style("width", &percent(high - low))
    };
    let row = move |row: &Row| {
        let track = el("span")
            .class("strip-track")
            .attr("aria-hidden", "true")
            .child(row.spans.iter().map(span).collect::<Vec<_>>());
        let track = match base {
            Some(base) => track.child(el("span").class("strip-base").style("left", &percent(base))),
            None => track,
        };
        el("li").class("strip").attr("data-main", if row.is_main { "true" } else { "false" }).child(
            [
                el("span")
                    .class("strip-name")
                    .text(&row.name)
                    .text(" ")
                    .child(el("span").class("strip-note").text(&row.note)),
                el("span").class("strip-end strip-low").text(&row.ends.0),
                track,
                el("span").class("strip-end").text(" ").text(&row.ends.1),
            ],
        )
    };
    el("ul")
        .class("strips")
        .attr("aria-label", name)
        .child(rows.iter().map(row).collect::<Vec<_>>())
}
