//! The stream of arrival times.

use crate::random::{Purpose, Stream};

use super::{ArrivalProcess, Arrivals, OnOff, RateProfile, profile::ProfileClock};

/// Draws arrival times in order.
#[derive(Clone, Debug)]
pub(super) struct ArrivalClock {
    process: ArrivalProcess,
    rate_per_s: f64,
    /// Arrival time on the unit-rate clock.
    units: f64,
    gaps: Stream,
    bursts: Option<BurstClock>,
    /// Absent where the rate never changes, which spares the plain case the detour.
    profile: Option<ProfileClock>,
}

impl ArrivalClock {
    /// Arrivals at a constant mean rate.
    pub(super) fn constant(process: ArrivalProcess, rate_per_s: f64, seed: u64) -> Self {
        Self {
            process,
            rate_per_s,
            units: 0.0,
            gaps: Stream::new(seed, Purpose::Arrivals),
            bursts: None,
            profile: None,
        }
    }

    /// Arrivals with bursts and a profile.
    pub(super) fn new(arrivals: &Arrivals, seed: u64) -> Self {
        Self {
            bursts: arrivals.bursts.map(|bursts| BurstClock::new(&bursts, seed)),
            profile: (arrivals.profile != RateProfile::Constant)
                .then(|| ProfileClock::new(&arrivals.profile)),
            ..Self::constant(arrivals.process, arrivals.rate_per_s, seed)
        }
    }

    /// The next arrival time in seconds.
    #[inline]
    pub(super) fn next_s(&mut self) -> f64 {
        self.units += match self.process {
            ArrivalProcess::Poisson => self.gaps.exponential(),
            ArrivalProcess::Gamma { shape } => self.gaps.gamma_of_mean_one(shape),
            ArrivalProcess::Even => 1.0,
        };
        let mut time_s = self.units / self.rate_per_s;
        if let Some(bursts) = &mut self.bursts {
            time_s = bursts.time_s(time_s);
        }
        match &mut self.profile {
            Some(profile) => profile.time_s(time_s),
            None => time_s,
        }
    }
}

/// Maps a clock that runs at the mean rate to one that runs in bursts and lulls.
#[derive(Clone, Debug)]
struct BurstClock {
    bursts: OnOff,
    lengths: Stream,
    in_burst: bool,
    /// Start of the current burst or lull, in mean-rate seconds and in seconds.
    start: (f64, f64),
    /// Its length in seconds.
    length_s: f64,
}

impl BurstClock {
    fn new(bursts: &OnOff, seed: u64) -> Self {
        let mut lengths = Stream::new(seed, Purpose::Bursts);
        // Begin as the process is found at a random moment.
        let in_burst = lengths.uniform() <= bursts.on_s / (bursts.on_s + bursts.off_s);
        let mut clock =
            Self { bursts: *bursts, lengths, in_burst, start: (0.0, 0.0), length_s: 0.0 };
        clock.length_s = clock.draw_length_s();
        clock
    }

    fn draw_length_s(&mut self) -> f64 {
        let mean_s = if self.in_burst { self.bursts.on_s } else { self.bursts.off_s };
        mean_s * self.lengths.exponential()
    }

    fn factor(&self) -> f64 {
        let (burst, lull) = self.bursts.factors();
        if self.in_burst { burst } else { lull }
    }

    fn time_s(&mut self, mean_rate_s: f64) -> f64 {
        loop {
            let left = mean_rate_s - self.start.0;
            if left <= self.factor() * self.length_s && self.factor() > 0.0 {
                return self.start.1 + left / self.factor();
            }
            self.start.0 += self.factor() * self.length_s;
            self.start.1 += self.length_s;
            self.in_burst = !self.in_burst;
            self.length_s = self.draw_length_s();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Index of dispersion of counts in windows of 10 s, and the mean rate, over 40,000 s.
    fn dispersion(bursts: Option<OnOff>) -> (f64, f64) {
        let arrivals = Arrivals {
            process: ArrivalProcess::Poisson,
            rate_per_s: 5.0,
            bursts,
            profile: RateProfile::Constant,
        };
        let mut clock = ArrivalClock::new(&arrivals, 3);
        let mut counts = vec![0.0_f64; 4_000];
        loop {
            let window = (clock.next_s() / 10.0) as usize;
            match counts.get_mut(window) {
                Some(count) => *count += 1.0,
                None => break,
            }
        }
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let squares: f64 = counts.iter().map(|count| (count - mean) * (count - mean)).sum();
        (squares / counts.len() as f64 / mean, mean / 10.0)
    }

    #[test]
    fn bursts_keep_the_mean_and_raise_the_variance() {
        let (poisson, rate) = dispersion(None);
        assert!((poisson - 1.0).abs() < 0.1 && (rate - 5.0).abs() < 0.1, "{poisson} {rate}");
        let bursts = OnOff { on_s: 20.0, off_s: 60.0, lull_share: 0.1 };
        let (bursty, rate) = dispersion(Some(bursts));
        assert!(bursty > 10.0, "{bursty}");
        assert!((rate - 5.0).abs() < 0.6, "{rate}");
    }

    #[test]
    fn a_silent_lull_sends_nobody() {
        let bursts = OnOff { on_s: 1.0, off_s: 9.0, lull_share: 0.0 };
        assert_eq!(bursts.factors(), (10.0, 0.0));
        let (_, rate) = dispersion(Some(bursts));
        assert!((rate - 5.0).abs() < 0.6, "{rate}");
    }
}
