//! Poisson arrivals, exponential service, one or more servers: Erlang B and C, M/M/1, M/M/c.

use crate::float::greater;

use super::error::{TheoryError, count, positive, stable, tail_share, time_s};

/// The share of arrivals that find all servers busy when nobody may wait (Erlang's loss formula).
///
/// By the recurrence `B(0) = 1`, `B(k) = a B(k−1) / (k + a B(k−1))`, which adds positive terms only
/// (Cooper, "Introduction to Queueing Theory", 2nd ed., ch. 3). `offered` is the load in erlangs:
/// rate × service time.
///
/// # Errors
/// An offered load or a number of servers outside its domain.
pub fn erlang_b(offered: f64, servers: u64) -> Result<f64, TheoryError> {
    let offered = positive("offered load in erlangs", offered)?;
    let mut blocked = 1.0;
    for server in 1..=count("servers", servers)? {
        blocked = offered * blocked / (server as f64 + offered * blocked);
    }
    Ok(blocked)
}

/// The share of arrivals that must wait (Erlang's delay formula).
///
/// `C = c B / (c − a (1 − B))`, with `B` from [`erlang_b`].
///
/// # Errors
/// A number outside its domain, or as much work offered as the servers can do.
pub fn erlang_c(offered: f64, servers: u64) -> Result<f64, TheoryError> {
    let blocked = erlang_b(offered, servers)?;
    let servers = servers as f64;
    stable(offered / servers)?;
    Ok(servers * blocked / (servers - offered * (1.0 - blocked)))
}

/// The M/M/c queue, first come first served; M/M/1 with one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmc {
    service_s: f64,
    load: f64,
    /// Share of the arrivals that wait.
    waiting: f64,
    /// Rate at which the wait of those who wait decays, per second: `c μ − λ`.
    decay_per_s: f64,
}

impl Mmc {
    /// A queue with `servers` servers, each busy for `service_s` on average per request.
    ///
    /// # Errors
    /// A number outside its domain, or a load of 1 or more.
    pub fn new(rate_per_s: f64, service_s: f64, servers: u64) -> Result<Self, TheoryError> {
        let rate_per_s = positive("rate_per_s", rate_per_s)?;
        let service_s = positive("service_s", service_s)?;
        let number = count("servers", servers)? as f64;
        let load = stable(rate_per_s * service_s / number)?;
        let waiting = erlang_c(rate_per_s * service_s, servers)?;
        let decay_per_s = number * (1.0 - load) / service_s;
        Ok(Self { service_s, load, waiting, decay_per_s })
    }

    /// Work offered over capacity, between 0 and 1.
    #[must_use]
    pub const fn load(&self) -> f64 {
        self.load
    }

    /// Share of the arrivals that wait at all.
    #[must_use]
    pub const fn share_waiting(&self) -> f64 {
        self.waiting
    }

    /// Mean wait before service, in seconds: `C / (c μ − λ)`.
    #[must_use]
    pub fn mean_wait_s(&self) -> f64 {
        self.waiting / self.decay_per_s
    }

    /// Mean time in the system, in seconds.
    #[must_use]
    pub fn mean_response_s(&self) -> f64 {
        self.mean_wait_s() + self.service_s
    }

    /// Share of the arrivals that wait longer than `wait_s`: `C e^(−(c μ − λ) t)`.
    ///
    /// # Errors
    /// A time that is not a number.
    pub fn share_waiting_beyond(&self, wait_s: f64) -> Result<f64, TheoryError> {
        let wait_s = time_s(wait_s)?;
        Ok(if wait_s < 0.0 { 1.0 } else { self.waiting * libm::exp(-self.decay_per_s * wait_s) })
    }

    /// The wait in seconds that a share `tail` of the arrivals exceed; 0 when fewer wait at all.
    ///
    /// # Errors
    /// A tail outside its domain.
    pub fn wait_exceeded_s(&self, tail: f64) -> Result<f64, TheoryError> {
        let tail = tail_share(tail)?;
        Ok(greater(0.0, libm::log(self.waiting / tail) / self.decay_per_s))
    }

    /// Share of the arrivals whose time in the system is longer than `response_s`.
    ///
    /// Service is exponential and so is the wait of those who wait, hence their sum is Exp(μ) for
    /// the lucky and Exp(μ) + Exp(c μ − λ) for the rest.
    ///
    /// # Errors
    /// A time that is not a number.
    pub fn share_responding_beyond(&self, response_s: f64) -> Result<f64, TheoryError> {
        Ok(self.responding_beyond(time_s(response_s)?))
    }

    fn responding_beyond(&self, response_s: f64) -> f64 {
        if response_s <= 0.0 {
            return 1.0;
        }
        if response_s.is_infinite() {
            return 0.0;
        }
        let service_per_s = 1.0 / self.service_s;
        let difference = self.decay_per_s - service_per_s;
        // (1 − e^(−d t)) / d, which is t where the two rates coincide.
        let scaled = difference * response_s;
        let spread = if scaled.abs() < 1e-12 {
            response_s
        } else {
            response_s * (-libm::expm1(-scaled) / scaled)
        };
        let in_service = libm::exp(-service_per_s * response_s);
        if spread.is_finite() {
            return in_service * (1.0 + self.waiting * service_per_s * spread);
        }
        // The wait decays so much slower than the service that only it is left.
        self.waiting * service_per_s / -difference * libm::exp(-self.decay_per_s * response_s)
    }

