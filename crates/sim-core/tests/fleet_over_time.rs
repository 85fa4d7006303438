//! A fleet of engines over time: the same as one engine where it is one, and nobody lost or counted
//! twice whatever comes and goes. `PROPTEST_CASES` runs more cases.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod cases;

use std::sync::Arc;

use cases::cases;
use proptest::prelude::*;
use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Precision, RequestSource, Rules, Setup, Slo,
    StepTimeSpec, Trace, TraceRow, Workload,
    fleet::{
        autoscale::{
            fixed::Fixed,
            hpa::{Bounds, Hpa, Tolerance},
            keda::ScaledObject,
            knative::{DeciderSpec, ScaleToZero},
            schedule::Calendar,
            wva,
        },
        live::{Deferral, Fault, FleetSimulation, LiveFleet, Reliability, simulate_live},
        nodes::NodePool,
        policy::{Aggregate, Policy, Signal},
        router::Router,
        start_up::{StageTime, StartUp},
    },
    simulate,
    workload::{Arrivals, Mix, RateProfile, RequestClass, RequestLengths, SharedPrefix},
};

fn setup(rate_per_s: f64, requests: u64, seed: u64) -> Setup {
    Setup {
        workload: Workload {
            source: RequestSource::Generated {
                process: ArrivalProcess::Poisson,
                rate_per_s,
                input: LengthSpec::Uniform { min_tokens: 100, max_tokens: 1500 },
                output: LengthSpec::Uniform { min_tokens: 1, max_tokens: 400 },
            },
            requests,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 2048,
            max_num_seqs: 32,
            kv_capacity_tokens: 30_000,
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

fn fleet(setup: Setup, replicas: u32, policy: Policy) -> LiveFleet {
    LiveFleet {
        setup,
        router: Router::LeastInFlight,
        policy,
        floors: Vec::new(),
        calendar: Calendar::default(),
        start_up: StartUp::fixed(60.0),
        nodes: NodePool { initial_nodes: 20, ..NodePool::default() },
        initial_replicas: replicas,
        scrape_s: 15.0,
        counts_warming: false,
        cached_prefixes: 0,
        deferral: None,
        keeps_samples: false,
        drain_grace_s: 30.0,
        window_s: 60.0,
        patience_s: 3600.0,
        faults: Vec::new(),
        reliability: Reliability::default(),
    }
}

/// As many classes as there are weights, each with a beginning of 800 tokens of its own.
fn with_prefixes(mut setup: Setup, rate_per_s: f64, weights: &[f64]) -> Setup {
    let class = |(group, &weight): (usize, &f64)| RequestClass {
        weight,
        lengths: RequestLengths::Independent {
            input: LengthSpec::Fixed { tokens: 1000 },
            output: LengthSpec::Uniform { min_tokens: 1, max_tokens: 400 },
        },
        slo: setup.slo,
        priority: 0,
        shared_prefix: Some(SharedPrefix { group: group as u64, tokens: 800 }),
        sessions: None,
        patience: None,
    };
    let classes = weights.iter().enumerate().map(class).collect();
    let (process, profile) = (ArrivalProcess::Poisson, RateProfile::Constant);
    let arrivals = Arrivals { process, rate_per_s, bursts: None, profile };
    setup.workload.source = RequestSource::Mixed(Arc::new(Mix { arrivals, classes }));
    setup
}

fn fixed(replicas: u32) -> Policy {
    Policy::Fixed(Fixed { replicas: replicas as i32 })
}

fn hpa(target: f64) -> Policy {
    Policy::Hpa {
        hpa: Hpa::new(Bounds { min: 1, max: 12 }),
        signal: Signal::InFlight,
        target,
        tolerance: Tolerance::default(),
    }
}

/// One replica that nothing happens to is one engine, to the bit.
#[test]
fn a_fleet_of_one_is_the_engine() {
    for (rate_per_s, seed) in [(1.0, 1), (12.0, 2), (40.0, 3)] {
        let setup = setup(rate_per_s, 3000, seed);
        let keep = Keep { precision: Precision::Exact, requests: true, intervals: false };
        let alone = simulate(&setup, keep).unwrap();
        let run = simulate_live(&fleet(setup, 1, fixed(1)), keep).unwrap();
        run.verify().unwrap();
        assert_eq!(run.total.requests, alone.requests);
        assert_eq!((run.total.steps, run.total.slot_steps), (alone.steps, alone.slot_steps));
        assert_eq!(run.total.itl, alone.itl);
        assert_eq!(run.total.step_times, alone.step_times);
        assert_eq!(run.total.in_system_request_s, alone.in_system_request_s);
    }
}

#[test]
fn the_same_fleet_gives_the_same_bits() {
    let of = || {
        let mut fleet = fleet(setup(60.0, 6000, 4), 2, hpa(10.0));
        fleet.start_up.engine_start = StageTime::Lognormal { mean_s: 40.0, cv: 0.5 };
        fleet.router = Router::PowerOfTwo;
        simulate_live(&fleet, Keep::default()).unwrap()
    };
    assert_eq!(of(), of());
}

#[test]
fn an_hpa_grows_under_load_and_the_wait_for_it_is_seen() {
    let grown = |start_s| {
        let mut fleet = fleet(setup(60.0, 60_000, 5), 1, hpa(10.0));
        fleet.start_up = StartUp::fixed(start_s);
        let run = simulate_live(&fleet, Keep::default()).unwrap();
        run.verify().unwrap();
        assert!(run.peak_ready > 3, "{}", run.peak_ready);
        assert_eq!(run.total.in_flight, 0);
        run
    };
    let (quick, slow) = (grown(10.0), grown(240.0));
    assert!(slow.total.slo_share() < quick.total.slo_share());
    assert!(slow.violation_min(60.0) > quick.violation_min(60.0));
}

#[test]
fn shared_queues_and_smart_routers_beat_chance() {
    let p99 = |router| {
        let fleet = LiveFleet { router, ..fleet(setup(45.0, 20_000, 6), 4, fixed(4)) };
        let run = simulate_live(&fleet, Keep::default()).unwrap();
        run.verify().unwrap();
        run.total.ttft.percentile(99.0).unwrap()
    };
    let random = p99(Router::Random);
    for router in [Router::SharedQueue, Router::LeastInFlight, Router::PowerOfTwo, Router::LeastKv]
    {
        assert!(p99(router) < random, "{router:?}");
    }
}

/// Traffic that stops for half an hour: KEDA and Knative go to zero and pay a start for coming back.
#[test]
fn zero_replicas_make_the_first_request_wait_for_a_start() {
    let rows: Vec<TraceRow> = [0.0, 2400.0]
        .iter()
        .flat_map(|begin_s| (0..60).map(move |i| begin_s + f64::from(i)))
        .map(|arrival_s| TraceRow { arrival_s, input_tokens: 200, output_tokens: 50 })
        .collect();
    let keda = Policy::Keda {
        object: ScaledObject::default(),
        signal: Signal::InFlight,
        aggregate: Aggregate::Sum,
        threshold: 10.0,
        activation_threshold: 0.0,
    };
    let knative = Policy::Knative { decider: DeciderSpec::default(), zero: ScaleToZero::default() };
    for policy in [keda, knative] {
        let trace = Arc::new(Trace::new(rows.clone()).unwrap());
        let mut setup = setup(1.0, 120, 7);
        setup.workload.source = RequestSource::Replay { trace, speed: 1.0 };
        let run = simulate_live(&fleet(setup, 1, policy.clone()), Keep::default()).unwrap();
        run.verify().unwrap();
        let zero = run.windows.iter().filter(|window| window.replicas == [0; 4]).count();
        assert!(zero > 20, "{policy:?}: {zero} minutes");
        let longest_s = run.total.ttft.max().unwrap();
        assert!((60.0..=105.0).contains(&longest_s), "{policy:?}: {longest_s}");
        assert_eq!(run.total.completed, 120);
    }
}

#[test]
fn wva_grows_one_step_at_a_time_and_v2_at_once() {
    let peak_after = |policy, seconds: f64| {
        let run =
            simulate_live(&fleet(setup(60.0, 40_000, 8), 1, policy), Keep::default()).unwrap();
        run.verify().unwrap();
        let windows = run.windows.iter().filter(|window| window.start_s < seconds);
        windows.map(|window| window.desired).max().unwrap()
    };
    let hpa = Hpa::new(Bounds { min: 1, max: 12 });
    let v1 = Policy::WvaV1 { config: wva::SaturationConfig::default(), hpa: hpa.clone() };
    let limits = wva::EngineLimits { max_batched_tokens: 2048, max_num_seqs: 32 };
    let v2 = Policy::WvaV2 { config: wva::TokenConfig::default(), limits, hpa };
    // One replica a minute, from the first minute on: after two minutes, and after five.
    assert!((2..=3).contains(&peak_after(v1.clone(), 90.0)));
    assert!((4..=6).contains(&peak_after(v1, 300.0)));
    assert!(peak_after(v2, 90.0) > 3);
}

/// Under a router that throws dice one replica is far fuller than the mean says.
#[test]
fn the_greatest_sees_a_hot_spot_that_the_mean_hides() {
    let peak = |aggregate| {
        let policy = Policy::Keda {
            object: ScaledObject { min_replicas: 3, max_replicas: 12, ..ScaledObject::default() },
            signal: Signal::KvUsage,
            aggregate,
            threshold: 45.0,
            activation_threshold: 0.0,
        };
        let fleet =
            LiveFleet { router: Router::Random, ..fleet(setup(30.0, 20_000, 10), 3, policy) };
        let run = simulate_live(&fleet, Keep::default()).unwrap();
        run.verify().unwrap();
        run.windows.iter().map(|window| window.desired).max().unwrap()
    };
    assert!(peak(Aggregate::Max) > peak(Aggregate::Mean));
}

/// What is looked at in slices is the same as what runs in one.
#[test]
fn a_run_in_slices_is_the_run() {
    let fleet = fleet(setup(60.0, 6000, 11), 2, hpa(10.0));
    let whole = simulate_live(&fleet, Keep::default()).unwrap();
    let mut by_events = FleetSimulation::new(fleet.clone(), Keep::default()).unwrap();
    let mut slices = 0;
    while by_events.advance(1000) {
        slices += 1;
        let (offered, total) = by_events.offered_of();
        assert!(offered <= total && total == 6000);
    }
    assert!(slices > 5, "{slices}");
    assert_eq!(by_events.finish(), whole);
    let mut by_time = FleetSimulation::new(fleet, Keep::default()).unwrap();
    let mut until_s = 0.0;
    while by_time.advance_until(until_s) {
        assert!(by_time.now_s() > until_s);
        until_s += 7.0;
    }
    assert_eq!(by_time.finish(), whole);
}

/// Twice as many replicas under twice the traffic: twice the events, and not four times.
#[test]
fn events_grow_with_the_traffic_and_not_with_its_square() {
    let events = |replicas: u32| {
        let rate_per_s = 12.0 * f64::from(replicas);
        let setup = setup(rate_per_s, u64::from(replicas) * 600, 12);
        let mut fleet = fleet(setup, replicas, fixed(replicas));
        fleet.nodes.initial_nodes = replicas;
        simulate_live(&fleet, Keep::default()).unwrap().events as f64
    };
    let (eight, sixty_four) = (events(8), events(64));
    assert!((7.2..8.8).contains(&(sixty_four / eight)), "{eight} {sixty_four}");
}

/// Nothing gets a token while everything hangs, and nobody is lost for it.
#[test]
fn a_stall_is_as_long_as_it_is() {
    let mut fleet = fleet(setup(12.0, 4000, 13), 1, fixed(1));
    let calm = simulate_live(&fleet, Keep::default()).unwrap();
    fleet.faults = vec![(100.25, Fault::Stall(5.0))];
    let stalled = simulate_live(&fleet, Keep::default()).unwrap();
    stalled.verify().unwrap();
    let longest = |run: &sim_core::fleet::outcome::LiveRun| run.total.itl.max().unwrap();
    assert!(longest(&calm) < 0.2);
    assert!((5.0..5.2).contains(&longest(&stalled)), "{}", longest(&stalled));
    assert_eq!(stalled.total.completed, 4000);
    assert_eq!(calm.total.output_tokens, stalled.total.output_tokens);
}

#[test]
fn a_surge_brings_more_requests_for_its_time() {
    let mut fleet = fleet(setup(10.0, 12_000, 14), 2, fixed(2));
    fleet.faults = vec![(300.0, Fault::Surge { factor: 3.0, for_s: 120.0 })];
    let run = simulate_live(&fleet, Keep::default()).unwrap();
    run.verify().unwrap();
    let offered = |minute: usize| run.windows[minute].offered as f64;
    // Four standard deviations of a Poisson count.
    for (minute, mean) in [(3, 600.0), (4, 600.0), (5, 1800.0), (6, 1800.0), (7, 600.0)] {
        let found = offered(minute);
        assert!((found - mean).abs() < 4.0 * mean.sqrt(), "{minute}: {found}");
    }
}

#[test]
fn starts_are_slow_while_the_fault_lasts() {
    let grown_s = |fault: Vec<(f64, Fault)>| {
        let mut fleet = fleet(setup(60.0, 30_000, 5), 1, hpa(10.0));
        fleet.faults = fault;
        let run = simulate_live(&fleet, Keep::default()).unwrap();
        run.verify().unwrap();
        run.windows.iter().find(|window| window.replicas[2] > 2).unwrap().start_s
    };
    let slow = Fault::SlowStart { factor: 4.0, for_s: 100.0 };
    let late_s = grown_s(vec![(0.0, slow)]) - grown_s(Vec::new());
    // Three more times the minute that a start takes.
    assert!((120.0..=240.0).contains(&late_s), "{late_s}");
}

/// Replicas that know a beginning compute a fifth of the prompt, and a router that sends it to them
/// spares more of it; but what one beginning is asked for goes to one replica.
#[test]
fn affinity_finds_the_cache_and_makes_hot_spots() {
    let of = |router, weights: &[f64], cached_prefixes| {
        let setup = with_prefixes(setup(1.0, 8000, 15), 30.0, weights);
        let mut fleet = LiveFleet { router, cached_prefixes, ..fleet(setup, 4, fixed(4)) };
        fleet.window_s = 30.0;
        let run = simulate_live(&fleet, Keep::default()).unwrap();
        run.verify().unwrap();
        run
    };
    // More beginnings than a replica keeps: spread, they push one another out.
    let many = [1.0; 16];
    let cached = |router| of(router, &many, 4).total.cached_tokens;
    assert!(cached(Router::PrefixAffinity) > 2 * cached(Router::LeastInFlight));
    assert_eq!(of(Router::PrefixAffinity, &many, 0).total.cached_tokens, 0);
    let skewed = [20.0, 1.0, 1.0, 1.0, 1.0];
    let hot = of(Router::PrefixAffinity, &skewed, 4);
    let even = of(Router::LeastInFlight, &skewed, 4);
    let spread = |run: &sim_core::fleet::outcome::LiveRun| {
        let gap =
            |window: &sim_core::fleet::outcome::FleetWindow| window.kv_usage.1 - window.kv_usage.0;
        run.windows.iter().map(gap).sum::<f64>() / run.windows.len() as f64
    };
    assert!(spread(&hot) > 3.0 * spread(&even), "{} {}", spread(&hot), spread(&even));
    assert!(hot.total.slo_share() < even.total.slo_share());
}

/// What waits for an adapter's place is in the queue, and no replica helps it.
#[test]
fn deferred_requests_wait_for_one_another() {
    let mut setup = with_prefixes(setup(1.0, 6000, 16), 20.0, &[3.0, 1.0]);
    setup.slo.ttft_s = 1.0;
    let mut fleet = fleet(setup, 3, fixed(3));
    fleet.deferral = Some(Deferral { class: 1, at_once: 4 });
    let run = simulate_live(&fleet, Keep::default()).unwrap();
    run.verify().unwrap();
    assert_eq!(run.total.completed, 6000);
    let deferred = |window: &sim_core::fleet::outcome::FleetWindow| window.deferred;
    assert!(run.windows.iter().map(deferred).max() > Some(20));
    let share = |class: usize| run.total.classes[class].slo_share();
    assert!(share(0) > 0.99 && share(1) < 0.5, "{} {}", share(0), share(1));
}

/// Costs of iterations learned from latencies: a fleet under a fourfold load becomes larger, and comes
/// back to its target.
#[test]
fn a_queueing_model_sizes_the_fleet_for_its_targets() {
    let policy = Policy::WvaQueueing {
        targets: Some(wva::Targets { ttft_ms: 300.0, itl_ms: 15.0, tokens_per_s: 0.0 }),
        multiplier: 3.0,
        max_batch: 32,
        hpa: Hpa::new(Bounds { min: 1, max: 12 }),
    };
    let mut setup = with_prefixes(setup(1.0, 40_000, 17), 10.0, &[1.0]);
    if let RequestSource::Mixed(mix) = &mut setup.workload.source {
        Arc::make_mut(mix).arrivals.profile = RateProfile::step(300.0, 4.0);
    }
    let run = simulate_live(&fleet(setup, 2, policy), Keep::default()).unwrap();
    run.verify().unwrap();
    let desired = |minute: usize| run.windows[minute].desired;
    assert!(desired(4) < desired(10), "{} {}", desired(4), desired(10));
    let last = &run.windows[run.windows.len() - 4];
    assert!(last.slo_met as f64 > 0.99 * last.served as f64, "{last:?}");
}

/// A wave every twenty minutes: once it has seen one, the fleet is there before the next.
#[test]
fn a_season_that_was_seen_is_met_in_time() {
    let points = [(0.0, 1.0), (600.0, 1.0), (600.0, 6.0), (1200.0, 6.0)];
    let points =
        points.map(|(time_s, factor)| sim_core::workload::RatePoint { time_s, factor }).to_vec();
    let mut setup = with_prefixes(setup(1.0, 120_000, 18), 8.0, &[1.0]);
    if let RequestSource::Mixed(mix) = &mut setup.workload.source {
        let profile = RateProfile::Periodic { points, period_s: 1200.0 };
        Arc::make_mut(mix).arrivals.profile = profile;
    }
    let policy = Policy::Seasonal {
        bounds: Bounds { min: 1, max: 12 },
        signal: Signal::RequestRate,
        per_replica: 8.0,
        season_s: 1200.0,
        sample_s: 60.0,
        ahead_s: 120.0,
    };
    let mut fleet = fleet(setup, 1, policy);
    fleet.start_up = StartUp::fixed(120.0);
    let run = simulate_live(&fleet, Keep::default()).unwrap();
    run.verify().unwrap();
    let missed = |season: usize| {
        let windows = run.windows[20 * season..20 * (season + 1)].iter();
        windows.map(|window| window.served - window.slo_met).sum::<u64>()
    };
    assert!(missed(0) > 1000, "{}", missed(0));
    assert!(missed(2) * 20 < missed(0), "{} {}", missed(2), missed(0));
}

/// Four replicas that last five minutes each, for an hour: their breakdowns, give or take four standard
/// deviations. Each replica's time is its own: with one more from the beginning the others break down
/// when they did.
#[test]
fn replicas_last_as_long_as_they_do() {
    let of = |replicas: u32| {
        let mut fleet = fleet(setup(12.0, 43_200, 20), replicas, fixed(replicas));
        fleet.reliability.replica_mtbf_s = 300.0;
        let run = simulate_live(&fleet, Keep::default()).unwrap();
        run.verify().unwrap();
        run
    };
    let run = of(4);
    let count = run.faults.len() as f64;
    // Half a sync and a minute of starting after each, so that there is one every 367.5 s.
    let mean = 4.0 * 3600.0 / 367.5;
    assert!((count - mean).abs() < 4.0 * f64::sqrt(mean), "{count}");
    assert_eq!(run.faults_restarted.iter().sum::<u64>(), run.restarted);
    let of_first = |run: &sim_core::fleet::outcome::LiveRun| -> Vec<(f64, Fault)> {
        let firsts = run.faults.iter().copied();
        firsts.filter(|(_, what)| matches!(what, Fault::ReplicaBreakdown(0..4))).collect()
    };
    assert_eq!(of_first(&run).len(), 4);
    assert_eq!(of_first(&run), of_first(&of(5)));
}

#[test]
fn a_node_takes_its_replicas_along() {
    let mut fleet = fleet(setup(12.0, 20_000, 21), 4, fixed(4));
    fleet.nodes.gpus_per_node = 4;
    fleet.nodes.initial_nodes = 3;
    fleet.reliability.node_mtbf_s = 400.0;
    let run = simulate_live(&fleet, Keep::default()).unwrap();
    run.verify().unwrap();
    assert!(run.faults.iter().all(|(_, what)| matches!(what, Fault::NodeBreakdown(_))));
    let hit = run.windows.iter().filter(|window| window.replicas[2] == 0).count();
    assert!(!run.faults.is_empty() && hit > 0, "{:?}", run.faults);
    let after = run.aftermath(0).unwrap();
    assert!(after.restarted > 0 && after.served > 0 && after.slo_met < after.served, "{after:?}");
    assert!(run.aftermath(run.faults.len()).is_none());
}

#[test]
fn a_metric_outage_freezes_an_hpa() {
    let mut fleet = fleet(setup(60.0, 30_000, 9), 1, hpa(10.0));
    fleet.faults = vec![(0.0, Fault::MetricOutage(300.0))];
    let run = simulate_live(&fleet, Keep::default()).unwrap();
    let desired_at = |minute: usize| run.windows[minute].desired;
    assert_eq!(desired_at(3), 1);
    assert!(desired_at(6) > 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_000), ..ProptestConfig::default() })]

    /// Nobody is lost or counted twice, whatever comes and goes.
    #[test]
    fn requests_are_kept_through_scaling_and_faults(
        rate_per_s in 1.0_f64..80.0,
        requests in 1_u64..2500,
        seed in 0_u64..1000,
        replicas in 0_u32..4,
        which in 0_usize..7,
        scaler in 0_usize..6,
        start_s in 0.0_f64..120.0,
        cached_prefixes in 0_usize..4,
        deferred_at_once in 0_u64..12,
        faults in prop::collection::vec((0.0_f64..200.0, 0_u8..6), 0..5),
        mtbf_s in 20.0_f64..2000.0,
    ) {
        let router = [
            Router::SharedQueue,
            Router::RoundRobin,
            Router::Random,
            Router::LeastInFlight,
            Router::PowerOfTwo,
            Router::LeastKv,
            Router::PrefixAffinity,
        ][which];
        let policy = match scaler {
            0 => hpa(8.0),
            3 => Policy::WvaQueueing {
                targets: None,
                multiplier: 3.0,
                max_batch: 32,
                hpa: Hpa::new(Bounds { min: 1, max: 8 }),
            },
            4 => Policy::Seasonal {
                bounds: Bounds { min: 0, max: 8 },
                signal: Signal::InFlight,
                per_replica: 8.0,
                season_s: 300.0,
                sample_s: 30.0,
                ahead_s: start_s,
            },
            5 => Policy::WvaV2 {
                config: wva::TokenConfig::default(),
                limits: wva::EngineLimits { max_batched_tokens: 2048, max_num_seqs: 32 },
                hpa: Hpa::new(Bounds { min: 1, max: 8 }),
            },
            1 => Policy::Knative {
                decider: DeciderSpec { target: 10.0, total: 14.0, ..DeciderSpec::default() },
                zero: ScaleToZero { max_scale: 8, ..ScaleToZero::default() },
            },
            _ => Policy::Keda {
                object: ScaledObject { max_replicas: 8, cooldown_s: 30.0, ..ScaledObject::default() },
                signal: Signal::InFlight,
                aggregate: Aggregate::Sum,
                threshold: 8.0,
                activation_threshold: 0.0,
            },
        };
        let mut setup = setup(rate_per_s, requests, seed);
        if which % 2 == 0 {
            setup = with_prefixes(setup, rate_per_s, &[4.0, 2.0, 1.0]);
        }
        let mut fleet = fleet(setup, replicas, policy);
        fleet.router = router;
        fleet.cached_prefixes = cached_prefixes;
        fleet.deferral =
            (deferred_at_once > 0).then_some(Deferral { class: 1, at_once: deferred_at_once });
        fleet.start_up.engine_start = StageTime::Lognormal { mean_s: start_s, cv: 0.4 };
        fleet.drain_grace_s = 5.0;
        let mut faults: Vec<(f64, Fault)> = faults
            .into_iter()
            .map(|(at_s, kind)| (at_s, match kind {
                0 => Fault::ReplicaLoss,
                1 => Fault::NodeLoss,
                2 => Fault::MetricOutage(40.0),
                3 => Fault::Stall(at_s / 40.0),
                4 => Fault::SlowStart { factor: 3.0, for_s: 60.0 },
                _ => Fault::Surge { factor: 2.5, for_s: 20.0 },
            }))
            .collect();
        faults.sort_by(|a, b| a.0.total_cmp(&b.0));
        fleet.faults = faults;
        fleet.reliability = Reliability { replica_mtbf_s: mtbf_s, node_mtbf_s: 2.0 * mtbf_s };
        let run = simulate_live(&fleet, Keep { precision: Precision::default(), requests: true, intervals: false }).unwrap();
        prop_assert_eq!(run.verify(), Ok(()));
        prop_assert_eq!(run.total.offered, requests);
        // Everybody who is told of is somebody else.
        let mut seen: Vec<(u64, u64)> = run
            .total
            .requests
            .iter()
            .flatten()
            .map(|record| (record.arrival_s.to_bits(), record.finish_s.to_bits()))
            .collect();
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len(), count);
        for window in &run.windows {
            prop_assert!(window.kv_usage.1 <= 1.0 && window.kv_usage.0 <= window.kv_usage.1);
            prop_assert!(window.deferred <= window.waiting);
        }
    }
}
