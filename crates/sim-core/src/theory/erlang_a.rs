//! Users who give up waiting: the M/M/c+M queue, Erlang-A.

use crate::float::{greater, lesser};

use super::{
    birth_death::stationary,
    error::{TheoryError, count, positive, tail_share, time_s},
};

/// States computed at most.
const MOST_STATES: usize = 4_000_000;
/// Nobody waits for as many services as this, with as many states as there may be.
const NEVER: f64 = 1e9;
/// Where a sum is scaled down.
const LARGE: f64 = 1e200;

/// M/M/c with exponential patience (Palm 1957; Garnett, Mandelbaum and Reiman, "Designing a call
/// center with impatient customers", 2002). Stable at any load: those who give up make room.
///
/// From the chain of the number in the system, up at `λ`, down at `min(n, c) μ + (n − c)⁺ θ`.
#[derive(Clone, Debug, PartialEq)]
pub struct ErlangA {
    /// Of those who find all servers busy, by the number that waits before them: the probability.
    finding: Vec<f64>,
    /// Rate at which those who wait give up, each.
    leaving_per_s: f64,
    /// Rate at which the servers finish, all of them busy.
    serving_per_s: f64,
    /// Share of the arrivals that are served.
    served: f64,
    abandoning: f64,
    waiting: f64,
    mean_queue: f64,
    mean_wait_s: f64,
    busy: f64,
}

impl ErlangA {
    /// A queue with `servers` servers, mean service `service_s` and mean patience `patience_s`.
    ///
    /// # Errors
    /// A number outside its domain, or patience so long that the queue has too many states.
    pub fn new(
        rate_per_s: f64,
        service_s: f64,
        patience_s: f64,
        servers: u64,
    ) -> Result<Self, TheoryError> {
        let rate_per_s = positive("rate_per_s", rate_per_s)?;
        let service_per_s = 1.0 / positive("service_s", service_s)?;
        let leaving_per_s = 1.0 / positive("patience_s", patience_s)?;
        let servers = count("servers", servers)? as usize;
        let down_per_s = |n: usize| {
            n.min(servers) as f64 * service_per_s + n.saturating_sub(servers) as f64 * leaving_per_s
        };
        let ratios = ratios_until_negligible(servers, |n| rate_per_s / down_per_s(n + 1))?;
        let probabilities = stationary(&ratios);
        let (mut waiting, mut mean_queue, mut busy) = (0.0, 0.0, 0.0);
        for (n, probability) in probabilities.iter().enumerate() {
            busy += probability * n.min(servers) as f64;
            if n >= servers {
                waiting += probability;
                mean_queue += probability * (n - servers) as f64;
            }
        }
        let abandoning = leaving_per_s * mean_queue / rate_per_s;
        let mean_wait_s = mean_queue / rate_per_s;
        Ok(Self {
            finding: probabilities.into_iter().skip(servers).collect(),
            leaving_per_s,
            serving_per_s: lesser(f64::MAX, servers as f64 * service_per_s),
            served: lesser(1.0, busy * service_per_s / rate_per_s),
            abandoning,
            waiting,
            mean_queue,
            mean_wait_s,
            busy: busy / servers as f64,
        })
    }

    /// Share of the arrivals that give up: `θ E[queue] / λ`.
    #[must_use]
    pub const fn share_abandoning(&self) -> f64 {
        self.abandoning
    }

    /// Share of the arrivals that find all servers busy.
    #[must_use]
    pub const fn share_waiting(&self) -> f64 {
        self.waiting
    }

    /// Mean number waiting.
    #[must_use]
    pub const fn mean_queue(&self) -> f64 {
        self.mean_queue
    }

    /// Mean wait in seconds of all arrivals, until they are served or give up (Little).
    #[must_use]
    pub const fn mean_wait_s(&self) -> f64 {
        self.mean_wait_s
    }

    /// Share of those who are served that wait longer than `wait_s` before.
    ///
    /// Whoever finds `k` waiting is served after `k + 1` departures, at the rates `c μ + j θ` for `j`
    /// from `k` down to 0, if patience lasts. With `β = c μ / θ`, `e^(−θ V)` of that time `V` is
    /// Beta(`β`, `k + 1`) (a sum of exponentials whose rates rise in equal steps, as in Rényi's
    /// representation of order statistics). So of those the share `β / (β + k + 1) I(β + 1, k + 1)`
    /// waits longer than `t` and is served, with the regularised incomplete beta function at
    /// `e^(−θ t)`.
    ///
    /// # Errors
    /// A time that is not a number.
    pub fn share_of_served_waiting_beyond(&self, wait_s: f64) -> Result<f64, TheoryError> {
        Ok(self.served_beyond(time_s(wait_s)?))
    }

