//! A resolved scenario as it crosses to the worker.

use std::sync::Arc;

use scenario::{Ledger, Memory, Resolved, Untyped};
use serde::{Deserialize, Serialize};
use sim_core::{
    ArrivalProcess, EngineSpec, LengthSpec, Rules, Setup, Slo, StepTimeSpec, Workload,
    engine::Attendance,
    workload::{Mix, RequestSource},
};

/// Requests that a scenario can ask for: drawn from distributions, or those of a recording.
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
    /// The recording that the worker holds.
    Recorded {
        /// Asked arrival rate, requests per second.
        rate_per_s: f64,
        /// Rate at which it counts as recorded, requests per second.
        recorded_per_s: f64,
    },
}

impl Traffic {
    /// `None` for the requests of a recording, and for a share of a stream: a page asks about whole
    /// ones.
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
            // Until the recording is put in its place, only the rate is known.
            &Self::Recorded { rate_per_s, .. } => RequestSource::Generated {
                process: ArrivalProcess::Poisson,
                rate_per_s,
                input: LengthSpec::Fixed { tokens: 1 },
                output: LengthSpec::Fixed { tokens: 1 },
            },
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
    /// Whether it needs what the page loads late: few ask for such rules, for clients that react, or
    /// bring a recording.
    #[must_use]
    pub fn wants_late_part(&self) -> bool {
        let is_recorded = matches!(self.traffic, Traffic::Recorded { .. });
        self.rules.are_seldom() || !self.attendance.is_open() || is_recorded
    }

    /// The same question about the requests of the worker's recording, which counts as recorded at so
    /// many requests per second.
    pub fn ask_of_recording(&mut self, recorded_per_s: f64) {
        let rate_per_s = match &self.traffic {
            Traffic::Plain { rate_per_s, .. } | Traffic::Recorded { rate_per_s, .. } => *rate_per_s,
            Traffic::Mixed(mix) => mix.arrivals.rate_per_s,
        };
        self.traffic = Traffic::Recorded { rate_per_s, recorded_per_s };
    }

    /// The question of a resolved scenario. None for the requests of a recording, which no scenario
    /// holds; see [`Self::ask_of_recording`].
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
