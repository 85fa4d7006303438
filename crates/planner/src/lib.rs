//! Questions: sweep, knee, capacity and fleet size, each a state machine that hands out runs.
//!
//! A question hands out independent [`Job`]s and takes their runs back in job order. The same code
//! runs inline, on threads and on a pool of workers, and never reads a clock.
//!
//! ```text
//!   Resolved ──▶ Plan ──next_jobs──▶ [Job] ──any order──▶ [Run] ──accept──▶ Plan ──▶ PlanAnswer
//! ```

mod alternatives;
mod answer;
mod batch;
mod bisection;
mod calibrate;
mod ceiling;
mod closed_form;
mod compare;
mod cost;
mod curve;
mod demand;
mod estimate;
pub mod experiments;
mod fleet;
mod job;
mod load;
mod measured;
mod out_of_reach;
mod over_time;
mod plan;
mod policies;
mod policy_search;
mod price;
mod proof;
mod reach;
mod refusal;
mod remedies;
mod replicas;
mod scaled;
mod sensitivity;
mod several;
mod slot_sizing;
mod steady;
mod sweep;
mod why;

pub use alternatives::{Alternative, Alternatives, AlternativesAnswer, Basis, Lookup, Tuned};
pub use answer::{ClassAtLoad, Estimate, FleetSize, LoadPoint, PlanAnswer, UsersAnswer, Verdict};
pub use batch::{BatchAnswer, BatchPlan};
pub use calibrate::{
    Calibration, CalibrationAnswer, CalibrationError, Fitted, Measured, Observation, PointAnswer,
    Predicted,
};
pub use closed_form::{ClosedForm, closed_form};
pub use compare::{ChangedRequest, Compare, CompareAnswer, Pair, PairedRequests};
pub use cost::{Cost, Dollars, HOURS_PER_MONTH, TokenCost};
pub use job::Job;
pub use measured::{MeasuredKnee, SeenLoad, measured_knee};
pub use over_time::over_time;
pub use plan::Plan;
pub use policies::{PolicyFigures, compare_policies};
pub use policy_search::{Axis, PolicyJob, PolicySearch, PolicySearchAnswer, Steps, Trial};
pub use price::{MoneyError, read_average_load};
pub use proof::{
    Compared, Finding, MOST_QUEUES_OUTSIDE, Plateau, PlateauKind, Printed, Proof, ProofAnswer,
    ProofJob, PublishedCell, Queue, QueuePoint, State, Truth, TruthKind, prove_inline,
};
pub use replicas::{FleetJob, FleetPoint, ROUTERS, Replicas, ReplicasAnswer};
pub use scenario::Remedy;
pub use sensitivity::{Bar, Outcome, Sensitivity, SensitivityAnswer, Uncertain, What};
pub use slot_sizing::{SlotDemand, SlotReplicas, SlotSizing, size_slots};
pub use sweep::Sweep;
pub use why::{Gain, Limit, LimitKind, NextLimit, Why, WhyAnswer};

use sim_core::{Run, SetupError};

/// Answer a plan here and now, one run after the other.
///
/// # Errors
/// A set-up holds a number outside its domain; a resolved scenario does not.
pub fn run_inline(plan: &mut Plan) -> Result<Option<PlanAnswer>, SetupError> {
    loop {
        let jobs = plan.next_jobs();
        if jobs.is_empty() {
            return Ok(plan.answer().cloned());
        }
        let runs = jobs.iter().map(Job::run).collect::<Result<Vec<Run>, _>>()?;
        plan.accept(&runs);
    }
}
