//! The page's module in two parts: what the page begins with, and what it loads when it needs it.
//!
//! Some functions are *doors*: the only ways to what few visitors ask for. What can be reached without
//! going through a door is the first part; what lies behind doors only is the late one, with the
//! data that nobody else uses.
//!
//! ```text
//!   first part                           late part
//!   ──────────                           ─────────
//!   memory, tables, stack pointer ─────▶ imported
//!   functions that both need ──────────▶ imported
//!   door: calls by the table ◀────────── puts its functions into the table
//!   data, zero where it is late ◀─────── puts its data into memory
//! ```
//!
//! The late part only ever works with the first part it was cut from. Until it is there, whoever goes
//! through a door meets an empty place in the table, which is a trap: the page asks first.

mod bound;
mod data;
mod reach;
mod split;
mod survey;

use anyhow::{Context, Result, bail, ensure};
use bound::Bound;
use reach::{Graph, Part, Parts};
use survey::{Survey, survey};
use wasmparser::{
    ConstExpr, Data, DataKind, Element, ElementItems, ElementKind, ExternalKind, Operator, TypeRef,
};

pub(crate) use split::Halves;

/// The doors, by their paths. Each must be a function that is never inlined.
const DOORS: [&str; 32] = [
    "scenario::resolve::changes::door",
    "scenario::wide::networks::door",
    "web::views::calibrate::calibrate",
    "web::views::calibrate::take",
    "web::views::compare::compare",
    "web::views::compare::pin",
    "web::views::compare::swap",
    "web::views::export::open",
    "web::views::fleet::ask",
    "web::views::fleet::fleet",
    "web::views::fleet::settings",
    "web::views::fleet::take",
    "web::views::know::know",
    "web::recording::unpacked",
    "web::views::plan::decisions::decisions",
    "web::views::plan::decisions::take",
    "web::views::plan::decisions::demand::demand",
    "web::views::plan::knee_table::knee_table",
    "web::views::plan::ledger::numbers",
    "web::views::plan::pools_card::pools_card",
    "web::views::plan::pools_card::take",
    "web::views::plan::refused::with_changes",
    "web::views::plan::recorded::recorded",
    "web::views::plan::settings_groups::furnish",
    "sim_worker::calibrate_task::begin",
    "sim_worker::fleet_task::begin",
    "sim_worker::pools_task::begin",
    "sim_worker::proof_task::begin",
    "sim_worker::recording_file::read",
    "sim_worker::recording_file::of",
    "sim_worker::recording_task::plan",
    "sim_core::engine::seldom::start",
];

/// What the module exports and nobody calls: streams between Rust and JavaScript that come with
/// Leptos, with all that hangs on them. The page has no streams.
const UNUSED: [&str; 2] = ["intounderlying", "__wbg_intounderlying"];

/// Cuts the module that wasm-bindgen made, `bound`, by what the linker left in `linked`.
///
/// # Errors
/// One of them cannot be read, or a door is not there.
pub(crate) fn split(linked: &[u8], bound: &[u8]) -> Result<Halves> {
    split_at(linked, bound, &DOORS)
}

fn split_at(linked: &[u8], module: &[u8], doors: &[&str]) -> Result<Halves> {
    let survey = survey(linked).context("the linked module")?;
    let bound = Bound::read(module).context("wasm-bindgen's module")?;
    let doors = doors.iter().map(|door| bound.named(&mangled(door))).collect::<Result<Vec<_>>>()?;
    let parts = parts(&bound, &survey, &doors);
    check_unknown(&bound, &survey, &parts)?;
    split::split(&bound, module, &survey.pieces, &parts, &doors)
}

fn parts(bound: &Bound<'_>, survey: &Survey, doors: &[u32]) -> Parts {
    let all = 0..bound.functions();
    let calls = |function: u32| {
        let mentions = bound.mentions(function);
        mentions.map(|mentions| mentions.functions.iter().copied().collect()).unwrap_or_default()
    };
    let holds = |function: u32| {
        let name = bound.names.get(&function);
        name.and_then(|&name| survey.functions.get(name)).cloned().unwrap_or_default()
    };
    let graph = Graph {
        calls: all.clone().map(calls).collect(),
        functions: all.map(holds).collect(),
        pieces: survey.pieces.iter().map(|piece| piece.holds.clone()).collect(),
        table: bound.slots.clone(),
    };
    let exported = bound.exports.iter().filter(|export| is_used(export.name));
    let roots: Vec<u32> = exported
        .filter(|export| export.kind == ExternalKind::Func)
        .map(|export| export.index)
        .collect();
    graph.parts(&roots, &survey.unowned, doors)
}

/// Fails if a function that wasm-bindgen added names data: the linker knows nothing about it, so that
/// the data might be cut off.
fn check_unknown(bound: &Bound<'_>, survey: &Survey, parts: &Parts) -> Result<()> {
    for function in bound.imported..bound.functions() {
        let name = bound.names.get(&function).copied().unwrap_or_default();
        if survey.functions.contains_key(name)
            || parts.functions[function as usize] == Part::Nowhere
        {
            continue;
        }
        let named = bound.addresses(function)?;
        ensure!(named.is_empty(), "`{name}`, new to the linker, may hold addresses: {named:?}");
    }
    Ok(())
}

/// Whether anybody calls what is exported under this name.
pub(crate) fn is_used(export: &str) -> bool {
    !UNUSED.iter().any(|unused| export.starts_with(unused))
}

/// How the compiler writes a path, up to the hash at its end.
fn mangled(path: &str) -> String {
    let parts = path.split("::").map(|part| format!("{}{part}", part.len()));
    format!("_ZN{}17h", parts.collect::<String>())
}

fn is_function(ty: &TypeRef) -> bool {
    matches!(ty, TypeRef::Func(_) | TypeRef::FuncExact(_))
}

/// Which table a segment of elements fills, and which places with which functions.
fn slots_of(element: &Element<'_>) -> Result<(u32, Vec<(u32, u32)>)> {
    let (ElementKind::Active { table_index, offset_expr }, ElementItems::Functions(functions)) =
        (&element.kind, &element.items)
    else {
        bail!("the function table is filled in a way that is not known here");
    };
    let functions = functions.clone().into_iter().collect::<Result<Vec<u32>, _>>()?;
    Ok((table_index.unwrap_or(0), (constant(offset_expr)?..).zip(functions).collect()))
}

/// Where a data segment is put.
fn address_of(segment: &Data<'_>) -> Result<u32> {
    let DataKind::Active { offset_expr, .. } = &segment.kind else {
        bail!("a data segment has no address");
    };
    constant(offset_expr)
}

fn constant(expression: &ConstExpr<'_>) -> Result<u32> {
    match expression.get_operators_reader().read()? {
        Operator::I32Const { value } => Ok(value as u32),
        other => bail!("a place in memory or table is {other:?} instead of a number"),
    }
}

#[cfg(test)]
mod tests;
