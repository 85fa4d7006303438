//! The words on the knee chart: what each line is called and where its name goes.

use crate::clip::Point;
use crate::data::KneeData;
use crate::geometry::{KneeGeometry, Rect};
use crate::ground::{stable_end, unstable_ground};
use crate::knee::{dot_places, within};
use crate::labels::{Clearance, beside, text_box};
use crate::metrics::text_width;
use crate::paint::{Anchor, Label, TEXT_PX};
use crate::series::Series;
use crate::style::Style;
use crate::theme::{Rgb, Theme};
use crate::traces::Traces;

/// Half the height of the row above the panels, CSS px.
const TOP_ROW_PX: f64 = 9.0;
/// Between a label of that row and the edge of the chart.
const EDGE_PX: f64 = 2.0;
/// From the start of a target line to its name.
const TARGET_INSET_PX: f64 = 6.0;
/// Half of a hollow dot with its ring.
const DOT_PX: f64 = 5.0;
/// Where along its panel a series' name goes, if it can: a quarter in.
const NAME_AT: f64 = 0.26;
/// Where the closed form's goes: towards the knee, where it parts from the simulation.
const CLOSED_FORM_AT: f64 = 0.68;
/// Height of a line of text in the unstable region.
const LINE_PX: f64 = 16.0;

/// All words except those of the axes, each at its place.
pub(crate) fn labels(
    data: &KneeData,
    series: &Series,
    geometry: &KneeGeometry,
    traces: &Traces,
    theme: &Theme,
    style: &Style,
) -> Vec<Label> {
    let mut labels = top_row(data, geometry, theme, style);
    labels.extend(unstable(data, series, geometry, theme));
    let mut names = Names {
        clearance: clearance(data, series, geometry, traces),
        labels,
        theme,
        narrow: style.is_narrow(),
        left: geometry.plot.left,
        width: geometry.plot.width(),
        stable_end: stable_end(geometry, series),
    };
    names.target(traces.ttft_target, data.ttft_target_s, &geometry.ttft.rect, 1);
    names.target(traces.tpot_target, data.tpot_target_s, &geometry.tpot.rect, 2);
    names.series("TTFT P99", &traces.ttft_p99, &geometry.ttft.rect, (1, true), NAME_AT);
    names.series("TPOT P99", &traces.tpot_p99, &geometry.tpot.rect, (2, true), NAME_AT);
    names.series("Goodput", &traces.goodput, &geometry.goodput.rect, (3, true), NAME_AT);
    names.series("P50", &traces.ttft_p50, &geometry.ttft.rect, (1, false), NAME_AT);
    names.series(
        "closed form",
        &traces.closed_form,
        &geometry.ttft.rect,
        (0, false),
        CLOSED_FORM_AT,
    );
    names.offered(traces, geometry);
    names.labels
}

struct Names<'a> {
    clearance: Clearance,
    labels: Vec<Label>,
    theme: &'a Theme,
    narrow: bool,
    left: f64,
    width: f64,
    stable_end: f64,
}

