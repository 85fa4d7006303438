//! What holds of every run under every policy, on random settings.
//!
//! `PROPTEST_CASES` raises the number of cases.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod agreement;
mod cases;
mod clientele;
mod policies;
mod settings;

use agreement::Agreement;
use cases::cases;
use clientele::attended;
use policies::{with_batches, with_drafts, with_vllm};
use proptest::prelude::*;
use settings::setups;
use sim_core::{
    Keep, Outcome, Precision, Progress, RequestRecord, Rules, Run, Setup, Simulation,
    clients::{AttemptCounts, Population},
    engine::{AttendedRun, AttendedSetup, AttendedSimulation},
    simulate, simulate_by_oracle,
    workload::Requests,
};

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

/// Jumps after which a run of sixty requests counts as stuck. Each jump ends with a change: a
/// request comes, is admitted, preempted or done, a prompt gets a chunk, or the step time takes its
/// other branch.
const MOST_JUMPS: u64 = 2_000_000;

/// Run to the end, but not for ever.
fn run_watched(setup: &Setup) -> Result<Run, TestCaseError> {
    let mut simulation = Simulation::new(setup, KEEP_ALL).expect("a valid set-up");
    prop_assert_eq!(simulation.advance(MOST_JUMPS), Progress::Done, "livelock");
    Ok(simulation.finish())
}

fn records(run: &Run) -> &[RequestRecord] {
    run.requests.as_deref().unwrap_or_default()
}

/// Everything that must be true of a run, counted from its requests.
fn check(setup: &Setup, run: &Run) -> Result<(), TestCaseError> {
    prop_assert_eq!(run.verify(), Ok(()));
    let asked: Vec<_> = Requests::new(&setup.workload, setup.seed).collect();
    prop_assert_eq!(records(run).len(), asked.len());
    let done = || records(run).iter().filter(|record| record.outcome == Outcome::Completed);
    let rejected = records(run).iter().filter(|record| record.outcome == Outcome::Rejected);
    prop_assert_eq!(run.completed, done().count() as u64);
    prop_assert_eq!(run.rejected, rejected.count() as u64);
    // An open loop ends: nobody gives up, nobody is left, and who is turned away never fits.
    prop_assert_eq!(run.completed + run.rejected, asked.len() as u64);
    prop_assert_eq!(run.in_flight, 0);
    for (record, request) in records(run).iter().zip(&asked) {
        prop_assert_eq!(record.arrival_s, request.arrival_s);
        if record.outcome == Outcome::Rejected {
            prop_assert!(
                never_fits(setup, request.input_tokens, request.output_tokens),
                "{record:?} {request:?}"
            );
            continue;
        }
        // A step may begin a rounding error before an arrival that it sees.
        let first_s = record.first_token_s - record.arrival_s;
        prop_assert!(first_s >= -1e-12 * (1.0 + record.arrival_s), "{record:?}");
        prop_assert!(record.finish_s >= record.first_token_s, "{record:?}");
    }
    prop_assert_eq!(run.output_tokens, done().map(|record| record.output_tokens).sum::<u64>());
    prop_assert_eq!(run.itl.count(), run.output_tokens - run.completed);
    prop_assert!(run.peak_running <= setup.engine.max_num_seqs);
    let latest_s = done().map(|r| r.finish_s).fold(f64::NEG_INFINITY, sim_core::float::greater);
    if run.completed > 0 {
        prop_assert!((run.last_finish_s - latest_s).abs() <= 1e-9 * latest_s.abs());
    }
    Ok(())
}

fn never_fits(setup: &Setup, input_tokens: u64, output_tokens: u64) -> bool {
    let capacity_tokens = setup.engine.kv_capacity_tokens;
    match setup.rules {
        Rules::Reference => input_tokens + output_tokens > capacity_tokens,
        // The last token is sampled and never held; blocks are whole.
        Rules::VllmV1(_) => input_tokens.max(1) + output_tokens - 1 > capacity_tokens / 16 * 16,
        Rules::Speculative(speculation) => {
            input_tokens + output_tokens + speculation.tokens > capacity_tokens
        }
        Rules::WholeBatches { .. } => false,
    }
}

