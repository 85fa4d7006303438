//! The kernel model's constants from measured runs, and how far they are off.

pub mod assets;
pub mod parameters;
pub mod replay;
pub mod rows;
pub mod setting;
pub mod solve;