impl Names<'_> {
    /// A series' name beside its line, or nowhere.
    fn series(
        &mut self,
        text: &str,
        line: &[Point],
        bounds: &Rect,
        (data, main): (usize, bool),
        preferred: f64,
    ) {
        if self.narrow && !main {
            return;
        }
        let places =
            beside(line, text_width(text, TEXT_PX, main), self.left + preferred * self.width);
        if let Some(at) = self.clearance.take_first(text, main, bounds, places) {
            self.push(text.to_owned(), at, (self.theme.data[data].ink, main));
        }
    }

    /// “target 1 s” at the left end above its line, or else below it.
    fn target(&mut self, y: Option<f64>, seconds: f64, panel: &Rect, data: usize) {
        let Some(y) = y else { return };
        let text = format!("target {}", quantity::duration(seconds));
        let middle = self.left + TARGET_INSET_PX + text_width(&text, TEXT_PX, false) / 2.0;
        // The gap above a panel is free for a target near its top.
        let bounds = Rect { top: panel.top - TEXT_PX, ..*panel };
        let places = [(middle, y - 10.0), (middle, y + 11.0)];
        if let Some(at) = self.clearance.take_first(&text, false, &bounds, places) {
            self.push(text, at, (self.theme.data[data].ink, false));
        }
    }

    /// “offered” after the end of its line, or beside it.
    fn offered(&mut self, traces: &Traces, geometry: &KneeGeometry) {
        let Some(end) = traces.offered.last().filter(|_| !self.narrow) else {
            return;
        };
        let text = "offered";
        let width = text_width(text, TEXT_PX, false);
        let mut places = vec![(end.0 + 6.0 + width / 2.0, end.1 + 4.0)];
        places.extend(beside(&traces.offered, width, end.0));
        let bounds = &geometry.goodput.rect;
        if let Some(at) = self.clearance.take_first(text, false, bounds, places) {
            self.push(text.to_owned(), at, (self.theme.data[0].ink, false));
        }
    }

    fn push(&mut self, text: String, at: Point, (colour, bold): (Rgb, bool)) {
        let is_stable = at.0 < self.stable_end;
        let halo = if is_stable { self.theme.surface } else { unstable_ground(self.theme) };
        let halo = Some(halo);
        let anchor = Anchor::Middle;
        self.labels.push(Label { text, at, anchor, colour, bold, halo, upright: false });
    }
}

/// Every line and dot that a name has to keep clear of.
fn clearance(
    data: &KneeData,
    series: &Series,
    geometry: &KneeGeometry,
    traces: &Traces,
) -> Clearance {
    let mut clearance = Clearance::default();
    let Rect { left, top, right, bottom } = geometry.plot;
    for y in [traces.ttft_target, traces.tpot_target].into_iter().flatten() {
        clearance.add_line(vec![(left, y), (right, y)]);
    }
    let capacity = data.capacity_per_s.map(|capacity| capacity.value);
    let rates = [data.planned_rate_per_s, capacity, series.unstable_from];
    for x in rates.into_iter().flatten().filter_map(|rate| within(geometry, rate)) {
        clearance.add_line(vec![(x, top), (x, bottom)]);
    }
    for (at, _) in data.planned_rate_per_s.into_iter().flat_map(|r| dot_places(geometry, series, r))
    {
        let dot = Rect { left: at.0, top: at.1, right: at.0, bottom: at.1 };
        clearance.add_box(dot.grown(DOT_PX));
    }
    for line in [
        &traces.ttft_p50,
        &traces.ttft_p99,
        &traces.closed_form,
        &traces.tpot_p99,
        &traces.goodput,
        &traces.offered,
    ] {
        clearance.add_line(line.clone());
    }
    clearance
}

/// “planned 16.7”, “36 % headroom”, “target holds to 22.6” above the panels.
fn top_row(data: &KneeData, geometry: &KneeGeometry, theme: &Theme, style: &Style) -> Vec<Label> {
    let mut row = TopRow { labels: Vec::new(), boxes: Vec::new(), right: style.width_px - EDGE_PX };
    let planned = data.planned_rate_per_s.filter(|rate| *rate > 0.0);
    let planned_x = planned.and_then(|rate| within(geometry, rate));
    let capacity = data.capacity_per_s.map(|capacity| capacity.value);
    let capacity_x = capacity.and_then(|rate| within(geometry, rate));
    let room = matches!((planned_x, capacity_x), (Some(p), Some(c)) if p < c);
    if let (Some(rate), Some(x)) = (capacity, capacity_x) {
        let words = if style.is_narrow() { "limit" } else { "target holds to" };
        let text = format!("{words} {}", figure(data, quantity::number(rate)));
        let mut sides = if style.is_narrow() {
            [Anchor::Middle, Anchor::Start, Anchor::End]
        } else {
            [Anchor::Start, Anchor::Middle, Anchor::End]
        };
        // A load beyond the capacity has its name on the other side.
        if matches!(planned_x, Some(planned) if planned > x) {
            sides.reverse();
        }
        row.add(text, theme.text, sides.map(|side| (beside_x(x, side), side)));
    }
    if let (Some(rate), Some(x)) = (planned, planned_x) {
        let text = format!("planned {}", figure(data, quantity::number(rate)));
        let mut sides = [Anchor::End, Anchor::Middle, Anchor::Start];
        if !room {
            sides.reverse();
        }
        row.add(text, theme.ok, sides.map(|side| (beside_x(x, side), side)));
    }
    if let (true, Some(capacity), Some(planned), Some(left), Some(right)) =
        (room, capacity, planned, planned_x, capacity_x)
    {
        let part = quantity::whole_percent(capacity / planned - 1.0);
        let text = format!("{} headroom", figure(data, part));
        if text_width(&text, TEXT_PX, false) + 12.0 <= right - left {
            row.add_regular(text, theme.ok, ((left + right) / 2.0, Anchor::Middle));
        }
    }
    row.labels
}

