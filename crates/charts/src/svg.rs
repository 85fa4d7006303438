//! The charts as SVG documents that read well in a browser and on a code host.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};

use crate::accuracy::{AccuracyDot, draw_accuracy};
use crate::calibration::{CalibrationDot, draw_calibration};
use crate::cost::{CostDot, draw_costs};
use crate::data::KneeData;
use crate::error::ChartError;
use crate::fleet::{FleetData, FleetRowKind, draw_fleet};
use crate::geometry::Rect;
use crate::ground::unstable_ground;
use crate::knee::draw_knee;
use crate::memory_bar::{MemoryPart, draw_memory_bar};
use crate::paint::{Brush, HALO_PX};
use crate::pair::{PairData, draw_pair};
use crate::queues::{QueuePanel, draw_queues};
use crate::style::Style;
use crate::theme::Theme;
use crate::tornado::{TornadoData, draw_tornado};

/// The knee chart as an SVG document on the theme's surface. [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its panels.
pub fn knee_svg(data: &KneeData, theme: &Theme, style: &Style) -> Result<String, ChartError> {
    document("Latency and goodput as load rises", theme, style, |root| {
        draw_knee(root, data, theme, style).map(|_| ())
    })
}

/// Two knees on one chart as an SVG document on the theme's surface. [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its panels.
pub fn pair_svg(data: &PairData, theme: &Theme, style: &Style) -> Result<String, ChartError> {
    document("Both as load rises", theme, style, |root| {
        draw_pair(root, data, theme, style).map(|_| ())
    })
}

/// Predicted against measured times as an SVG document on the theme's surface. [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its panels.
pub fn accuracy_svg(
    dots: &[AccuracyDot],
    theme: &Theme,
    style: &Style,
) -> Result<String, ChartError> {
    document("Predicted against measured TTFT and TPOT", theme, style, |root| {
        draw_accuracy(root, dots, theme, style)
    })
}

/// Predicted against measured times as an SVG document on the theme's surface. [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its panels.
pub fn calibration_svg(
    dots: &[CalibrationDot],
    theme: &Theme,
    style: &Style,
) -> Result<String, ChartError> {
    document("Predicted against measured TTFT and TPOT", theme, style, |root| {
        draw_calibration(root, dots, theme, style)
    })
}

/// A GPU's memory as an SVG document on the theme's surface. [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its bar.
pub fn memory_bar_svg(
    parts: &[MemoryPart],
    theme: &Theme,
    style: &Style,
) -> Result<String, ChartError> {
    document("Memory of one GPU", theme, style, |root| draw_memory_bar(root, parts, theme, style))
}

/// A document of what is drawn on the theme's surface.
fn document(
    title: &str,
    theme: &Theme,
    style: &Style,
    draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), ChartError>,
) -> Result<String, ChartError> {
    let mut drawn = String::new();
    {
        let root = SVGBackend::with_string(&mut drawn, style.backend_size()).into_drawing_area();
        let all = Rect { left: 0.0, top: 0.0, right: style.width_px, bottom: style.height_px };
        Brush::new(&root, style).rect(&all, theme.surface, 1.0)?;
        draw(&root)?;
        root.present().map_err(ChartError::of)?;
    }
    Ok(finished(&drawn, title, theme, style))
}

/// A fleet over time as an SVG document on the theme's surface, all its rows with their names.
/// [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its rows.
pub fn fleet_svg(data: &FleetData, theme: &Theme, style: &Style) -> Result<String, ChartError> {
    let mut drawn = String::new();
    {
        let root = SVGBackend::with_string(&mut drawn, style.backend_size()).into_drawing_area();
        let all = Rect { left: 0.0, top: 0.0, right: style.width_px, bottom: style.height_px };
        Brush::new(&root, style).rect(&all, theme.surface, 1.0)?;
        draw_fleet(&root, data, (&FleetRowKind::ALL, true), theme, style)?;
        root.present().map_err(ChartError::of)?;
    }
    Ok(finished(&drawn, "A fleet over time", theme, style))
}

/// Queues against theory as an SVG document on the theme's surface. [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its panels.
pub fn queues_svg(
    queues: &[QueuePanel],
    theme: &Theme,
    style: &Style,
) -> Result<String, ChartError> {
    document("Queues: theory and simulation", theme, style, |root| {
        draw_queues(root, queues, theme, style)
    })
}

