//! Long questions as they cross between page and worker: fleets over time, comparisons and reports. A
//! worker has one of them at a time.

use planner::CompareAnswer;
use serde::{Deserialize, Serialize};

use crate::{FleetAsked, Question};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LongAsked {
    /// A fleet over time.
    Fleet(Box<FleetAsked>),
    /// Two scenarios under the same users.
    Compare(Box<[Question; 2]>),
    /// Reports of the scenario of this link: they tell of settings by their names.
    Report(String),
}

/// What a worker tells of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CompareNews {
    /// Runs made, of about how many.
    Progress(u32, u32),
    /// What differs.
    Answer(Box<CompareAnswer>),
    /// There is nothing to compare; why.
    Refused(String),
}

/// What a worker tells of reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ReportNews {
    /// Runs made, of about how many.
    Progress(u32, u32),
    /// The reports as they are saved.
    Texts(Box<ReportTexts>),
    /// There is nothing to report; why.
    Refused(String),
}

/// Reports of one scenario, the same as the command line's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportTexts {
    /// For people, without its chart.
    pub markdown: String,
    /// One page that opens without a network.
    pub html: String,
    /// For machines.
    pub json: String,
}