/// A figure, with its sign where it is about right.
fn figure(data: &KneeData, text: String) -> String {
    if data.is_estimate { quantity::about(&text) } else { text }
}

fn beside_x(x: f64, side: Anchor) -> f64 {
    match side {
        Anchor::Start => x + 6.0,
        Anchor::Middle => x,
        Anchor::End => x - 6.0,
    }
}

struct TopRow {
    labels: Vec<Label>,
    boxes: Vec<Rect>,
    right: f64,
}

impl TopRow {
    fn add(&mut self, text: String, colour: Rgb, places: [(f64, Anchor); 3]) {
        let free = places.into_iter().find(|place| self.is_free(&text, true, *place));
        if let Some(place) = free {
            self.push(text, colour, true, place);
        }
    }

    fn add_regular(&mut self, text: String, colour: Rgb, place: (f64, Anchor)) {
        if self.is_free(&text, false, place) {
            self.push(text, colour, false, place);
        }
    }

    fn is_free(&self, text: &str, bold: bool, (x, anchor): (f64, Anchor)) -> bool {
        let rect = text_box(text, bold, (x, TOP_ROW_PX), anchor);
        let wide = rect.grown(4.0);
        rect.left >= 0.0
            && rect.right <= self.right
            && !self.boxes.iter().any(|other| other.overlaps(&wide))
    }

    fn push(&mut self, text: String, colour: Rgb, bold: bool, (x, anchor): (f64, Anchor)) {
        let at = (x, TOP_ROW_PX);
        self.boxes.push(text_box(&text, bold, at, anchor));
        self.labels.push(Label { text, at, anchor, colour, bold, halo: None, upright: false });
    }
}

/// “Unstable, above 24.2, P99 withheld” in the hatched region: three lines, one upright word, or
/// nothing, as there is room.
fn unstable(
    data: &KneeData,
    series: &Series,
    geometry: &KneeGeometry,
    theme: &Theme,
) -> Vec<Label> {
    let Some(from) = series.unstable_from else {
        return Vec::new();
    };
    let panel = &geometry.ttft.rect;
    let Some(left) = within(geometry, from) else {
        return Vec::new();
    };
    let middle = ((left + panel.right) / 2.0, (panel.top + panel.bottom) / 2.0);
    let width = panel.right - left;
    let label = |text: String, at: Point, bold: bool, upright: bool| Label {
        text,
        at,
        anchor: Anchor::Middle,
        colour: theme.held,
        bold,
        halo: Some(unstable_ground(theme)),
        upright,
    };
    let lines = [
        String::from("Unstable"),
        format!("above {}", figure(data, quantity::number(from))),
        String::from("P99 withheld"),
    ];
    let widest = lines.iter().map(|line| text_width(line, TEXT_PX, true)).max_by(f64::total_cmp);
    if widest.is_some_and(|widest| widest + 4.0 <= width) && panel.height() >= 4.0 * LINE_PX {
        let [unstable, above, withheld] = lines;
        return vec![
            label(unstable, (middle.0, middle.1 - LINE_PX), true, false),
            label(above, middle, false, false),
            label(withheld, (middle.0, middle.1 + LINE_PX), false, false),
        ];
    }
    if width >= LINE_PX && panel.height() >= text_width(&lines[0], TEXT_PX, true) {
        return vec![label(String::from("Unstable"), middle, true, true)];
    }
    Vec::new()
}
