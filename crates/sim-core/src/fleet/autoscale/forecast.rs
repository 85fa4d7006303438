//! Scaling ahead: by where a trend or a season leads, one start-up time from now.
//!
//! A forecast is of the load, not of replicas: requests in flight or tokens per second, sampled at
//! equal distances. What is asked for is the forecast over what one replica should carry.

use super::replicas_of;
use crate::float::greater;

/// The least-squares line through `samples` (time in s, value), `ahead_s` after the last of them; the
/// only value where all are of one time, `None` without any.
///
/// Ordinary least squares about the means, which keeps large times exact.
#[must_use]
pub fn trend(samples: &[(f64, f64)], ahead_s: f64) -> Option<f64> {
    let &(last_s, _) = samples.last()?;
    let count = samples.len() as f64;
    let mean_s = samples.iter().map(|sample| sample.0).sum::<f64>() / count;
    let mean = samples.iter().map(|sample| sample.1).sum::<f64>() / count;
    let (mut spread, mut slope) = (0.0, 0.0);
    for &(at_s, value) in samples {
        spread += (at_s - mean_s) * (at_s - mean_s);
        slope += (at_s - mean_s) * (value - mean);
    }
    if spread == 0.0 {
        return Some(mean);
    }
    Some(mean + slope / spread * (last_s + ahead_s - mean_s))
}

/// Additive Holt-Winters smoothing: a level, a trend per sample and a season.
///
/// `l = α(y − s) + (1 − α)(l + b)`, `b = β(l − l') + (1 − β)b`, `s = γ(y − l' − b) + (1 − γ)s`; Holt
/// (1957) and Winters (1960), in the form of Hyndman and Athanasopoulos, *Forecasting: Principles and
/// Practice*, 8.3.
#[derive(Clone, Debug, PartialEq)]
pub struct Seasonal {
    smoothing: Smoothing,
    level: f64,
    trend: f64,
    season: Vec<f64>,
    /// Samples of the first season, until it is complete.
    first: Vec<f64>,
    /// Place in the season of the next sample.
    next: usize,
}

/// Weights of the newest sample, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// For the level.
    pub level: f64,
    /// For the trend.
    pub trend: f64,
    /// For the season.
    pub season: f64,
}

impl Default for Smoothing {
    /// A level that follows within a few samples, a trend that hardly moves, a season that is half
    /// relearned each time.
    fn default() -> Self {
        Self { level: 0.3, trend: 0.02, season: 0.5 }
    }
}

impl Seasonal {
    /// A forecaster of a season of so many samples (a day of minutes: 1,440); at least one.
    #[must_use]
    pub fn new(samples_per_season: usize, smoothing: Smoothing) -> Self {
        let length = samples_per_season.max(1);
        Self {
            smoothing,
            level: 0.0,
            trend: 0.0,
            season: vec![0.0; length],
            first: Vec::new(),
            next: 0,
        }
    }

    /// Whether a whole season has been seen; before that there is no forecast.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.first.len() == self.season.len()
    }

    /// Learn the next sample.
    pub fn observe(&mut self, value: f64) {
        if !self.is_ready() {
            self.first.push(value);
            if self.is_ready() {
                let mean = self.first.iter().sum::<f64>() / self.first.len() as f64;
                self.level = mean;
                for (season, first) in self.season.iter_mut().zip(&self.first) {
                    *season = first - mean;
                }
            }
            return;
        }
        let Smoothing { level, trend, season } = self.smoothing;
        let place = &mut self.season[self.next];
        let expected = self.level + self.trend;
        let new_level = level * (value - *place) + (1.0 - level) * expected;
        *place = season * (value - expected) + (1.0 - season) * *place;
        self.trend = trend * (new_level - self.level) + (1.0 - trend) * self.trend;
        self.level = new_level;
        self.next = (self.next + 1) % self.season.len();
    }

    /// The value so many samples after the last; `None` before a season has been seen.
    #[must_use]
    pub fn ahead(&self, samples: usize) -> Option<f64> {
        let samples = samples.max(1);
        let place = (self.next + samples - 1) % self.season.len();
        self.is_ready().then(|| self.level + samples as f64 * self.trend + self.season[place])
    }
}

/// Replicas for a forecast load of which each should carry `per_replica`; none for a load below 0 or
/// a share that is none.
#[must_use]
pub fn replicas_for(load: f64, per_replica: f64) -> i32 {
    if per_replica > 0.0 { replicas_of((greater(load, 0.0) / per_replica).ceil()) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on() {
        let samples: Vec<(f64, f64)> =
            (0..20).map(|i| (1e6 + f64::from(i) * 15.0, 3.0 + 0.2 * f64::from(i))).collect();
        let ahead = trend(&samples, 150.0).unwrap();
        assert!((ahead - (3.0 + 0.2 * 29.0)).abs() < 1e-9, "{ahead}");
        assert_eq!(trend(&[(5.0, 2.0)], 60.0), Some(2.0));
        assert_eq!(trend(&[], 60.0), None);
    }

    #[test]
    fn a_season_comes_again_and_its_growth_is_learned() {
        let day = |i: usize| 10.0 + 5.0 * libm::sin(i as f64 / 24.0 * std::f64::consts::TAU);
        let mut forecaster = Seasonal::new(24, Smoothing::default());
        assert_eq!(forecaster.ahead(1), None);
        for i in 0..24 * 4 {
            forecaster.observe(day(i));
        }
        for ahead in [1, 6, 24, 30] {
            let expected = day(24 * 4 + ahead - 1);
            let forecast = forecaster.ahead(ahead).unwrap();
            assert!((forecast - expected).abs() < 1e-9, "{ahead}: {forecast} {expected}");
        }
        // Each day a tenth more.
        let mut growing = Seasonal::new(24, Smoothing::default());
        for i in 0..24 * 20 {
            growing.observe(day(i) + i as f64 / 24.0);
        }
        let forecast = growing.ahead(12).unwrap();
        let expected = day(24 * 20 + 11) + (24.0 * 20.0 + 11.0) / 24.0;
        assert!((forecast - expected).abs() < 0.5, "{forecast} {expected}");
    }

    #[test]
    fn loads_become_replicas() {
        assert_eq!(replicas_for(10.1, 5.0), 3);
        assert_eq!(replicas_for(-1.0, 5.0), 0);
        assert_eq!(replicas_for(1.0, 0.0), 0);
    }
}
