//! A resolved scenario as it crosses to the worker.

use std::sync::Arc;

use scenario::{Ledger, Memory, Resolved, Untyped};
use serde::{Deserialize, Serialize};
use sim_core::{
    ArrivalProcess, EngineSpec, LengthSpec, Rules, Setup, Slo, StepTimeSpec, Workload,
    engine::Attendance,
    workload::{Mix, RequestSource},
};

/// Requests that a scenario can ask for: all drawn from distributions.
#[allow(clippy::large_enum_variant, reason = "there is one in a question, which is boxed")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Traffic {
    /// One kind of request at a steady rate.
    Plain {
        /// How the gaps between arrivals are distributed.
        process: ArrivalProcess,
        /// Asked arrival rate, requests per second.
        rate_per_s: f64,
        /// Prompt lengths.
        input: LengthSpec,
        /// Output lengths.
        output: LengthSpec,
    },
    /// Classes, bursts, or a rate that changes.
    Mixed(Arc<Mix>),
}

impl Traffic {
    /// `None` for a recording, and for a share of a stream: a page asks about whole ones.
    fn of(source: &RequestSource) -> Option<Self> {
        match source {
            RequestSource::Generated { process, rate_per_s, input, output } => Some(Self::Plain {
                process: *process,
                rate_per_s: *rate_per_s,
                input: *input,
                output: *output,
            }),
            RequestSource::Mixed(mix) => Some(Self::Mixed(Arc::clone(mix))),
            RequestSource::Replay { .. } | RequestSource::Dealt(_) => None,
        }
    }

    fn source(&self) -> RequestSource {
        match self {
            Self::Plain { process, rate_per_s, input, output } => RequestSource::Generated {
                process: *process,
                rate_per_s: *rate_per_s,
                input: *input,
                output: *output,
            },
            Self::Mixed(mix) => RequestSource::Mixed(Arc::clone(mix)),
        }
    }
}

/// The numbers of a resolved scenario that a plan depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Who sends what, and when.
    pub traffic: Traffic,
    /// How clients and the line behave.
    pub attendance: Attendance,
    /// Names of the classes of requests; none without classes.
    pub classes: Vec<String>,
    /// Requests in each run.
    pub requests: u64,
    /// Limits of the scheduler and of memory.
    pub engine: EngineSpec,
    /// How steps are formed within them.
    pub rules: Rules,
    /// How long one step takes.
    pub step_time: StepTimeSpec,
    /// How long it would take without numbers that a person typed.
    pub untyped: Vec<Untyped>,
    /// What counts as good enough.
    pub slo: Slo,
    /// Root of every random stream.
    pub seed: u64,
    /// Room wanted above the planned load, 0.25 for 25 %.
    pub headroom: f64,
    /// Runs with different random numbers.
    pub replications: u32,
}

impl Question {
    /// Whether its engine is one that the page loads late: few ask for such rules, or for clients that
    /// react.
    #[must_use]
    pub fn wants_late_part(&self) -> bool {
        self.rules.are_seldom() || !self.attendance.is_open()
    }

    /// The question of a resolved scenario. None for a recording, which no scenario holds.
    #[must_use]
    pub fn of(resolved: &Resolved) -> Option<Self> {
        let Setup { workload, engine, rules, step_time, slo, seed } = &resolved.setup;
        Some(Self {
            traffic: Traffic::of(&workload.source)?,
            attendance: resolved.attendance,
            classes: resolved.classes.clone(),
            requests: workload.requests,
            engine: *engine,
            rules: rules.clone(),
            step_time: *step_time,
            untyped: resolved.untyped.clone(),
            slo: *slo,
            seed: *seed,
            headroom: resolved.headroom,
            replications: resolved.replications,
        })
    }

    /// What the planner takes. The ledger stays with the page.
    #[must_use]
    pub fn resolved(&self) -> Resolved {
        Resolved {
            setup: Setup {
                workload: Workload { source: self.traffic.source(), requests: self.requests },
                engine: self.engine,
                rules: self.rules.clone(),
                step_time: self.step_time,
                slo: self.slo,
                seed: self.seed,
            },
            attendance: self.attendance,
            classes: self.classes.clone(),
            ledger: Ledger::default(),
            headroom: self.headroom,
            replications: self.replications,
            memory: Memory::default(),
            untyped: self.untyped.clone(),
        }
    }
}
