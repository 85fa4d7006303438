//! What an autoscaler's settings do.

use sim_core::{
    SetupError,
    fleet::{
        autoscale::{
            hpa::{Behaviour, Bounds, Hpa, Rules, Tolerance, external_average},
            keda::{ScaledObject, Triggers, is_active, scale},
            knative::{DeciderSpec, ScaleToZero},
            schedule::{Cron, CronError, Floor},
            wva,
        },
        live::LiveFleet,
        policy::{Aggregate, Policy, Signal},
    },
    workload::{RatePoint, RateProfile},
};

use super::{
    Check, Experiment, Findings, Table, Unit,
    lab::{CHAT, SLO, fleet, hpa_on, most_asked, run, traffic},
};

pub(super) const EXPERIMENTS: [Experiment; 6] = [
    Experiment {
        name: "panic-churn",
        claim: "Panic mode starts replicas for a burst that is over before they are there.",
        setting: "40 requests/s on five replicas, and six seconds of four times as many, under Knative's pod autoscaler; starts of 120 s.",
        run: panic_churn,
    },
    Experiment {
        name: "short-window-saw",
        claim: "A short scale-down window makes the replica count a sawtooth, and each tooth costs requests.",
        setting: "Waves of 80 s on, 160 s off, under an HPA on requests in flight that waits 0 s, or 300 s, before it scales down; starts of 30 s.",
        run: short_window,
    },
    Experiment {
        name: "cron-floor",
        claim: "On a known daily rise, a floor by the clock beats every tuning of a reactive autoscaler.",
        setting: "Three hours from 7:30: the rate rises sixfold within five minutes of 8:00 and falls by 9:30; starts of 300 s; an HPA at several targets, and one with a floor of 5 from 7:45 to 9:30.",
        run: cron_floor,
    },
    Experiment {
        name: "cron-floor-day",
        claim: "The same over a whole day: no reactive tuning is as good for as little.",
        setting: "24 hours from midnight: 5 requests/s at night, 60 within five minutes of 8:00 until 9:30, 25 until 18:00, and 5 again from 20:00; starts of 300 s; an HPA at several targets, and one with a floor of 5 from 7:45 to 9:30.",
        run: cron_floor_day,
    },
    Experiment {
        name: "activation-beats-threshold",
        claim: "KEDA with threshold 10 and activationThreshold 50 leaves 40 messages at zero replicas, though its HPA would have 4.",
        setting: "A fleet at zero, and so many requests at once.",
        run: activation,
    },
    Experiment {
        name: "v1-keys-under-v2",
        claim: "kvSpareTrigger and queueSpareTrigger, tuned for WVA's analyzer V1, do nothing under V2, and nobody says so.",
        setting: "The same traffic under V1 and V2, with the triggers as shipped and tuned to scale out early (kvSpareTrigger 0.5, queueSpareTrigger 5).",
        run: v1_keys,
    },
];

fn panic_churn() -> Result<Findings, SetupError> {
    let columns = [
        ("replicas at most", Unit::Count),
        ("replicas started", Unit::Count),
        ("GPU-hours", Unit::GpuHours),
        ("requests in time", Unit::Share),
    ];
    let mut table = Table::new("panic threshold", &columns);
    for (case, panic_threshold) in [("200 %, as shipped", 2.0), ("none", 1000.0)] {
        let decider =
            DeciderSpec { target: 11.2, total: 16.0, panic_threshold, ..DeciderSpec::default() };
        let zero = ScaleToZero { min_scale: 1, max_scale: 40, ..ScaleToZero::default() };
        let setup = traffic(&[CHAT], (40.0, 40_000), RateProfile::spike(300.0, 6.0, 4.0));
        let mut fleet = fleet(setup, Policy::Knative { decider, zero }, 120.0);
        fleet.initial_replicas = 5;
        let run = run(&fleet)?;
        let values =
            [most_asked(&run), run.decided as f64, run.held_gpu_hours(), run.total.slo_share()];
        table.row(case, &values);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "Panic mode asks for more than twice the replicas.",
            value(0, 0) > 2.0 * value(1, 0),
        ),
        Check::new(
            "They serve no more requests in time: the shares are within one in a hundred.",
            (value(0, 3) - value(1, 3)).abs() < 0.01,
        ),
        Check::new("The GPUs cost more.", value(0, 2) > 1.2 * value(1, 2)),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}

