//! Turns events into the measures of a run.

use crate::{
    engine::{EngineBounds, Keep},
    float::{from_count, greater},
    setup::Slo,
    workload::{Request, RequestSource, Workload},
};

use super::{
    distribution::{Distribution, Precision, ValueRun},
    run::{ClassRun, Outcome, RequestRecord, Run, StepTimes},
    timeline::Timeline,
    windows::Windows,
};

/// A finished request.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// What was asked.
    pub request: Request,
    /// When the first step that worked on it began, in seconds.
    pub start_s: f64,
    /// When its first token came, in seconds.
    pub first_token_s: f64,
    /// When its last token came, in seconds.
    pub finish_s: f64,
}

/// One or more steps of a fixed batch.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The durations of the steps; their weight is the number of sequences that were decoding, so
    /// each duration is that many gaps between tokens.
    pub gaps: ValueRun,
    /// Time they took together, in seconds.
    pub total_s: f64,
    /// Whether arithmetic set the pace.
    pub compute_bound: bool,
    /// Requests running.
    pub running: u64,
    /// KV tokens reserved.
    pub kv_tokens: u64,
}

fn keep_request(requests: &mut Vec<RequestRecord>, request: &Request) {
    requests.push(RequestRecord {
        arrival_s: request.arrival_s,
        input_tokens: request.input_tokens,
        output_tokens: request.output_tokens,
        first_token_s: f64::NAN,
        finish_s: f64::NAN,
        outcome: Outcome::InFlight,
    });
}

fn keep_times(requests: &mut [RequestRecord], finished: &Finished) {
    let record = &mut requests[finished.request.index as usize];
    record.first_token_s = finished.first_token_s;
    record.finish_s = finished.finish_s;
    record.outcome = Outcome::Completed;
}

/// Collects the measures of a run.
#[derive(Clone, Debug)]
pub struct Recorder {
    run: Run,
    timeline: Timeline,
    precision: Precision,
    tenth: u64,
    nine_tenths: u64,
    /// The one of the two that comes next.
    next_mark: u64,
}

impl Recorder {
    /// Start collecting for a run of `total` requests.
    #[must_use]
    pub fn new(slo: Slo, bounds: EngineBounds, total: u64, keep: Keep) -> Self {
        let precision = keep.precision;
        let distribution = || Distribution::new(precision);
        let run = Run {
            slo,
            bounds,
            offered: 0,
            completed: 0,
            rejected: 0,
            dropped: 0,
            abandoned: 0,
            throttled: 0,
            in_flight: 0,
            slo_met: 0,
            input_tokens: 0,
            output_tokens: 0,
            first_arrival_s: 0.0,
            last_finish_s: 0.0,
            ttft: distribution(),
            tpot: distribution(),
            itl: distribution(),
            e2e: distribution(),
            queue_wait: distribution(),
            steps: 0,
            slot_steps: 0,
            step_times: StepTimes::default(),
            in_system_request_s: 0.0,
            sojourn_request_s: 0.0,
            running_request_s: 0.0,
            peak_running: 0,
            summed_peak_running: 0,
            peak_kv_tokens: 0,
            preemptions: 0,
            recomputed_tokens: 0,
            cached_tokens: 0,
            settled_s: (0.0, 0.0),
            settled_requests: 0,
            windows: Windows::default(),
            classes: Vec::new(),
            requests: keep.requests.then(Vec::new),
        };
        let tenth = (total / 10).max(1);
        let nine_tenths = (total * 9 / 10).max(tenth);
        let timeline = Timeline::new();
        #[cfg(feature = "growth")]
        let timeline = if keep.intervals { timeline.following() } else { timeline };
        Self { run, timeline, precision, tenth, nine_tenths, next_mark: tenth }
    }

    /// Judge each request by the target of its own class, where the workload has classes, and look
    /// at the run in windows that suit it.
    #[must_use]
    pub fn judging(mut self, workload: &Workload) -> Self {
        self.timeline.suit(workload);
        if let RequestSource::Mixed(mix) = workload.source.whole() {
            for class in &mix.classes {
                self.run.classes.push(ClassRun::new(class.slo, self.precision));
            }
        }
        self
    }

