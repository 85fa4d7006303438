//! What is assumed, which way it leans, and how far: of this scenario first, then of every answer.

use leptos::prelude::*;
use report::Assumption;

use super::row;
use crate::{dom::El, state::State, strings};

/// The card.
pub(crate) fn assumptions(state: State) -> El {
    let rows = move || {
        let rows = state.resolution.with(|resolution| match resolution.outcome.as_ref() {
            Ok((resolved, _)) => report::assumptions(&resolved.ledger),
            Err(_) => report::assumptions(&scenario::Ledger::default()),
        });
        rows.into_iter().map(told).collect()
    };
    let columns = report::assumption_columns();
    super::panel("card panel know-assumptions", strings::ASSUMED, strings::ASSUMED_BESIDE)
        .child(super::table(strings::ASSUMED, &columns, rows))
}

fn told(assumption: Assumption) -> El {
    let Assumption { what, leans, size, basis } = assumption;
    let lean = leans.replace(' ', "-");
    row(&what, &[leans, size, basis]).attr("data-leans", &lean)
}
