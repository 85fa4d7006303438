//! "How we know" knows, and would notice.
#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use planner::{Proof, ProofAnswer, ProofJob, State, TruthKind, prove_inline};

fn truth(answer: &ProofAnswer, kind: TruthKind) -> &planner::Truth {
    answer.truths.iter().find(|truth| truth.kind == kind).expect("every kind is there")
}

/// The seeds that a visitor meets by running it again a few times.
#[test]
fn every_truth_holds_on_the_first_seeds() {
    for seed in 1..=6 {
        let answer = prove_inline(seed);
        for truth in &answer.truths {
            assert_eq!(truth.state, State::Holds, "seed {seed}: {truth:?}");
            assert!(truth.checks > 0, "seed {seed}: {truth:?}");
        }
        assert_eq!((answer.queues.len(), answer.plateaus.len()), (24, 9));
        assert!(answer.requests > 2_000_000);
        // Every outcome is met, or the sum of them would prove little.
        let [sent, answered, rejected, dropped, in_flight] =
            truth(&answer, TruthKind::Conservation).figures;
        assert_eq!(sent, answered + rejected + dropped + in_flight);
        assert!([answered, rejected, dropped, in_flight].iter().all(|&count| count > 100.0));
        // Limits are reached, or they were no test.
        for kind in [TruthKind::Slots, TruthKind::Memory] {
            let [used, allowed, ..] = truth(&answer, kind).figures;
            assert!(used > 0.99 * allowed, "{kind:?}: {used} of {allowed}");
        }
    }
}

/// The order in which checks are made within a round does not matter, and a seed is a seed.
#[test]
fn the_answer_follows_from_the_seed() {
    let forwards = prove_inline(9);
    let mut proof = Proof::new(9);
    loop {
        let jobs = proof.next_jobs();
        if jobs.is_empty() {
            break;
        }
        assert!(!proof.is_done());
        let mut findings: Vec<_> = jobs.iter().rev().map(ProofJob::run).collect();
        findings.reverse();
        proof.accept(findings);
    }
    assert!(proof.is_done());
    let (done, total) = proof.progress();
    assert_eq!(done, total);
    assert_eq!(proof.answer(), &forwards);
    assert_ne!(prove_inline(10).fingerprint, forwards.fingerprint);
}

/// Rows fill in: what has not been looked at is open, and nothing is said to hold too early.
#[test]
fn truths_are_open_until_they_are_looked_at() {
    let mut proof = Proof::new(1);
    assert_eq!(proof.answer().count(State::Open), TruthKind::ALL.len());
    let findings = proof.next_jobs().iter().map(ProofJob::run).collect();
    proof.accept(findings);
    let answer = proof.answer();
    assert_eq!(truth(answer, TruthKind::LittlesLaw).state, State::Holds);
    assert_eq!(truth(answer, TruthKind::Queues).state, State::Open);
    assert!(!answer.holds());
}