fn short_window() -> Result<Findings, SetupError> {
    let columns = [
        ("replicas started", Unit::Count),
        ("TTFT P99", Unit::Seconds),
        ("requests in time", Unit::Share),
        ("GPU-hours", Unit::GpuHours),
    ];
    let mut table = Table::new("scaleDown.stabilizationWindowSeconds", &columns);
    for stabilization_s in [0.0, 60.0, 300.0] {
        let points = [(0.0, 3.0), (80.0, 3.0), (80.0, 0.2), (240.0, 0.2)];
        let point = |(time_s, factor)| RatePoint { time_s, factor };
        let points = points.map(point).to_vec();
        let profile = RateProfile::Periodic { points, period_s: 240.5 };
        let default = Behaviour::default();
        let down = Rules { stabilization_s, ..default.down };
        let behaviour = Some(Behaviour { down, ..default });
        let hpa = Hpa { behaviour, ..Hpa::new(Bounds { min: 1, max: 12 }) };
        let tolerance = Tolerance::default();
        let policy = Policy::Hpa { hpa, signal: Signal::InFlight, target: 8.0, tolerance };
        let setup = traffic(&[CHAT], (20.0, 60_000), profile);
        let run = run(&fleet(setup, policy, 30.0))?;
        let p99_s = run.total.ttft.percentile(99.0).unwrap_or(f64::NAN);
        let values = [run.decided as f64, p99_s, run.total.slo_share(), run.held_gpu_hours()];
        table.row(format!("{stabilization_s}"), &values);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "Without a window more than five times as many replicas are started as with 300 s.",
            value(0, 0) > 5.0 * value(2, 0),
        ),
        Check::new(
            "Fewer requests are in time, the fewer the shorter the window.",
            value(0, 2) < value(2, 2) && value(1, 2) < value(2, 2),
        ),
        Check::new(
            "The sawtooth is cheaper in GPU-hours: that is why it is set.",
            value(0, 3) < value(2, 3),
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}

fn floor_of(replicas: i32) -> Result<Floor, CronError> {
    let (start, end) = (Cron::parse("45 7 * * 1-5")?, Cron::parse("30 9 * * 1-5")?);
    Ok(Floor { start, end, replicas })
}

/// A rise that is known, and tunings of an HPA that does not know it.
struct Rise {
    /// Seconds and multiples of the rate.
    points: &'static [(f64, f64)],
    rate_per_s: f64,
    requests: u64,
    /// The time of day at the beginning, in minutes.
    begin_min: u32,
    in_flight: &'static [f64],
    running: &'static [f64],
}

fn cron_floor() -> Result<Findings, SetupError> {
    clock_against_tunings(&Rise {
        points: &[(0.0, 1.0), (1800.0, 1.0), (2100.0, 6.0), (6000.0, 6.0), (7200.0, 1.0)],
        rate_per_s: 10.0,
        requests: 360_000,
        begin_min: 7 * 60 + 30,
        in_flight: &[3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0],
        running: &[3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0],
    })
}

fn cron_floor_day() -> Result<Findings, SetupError> {
    clock_against_tunings(&Rise {
        points: &[
            (0.0, 1.0),
            (28_800.0, 1.0),
            (29_100.0, 12.0),
            (34_200.0, 12.0),
            (35_400.0, 5.0),
            (64_800.0, 5.0),
            (72_000.0, 1.0),
        ],
        rate_per_s: 5.0,
        requests: 1_425_000,
        begin_min: 0,
        in_flight: &[3.0, 4.0, 6.0, 8.0, 12.0, 16.0],
        running: &[4.0, 8.0, 16.0],
    })
}

fn clock_against_tunings(rise: &Rise) -> Result<Findings, SetupError> {
    let columns = [
        ("minutes below the target", Unit::Minutes),
        ("requests in time", Unit::Share),
        ("GPU-hours", Unit::GpuHours),
    ];
    let mut table = Table::new("policy", &columns);
    let point = |&(time_s, factor): &(f64, f64)| RatePoint { time_s, factor };
    let points: Vec<RatePoint> = rise.points.iter().map(point).collect();
    let with = |signal, target: f64, floors: Vec<Floor>| {
        let profile = RateProfile::Piecewise { points: points.clone() };
        let setup = traffic(&[CHAT], (rise.rate_per_s, rise.requests), profile);
        let mut fleet = LiveFleet { floors, ..fleet(setup, hpa_on(signal, target), 300.0) };
        fleet.calendar.minute_of_day = rise.begin_min;
        fleet.window_s = 60.0;
        run(&fleet)
    };
    let mut row = |case: String, run: &sim_core::fleet::outcome::LiveRun| {
        let values = [run.violation_min(60.0), run.total.slo_share(), run.held_gpu_hours()];
        table.row(case, &values);
    };
    for &target in rise.in_flight {
        row(format!("HPA, {target} in flight"), &with(Signal::InFlight, target, Vec::new())?);
    }
    for &target in rise.running {
        row(format!("HPA, {target} running"), &with(Signal::Running, target, Vec::new())?);
    }
    // The floor is a constant expression; what cannot be read is no floor.
    let floors = floor_of(5).into_iter().collect();
    row("HPA, 16 in flight, and the floor".to_owned(), &with(Signal::InFlight, 16.0, floors)?);
    let tunings = table.rows.len() - 1;
    let clock = table.rows[tunings].values.clone();
    let reactive = &table.rows[..tunings];
    let checks = vec![
        Check::new("With the floor at most two minutes are below the target.", clock[0] <= 2.0),
        Check::new(
            "No reactive tuning has as few minutes below the target for as few GPU-hours.",
            reactive.iter().all(|row| row.values[0] > clock[0] || row.values[2] > clock[2]),
        ),
        Check::new(
            "Those without more minutes below the target than the floor cost at least a quarter more.",
            reactive
                .iter()
                .filter(|row| row.values[0] <= clock[0])
                .all(|row| row.values[2] >= 1.25 * clock[2]),
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}

fn activation() -> Result<Findings, SetupError> {
    let columns = [
        ("KEDA's own", Unit::Count),
        ("its HPA's", Unit::Count),
        ("replicas at most", Unit::Count),
        ("answered", Unit::Count),
    ];
    let mut table = Table::new("messages and activationThreshold", &columns);
    for (messages, activation_threshold) in [(40_u32, 50.0), (40, 0.0), (60, 50.0)] {
        let object = ScaledObject::default();
        let queue = f64::from(messages);
        let mut memory =
            sim_core::fleet::autoscale::keda::Memory { created_s: 0.0, last_active_s: None };
        let triggers =
            Triggers { is_active: is_active(queue, activation_threshold), is_error: false };
        let own = scale(&object, &mut memory, 0, triggers, 30.0);
        let milli = i64::from(messages) * 1000;
        let of_hpa = external_average(1, &[milli], 10_000, &Tolerance::default())
            .map_or(f64::NAN, |proposal| f64::from(proposal.replicas));
        // All of them within a second, and nothing after.
        let mut setup = traffic(&[CHAT], (queue, messages.into()), RateProfile::Constant);
        setup.slo = SLO;
        let policy = Policy::Keda {
            object,
            signal: Signal::Queue,
            aggregate: Aggregate::Sum,
            threshold: 10.0,
            activation_threshold,
        };
        let mut fleet = LiveFleet { initial_replicas: 0, ..fleet(setup, policy, 30.0) };
        fleet.patience_s = 1800.0;
        let run = run(&fleet)?;
        let case = format!("{messages} messages, activation {activation_threshold}");
        let values = [f64::from(own), of_hpa, most_asked(&run), run.total.completed as f64];
        table.row(case, &values);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "With 40 messages KEDA says 0 where its HPA says 4, and nobody is ever answered.",
            (value(0, 0), value(0, 1), value(0, 3)) == (0.0, 4.0, 0.0),
        ),
        Check::new(
            "With activation at 0 the same 40 wake the fleet and are answered.",
            value(1, 0) == 1.0 && value(1, 3) == 40.0,
        ),
        Check::new(
            "60 messages are above the activation, and are answered.",
            value(2, 0) == 1.0 && value(2, 3) == 60.0,
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}

fn v1_keys() -> Result<Findings, SetupError> {
    let columns = [
        ("replicas at most", Unit::Count),
        ("GPU-hours", Unit::GpuHours),
        ("requests in time", Unit::Share),
    ];
    let mut table = Table::new("analyzer and triggers", &columns);
    let shipped = [("kvSpareTrigger", 0.1), ("queueSpareTrigger", 3.0)];
    let tuned = [("kvSpareTrigger", 0.5), ("queueSpareTrigger", 5.0)];
    let mut ignored = Vec::new();
    for (case, version, keys) in [
        ("V1, as shipped", wva::Version::V1, shipped),
        ("V1, tuned", wva::Version::V1, tuned),
        ("V2, as shipped", wva::Version::V2, shipped),
        ("V2, tuned", wva::Version::V2, tuned),
    ] {
        let config = wva::ConfigMap::read(version, &keys).unwrap_or_default();
        ignored.push(config.ignored.len());
        let hpa = Hpa::new(Bounds { min: 1, max: 40 });
        let policy = match version {
            wva::Version::V1 => Policy::WvaV1 { config: config.v1, hpa },
            wva::Version::V2 => {
                let limits = wva::EngineLimits { max_batched_tokens: 2048, max_num_seqs: 32 };
                Policy::WvaV2 { config: config.v2, limits, hpa }
            }
        };
        let setup = traffic(&[CHAT], (8.0, 40_000), RateProfile::ramp(300.0, 1200.0, 5.0));
        let run = run(&fleet(setup, policy, 60.0))?;
        table.row(case, &[most_asked(&run), run.held_gpu_hours(), run.total.slo_share()]);
    }
    let row = |row: usize| &table.rows[row].values;
    let checks = vec![
        Check::new("Under V1 the tuned triggers change what happens.", row(0) != row(1)),
        Check::new("Under V2 they change nothing, to the bit.", row(2) == row(3)),
        Check::new(
            "Headroom names both keys under V2, and none under V1.",
            ignored == [0, 0, 2, 2],
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}
