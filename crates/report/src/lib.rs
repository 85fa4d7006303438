//! Telling: what an answer or a run means, in words, tables, JSON and CSV.
//!
//! ```text
//!   PlanAnswer + Scenario ──▶ Telling    sentences            (tell)
//!                         ──▶ KneeData   what a chart draws   (knee_data)
//!                         ──▶ JSON, CSV, text table
//!   Run                   ──▶ sentences, JSON, one CSV row per request or window of time
//! ```
//!
//! Pure functions: nothing here simulates, reads or writes. People's numbers are formatted by
//! `quantity` alone; machines' numbers are in SI units with all their digits, and their names end
//! in the unit.

mod assumptions;
mod attempts;
mod catalogue;
mod check;
mod experiments;
mod fleet_over_time;
mod json;
mod knee;
mod know;
mod know_table;
mod ledger;
mod memory;
mod names;
mod open_metrics;
mod policies;
mod pools;
mod requests;
mod run_text;
mod steadiness;
mod table;
mod telling;
mod traffic;
mod why;
mod windows;
mod words;

pub use assumptions::{Assumption, assumption_columns, assumptions};
pub use attempts::Attempts;
pub use catalogue::{CatalogTelling, catalog_json, catalog_text};
pub use check::{
    ANSWER_FIGURES, AnswerFigure, Assertion, AssertionError, Checked, check, check_json, check_text,
};
pub use experiments::{experiment_json, experiment_text, experiments_text};
pub use fleet_over_time::{fleet_csv, fleet_data, fleet_json, fleet_text};
pub use json::{SCHEMA, plan_json, run_json, sweep_json};
pub use knee::{by_load, knee_csv, knee_data, knee_frame, knee_table};
pub use know::{
    cell_values, compared, figure_name, know_extent, know_headline, plateau_deviation,
    plateau_name, queue_name, queue_words, setting_name, truth_figures, truth_title,
};
pub use know_table::{know_json, know_text};
pub use ledger::ledger_table;
pub use memory::{MemoryTelling, memory_fits, memory_json, memory_text};
pub use open_metrics::open_metrics;
pub use policies::{policies_csv, policies_json, policies_text};
pub use pools::{pools_json, pools_text};
pub use requests::requests_csv;
pub use run_text::run_text;
pub use telling::{
    Status, Telling, changes_title, expected_headline, plan_text, remarks, tell, tell_so_far,
};
pub use why::{WHY_OUT_OF_REACH, why_json, why_text};
pub use windows::windows_csv;
pub use words::{RUN_LONGER, run_pools, run_transfers, with_headroom};
