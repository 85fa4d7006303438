//! Why measured files cannot be used.

use import::ImportError;

/// Why measured files cannot be used, with what to change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasuredError {
    /// A file is nothing that is read here.
    #[error(transparent)]
    Unreadable(#[from] ImportError),
    /// The log of a start that failed tells nothing of a running engine.
    #[error("{file}: this start failed: {failure}")]
    FailedStart {
        /// The file.
        file: String,
        /// What the engine said.
        failure: String,
    },
    /// The configuration of a model that cannot be used.
    #[error("{file}, read as the config.json of a model: {reason}")]
    NoModel {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// There are only start-up logs.
    #[error(
        "A start-up log tells memory and settings, but no times. Give the result of a load test beside it."
    )]
    NoTimes,
    /// More points than are simulated.
    #[error(
        "{points} points are more than the {most} that are simulated. Give the rows of one curve."
    )]
    TooManyPoints {
        /// How many there are.
        points: usize,
        /// The most that are simulated.
        most: usize,
    },
    /// Points of several deployments have no constants in common.
    #[error(
        "The points are of several deployments: {name} is “{first}” and “{second}”. Give those of one."
    )]
    SeveralDeployments {
        /// What differs.
        name: &'static str,
        /// One value.
        first: String,
        /// Another.
        second: String,
    },
    /// A point cannot be set up as a scenario.
    #[error("{point}: {message}")]
    Setting {
        /// The point.
        point: String,
        /// What the setting says.
        message: String,
    },
    /// A point without a load cannot be simulated.
    #[error(
        "A point does not tell its load. Give it in a table, with a column concurrency or rate."
    )]
    NoLoad,
}
