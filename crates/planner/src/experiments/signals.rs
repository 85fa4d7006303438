//! What a signal shows an autoscaler, and what it hides.

use sim_core::{
    SetupError,
    fleet::{
        live::{Deferral, LiveFleet},
        outcome::LiveRun,
        policy::{Aggregate, Policy, Signal},
        router::Router,
    },
    workload::{RateProfile, SharedPrefix},
};

use super::{
    Check, Experiment, Findings, Table, Unit,
    lab::{
        CHAT, Kind, MOST, first_asked_s, fixed, fleet, hpa_on, keda_on, mean_of, most_asked, run,
        times_down, traffic,
    },
};

pub(super) const EXPERIMENTS: [Experiment; 6] = [
    Experiment {
        name: "blind-signals",
        claim: "GPU busy time and GPU memory do not tell a light load from an overload.",
        setting: "One replica under rising rates; then an HPA on each signal under three times what one replica serves.",
        run: blind_signals,
    },
    Experiment {
        name: "request-rate",
        claim: "A target of requests per second is right for chats, and wrong when agents come at the same rate.",
        setting: "40 requests/s under an HPA with 10 requests/s per replica: chats of 400 + 200 tokens, then agents of 3,000 + 1,000; and agents under a target of requests in flight.",
        run: request_rate,
    },
    Experiment {
        name: "queue-lags",
        claim: "Queue depth lags, and KV use leads: it asks for replicas before anybody waits.",
        setting: "A ramp from 4 to 40 requests/s in 15 minutes, KV cache for 26 chats a replica, starts of 60 s; an HPA on each signal.",
        run: queue_lags,
    },
    Experiment {
        name: "affinity-blinds-the-mean",
        claim: "Under prefix affinity the pool's mean is calm while one replica is full; the maximum sees it.",
        setting: "40 chats/s with six beginnings, one of them in three of four prompts, on four replicas; KEDA on KV use, mean and maximum.",
        run: affinity,
    },
    Experiment {
        name: "warming-scales-down",
        claim: "Replicas that start and count as idle in the pool's average make the autoscaler scale down under load.",
        setting: "A rise from 10 to 30 requests/s that stays, KV cache for 26 chats a replica, starts of 420 s; KEDA on the mean KV use of the pool, 60 %, its HPA waiting 300 s before it scales down.",
        run: warming,
    },
    Experiment {
        name: "deferred-queue",
        claim: "Scaling on the whole queue adds GPUs for requests that wait for something no GPU brings.",
        setting: "A third of the requests use an adapter of which 8 can run at once; KEDA on 4 waiting per replica: the whole queue, and the part that waits for capacity.",
        run: deferred,
    },
];

fn blind_signals() -> Result<Findings, SetupError> {
    let columns = [
        ("GPU busy", Unit::Share),
        ("GPU memory", Unit::Share),
        ("mean batch", Unit::Number),
        ("mean queue", Unit::Number),
        ("KV use", Unit::Share),
    ];
    let mut gauges = Table::new("requests/s on one replica", &columns);
    for rate_per_s in [3.0, 12.0, 60.0] {
        let setup =
            traffic(&[CHAT], (rate_per_s, (rate_per_s * 600.0) as u64), RateProfile::Constant);
        let mut fleet = fleet(setup, fixed(1), 30.0);
        fleet.patience_s = 0.0;
        let run = run(&fleet)?;
        let busy = run.total.step_times.busy_s / run.replica_s;
        gauges.row(
            format!("{rate_per_s}"),
            &[
                busy,
                0.9,
                mean_of(&run, |window| window.running as f64),
                mean_of(&run, |window| window.waiting as f64),
                mean_of(&run, |window| window.kv_usage.1),
            ],
        );
    }
    let mut scaling = Table::new(
        "HPA on",
        &[("replicas at most", Unit::Count), ("requests in time", Unit::Share)],
    );
    for (case, signal, target) in [
        ("GPU busy, 95 %", Signal::GpuBusy, 95.0),
        ("GPU memory, 90 %", Signal::GpuMemory, 90.0),
        ("CPU, 95 %", Signal::Cpu, 95.0),
        ("in flight, 16", Signal::InFlight, 16.0),
    ] {
        let setup = traffic(&[CHAT], (60.0, 30_000), RateProfile::Constant);
        let run = run(&fleet(setup, hpa_on(signal, target), 30.0))?;
        scaling.row(case, &[most_asked(&run), run.total.slo_share()]);
    }
    let busy = |row: usize| gauges.rows[row].values[0];
    let (batch, queue) = (|row: usize| gauges.rows[row].values[2], gauges.rows[2].values[3]);
    let most = |row: usize| scaling.rows[row].values[0];
    let checks = vec![
        Check::new(
            "The GPU is busy for more than 95 % of the time under a light load as under five times what it can serve.",
            busy(0) > 0.95 && busy(2) > 0.95 && busy(2) - busy(0) < 0.05,
        ),
        Check::new(
            "The batch grows more than threefold meanwhile, and a queue of thousands builds up.",
            batch(2) > 3.0 * batch(0) && queue > 1000.0,
        ),
        Check::new(
            "An HPA on busy time, memory or processor stays at one replica.",
            (0..3).all(|row| most(row) == 1.0),
        ),
        Check::new("One on requests in flight scales out.", most(3) >= 3.0),
    ];
    Ok(Findings { tables: vec![gauges, scaling], checks, remark: "" })
}

