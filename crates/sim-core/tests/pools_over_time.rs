//! Prefill and decode pools over time: the pools that stand still where nothing moves, and nobody lost
//! or counted twice whatever comes and goes. `PROPTEST_CASES` runs more cases.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod cases;

use cases::cases;
use proptest::prelude::*;
use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Precision, RequestSource, Rules, Setup, Slo,
    StepTimeSpec, Workload,
    fleet::{
        Disaggregated, Link,
        autoscale::{
            fixed::Fixed,
            hpa::{Bounds, Hpa, Tolerance},
            schedule::Calendar,
        },
        live::{Fault, LiveFleet, Reliability},
        nodes::NodePool,
        policy::{Policy, Signal},
        pooled::{PooledFleet, PooledRun, PooledSimulation, Scaling, simulate_pooled},
        router::Router,
        start_up::StartUp,
    },
};

const LINK: Link = Link { bytes_per_s: 5e9, latency_s: 0.002, kv_bytes_per_token: 131_072.0 };

fn setup(rate_per_s: f64, requests: u64, seed: u64) -> Setup {
    Setup {
        workload: Workload {
            source: RequestSource::Generated {
                process: ArrivalProcess::Poisson,
                rate_per_s,
                input: LengthSpec::Uniform { min_tokens: 100, max_tokens: 3000 },
                output: LengthSpec::Uniform { min_tokens: 1, max_tokens: 200 },
            },
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
        slo: Slo { ttft_s: 1.0, tpot_s: 0.05, share: 0.99 },
        seed,
    }
}

fn pool(setup: Setup, replicas: u32, policy: Policy) -> LiveFleet {
    LiveFleet {
        setup,
        router: Router::RoundRobin,
        policy,
        floors: Vec::new(),
        calendar: Calendar::default(),
        start_up: StartUp::fixed(20.0),
        nodes: NodePool { initial_nodes: 12, ..NodePool::default() },
        initial_replicas: replicas,
        scrape_s: 5.0,
        counts_warming: false,
        cached_prefixes: 0,
        deferral: None,
        keeps_samples: false,
        drain_grace_s: 5.0,
        window_s: 10.0,
        patience_s: 3600.0,
        faults: Vec::new(),
        reliability: Reliability::default(),
    }
}

fn fixed(replicas: i32) -> Policy {
    Policy::Fixed(Fixed { replicas })
}

fn hpa(signal: Signal, target: f64) -> Policy {
    let mut hpa = Hpa::new(Bounds { min: 1, max: 8 });
    if let Some(behaviour) = &mut hpa.behaviour {
        behaviour.down.stabilization_s = 30.0;
    }
    Policy::Hpa { hpa, signal, target, tolerance: Tolerance::default() }
}

fn pools(setup: &Setup, prefill: (u32, Policy), decode: (u32, Policy)) -> PooledFleet {
    PooledFleet {
        prefill: pool(setup.clone(), prefill.0, prefill.1),
        decode: pool(setup.clone(), decode.0, decode.1),
        link: LINK,
        scaling: Scaling::Apart,
    }
}

fn verified(fleet: &PooledFleet) -> PooledRun {
    let run = simulate_pooled(fleet, Keep::default()).expect("a valid fleet");
    for part in [&run.users, &run.prefill, &run.decode] {
        assert_eq!(part.verify(), Ok(()));
    }
    run
}

/// Pools that nothing happens to are the pools that stand still, whose two halves are simulated one
/// after the other by another engine; clocks add up in another order. Reading the cache costs nothing
/// here: the first decode step of a request reads one token more there, which counts as generated
/// already, where here it is being computed.
#[test]
fn pools_that_stand_still_are_disaggregated_engines() {
    for (rate_per_s, seed) in [(2.0, 1), (10.0, 2), (25.0, 3)] {
        let mut setup = setup(rate_per_s, 2000, seed);
        if let StepTimeSpec::Roofline { kv_bytes_per_token, .. } = &mut setup.step_time {
            *kv_bytes_per_token = 0.0;
        }
        let (still, live) = both(&setup);
        let pairs =
            still.total.requests.iter().flatten().zip(live.users.total.requests.iter().flatten());
        let mut compared = 0;
        for (one, other) in pairs {
            assert!((one.first_token_s - other.first_token_s).abs() < 1e-9, "{one:?} {other:?}");
            assert!((one.finish_s - other.finish_s).abs() < 1e-9, "{one:?} {other:?}");
            compared += 1;
        }
        assert_eq!(compared, 2000);
        assert_eq!(live.transfers.times.count(), still.transfers.times.count());
        assert!((live.transfers.bytes - still.transfers.bytes).abs() < 1.0);
        let itl = |run: &sim_core::Run| (run.itl.count(), run.itl.mean().expect("gaps"));
        let (a, b) = (itl(&still.total), itl(&live.users.total));
        assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-9, "{a:?} {b:?}");
    }
}

