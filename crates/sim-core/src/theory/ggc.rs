//! Several servers, arrivals and service of any variability: two-moment approximations.

use crate::float::lesser;

use super::{
    error::{TheoryError, not_negative},
    mmc::Mmc,
};

/// The mean wait in a G/G/c queue from two moments: rate, mean service and the squared coefficients
/// of variation (variance over squared mean) of the gaps between arrivals and of the service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GgcTraffic {
    exponential: Mmc,
    servers: f64,
    arrival_scv: f64,
    service_scv: f64,
}

impl GgcTraffic {
    /// A queue with `servers` servers. Poisson arrivals have `arrival_scv` 1; Gamma gaps of shape
    /// `k` have `1 / k`; constant service has `service_scv` 0.
    ///
    /// # Errors
    /// A number outside its domain, or a load of 1 or more.
    pub fn new(
        rate_per_s: f64,
        service_s: f64,
        servers: u64,
        arrival_scv: f64,
        service_scv: f64,
    ) -> Result<Self, TheoryError> {
        Ok(Self {
            exponential: Mmc::new(rate_per_s, service_s, servers)?,
            servers: servers as f64,
            arrival_scv: not_negative("arrival_scv", arrival_scv)?,
            service_scv: not_negative("service_scv", service_scv)?,
        })
    }

    /// Mean wait in seconds by Allen and Cunneen: `W(M/M/c) · (ca² + cs²) / 2`.
    ///
    /// Allen, "Probability, Statistics, and Queueing Theory with Computer Science Applications"
    /// (2nd ed., 1990). Exact for M/M/c and M/G/1; asymptotically exact as the load grows.
    #[must_use]
    pub fn allen_cunneen_mean_wait_s(&self) -> f64 {
        self.exponential.mean_wait_s() * 0.5 * (self.arrival_scv + self.service_scv)
    }

    /// Mean wait in seconds by Kimura: the harmonic blend of D/M/c, M/D/c and M/M/c,
    /// `(ca² + cs²) / [(1 − ca²)/W(D/M/c) + (1 − cs²)/W(M/D/c) + 2 (ca² + cs² − 1)/W(M/M/c)]`.
    ///
    /// Kimura, "A two-moment approximation for the mean waiting time in the GI/G/s queue",
    /// Management Science 32 (1986). `W(M/D/c)` by Cosmetatos, `½ (1 + γ) W(M/M/c)`, and
    /// `W(D/M/c) = ½ (1 − 4γ) e^(−2(1−ρ)/(3ρ)) W(M/M/c)`, with
    /// `γ = min(0.24, (1 − ρ)(c − 1)(√(4 + 5c) − 2) / (16 ρ c))` (Whitt, "Approximations for the
    /// GI/G/m queue", 1993). Closer than Allen-Cunneen where many servers meet low variability.
    ///
    /// # Errors
    /// Arrivals more variable than Poisson, which the blend does not cover.
    pub fn kimura_mean_wait_s(&self) -> Result<f64, TheoryError> {
        let (arrival, service) = (self.arrival_scv, self.service_scv);
        if arrival > 1.0 {
            return Err(TheoryError::OutOfDomain {
                field: "arrival_scv",
                value: arrival,
                requirement: "at most 1 for Kimura's formula; use Allen-Cunneen for burstier \
                              arrivals",
            });
        }
        let load = self.exponential.load();
        let servers = self.servers;
        let spread = (1.0 - load) * (servers - 1.0) * ((4.0 + 5.0 * servers).sqrt() - 2.0)
            / (16.0 * load * servers);
        let gamma = lesser(0.24, spread);
        // Mean waits as parts of W(M/M/c).
        let constant_service = 0.5 * (1.0 + gamma);
        let even_arrivals =
            0.5 * (1.0 - 4.0 * gamma) * libm::exp(-2.0 * (1.0 - load) / (3.0 * load));
        // At low load evenly spaced arrivals never meet: their wait underflows to 0, and so does
        // the blend unless arrivals are Poisson.
        let even = if arrival < 1.0 { (1.0 - arrival) / even_arrivals } else { 0.0 };
        let blend = even + (1.0 - service) / constant_service + 2.0 * (arrival + service - 1.0);
        Ok(self.exponential.mean_wait_s() * (arrival + service) / blend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::Md1;
    use proptest::prelude::*;

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance * expected, "{value} against {expected}");
    }