const AGENT: Kind = Kind { weight: 1.0, input_tokens: 3000, output_tokens: 1000, prefix: None };

fn request_rate() -> Result<Findings, SetupError> {
    let columns = [
        ("replicas at most", Unit::Count),
        ("requests in time", Unit::Share),
        ("TTFT P50", Unit::Seconds),
    ];
    let mut table = Table::new("traffic and signal", &columns);
    let mut served = |case: &str, kind: Kind, policy: Policy| {
        let setup = traffic(&[kind], (40.0, 40_000), RateProfile::Constant);
        let mut fleet = fleet(setup, policy, 30.0);
        fleet.initial_replicas = 4;
        let run = run(&fleet)?;
        let ttft_s = run.total.ttft.percentile(50.0).unwrap_or(f64::NAN);
        table.row(case, &[most_asked(&run), run.total.slo_share(), ttft_s]);
        Ok::<(), SetupError>(())
    };
    served("chats, 10 requests/s per replica", CHAT, hpa_on(Signal::RequestRate, 10.0))?;
    served("agents, 10 requests/s per replica", AGENT, hpa_on(Signal::RequestRate, 10.0))?;
    served("agents, 8 in flight per replica", AGENT, hpa_on(Signal::InFlight, 8.0))?;
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "The rate asks for as many replicas for agents as for chats, to one.",
            (value(0, 0) - value(1, 0)).abs() <= 1.0,
        ),
        Check::new("Chats are in time: more than 99 of 100.", value(0, 1) > 0.99),
        Check::new("Agents drown: fewer than one in ten is in time.", value(1, 1) < 0.1),
        Check::new(
            "Requests in flight ask for more than twice the replicas, and serve more than half of the agents in time.",
            value(2, 0) > 2.0 * value(1, 0) && value(2, 1) > 0.5,
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}

fn queue_lags() -> Result<Findings, SetupError> {
    let columns = [
        ("first asked for more at", Unit::Seconds),
        ("waiting then", Unit::Count),
        ("requests in time", Unit::Share),
        ("GPU-hours", Unit::GpuHours),
    ];
    let mut table = Table::new("HPA on", &columns);
    for (case, signal, target) in [
        ("queue, 4 waiting", Signal::Queue, 4.0),
        ("KV use, 60 %", Signal::KvUsage, 60.0),
        ("batch, 16 running", Signal::Running, 16.0),
    ] {
        let mut setup = traffic(&[CHAT], (4.0, 26_000), RateProfile::ramp(0.0, 900.0, 10.0));
        setup.engine.kv_capacity_tokens = 26 * 600;
        let run = run(&fleet(setup, hpa_on(signal, target), 60.0))?;
        let first_s = first_asked_s(&run);
        let at = run.windows.iter().find(|window| window.start_s >= first_s - 15.0);
        let waiting = at.map_or(f64::NAN, |window| window.waiting as f64);
        table.row(case, &[first_s, waiting, run.total.slo_share(), run.held_gpu_hours()]);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "KV use asks for a replica a minute or more before the queue does.",
            value(1, 0) + 60.0 <= value(0, 0),
        ),
        Check::new("When it asks, nobody waits.", value(1, 1) == 0.0),
        Check::new("When the queue asks, somebody does.", value(0, 1) > 0.0),
        Check::new(
            "More requests are in time under KV use and under the batch than under the queue.",
            value(1, 2) > value(0, 2) && value(2, 2) > value(0, 2),
        ),
    ];
    let remark = "An HPA multiplies: a queue of 28 against a target of 4 asks for seven times the replicas, so that the \
                  queue costs more GPU-hours besides.";
    Ok(Findings { tables: vec![table], checks, remark })
}

