//! The views of the page.

pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod fleet;
pub(crate) mod know;
pub(crate) mod plan;
mod second_worker;
