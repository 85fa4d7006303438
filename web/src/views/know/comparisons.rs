//! Full engines beside closed forms, and published figures beside ours.

use leptos::prelude::*;

use super::{row, table};
use crate::{
    dom::{El, el},
    state::State,
    strings,
};

/// Both tables in one card.
pub(crate) fn comparisons(state: State) -> El {
    let plateaus = move || {
        state.proved.with(|proved| {
            let all = proved.iter().flat_map(|answer| &answer.plateaus);
            all.map(|plateau| {
                row(
                    &report::plateau_name(plateau.kind),
                    &[
                        quantity::rate(plateau.theory_per_s),
                        quantity::rate(plateau.simulated_per_s),
                        report::plateau_deviation(plateau),
                    ],
                )
                .attr("data-fails", flag(!plateau.fits()))
            })
            .collect()
        })
    };
    let published = move || {
        state.proved.with(|proved| {
            let all = proved.iter().flat_map(|answer| &answer.cells);
            all.map(|cell| {
                let [printed, ours] = report::cell_values(cell);
                let figure = report::figure_name(cell.figure).to_owned();
                row(report::setting_name(cell.setting), &[figure, printed, ours])
                    .attr("data-fails", flag(!cell.is_within()))
            })
            .collect()
        })
    };
    let part = |title: &'static str| el("h3").class("know-subtitle").text(title);
    super::panel("card panel know-tables", strings::COMPARISONS, strings::COMPARISONS_BESIDE).child(
        [
            part(strings::PLATEAUS),
            table(strings::PLATEAUS, &strings::PLATEAU_COLUMNS, plateaus),
            part(strings::PUBLISHED),
            table(strings::PUBLISHED, &strings::PUBLISHED_COLUMNS, published),
        ],
    )
}

const fn flag(is_so: bool) -> &'static str {
    if is_so { "true" } else { "false" }
}
