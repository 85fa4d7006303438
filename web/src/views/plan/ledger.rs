//! Where the numbers come from: every input of the simulation with its source.

use leptos::prelude::*;
use quantity::Unit;
use scenario::{LedgerEntry, Provenance};

use crate::{
    icons::Icon,
    memo::{flag, text, when},
    state::State,
    strings,
};

/// The folded panel.
#[component]
pub(crate) fn LedgerPanel() -> impl IntoView {
    let is_open = RwSignal::new(false);
    view! {
        <section class="card panel ledger">
            <h2 class="panel-title">
                <button
                    type="button"
                    class="ledger-button"
                    aria-expanded=text(move || is_open.get().to_string())
                    aria-controls="ledger"
                    on:click=move |_| is_open.update(|open| *open = !*open)
                >
                    {Icon::Right.view()}
                    {strings::LEDGER}
                </button>
            </h2>
            <div id="ledger" hidden=flag(move || !is_open.get())>
                <Show when=when(move || is_open.get())>
                    <LedgerTable />
                </Show>
            </div>
        </section>
    }
}

#[component]
fn LedgerTable() -> impl IntoView {
    let state = expect_context::<State>();
    let rows = move || {
        state.resolution.with(|resolution| {
            let (resolved, _) = resolution.outcome.as_ref().as_ref().ok()?;
            Some(resolved.ledger.0.iter().map(row_view).collect_view())
        })
    };
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label=strings::LEDGER>
            <table>
                <thead>
                    <tr>
                        {strings::LEDGER_COLUMNS
                            .into_iter()
                            .map(|column| view! { <th scope="col">{column}</th> })
                            .collect_view()}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

fn row_view(entry: &LedgerEntry) -> impl IntoView + use<> {
    let shown = shown(entry.value, &entry.unit);
    let band = match (entry.low, entry.high) {
        (Some(low), Some(high)) => Some(strings::band(&quantity::range(low, high))),
        _ => None,
    };
    view! {
        <tr>
            <th scope="row">{entry.label.clone()}</th>
            <td>
                {shown} " " {band.map(|band| view! { <span class="fold-note">{band}</span> })}
            </td>
            <td>
                <span class="kind" data-kind=kind(entry.kind)>
                    {entry.kind.label()}
                </span>
            </td>
            <td class="wide">{entry.source.clone()}</td>
            <td class="wide">
                <code>{entry.formula.clone()}</code>
            </td>
        </tr>
    }
}

/// A value in the unit that reads best; in its own if that is not a unit of quantities.
fn shown(value: f64, unit: &str) -> String {
    let known = match unit {
        "bytes" => Unit::Bytes,
        "bytes/s" => Unit::BytesPerSecond,
        "FLOP/s" => Unit::FlopsPerSecond,
        "parameters" => Unit::Parameters,
        "tokens" => Unit::Tokens,
        "req/s" => Unit::RequestsPerSecond,
        "s" => Unit::Seconds,
        "ms" => Unit::Milliseconds,
        _ => return strings::with_unit(&quantity::editable(value), unit),
    };
    quantity::format(value, known)
}

fn kind(kind: Provenance) -> &'static str {
    match kind {
        Provenance::Measured => "measured",
        Provenance::Published => "published",
        Provenance::Derived => "derived",
        Provenance::Assumed => "assumed",
        Provenance::Given => "given",
    }
}
