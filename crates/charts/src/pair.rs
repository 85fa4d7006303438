//! Two knees on one chart: A solid, B dashed, on the same axes.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::clip::Point;
use crate::data::{Interval, KneeData};
use crate::error::ChartError;
use crate::geometry::{KneeGeometry, Panel, Rect};
use crate::knee::{dot_places, within};
use crate::labels::{Clearance, beside, text_box};
use crate::metrics::text_width;
use crate::paint::{Anchor, Brush, Label, Line, TEXT_PX};
use crate::scale::Scale;
use crate::series::Series;
use crate::style::Style;
use crate::theme::Theme;
use crate::traces::{
    MAIN_PX, TARGET_DASH, TARGET_PX, TPOT_DASH, Traces, band, itself, seconds, trace,
};
use crate::{ground, layout};

const CAPACITY_PX: f64 = 1.5;
/// How the interval of a capacity is tinted.
const INTERVAL_OPACITY: f64 = 0.16;
/// Between two labels in one row, CSS px.
const APART_PX: f64 = 8.0;
const NAMES: [&str; 2] = ["A", "B"];
/// Data colours of the two.
const COLOURS: [usize; 2] = [1, 2];

/// Both knees. Targets of one are those of the other unless they differ.
#[derive(Clone, Debug, PartialEq)]
pub struct PairData {
    /// A, then B.
    pub both: [KneeData; 2],
    /// What takes the rate, for the axis title: “one engine of each”.
    pub server: String,
}

/// Draws both knees on an area of [`Style::backend_size`] and says where things are. The ground is left
/// as it is.
///
/// # Errors
///
/// When the chart is too small for its panels, or the backend refuses.
pub fn draw_pair<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    data: &PairData,
    theme: &Theme,
    style: &Style,
) -> Result<KneeGeometry, ChartError> {
    let series = data.both.each_ref().map(Series::of);
    let geometry = geometry(data, &series, style)?;
    let brush = Brush::new(root, style);
    let frame = KneeData {
        points: Vec::new(),
        closed_form: Vec::new(),
        ceiling_per_s: None,
        planned_rate_per_s: None,
        server: data.server.clone(),
        ..data.both[0].clone()
    };
    ground::axes(&brush, &geometry, (&frame, &Series::of(&frame)), theme, style)?;
    let traces = [0, 1].map(|i| Traces::of(&data.both[i], &series[i], &geometry));
    targets(&brush, &geometry, &traces, theme)?;
    for i in [0, 1] {
        let colour = theme.data[COLOURS[i]].mark;
        if let Some(capacity) = data.both[i].capacity_per_s
            && let Some(rect) = ground::span(&geometry, capacity.low, capacity.high)
        {
            brush.rect(&rect, colour, INTERVAL_OPACITY)?;
        }
        let ink = (COLOURS[i], theme);
        band(&brush, &series[i].ttft_p99_ln, &geometry.ttft, &geometry, seconds, ink)?;
        band(&brush, &series[i].tpot_p99, &geometry.tpot, &geometry, itself, ink)?;
    }
    for i in [0, 1] {
        let colour = theme.data[COLOURS[i]].mark;
        let line = Line { colour, width_px: MAIN_PX, dash: (i == 1).then_some(TPOT_DASH) };
        for (points, panel) in curves(&traces[i], &geometry) {
            trace(&brush, points, panel, &line)?;
        }
        if let Some(x) = capacity_px(&geometry, &data.both[i]) {
            let span = (geometry.plot.top, geometry.plot.bottom);
            let dash = (i == 1).then_some(TPOT_DASH);
            brush.upright(x, span, &Line { colour, width_px: CAPACITY_PX, dash })?;
        }
    }
    for label in labels(data, &traces, &geometry, theme) {
        brush.text(&label)?;
    }
    Ok(geometry)
}

