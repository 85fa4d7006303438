//! Closed forms and exact recursions, drawn beside the simulation.
//!
//! Every formula names its source and its units. Times are in seconds, rates per second. A number
//! outside its domain, or a load at which no steady state exists, is a [`TheoryError`] that says
//! what to change; no result is NaN or infinite.
//!
//! | Question | Answer |
//! |---|---|
//! | how many are in the system | [`little`] |
//! | one server, exponential service | [`Mmc`] with one server |
//! | one server, constant service | [`Md1`] |
//! | one server, any service | [`Mg1`] |
//! | several servers, exponential service | [`Mmc`], [`erlang_b`], [`erlang_c`] |
//! | several servers, any arrivals and service | [`GgcTraffic`]: Allen-Cunneen, Kimura |
//! | users who give up waiting | [`ErlangA`] |
//! | a server that works in batches | [`BatchCurve`] |
//! | an engine whose step grows with its batch | [`IterationModel`], its closed form and chain |
//! | continuous batching, mean lengths | [`Fluid`] |
//! | whole batches, mean lengths | [`WholeBatches`] |

mod batch_curve;
mod birth_death;
mod erlang_a;
mod error;
mod fluid;
mod ggc;
mod iteration;
pub mod little;
mod md1;
mod mg1;
mod mmc;
mod service;
mod whole_batch;

pub use batch_curve::BatchCurve;
pub use erlang_a::ErlangA;
pub use error::TheoryError;
pub use fluid::{Fluid, FluidPoint};
pub use ggc::GgcTraffic;
pub use iteration::{IterationChain, IterationModel, IterationPoint};
pub use md1::{Md1, md1_mean_wait_s, md1_wait_exceeded_s};
pub use mg1::Mg1;
pub use mmc::{Mmc, erlang_b, erlang_c};
pub use service::Service;
pub use whole_batch::{BatchPoint, WholeBatches};
