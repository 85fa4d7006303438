//! The largest rate at which a replication holds the target.

/// Share of the sweep's lowest rate below which the search gives up.
const LEAST_SHARE: f64 = 1e-3;

/// A bracket that is halved by one run at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bisection {
    /// The target holds here (or the rate is 0).
    low: f64,
    /// The target does not hold here.
    high: f64,
    /// The rate being asked about; `None` once the bracket is narrow.
    asked: Option<f64>,
    /// Below this rate nothing is looked for.
    least: f64,
    /// Relative width at which the search ends.
    tolerance: f64,
}

impl Bisection {
    /// Start from a sweep in increasing rate: the bracket is around the first rate that fails. If
    /// none fails, the limit is asked next: no rate above it can hold for long, however short the
    /// run. If even the first fails, the floor is known to hold, unless it is 0.
    pub(crate) fn new(
        sweep: &[(f64, bool)],
        (floor_per_s, limit_per_s): (f64, f64),
        tolerance: f64,
    ) -> Self {
        let first = sweep.first().map_or(0.0, |&(rate, _)| rate);
        let least = LEAST_SHARE * first;
        let start = Self { low: 0.0, high: first, asked: None, least, tolerance };
        match sweep.iter().position(|&(_, holds)| !holds) {
            Some(0) => start.between(floor_per_s, first),
            Some(index) => start.between(sweep[index - 1].0, sweep[index].0),
            None => {
                let low = sweep.last().map_or(0.0, |&(rate, _)| rate);
                let asked = (low < limit_per_s).then_some(limit_per_s);
                Self { low, high: f64::INFINITY, asked, ..start }
            }
        }
    }

    /// Start from a wide bracket instead, if the sweep says that it surrounds the answer.
    pub(crate) fn spanning(
        sweep: &[(f64, bool)],
        (low, high): (f64, f64),
        tolerance: f64,
    ) -> Option<Self> {
        let first_failure = sweep.iter().find(|&&(_, holds)| !holds)?.0;
        let holds_inside = sweep.iter().any(|&(rate, holds)| holds && rate >= low);
        let start = Self { low, high, asked: None, least: 0.0, tolerance };
        (holds_inside && low < first_failure && first_failure < high)
            .then(|| start.between(low, high))
    }

    fn between(self, low: f64, high: f64) -> Self {
        let narrow = high - low <= self.tolerance * high || high <= self.least;
        Self { low, high, asked: (!narrow).then_some(0.5 * (low + high)), ..self }
    }

    /// The rate to run next.
    pub(crate) const fn next_rate(&self) -> Option<f64> {
        self.asked
    }

    /// Take the outcome of the rate asked about.
    pub(crate) fn accept(&mut self, holds: bool) {
        let Some(rate) = self.asked else { return };
        *self = match (holds, self.high.is_finite()) {
            (true, false) => Self { low: rate, high: rate, asked: None, ..*self },
            (true, true) => self.between(rate, self.high),
            (false, _) => self.between(self.low, rate),
        };
    }

    /// The largest rate known to hold.
    pub(crate) const fn found(&self) -> f64 {
        self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: f64 = 5e-4;

    fn search(sweep: &[(f64, bool)], ceiling: f64, truth: f64) -> (f64, u32) {
        let mut bisection = Bisection::new(sweep, (0.0, ceiling), TOLERANCE);
        let mut runs = 0;
        while let Some(rate) = bisection.next_rate() {
            bisection.accept(rate <= truth);
            runs += 1;
        }
        (bisection.found(), runs)
    }

    #[test]
    fn the_bracket_narrows_around_the_truth() {
        let (found, runs) = search(&[(10.0, true), (20.0, true), (24.0, false)], 25.0, 22.6);
        assert!(found <= 22.6 && found > 22.6 * (1.0 - 2.0 * TOLERANCE));
        assert!(runs <= 9, "{runs}");
    }

    #[test]
    fn the_ceiling_caps_what_a_short_run_would_let_pass() {
        assert_eq!(search(&[(10.0, true), (24.0, true)], 25.0, 1e9).0, 25.0);
        assert_eq!(search(&[(25.0, true)], 25.0, 1e9), (25.0, 0));
    }

    /// The published search: twelve halvings of 1 to 40, whose rates are whole multiples of 39/4096.
    #[test]
    fn a_wide_bracket_is_halved_twelve_times() {
        let sweep = [(20.0, true), (24.0, false)];
        let mut bisection = Bisection::spanning(&sweep, (1.0, 40.0), TOLERANCE).unwrap();
        let mut asked = Vec::new();
        while let Some(rate) = bisection.next_rate() {
            asked.push(rate);
            bisection.accept(rate <= 22.56);
        }
        assert_eq!(asked.len(), 12);
        assert_eq!((asked[0], asked[1]), (20.5, 30.25));
        assert_eq!(bisection.found(), 22.556640625);
        assert_eq!(Bisection::spanning(&sweep, (22.0, 40.0), TOLERANCE), None);
        assert_eq!(Bisection::spanning(&sweep, (1.0, 23.0), TOLERANCE), None);
        assert_eq!(Bisection::spanning(&[(20.0, true)], (1.0, 40.0), TOLERANCE), None);
    }

    #[test]
    fn an_idle_engine_that_passes_is_a_floor() {
        let mut bisection = Bisection::new(&[(10.0, false)], (0.01, 25.0), TOLERANCE);
        while bisection.next_rate().is_some() {
            bisection.accept(false);
        }
        assert_eq!(bisection.found(), 0.01);
    }

    #[test]
    fn nothing_holds() {
        let (found, runs) = search(&[(10.0, false)], 25.0, 0.0);
        assert_eq!(found, 0.0);
        assert!(runs < 12, "{runs}");
    }
}
