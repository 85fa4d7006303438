//! Several models on one quota of GPUs: it is never exceeded, the important ones get what they need,
//! and nobody's request is lost or counted twice when GPUs are taken. `PROPTEST_CASES` runs more cases.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod cases;

use std::sync::Arc;

use cases::cases;
use proptest::prelude::*;
use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, RequestSource, Rules, Setup, Slo, StepTimeSpec,
    Workload,
    fleet::{
        autoscale::{
            hpa::{Bounds, Hpa, Tolerance},
            schedule::Calendar,
        },
        live::{Fault, LiveFleet, Reliability, simulate_live},
        nodes::NodePool,
        policy::{Policy, Signal},
        router::Router,
        shared::{Reclaim, SharedFleet, SharedRun, SharedSimulation, Tenant, simulate_shared},
        start_up::{StageTime, StartUp},
    },
    workload::{Arrivals, Mix, RateProfile, RequestClass, RequestLengths},
};

const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 0.05, share: 0.99 };

fn setup(rate_per_s: f64, requests: u64, profile: RateProfile, seed: u64) -> Setup {
    let class = RequestClass {
        weight: 1.0,
        lengths: RequestLengths::Independent {
            input: LengthSpec::Fixed { tokens: 800 },
            output: LengthSpec::Uniform { min_tokens: 1, max_tokens: 300 },
        },
        slo: SLO,
        priority: 0,
        shared_prefix: None,
        sessions: None,
        patience: None,
    };
    let process = ArrivalProcess::Poisson;
    let arrivals = Arrivals { process, rate_per_s, bursts: None, profile };
    let source = RequestSource::Mixed(Arc::new(Mix { arrivals, classes: vec![class] }));
    Setup {
        workload: Workload { source, requests },
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
        slo: SLO,
        seed,
    }
}

/// A model that asks for replicas by its requests in flight, on nodes of so many GPUs.
fn fleet(setup: Setup, first: u32, (min, max): (i32, i32), gpus: u32) -> LiveFleet {
    let mut hpa = Hpa::new(Bounds { min, max });
    if let Some(behaviour) = &mut hpa.behaviour {
        behaviour.down.stabilization_s = 60.0;
    }
    let tolerance = Tolerance::default();
    LiveFleet {
        setup,
        router: Router::LeastInFlight,
        policy: Policy::Hpa { hpa, signal: Signal::InFlight, target: 8.0, tolerance },
        floors: Vec::new(),
        calendar: Calendar::default(),
        start_up: StartUp::fixed(20.0),
        nodes: NodePool {
            gpus_per_node: gpus,
            gpus_per_replica: gpus,
            initial_nodes: first,
            max_nodes: max.unsigned_abs(),
            ..NodePool::default()
        },
        initial_replicas: first,
        scrape_s: 5.0,
        counts_warming: false,
        cached_prefixes: 0,
        deferral: None,
        keeps_samples: false,
        drain_grace_s: 10.0,
        window_s: 10.0,
        patience_s: 1200.0,
        faults: Vec::new(),
        reliability: Reliability::default(),
    }
}

fn shared(quota_gpus: u32, reclaim: Reclaim, tenants: Vec<(LiveFleet, i32)>) -> SharedFleet {
    let tenants = tenants.into_iter().map(|(fleet, priority)| Tenant { fleet, priority }).collect();
    SharedFleet { tenants, quota_gpus, reclaim }
}

/// Runs to the end; at every moment the quota is kept.
fn watched(fleet: &SharedFleet) -> SharedRun {
    let mut simulation = SharedSimulation::new(fleet, Keep::default()).expect("a valid fleet");
    let mut most = simulation.used_gpus();
    while simulation.advance(1) {
        let used = simulation.used_gpus();
        assert!(used <= fleet.quota_gpus, "{used} GPUs at {}", simulation.now_s());
        most = most.max(used);
    }
    let run = simulation.finish();
    assert_eq!(run.peak_gpus, most);
    for run in &run.runs {
        assert_eq!(run.verify(), Ok(()));
    }
    run
}

/// A steady model of little importance on all GPUs, and an important one with a burst.
fn rivals(reclaim: Reclaim, priorities: (i32, i32)) -> SharedFleet {
    let burst = setup(6.0, 12_000, RateProfile::spike(200.0, 300.0, 8.0), 1);
    let steady = setup(40.0, 30_000, RateProfile::Constant, 2);
    shared(
        8,
        reclaim,
        vec![
            (fleet(burst, 1, (1, 8), 1), priorities.0),
            (fleet(steady, 6, (5, 8), 1), priorities.1),
        ],
    )
}

#[test]
fn a_model_alone_is_a_fleet() {
    let setup = setup(30.0, 6000, RateProfile::Constant, 3);
    let alone = fleet(setup, 2, (1, 6), 2);
    let run = simulate_live(&alone, Keep::default()).expect("a valid fleet");
    let shared = simulate_shared(&shared(12, Reclaim::Drain, vec![(alone, 0)]), Keep::default());
    let shared = shared.expect("a valid fleet");
    assert_eq!(shared.runs[0].total, run.total);
    assert_eq!(shared.runs[0].decided, run.decided);
    assert_eq!(shared.reclaimed, [0]);
}