    /// The workload's rate is not that at which requests come, as in a closed loop.
    pub(crate) fn set_unpaced(&mut self) {
        self.timeline.set_unpaced();
    }

    /// A request was sent.
    #[inline]
    pub fn arrived(&mut self, request: &Request) {
        if self.run.offered == 0 {
            self.run.first_arrival_s = request.arrival_s;
            self.run.last_finish_s = request.arrival_s;
        }
        self.timeline.comes(request.arrival_s, self.run.offered);
        self.run.offered += 1;
        if let Some(class) = self.run.classes.get_mut(request.class as usize) {
            class.offered += 1;
        }
        if let Some(requests) = &mut self.run.requests {
            keep_request(requests, request);
        }
    }

    /// A request ended without its answer, in the way of its last attempt.
    pub fn unanswered(&mut self, request: &Request, outcome: Outcome, now_s: f64) {
        self.timeline.leaves(now_s, &self.run);
        let run = &mut self.run;
        match outcome {
            Outcome::Rejected => run.rejected += 1,
            Outcome::Dropped => run.dropped += 1,
            Outcome::Abandoned => run.abandoned += 1,
            Outcome::Throttled => run.throttled += 1,
            // These two are counted where they are known.
            Outcome::Completed | Outcome::InFlight => return,
        }
        if let Some(record) =
            run.requests.as_mut().and_then(|all| all.get_mut(request.index as usize))
        {
            record.outcome = outcome;
        }
    }

    /// An attempt left the line without being served.
    pub fn waited_in_vain(&mut self, wait_s: f64) {
        self.run.in_system_request_s += wait_s;
        self.run.sojourn_request_s += wait_s;
    }

    /// The engine let go of an attempt whose client had gone, so long after it was sent.
    pub fn released(&mut self, sojourn_s: f64, now_s: f64) {
        self.run.sojourn_request_s += sojourn_s;
        self.run.last_finish_s = greater(self.run.last_finish_s, now_s);
    }

    /// The engine worked until then, if only for clients that had gone.
    pub(crate) fn ran_until(&mut self, now_s: f64) {
        self.run.last_finish_s = greater(self.run.last_finish_s, now_s);
    }

    /// A request got its last token at an attempt that was sent so long after its user meant to
    /// send it: latencies count from that intent, time in the system from the attempt.
    pub fn finished_late_sent(&mut self, finished: &Finished, sent_late_s: f64) {
        self.finished(finished);
        self.run.sojourn_request_s -= sent_late_s;
    }

    /// The request that came last can never fit and was turned away.
    pub fn rejected(&mut self, request: &Request) {
        self.timeline.turned_away(request.arrival_s);
        self.run.rejected += 1;
        if let Some(requests) = &mut self.run.requests {
            requests[request.index as usize].outcome = Outcome::Rejected;
        }
    }

    /// A waiting request began to run: its wait is part of the time in the system.
    #[inline]
    pub fn admitted(&mut self, wait_s: f64) {
        self.run.in_system_request_s += wait_s;
    }

    /// Steps were taken.
    #[inline]
    pub fn stepped(&mut self, step: &Step) {
        let run = &mut self.run;
        run.steps += step.gaps.count;
        run.slot_steps += step.gaps.count * step.running;
        run.step_times.busy_s += step.total_s;
        // Adding zero costs less than a branch that cannot be predicted.
        run.step_times.compute_bound_s += if step.compute_bound { step.total_s } else { 0.0 };
        let running_request_s = from_count(step.running) * step.total_s;
        run.running_request_s += running_request_s;
        run.in_system_request_s += running_request_s;
        // New peaks are rare; a branch foretold costs less than a store.
        if step.running > run.peak_running {
            run.peak_running = step.running;
        }
        if step.kv_tokens > run.peak_kv_tokens {
            run.peak_kv_tokens = step.kv_tokens;
        }
        if step.gaps.weight > 0 {
            run.itl.record_run(&step.gaps);
        }
    }

