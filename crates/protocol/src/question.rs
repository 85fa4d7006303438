//! A resolved scenario as it crosses to the worker.

use scenario::{Ledger, Memory, Resolved};
use serde::{Deserialize, Serialize};
use sim_core::{
    ArrivalProcess, EngineSpec, LengthSpec, Rules, Setup, Slo, StepTimeSpec, Workload,
    workload::RequestSource,
};

/// The numbers of a resolved scenario that a plan depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// How the gaps between arrivals are distributed.
    pub process: ArrivalProcess,
    /// Asked arrival rate, requests per second.
    pub rate_per_s: f64,
    /// Prompt lengths.
    pub input: LengthSpec,
    /// Output lengths.
    pub output: LengthSpec,
    /// Requests in each run.
    pub requests: u64,
    /// Limits of the scheduler and of memory.
    pub engine: EngineSpec,
    /// How steps are formed within them.
    pub rules: Rules,
    /// How long one step takes.
    pub step_time: StepTimeSpec,
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
    /// The question of a resolved scenario. None for a recording, which no scenario holds.
    #[must_use]
    pub fn of(resolved: &Resolved) -> Option<Self> {
        let Setup { workload, engine, rules, step_time, slo, seed } = &resolved.setup;
        let RequestSource::Generated { process, rate_per_s, input, output } = &workload.source
        else {
            return None;
        };
        Some(Self {
            process: *process,
            rate_per_s: *rate_per_s,
            input: *input,
            output: *output,
            requests: workload.requests,
            engine: *engine,
            rules: rules.clone(),
            step_time: *step_time,
            slo: *slo,
            seed: *seed,
            headroom: resolved.headroom,
            replications: resolved.replications,
        })
    }

    /// What the planner takes. The ledger stays with the page.
    #[must_use]
    pub fn resolved(&self) -> Resolved {
        let source = RequestSource::Generated {
            process: self.process,
            rate_per_s: self.rate_per_s,
            input: self.input,
            output: self.output,
        };
        Resolved {
            setup: Setup {
                workload: Workload { source, requests: self.requests },
                engine: self.engine,
                rules: self.rules.clone(),
                step_time: self.step_time,
                slo: self.slo,
                seed: self.seed,
            },
            ledger: Ledger::default(),
            headroom: self.headroom,
            replications: self.replications,
            memory: Memory::default(),
        }
    }
}