/// That token is the whole difference where reading the cache takes its time: 131 kB at 3.35 TB/s for
/// each request that joins, among some hundred steps of milliseconds.
#[test]
fn one_token_of_context_is_the_difference() {
    let (still, live) = both(&setup(10.0, 2000, 2));
    let mean = |run: &sim_core::Run| run.tpot.mean().expect("answers");
    let (a, b) = (mean(&still.total), mean(&live.users.total));
    assert!((a - b).abs() < 1e-3 * a, "{a} {b}");
}

fn both(setup: &Setup) -> (sim_core::fleet::DisaggregatedRun, PooledRun) {
    let keep = Keep { precision: Precision::Exact, requests: true, intervals: false };
    let still = Disaggregated::new(setup, (2, 3), LINK).expect("pools").simulate(keep);
    let fleet = pools(setup, (2, fixed(2)), (3, fixed(3)));
    let live = simulate_pooled(&fleet, keep).expect("a valid fleet");
    assert_eq!(live.users.verify(), Ok(()));
    (still, live)
}

#[test]
fn each_pool_grows_for_what_it_lacks() {
    let grown = |input, output| {
        let mut setup = setup(20.0, 8000, 5);
        if let RequestSource::Generated { input: i, output: o, .. } = &mut setup.workload.source {
            (*i, *o) = (LengthSpec::Fixed { tokens: input }, LengthSpec::Fixed { tokens: output });
        }
        let prefill = hpa(Signal::InFlight, 3.0);
        let decode = hpa(Signal::Running, 20.0);
        verified(&pools(&setup, (1, prefill), (1, decode)))
    };
    let prompts = grown(3000, 20);
    assert!(prompts.prefill.peak_ready > prompts.decode.peak_ready);
    let answers = grown(200, 400);
    assert!(answers.prefill.peak_ready < answers.decode.peak_ready);
    assert_eq!(prompts.users.total.completed, 8000);
    let hours = prompts.prefill.held_gpu_hours() + prompts.decode.held_gpu_hours();
    assert!((prompts.users.held_gpu_hours() - hours).abs() < 1e-12);
}

#[test]
fn pools_scaled_as_one_stay_in_proportion() {
    let setup = setup(20.0, 6000, 6);
    let mut fleet = pools(&setup, (1, hpa(Signal::InFlight, 3.0)), (2, fixed(2)));
    fleet.scaling = Scaling::AsOne { by_prefill: true, unit: (1, 2) };
    let run = verified(&fleet);
    assert!(run.prefill.peak_ready > 1);
    for (prefill, decode) in run.prefill.windows.iter().zip(&run.decode.windows) {
        assert_eq!(2 * prefill.desired, decode.desired, "at {}", prefill.start_s);
    }
}

/// What a decode replica holds of a conversation is gone with it: prompts are computed again.
#[test]
fn a_lost_decode_replica_sends_its_requests_back() {
    let setup = setup(10.0, 2000, 7);
    let mut fleet = pools(&setup, (2, fixed(2)), (2, fixed(2)));
    fleet.decode.faults = vec![(60.0, Fault::ReplicaLoss)];
    let run = verified(&fleet);
    assert!(run.decode.returned > 0);
    assert_eq!(run.users.restarted, run.decode.returned);
    assert_eq!(run.prefill.total.offered, 2000 + run.decode.returned);
    assert_eq!(run.users.total.completed, 2000);
    assert_eq!(run.users.faults, [(60.0, Fault::ReplicaLoss)]);
}