/// Cost against a latency as an SVG document on the theme's surface. [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its axes.
pub fn costs_svg(
    dots: &[CostDot],
    latency: &str,
    theme: &Theme,
    style: &Style,
) -> Result<String, ChartError> {
    document("Cost against latency", theme, style, |root| {
        draw_costs(root, dots, latency, theme, style)
    })
}

/// A tornado as an SVG document on the theme's surface. [`Style::svg`] suits it.
///
/// # Errors
///
/// When the chart is too small for its bars.
pub fn tornado_svg(data: &TornadoData, theme: &Theme, style: &Style) -> Result<String, ChartError> {
    document("What each input does to the answer", theme, style, |root| {
        draw_tornado(root, data, theme, style)
    })
}

/// Turns the backend's document into one with a title, sizes in CSS px, halos as strokes, and like
/// pieces joined.
fn finished(drawn: &str, title: &str, theme: &Theme, style: &Style) -> String {
    let (width, height) = style.backend_size();
    let mut lines = Vec::new();
    lines.push(format!(
        "<svg width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" stroke-linejoin=\"round\" \
         style=\"font-feature-settings:'tnum','calt'\">",
        style.width_px, style.height_px
    ));
    lines.push(format!("<title>{title}</title>"));
    let halo = format!(
        " stroke-width=\"{}\" stroke-linejoin=\"round\" aria-hidden=\"true\"",
        (2.0 * HALO_PX * style.units_per_px()).round()
    );
    let halos = [theme.surface, unstable_ground(theme)].map(|rgb| {
        let colour = rgb.to_string().to_uppercase();
        (format!(" fill=\"{colour}\""), format!(" fill=\"{colour}\" stroke=\"{colour}\"{halo}"))
    });
    for line in drawn.lines().filter(|line| !line.starts_with("<svg")) {
        if line.starts_with("<text") {
            lines.push(text(line, &halos));
        } else {
            join(&mut lines, line);
        }
    }
    let mut document = lines.join("\n");
    document.push('\n');
    document
}

/// Text on the middle of its capitals, weight 600, and the copy beneath it as its halo.
fn text(line: &str, halos: &[(String, String); 2]) -> String {
    let mut line = line
        .replace("dy=\"0.5ex\"", "dy=\"0.364em\"")
        .replace("font-weight=\"bold\"", "font-weight=\"600\"");
    for (plain, stroked) in halos {
        line = line.replace(plain, stroked);
    }
    line
}

/// Adds a shape, as a continuation of the one before if it looks the same.
fn join(lines: &mut Vec<String>, line: &str) {
    let Some((look, path)) = as_path(line) else {
        lines.push(line.to_owned());
        return;
    };
    let opening = format!("<path {look} d=\"");
    // Overlapping pieces of see-through paths would add up; joined they do not, and no chart
    // overlaps pieces of one look.
    if let Some(last) = lines.last_mut().filter(|last| last.starts_with(&opening))
        && let Some(open) = last.strip_suffix("\"/>")
    {
        *last = format!("{open}{path}\"/>");
        return;
    }
    lines.push(format!("{opening}{path}\"/>"));
}

/// Look and outline of a polyline or a filled rectangle.
fn as_path(line: &str) -> Option<(String, String)> {
    let attribute = |name: &str| {
        let start = line.find(&format!(" {name}=\""))? + name.len() + 3;
        let end = line[start..].find('"')?;
        Some(&line[start..start + end])
    };
    if line.starts_with("<polyline") {
        let look = format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"",
            attribute("stroke")?,
            attribute("stroke-width")?
        );
        return Some((look, outline(attribute("points")?)));
    }
    if line.starts_with("<rect") && attribute("stroke")? == "none" {
        let (x, y) = (attribute("x")?, attribute("y")?);
        let (width, height) = (attribute("width")?, attribute("height")?);
        let look = format!("fill=\"{}\" opacity=\"{}\"", attribute("fill")?, attribute("opacity")?);
        return Some((look, format!("M{x},{y}h{width}v{height}h-{width}z")));
    }
    None
}

/// A polyline as path data, each step from the point before.
fn outline(points: &str) -> String {
    let mut path = String::new();
    let mut before: Option<(i64, i64)> = None;
    for pair in points.split_whitespace() {
        let Some((x, y)) = pair.split_once(',') else { continue };
        let (Ok(x), Ok(y)) = (x.parse::<i64>(), y.parse::<i64>()) else { continue };
        match before {
            None => path.push_str(&format!("M{x},{y}l")),
            Some((x0, y0)) => path.push_str(&format!("{},{} ", x - x0, y - y0)),
        }
        before = Some((x, y));
    }
    path.truncate(path.trim_end().len());
    path
}
