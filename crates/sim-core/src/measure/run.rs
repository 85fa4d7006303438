//! The measures of one run.

use quantity::plain;

use crate::{engine::EngineBounds, setup::Slo};

use super::{
    distribution::{Distribution, Precision},
    windows::Windows,
};

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every token was produced.
    Completed,
    /// It was turned away on arrival: it could never fit into the KV cache, or the line was full.
    Rejected,
    /// The server dropped its last attempt after it had waited.
    Dropped,
    /// Its user stopped waiting for the last attempt.
    Abandoned,
    /// Its client did not even send the last attempt, because the server turned so many away.
    Throttled,
    /// The run ended first.
    InFlight,
}

/// One request, as its user saw it. Times in seconds; NaN where the event did not happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestRecord {
    /// When it was sent.
    pub arrival_s: f64,
    /// Prompt length.
    pub input_tokens: u64,
    /// Output length.
    pub output_tokens: u64,
    /// When its first token came.
    pub first_token_s: f64,
    /// When its last token came.
    pub finish_s: f64,
    /// How it ended.
    pub outcome: Outcome,
}

/// Where the engine's time went, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct StepTimes {
    /// Time with a step running.
    pub busy_s: f64,
    /// The part of it in which arithmetic, not memory traffic, set the pace.
    pub compute_bound_s: f64,
}

/// What happened to the requests of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassRun {
    /// The target they were held to.
    pub slo: Slo,
    /// Requests sent.
    pub offered: u64,
    /// Requests that got every token.
    pub completed: u64,
    /// Requests that met the target.
    pub slo_met: u64,
    /// Arrival to first token.
    pub ttft: Distribution,
    /// Mean gap between the tokens of one request.
    pub tpot: Distribution,
    /// Arrival to last token.
    pub e2e: Distribution,
}

impl ClassRun {
    pub(super) const fn new(slo: Slo, precision: Precision) -> Self {
        Self {
            slo,
            offered: 0,
            completed: 0,
            slo_met: 0,
            ttft: Distribution::new(precision),
            tpot: Distribution::new(precision),
            e2e: Distribution::new(precision),
        }
    }

    /// Share of the requests sent that met the target; 0 when none was sent.
    #[must_use]
    pub fn slo_share(&self) -> f64 {
        if self.offered == 0 { 0.0 } else { self.slo_met as f64 / self.offered as f64 }
    }

    /// Add the requests of another run.
    pub fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.completed += other.completed;
        self.slo_met += other.slo_met;
        self.ttft.merge(&other.ttft);
        self.tpot.merge(&other.tpot);
        self.e2e.merge(&other.e2e);
    }
}

/// What happened in one run. Times in seconds, rates per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The target that goodput was measured against; a class of the workload has its own.
    pub slo: Slo,
    /// The limits the run was held to.
    pub bounds: EngineBounds,
    /// Requests sent.
    pub offered: u64,
    /// Requests that got every token.
    pub completed: u64,
    /// Requests turned away because they can never fit, or whose last attempt met a full line.
    pub rejected: u64,
    /// Requests whose last attempt was dropped after it had waited.
    pub dropped: u64,
    /// Requests whose user stopped waiting for the last attempt.
    pub abandoned: u64,
    /// Requests whose client turned its own last attempt away.
    pub throttled: u64,
    /// Requests that had not ended in any of these ways when the run ended.
    pub in_flight: u64,
    /// Requests that met the target.
    pub slo_met: u64,
    /// Prompt tokens of the completed requests.
    pub input_tokens: u64,
    /// Output tokens of the completed requests.
    pub output_tokens: u64,
    /// When the first request was sent.
    pub first_arrival_s: f64,
    /// When the last token was produced.
    pub last_finish_s: f64,
    /// Arrival to first token.
    pub ttft: Distribution,
    /// Mean gap between the tokens of one request; undefined for one-token outputs, which are left out.
    pub tpot: Distribution,
    /// Every gap between adjacent tokens of one request.
    pub itl: Distribution,
    /// Arrival to last token.
    pub e2e: Distribution,
    /// Arrival to the start of the first step that works on the request.
    pub queue_wait: Distribution,
    /// Steps the engine took.
    pub steps: u64,
    /// Sum over the steps of the slots that were occupied.
    pub slot_steps: u64,
    /// Where its time went.
    pub step_times: StepTimes,
    /// Integral of the number of requests in the system over time, request-seconds, from the
    /// engine's own state.
    pub in_system_request_s: f64,
    /// Sum of the times that requests spent in the system, request-seconds, from the requests.
    pub sojourn_request_s: f64,
    /// Integral of the number of running requests over time, request-seconds.
    pub running_request_s: f64,
    /// Most requests that ran at once.
    pub peak_running: u64,
    /// The same of each engine, summed over all engines: no more can have run at once in a fleet.
    pub summed_peak_running: u64,
    /// Most KV tokens reserved at once.
    pub peak_kv_tokens: u64,
    /// How often a running request lost its memory and had to be computed again.
    pub preemptions: u64,
    /// Tokens computed again after that.
    pub recomputed_tokens: u64,
    /// Tokens that a prefix cache held, which were not computed.
    pub cached_tokens: u64,
    /// When the first tenth and the first nine tenths of the requests were done: the settled middle
    /// of a run under overload.
    pub settled_s: (f64, f64),
    /// Requests finished in between.
    pub settled_requests: u64,
    /// The run over time.
    pub windows: Windows,
    /// Each class of requests, in the workload's order; empty where the workload has none.
    pub classes: Vec<ClassRun>,
    /// Every request in order of arrival, where asked for.
    pub requests: Option<Vec<RequestRecord>>,
}

