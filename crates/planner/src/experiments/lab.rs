//! The fleets that experiments run: an 8B model on single-GPU replicas.

use std::sync::Arc;

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, RequestSource, Rules, Setup, SetupError, Slo,
    StepTimeSpec, Workload,
    fleet::{
        autoscale::{
            fixed::Fixed,
            hpa::{Bounds, Hpa, Tolerance},
            keda::ScaledObject,
            schedule::Calendar,
        },
        live::{LiveFleet, Reliability, simulate_live},
        nodes::NodePool,
        outcome::LiveRun,
        policy::{Aggregate, Policy, Signal},
        router::Router,
        start_up::StartUp,
    },
    workload::{Arrivals, Mix, RateProfile, RequestClass, RequestLengths, SharedPrefix},
};

/// First token within a second, 50 ms per token, for 99 of 100.
pub(super) const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 0.05, share: 0.99 };

/// Most replicas that a policy may ask for.
pub(super) const MOST: i32 = 40;

/// A kind of request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) weight: f64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) prefix: Option<SharedPrefix>,
}

/// A question and an answer of a paragraph.
pub(super) const CHAT: Kind =
    Kind { weight: 1.0, input_tokens: 400, output_tokens: 200, prefix: None };

/// Requests of these kinds at a rate that follows a profile, before a replica that serves about 20
/// chats a second, 32 at once.
pub(super) fn traffic(
    kinds: &[Kind],
    (rate_per_s, requests): (f64, u64),
    profile: RateProfile,
) -> Setup {
    let class = |kind: &Kind| RequestClass {
        weight: kind.weight,
        lengths: RequestLengths::Independent {
            input: LengthSpec::Fixed { tokens: kind.input_tokens },
            output: LengthSpec::Fixed { tokens: kind.output_tokens },
        },
        slo: SLO,
        priority: 0,
        shared_prefix: kind.prefix,
        sessions: None,
        patience: None,
    };
    let process = ArrivalProcess::Poisson;
    let arrivals = Arrivals { process, rate_per_s, bursts: None, profile };
    let classes = kinds.iter().map(class).collect();
    Setup {
        workload: Workload {
            source: RequestSource::Mixed(Arc::new(Mix { arrivals, classes })),
            requests,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 2048,
            max_num_seqs: 32,
            kv_capacity_tokens: 60_000,
        },
        rules: Rules::Reference,
        step_time: StepTimeSpec::Roofline {
            params: 8e9,
            weight_bytes: 16e9,
            kv_bytes_per_token: 131_072.0,
            peak_flops: 9.9e14,
            bandwidth_bytes_per_s: 3.35e12,
            mfu: 0.5,
            overhead_s: 0.0005,
        },
        slo: SLO,
        seed: 1,
    }
}

/// A fleet that begins with one replica at half past seven on a Monday, with nodes for all.
pub(super) fn fleet(setup: Setup, policy: Policy, start_s: f64) -> LiveFleet {
    LiveFleet {
        setup,
        router: Router::LeastInFlight,
        policy,
        floors: Vec::new(),
        calendar: Calendar { weekday: 1, minute_of_day: 7 * 60 + 30 },
        start_up: StartUp::fixed(start_s),
        nodes: NodePool { initial_nodes: MOST.unsigned_abs(), ..NodePool::default() },
        initial_replicas: 1,
        scrape_s: 15.0,
        counts_warming: false,
        cached_prefixes: 0,
        deferral: None,
        keeps_samples: false,
        drain_grace_s: 30.0,
        window_s: 15.0,
        patience_s: 3600.0,
        faults: Vec::new(),
        reliability: Reliability::default(),
    }
}

pub(super) const fn fixed(replicas: i32) -> Policy {
    Policy::Fixed(Fixed { replicas })
}

pub(super) fn hpa_on(signal: Signal, target: f64) -> Policy {
    let hpa = Hpa::new(Bounds { min: 1, max: MOST });
    Policy::Hpa { hpa, signal, target, tolerance: Tolerance::default() }
}

pub(super) fn keda_on(signal: Signal, aggregate: Aggregate, threshold: f64, min: i32) -> Policy {
    let object = ScaledObject { min_replicas: min, max_replicas: MOST, ..ScaledObject::default() };
    Policy::Keda { object, signal, aggregate, threshold, activation_threshold: 0.0 }
}

/// What happens to a fleet. It proves that nobody was lost or counted twice wherever tests run.
pub(super) fn run(fleet: &LiveFleet) -> Result<LiveRun, SetupError> {
    let run = simulate_live(fleet, Keep::default())?;
    debug_assert_eq!(run.verify(), Ok(()));
    Ok(run)
}

/// Most replicas that were asked for.
pub(super) fn most_asked(run: &LiveRun) -> f64 {
    f64::from(run.windows.iter().map(|window| window.desired).max().unwrap_or(0))
}

/// When more replicas were first asked for than at the beginning, in seconds.
pub(super) fn first_asked_s(run: &LiveRun) -> f64 {
    let first = run.windows.first().map_or(0, |window| window.desired);
    let grown = run.windows.iter().find(|window| window.desired > first);
    grown.map_or(f64::NAN, |window| window.start_s)
}

/// How often fewer replicas were asked for than a window before, from one time to another.
pub(super) fn times_down(run: &LiveRun, from_s: f64, to_s: f64) -> f64 {
    let pairs = run.windows.windows(2);
    let down = pairs.filter(|pair| {
        pair[1].desired < pair[0].desired && (from_s..to_s).contains(&pair[1].start_s)
    });
    down.count() as f64
}

/// A mean over the windows.
pub(super) fn mean_of(
    run: &LiveRun,
    of: impl Fn(&sim_core::fleet::outcome::FleetWindow) -> f64,
) -> f64 {
    run.windows.iter().map(of).sum::<f64>() / run.windows.len().max(1) as f64
}
