//! A fleet over time: stacked rows over one time axis, and events that go through all of them.

mod data;
mod layout;
mod policies;
mod rows;
mod strip;

pub use data::{FleetBin, FleetData, FleetEvent, FleetRowKind};
pub use layout::{FleetGeometry, fleet_geometry};
pub use policies::{PolicyDot, PolicyKind, draw_policies};

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::error::ChartError;
use crate::paint::{Anchor, Brush, Label, Line};
use crate::style::Style;
use crate::theme::{Rgb, Theme};

/// Draws the rows on an area of [`Style::backend_size`] and says where things are. The ground is left
/// as it is. With `names` the name of each row stands above it, where nothing else says it.
///
/// # Errors
///
/// When the chart is too small for its rows, or the backend refuses.
pub fn draw_fleet<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    data: &FleetData,
    (kinds, names): (&[FleetRowKind], bool),
    theme: &Theme,
    style: &Style,
) -> Result<FleetGeometry, ChartError> {
    let geometry = fleet_geometry(data, kinds, style)?;
    let brush = Brush::new(root, style);
    strip::spans(&brush, &geometry, data, theme)?;
    for (kind, panel) in &geometry.rows {
        rows::axis(&brush, (*kind, panel), theme)?;
        rows::draw(&brush, &geometry, data, (*kind, panel), theme)?;
        if names {
            let at = (panel.rect.left + 6.0, panel.rect.top + 7.0);
            brush.text(&Label {
                bold: true,
                halo: Some(theme.surface),
                ..plain(kind.name().to_owned(), at, Anchor::Start, theme.text)
            })?;
        }
    }
    strip::time_axis(&brush, &geometry, theme)?;
    strip::events(&brush, &geometry, data, theme)?;
    Ok(geometry)
}

/// Draws a cursor at a time on an overlay of the same size: a line through all rows.
///
/// # Errors
///
/// When the backend refuses.
pub fn draw_fleet_cursor<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    geometry: &FleetGeometry,
    at_s: f64,
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let brush = Brush::new(root, style);
    let x = geometry.x.to_px(at_s);
    let line = Line { colour: theme.text, width_px: 1.5, dash: None };
    brush.upright(x, (geometry.plot.top, geometry.plot.bottom), &line)?;
    strip::clock(&brush, geometry, at_s, theme)
}

fn plain(text: String, at: (f64, f64), anchor: Anchor, colour: Rgb) -> Label {
    Label { text, at, anchor, colour, bold: false, halo: None, upright: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(index: u32) -> FleetBin {
        let start_s = f64::from(index) * 10.0;
        let is_surge = (30..90).contains(&index);
        FleetBin {
            start_s,
            end_s: start_s + 10.0,
            arrived_per_s: if is_surge { 8.2 } else { 2.9 },
            rejected_per_s: if index == 50 { 0.5 } else { 0.0 },
            ready: if index < 48 { 3 } else { 12 },
            starting: if is_surge && index < 48 { 9 } else { 0 },
            draining: u32::from(index > 120),
            asked: if is_surge { 12 } else { 3 },
            waiting: u64::from(if is_surge && index < 60 { (index - 30) * 13 } else { 0 }),
            kv: (0.4, 0.7),
            ttft_p99_s: (index != 7).then_some(if is_surge { 53.0 } else { 0.4 }),
            served: if index == 8 { 3 } else { 200 },
            gpus: if is_surge { 12 } else { 3 },
        }
    }

    pub(super) fn data() -> FleetData {
        FleetData {
            asked_rate: vec![(0.0, 3.0), (300.0, 3.0), (300.0, 8.0), (900.0, 8.0), (900.0, 3.0)],
            end_s: 1500.0,
            bins: (0..150).map(bin).collect(),
            ttft_target_s: 5.0,
            events: vec![
                FleetEvent { at_s: 300.0, name: "surge starts".to_owned() },
                FleetEvent { at_s: 480.0, name: "new replicas ready".to_owned() },
                FleetEvent { at_s: 1000.0, name: "replica lost".to_owned() },
                FleetEvent { at_s: 1495.0, name: "ends".to_owned() },
            ],
            surge: Some((300.0, 900.0)),
            start: Some((310.0, 490.0, "180 s".to_owned())),
        }
    }

    #[test]
    fn rows_are_of_one_height_and_do_not_touch() {
        let geometry =
            fleet_geometry(&data(), &FleetRowKind::ALL, &Style::svg(720.0, 600.0)).unwrap();
        assert_eq!(geometry.rows.len(), 6);
        for pair in geometry.rows.windows(2) {
            let (above, below) = (pair[0].1.rect, pair[1].1.rect);
            assert!((above.height() - below.height()).abs() <= 1.0, "{above:?} {below:?}");
            assert!(below.top - above.bottom >= 14.0, "{above:?} {below:?}");
        }
        assert_eq!(geometry.time_at(geometry.plot.left - 5.0), 0.0);
        assert_eq!(geometry.time_at(geometry.plot.right + 5.0), 1500.0);
        let small = fleet_geometry(&data(), &FleetRowKind::ALL, &Style::svg(720.0, 150.0));
        assert!(matches!(small, Err(ChartError::TooSmall { .. })));
    }

    #[cfg(feature = "svg")]
    #[test]
    fn everything_lands_on_the_picture() {
        let text = crate::fleet_svg(&data(), &crate::theme::LIGHT, &Style::svg(720.0, 620.0));
        let text = text.unwrap();
        for part in [
            "surge starts",
            "new replicas ready",
            "180 s",
            "Arrivals",
            "Replicas",
            "Queue",
            "KV cache",
            "P99 TTFT",
            "GPUs",
            "25:00",
            "target",
            "377 waiting",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[cfg(feature = "svg")]
    #[test]
    fn an_empty_run_is_drawn_without_numbers() {
        let empty = FleetData { bins: Vec::new(), events: Vec::new(), ..data() };
        let text = crate::fleet_svg(&empty, &crate::theme::DARK, &Style::svg(720.0, 620.0));
        assert!(!text.unwrap().contains("NaN"));
    }
}