#[test]
fn the_more_important_model_takes_what_it_needs() {
    for reclaim in [Reclaim::Drain, Reclaim::Kill] {
        let run = watched(&rivals(reclaim, (10, 1)));
        let equal = watched(&rivals(reclaim, (1, 1)));
        assert!(run.reclaimed[1] > 0 && run.reclaimed[0] == 0, "{:?}", run.reclaimed);
        assert_eq!(equal.reclaimed, [0, 0], "equals take nothing");
        let share = |run: &SharedRun, at: usize| run.runs[at].total.slo_share();
        assert!(share(&run, 0) > share(&equal, 0) + 0.1, "{} {}", share(&run, 0), share(&equal, 0));
        assert!(share(&run, 1) < share(&equal, 1));
        // What was killed begins again, and a drain of ten seconds is enough for all.
        assert_eq!(run.runs[1].restarted > 0, reclaim == Reclaim::Kill);
        assert_eq!(run.runs[1].total.completed, 30_000);
        assert_eq!(run.peak_gpus, 8);
    }
}

/// When the burst is over the less important model has its replicas again.
#[test]
fn what_was_taken_comes_back() {
    let run = watched(&rivals(Reclaim::Drain, (10, 1)));
    let ready = |at_s: f64| {
        let windows = &run.runs[1].windows;
        windows.iter().rfind(|window| window.start_s <= at_s).expect("a window").replicas[2]
    };
    assert!(ready(190.0) >= 5 && ready(400.0) < 5, "{} {}", ready(190.0), ready(400.0));
    assert!(ready(720.0) >= 5, "{}", ready(720.0));
}

#[test]
fn shared_fleets_in_slices_are_the_fleets() {
    let fleet = rivals(Reclaim::Drain, (10, 1));
    let whole = simulate_shared(&fleet, Keep::default()).expect("a valid fleet");
    let mut sliced = SharedSimulation::new(&fleet, Keep::default()).expect("a valid fleet");
    while sliced.advance(101) {}
    assert_eq!(sliced.finish(), whole);
}

#[test]
fn impossible_shares_are_named() {
    let one = || fleet(setup(1.0, 10, RateProfile::Constant, 1), 3, (1, 4), 2);
    let refusal = shared(5, Reclaim::Drain, vec![(one(), 0)]).check().expect_err("a refusal");
    assert!(refusal.to_string().starts_with("quota_gpus is 5"), "{refusal}");
    let mut large = one();
    large.nodes.gpus_per_node = 8;
    let refusal = shared(50, Reclaim::Drain, vec![(large, 0)]).check().expect_err("a refusal");
    assert!(refusal.to_string().starts_with("nodes.gpus_per_node is 8"), "{refusal}");
}

#[derive(Clone, Debug)]
struct Model {
    rate_per_s: f64,
    factor: f64,
    requests: u64,
    first: u32,
    gpus: u32,
    priority: i32,
    mtbf_s: f64,
    provision_s: f64,
    warm: u32,
}

fn model() -> impl Strategy<Value = Model> {
    (
        (1.0_f64..40.0, 1.0_f64..6.0, 1_u64..1200),
        (0_u32..3, 1_u32..5, 0_i32..3),
        (30.0_f64..600.0, 0.0_f64..60.0, 0_u32..2),
    )
        .prop_map(|((rate_per_s, factor, requests), (first, gpus, priority), rest)| Model {
            rate_per_s,
            factor,
            requests,
            first,
            gpus,
            priority,
            mtbf_s: rest.0,
            provision_s: rest.1,
            warm: rest.2,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), ..ProptestConfig::default() })]

    /// The quota is kept at every moment, and every request is somewhere.
    #[test]
    fn quotas_and_requests_are_kept(
        models in prop::collection::vec(model(), 1..5),
        more_gpus in 0_u32..12,
        kills in any::<bool>(),
        seed in 0_u64..1000,
    ) {
        let tenant = |model: &Model| {
            let profile = RateProfile::spike(20.0, 30.0, model.factor);
            let setup = setup(model.rate_per_s, model.requests, profile, seed);
            // An HPA does not come back from nothing.
            let mut fleet = fleet(setup, model.first.max(1), (1, 6), model.gpus);
            fleet.nodes.provisioning = StageTime::Fixed(model.provision_s);
            fleet.nodes.warm_nodes = model.warm;
            fleet.reliability.node_mtbf_s = model.mtbf_s;
            fleet.faults = vec![(30.0, Fault::NodeLoss), (40.0, Fault::ReplicaLoss)];
            (fleet, model.priority)
        };
        let tenants: Vec<_> = models.iter().map(tenant).collect();
        let gpus = |tenant: &(LiveFleet, i32)| tenant.0.nodes.initial_nodes * tenant.0.nodes.gpus_per_node;
        let quota = tenants.iter().map(gpus).sum::<u32>() + more_gpus;
        let reclaim = if kills { Reclaim::Kill } else { Reclaim::Drain };
        let run = watched(&shared(quota, reclaim, tenants));
        for (run, model) in run.runs.iter().zip(&models) {
            prop_assert_eq!(run.total.offered, model.requests);
        }
        prop_assert!(run.peak_gpus <= quota);
        // From the most important nothing is taken.
        let most = models.iter().map(|model| model.priority).max();
        for (model, &reclaimed) in models.iter().zip(&run.reclaimed) {
            prop_assert!(reclaimed == 0 || Some(model.priority) < most);
        }
    }
}