/// A link of a tenth of the speed makes the caches of a full prefill replica wait for it.
#[test]
fn a_slow_link_is_a_queue() {
    let setup = setup(8.0, 1000, 8);
    let mut fleet = pools(&setup, (1, fixed(1)), (2, fixed(2)));
    let quick = verified(&fleet);
    fleet.link.bytes_per_s = 1.3e9;
    let slow = verified(&fleet);
    let wait = |run: &PooledRun| run.transfers.waits.percentile(90.0).expect("transfers");
    assert!(wait(&slow) > 0.1 && wait(&quick) < 0.1, "{} {}", wait(&slow), wait(&quick));
    let itl = |run: &PooledRun| run.users.total.itl.max().expect("gaps");
    assert!(itl(&slow) > itl(&quick));
}

#[test]
fn pools_in_slices_are_the_pools() {
    let setup = setup(15.0, 1500, 9);
    let fleet = pools(&setup, (1, hpa(Signal::InFlight, 4.0)), (1, hpa(Signal::KvUsage, 60.0)));
    let whole = verified(&fleet);
    let mut sliced = PooledSimulation::new(fleet, Keep::default()).expect("a valid fleet");
    while sliced.advance(97) {}
    assert_eq!(sliced.finish(), whole);
}

#[test]
fn impossible_pools_are_named() {
    let setup = setup(15.0, 10, 9);
    let good = pools(&setup, (1, fixed(1)), (1, fixed(1)));
    let refusal = |change: fn(&mut PooledFleet)| {
        let mut fleet = good.clone();
        change(&mut fleet);
        fleet.check().expect_err("a refusal").to_string()
    };
    assert!(refusal(|fleet| fleet.link.bytes_per_s = 0.0).starts_with("link.bandwidth is 0"));
    assert!(refusal(|fleet| fleet.decode.window_s = 7.0).starts_with("decode.window is 7"));
    assert!(refusal(|fleet| fleet.decode.setup.engine.max_num_seqs = 7).contains("decode.engine"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), ..ProptestConfig::default() })]

    /// Nobody is lost or counted twice, whatever comes and goes in either pool.
    #[test]
    fn requests_are_kept_through_both_pools(
        rate_per_s in 1.0_f64..40.0,
        requests in 1_u64..800,
        seed in 0_u64..1000,
        firsts in (0_u32..4, 0_u32..4),
        targets in (1.0_f64..8.0, 2.0_f64..30.0),
        lead in 0_u8..3,
        gbps in 0.05_f64..50.0,
        mtbf_s in 20.0_f64..400.0,
        faults in prop::collection::vec((0.0_f64..80.0, 0_u8..4), 0..5),
    ) {
        let setup = setup(rate_per_s, requests, seed);
        let mut fleet = pools(
            &setup,
            (firsts.0, hpa(Signal::InFlight, targets.0)),
            (firsts.1.max(1), hpa(Signal::Running, targets.1)),
        );
        // An HPA does not come back from nothing.
        fleet.prefill.initial_replicas = firsts.0.max(1);
        fleet.link.bytes_per_s = gbps * 1e9;
        fleet.scaling = match lead {
            0 => Scaling::Apart,
            lead => Scaling::AsOne { by_prefill: lead == 1, unit: (1, 2) },
        };
        fleet.decode.reliability.replica_mtbf_s = mtbf_s;
        fleet.prefill.reliability.node_mtbf_s = mtbf_s;
        fleet.prefill.patience_s = 600.0;
        let mut faults: Vec<(f64, Fault)> = faults
            .into_iter()
            .map(|(at_s, kind)| (at_s, match kind {
                0 => Fault::ReplicaLoss,
                1 => Fault::NodeLoss,
                2 => Fault::Stall(3.0),
                _ => Fault::MetricOutage(20.0),
            }))
            .collect();
        faults.sort_by(|a, b| a.0.total_cmp(&b.0));
        fleet.prefill.faults = faults.clone();
        fleet.decode.faults = faults;
        let keep = Keep { requests: true, ..Keep::default() };
        let run = simulate_pooled(&fleet, keep).expect("a valid fleet");
        prop_assert_eq!(run.users.verify(), Ok(()));
        prop_assert_eq!(run.prefill.verify(), Ok(()));
        prop_assert_eq!(run.decode.verify(), Ok(()));
        prop_assert_eq!(run.users.total.offered, requests);
        prop_assert_eq!(run.prefill.windows.len(), run.users.windows.len());
        prop_assert_eq!(run.decode.windows.len(), run.users.windows.len());
    }
}