fn affinity() -> Result<Findings, SetupError> {
    let kind = |(group, weight): (u64, f64)| Kind {
        weight,
        input_tokens: 1200,
        prefix: Some(SharedPrefix { group, tokens: 1000 }),
        ..CHAT
    };
    let kinds: Vec<Kind> =
        [(0, 15.0), (1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0), (5, 1.0)].map(kind).to_vec();
    let columns = [
        ("mean KV use", Unit::Share),
        ("KV use of the fullest", Unit::Share),
        ("replicas at most", Unit::Count),
        ("requests in time", Unit::Share),
    ];
    let mut table = Table::new("router and query", &columns);
    for (case, router, aggregate) in [
        ("affinity, mean", Router::PrefixAffinity, Aggregate::Mean),
        ("affinity, maximum", Router::PrefixAffinity, Aggregate::Max),
        ("least in flight, mean", Router::LeastInFlight, Aggregate::Mean),
    ] {
        let mut setup = traffic(&kinds, (40.0, 24_000), RateProfile::Constant);
        setup.engine.kv_capacity_tokens = 30_000;
        let policy = keda_on(Signal::KvUsage, aggregate, 80.0, 4);
        let mut fleet = fleet(setup, policy, 30.0);
        fleet.initial_replicas = 4;
        fleet.router = router;
        fleet.cached_prefixes = 8;
        fleet.patience_s = 600.0;
        let run = run(&fleet)?;
        // Until the first new replica could be there.
        let early = run.windows.iter().filter(|window| (60.0..120.0).contains(&window.start_s));
        let (mut mean, mut most, mut count) = (0.0, 0.0, 0.0);
        for window in early {
            (mean, most, count) = (mean + window.kv_usage.0, most + window.kv_usage.1, count + 1.0);
        }
        let values = [mean / count, most / count, most_asked(&run), run.total.slo_share()];
        table.row(case, &values);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "Under affinity the mean stays below half while one replica is over 90 % full.",
            value(0, 0) < 0.5 && value(0, 1) > 0.9,
        ),
        Check::new("An autoscaler on the mean adds nobody.", value(0, 2) == 4.0),
        Check::new(
            "One on the maximum does, up to its bound, and no more requests are in time for it.",
            value(1, 2) == f64::from(MOST) && value(1, 1) > 0.9 && value(1, 3) < 0.5,
        ),
        Check::new(
            "A router that spreads needs no more replicas: nearly all are in time.",
            value(2, 2) == 4.0 && value(2, 3) > 0.99,
        ),
    ];
    let remark = "The maximum sees the hot spot, and more replicas do not cure it: one beginning still goes to one \
                  replica. Only a router that gives way does.";
    Ok(Findings { tables: vec![table], checks, remark })
}

fn warming() -> Result<Findings, SetupError> {
    // Until the first new replica can be ready.
    let (from_s, to_s) = (300.0, 735.0);
    let columns = [
        ("scaled down before one was ready", Unit::Count),
        ("requests in time", Unit::Share),
        ("replicas started", Unit::Count),
        ("ready at most", Unit::Count),
    ];
    let mut table = Table::new("replicas that start", &columns);
    for (case, counts_warming) in [("are left out", false), ("count as idle", true)] {
        let mut setup = traffic(&[CHAT], (10.0, 60_000), RateProfile::step(from_s, 3.0));
        setup.engine.kv_capacity_tokens = 26 * 600;
        let policy = keda_on(Signal::KvUsage, Aggregate::Mean, 60.0, 1);
        let run = run(&LiveFleet { counts_warming, ..fleet(setup, policy, 420.0) })?;
        let down = times_down(&run, from_s, to_s);
        let (share, decided) = (run.total.slo_share(), run.decided as f64);
        table.row(case, &[down, share, decided, f64::from(run.peak_ready)]);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "Counted as idle, replicas that start bring the average down until the autoscaler takes replicas away.",
            value(1, 0) > 0.0 && value(0, 0) == 0.0,
        ),
        Check::new(
            "What was started is called off before it is ready, again and again.",
            value(1, 2) > value(0, 2) && value(1, 3) < value(0, 3),
        ),
        Check::new("Fewer requests are in time then.", value(1, 1) < value(0, 1)),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}

fn deferred() -> Result<Findings, SetupError> {
    let columns = [
        ("replicas at most", Unit::Count),
        ("GPU-hours", Unit::GpuHours),
        ("mean KV use", Unit::Share),
        ("adapter requests in time", Unit::Share),
        ("others in time", Unit::Share),
    ];
    let mut table = Table::new("KEDA on", &columns);
    for (case, signal) in
        [("the whole queue", Signal::Queue), ("the queue for capacity", Signal::CapacityQueue)]
    {
        let adapter = Kind { weight: 0.5, ..CHAT };
        let setup = traffic(&[CHAT, adapter], (24.0, 24_000), RateProfile::Constant);
        let policy = keda_on(signal, Aggregate::Sum, 4.0, 2);
        let mut fleet = fleet(setup, policy, 30.0);
        fleet.initial_replicas = 2;
        fleet.deferral = Some(Deferral { class: 1, at_once: 8 });
        let run = run(&fleet)?;
        let share = |run: &LiveRun, class: usize| {
            run.total.classes.get(class).map_or(f64::NAN, |class| class.slo_share())
        };
        let kv = mean_of(&run, |window| window.kv_usage.0);
        let values = [most_asked(&run), run.held_gpu_hours(), kv, share(&run, 1), share(&run, 0)];
        table.row(case, &values);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "On the whole queue the fleet grows to five times as many replicas and more.",
            value(0, 0) >= 5.0 * value(1, 0),
        ),
        Check::new("KV use stays modest meanwhile: below a fifth.", value(0, 2) < 0.2),
        Check::new(
            "Requests for the adapter are no more in time for it: below one in ten either way.",
            value(0, 3) < 0.1 && value(1, 3) < 0.1,
        ),
        Check::new("The others are in time either way.", value(0, 4) > 0.99 && value(1, 4) > 0.99),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}
