//! What the kernel model of a step needs, by name: rates of GPUs, formats of weights, fitted constants.
//!
//! The data lie in `assets/kernel/`: `gpus.json` holds peaks and the shares of them that timed kernels
//! reach, `constants.json` what `headroom fit` found from measured runs, each with its source. They are
//! read when they are asked for.

mod constants;
mod deployment;
mod effects;
mod formats;
mod gpus;

pub use constants::{Constant, Constants, kernel};
pub use deployment::{Deployment, Engine, Precision, VersionClass};
pub use effects::{Effect, ROLES, Role, effects};
pub use formats::formats;
pub use gpus::{KernelGpu, kernel_gpu, kernel_gpus};

/// Why there is no step time.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelDataError {
    /// The compiled-in data are broken.
    #[error("the kernel model’s own data are broken: {0}")]
    Broken(String),
    /// Kernels of a GPU were never timed.
    #[error(
        "no kernels were timed on {name}; known are {known}. Use step.kind=roofline for others"
    )]
    UnknownGpu {
        /// What was asked for.
        name: String,
        /// Those with rates.
        known: String,
    },
    /// The network has a part that is not modelled.
    #[error(transparent)]
    Kernel(#[from] sim_core::step_time::kernel::KernelError),
}
