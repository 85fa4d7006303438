//! Answers in each of their states, told.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

mod arithmetic;
mod knee;
mod reaction;
mod telling;

use planner::{Estimate, FleetSize, LoadPoint, PlanAnswer, Verdict};

/// A number with an interval around it.
pub(crate) const fn about(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low, high }
}

/// The engine at one rate, with the latencies given in seconds.
pub(crate) fn point(rate_per_s: f64, stable: bool, ttft_p99_s: f64, tpot_p99_s: f64) -> LoadPoint {
    let exactly = Estimate::exactly;
    LoadPoint {
        rate_per_s,
        users: None,
        stable,
        ttft_p50_s: exactly(0.5 * ttft_p99_s),
        ttft_p99_s: about(ttft_p99_s, 0.9 * ttft_p99_s, 1.1 * ttft_p99_s),
        tpot_p50_s: exactly(0.5 * tpot_p99_s),
        tpot_p99_s: exactly(tpot_p99_s),
        itl_p50_s: exactly(0.006),
        itl_p99_s: exactly(0.065),
        itl_max_s: 0.25,
        e2e_p50_s: exactly(3.0),
        e2e_p99_s: exactly(4.0),
        queue_wait_mean_s: exactly(0.02),
        goodput_per_s: exactly(rate_per_s),
        throughput_per_s: exactly(rate_per_s),
        output_tokens_per_s: exactly(256.0 * rate_per_s),
        slo_share: exactly(1.0),
        answered_share: 1.0,
        mean_running: 12.0,
        kv_peak_share: 0.2,
        compute_bound_share: 0.4,
        busy_share: 0.8,
        settled: true,
    }
}

/// An answer for 100 req/s with 25 % headroom, at a capacity of 22.6 req/s.
pub(crate) fn sized(capacity: Estimate) -> PlanAnswer {
    let fleet = FleetSize::divide(100.0, 0.25, &capacity).expect("a capacity above nothing");
    let planned = point(100.0 / fleet.with_headroom as f64, true, 0.181, 0.0152);
    PlanAnswer {
        capacity_per_s: Some(capacity),
        ceiling_per_s: Some(Estimate::exactly(24.2)),
        planned: Some(planned),
        knee: vec![point(5.0, true, 0.09, 0.0069), planned, point(25.0, false, 2.0, 0.041)],
        ..without(Verdict::Sized(fleet))
    }
}

/// An answer with a verdict and nothing else.
pub(crate) fn without(verdict: Verdict) -> PlanAnswer {
    PlanAnswer {
        verdict,
        rate_per_s: 100.0,
        users: None,
        headroom: 0.25,
        capacity_per_s: None,
        ceiling_per_s: None,
        knee: Vec::new(),
        planned: None,
        classes: Vec::new(),
        requests_that_fit: 749,
        replications: 8,
        requests: 2_000,
        simulated_requests: 123_456,
        simulated_steps: 2_345_678,
    }
}
