//! Where labels go: beside their line, never on another label, point or line.

use crate::clip::{Point, touches};
use crate::curve::sort_by_first;
use crate::geometry::Rect;
use crate::metrics::text_width;
use crate::paint::{Anchor, HALO_PX, TEXT_PX};

/// Between a label and the line that it names, CSS px.
const GAP_PX: f64 = 4.0;
/// Height of a label's box: capitals and what hangs below them.
const HEIGHT_PX: f64 = TEXT_PX;
/// A label is tried at places this far apart along its line, CSS px, and at no more than so many.
const STEP_PX: f64 = 8.0;
const MOST_PLACES: u32 = 60;

/// The box around a text at a place.
pub(crate) fn text_box(text: &str, bold: bool, (x, y): Point, anchor: Anchor) -> Rect {
    let width = text_width(text, TEXT_PX, bold);
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    Rect { left, right: left + width, top: y - HEIGHT_PX / 2.0, bottom: y + HEIGHT_PX / 2.0 }
}

/// What labels must keep clear of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clearance {
    lines: Vec<Vec<Point>>,
    boxes: Vec<Rect>,
}

impl Clearance {
    /// Keeps clear of a line.
    pub(crate) fn add_line(&mut self, line: Vec<Point>) {
        self.lines.push(line);
    }

    /// Keeps clear of a label or a point.
    pub(crate) fn add_box(&mut self, rect: Rect) {
        self.boxes.push(rect);
    }

    /// True if nothing is in the way.
    pub(crate) fn is_free(&self, rect: &Rect) -> bool {
        let wide = rect.grown(HALO_PX);
        !self.boxes.iter().any(|other| other.overlaps(&wide))
            && !self.lines.iter().any(|line| touches(line, &wide))
    }

    /// The first of `places` (middles of a text) that is within `bounds` and free; takes it.
    pub(crate) fn take_first(
        &mut self,
        text: &str,
        bold: bool,
        bounds: &Rect,
        places: impl IntoIterator<Item = Point>,
    ) -> Option<Point> {
        let place = places.into_iter().find(|place| {
            let rect = text_box(text, bold, *place, Anchor::Middle);
            bounds.contains(&rect) && self.is_free(&rect)
        })?;
        let taken = text_box(text, bold, place, Anchor::Middle);
        // Two names in one row need air between them to read as two.
        self.boxes.push(Rect { left: taken.left - 8.0, right: taken.right + 8.0, ..taken });
        Some(place)
    }
}

/// Places for a label of this width beside a line: above it along its length, nearest to the middle
/// `preferred` first, then below it. A place is offered only where the line runs beneath the whole
/// label.
pub(crate) fn beside(line: &[Point], width: f64, preferred: f64) -> Vec<Point> {
    let (Some(first), Some(last)) = (line.first(), line.last()) else {
        return Vec::new();
    };
    let (from, to) = (first.0 + width / 2.0, last.0 - width / 2.0);
    if from > to {
        return Vec::new();
    }
    let finest = (to - from) / f64::from(MOST_PLACES);
    let step = if finest > STEP_PX { finest } else { STEP_PX };
    let mut middles: Vec<Point> = (0..=MOST_PLACES)
        .map(|i| from + f64::from(i) * step)
        .take_while(|middle| *middle <= to)
        .map(|middle| ((middle - preferred).abs(), middle))
        .collect();
    sort_by_first(&mut middles);
    let at = |x: f64, above: bool| {
        let span = (x - width / 2.0 - HALO_PX, x + width / 2.0 + HALO_PX);
        let (top, bottom) = extent(line, span)?;
        let clear = GAP_PX + HEIGHT_PX / 2.0;
        Some((x, if above { top - clear } else { bottom + clear }))
    };
    let above = middles.iter().filter_map(|(_, x)| at(*x, true));
    let below = middles.iter().filter_map(|(_, x)| at(*x, false));
    above.chain(below).collect()
}

/// Highest and lowest place of a line between two x.
fn extent(line: &[Point], (left, right): (f64, f64)) -> Option<(f64, f64)> {
    let mut found: Option<(f64, f64)> = None;
    for pair in line.windows(2) {
        if pair[1].0 < left || pair[0].0 > right {
            continue;
        }
        for (_, y) in pair {
            found = Some(match found {
                Some((top, bottom)) => {
                    (if *y < top { *y } else { top }, if *y > bottom { *y } else { bottom })
                }
                None => (*y, *y),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Rect = Rect { left: 0.0, top: 0.0, right: 300.0, bottom: 100.0 };

    fn place(clearance: &mut Clearance, line: &[Point]) -> Option<Point> {
        let width = text_width("Goodput", TEXT_PX, true);
        clearance.take_first("Goodput", true, &BOUNDS, beside(line, width, 80.0))
    }

    #[test]
    fn goes_above_near_the_wish() {
        let line = [(0.0, 50.0), (300.0, 50.0)];
        let (x, y) = place(&mut Clearance::default(), &line).expect("there is room");
        assert!((x - 80.0).abs() <= 4.0);
        assert_eq!(y, 40.0);
    }

    #[test]
    fn goes_below_where_above_is_taken_and_nowhere_where_both_are() {
        let line = [(0.0, 50.0), (300.0, 50.0)];
        let mut clearance = Clearance::default();
        clearance.add_line(vec![(0.0, 40.0), (300.0, 40.0)]);
        assert_eq!(place(&mut clearance, &line).expect("below").1, 60.0);
        clearance.add_line(vec![(0.0, 60.0), (300.0, 60.0)]);
        assert_eq!(place(&mut clearance, &line), None);
    }

    #[test]
    fn labels_keep_clear_of_each_other_and_of_the_edge() {
        let line = [(0.0, 14.0), (300.0, 14.0)];
        let mut clearance = Clearance::default();
        let mut taken: Vec<Rect> = Vec::new();
        while let Some(at) = place(&mut clearance, &line) {
            let rect = text_box("Goodput", true, at, Anchor::Middle);
            assert!(BOUNDS.contains(&rect));
            assert!(taken.iter().all(|other| !other.overlaps(&rect)));
            taken.push(rect);
        }
        assert!((3..=5).contains(&taken.len()), "{}", taken.len());
        assert!(taken.iter().all(|rect| rect.top > 14.0), "above there is no room");
    }

    #[test]
    fn a_short_line_gets_no_label() {
        assert!(beside(&[(0.0, 1.0), (5.0, 1.0)], 40.0, 2.0).is_empty());
        assert!(beside(&[], 40.0, 2.0).is_empty());
    }
}
