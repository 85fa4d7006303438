//! Where the panels of the knee chart lie and how their axes run. Knows no backend.

use crate::scale::Scale;

/// A rectangle in CSS px, from the top left corner of the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Bottom edge.
    pub bottom: f64,
}

impl Rect {
    /// Width, CSS px.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Height, CSS px.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// True if the two share more than an edge.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// True if `inner` lies within this.
    #[must_use]
    pub fn contains(&self, inner: &Self) -> bool {
        self.left <= inner.left
            && inner.right <= self.right
            && self.top <= inner.top
            && inner.bottom <= self.bottom
    }

    /// The same, larger by `by` on each side.
    #[must_use]
    pub fn grown(&self, by: f64) -> Self {
        Self {
            left: self.left - by,
            top: self.top - by,
            right: self.right + by,
            bottom: self.bottom + by,
        }
    }
}

/// One panel: where it lies and how its y axis runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panel {
    /// The plot area.
    pub rect: Rect,
    /// Values of the panel to CSS px and back.
    pub y: Scale,
}

/// Where things are on a knee chart, for a cursor and for pointer events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneeGeometry {
    /// All three panels with the gaps between them.
    pub plot: Rect,
    /// Offered rate in requests per second to CSS px and back.
    pub x: Scale,
    /// Time to first token, seconds; logarithmic.
    pub ttft: Panel,
    /// Time per output token, seconds.
    pub tpot: Panel,
    /// Goodput, requests per second.
    pub goodput: Panel,
}

impl KneeGeometry {
    /// The rate under a pointer, requests per second, held within the axis.
    #[must_use]
    pub fn rate_at(&self, x_px: f64) -> f64 {
        let rate = self.x.to_value(x_px);
        if rate < self.x.low() {
            self.x.low()
        } else if rate > self.x.high() {
            self.x.high()
        } else {
            rate
        }
    }
}
