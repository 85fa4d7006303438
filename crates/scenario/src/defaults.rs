//! What a link means where it says nothing.
//!
//! Links leave out what equals the default. If a default changed, every old link would change its
//! meaning, so the defaults of a link version are frozen for ever: a new default needs a new link
//! version with a function of its own, and the old function stays.

use sim_core::{ArrivalProcess, LengthSpec, Slo, clients::ClientTime};

use crate::fleet::FleetSpec;
use crate::overload::{Clients, Overload};
use crate::profile::Profile;
use crate::rules::SchedRules;
use crate::schema::{Deploy, Disagg, Scenario, Sched, Sim, Spec, StepOverrides, VllmOptions};
use crate::sessions::SINGLE;

/// The defaults of link version 1. Never to be changed.
pub(crate) fn v1() -> Scenario {
    Scenario {
        model: "qwen2.5-7b".to_owned(),
        gpu: "h100-sxm".to_owned(),
        rate_per_s: 100.0,
        input: LengthSpec::Fixed { tokens: 1024 },
        output: LengthSpec::Fixed { tokens: 256 },
        arrivals: ArrivalProcess::Poisson,
        bursts: None,
        closed: None,
        profile: Profile::Constant,
        turns: SINGLE,
        think: ClientTime::Exponential { mean_s: 10.0 },
        shared_prefix_tokens: 0,
        classes: Vec::new(),
        slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
        headroom: 0.25,
        sched: Sched { max_num_batched_tokens: 8192, max_num_seqs: 256 },
        rules: SchedRules::Reference,
        vllm: VllmOptions::default(),
        spec: Spec { tokens: 0, acceptance: 0.7, draft_cost: 0.05 },
        disagg: Disagg { prefill: 0, decode: 0, link_gbps: 400.0, latency_s: 1e-3 },
        overload: Overload::V1,
        clients: Clients::V1,
        step: StepOverrides::default(),
        kv_capacity_tokens: None,
        deploy: Deploy::default(),
        sim: Sim { requests: 2000, replications: 8, seed: 0 },
        fleet: FleetSpec::V1,
    }
}
