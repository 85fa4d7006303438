//! Lines cut to a rectangle, and the hatching of one.

use crate::geometry::Rect;

/// A point in CSS px.
pub(crate) type Point = (f64, f64);

/// The parts of a polyline that lie within `rect`.
pub(crate) fn clipped(line: &[Point], rect: &Rect) -> Vec<Vec<Point>> {
    let mut parts: Vec<Vec<Point>> = Vec::new();
    for pair in line.windows(2) {
        let Some((from, to)) = clipped_segment(pair[0], pair[1], rect) else {
            continue;
        };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// True if any part of a polyline lies within `rect`.
pub(crate) fn touches(line: &[Point], rect: &Rect) -> bool {
    line.windows(2).any(|pair| clipped_segment(pair[0], pair[1], rect).is_some())
}

/// Lines at 45° across `rect`, `spacing` apart, rising to the right.
pub(crate) fn hatch(rect: &Rect, spacing: f64) -> Vec<(Point, Point)> {
    let step = spacing * std::f64::consts::SQRT_2;
    let (width, height) = (rect.width(), rect.height());
    if !(width > 0.0 && height > 0.0 && step > 0.0) {
        return Vec::new();
    }
    let count = ((width + height) / step).ceil();
    if count > 1000.0 {
        return Vec::new();
    }
    (1..count as u32)
        .filter_map(|i| {
            let along = f64::from(i) * step;
            let from = (rect.left, rect.top + along);
            let to = (rect.left + along, rect.top);
            clipped_segment(from, to, rect)
        })
        .collect()
}

/// The part of a segment within `rect`: the parameter along it is narrowed edge by edge.
fn clipped_segment(from: Point, to: Point, rect: &Rect) -> Option<(Point, Point)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    if !(dx.is_finite() && dy.is_finite()) {
        return None;
    }
    // Most segments of a long line are plainly elsewhere.
    let is_left = from.0 < rect.left && to.0 < rect.left;
    if is_left || (from.0 > rect.right && to.0 > rect.right) {
        return None;
    }
    let (mut enter, mut leave) = (0.0, 1.0);
    for (step, room) in [
        (-dx, from.0 - rect.left),
        (dx, rect.right - from.0),
        (-dy, from.1 - rect.top),
        (dy, rect.bottom - from.1),
    ] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
            continue;
        }
        let at = room / step;
        if step < 0.0 && at > enter {
            enter = at;
        } else if step > 0.0 && at < leave {
            leave = at;
        }
    }
    if enter > leave {
        return None;
    }
    let point = |t: f64| match t {
        0.0 => from,
        1.0 => to,
        t => (from.0 + t * dx, from.1 + t * dy),
    };
    Some((point(enter), point(leave)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Rect = Rect { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    #[test]
    fn a_line_that_leaves_and_returns_has_two_parts() {
        let line = [(0.0, 5.0), (2.0, 5.0), (4.0, -5.0), (6.0, 5.0), (8.0, 5.0)];
        assert_eq!(
            clipped(&line, &BOX),
            [vec![(0.0, 5.0), (2.0, 5.0), (3.0, 0.0)], vec![(5.0, 0.0), (6.0, 5.0), (8.0, 5.0)]]
        );
        assert!(touches(&line, &BOX));
        assert!(!touches(&[(-1.0, -1.0), (11.0, -1.0)], &BOX));
        assert_eq!(clipped(&[(1.0, 1.0)], &BOX), Vec::<Vec<Point>>::new());
    }

    #[test]
    fn hatching_stays_inside() {
        let lines = hatch(&BOX, 2.0);
        assert_eq!(lines.len(), 7);
        for ((x0, y0), (x1, y1)) in lines {
            for value in [x0, y0, x1, y1] {
                assert!((-1e-9..=10.0 + 1e-9).contains(&value));
            }
        }
        assert!(hatch(&Rect { right: 0.0, ..BOX }, 2.0).is_empty());
    }
}
