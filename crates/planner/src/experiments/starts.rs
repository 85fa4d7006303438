//! What the time that a start takes costs, and how a fleet comes back.

use sim_core::{
    SetupError,
    fleet::{
        autoscale::keda::ScaledObject,
        live::Fault,
        policy::{Aggregate, Policy, Signal},
    },
    workload::{RatePoint, RateProfile},
};

use super::{
    Check, Experiment, Findings, Table, Unit,
    lab::{CHAT, fixed, fleet, hpa_on, run, traffic},
};

pub(super) const EXPERIMENTS: [Experiment; 3] = [
    Experiment {
        name: "sla-cliff",
        claim: "Attainment falls off a cliff once a start takes longer than 100 to 120 s.",
        setting: "Ten minutes at 20 requests/s, ten in which the rate rises to 120, and ten more, under an HPA on requests in flight at three targets, with the replicas that it wants at first; starts from 0 to 300 s; and the same rise in one step.",
        run: cliff,
    },
    Experiment {
        name: "recovery",
        claim: "What is over in seconds costs minutes: a fleet near its limit comes back long after the fault.",
        setting: "Four replicas at 75 requests/s of about 87, each fault alone at 600 s; replacements start in 90 s.",
        run: recovery,
    },
    Experiment {
        name: "scale-to-zero",
        claim: "Scale to zero saves GPUs where the idle time is long, and makes whoever wakes it wait for a whole start.",
        setting: "Twenty minutes of 0.5 requests/s every so often, starts of 120 s, KEDA from zero to one replica, and one replica kept.",
        run: scale_to_zero,
    },
];

fn cliff() -> Result<Findings, SetupError> {
    let columns = [
        ("rise, 20 in flight", Unit::Share),
        ("rise, 16 in flight", Unit::Share),
        ("rise, 8 in flight", Unit::Share),
        ("one step, 16 in flight", Unit::Share),
    ];
    let mut table = Table::new("start takes (s); requests in time", &columns);
    let rise = || RateProfile::ramp(600.0, 1200.0, 6.0);
    let starts_s = [0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0, 240.0, 300.0];
    for start_s in starts_s {
        let share = |profile, target: f64, requests| {
            let setup = traffic(&[CHAT], (20.0, requests), profile);
            let mut fleet = fleet(setup, hpa_on(Signal::InFlight, target), start_s);
            // About 27 are in flight at 20 requests/s.
            fleet.initial_replicas = (27.0 / target).ceil() as u32;
            Ok::<f64, SetupError>(run(&fleet)?.total.slo_share())
        };
        let values = [
            share(rise(), 20.0, 126_000)?,
            share(rise(), 16.0, 126_000)?,
            share(rise(), 8.0, 126_000)?,
            share(RateProfile::step(600.0, 6.0), 16.0, 156_000)?,
        ];
        table.row(format!("{start_s}"), &values);
    }
    let falls = |at: usize| -> Vec<f64> {
        table.rows.windows(2).map(|pair| pair[0].values[at] - pair[1].values[at]).collect()
    };
    // The longest start at which, and below which, 99 of 100 are in time.
    let holds_to_s = |at: usize| {
        let held = table.rows.iter().take_while(|row| row.values[at] >= 0.99).count();
        held.checked_sub(1).map_or(f64::NAN, |last| starts_s[last])
    };
    let checks = vec![
        Check::new(
            "The longer a start takes, the fewer requests are in time, to one in a hundred.",
            (0..4).all(|at| falls(at).iter().all(|&fall| fall > -0.01)),
        ),
        Check::new(
            "It holds up to 90 s at 20 in flight and up to 120 s at 16, and then every 30 s more cost about \
             three requests in a hundred and more: the cliff.",
            holds_to_s(0) == 90.0
                && holds_to_s(1) == 120.0
                && falls(0)[4] > 0.03
                && falls(1)[5] > 0.03,
        ),
        Check::new(
            "At 8 in flight there is none up to 300 s, and where the load comes in one step there is nothing \
             to fall from.",
            holds_to_s(2) == 300.0 && holds_to_s(3).is_nan(),
        ),
    ];
    let remark = "A cliff is where the start-up time passes the time that the load takes to pass what is there. That \
                  time comes from the traffic's slope and the autoscaler's headroom, not from the engine: one set-up \
                  has one cliff, and another has it elsewhere.";
    Ok(Findings { tables: vec![table], checks, remark })
}

