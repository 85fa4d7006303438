//! The windows as a table in the place of the rows.

use std::sync::Arc;

use leptos::prelude::*;
use protocol::{FleetAnswer, FleetSlice};
use quantity::{count, duration, whole_percent};

use super::Shown;
use crate::{
    dom::El,
    strings,
    views::know::{row, table},
};

/// The table.
pub(super) fn windows(shown: Memo<Option<Arc<Shown>>>) -> El {
    let rows = move || {
        shown.with(|shown| {
            let answered = shown.as_ref().and_then(|shown| shown.answered.as_ref());
            answered.map_or_else(Vec::new, |(_, answer)| rows(answer))
        })
    };
    table(strings::TIMELINE, &strings::WINDOW_COLUMNS, rows)
}

fn rows(answer: &FleetAnswer) -> Vec<El> {
    answer.slices.iter().map(|slice| of_window(slice, answer.end_s)).collect()
}

fn of_window(slice: &FleetSlice, end_s: f64) -> El {
    let maybe = |value: Option<f64>| value.map_or_else(|| strings::UNKNOWN.to_owned(), duration);
    let [_, _, ready, _] = slice.replicas;
    row(
        &strings::clock(slice.start_s, end_s),
        &[
            count(slice.offered),
            count(slice.served),
            count(slice.slo_met),
            maybe(slice.ttft_s.0),
            maybe(slice.ttft_s.1),
            count(slice.waiting),
            whole_percent(slice.kv.0),
            count(u64::from(ready)),
            count(u64::from(slice.asked)),
        ],
    )
}
