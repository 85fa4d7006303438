//! Where the rows of a fleet lie and how their axes run. Knows no backend.

use crate::error::ChartError;
use crate::geometry::{Panel, Rect};
use crate::scale::{Scale, Spread};
use crate::style::Style;

use super::data::{FleetData, FleetRowKind};

/// Room for tick labels, for events, and for the time axis, CSS px.
const LEFT_PX: f64 = 50.0;
const TOP_PX: f64 = 36.0;
const BOTTOM_PX: f64 = 26.0;
const RIGHT_PX: f64 = 10.0;
const GAP_PX: f64 = 15.0;
/// Rows of less height show nothing.
const LEAST_ROW_PX: f64 = 24.0;
/// Air above the greatest value.
const AIR: f64 = 1.08;

/// Where things are, for a cursor and for what stands beside the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetGeometry {
    /// All rows with the gaps between them.
    pub plot: Rect,
    /// Seconds to CSS px and back.
    pub x: Scale,
    /// The rows from the top.
    pub rows: Vec<(FleetRowKind, Panel)>,
}

impl FleetGeometry {
    /// The time under a pointer in seconds, held within the axis.
    #[must_use]
    pub fn time_at(&self, x_px: f64) -> f64 {
        let time_s = self.x.to_value(x_px);
        if time_s < self.x.low() {
            self.x.low()
        } else if time_s > self.x.high() {
            self.x.high()
        } else {
            time_s
        }
    }
}

/// Where things would be, without drawing.
///
/// # Errors
///
/// When the chart is too small for its rows.
pub fn fleet_geometry(
    data: &FleetData,
    kinds: &[FleetRowKind],
    style: &Style,
) -> Result<FleetGeometry, ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    let count = kinds.len() as f64;
    let gaps = GAP_PX * (count - 1.0);
    let row = (height_px - TOP_PX - BOTTOM_PX - gaps) / count;
    if !(width_px >= 160.0 && row >= LEAST_ROW_PX) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let plot = Rect {
        left: LEFT_PX,
        top: TOP_PX,
        right: width_px - RIGHT_PX,
        bottom: height_px - BOTTOM_PX,
    };
    let place = |(index, &kind): (usize, &FleetRowKind)| {
        let top = (TOP_PX + index as f64 * (row + GAP_PX)).round();
        let rect = Rect { top, bottom: (top + row).round(), ..plot };
        let high = kind.most(data) * AIR;
        (kind, Panel { rect, y: Scale::new(Spread::Linear, (0.0, high), (rect.bottom, rect.top)) })
    };
    let rows: Vec<(FleetRowKind, Panel)> = kinds.iter().enumerate().map(place).collect();
    let x = Scale::new(Spread::Linear, (0.0, data.end_s), (plot.left, plot.right));
    let bottom = rows.last().map_or(plot.bottom, |(_, panel)| panel.rect.bottom);
    Ok(FleetGeometry { plot: Rect { bottom, ..plot }, x, rows })
}