/// The same run, however it is cut into pieces, and however often it is made.
fn check_repeats(setup: &Setup, run: &Run) -> Result<(), TestCaseError> {
    // Not a number equals itself only as text.
    let text = format!("{run:?}");
    let again = simulate(setup, KEEP_ALL).expect("a valid set-up");
    prop_assert_eq!(format!("{again:?}"), &*text);
    let mut pieces = Simulation::new(setup, KEEP_ALL).expect("a valid set-up");
    while pieces.advance(3) != Progress::Done {}
    prop_assert_eq!(format!("{:?}", pieces.finish()), text);
    Ok(())
}

/// Run to the end with clients that react, but not for ever.
fn run_attended(setup: &AttendedSetup) -> Result<AttendedRun, TestCaseError> {
    let mut simulation = AttendedSimulation::new(setup, KEEP_ALL).expect("a valid set-up");
    prop_assert_eq!(simulation.advance(MOST_JUMPS), Progress::Done, "livelock");
    Ok(simulation.finish())
}

/// Everything that must be true of a run whose clients react, counted from its requests.
fn check_attended(
    setup: &AttendedSetup,
    AttendedRun { run, attempts, .. }: &AttendedRun,
) -> Result<(), TestCaseError> {
    // Conservation of requests, Little's law, slots, memory, utilisation.
    prop_assert_eq!(run.verify(), Ok(()));
    let ended =
        |outcome| records(run).iter().filter(|record| record.outcome == outcome).count() as u64;
    let outcomes = [
        (Outcome::Completed, run.completed),
        (Outcome::Rejected, run.rejected),
        (Outcome::Dropped, run.dropped),
        (Outcome::Abandoned, run.abandoned),
        (Outcome::Throttled, run.throttled),
        (Outcome::InFlight, 0),
    ];
    for (outcome, counted) in outcomes {
        prop_assert_eq!(ended(outcome), counted, "{:?}", outcome);
    }
    prop_assert_eq!(run.in_flight, 0);
    prop_assert_eq!(
        records(run).len(),
        Requests::new(&setup.setup.workload, setup.setup.seed).count()
    );
    // Every attempt that was sent has one end, and every one beyond the first is a retry.
    prop_assert_eq!(
        attempts.sent,
        attempts.completed + attempts.rejected + attempts.dropped + attempts.abandoned
    );
    prop_assert_eq!(attempts.sent + attempts.throttled, run.offered + attempts.retries);
    prop_assert_eq!(attempts.completed, run.completed);
    prop_assert!(attempts.never_fit <= attempts.rejected);
    check_policy(setup, run, attempts)?;
    for record in records(run).iter().filter(|record| record.outcome == Outcome::Completed) {
        prop_assert!(record.first_token_s - record.arrival_s >= -1e-12 * (1.0 + record.arrival_s));
        prop_assert!(record.finish_s >= record.first_token_s, "{record:?}");
    }
    prop_assert!(run.peak_running <= setup.setup.engine.max_num_seqs);
    Ok(())
}

