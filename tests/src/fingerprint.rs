//! A fingerprint of results: one bit of one number changes it.

use sim_core::{Distribution, Outcome, RequestRecord, Run};

/// The 64-bit FNV-1a hash of numbers, bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// The hash so far.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }

    /// Take bytes in.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Take a whole number in.
    pub fn whole(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Take the bits of a number in. Every NaN counts as one: its payload is no result.
    pub fn real(&mut self, value: f64) {
        self.whole(if value.is_nan() { u64::MAX } else { value.to_bits() });
    }

    /// Take every measure of a run in, and each of its requests.
    pub fn run(&mut self, run: &Run) {
        for value in [
            run.offered,
            run.completed,
            run.rejected,
            run.in_flight,
            run.slo_met,
            run.input_tokens,
            run.output_tokens,
            run.steps,
            run.peak_running,
            run.peak_kv_tokens,
            run.settled_requests,
        ] {
            self.whole(value);
        }
        for value in [
            run.first_arrival_s,
            run.last_finish_s,
            run.step_times.busy_s,
            run.step_times.compute_bound_s,
            run.in_system_request_s,
            run.sojourn_request_s,
            run.running_request_s,
            run.settled_s.0,
            run.settled_s.1,
            run.throughput_per_s(),
            run.output_tokens_per_s(),
            run.goodput_per_s(),
            run.slo_share(),
            run.mean_running(),
            run.settled_throughput_per_s().unwrap_or(f64::NAN),
        ] {
            self.real(value);
        }
        for distribution in [&run.ttft, &run.tpot, &run.itl, &run.e2e, &run.queue_wait] {
            self.distribution(distribution);
        }
        for request in run.requests.iter().flatten() {
            self.request(request);
        }
    }

    /// Take in what a run says of itself: windows, warm-up, verdict, intervals, classes.
    pub fn steadiness(&mut self, run: &Run) {
        for window in run.windows.iter() {
            for count in [window.arrivals, window.completed, window.unanswered, window.slo_met] {
                self.whole(count);
            }
            self.real(window.end_s);
            self.real(window.mean_in_flight);
            for mean_s in [window.ttft_mean_s, window.tpot_mean_s, window.queue_wait_mean_s] {
                self.real(mean_s.unwrap_or(f64::NAN));
            }
        }
        self.whole(run.warm_up().map_or(u64::MAX, |warm_up| warm_up.drop as u64));
        self.whole(run.judgement().verdict as u64);
        if let Some(intervals) = run.intervals() {
            for interval in [
                intervals.ttft_mean_s,
                intervals.ttft_p50_s,
                intervals.ttft_p99_s,
                intervals.slo_share,
                intervals.throughput_per_s,
            ]
            .into_iter()
            .flatten()
            {
                for end in [interval.value, interval.low, interval.high] {
                    self.real(end);
                }
            }
        }
        for class in &run.classes {
            self.whole(class.slo_met);
            for values in [&class.ttft, &class.tpot, &class.e2e] {
                self.distribution(values);
            }
        }
    }

    fn distribution(&mut self, values: &Distribution) {
        self.whole(values.count());
        self.real(values.mean().unwrap_or(f64::NAN));
        for percent in [0.0, 1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0] {
            self.real(values.percentile(percent).unwrap_or(f64::NAN));
        }
    }

    fn request(&mut self, request: &RequestRecord) {
        for time_s in [request.arrival_s, request.first_token_s, request.finish_s] {
            self.real(time_s);
        }
        self.whole(request.input_tokens);
        self.whole(request.output_tokens);
        self.whole(match request.outcome {
            Outcome::Completed => 0,
            Outcome::Rejected => 1,
            Outcome::InFlight => 2,
            Outcome::Dropped => 3,
            Outcome::Abandoned => 4,
            Outcome::Throttled => 5,
        });
    }
}
