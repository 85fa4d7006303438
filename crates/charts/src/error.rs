//! What can go wrong while drawing.

use plotters::drawing::DrawingAreaErrorKind;

/// Why a chart was not drawn.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The chart needs at least this size.
    #[error("a chart of {width_px} × {height_px} px is too small; it needs 160 × 160")]
    TooSmall {
        /// Width asked for, CSS px.
        width_px: f64,
        /// Height asked for, CSS px.
        height_px: f64,
    },
    /// The drawing backend refused.
    #[error("the drawing surface failed: {0}")]
    Backend(String),
}

impl ChartError {
    /// Keeps the message only: backends have errors of different types. By value, so that it can be
    /// handed to `map_err`.
    #[allow(clippy::needless_pass_by_value)]
    pub(crate) fn of<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> Self {
        Self::Backend(error.to_string())
    }
}
