//! Overload of a slot server under five policies, and the two views of a stall.

use std::sync::Arc;

use sim_core::engine::{
    OverloadPolicy, ServiceTime, SlotCounts, SlotOutcome, SlotsRun, SlotsSetup, simulate_slots,
};

use super::{Table, assert_close, percentile, replay};

/// The k-th request to start has the k-th service time of the unbounded run, under every policy.
fn service_times() -> Arc<[f64]> {
    let table = Table::read("overload_fifo.csv");
    let mut started: Vec<(f64, f64)> = table
        .numbers("start_s")
        .into_iter()
        .zip(table.numbers("service_s"))
        .filter(|(start_s, _)| !start_s.is_nan())
        .collect();
    started.sort_by(|a, b| a.0.total_cmp(&b.0));
    started.into_iter().map(|(_, service_s)| service_s).collect()
}

fn run(overload: OverloadPolicy) -> SlotsRun {
    let arrivals_s = Table::read("overload_fifo.csv").numbers("arrival_s");
    let setup = SlotsSetup {
        workload: replay(&arrivals_s, std::iter::repeat(1)),
        slots: 8,
        service: ServiceTime::Recorded(service_times()),
        overload,
        useful_within_s: 2.0,
        horizon_s: Some(300.0),
        seed: 0,
    };
    let run = simulate_slots(&setup).expect("a valid set-up");
    assert!(run.counts.is_conserved(), "{:?}", run.counts);
    assert_close(run.in_system_request_s, run.sojourn_request_s, "Little's law");
    run
}

fn bounded(limit: u64) -> OverloadPolicy {
    OverloadPolicy { queue_limit: Some(limit), ..OverloadPolicy::UNBOUNDED }
}

fn deadline() -> OverloadPolicy {
    OverloadPolicy { max_wait_s: Some(1.0), ..OverloadPolicy::UNBOUNDED }
}

fn assert_reproduces(name: &str, policy: OverloadPolicy, expected: SlotCounts) {
    let run = run(policy);
    assert_eq!(run.counts, expected, "{name}");
    let table = Table::read(&format!("{name}.csv"));
    let outcomes = table.texts("outcome_at_horizon");
    let done_s = table.numbers("done_s");
    for (index, record) in run.requests.iter().enumerate() {
        let outcome = match record.outcome {
            SlotOutcome::InTime => "served_ok",
            SlotOutcome::Late => "served_late",
            SlotOutcome::Rejected => "rejected",
            SlotOutcome::Dropped => "dropped",
            SlotOutcome::Running => "running",
            SlotOutcome::Queued => "queued",
        };
        assert_eq!(outcome, outcomes[index], "{name}: request {index}");
        if matches!(record.outcome, SlotOutcome::InTime | SlotOutcome::Late) {
            assert_close(record.done_s, done_s[index], name);
        }
    }
}

#[test]
fn recorded_overload_is_reproduced() {
    let none = SlotCounts { offered: 5741, ..SlotCounts::default() };
    let expected = SlotCounts { in_time: 1055, late: 4679, running: 7, ..none };
    assert_reproduces("overload_fifo", OverloadPolicy::UNBOUNDED, expected);
    let expected =
        SlotCounts { in_time: 4822, late: 172, rejected: 738, running: 8, queued: 1, ..none };
    assert_reproduces("overload_bounded20", bounded(20), expected);
    let expected =
        SlotCounts { in_time: 4846, late: 150, dropped: 733, running: 8, queued: 4, ..none };
    assert_reproduces("overload_deadline1s", deadline(), expected);
}

/// (policy, in time per second, late, rejected, dropped, P99 wait in seconds) as printed.
#[test]
fn the_five_policies_give_the_printed_table() {
    let printed = [
        (OverloadPolicy::UNBOUNDED, "3.5", 4679, 0, 0, "36.9"),
        (bounded(40), "11.4", 1583, 718, 0, "2.5"),
        (bounded(20), "16.1", 172, 738, 0, "1.4"),
        (bounded(10), "16.3", 66, 785, 0, "0.8"),
        (deadline(), "16.2", 150, 0, 733, "1.0"),
    ];
    for (policy, in_time_per_s, late, rejected, dropped, p99_wait_s) in printed {
        let SlotsRun { counts, wait, .. } = run(policy);
        assert_eq!(counts.offered, 5741);
        assert_eq!(format!("{:.1}", counts.in_time as f64 / 300.0), in_time_per_s, "{policy:?}");
        assert_eq!((counts.late, counts.rejected, counts.dropped), (late, rejected, dropped));
        let p99_s = wait.percentile(99.0).expect("waits");
        assert_eq!(format!("{p99_s:.1}"), p99_wait_s, "{policy:?}");
    }
}

/// One request of a thousand stalls for a second. Measured from when it was actually sent, a client
/// that waits for each answer hardly sees it; measured from the intended time, its users do.
#[test]
fn coordinated_omission_has_two_views() {
    let intended_s: Vec<f64> = (0..1000).map(|index| f64::from(index) / 100.0).collect();
    let mut service_s = vec![0.005; 1000];
    service_s[400] = 1.0;
    let setup = SlotsSetup {
        workload: replay(&intended_s, std::iter::repeat(1)),
        slots: 1,
        service: ServiceTime::Recorded(service_s.into()),
        overload: OverloadPolicy::UNBOUNDED,
        useful_within_s: 0.1,
        horizon_s: None,
        seed: 0,
    };
    let run = simulate_slots(&setup).expect("a valid set-up");
    let from_sending: Vec<f64> = run.requests.iter().map(|r| r.done_s - r.start_s).collect();
    let from_intention: Vec<f64> = run.requests.iter().map(|r| r.done_s - r.arrival_s).collect();
    let shown = |values: &[f64]| {
        let ms = |percent| format!("{:.0}", percentile(values, percent) * 1e3);
        let over = values.iter().filter(|&&latency_s| latency_s > 0.1).count();
        (ms(50.0), ms(99.0), ms(99.9), ms(100.0), over)
    };
    let text = |values: [&str; 4], over| {
        let [a, b, c, d] = values.map(str::to_owned);
        (a, b, c, d, over)
    };
    assert_eq!(shown(&from_sending), text(["5", "5", "1000", "1000"], 1));
    assert_eq!(shown(&from_intention), text(["5", "950", "1000", "1000"], 180));
}
