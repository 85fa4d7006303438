//! M/D/1: Poisson arrivals, constant service, one server, exactly.

use crate::float::greater;

use super::error::{TheoryError, positive, stable, tail_share, time_s};

/// Mean wait in an M/D/1 queue, in seconds; infinite at or above full load.
///
/// Pollaczek-Khinchine with constant service: `ρ s / (2 (1 − ρ))`.
#[must_use]
pub fn md1_mean_wait_s(rate_per_s: f64, service_s: f64) -> f64 {
    let load = rate_per_s * service_s;
    if load >= 1.0 { f64::INFINITY } else { load * service_s / (2.0 * (1.0 - load)) }
}

/// The wait in seconds that a share `tail` of the arrivals at an M/D/1 queue exceed; infinite at or
/// above full load.
///
/// By the exponential tail `P(W > t) ≈ C e^(−θt)`, where `θ` solves `λ (e^(θs) − 1) = θ` and
/// `C = (1 − ρ) / (ρ e^(θs) − 1)` (Cramér-Lundberg; Tijms, "A First Course in Stochastic Models",
/// ch. 9). Exact as `t` grows; within a few per cent at the 99th percentile from 20 % load on.
/// [`Md1::wait_exceeded_s`] is exact throughout.
#[must_use]
pub fn md1_wait_exceeded_s(rate_per_s: f64, service_s: f64, tail: f64) -> f64 {
    let load = rate_per_s * service_s;
    if load >= 1.0 {
        return f64::INFINITY;
    }
    // Fewer than `tail` of the arrivals wait at all.
    if load <= tail || service_s <= 0.0 {
        return 0.0;
    }
    let decay = decay_per_service(load);
    let weight = (1.0 - load) / (load * libm::exp(decay) - 1.0);
    greater(0.0, libm::log(weight / tail) / decay * service_s)
}