    #[test]
    fn exact_where_theory_is_exact() {
        for (rate, servers) in [(0.8, 1), (2.0, 3), (9.0, 10)] {
            let expected = Mmc::new(rate, 1.0, servers).unwrap().mean_wait_s();
            let traffic = GgcTraffic::new(rate, 1.0, servers, 1.0, 1.0).unwrap();
            close(traffic.allen_cunneen_mean_wait_s(), expected, 1e-15);
            close(traffic.kimura_mean_wait_s().unwrap(), expected, 1e-15);
        }
        let traffic = GgcTraffic::new(0.8, 1.0, 1, 1.0, 0.0).unwrap();
        let expected = Md1::new(0.8, 1.0).unwrap().mean_wait_s();
        close(traffic.allen_cunneen_mean_wait_s(), expected, 1e-14);
        close(traffic.kimura_mean_wait_s().unwrap(), expected, 1e-14);
    }

    /// The exact M/D/c wait: a service time later, everybody who was in service has left. The chain
    /// `N → max(N − c, 0) + Poisson(λ s)` is iterated to its fixed point.
    fn md_c_mean_wait_s(rate: f64, servers: usize) -> f64 {
        let states = 400;
        let mut poisson = vec![libm::exp(-rate)];
        for n in 1..states {
            poisson.push(poisson[n - 1] * rate / n as f64);
        }
        let mut now = vec![0.0; states];
        now[0] = 1.0;
        for _ in 0..1_500 {
            let mut next = vec![0.0; states];
            for (n, probability) in now.iter().enumerate() {
                let left = n.saturating_sub(servers);
                for (come, share) in poisson[..states - left].iter().enumerate().take(80) {
                    next[left + come] += probability * share;
                }
            }
            let total: f64 = next.iter().sum();
            next.iter_mut().for_each(|probability| *probability /= total);
            now = next;
        }
        let queue = |n: usize| n.saturating_sub(servers) as f64;
        now.iter().enumerate().map(|(n, p)| p * queue(n)).sum::<f64>() / rate
    }

    /// Kimura is within 2 % of the exact M/D/c; Allen-Cunneen, half of M/M/c, is below it by more.
    #[test]
    fn many_constant_servers_match_the_exact_chain() {
        close(md_c_mean_wait_s(0.8, 1), Md1::new(0.8, 1.0).unwrap().mean_wait_s(), 1e-9);
        for (servers, load) in [(2, 0.7), (5, 0.8), (10, 0.8), (10, 0.9)] {
            let rate = load * servers as f64;
            let exact = md_c_mean_wait_s(rate, servers);
            let traffic = GgcTraffic::new(rate, 1.0, servers as u64, 1.0, 0.0).unwrap();
            let kimura = traffic.kimura_mean_wait_s().unwrap();
            let plain = traffic.allen_cunneen_mean_wait_s();
            close(kimura, exact, 0.02);
            assert!((plain - exact).abs() > (kimura - exact).abs(), "{plain} {kimura} {exact}");
        }
    }

    /// D/M/1: the wait is `σ / (μ (1 − σ))` with `σ = e^(−(1 − σ)/ρ)`.
    #[test]
    fn even_arrivals_match_the_exact_root() {
        for load in [0.5_f64, 0.7, 0.9, 0.95] {
            let mut root = 0.5_f64;
            for _ in 0..10_000 {
                root = libm::exp(-(1.0 - root) / load);
            }
            let exact = root / (1.0 - root);
            let traffic = GgcTraffic::new(load, 1.0, 1, 0.0, 1.0).unwrap();
            close(traffic.kimura_mean_wait_s().unwrap(), exact, 0.03);
        }
    }

    #[test]
    fn bursts_are_refused_by_kimura_only() {
        let traffic = GgcTraffic::new(0.8, 1.0, 2, 4.0, 1.0).unwrap();
        assert!(traffic.kimura_mean_wait_s().unwrap_err().to_string().contains("Allen-Cunneen"));
        assert!(traffic.allen_cunneen_mean_wait_s() > 0.0);
    }

    proptest! {
        #[test]
        fn no_input_gives_nan(
            load in prop_oneof![1e-15_f64..1e-3, 1e-3_f64..1.0], servers in 1_u64..300,
            arrival in 0.0_f64..1.0, service in prop_oneof![Just(0.0), 0.0_f64..2.0, 2.0_f64..1e15],
        ) {
            if let Ok(traffic) = GgcTraffic::new(load * servers as f64, 1.0, servers, arrival, service) {
                let wait_s = traffic.kimura_mean_wait_s().unwrap();
                prop_assert!(wait_s.is_finite() && wait_s >= 0.0, "{wait_s}");
                prop_assert!(traffic.allen_cunneen_mean_wait_s().is_finite());
            }
        }
    }
}