    /// A gap between two tokens of one request that spans more than the step that ends it: it was
    /// passed over, or preempted and computed again.
    pub fn gap(&mut self, gap_s: f64) {
        self.run.itl.record(gap_s);
    }

    /// So many tokens came together with the one before them of the same request.
    pub(crate) fn came_together(&mut self, tokens: u64) {
        self.run.itl.record_run(&ValueRun { first: 0.0, slope: 0.0, count: 1, weight: tokens });
    }

    /// A request got its last token.
    #[inline(always)]
    pub fn finished(&mut self, finished: &Finished) {
        self.timeline.leaves(finished.finish_s, &self.run);
        let run = &mut self.run;
        let request = &finished.request;
        let ttft_s = finished.first_token_s - request.arrival_s;
        let e2e_s = finished.finish_s - request.arrival_s;
        run.completed += 1;
        run.input_tokens += request.input_tokens;
        run.output_tokens += request.output_tokens;
        run.last_finish_s = finished.finish_s;
        run.sojourn_request_s += e2e_s;
        run.queue_wait.record(greater(0.0, finished.start_s - request.arrival_s));
        // Whoever sent the request waits for the server before the engine, too.
        #[cfg(feature = "kernel")]
        let (ttft_s, e2e_s) = (ttft_s + run.bounds.api_s, e2e_s + run.bounds.api_s);
        self.timeline.first_token(ttft_s);
        // What a class has measured becomes part of the run when the books are closed.
        let (slo, ttft, tpot, e2e, mut own_met) = match run.classes.get_mut(request.class as usize)
        {
            Some(class) => {
                class.completed += 1;
                let ClassRun { slo, ttft, tpot, e2e, slo_met, .. } = class;
                (&*slo, ttft, tpot, e2e, Some(slo_met))
            }
            None => (&run.slo, &mut run.ttft, &mut run.tpot, &mut run.e2e, None),
        };
        ttft.record(ttft_s);
        e2e.record(e2e_s);
        // The TPOT of a one-token output is undefined and meets its target.
        let mut tpot_s = 0.0;
        if request.output_tokens > 1 {
            tpot_s = (finished.finish_s - finished.first_token_s)
                / from_count(request.output_tokens - 1);
            tpot.record(tpot_s);
        }
        let is_met = u64::from(slo.is_met(ttft_s, tpot_s));
        run.slo_met += is_met;
        if let Some(own_met) = &mut own_met {
            **own_met += is_met;
        }
        if run.completed == self.next_mark {
            self.pass_mark(finished.finish_s);
        }
        if let Some(requests) = &mut self.run.requests {
            keep_times(requests, finished);
        }
    }

    /// The first tenth, or the first nine tenths, of the requests are done.
    #[cold]
    fn pass_mark(&mut self, now_s: f64) {
        if self.run.completed == self.tenth {
            self.run.settled_s.0 = now_s;
            self.next_mark = self.nine_tenths;
        }
        if self.run.completed == self.nine_tenths {
            self.run.settled_s.1 = now_s;
            self.run.settled_requests = self.nine_tenths - self.tenth;
        }
    }

    /// Whether percentiles are kept exactly.
    #[must_use]
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// How many requests have ended.
    #[must_use]
    pub const fn ended(&self) -> u64 {
        let run = &self.run;
        run.completed + run.rejected + run.dropped + run.abandoned + run.throttled
    }

    /// How many requests have been sent and have not ended.
    #[must_use]
    pub const fn unended(&self) -> u64 {
        self.run.offered - self.ended()
    }

    /// Close the books, with the number of requests that the engine still holds.
    #[must_use]
    pub fn finish(mut self, in_flight: u64) -> Run {
        self.run.in_flight = in_flight;
        self.run.summed_peak_running = self.run.peak_running;
        self.run.windows = self.timeline.finish(&self.run);
        for class in &self.run.classes {
            self.run.ttft.merge(&class.ttft);
            self.run.tpot.merge(&class.tpot);
            self.run.e2e.merge(&class.e2e);
        }
        self.run
    }
}
