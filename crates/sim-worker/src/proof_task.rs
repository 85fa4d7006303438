//! A proof under way, behind one door.
//!
//! A page loads what [`begin`] leads to only when somebody asks for a proof. So nobody else may lead
//! there: the proof comes back as a trait object, of which the compiler is not told what it is, and
//! [`begin`] must stay a function of its own.

use std::{collections::VecDeque, hint::black_box};

use planner::{Finding, Proof, ProofJob};
use protocol::FromWorker;

use crate::aside::Aside;

/// Begins the proof that the page calls `generation`.
#[inline(never)]
pub(crate) fn begin(generation: u64, seed: u64) -> Box<dyn Aside> {
    let (proof, jobs, findings) = (Proof::new(seed), VecDeque::new(), Vec::new());
    black_box(Box::new(ProofTask { generation, proof, jobs, findings }))
}

struct ProofTask {
    generation: u64,
    proof: Proof,
    jobs: VecDeque<ProofJob>,
    findings: Vec<Finding>,
}

impl Aside for ProofTask {
    /// One check, or the end of a round.
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        if let Some(job) = self.jobs.pop_front() {
            self.findings.push(job.run());
            return false;
        }
        self.proof.accept(std::mem::take(&mut self.findings));
        self.jobs = self.proof.next_jobs().into();
        let complete = self.jobs.is_empty();
        let answer = Box::new(self.proof.answer().clone());
        post(FromWorker::Proof { generation: self.generation, answer });
        complete
    }
}
