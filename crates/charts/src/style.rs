//! How large things are: the chart's size and the backend's pixels.

/// From this width on (in CSS px) the chart has room for all labels; below, only for the main ones.
const FULL_WIDTH_PX: f64 = 420.0;

/// Size of the chart and of the backend's pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Device pixels per CSS px.
    pub scale: f64,
    /// Backend units per device pixel. A backend that only takes whole numbers draws smooth curves
    /// if its units are finer than pixels and its context is scaled down by the same number.
    pub oversample: u32,
    /// What the backend does to font sizes, undone: the font size is multiplied by this.
    pub font_scale: f64,
    /// Copies of the halo around a label. Zero leaves one copy under the label for a backend that
    /// can stroke text.
    pub halo_copies: u32,
    /// Width of the chart, CSS px.
    pub width_px: f64,
    /// Height of the chart, CSS px.
    pub height_px: f64,
}

impl Style {
    /// For a canvas whose backing store has `scale` device pixels per CSS px.
    #[must_use]
    pub const fn canvas(width_px: f64, height_px: f64, scale: f64) -> Self {
        Self { scale, oversample: 1, font_scale: 1.0, halo_copies: 8, width_px, height_px }
    }

    /// For plotters' SVG backend, which divides font sizes by 1.24.
    #[must_use]
    pub const fn svg(width_px: f64, height_px: f64) -> Self {
        Self { scale: 1.0, oversample: 8, font_scale: 1.24, halo_copies: 0, width_px, height_px }
    }

    /// The same with backend units finer than device pixels by `oversample`.
    #[must_use]
    pub const fn oversampled(self, oversample: u32) -> Self {
        Self { oversample, ..self }
    }

    /// Size of the drawing area in backend units that this style fills.
    #[must_use]
    pub fn backend_size(&self) -> (u32, u32) {
        let units = |px: f64| {
            let units = (px * self.units_per_px()).round();
            if units >= 1.0 && units <= f64::from(u16::MAX) { units as u32 } else { 1 }
        };
        (units(self.width_px), units(self.height_px))
    }

    /// True if the chart is too narrow for more than the main labels.
    pub(crate) fn is_narrow(&self) -> bool {
        self.width_px < FULL_WIDTH_PX
    }

    /// Backend units per CSS px.
    pub(crate) fn units_per_px(&self) -> f64 {
        self.scale * f64::from(self.oversample)
    }
}