    fn served_beyond(&self, wait_s: f64) -> f64 {
        if wait_s < 0.0 {
            return 1.0;
        }
        let Self { leaving_per_s, serving_per_s, .. } = *self;
        let gone = -libm::expm1(-leaving_per_s * wait_s);
        // What a patience long beside the wait leaves of it.
        let lost = leaving_per_s * wait_s;
        let spread_s = if lost > 1e-9 { gone / leaving_per_s } else { wait_s };
        // I(a, k + 1) at x is x^a times the sum of Γ(a + j) / (Γ(a) j!) (1 − x)^j up to j = k. The
        // factor may be too small for a float where the sum is too large: both are scaled.
        let mut log_scale = -(serving_per_s + leaving_per_s) * wait_s;
        if log_scale.is_nan() || log_scale < -NEVER {
            return 0.0;
        }
        let mut scale = libm::exp(log_scale);
        let (mut term, mut sum, mut share) = (1.0, 0.0, 0.0);
        for (index, finding) in self.finding.iter().enumerate() {
            let k = index as f64;
            if index > 0 {
                term *= (serving_per_s * spread_s + k * gone) / k;
            }
            sum += term;
            if sum > LARGE {
                term /= LARGE;
                sum /= LARGE;
                log_scale += libm::log(LARGE);
                scale = libm::exp(log_scale);
            }
            let outlasts = serving_per_s / (serving_per_s + (k + 1.0) * leaving_per_s);
            share += finding * outlasts * sum * scale;
        }
        lesser(1.0, share / self.served)
    }

    /// The wait in seconds that a share `tail` of those who are served exceed; 0 when fewer wait at
    /// all.
    ///
    /// # Errors
    /// A tail outside its domain.
    pub fn wait_of_served_exceeded_s(&self, tail: f64) -> Result<f64, TheoryError> {
        let tail = tail_share(tail)?;
        if self.served_beyond(0.0) <= tail {
            return Ok(0.0);
        }
        let (mut low_s, mut high_s) = (0.0, greater(self.mean_wait_s, 1.0 / self.serving_per_s));
        while self.served_beyond(high_s) > tail {
            low_s = high_s;
            high_s *= 2.0;
        }
        for _ in 0..60 {
            let middle_s = 0.5 * (low_s + high_s);
            if self.served_beyond(middle_s) > tail {
                low_s = middle_s;
            } else {
                high_s = middle_s;
            }
        }
        Ok(0.5 * (low_s + high_s))
    }

    /// Share of the servers that are busy.
    #[must_use]
    pub const fn utilisation(&self) -> f64 {
        self.busy
    }
}