/// The positive root `x` of `ρ (e^x − 1) = x`: the decay of the tail per service time.
fn decay_per_service(load: f64) -> f64 {
    let excess = |x: f64| load * libm::expm1(x) - x;
    // The function dips below zero after 0 and rises through the root, which lies beyond its least
    // point at −ln ρ.
    let mut low = -libm::log(load);
    let mut high = 2.0 * low + 1e-9;
    while excess(high) < 0.0 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// From this many service times on the exponential tail is the distribution to double precision:
/// the next terms of its expansion are smaller by `e^(−2.09 · 24)` near full load, and at low load
/// the tail itself is beyond any question asked.
const EXACT_SERVICES: usize = 24;
/// More Poisson arrivals than this in one service time have probability below `1 / 40!`.
const MOST_ARRIVALS: usize = 40;

/// The M/D/1 queue, first come first served.
#[derive(Clone, Debug, PartialEq)]
pub struct Md1 {
    service_s: f64,
    load: f64,
    /// Probability that more than `n` requests are in the system, for n = 0, 1, ….
    more_than: [f64; EXACT_SERVICES + 2],
    /// Decay of the tail per service time, and its weight.
    decay: f64,
    weight: f64,
}

impl Md1 {
    /// A queue whose requests each take exactly `service_s`.
    ///
    /// # Errors
    /// A number outside its domain, or a load of 1 or more.
    pub fn new(rate_per_s: f64, service_s: f64) -> Result<Self, TheoryError> {
        let rate_per_s = positive("rate_per_s", rate_per_s)?;
        let service_s = positive("service_s", service_s)?;
        let load = stable(rate_per_s * service_s)?;
        let decay = decay_per_service(load);
        // ρ e^θ = ρ + θ at the root, which keeps the difference clear of rounding near full load.
        let weight = (1.0 - load) / (decay - (1.0 - load));
        Ok(Self { service_s, load, more_than: numbers_in_system(load), decay, weight })
    }

    /// Share of the time that the server is busy; also the share of arrivals that wait.
    #[must_use]
    pub const fn load(&self) -> f64 {
        self.load
    }

    /// Mean wait before service, in seconds: `ρ s / (2 (1 − ρ))`.
    #[must_use]
    pub fn mean_wait_s(&self) -> f64 {
        self.load * self.service_s / (2.0 * (1.0 - self.load))
    }

    /// Share of the arrivals that wait longer than `wait_s`.
    ///
    /// Franx, "A simple solution for the M/D/c waiting time distribution" (2001): between `k − 1`
    /// and `k` service times, `Σ_j e^(−y) y^j / j! · P(more than k − j in system)` with
    /// `y = ρ (k − t/s)`. Unlike Erlang's formula its terms are all positive, so it is stable at
    /// any load.
    ///
    /// # Errors
    /// A time that is not a number.
    pub fn share_waiting_beyond(&self, wait_s: f64) -> Result<f64, TheoryError> {
        Ok(self.waiting_beyond(time_s(wait_s)?))
    }

    fn waiting_beyond(&self, wait_s: f64) -> f64 {
        if wait_s < 0.0 {
            return 1.0;
        }
        let services = wait_s / self.service_s;
        if services >= EXACT_SERVICES as f64 {
            return self.weight * libm::exp(-self.decay * services);
        }
        let above = services as usize + 1;
        let mean = self.load * (above as f64 - services);
        let mut probability = libm::exp(-mean);
        let mut share = 0.0;
        for arrivals in 0..MOST_ARRIVALS {
            // With `above` arrivals or more, whoever comes last waits for certain.
            share += probability * above.checked_sub(arrivals + 1).map_or(1.0, |k| self.queue(k));
            probability *= mean / (arrivals + 1) as f64;
        }
        share
    }

    /// Probability that more than `waiting` requests wait.
    fn queue(&self, waiting: usize) -> f64 {
        self.more_than[waiting + 1]
    }

    /// The wait in seconds that a share `tail` of the arrivals exceed; 0 when fewer wait at all.
    ///
    /// # Errors
    /// A tail outside its domain.
    pub fn wait_exceeded_s(&self, tail: f64) -> Result<f64, TheoryError> {
        let tail = tail_share(tail)?;
        if self.load <= tail {
            return Ok(0.0);
        }
        let mut low_s = 0.0;
        let mut high_s = EXACT_SERVICES as f64 * self.service_s;
        if self.waiting_beyond(high_s) >= tail {
            return Ok(libm::log(self.weight / tail) / self.decay * self.service_s);
        }
        for _ in 0..60 {
            let middle_s = 0.5 * (low_s + high_s);
            if self.waiting_beyond(middle_s) > tail {
                low_s = middle_s;
            } else {
                high_s = middle_s;
            }
        }
        Ok(0.5 * (low_s + high_s))
    }

    /// The time in the system in seconds that a share `tail` of the arrivals exceed.
    ///
    /// # Errors
    /// A tail outside its domain.
    pub fn response_exceeded_s(&self, tail: f64) -> Result<f64, TheoryError> {
        Ok(self.wait_exceeded_s(tail)? + self.service_s)
    }
}

/// Probability that more than `n` requests are in the system.
///
/// From the balance of crossings at departures: up from `n` or fewer to more than `n` as often as
/// down from `n + 1`, and down only when nobody arrives during a service. With `A` Poisson of mean
/// `ρ`: `p(n+1) P(A = 0) = p(0) P(A > n) + Σ_{i=1..n} p(i) P(A > n + 1 − i)`. Every term is
/// positive.
fn numbers_in_system(load: f64) -> [f64; EXACT_SERVICES + 2] {
    let arrivals_beyond = poisson_tails(load);
    let nobody = libm::exp(-load);
    let mut probability = [0.0; EXACT_SERVICES + 2];
    let mut more_than = [load; EXACT_SERVICES + 2];
    probability[0] = 1.0 - load;
    for n in 0..=EXACT_SERVICES {
        let mut up = probability[0] * arrivals_beyond[n];
        for i in 1..=n {
            up += probability[i] * arrivals_beyond[n + 1 - i];
        }
        probability[n + 1] = up / nobody;
        more_than[n + 1] = greater(0.0, more_than[n] - probability[n + 1]);
    }
    more_than
}

/// `P(A > n)` for Poisson `A`, summed from the smallest term.
fn poisson_tails(mean: f64) -> [f64; MOST_ARRIVALS] {
    let mut terms = [0.0; MOST_ARRIVALS + 1];
    terms[0] = libm::exp(-mean);
    for n in 0..MOST_ARRIVALS {
        terms[n + 1] = terms[n] * mean / (n + 1) as f64;
    }
    let mut tails = [0.0; MOST_ARRIVALS];
    let mut sum = 0.0;
    for n in (0..MOST_ARRIVALS).rev() {
        sum += terms[n + 1];
        tails[n] = sum;
    }
    tails
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use proptest::prelude::*;

    const LOADS: [f64; 8] = [0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98];

    #[test]
    fn mean_wait_matches_known_values() {
        // ρ = 0.5, s = 1: 0.5 / (2 · 0.5) = 0.5.
        assert_eq!(md1_mean_wait_s(0.5, 1.0), 0.5);
        assert_eq!(md1_mean_wait_s(2.0, 1.0), f64::INFINITY);
        assert_eq!(Md1::new(0.5, 1.0).unwrap().mean_wait_s(), 0.5);
    }

    /// Erlang's formula of 1909, `(1 − ρ) Σ_j (ρ (j − t))^j / j! · e^(−ρ (j − t))` over `j ≤ t`:
    /// alternating, so trustworthy only near zero, where it is exact.
    fn erlang_1909(load: f64, services: f64) -> f64 {
        let mut share = 0.0;
        for j in 0..=services as i32 {
            let y = load * (f64::from(j) - services);
            let mut term = libm::exp(-y);
            for i in 1..=j {
                term *= y / f64::from(i);
            }
            share += term;
        }
        1.0 - (1.0 - load) * share
    }

    #[test]
    fn the_distribution_is_erlangs_near_zero() {
        for load in LOADS {
            let queue = Md1::new(load / 2.0, 2.0).unwrap();
            for services in [0.0, 0.25, 0.999, 1.0, 1.5, 2.75, 4.0, 5.2] {
                let expected = erlang_1909(load, services);
                let value = queue.waiting_beyond(2.0 * services);
                assert!((value - expected).abs() < 1e-11, "{load}, {services}: {value} {expected}");
            }
        }
    }

    /// Where the exact sum ends the exponential tail takes over without a seam.
    #[test]
    fn the_tail_continues_the_sum() {
        for load in LOADS {
            let queue = Md1::new(load, 1.0).unwrap();
            let services = EXACT_SERVICES as f64 - 1e-9;
            let (sum, tail) =
                (queue.waiting_beyond(services), queue.weight * libm::exp(-queue.decay * services));
            assert!((sum - tail).abs() < 1e-14, "{load}: {sum} {tail}");
        }
    }

    /// The tail integrates to the mean that Pollaczek and Khinchine give.
    #[test]
    fn the_tail_integrates_to_the_mean() {
        for load in LOADS {
            let queue = Md1::new(load, 1.0).unwrap();
            let (step, mut area) = (0.01, 0.0);
            for index in 0..200_000 {
                area += step * queue.waiting_beyond((f64::from(index) + 0.5) * step);
            }
            let expected = queue.mean_wait_s();
            assert!((area - expected).abs() < 2e-5 * expected + 2e-5, "{load}: {area} {expected}");
        }
    }

    /// Against Lindley's recursion on 400,000 arrivals: the share that waits longer than the
    /// approximate 99th percentile is 1 %, within 0.15 % (five standard errors, inflated for
    /// autocorrelation).
    #[test]
    fn the_approximate_tail_matches_a_simulation() {
        for (seed, load) in [(1, 0.3), (2, 0.6), (3, 0.8)] {
            let bound_s = md1_wait_exceeded_s(load, 1.0, 0.01);
            let mut stream = Stream::new(seed, Purpose::Arrivals);
            let (mut wait_s, mut longer) = (0.0_f64, 0);
            for _ in 0..400_000 {
                longer += u32::from(wait_s > bound_s);
                wait_s = greater(0.0, wait_s + 1.0 - stream.exponential() / load);
            }
            let share = f64::from(longer) / 400_000.0;
            assert!((share - 0.01).abs() < 0.0015, "load {load}: {share}");
        }
    }

    proptest! {
        #[test]
        fn percentiles_invert_the_tail(
            load in 1e-6_f64..0.999_999_9, tail in 1e-8_f64..0.9, service in 1e-3_f64..1e3,
        ) {
            let queue = Md1::new(load / service, service).unwrap();
            let wait_s = queue.wait_exceeded_s(tail).unwrap();
            if wait_s > 0.0 {
                let share = queue.waiting_beyond(wait_s);
                prop_assert!((share - tail).abs() <= 1e-7 * tail, "{share} against {tail}");
            } else {
                prop_assert!(queue.load() <= tail);
            }
        }

        #[test]
        fn no_input_gives_nan(rate in any::<f64>(), service in any::<f64>(), tail in any::<f64>()) {
            if let Ok(queue) = Md1::new(rate, service) {
                prop_assert!(queue.mean_wait_s().is_finite());
                prop_assert!(queue.wait_exceeded_s(tail).map_or(true, f64::is_finite));
            }
        }
    }
}
