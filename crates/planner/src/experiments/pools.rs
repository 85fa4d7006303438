//! Prefill and decode on GPUs of their own.

use std::sync::Arc;

use sim_core::{
    Keep, RequestSource, Setup, SetupError, Trace, TraceRow,
    fleet::{
        Disaggregated, Link,
        outcome::LiveRun,
        policy::Signal,
        pooled::{PooledFleet, Scaling, simulate_pooled},
    },
    workload::{RateProfile, Requests},
};

use super::{
    Check, Experiment, Findings, Table, Unit,
    lab::{CHAT, Kind, SLO, fixed, fleet, hpa_on, run, traffic},
};

pub(super) const EXPERIMENTS: [Experiment; 2] = [
    Experiment {
        name: "pools-as-one",
        claim: "Prefill and decode saturate on different things: scaled as one, one of them is always too large.",
        setting: "The fewest replicas that hold the target for prompts of 3,000 with answers of 50 tokens, and for prompts of 200 with answers of 800: two pools of any sizes, two pools of one size, and the same GPUs used together; a link of 50 GB/s per prefill replica.",
        run: pools_as_one,
    },
    Experiment {
        name: "pools-over-time",
        claim: "Where the mix changes over the day, no one proportion of prefill and decode replicas is right, whichever pool's autoscaler decides.",
        setting: "An hour of prompts of 3,000 with answers of 50 tokens at 15 requests/s, then one of prompts of 200 with answers of 800; HPAs, on requests in flight (2) before prefill and on running requests (16) before decode; starts of 30 s: each pool scaled by its own, both as one by either of them, and replicas that do both, under an HPA on requests in flight.",
        run: pools_over_time,
    },
];

/// More replicas of a kind are not tried.
const MOST: u64 = 12;

fn link() -> Link {
    Link { bytes_per_s: 50e9, latency_s: 0.001, kv_bytes_per_token: 131_072.0 }
}

fn in_time(kind: Kind, rate_per_s: f64, pools: (u64, u64)) -> Result<bool, SetupError> {
    let setup = traffic(&[kind], (rate_per_s, 6000), RateProfile::Constant);
    let run = Disaggregated::new(&setup, pools, link())?.simulate(Keep::default());
    Ok(run.total.slo_share() >= SLO.share)
}

fn together(kind: Kind, rate_per_s: f64) -> Result<Option<u64>, SetupError> {
    for replicas in 1..=2 * MOST {
        let setup = traffic(&[kind], (rate_per_s, 6000), RateProfile::Constant);
        let mut fleet = fleet(setup, fixed(replicas as i32), 0.0);
        fleet.initial_replicas = replicas as u32;
        if run(&fleet)?.total.slo_share() >= SLO.share {
            return Ok(Some(replicas));
        }
    }
    Ok(None)
}

/// The fewest replicas in two pools of any sizes: for each number of prefill replicas the fewest for
/// decode, since more of either never hurts.
fn apart(kind: Kind, rate_per_s: f64) -> Result<Option<(u64, u64)>, SetupError> {
    let mut best: Option<(u64, u64)> = None;
    for prefill in 1..=MOST {
        for decode in 1..=MOST {
            if best.is_some_and(|(p, d)| prefill + decode >= p + d) {
                break;
            }
            if in_time(kind, rate_per_s, (prefill, decode))? {
                best = Some((prefill, decode));
                break;
            }
        }
    }
    Ok(best)
}

fn as_one(kind: Kind, rate_per_s: f64) -> Result<Option<u64>, SetupError> {
    for pairs in 1..=MOST {
        if in_time(kind, rate_per_s, (pairs, pairs))? {
            return Ok(Some(pairs));
        }
    }
    Ok(None)
}

fn pools_as_one() -> Result<Findings, SetupError> {
    let columns = [
        ("prefill", Unit::Count),
        ("decode", Unit::Count),
        ("GPUs apart", Unit::Count),
        ("GPUs as one", Unit::Count),
        ("GPUs together", Unit::Count),
    ];
    let mut table = Table::new("traffic", &columns);
    let prompts = Kind { input_tokens: 3000, output_tokens: 50, ..CHAT };
    let answers = Kind { input_tokens: 200, output_tokens: 800, ..CHAT };
    for (case, kind, rate_per_s) in [
        ("long prompts, 30 requests/s", prompts, 30.0),
        ("long answers, 30 requests/s", answers, 30.0),
    ] {
        let (prefill, decode) = apart(kind, rate_per_s)?.unwrap_or((0, 0));
        let known = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64);
        let pairs = known(as_one(kind, rate_per_s)?);
        let all = known(together(kind, rate_per_s)?);
        let values = [prefill as f64, decode as f64, (prefill + decode) as f64, 2.0 * pairs, all];
        table.row(case, &values);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "Long prompts need more prefill replicas than decode replicas, long answers the other way about.",
            value(0, 0) > value(0, 1) && value(1, 0) < value(1, 1),
        ),
        Check::new(
            "Scaled as one, each traffic pays at least a quarter more GPUs.",
            (0..2).all(|row| value(row, 3) >= 1.25 * value(row, 2)),
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}

