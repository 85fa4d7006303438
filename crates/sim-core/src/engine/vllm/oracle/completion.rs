//! The outputs of a step come back.

use super::{
    decision::{Completion, Decision, Scheduled},
    request::{RequestId, Status},
    scheduler::Scheduler,
};

impl Scheduler {
    /// Take back the outputs of a step. Steps come back in the order in which they were composed.
    pub fn complete(&mut self, decision: &Decision) -> Completion {
        let mut completion = Completion::default();
        for scheduled in &decision.scheduled {
            if self.requests[scheduled.id.index()].status == Status::Ended {
                continue;
            }
            self.take_output(scheduled);
            if !scheduled.samples {
                continue;
            }
            completion.sampled.push(scheduled.id);
            let request = &self.requests[scheduled.id.index()];
            if request.known_tokens() >= request.final_tokens {
                completion.finished.push(scheduled.id);
                self.end(scheduled.id);
            }
        }
        if !completion.finished.is_empty() {
            let requests = &self.requests;
            self.running.retain(|id| requests[id.index()].status == Status::Running);
        }
        completion
    }

    /// Count a step's part for one request.
    fn take_output(&mut self, scheduled: &Scheduled) {
        let request = &mut self.requests[scheduled.id.index()];
        request.in_flight_tokens -= scheduled.tokens;
        let is_stale = request.stale_tokens > 0;
        if is_stale {
            request.stale_tokens -= scheduled.tokens;
        }
        if !scheduled.samples {
            return;
        }
        request.output_tokens += 1;
        if !is_stale && request.expected_tokens > 0 {
            request.expected_tokens -= 1;
            if request.status == Status::Running {
                // The token completes what its block holds only now that it is known.
                self.kv.publish(request, request.computed_tokens - request.in_flight_tokens);
            }
        }
    }

    /// A client has gone: its request leaves, wherever it is, and lets go of its blocks. What steps in
    /// flight compute for it is lost. Returns the output tokens that had come back; `None` if it was
    /// not there any more.
    pub fn abort(&mut self, id: RequestId) -> Option<u64> {
        match self.requests[id.index()].status {
            Status::Ended => return None,
            Status::Running => self.running.retain(|&other| other != id),
            Status::Waiting | Status::Preempted => {
                self.waiting.remove(&self.requests[id.index()]);
                self.passed_over.remove(&id);
            }
        }
        let request = &mut self.requests[id.index()];
        request.status = Status::Ended;
        self.kv.release(request);
        Some(request.output_tokens)
    }

    /// Let go of a request that has its last token. A preempted one, whose last output was on its
    /// way, leaves the queue.
    fn end(&mut self, id: RequestId) {
        let request = &mut self.requests[id.index()];
        if request.status == Status::Preempted {
            self.waiting.remove(request);
            self.passed_over.remove(&id);
        }
        request.status = Status::Ended;
        self.kv.release(request);
    }
}