    /// The time in the system in seconds that a share `tail` of the arrivals exceed.
    ///
    /// # Errors
    /// A tail outside its domain.
    pub fn response_exceeded_s(&self, tail: f64) -> Result<f64, TheoryError> {
        let tail = tail_share(tail)?;
        let (mut low_s, mut high_s) = (0.0, self.mean_response_s());
        while self.responding_beyond(high_s) > tail {
            low_s = high_s;
            high_s *= 2.0;
        }
        for _ in 0..60 {
            let middle_s = 0.5 * (low_s + high_s);
            if self.responding_beyond(middle_s) > tail {
                low_s = middle_s;
            } else {
                high_s = middle_s;
            }
        }
        Ok(0.5 * (low_s + high_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance * expected, "{value} against {expected}");
    }

    /// Values of the standard Erlang tables: blocking 1 % at 4.461 erlangs on 10 lines, 12.03 on
    /// 20, 84.06 on 100.
    #[test]
    fn erlang_b_matches_tables() {
        for (offered, servers) in [(4.461, 10), (12.03, 20), (84.06, 100)] {
            close(erlang_b(offered, servers).unwrap(), 0.01, 2e-3);
        }
        // a = 2, c = 3: (8/6) / (1 + 2 + 2 + 8/6) = 4/19.
        close(erlang_b(2.0, 3).unwrap(), 4.0 / 19.0, 1e-15);
    }

    /// a = 2, c = 3: C = 4/9; mean wait C / (3 − 2) = 4/9.
    #[test]
    fn erlang_c_and_the_mean_wait_match_textbooks() {
        close(erlang_c(2.0, 3).unwrap(), 4.0 / 9.0, 1e-15);
        let queue = Mmc::new(2.0, 1.0, 3).unwrap();
        close(queue.mean_wait_s(), 4.0 / 9.0, 1e-15);
        close(queue.mean_response_s(), 13.0 / 9.0, 1e-15);
    }

    /// M/M/1 at load 0.8, service 1 s: mean wait 4 s, wait beyond t 0.8 e^(−0.2 t), time in the
    /// system Exp(0.2).
    #[test]
    fn one_server_is_the_textbook_queue() {
        let queue = Mmc::new(0.8, 1.0, 1).unwrap();
        close(queue.mean_wait_s(), 4.0, 1e-14);
        close(queue.share_waiting(), 0.8, 1e-15);
        close(queue.wait_exceeded_s(0.01).unwrap(), libm::log(80.0) / 0.2, 1e-14);
        close(queue.response_exceeded_s(0.01).unwrap(), libm::log(100.0) / 0.2, 1e-12);
        assert_eq!(queue.wait_exceeded_s(0.9), Ok(0.0));
        assert_eq!(queue.share_waiting_beyond(-1.0), Ok(1.0));
        assert_eq!(queue.share_responding_beyond(f64::INFINITY), Ok(0.0));
        assert!(queue.share_waiting_beyond(f64::NAN).is_err());
    }

    /// The chain itself, truncated at 4,000 and summed: its mean queue over the rate is the wait.
    #[test]
    fn many_servers_match_the_truncated_chain() {
        for (rate, servers) in [(1.5, 2_u64), (7.6, 8), (30.0, 32)] {
            let mut weights = vec![1.0_f64];
            for n in 1..4000_u64 {
                let down = n.min(servers) as f64;
                weights.push(weights[n as usize - 1] * rate / down);
            }
            let total: f64 = weights.iter().sum();
            let queue = |n: usize| n.saturating_sub(servers as usize) as f64;
            let waiting: f64 = weights.iter().enumerate().map(|(n, w)| queue(n) * w / total).sum();
            let theory = Mmc::new(rate, 1.0, servers).unwrap();
            close(theory.mean_wait_s(), waiting / rate, 1e-10);
        }
    }

    /// The tail of the response integrates to its mean.
    #[test]
    fn the_response_tail_integrates_to_its_mean() {
        // With a load of 2/3 on three servers, wait and service decay at the same rate.
        for (rate, servers) in [(0.5, 1), (2.0, 3), (2.9, 3), (10.0, 16)] {
            let queue = Mmc::new(rate, 1.0, servers).unwrap();
            let (step, mut area) = (1e-3, 0.0);
            for index in 0..400_000 {
                area += step * queue.responding_beyond((f64::from(index) + 0.5) * step);
            }
            close(area, queue.mean_response_s(), 1e-6);
        }
    }

    proptest! {
        #[test]
        fn no_input_gives_nan(
            rate in prop_oneof![any::<f64>(), 1e-15_f64..1e15, 0.0_f64..2.0],
            service in prop_oneof![any::<f64>(), 1e-15_f64..1e15, 0.0_f64..2.0],
            servers in 0_u64..40,
            tail in 0.0_f64..1.0,
        ) {
            if let Ok(queue) = Mmc::new(rate, service, servers) {
                prop_assert!(queue.mean_response_s().is_finite());
                if let Ok(wait_s) = queue.wait_exceeded_s(tail) {
                    prop_assert!(wait_s.is_finite());
                    let response_s = queue.response_exceeded_s(tail).unwrap();
                    prop_assert!(response_s.is_finite() && response_s >= wait_s);
                }
            }
        }
    }
}
