//! The engines against published figures: what the reference simulator printed and produced.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod capacity;
mod effects;
mod python;
mod reference;
mod replay;
mod spread;
mod tables;
mod traffic;
