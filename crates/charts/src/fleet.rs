//! A fleet over time: requests, replicas by state, queue, and how the target was held, one above the
//! other on one axis of time.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::axis::linear_ticks;
use crate::clip::Point;
use crate::error::ChartError;
use crate::geometry::Rect;
use crate::paint::{Anchor, Brush, Dash, Label, Line};
use crate::scale::{Scale, Spread};
use crate::style::Style;
use crate::theme::{Rgb, Theme};

/// Room for tick labels, for a panel's title, under the last panel and between panels, CSS px.
const LEFT_PX: f64 = 44.0;
const RIGHT_PX: f64 = 10.0;
const TITLE_PX: f64 = 24.0;
const BOTTOM_PX: f64 = 30.0;
const GAP_PX: f64 = 8.0;
const TICK_PX: f64 = 4.0;
/// Smaller charts have no room for four panels.
const SMALLEST_PX: (f64, f64) = (240.0, 280.0);
/// Distance of ticks, across and up, CSS px.
const TICK_DISTANCE_PX: (f64, f64) = (70.0, 24.0);
const PANELS: usize = 4;
/// From so long on, in seconds, time is told in hours, and below in minutes.
const HOURS_FROM_S: f64 = 4.0 * 3600.0;
/// Rough width of a letter, CSS px.
const LETTER_PX: f64 = 6.6;

/// A fleet over time.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetData {
    /// One after the other, without gaps.
    pub points: Vec<FleetPoint>,
    /// When the last ends, in seconds.
    pub end_s: f64,
    /// Share of the requests that is to be in time, 0 to 1.
    pub target_share: f64,
    /// When something went wrong, in seconds.
    pub faults_s: Vec<f64>,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleetPoint {
    /// When it begins, in seconds.
    pub start_s: f64,
    /// Requests that came, and that were answered, per second.
    pub rates_per_s: (f64, f64),
    /// Replicas that are ready, starting, draining, and without a node.
    pub replicas: [f64; 4],
    /// Replicas that were asked for.
    pub desired: f64,
    /// Requests that wait, and that run.
    pub requests: (f64, f64),
    /// Share of those answered that were in time; `None` if nobody was.
    pub slo_share: Option<f64>,
}

/// Draws a fleet over time on an area of [`Style::backend_size`]. The ground is left as it is.
///
/// # Errors
///
/// When the chart is too small, or the backend refuses.
pub fn draw_fleet<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    data: &FleetData,
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    if !(width_px >= SMALLEST_PX.0 && height_px >= SMALLEST_PX.1) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let chart = Chart::new(root, data, theme, style);
    chart.rates()?;
    chart.replicas()?;
    chart.queue()?;
    chart.target()?;
    chart.time()
}

struct Chart<'a, DB: DrawingBackend> {
    brush: Brush<'a, DB>,
    data: &'a FleetData,
    theme: &'a Theme,
    style: &'a Style,
    x: Scale,
}

impl<'a, DB: DrawingBackend> Chart<'a, DB> {
    fn new(
        root: &'a DrawingArea<DB, Shift>,
        data: &'a FleetData,
        theme: &'a Theme,
        style: &'a Style,
    ) -> Self {
        let end_s = if data.end_s > 0.0 { data.end_s } else { 1.0 };
        let x = Scale::new(Spread::Linear, (0.0, end_s), (LEFT_PX, style.width_px - RIGHT_PX));
        Self { brush: Brush::new(root, style), data, theme, style, x }
    }

    fn rect(&self, panel: usize) -> Rect {
        let panels = PANELS as f64;
        let height = (self.style.height_px - BOTTOM_PX - GAP_PX * (panels - 1.0)) / panels;
        let top = (panel as f64 * (height + GAP_PX)).round();
        let bottom = (top + height).round();
        Rect { left: LEFT_PX, top: top + TITLE_PX, right: self.style.width_px - RIGHT_PX, bottom }
    }