impl Run {
    /// From the first arrival to the last token, in seconds.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.last_finish_s - self.first_arrival_s
    }

    fn per_second(&self, amount: u64) -> f64 {
        let duration_s = self.duration_s();
        if duration_s > 0.0 { amount as f64 / duration_s } else { 0.0 }
    }

    /// Requests finished per second.
    #[must_use]
    pub fn throughput_per_s(&self) -> f64 {
        self.per_second(self.completed)
    }

    /// Output tokens per second.
    #[must_use]
    pub fn output_tokens_per_s(&self) -> f64 {
        self.per_second(self.output_tokens)
    }

    /// Requests per second that met the target.
    #[must_use]
    pub fn goodput_per_s(&self) -> f64 {
        self.per_second(self.slo_met)
    }

    /// Share of all requests sent that met the target; 0 when none was sent.
    #[must_use]
    pub fn slo_share(&self) -> f64 {
        if self.offered == 0 { 0.0 } else { self.slo_met as f64 / self.offered as f64 }
    }

    /// The same of those who left, or were turned away, after half of the time in which requests came,
    /// until all had ended: the start is left out. Of all where nobody left after that.
    #[must_use]
    pub fn settled_slo_share(&self) -> f64 {
        let windows = &self.windows;
        let (half, end) = (windows.arriving() / 2, windows.len());
        let (before, after) = (windows.left_before(half), windows.left_before(end));
        let turned_away =
            windows.came_before(end).turned_away - windows.came_before(half).turned_away;
        let ended = after.completed + after.unanswered - before.completed - before.unanswered;
        if ended + turned_away == 0 {
            return self.slo_share();
        }
        (after.slo_met - before.slo_met) as f64 / (ended + turned_away) as f64
    }

    /// Requests finished per second in the settled middle of the run; `None` when it is too short.
    #[must_use]
    pub fn settled_throughput_per_s(&self) -> Option<f64> {
        let span_s = self.settled_s.1 - self.settled_s.0;
        (span_s > 0.0).then(|| self.settled_requests as f64 / span_s)
    }

    /// Time-average number of running requests.
    #[must_use]
    pub fn mean_running(&self) -> f64 {
        let duration_s = self.duration_s();
        if duration_s > 0.0 { self.running_request_s / duration_s } else { 0.0 }
    }

    /// Share of the occupied slots' steps that produced a token somebody wanted. Prefill over several
    /// steps counts against it, and so do slots that are held after their request is done.
    #[must_use]
    pub fn useful_slot_share(&self) -> f64 {
        if self.slot_steps == 0 { 0.0 } else { self.output_tokens as f64 / self.slot_steps as f64 }
    }

    /// The truths that every run must satisfy; the first that it does not, in words.
    ///
    /// # Errors
    /// The violated identity with its two sides.
    pub fn verify(&self) -> Result<(), String> {
        let unanswered = self.rejected + self.dropped + self.abandoned + self.throttled;
        let accounted = self.completed + unanswered + self.in_flight;
        if self.offered != accounted {
            return Err(format!(
                "conservation: {} offered, {accounted} accounted for",
                self.offered
            ));
        }
        let (engine, users) = (self.in_system_request_s, self.sojourn_request_s);
        // Each request's time is the difference of two readings of a clock that tells no less than this.
        let clock_s = self.last_finish_s * f64::EPSILON;
        let rounding = 4.0 * clock_s * self.offered as f64;
        if (engine - users).abs() > 1e-6 * (1.0 + users) + rounding {
            let (engine, users) = (plain(engine, 0), plain(users, 0));
            return Err(format!("Little's law: {engine} from the engine, {users} from the users"));
        }
        if self.peak_running > self.bounds.max_num_seqs {
            return Err(format!(
                "slots: {} ran at once, {} allowed",
                self.peak_running, self.bounds.max_num_seqs
            ));
        }
        if self.peak_kv_tokens > self.bounds.kv_capacity_tokens {
            return Err(format!(
                "memory: {} tokens reserved, {} fit",
                self.peak_kv_tokens, self.bounds.kv_capacity_tokens
            ));
        }
        if self.slo_met > self.completed {
            return Err(format!("target: {} met it, {} finished", self.slo_met, self.completed));
        }
        let (busy_s, duration_s) = (self.step_times.busy_s, self.duration_s());
        if busy_s > duration_s * (1.0 + 1e-9) + 1e-9 {
            let (busy_s, duration_s) = (plain(busy_s, 0), plain(duration_s, 0));
            return Err(format!("utilisation: busy for {busy_s} s of {duration_s} s"));
        }
        self.verify_ceiling()
    }

    /// Throughput is at most what a step can process at its very best. What a prefix cache held
    /// was not processed.
    fn verify_ceiling(&self) -> Result<(), String> {
        let tokens = self.input_tokens + self.output_tokens - self.completed;
        let least_s =
            self.bounds.least_s_per_token * tokens.saturating_sub(self.cached_tokens) as f64;
        if self.step_times.busy_s * (1.0 + 1e-9) + 1e-9 < least_s {
            return Err(format!(
                "ceiling: {} tokens need at least {} s, the engine was busy for {} s",
                self.input_tokens + self.output_tokens,
                plain(least_s, 0),
                plain(self.step_times.busy_s, 0)
            ));
        }
        Ok(())
    }
}
