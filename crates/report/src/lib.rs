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

mod accuracy;
mod alternatives;
mod assumptions;
mod attempts;
mod batch;
mod calibration;
mod carried;
mod catalogue;
mod check;
mod compare;
mod cost;
#[cfg(feature = "document")]
mod document;
mod experiments;
mod export;
mod fleet_over_time;
mod json;
mod knee;
mod know;
mod know_table;
mod ledger;
mod measured_curve;
mod memory;
mod names;
mod open_metrics;
mod policies;
mod policy_search;
mod pools;
mod pools_over_time;
mod replicas;
mod requests;
mod run_text;
mod sensitivity;
mod shared_gpus;
mod steadiness;
mod table;
mod telling;
mod traffic;
mod versions;
mod why;
mod windows;
mod words;

pub use accuracy::{RegimeError, TimeError, regime_errors};
pub use alternatives::{
    ALTERNATIVE_COLUMNS, alternative_cells, alternatives_caution, alternatives_csv,
    alternatives_headline, alternatives_json, alternatives_left_out, alternatives_text, cost_dots,
    fleet_name, tuned_text,
};
pub use assumptions::{Assumption, assumption_columns, assumptions};
pub use attempts::Attempts;
pub use batch::{batch_json, batch_text};
pub use calibration::{CalibrationTelling, calibration_json, calibration_text};
pub use carried::{Carried, carried_text, carried_value};
pub use catalogue::{CatalogTelling, catalog_json, catalog_text};
pub use check::{
    ANSWER_FIGURES, AnswerFigure, Assertion, AssertionError, Checked, check, check_json, check_text,
};
pub use compare::{Difference, compare_json, compare_text, differences};
pub use cost::{
    COST_COLUMNS, Price, SPLIT_RULE, about, about_finely, cost_lines, cost_rows, cost_text,
    cost_value,
};
#[cfg(feature = "document")]
pub use document::{ReportParts, report_html, report_markdown};
pub use experiments::{experiment_json, experiment_text, experiments_text};
pub use export::{Deployment, bench_command, kubernetes, serve_command};
pub use fleet_over_time::{fleet_csv, fleet_data, fleet_json, fleet_text};
pub use json::{SCHEMA, json_with_notices, plan_json, plan_json_with, run_json, sweep_json};
pub use knee::{by_load, knee_csv, knee_data, knee_frame, knee_table};
pub use know::{
    cell_values, compared, figure_name, know_extent, know_headline, plateau_deviation,
    plateau_name, queue_name, queue_words, setting_name, truth_figures, truth_title,
};
pub use know_table::{know_json, know_text};
pub use ledger::ledger_table;
pub use measured_curve::{CurveTelling, curve_json, curve_text};
pub use memory::{MemoryTelling, memory_fits, memory_json, memory_parts, memory_text};
pub use open_metrics::open_metrics;
pub use policies::{policies_csv, policies_json, policies_text};
pub use policy_search::{policy_search_json, policy_search_text};
pub use pools::{pools_json, pools_text};
pub use pools_over_time::{pooled_json, pooled_text};
pub use replicas::{replicas_json, replicas_text, slots_json, slots_text};
pub use requests::requests_csv;
pub use run_text::run_text;
pub use sensitivity::{
    SENSITIVITY_COLUMNS, SENSITIVITY_NOTE, sensitivity_cells, sensitivity_json, sensitivity_lines,
    sensitivity_text, tornado_data,
};
pub use shared_gpus::{NamedModel, shared_json, shared_text};
pub use steadiness::intervals_csv;
pub use telling::{
    Status, Telling, changes_title, expected_headline, plan_text, remarks, tell, tell_so_far,
};
pub use versions::{VersionSeen, versions_json, versions_text};
pub use why::{GAIN_COLUMNS, WHY_OUT_OF_REACH, gain_rows, why_json, why_lines, why_text};
pub use windows::{plan_over_time, windows_csv};
pub use words::{
    RUN_LONGER, one_server, pools_overloaded, run_pools, run_transfers, with_headroom,
};
