//! One axis: values to CSS px and back.

/// How values spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Equal steps are equal distances.
    Linear,
    /// Equal factors are equal distances.
    Log,
}

/// Maps values to CSS px and back. Never yields NaN for a finite input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    spread: Spread,
    low: f64,
    high: f64,
    low_px: f64,
    high_px: f64,
}

impl Scale {
    /// An axis from `low` (at `low_px`) to `high` (at `high_px`). Ends that cannot make an axis are
    /// replaced: it then runs from 0 to 1, or from 1 to 10 if logarithmic.
    #[must_use]
    pub fn new(spread: Spread, (low, high): (f64, f64), (low_px, high_px): (f64, f64)) -> Self {
        let usable = low.is_finite()
            && high.is_finite()
            && (high - low).is_finite()
            && low < high
            && (spread == Spread::Linear || low > 0.0);
        let (low, high) = match (usable, spread) {
            (true, _) => (low, high),
            (false, Spread::Linear) => (0.0, 1.0),
            (false, Spread::Log) => (1.0, 10.0),
        };
        Self { spread, low, high, low_px, high_px }
    }

    /// Where a value lies, CSS px. Values outside the axis lie outside its ends; a value of zero or
    /// less on a logarithmic axis lies at the low end.
    #[must_use]
    pub fn to_px(&self, value: f64) -> f64 {
        let position = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Log if value > 0.0 => {
                libm::log(value / self.low) / libm::log(self.high / self.low)
            }
            Spread::Log => 0.0,
        };
        self.low_px + position * (self.high_px - self.low_px)
    }

    /// The value at a place, CSS px.
    #[must_use]
    pub fn to_value(&self, px: f64) -> f64 {
        let length = self.high_px - self.low_px;
        if length == 0.0 {
            return self.low;
        }
        let position = (px - self.low_px) / length;
        match self.spread {
            Spread::Linear => self.low + position * (self.high - self.low),
            Spread::Log => self.low * libm::pow(self.high / self.low, position),
        }
    }

    /// The value at the low end.
    #[must_use]
    pub const fn low(&self) -> f64 {
        self.low
    }

    /// The value at the high end.
    #[must_use]
    pub const fn high(&self) -> f64 {
        self.high
    }

    /// How values spread.
    #[must_use]
    pub const fn spread(&self) -> Spread {
        self.spread
    }
}