/// Draws a cursor at a rate on an overlay of the same size: a line, and a hollow dot on each curve.
///
/// # Errors
///
/// When the backend refuses.
pub fn draw_pair_cursor<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    geometry: &KneeGeometry,
    data: &PairData,
    rate_per_s: f64,
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let brush = Brush::new(root, style);
    if let Some(x) = within(geometry, rate_per_s) {
        let line = Line { colour: theme.text, width_px: 1.0, dash: None };
        brush.upright(x, (geometry.plot.top, geometry.plot.bottom), &line)?;
    }
    for (one, colour) in data.both.iter().zip(COLOURS) {
        for (at, _) in dot_places(geometry, &Series::of(one), rate_per_s) {
            brush.dot(at, theme.data[colour].mark, theme.surface)?;
        }
    }
    Ok(())
}

/// Axes that hold both.
fn geometry(
    data: &PairData,
    series: &[Series; 2],
    style: &Style,
) -> Result<KneeGeometry, ChartError> {
    let a = layout::geometry(&data.both[0], &series[0], style)?;
    let b = layout::geometry(&data.both[1], &series[1], style)?;
    let around = |a: &Scale, b: &Scale, (low_px, high_px): (f64, f64)| {
        let low = if a.low() < b.low() { a.low() } else { b.low() };
        let high = if a.high() > b.high() { a.high() } else { b.high() };
        Scale::new(a.spread(), (low, high), (low_px, high_px))
    };
    let panel = |a: &Panel, b: &Panel| Panel {
        rect: a.rect,
        y: around(&a.y, &b.y, (a.rect.bottom, a.rect.top)),
    };
    Ok(KneeGeometry {
        plot: a.plot,
        x: around(&a.x, &b.x, (a.plot.left, a.plot.right)),
        ttft: panel(&a.ttft, &b.ttft),
        tpot: panel(&a.tpot, &b.tpot),
        goodput: panel(&a.goodput, &b.goodput),
    })
}

/// The curves of one with their panels.
fn curves<'a>(traces: &'a Traces, geometry: &'a KneeGeometry) -> [(&'a [Point], &'a Panel); 3] {
    [
        (&traces.ttft_p99, &geometry.ttft),
        (&traces.tpot_p99, &geometry.tpot),
        (&traces.goodput, &geometry.goodput),
    ]
}

/// Targets in neutral ink where both have the same, and else each in the colour of its own.
fn targets<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    traces: &[Traces; 2],
    theme: &Theme,
) -> Result<(), ChartError> {
    let across = (geometry.plot.left, geometry.plot.right);
    let each: [fn(&Traces) -> Option<f64>; 2] = [|it| it.ttft_target, |it| it.tpot_target];
    for target in each {
        let both = traces.each_ref().map(target);
        let is_shared = both[0] == both[1];
        for (y, colour) in both.into_iter().zip(COLOURS) {
            let colour = if is_shared { theme.text3 } else { theme.data[colour].mark };
            if let Some(y) = y {
                let line = Line { colour, width_px: TARGET_PX, dash: Some(TARGET_DASH) };
                brush.level(y, across, &line)?;
            }
        }
    }
    Ok(())
}

fn capacity_px(geometry: &KneeGeometry, data: &KneeData) -> Option<f64> {
    within(geometry, data.capacity_per_s?.value)
}

fn labels(
    data: &PairData,
    traces: &[Traces; 2],
    geometry: &KneeGeometry,
    theme: &Theme,
) -> Vec<Label> {
    let mut labels = panel_names(geometry, theme);
    labels.extend(capacity_names(data, geometry, theme));
    labels.extend(curve_names(traces, geometry, &labels, theme));
    labels
}

/// What each panel shows, in its upper left corner, which curves reach last.
fn panel_names(geometry: &KneeGeometry, theme: &Theme) -> Vec<Label> {
    let named = [
        ("TTFT P99", &geometry.ttft),
        ("TPOT P99", &geometry.tpot),
        ("Goodput, req/s", &geometry.goodput),
    ];
    let name = |(text, panel): (&str, &Panel)| Label {
        text: text.to_owned(),
        at: (panel.rect.left + 6.0, panel.rect.top + 8.0),
        anchor: Anchor::Start,
        colour: theme.text2,
        bold: false,
        halo: Some(theme.surface),
        upright: false,
    };
    named.into_iter().map(name).collect()
}

