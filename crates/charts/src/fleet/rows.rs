//! What each row of a fleet shows.

use plotters::prelude::DrawingBackend;

use crate::axis::linear_ticks;
use crate::clip::{Point, hatch};
use crate::error::ChartError;
use crate::geometry::{Panel, Rect};
use crate::labels::text_box;
use crate::paint::{Anchor, Brush, Dash, Label, Line};
use crate::theme::{Rgb, Theme};

use super::data::{FleetBin, FleetData, FleetRowKind};
use super::layout::FleetGeometry;
use super::plain;

const TICKS_APART_PX: f64 = 24.0;
const TICK_PX: f64 = 4.0;
const HATCH_PX: f64 = 5.0;
const TARGET_DASH: Dash = Dash(2.0, 3.0);
const ASKED_DASH: Dash = Dash(4.0, 3.0);
/// Fewer requests have no 99th percentile to stand behind.
const FEWEST_SERVED: u64 = 100;

type Row<'a> = (FleetRowKind, &'a Panel);

/// Grid, baseline and tick labels.
pub(super) fn axis<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    (kind, panel): Row<'_>,
    theme: &Theme,
) -> Result<(), ChartError> {
    let Rect { left, right, bottom, .. } = panel.rect;
    let grid = Line { colour: theme.grid, width_px: 1.0, dash: None };
    for tick in linear_ticks(panel.y.high(), panel.rect.height(), TICKS_APART_PX) {
        let y = panel.y.to_px(tick);
        if y < bottom - 0.5 {
            brush.level(y, (left, right), &grid)?;
        }
        let text = match kind {
            FleetRowKind::Kv => quantity::with_unit(&quantity::axis_number(tick * 100.0), "%"),
            FleetRowKind::Ttft => quantity::axis_duration(tick),
            _ => quantity::axis_number(tick),
        };
        brush.text(&plain(text, (left - TICK_PX - 4.0, y), Anchor::End, theme.text3))?;
    }
    brush.level(bottom, (left, right), &Line { colour: theme.axis, ..grid })
}

/// The row's values.
pub(super) fn draw<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &FleetGeometry,
    data: &FleetData,
    (kind, panel): Row<'_>,
    theme: &Theme,
) -> Result<(), ChartError> {
    let sheet = Sheet { brush, geometry, data, panel, theme };
    match kind {
        FleetRowKind::Arrivals => sheet.arrivals(),
        FleetRowKind::Replicas => sheet.replicas(),
        FleetRowKind::Queue => sheet.queue(),
        FleetRowKind::Kv => sheet.kv(),
        FleetRowKind::Ttft => sheet.ttft(),
        FleetRowKind::Gpus => sheet.gpus(),
    }
}

struct Sheet<'a, DB: DrawingBackend> {
    brush: &'a Brush<'a, DB>,
    geometry: &'a FleetGeometry,
    data: &'a FleetData,
    panel: &'a Panel,
    theme: &'a Theme,
}

type Outcome = Result<(), ChartError>;