/// What nobody asked for does not happen.
fn check_policy(
    setup: &AttendedSetup,
    run: &Run,
    attempts: &AttemptCounts,
) -> Result<(), TestCaseError> {
    let AttendedSetup { clients, overload, .. } = setup;
    let drops = overload.max_wait_s.is_some() || overload.codel.is_some();
    prop_assert!(drops || attempts.dropped == 0);
    prop_assert!(overload.queue_limit.is_some() || attempts.rejected == attempts.never_fit);
    prop_assert!(clients.patience.is_some() || attempts.abandoned == 0);
    prop_assert!(clients.throttle.is_some() || attempts.throttled == 0);
    prop_assert!(clients.retries.is_some() || attempts.retries + attempts.forbidden == 0);
    if let Some(retries) = clients.retries {
        let most = u64::from(retries.max_attempts);
        prop_assert!(attempts.sent + attempts.throttled <= run.offered * most);
        let saved = retries.budget.map_or(f64::INFINITY, |budget| budget * run.offered as f64);
        prop_assert!(attempts.retries as f64 <= saved + 1e-9);
    }
    if let Population::Closed { users, .. } = clients.population {
        let gives_up = clients.patience.is_some();
        // Each user has one request at a time, unless what was given up is still worked on.
        prop_assert!(gives_up || run.peak_running <= users);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_000), ..ProptestConfig::default() })]

    #[test]
    fn the_reference_keeps_its_promises(setup in setups()) {
        let run = run_watched(&setup)?;
        check(&setup, &run)?;
        check_repeats(&setup, &run)?;
    }

    #[test]
    fn vllms_rules_keep_their_promises(setup in with_vllm()) {
        let run = run_watched(&setup)?;
        check(&setup, &run)?;
        check_repeats(&setup, &run)?;
    }

    #[test]
    fn whole_batches_keep_their_promises(setup in with_batches()) {
        let run = run_watched(&setup)?;
        check(&setup, &run)?;
        check_repeats(&setup, &run)?;
    }

    #[test]
    fn the_reference_keeps_its_promises_to_impatient_clients(setup in attended(setups())) {
        check_attended(&setup, &run_attended(&setup)?)?;
    }

    #[test]
    fn drafts_keep_their_promises_to_impatient_clients(setup in attended(with_drafts())) {
        check_attended(&setup, &run_attended(&setup)?)?;
    }

    #[test]
    fn vllms_rules_keep_their_promises_to_impatient_clients(setup in attended(with_vllm())) {
        check_attended(&setup, &run_attended(&setup)?)?;
    }

    #[test]
    fn whole_batches_keep_their_promises_to_impatient_clients(setup in attended(with_batches())) {
        check_attended(&setup, &run_attended(&setup)?)?;
    }

    /// Batch by batch in closed form, or event by event and step by step: the same.
    #[test]
    fn whole_batches_agree_with_the_obvious_engine(setup in with_batches()) {
        let fast = simulate(&setup, KEEP_ALL).expect("a valid set-up");
        let slow = simulate_by_oracle(&setup, KEEP_ALL).expect("a valid set-up");
        let agreement = Agreement::of(&slow, 0);
        for (f, s) in records(&fast).iter().zip(records(&slow)) {
            prop_assert_eq!(f.outcome, s.outcome);
            prop_assert!(agreement.is_same_time(f.first_token_s, s.first_token_s), "{f:?} {s:?}");
            prop_assert!(agreement.is_same_time(f.finish_s, s.finish_s), "{f:?} {s:?}");
        }
        prop_assert_eq!(records(&fast).len(), records(&slow).len());
        prop_assert_eq!((fast.steps, fast.slot_steps), (slow.steps, slow.slot_steps));
        prop_assert_eq!((fast.completed, fast.peak_running), (slow.completed, slow.peak_running));
        prop_assert_eq!(fast.itl.count(), slow.itl.count());
        prop_assert!(Agreement::is_same_length(fast.step_times.busy_s, slow.step_times.busy_s));
        let pairs = [(&fast.ttft, &slow.ttft), (&fast.itl, &slow.itl), (&fast.queue_wait, &slow.queue_wait)];
        for (f, s) in pairs {
            for percent in [0.0, 50.0, 99.0, 100.0] {
                match (f.percentile(percent), s.percentile(percent)) {
                    (Some(f), Some(s)) => {
                        prop_assert!(agreement.are_same_spans(1, f, s), "P{percent}: {f} {s}");
                    }
                    (f, s) => prop_assert_eq!(f, s),
                }
            }
        }
    }
}
