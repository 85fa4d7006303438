//! One module per command: arguments in, text and exit code out.

pub(crate) mod alternatives;
pub(crate) mod calibrate;
pub(crate) mod catalog;
pub(crate) mod chart;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod curve;
pub(crate) mod experiment;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod fleet;
pub(crate) mod know;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod plan;
mod policy_search;
pub(crate) mod pools;
pub(crate) mod replicas;
pub(crate) mod report;
pub(crate) mod simulate;
mod sizing;
pub(crate) mod sweep;
pub(crate) mod tornado;
pub(crate) mod why;
