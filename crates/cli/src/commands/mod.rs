//! One module per command: arguments in, text and exit code out.

pub(crate) mod catalog;
pub(crate) mod chart;
pub(crate) mod check;
pub(crate) mod experiment;
pub(crate) mod fit;
pub(crate) mod fleet;
pub(crate) mod know;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod plan;
pub(crate) mod pools;
pub(crate) mod simulate;
pub(crate) mod sweep;
pub(crate) mod why;