/// “A holds to 22.6” above the lines of the capacities, held within the plot; beside each other where
/// they are near.
fn capacity_names(data: &PairData, geometry: &KneeGeometry, theme: &Theme) -> Vec<Label> {
    let y = geometry.plot.top - 11.0;
    let text = |i: usize, capacity: Interval| {
        let about = if data.both[i].is_estimate { "≈\u{202f}" } else { "" };
        format!("{} holds to {about}{}", NAMES[i], quantity::number(capacity.value))
    };
    let mut named: Vec<(f64, f64, String, usize)> = Vec::new();
    for i in [0, 1] {
        if let (Some(x), Some(capacity)) =
            (capacity_px(geometry, &data.both[i]), data.both[i].capacity_per_s)
        {
            let text = text(i, capacity);
            named.push((x, text_width(&text, TEXT_PX, true), text, i));
        }
    }
    if let [first, second] = &mut named[..] {
        if first.0 > second.0 {
            std::mem::swap(first, second);
        }
        let room = (first.1 + second.1) / 2.0 + APART_PX;
        if second.0 - first.0 < room {
            let middle = (first.0 + second.0) / 2.0;
            let shift = (second.1 - first.1) / 4.0;
            (first.0, second.0) = (middle - shift - room / 2.0, middle - shift + room / 2.0);
        }
        // Both move as one at an end of the plot, so that they stay apart.
        let beyond = second.0 + second.1 / 2.0 - geometry.plot.right;
        if beyond > 0.0 && second.0 - beyond - first.0 < room {
            first.0 -= beyond;
        }
        let before = geometry.plot.left - (first.0 - first.1 / 2.0);
        if before > 0.0 && second.0 - first.0 - before < room {
            second.0 += before;
        }
    }
    let label = |(x, width, text, i): (f64, f64, String, usize)| {
        let (low, high) = (geometry.plot.left + width / 2.0, geometry.plot.right - width / 2.0);
        let x = if x > high { high } else { x };
        Label {
            text,
            at: (if x < low { low } else { x }, y),
            anchor: Anchor::Middle,
            colour: theme.data[COLOURS[i]].ink,
            bold: true,
            halo: None,
            upright: false,
        }
    };
    named.into_iter().map(label).collect()
}

/// “A” and “B” beside their curves, clear of both and of each other.
fn curve_names(
    traces: &[Traces; 2],
    geometry: &KneeGeometry,
    there: &[Label],
    theme: &Theme,
) -> Vec<Label> {
    let mut clearance = Clearance::default();
    for label in there {
        clearance.add_box(text_box(&label.text, label.bold, label.at, label.anchor));
    }
    for one in traces {
        for (points, _) in curves(one, geometry) {
            clearance.add_line(points.to_vec());
        }
        for y in [one.ttft_target, one.tpot_target].into_iter().flatten() {
            clearance.add_line(vec![(geometry.plot.left, y), (geometry.plot.right, y)]);
        }
    }
    let mut labels = Vec::new();
    for (i, one) in traces.iter().enumerate() {
        let name = NAMES[i];
        let width = text_width(name, TEXT_PX, true);
        for (points, panel) in curves(one, geometry) {
            let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
            let preferred = first.0 + (last.0 - first.0) * (0.35 + 0.2 * i as f64);
            let places = beside(points, width, preferred);
            let bounds: Rect = panel.rect;
            if let Some(at) = clearance.take_first(name, true, &bounds, places) {
                labels.push(Label {
                    text: name.to_owned(),
                    at,
                    anchor: Anchor::Middle,
                    colour: theme.data[COLOURS[i]].ink,
                    bold: true,
                    halo: Some(theme.surface),
                    upright: false,
                });
            }
        }
    }
    labels
}

