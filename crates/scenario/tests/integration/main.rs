//! What people write, and what becomes of it.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod cautions;
mod context;
#[cfg(feature = "networks")]
mod deployed;
mod json;
mod kernel_step;
mod links;
mod messages;
mod overload;
mod resolving;
mod round_trip;
mod table;
mod vllm;