/// Ratios of neighbouring states until, beyond the servers, a state has less than `1e-18` of the
/// weight of the likeliest. The ratios fall, so the weights have one peak.
fn ratios_until_negligible(
    servers: usize,
    ratio: impl Fn(usize) -> f64,
) -> Result<Vec<f64>, TheoryError> {
    let mut ratios = Vec::new();
    let mut weight = 1.0;
    while ratios.len() < servers || weight > 1e-18 {
        if ratios.len() >= MOST_STATES {
            return Err(TheoryError::TooManyStates {
                what: "a queue with such long patience",
                limit: MOST_STATES,
                remedy: "shorten the patience or lower the rate; below full load, leave patience \
                         out",
            });
        }
        let next = ratio(ratios.len());
        ratios.push(next);
        weight = lesser(1.0, weight * next);
    }
    Ok(ratios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{Mmc, erlang_b};
    use proptest::prelude::*;

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance * expected, "{value} against {expected}");
    }

    /// Patience as long as service: the number in the system is Poisson with mean `a`.
    #[test]
    fn equal_rates_are_an_infinite_server_queue() {
        for (offered, servers) in [(4.0_f64, 5_u64), (12.0, 10), (100.0, 100)] {
            let (mut probability, mut queue) = (libm::exp(-offered), 0.0);
            for n in 1..1_000_u64 {
                probability *= offered / n as f64;
                queue += probability * n.saturating_sub(servers) as f64;
            }
            let theory = ErlangA::new(offered, 1.0, 1.0, servers).unwrap();
            close(theory.mean_queue(), queue, 1e-10);
            close(theory.share_abandoning(), queue / offered, 1e-10);
        }
    }

    #[test]
    fn the_limits_of_patience_are_erlang_b_and_c() {
        let hasty = ErlangA::new(8.0, 1.0, 1e-9, 10).unwrap();
        close(hasty.share_abandoning(), erlang_b(8.0, 10).unwrap(), 1e-6);
        let patient = ErlangA::new(8.0, 1.0, 1e9, 10).unwrap();
        let queue = Mmc::new(8.0, 1.0, 10).unwrap();
        close(patient.mean_wait_s(), queue.mean_wait_s(), 1e-6);
        close(patient.share_waiting(), queue.share_waiting(), 1e-6);
    }

    /// Far above capacity the fluid holds: the share that must go is `1 − 1/ρ`.
    #[test]
    fn overload_sheds_the_excess() {
        let queue = ErlangA::new(200.0, 1.0, 10.0, 100).unwrap();
        close(queue.share_abandoning(), 0.5, 1e-6);
        close(queue.utilisation(), 1.0, 1e-9);
    }

    /// With much patience the waits of those served are those of M/M/c; with little nobody waits.
    #[test]
    fn waits_of_the_served_have_their_limits() {
        let patient = ErlangA::new(8.0, 1.0, 1e6, 10).unwrap();
        let queue = Mmc::new(8.0, 1.0, 10).unwrap();
        for tail in [0.3, 0.1, 0.01, 1e-6] {
            let wait_s = patient.wait_of_served_exceeded_s(tail).unwrap();
            close(wait_s, queue.wait_exceeded_s(tail).unwrap(), 1e-4);
            close(patient.share_of_served_waiting_beyond(wait_s).unwrap(), tail, 1e-9);
        }
        let hasty = ErlangA::new(8.0, 1.0, 1e-9, 10).unwrap();
        assert!(hasty.wait_of_served_exceeded_s(0.5).unwrap() == 0.0);
        assert_eq!(hasty.wait_of_served_exceeded_s(1e-3).unwrap(), 0.0);
    }

    /// One server and the chance of `k` before one by hand: whoever finds one in service waits for
    /// Exp(μ), or gives up first: the share that waits beyond `t` and is served is
    /// `μ / (μ + θ) e^(−(μ + θ) t)`. Summed numerically over `k`, by convolution of densities.
    #[test]
    fn waits_of_the_served_by_numerical_integration() {
        let (rate, service_s, patience_s, servers) = (2.7_f64, 1.0, 2.0, 3);
        let queue = ErlangA::new(rate, service_s, patience_s, servers).unwrap();
        let (theta, busy_per_s) = (1.0 / patience_s, servers as f64 / service_s);
        // Survival of the phase-type wait by small steps of its chain: `ahead[k]`: k ahead of one.
        let step_s = 1e-4;
        let mut ahead: Vec<f64> = queue.finding.clone();
        let (mut served, mut beyond) = (0.0, Vec::new());
        for step in 0..200_000_u32 {
            if step % 5_000 == 0 {
                beyond.push((f64::from(step) * step_s, served));
            }
            let mut next = ahead.clone();
            for k in 0..ahead.len() {
                let leaves = busy_per_s + theta * k as f64;
                // Those ahead go at `c μ + k θ`; one's own patience ends at θ.
                next[k] -= ahead[k] * step_s * (leaves + theta);
                if k > 0 {
                    next[k - 1] += ahead[k] * step_s * leaves;
                } else {
                    served += ahead[0] * step_s * busy_per_s;
                }
            }
            ahead = next;
        }
        let total = 1.0 - queue.share_abandoning();
        for (wait_s, so_far) in beyond {
            let expected = (served - so_far) / total;
            let share = queue.share_of_served_waiting_beyond(wait_s).unwrap();
            assert!((share - expected).abs() < 2e-4, "{wait_s}: {share} against {expected}");
        }
    }

    #[test]
    fn too_much_patience_under_overload_is_refused() {
        let refusal = ErlangA::new(20.0, 1.0, 1e12, 10).unwrap_err();
        assert!(refusal.to_string().contains("shorten the patience"), "{refusal}");
    }

    proptest! {
        /// What comes in goes out: served at the servers' rate, or gone.
        #[test]
        fn flows_balance(
            rate in 0.01_f64..50.0, service in 0.01_f64..5.0, patience in 0.01_f64..20.0,
            servers in 1_u64..60,
        ) {
            let queue = ErlangA::new(rate, service, patience, servers).unwrap();
            let served = queue.utilisation() * servers as f64 / service;
            let gone = queue.share_abandoning() * rate;
            prop_assert!((served + gone - rate).abs() <= 1e-10 * rate);
        }
    }
}