impl<DB: DrawingBackend> Sheet<'_, DB> {
    fn at(&self, time_s: f64, value: f64) -> Point {
        (self.geometry.x.to_px(time_s), self.panel.y.to_px(value))
    }

    /// A line with a level piece for each window.
    fn steps(&self, tell: impl Fn(&FleetBin) -> f64) -> Vec<Point> {
        let mut line = Vec::new();
        for bin in &self.data.bins {
            let value = tell(bin);
            line.push(self.at(bin.start_s, value));
            line.push(self.at(bin.end_s, value));
        }
        line
    }

    /// A line through the ends of windows.
    fn through(&self, tell: impl Fn(&FleetBin) -> f64) -> Vec<Point> {
        self.data.bins.iter().map(|bin| self.at(bin.end_s, tell(bin))).collect()
    }

    /// The area between a line and the baseline.
    fn area(&self, line: &[Point], colour: Rgb, opacity: f64) -> Outcome {
        let (Some(first), Some(last)) = (line.first(), line.last()) else { return Ok(()) };
        let bottom = self.panel.rect.bottom;
        let mut outline = line.to_vec();
        outline.push((last.0, bottom));
        outline.push((first.0, bottom));
        self.brush.polygon(&outline, colour, opacity)
    }

    fn line(&self, line: &[Point], colour: Rgb, width_px: f64, dash: Option<Dash>) -> Outcome {
        self.brush.path(line, &Line { colour, width_px, dash })
    }

    /// A level target line with its name at the left end, above it or, at the upper edge, below.
    fn target(&self, value: f64, name: &str, (mark, ink): (Rgb, Rgb)) -> Outcome {
        let Rect { left, right, top, .. } = self.panel.rect;
        let y = self.panel.y.to_px(value);
        let line = Line { colour: mark, width_px: 1.5, dash: Some(TARGET_DASH) };
        self.brush.level(y, (left, right), &line)?;
        let place = if y - 13.0 < top { y + 9.0 } else { y - 8.0 };
        self.named(name, (left + 6.0, place), Anchor::Start, ink)
    }

    fn named(&self, name: &str, at: Point, anchor: Anchor, ink: Rgb) -> Outcome {
        let label = plain(name.to_owned(), at, anchor, ink);
        self.brush.text(&Label { bold: true, halo: Some(self.theme.surface), ..label })
    }

    /// A name beside a place: to its right, or to its left where there is no room.
    fn beside(&self, name: &str, (x, y): Point, ink: Rgb) -> Outcome {
        let Rect { right, top, bottom, .. } = self.panel.rect;
        let y = if y < top + 7.0 { top + 7.0 } else { y };
        let y = if y > bottom - 7.0 { bottom - 7.0 } else { y };
        let fits = text_box(name, true, (x + 8.0, y), Anchor::Start).right <= right;
        let (x, anchor) = if fits { (x + 8.0, Anchor::Start) } else { (x - 8.0, Anchor::End) };
        self.named(name, (x, y), anchor, ink)
    }

    fn arrivals(&self) -> Outcome {
        let (mark, bad) = (self.theme.data[1].mark, self.theme.bad);
        for bin in self.data.bins.iter().filter(|bin| bin.rejected_per_s > 0.0) {
            let rect = self.block(bin, (0.0, bin.rejected_per_s));
            self.hatched(&rect, bad, self.theme.bad_soft)?;
        }
        let counted = self.steps(|bin| bin.arrived_per_s);
        self.line(&counted, mixed(mark, self.theme.surface, 0.55), 1.0, None)?;
        let asked: Vec<Point> =
            self.data.asked_rate.iter().map(|&(at_s, rate)| self.at(at_s, rate)).collect();
        self.line(&asked, mark, 2.25, None)
    }

    /// The place of a stretch of values in a window.
    fn block(&self, bin: &FleetBin, (from, to): (f64, f64)) -> Rect {
        let ((left, bottom), (right, top)) = (self.at(bin.start_s, from), self.at(bin.end_s, to));
        Rect { left, top, right, bottom }
    }

    fn hatched(&self, rect: &Rect, mark: Rgb, soft: Rgb) -> Outcome {
        self.brush.rect(rect, soft, 1.0)?;
        let line = Line { colour: mark, width_px: 1.25, dash: None };
        hatch(rect, HATCH_PX)
            .into_iter()
            .try_for_each(|(from, to)| self.brush.path(&[from, to], &line))
    }

    /// Stretches of windows with the same value, and the value.
    fn runs(&self, tell: impl Fn(&FleetBin) -> (u32, u32)) -> Vec<(FleetBin, (u32, u32))> {
        let mut runs: Vec<(FleetBin, (u32, u32))> = Vec::new();
        for bin in &self.data.bins {
            let value = tell(bin);
            match runs.last_mut() {
                Some((whole, last)) if *last == value => whole.end_s = bin.end_s,
                _ => runs.push((*bin, value)),
            }
        }
        runs
    }

    fn replicas(&self) -> Outcome {
        let theme = self.theme;
        for (whole, (ready, _)) in self.runs(|bin| (bin.ready, 0)) {
            let rect = self.block(&whole, (0.0, f64::from(ready)));
            self.brush.rect(&rect, theme.data[3].mark, 0.85)?;
        }
        let up = |from: u32, by: u32| (f64::from(from), f64::from(from + by));
        let starting = self.runs(|bin| (bin.ready, bin.starting));
        for (whole, (ready, starting)) in starting.iter().filter(|run| run.1.1 > 0) {
            let rect = self.block(whole, up(*ready, *starting));
            self.hatched(&rect, theme.data[2].mark, theme.warn_soft)?;
        }
        let draining = self.runs(|bin| (bin.ready + bin.starting, bin.draining));
        for (whole, (others, draining)) in draining.iter().filter(|run| run.1.1 > 0) {
            let rect = self.block(whole, up(*others, *draining));
            self.brush.rect(&rect, theme.data[0].mark, 0.4)?;
        }
        let asked = self.steps(|bin| f64::from(bin.asked));
        self.line(&asked, theme.text, 1.5, Some(ASKED_DASH))?;
        // The most that ever start at once are named, to the left of where starts begin.
        let most = starting.iter().max_by_key(|run| run.1.1).filter(|run| run.1.1 > 0);
        let Some((whole, (ready, count))) = most else { return Ok(()) };
        let before = self.data.bins.iter().rev().filter(|bin| bin.start_s < whole.start_s);
        let begins_s = before
            .take_while(|bin| bin.starting > 0)
            .last()
            .map_or(whole.start_s, |bin| bin.start_s);
        let middle = f64::from(*ready) + f64::from(*count) / 2.0;
        let (x, y) = self.at(begins_s, middle);
        let name = [&quantity::count(u64::from(*count)), " starting"].concat();
        let place = text_box(&name, true, (x - 6.0, y), Anchor::End);
        let is_clear = self.data.bins.iter().all(|bin| {
            let beside = bin.end_s <= begins_s && self.geometry.x.to_px(bin.end_s) > place.left;
            !beside || f64::from(bin.ready + bin.starting + bin.draining) < middle
        });
        if is_clear && place.left > self.panel.rect.left {
            return self.named(&name, (x - 6.0, y), Anchor::End, theme.data[2].ink);
        }
        Ok(())
    }

    fn queue(&self) -> Outcome {
        let colour = self.theme.data[6];
        let line = self.through(|bin| bin.waiting as f64);
        self.area(&line, colour.mark, 0.22)?;
        self.line(&line, colour.mark, 2.0, None)?;
        let peak = self.data.bins.iter().max_by_key(|bin| bin.waiting);
        let Some(peak) = peak.filter(|bin| bin.waiting > 0) else { return Ok(()) };
        let name = [&quantity::count(peak.waiting), " waiting at the peak"].concat();
        self.beside(&name, self.at(peak.end_s, peak.waiting as f64), colour.ink)
    }

    fn kv(&self) -> Outcome {
        let colour = self.theme.data[5];
        let (mean, most) = (self.through(|bin| bin.kv.0), self.through(|bin| bin.kv.1));
        let mut band = most.clone();
        band.extend(mean.iter().rev());
        self.brush.polygon(&band, colour.mark, self.theme.band_opacity)?;
        self.line(&most, colour.mark, 1.0, None)?;
        self.line(&mean, colour.mark, 2.0, None)
    }

    fn ttft(&self) -> Outcome {
        let colour = self.theme.data[4];
        for bin in &self.data.bins {
            if bin.served < FEWEST_SERVED {
                let (left, right) =
                    (self.geometry.x.to_px(bin.start_s), self.geometry.x.to_px(bin.end_s));
                let rect = Rect { left, right, ..self.panel.rect };
                self.brush.rect(&rect, self.theme.held_soft, 1.0)?;
            }
        }
        // Where nobody was served there is no value, and no line.
        let mut line = Vec::new();
        for bin in &self.data.bins {
            match bin.ttft_p99_s {
                Some(value) => {
                    line.push(self.at(bin.start_s, value));
                    line.push(self.at(bin.end_s, value));
                }
                None => self.stretch(&std::mem::take(&mut line))?,
            }
        }
        self.stretch(&line)?;
        let target = quantity::duration(self.data.ttft_target_s);
        let ink = (colour.mark, colour.ink);
        self.target(self.data.ttft_target_s, &["target ", &target].concat(), ink)
    }

    fn stretch(&self, line: &[Point]) -> Outcome {
        let mark = self.theme.data[4].mark;
        self.area(line, mark, 0.14)?;
        self.line(line, mark, 2.0, None)
    }

    fn gpus(&self) -> Outcome {
        let mark = self.theme.data[0].mark;
        let line = self.steps(|bin| bin.gpus as f64);
        self.area(&line, mark, 0.16)?;
        self.line(&line, mark, 2.0, None)
    }
}

/// `part` of one colour over another.
fn mixed(over: Rgb, under: Rgb, part: f64) -> Rgb {
    let channel = |over: u8, under: u8| {
        (f64::from(over) * part + f64::from(under) * (1.0 - part)).round() as u8
    };
    Rgb(channel(over.0, under.0), channel(over.1, under.1), channel(over.2, under.2))
}
