//! Users who give up waiting: the M/M/c+M queue, Erlang-A.

use super::{
    birth_death::stationary,
    error::{TheoryError, count, positive},
};

/// States computed at most.
const MOST_STATES: usize = 4_000_000;

/// M/M/c with exponential patience (Palm 1957; Garnett, Mandelbaum and Reiman, "Designing a call
/// center with impatient customers", 2002). Stable at any load: those who give up make room.
///
/// From the chain of the number in the system, up at `λ`, down at `min(n, c) μ + (n − c)⁺ θ`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErlangA {
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
        Ok(Self { abandoning, waiting, mean_queue, mean_wait_s, busy: busy / servers as f64 })
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
        weight = crate::float::lesser(1.0, weight * next);
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
