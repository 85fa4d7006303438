//! The fast engines with clients that react against the obvious ones, on random settings of every
//! rules that have such clients.
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
    Keep, Precision, Progress, Run, Setup,
    clients::ClientSpec,
    engine::{
        AttendedRun, AttendedSetup, AttendedSimulation, OverloadPolicy, simulate_attended_by_oracle,
    },
    simulate,
};

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

/// Clients add to a time once an attempt, when they think or wait, and so does the engine for the cost
/// of turning one away.
fn agreement_of(run: &AttendedRun) -> Agreement {
    Agreement::of(&run.run, 2 * run.attempts.sent)
}

fn assert_same(fast: &AttendedRun, slow: &AttendedRun) -> Result<(), TestCaseError> {
    prop_assert_eq!(fast.attempts, slow.attempts);
    prop_assert_eq!(fast.sessions, slow.sessions);
    let (f, s) = (&fast.run, &slow.run);
    prop_assert_eq!(f.verify(), Ok(()));
    prop_assert_eq!(s.verify(), Ok(()));
    let agreement = agreement_of(slow);
    let (kept_f, kept_s) = (f.requests.as_ref(), s.requests.as_ref());
    prop_assert_eq!(kept_f.map(Vec::len), kept_s.map(Vec::len));
    for (f, s) in kept_f.into_iter().flatten().zip(kept_s.into_iter().flatten()) {
        prop_assert_eq!(f.outcome, s.outcome);
        prop_assert!(agreement.is_same_time(f.arrival_s, s.arrival_s), "{f:?} {s:?}");
        prop_assert!(agreement.is_same_time(f.first_token_s, s.first_token_s), "{f:?} {s:?}");
        prop_assert!(agreement.is_same_time(f.finish_s, s.finish_s), "{f:?} {s:?}");
    }
    let counts = |run: &Run| {
        let ends = [run.completed, run.rejected, run.dropped, run.abandoned, run.throttled];
        (ends, run.offered, run.in_flight, run.steps, run.peak_running, run.peak_kv_tokens)
    };
    prop_assert_eq!(counts(f), counts(s));
    prop_assert_eq!(f.itl.count(), s.itl.count());
    let found = |run: &Run| (run.preemptions, run.recomputed_tokens, run.cached_tokens);
    prop_assert_eq!(found(f), found(s));
    prop_assert!(agreement.is_same_time(f.last_finish_s, s.last_finish_s));
    prop_assert!(Agreement::is_same_length(f.step_times.busy_s, s.step_times.busy_s));
    let (engine_f, engine_s) = (f.in_system_request_s, s.in_system_request_s);
    prop_assert!(agreement.are_same_spans(slow.attempts.sent, engine_f, engine_s));
    for percent in [0.0, 50.0, 99.0, 100.0] {
        let pairs =
            [(&f.ttft, &s.ttft), (&f.itl, &s.itl), (&fast.ttft_from_send, &slow.ttft_from_send)];
        for (f, s) in pairs {
            match (f.percentile(percent), s.percentile(percent)) {
                (Some(f), Some(s)) => {
                    prop_assert!(agreement.are_same_spans(1, f, s), "P{percent}: {f} {s}");
                }
                (f, s) => prop_assert_eq!(f, s),
            }
        }
    }
    Ok(())
}

fn assert_accounted(run: &AttendedRun) -> Result<(), TestCaseError> {
    let attempts = run.attempts;
    let ends = attempts.completed + attempts.rejected + attempts.dropped + attempts.abandoned;
    prop_assert_eq!(attempts.sent, ends);
    prop_assert_eq!(attempts.sent + attempts.throttled, run.run.offered + attempts.retries);
    prop_assert_eq!(run.run.completed, attempts.completed);
    prop_assert_eq!(run.run.in_flight, 0);
    if let Some(sessions) = run.sessions {
        prop_assert_eq!(sessions.verify(run.run.offered), Ok(()));
    }
    Ok(())
}

fn agree(setup: &AttendedSetup) -> Result<(), TestCaseError> {
    let fast = run_watched(setup)?;
    let slow = simulate_attended_by_oracle(setup, KEEP_ALL).expect("a valid set-up");
    assert_same(&fast, &slow)?;
    assert_accounted(&fast)
}

/// Jumps after which a run of sixty requests counts as stuck.
const MOST_JUMPS: u64 = 2_000_000;

/// Run to the end, but not for ever.
fn run_watched(setup: &AttendedSetup) -> Result<AttendedRun, TestCaseError> {
    let mut simulation = AttendedSimulation::new(setup, KEEP_ALL).expect("a valid set-up");
    prop_assert_eq!(simulation.advance(MOST_JUMPS), Progress::Done, "livelock");
    Ok(simulation.finish())
}

fn slices_agree(setup: &AttendedSetup, most: u64) -> Result<(), TestCaseError> {
    let whole = run_watched(setup)?;
    let mut sliced = AttendedSimulation::new(setup, KEEP_ALL).expect("a valid set-up");
    while sliced.advance(most) != Progress::Done {
        let seen = sliced.clone().finish().run;
        let ended = seen.completed + seen.rejected + seen.dropped + seen.abandoned + seen.throttled;
        prop_assert_eq!(seen.offered, ended + seen.in_flight);
    }
    // Not a number equals itself only as text.
    prop_assert_eq!(format!("{:?}", sliced.finish()), format!("{whole:?}"));
    Ok(())
}

/// Clients that do nothing of their own before a line without a policy are the open loop.
fn is_the_open_loop(setup: Setup) -> Result<(), TestCaseError> {
    let open = simulate(&setup, KEEP_ALL).expect("a valid set-up");
    let (clients, overload) = (ClientSpec::OPEN, OverloadPolicy::UNBOUNDED);
    let attended = run_watched(&AttendedSetup { setup, clients, overload })?;
    let (agreement, attended) = (agreement_of(&attended), attended.run);
    let counts = |run: &Run| {
        let found = (run.preemptions, run.recomputed_tokens, run.cached_tokens);
        (run.offered, run.completed, run.rejected, run.steps, run.peak_kv_tokens, found)
    };
    prop_assert_eq!(counts(&attended), counts(&open));
    let kept = |run: &Run| run.requests.clone().unwrap_or_default();
    for (a, b) in kept(&attended).iter().zip(&kept(&open)) {
        prop_assert!(agreement.is_same_time(a.first_token_s, b.first_token_s), "{a:?} {b:?}");
        prop_assert!(agreement.is_same_time(a.finish_s, b.finish_s), "{a:?} {b:?}");
    }
    Ok(())
}

/// The tests of all rules that have clients that react.
macro_rules! rules {
    ($name:ident, $setups:expr) => {
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: cases(1_500), ..ProptestConfig::default() })]

                #[test]
                fn outcomes_are_identical_and_times_agree(setup in attended($setups)) {
                    agree(&setup)?;
                }

                #[test]
                fn looking_does_not_change_bits(setup in attended($setups), most in 1_u64..5) {
                    slices_agree(&setup, most)?;
                }

                #[test]
                fn clients_that_never_react_are_the_open_loop(setup in $setups) {
                    is_the_open_loop(setup)?;
                }
            }
        }
    };
}

rules!(reference, setups());
rules!(drafts, with_drafts());
rules!(vllm, with_vllm());
rules!(whole_batches, with_batches());