    /// A panel's ground: title, legend, ticks, faults; and its scale upward.
    fn panel(
        &self,
        panel: usize,
        title: &str,
        legend: &[(&str, Rgb)],
        (high, ticks): (f64, &[f64]),
        tick: fn(f64) -> String,
    ) -> Result<Scale, ChartError> {
        let rect = self.rect(panel);
        let y = Scale::new(Spread::Linear, (0.0, high), (rect.bottom, rect.top));
        let theme = self.theme;
        let middle = rect.top - 14.0;
        let name = plain(title.to_owned(), (rect.left, middle), Anchor::Start, theme.text);
        self.brush.text(&Label { bold: true, ..name })?;
        let mut right = rect.right;
        for &(word, colour) in legend.iter().rev() {
            self.brush.text(&plain(word.to_owned(), (right, middle), Anchor::End, colour))?;
            right -= LETTER_PX * word.chars().count() as f64 + 12.0;
        }
        let grid = Line { colour: theme.grid, width_px: 1.0, dash: None };
        for &value in ticks {
            let at = y.to_px(value);
            let colour = if value == 0.0 { theme.axis } else { grid.colour };
            self.brush.level(at, (rect.left, rect.right), &Line { colour, ..grid })?;
            let label = plain(tick(value), (rect.left - 6.0, at), Anchor::End, theme.text3);
            self.brush.text(&label)?;
        }
        let fault = Line { colour: theme.bad, width_px: 1.0, dash: Some(Dash(3.0, 3.0)) };
        for &at_s in self.data.faults_s.iter().filter(|&&at_s| at_s <= self.x.high()) {
            self.brush.upright(self.x.to_px(at_s), (rect.top, rect.bottom), &fault)?;
        }
        Ok(y)
    }

    /// A panel of amounts from nothing up.
    fn amounts(
        &self,
        panel: usize,
        title: &str,
        legend: &[(&str, Rgb)],
        most: f64,
    ) -> Result<Scale, ChartError> {
        let high = if most > 0.0 && most.is_finite() { 1.05 * most } else { 1.0 };
        let ticks = linear_ticks(high, self.rect(panel).height(), TICK_DISTANCE_PX.1);
        self.panel(panel, title, legend, (high, &ticks), quantity::axis_number)
    }

    /// A value of each stretch as a line of steps.
    fn steps(&self, y: &Scale, of: impl Fn(&FleetPoint) -> f64) -> Vec<Point> {
        let mut path = Vec::with_capacity(2 * self.data.points.len());
        for (index, point) in self.data.points.iter().enumerate() {
            let at = y.to_px(of(point));
            path.push((self.x.to_px(point.start_s), at));
            path.push((self.x.to_px(self.ends_s(index)), at));
        }
        path
    }

    fn ends_s(&self, index: usize) -> f64 {
        self.data.points.get(index + 1).map_or(self.data.end_s, |next| next.start_s)
    }

    fn line(
        &self,
        y: &Scale,
        colour: Rgb,
        of: impl Fn(&FleetPoint) -> f64,
    ) -> Result<(), ChartError> {
        self.brush.path(&self.steps(y, of), &Line { colour, width_px: 1.5, dash: None })
    }

    fn most(&self, of: impl Fn(&FleetPoint) -> f64) -> f64 {
        self.data.points.iter().map(of).fold(0.0, |a, b| if b > a { b } else { a })
    }

    fn rates(&self) -> Result<(), ChartError> {
        let [came, answered] = [0, 1].map(|index| self.theme.data[index]);
        let legend = [("came", came.ink), ("answered", answered.ink)];
        let most = self.most(|point| {
            let (came, answered) = point.rates_per_s;
            if answered > came { answered } else { came }
        });
        let y = self.amounts(0, "Requests per second", &legend, most)?;
        self.line(&y, came.mark, |point| point.rates_per_s.0)?;
        self.line(&y, answered.mark, |point| point.rates_per_s.1)
    }

