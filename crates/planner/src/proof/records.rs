//! What the requests themselves say, counted without the simulator's books.

use sim_core::{
    Outcome, RequestRecord, Run,
    engine::{SlotOutcome, SlotRecord, SlotsRun},
    random::split_mix,
};

/// Server-seconds of work that `servers` servers could do if none idled while somebody was there:
/// the integral of the lesser of the servers and the number present.
pub(super) fn work_s(present: &[(f64, f64)], servers: f64) -> f64 {
    let mut events: Vec<(f64, f64)> = Vec::with_capacity(2 * present.len());
    for &(from_s, to_s) in present {
        events.push((from_s, 1.0));
        events.push((to_s, -1.0));
    }
    sim_core::sort::by_first(&mut events);
    let (mut work_s, mut number, mut since_s) = (0.0, 0.0, 0.0);
    for (at_s, change) in events {
        work_s += sim_core::float::lesser(number, servers) * (at_s - since_s);
        (number, since_s) = (number + change, at_s);
    }
    work_s
}

/// Mixes bits in the order of the requests.
pub(super) fn mixed(bits: impl IntoIterator<Item = u64>) -> u64 {
    bits.into_iter().fold(0, |all, one| split_mix(all ^ one))
}

/// The bits of everything that happened to the requests of an engine, and of its books.
pub(super) fn bits_of_run(run: &Run) -> u64 {
    let books = [run.steps, run.in_system_request_s.to_bits(), run.step_times.busy_s.to_bits()];
    let records = run.requests.iter().flatten();
    // A time that is not there is NaN, whose bits are not the same everywhere.
    let bits = |time_s: f64| if time_s.is_nan() { 0 } else { time_s.to_bits() };
    mixed(
        books.into_iter().chain(
            records.flat_map(move |record| [bits(record.first_token_s), bits(record.finish_s)]),
        ),
    )
}

/// The same for a server with slots.
pub(super) fn bits_of_slots(run: &SlotsRun) -> u64 {
    let bits = |record: &SlotRecord| {
        if record.done_s.is_nan() { record.outcome as u64 } else { record.done_s.to_bits() }
    };
    mixed(run.requests.iter().map(bits))
}

/// Requests of an engine by what became of them: completed, rejected, given up, in flight.
pub(super) fn outcomes(records: &[RequestRecord]) -> [u64; 4] {
    let mut counts = [0; 4];
    for record in records {
        counts[match record.outcome {
            Outcome::Completed => 0,
            Outcome::Rejected => 1,
            Outcome::Dropped | Outcome::Abandoned | Outcome::Throttled => 2,
            Outcome::InFlight => 3,
        }] += 1;
    }
    counts
}

/// Requests of a server with slots: answered, rejected, dropped, in flight.
pub(super) fn slot_outcomes(records: &[SlotRecord]) -> [u64; 4] {
    let mut counts = [0; 4];
    for record in records {
        counts[match record.outcome {
            SlotOutcome::InTime | SlotOutcome::Late => 0,
            SlotOutcome::Rejected => 1,
            SlotOutcome::Dropped => 2,
            SlotOutcome::Running | SlotOutcome::Queued => 3,
        }] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_what_servers_could_do() {
        let present = [(0.0, 4.0), (1.0, 2.0), (1.5, 3.0), (10.0, 11.0)];
        assert_eq!(work_s(&present, 1.0), 5.0);
        assert_eq!(work_s(&present, 2.0), 7.0);
        assert_eq!(work_s(&present, 3.0), 7.5);
        assert_eq!(work_s(&[], 1.0), 0.0);
    }
}