fn recovery() -> Result<Findings, SetupError> {
    let columns = [
        ("lasts", Unit::Seconds),
        ("back after", Unit::Seconds),
        ("requests in time", Unit::Share),
        ("began again", Unit::Count),
    ];
    let mut table = Table::new("fault", &columns);
    let at_s = 600.0;
    for (case, fault) in [
        ("stall of 1 s", Fault::Stall(1.0)),
        ("stall of 10 s", Fault::Stall(10.0)),
        ("a replica is lost", Fault::ReplicaLoss),
        ("a node is lost", Fault::NodeLoss),
        ("2.5 times the traffic", Fault::Surge { factor: 2.5, for_s: 60.0 }),
        ("130 % of what can be served", Fault::Surge { factor: 1.5, for_s: 300.0 }),
    ] {
        let setup = traffic(&[CHAT], (75.0, 240_000), RateProfile::Constant);
        let mut fleet = fleet(setup, fixed(4), 90.0);
        fleet.initial_replicas = 4;
        fleet.faults = vec![(at_s, fault)];
        let run = run(&fleet)?;
        let back_s = run.recovery_s(0).unwrap_or(f64::INFINITY);
        let values = [fault.lasts_s(), back_s, run.total.slo_share(), run.restarted as f64];
        table.row(case, &values);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "A stall of ten seconds is felt for at least three times as long.",
            value(1, 1) >= 30.0,
        ),
        Check::new(
            "A lost replica is felt for longer than its replacement takes to start.",
            value(2, 1) > 90.0 && value(3, 1) > 90.0,
        ),
        Check::new(
            "After a surge the backlog lasts longer than the surge.",
            value(4, 1) > 2.0 * 60.0 && value(5, 1) > 1.5 * 300.0,
        ),
        Check::new("Every fault is got over.", (0..6).all(|row| value(row, 1).is_finite())),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}

fn scale_to_zero() -> Result<Findings, SetupError> {
    let columns = [
        ("GPU-hours", Unit::GpuHours),
        ("longest wait", Unit::Seconds),
        ("requests in time", Unit::Share),
    ];
    let mut table = Table::new("idle time and fewest replicas", &columns);
    for idle_s in [600.0, 3600.0, 14_400.0] {
        for min in [0, 1] {
            let points = [(0.0, 1.0), (1200.0, 1.0), (1200.0, 0.0), (1200.0 + idle_s, 0.0)];
            let points = points.map(|(time_s, factor)| RatePoint { time_s, factor }).to_vec();
            let profile = RateProfile::Periodic { points, period_s: 1200.0 + idle_s };
            let setup = traffic(&[CHAT], (0.5, 6000), profile);
            let object =
                ScaledObject { min_replicas: min, max_replicas: 1, ..ScaledObject::default() };
            let policy = Policy::Keda {
                object,
                signal: Signal::InFlight,
                aggregate: Aggregate::Sum,
                threshold: 16.0,
                activation_threshold: 0.0,
            };
            let run = run(&fleet(setup, policy, 120.0))?;
            let longest_s = run.total.ttft.max().unwrap_or(f64::NAN);
            let case = format!("idle for {} min, at least {min}", idle_s / 60.0);
            table.row(case, &[run.held_gpu_hours(), longest_s, run.total.slo_share()]);
        }
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let saved = |row: usize| 1.0 - value(row, 0) / value(row + 1, 0);
    let checks = vec![
        Check::new(
            "Whoever wakes it waits for the start and for KEDA's poll: 120 to 165 s.",
            [0, 2, 4].iter().all(|&row| (120.0..=165.0).contains(&value(row, 1))),
        ),
        Check::new(
            "With four hours of idle time four in five GPU-hours are saved; with ten minutes fewer than one in four.",
            saved(4) > 0.8 && saved(0) < 0.25,
        ),
        Check::new(
            "With one replica kept nearly everybody is in time.",
            [1, 3, 5].iter().all(|&row| value(row, 2) > 0.99),
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}
