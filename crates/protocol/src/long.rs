//! Long questions as they cross between page and worker: fleets over time, what the Plan view asks beside
//! its plan, comparisons and reports. A worker has one of them at a time.

use planner::{
    AlternativesAnswer, BatchAnswer, CompareAnswer, Dollars, SensitivityAnswer, WhyAnswer,
};
use serde::{Deserialize, Serialize};

use crate::{FleetAsked, Question};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LongAsked {
    /// A fleet over time.
    Fleet(Box<FleetAsked>),
    /// A question about the plan.
    Decision(Box<DecisionAsked>),
    /// Two scenarios under the same users.
    Compare(Box<[Question; 2]>),
    /// Reports of the scenario of this link: they tell of settings by their names.
    Report(String),
}

/// A question about the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionAsked {
    /// The scenario as a link: these questions change settings and resolve them again.
    pub link: String,
    /// What a person says that an hour of the scenario's GPU costs.
    pub price: Option<Dollars>,
    /// The question.
    pub about: Decision,
}

/// Which question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Decision {
    /// What holds the capacity down.
    Why,
    /// What else would do.
    Alternatives,
    /// How far the answer moves with its inputs.
    Sensitivity,
    /// How many engines do so many requests within so many seconds.
    Job {
        /// How many requests.
        requests: u64,
        /// Until when, seconds from the beginning.
        within_s: f64,
    },
}

/// What a worker tells of a question about the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DecisionNews {
    /// Runs made, of about how many; none in all where that is not known.
    Progress(u32, u32),
    /// What holds the capacity down; `None` where there is no capacity to ask about.
    Why(Option<Box<WhyAnswer>>),
    /// What else would do, as far as it is known.
    Alternatives(Box<AlternativesAnswer>),
    /// How far the answer moves, as far as it is known; `None` where there is no answer.
    Sensitivity(Option<Box<SensitivityAnswer>>),
    /// What a job takes.
    Job(Box<BatchAnswer>),
    /// There is nothing to simulate; why.
    Refused(String),
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