    fn replicas(&self) -> Result<(), ChartError> {
        let colours = [1, 2, 3, 4].map(|index| self.theme.data[index]);
        let words = ["ready", "starting", "draining", "without a node"];
        let mut legend: Vec<(&str, Rgb)> =
            words.into_iter().zip(colours.map(|colour| colour.ink)).collect();
        legend.push(("asked for", self.theme.text));
        let sum = |point: &FleetPoint| point.replicas.iter().sum::<f64>();
        let most =
            self.most(|point| if point.desired > sum(point) { point.desired } else { sum(point) });
        let y = self.amounts(1, "Replicas", &legend, most)?;
        for (state, colour) in colours.iter().enumerate() {
            let below = |point: &FleetPoint| point.replicas[..state].iter().sum::<f64>();
            let above = |point: &FleetPoint| below(point) + point.replicas[state];
            if self.most(|point| point.replicas[state]) == 0.0 {
                continue;
            }
            let mut outline = self.steps(&y, above);
            outline.extend(self.steps(&y, below).into_iter().rev());
            self.brush.polygon(&outline, colour.mark, 0.75)?;
        }
        self.line(&y, self.theme.text, |point| point.desired)
    }

    fn queue(&self) -> Result<(), ChartError> {
        let [waiting, running] = [5, 1].map(|index| self.theme.data[index]);
        let legend = [("waiting", waiting.ink), ("running", running.ink)];
        let most = self.most(|point| {
            let (waiting, running) = point.requests;
            if waiting > running { waiting } else { running }
        });
        let y = self.amounts(2, "Requests", &legend, most)?;
        self.line(&y, running.mark, |point| point.requests.1)?;
        self.line(&y, waiting.mark, |point| point.requests.0)
    }

    fn target(&self) -> Result<(), ChartError> {
        let legend = [("target", self.theme.text3)];
        let ticks = [0.0, 0.5, 1.0];
        let y = self.panel(3, "In time", &legend, (1.0, &ticks), |share| {
            format!("{} %", quantity::axis_number(100.0 * share))
        })?;
        for (index, point) in self.data.points.iter().enumerate() {
            let Some(share) = point.slo_share else { continue };
            let theme = self.theme;
            let colour = if share < self.data.target_share { theme.bad } else { theme.ok };
            let ends = (self.x.to_px(point.start_s), self.x.to_px(self.ends_s(index)));
            let (top, bottom) = (y.to_px(share), y.to_px(0.0));
            let bar = Rect { left: ends.0, top, right: ends.1, bottom };
            self.brush.rect(&bar, colour, 0.35)?;
            self.brush.path(
                &[(ends.0, top), (ends.1, top)],
                &Line { colour, width_px: 1.5, dash: None },
            )?;
        }
        let line = Line { colour: self.theme.text3, width_px: 1.0, dash: Some(Dash(4.0, 3.0)) };
        let rect = self.rect(3);
        self.brush.level(y.to_px(self.data.target_share), (rect.left, rect.right), &line)
    }

    /// The axis of time under the last panel.
    fn time(&self) -> Result<(), ChartError> {
        let rect = self.rect(PANELS - 1);
        let end_s = self.x.high();
        let (unit_s, unit) = if end_s >= HOURS_FROM_S { (3600.0, "h") } else { (60.0, "min") };
        let ticks = linear_ticks(end_s / unit_s, rect.right - rect.left, TICK_DISTANCE_PX.0);
        let axis = Line { colour: self.theme.axis, width_px: 1.0, dash: None };
        for tick in ticks {
            let at = self.x.to_px(tick * unit_s);
            self.brush.upright(at, (rect.bottom, rect.bottom + TICK_PX), &axis)?;
            let text = format!("{} {unit}", quantity::axis_number(tick));
            let place = (at, rect.bottom + 14.0);
            // The last may reach beyond the edge.
            let anchor = if at > rect.right - 24.0 { Anchor::End } else { Anchor::Middle };
            self.brush.text(&plain(text, place, anchor, self.theme.text3))?;
        }
        Ok(())
    }
}

fn plain(text: String, at: Point, anchor: Anchor, colour: Rgb) -> Label {
    Label { text, at, anchor, colour, bold: false, halo: None, upright: false }
}

/// As many stretches as can be told apart on a chart, each of as many windows.
#[must_use]
pub fn windows_per_point(windows: usize) -> usize {
    /// Stretches of a pixel or two.
    const MOST: usize = 480;
    windows.div_ceil(MOST).max(1)
}
