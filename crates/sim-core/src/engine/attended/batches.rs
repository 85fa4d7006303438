//! Whole batches whose clients react.
//!
//! A batch is formed as [without clients](crate::engine::BatchRule), of those who stand in the line
//! when it starts. Once begun it is computed whole: a client that gives up takes its request out of
//! the line, but not out of a batch. Results come at the end; a client that awaits its first token
//! goes by the end of the prefill, as TTFT does.

use crate::{
    engine::{BatchRule, BatchSetup, Keep, Progress, batcher::BatchService, seen_until_s},
    float::{greater, lesser},
    measure::{Finished, Recorder, Run},
    workload::Request,
};

use super::{AttendedLine, Offer};

/// Whole batches under one workload, advanced batch by batch.
#[derive(Clone, Debug)]
pub(super) struct AttendedBatches {
    rule: BatchRule,
    service: BatchService,
    line: AttendedLine,
    now_s: f64,
    /// The batch in service.
    members: Vec<Request>,
    recorder: Recorder,
}

impl AttendedBatches {
    /// Prepare a run of a checked set-up, in which so many users' requests come.
    pub(super) fn new(
        setup: &BatchSetup,
        keep: Keep,
        total: u64,
        open: impl FnOnce(&mut Recorder) -> AttendedLine,
    ) -> Self {
        let mut recorder = setup.recorder(keep, total);
        Self {
            rule: setup.rule,
            service: BatchService::new(setup),
            line: open(&mut recorder),
            now_s: 0.0,
            members: Vec::new(),
            recorder,
        }
    }

    /// Serve up to `most` batches.
    pub(super) fn advance(&mut self, most: u64) -> Progress {
        for _ in 0..most {
            if !self.form() {
                return Progress::Done;
            }
            self.serve();
        }
        Progress::Running { ended: self.recorder.ended(), total: self.line.total() }
    }

    /// The measures of what has ended so far, and the clients.
    pub(super) fn finish(self) -> (Run, AttendedLine) {
        let is_over = self.line.wake_s().is_none();
        let in_flight = self.recorder.unended();
        let run = self.recorder.finish(in_flight);
        debug_assert!(!is_over || run.verify() == Ok(()), "{:?}", run.verify());
        (run, self.line)
    }

    /// Wait until a batch can start, and take its members from the line; `false` if nobody is left.
    fn form(&mut self) -> bool {
        self.members.clear();
        loop {
            self.line.hear_until(seen_until_s(self.now_s), &mut self.recorder);
            let Some(oldest_s) = self.line.oldest_s() else {
                let Some(wake_s) = self.line.wake_s() else { return false };
                self.now_s = greater(self.now_s, wake_s);
                continue;
            };
            let is_full = self.line.waiting_len() >= self.rule.max_batch;
            let expired_s = oldest_s + self.rule.max_delay_s;
            if !is_full && self.now_s < expired_s {
                self.now_s = lesser(self.line.next_event_s(), expired_s);
                continue;
            }
            self.fill();
            if !self.members.is_empty() {
                return true;
            }
        }
    }

    /// Take whoever's turn it is, as far as there is room; some may be dropped.
    fn fill(&mut self) {
        while (self.members.len() as u64) < self.rule.max_batch {
            match self.line.offer(true, self.now_s, &mut self.recorder) {
                Offer::Blocked => return,
                Offer::Dropped => {}
                Offer::Served(request) => self.members.push(request),
            }
        }
    }

    fn serve(&mut self) {
        let Self { service, line, recorder, members, .. } = self;
        let start_s = self.now_s;
        service.begin(members.first().map_or(0, |lead| line.draws_of(lead.index)));
        for (slot, request) in (0..).zip(members.iter()) {
            recorder.admitted(greater(0.0, start_s - request.arrival_s));
            line.started(request.index, slot);
            service.join(request);
        }
        let first_token_s = start_s + service.prefill(line.take_extra_work_s(), recorder);
        line.hear_before(first_token_s, recorder);
        for request in members.iter() {
            line.first_token(request.index, 0);
        }
        let finish_s = first_token_s + service.decode(recorder);
        line.hear_before(finish_s, recorder);
        for &request in members.iter() {
            line.finished(&Finished { request, start_s, first_token_s, finish_s }, recorder);
        }
        // Nobody is taken out of a batch: those who would have been are done by now.
        let aborted = line.abort(finish_s, recorder);
        debug_assert_eq!(aborted, None);
        self.now_s = finish_s;
    }
}
