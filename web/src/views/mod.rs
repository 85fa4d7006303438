//! The views of the page.

pub(crate) mod plan;