/// Long prompts for an hour, then long answers for an hour.
fn changing_mix() -> Result<Setup, SetupError> {
    let mut setup = traffic(&[CHAT], (15.0, 1), RateProfile::Constant);
    setup.workload.requests = 108_000;
    let arrivals = Requests::new(&setup.workload, setup.seed);
    let rows = arrivals.map(|request| {
        let is_first = request.arrival_s < 3600.0;
        let (input_tokens, output_tokens) = if is_first { (3000, 50) } else { (200, 800) };
        TraceRow { arrival_s: request.arrival_s, input_tokens, output_tokens }
    });
    let trace = Trace::new(rows.collect()).map_err(|_| SetupError::NoLiveRules)?;
    setup.workload.source = RequestSource::Replay { trace: Arc::new(trace), speed: 1.0 };
    Ok(setup)
}

/// Mean number of replicas that were ready from one time to another.
fn mean_ready(run: &LiveRun, from_s: f64, to_s: f64) -> f64 {
    let windows = run.windows.iter().filter(|window| (from_s..to_s).contains(&window.start_s));
    let ready: Vec<f64> = windows.map(|window| f64::from(window.replicas[2])).collect();
    ready.iter().sum::<f64>() / ready.len().max(1) as f64
}

fn pools_over_time() -> Result<Findings, SetupError> {
    let columns = [
        ("prefill, 1st hour", Unit::Number),
        ("2nd hour", Unit::Number),
        ("decode, 1st hour", Unit::Number),
        ("2nd hour", Unit::Number),
        ("GPU-hours", Unit::GpuHours),
        ("without a step", Unit::GpuHours),
        ("requests in time", Unit::Share),
    ];
    let mut table = Table::new("scaled", &columns);
    let setup = changing_mix()?;
    let pool = |signal, target, first| {
        let mut pool = fleet(setup.clone(), hpa_on(signal, target), 30.0);
        pool.initial_replicas = first;
        pool.window_s = 60.0;
        pool
    };
    let as_one = |by_prefill| Scaling::AsOne { by_prefill, unit: (1, 1) };
    for (case, scaling) in [
        ("apart", Scaling::Apart),
        ("as one, by prefill", as_one(true)),
        ("as one, by decode", as_one(false)),
    ] {
        let pools = PooledFleet {
            prefill: pool(Signal::InFlight, 2.0, 4),
            decode: pool(Signal::Running, 16.0, 4),
            link: link(),
            scaling,
        };
        let run = simulate_pooled(&pools, Keep::default())?;
        debug_assert_eq!(run.users.verify(), Ok(()));
        let hours = |run: &LiveRun| [mean_ready(run, 0.0, 3600.0), mean_ready(run, 3600.0, 7200.0)];
        let ([prefill, prefill_later], [decode, decode_later]) =
            (hours(&run.prefill), hours(&run.decode));
        let users = &run.users;
        let (held, wasted) = (users.held_gpu_hours(), users.wasted_gpu_hours());
        let share = users.total.slo_share();
        table.row(case, &[prefill, prefill_later, decode, decode_later, held, wasted, share]);
    }
    for target in [6.0, 12.0, 18.0] {
        let all = run(&pool(Signal::InFlight, target, 8))?;
        let (held, wasted) = (all.held_gpu_hours(), all.wasted_gpu_hours());
        let none = f64::NAN;
        let share = all.total.slo_share();
        table.row(
            format!("together, {target} in flight"),
            &[none, none, none, none, held, wasted, share],
        );
    }
    let row = |row: usize| &table.rows[row].values;
    let is_as_good = |of: usize| row(of)[6] >= row(0)[6] && row(of)[4] <= row(0)[4];
    let checks = vec![
        Check::new(
            "Apart, there is more prefill in the hour of prompts and more decode in the hour of answers.",
            row(0)[0] > row(0)[1] && row(0)[2] < row(0)[3],
        ),
        Check::new(
            "Scaled as one, by either pool, there are fewer requests in time or more GPU-hours than apart.",
            !is_as_good(1) && !is_as_good(2),
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}