#[cfg(all(test, feature = "svg"))]
mod tests {
    use super::*;
    use crate::data::KneePoint;
    use crate::{Style, pair_svg, theme};

    fn knee(capacity: f64) -> KneeData {
        let point = |i: u32| {
            let load = f64::from(i) / 10.0;
            let at = |value: f64| Interval::new(value, value * 0.95, value * 1.05);
            KneePoint {
                rate_per_s: load * capacity,
                ttft_p50_s: 0.05,
                ttft_p99_s: at(0.1 / (1.05 - load)),
                tpot_p99_s: at(0.01 + 0.02 * load),
                goodput_per_s: at(load * capacity),
                stable: true,
            }
        };
        KneeData {
            points: (1..=10).map(point).collect(),
            closed_form: Vec::new(),
            ttft_target_s: 1.0,
            tpot_target_s: 0.04,
            capacity_per_s: Some(Interval::new(capacity, 0.97 * capacity, 1.03 * capacity)),
            planned_rate_per_s: None,
            ceiling_per_s: Some(1.05 * capacity),
            server: "one GPU".to_owned(),
            is_estimate: false,
        }
    }

    fn drawn(a: f64, b: f64, width_px: f64) -> (PairData, Vec<Label>) {
        let data = PairData { both: [knee(a), knee(b)], server: "one engine".to_owned() };
        let series = data.both.each_ref().map(Series::of);
        let style = Style::svg(width_px, 420.0);
        let Ok(geometry) = geometry(&data, &series, &style) else { panic!("no room for the rows") };
        let traces = [0, 1].map(|i| Traces::of(&data.both[i], &series[i], &geometry));
        let labels = labels(&data, &traces, &geometry, &theme::LIGHT);
        (data, labels)
    }

    #[test]
    fn axes_hold_both_and_names_keep_apart() {
        for (a, b) in [(22.6, 45.6), (45.6, 22.6), (22.6, 22.6), (22.6, 23.0), (1.0, 900.0)] {
            for width_px in [300.0, 680.0] {
                let (data, labels) = drawn(a, b, width_px);
                let series = data.both.each_ref().map(Series::of);
                let geometry = geometry(&data, &series, &Style::svg(width_px, 420.0)).unwrap();
                assert!(geometry.x.high() >= a && geometry.x.high() >= b);
                let named = |name: &str| labels.iter().find(|it| it.text.starts_with(name));
                for name in ["A holds to", "B holds to", "TTFT", "TPOT", "Goodput"] {
                    let label = named(name).unwrap_or_else(|| panic!("{name} {a} {b}"));
                    let rect = text_box(&label.text, label.bold, label.at, label.anchor);
                    assert!(rect.left >= 0.0 && rect.right <= width_px, "{label:?}");
                }
                for (i, label) in labels.iter().enumerate() {
                    let rect = |l: &Label| text_box(&l.text, l.bold, l.at, l.anchor);
                    for other in &labels[i + 1..] {
                        assert!(!rect(label).overlaps(&rect(other)), "{label:?} {other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_curve_is_solid_and_the_other_dashed_in_another_colour() {
        let data = PairData { both: [knee(22.6), knee(45.6)], server: "one engine".to_owned() };
        let svg = pair_svg(&data, &theme::LIGHT, &Style::svg(680.0, 420.0)).unwrap();
        let stroke = |colour: usize| {
            let theme::Rgb(r, g, b) = theme::LIGHT.data[colour].mark;
            let ink = format!("stroke=\"#{r:02X}{g:02X}{b:02X}\"");
            let paths = svg.lines().filter(|line| line.contains(&ink));
            paths.map(|line| line.matches('M').count()).sum::<usize>()
        };
        // Each dash begins anew.
        assert_eq!(stroke(1), 3, "three solid curves");
        assert!(stroke(2) > 30, "{} dashes", stroke(2));
    }
}
