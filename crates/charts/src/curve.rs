//! A smooth line through points that invents no bump: the monotone cubic of Fritsch and Carlson.

/// Larger numbers are held at this, so that differences and slopes stay finite.
const LIMIT: f64 = 1e150;

/// A monotone cubic: between two points it stays between their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    points: Vec<(f64, f64)>,
    slopes: Vec<f64>,
}

impl Curve {
    /// The curve through the finite ones of `points`, in any order. Of points with the same x only
    /// the first counts.
    pub(crate) fn through(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::through_all(points.into_iter().collect())
    }

    /// Compiled once, whatever the points came from.
    fn through_all(mut points: Vec<(f64, f64)>) -> Self {
        points.retain(|(x, y)| x.is_finite() && y.is_finite());
        for (x, y) in &mut points {
            (*x, *y) = (held(*x), held(*y));
        }
        sort_by_first(&mut points);
        points.dedup_by(|later, earlier| later.0 == earlier.0);
        let slopes = slopes(&points);
        Self { points, slopes }
    }

    /// The points that the curve goes through, by x.
    pub(crate) fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The value at `x`; `None` outside the points.
    pub(crate) fn at(&self, x: f64) -> Option<f64> {
        let after = self.points.partition_point(|point| point.0 < x);
        let (x1, y1) = *self.points.get(after)?;
        if x1 == x {
            return Some(y1);
        }
        let before = after.checked_sub(1)?;
        let (x0, y0) = self.points[before];
        let width = x1 - x0;
        let t = (x - x0) / width;
        let (t2, t3) = (t * t, t * t * t);
        let value = y0 * (2.0 * t3 - 3.0 * t2 + 1.0)
            + self.slopes[before] * width * (t3 - 2.0 * t2 + t)
            + y1 * (3.0 * t2 - 2.0 * t3)
            + self.slopes[after] * width * (t3 - t2);
        Some(between(value, y0, y1))
    }

    /// Points along the curve no further than `step` apart in x, the given ones among them.
    pub(crate) fn sampled(&self, step: f64) -> Vec<(f64, f64)> {
        let mut samples = Vec::new();
        for pair in self.points.windows(2) {
            let (x0, x1) = (pair[0].0, pair[1].0);
            samples.push(pair[0]);
            let pieces = ((x1 - x0) / step).ceil();
            // A step that is no step, or a curve far wider than any chart, gets straight pieces.
            if !(pieces > 1.0 && pieces < 10_000.0) {
                continue;
            }
            for piece in 1..pieces as u32 {
                let x = x0 + (x1 - x0) * f64::from(piece) / pieces;
                samples.extend(self.at(x).map(|y| (x, y)));
            }
        }
        samples.extend(self.points.last());
        samples
    }
}

/// Rounding must not carry a value past the points around it.
fn between(value: f64, a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}

/// Sorts points from left to right; of points at one place the order stays. A curve has few points:
/// each is put among those before it.
pub(crate) fn sort_by_first(points: &mut [(f64, f64)]) {
    for next in 1..points.len() {
        let x = points[next].0;
        let place = points[..next].partition_point(|point| point.0 <= x);
        points[place..=next].rotate_right(1);
    }
}

fn held(value: f64) -> f64 {
    between(value, -LIMIT, LIMIT)
}

fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    if points.len() < 2 {
        return vec![0.0; points.len()];
    }
    let secants: Vec<f64> = points
        .windows(2)
        .map(|pair| finite((pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)))
        .collect();
    let widths: Vec<f64> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let last = secants.len() - 1;
    let mut slopes: Vec<f64> = (0..points.len())
        .map(|i| match i {
            0 if last == 0 => secants[0],
            0 => end_slope((widths[0], widths[1]), (secants[0], secants[1])),
            i if i > last && last == 0 => secants[0],
            i if i > last => {
                end_slope((widths[last], widths[last - 1]), (secants[last], secants[last - 1]))
            }
            i if secants[i - 1] * secants[i] <= 0.0 => 0.0,
            i => inner_slope((widths[i - 1], widths[i]), (secants[i - 1], secants[i])),
        })
        .collect();
    for (i, &secant) in secants.iter().enumerate() {
        if secant == 0.0 {
            slopes[i] = 0.0;
            slopes[i + 1] = 0.0;
            continue;
        }
        // The circle of radius three is inside the region where the cubic is monotone.
        let (a, b) = (slopes[i] / secant, slopes[i + 1] / secant);
        let length = libm::hypot(a, b);
        if length > 3.0 {
            slopes[i] = 3.0 / length * a * secant;
            slopes[i + 1] = 3.0 / length * b * secant;
        }
    }
    slopes
}

/// Slope at a point between two steps in one direction: their harmonic mean after Fritsch and
/// Butland, which leans to the flatter step and so makes no waves before a bend.
fn inner_slope((before, after): (f64, f64), (secant, next): (f64, f64)) -> f64 {
    let (weight, next_weight) = (2.0 * after + before, after + 2.0 * before);
    finite((weight + next_weight) / (weight / secant + next_weight / next))
}

/// Slope at an end of the parabola through it and the two points after it. It never turns against
/// the first step.
fn end_slope((near, far): (f64, f64), (secant, next): (f64, f64)) -> f64 {
    let slope = finite(((2.0 * near + far) * secant - near * next) / (near + far));
    if slope * secant > 0.0 { slope } else { 0.0 }
}

fn finite(slope: f64) -> f64 {
    if slope.is_finite() { slope } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_through_its_points_in_any_order() {
        let curve = Curve::through([(2.0, 4.0), (0.0, 1.0), (1.0, 1.5)]);
        assert_eq!(curve.at(0.0), Some(1.0));
        assert_eq!(curve.at(1.0), Some(1.5));
        assert_eq!(curve.at(2.0), Some(4.0));
        assert_eq!(curve.at(-0.1), None);
        assert_eq!(curve.at(2.1), None);
        assert_eq!(curve.at(f64::NAN), None);
    }

    #[test]
    fn rises_wherever_its_points_rise() {
        let rising = [(0.0, 0.0), (1.0, 0.01), (1.1, 5.0), (4.0, 5.0), (4.2, 5.1), (9.0, 80.0)];
        let samples = Curve::through(rising).sampled(0.01);
        assert!(samples.len() > 800);
        assert!(samples.windows(2).all(|pair| pair[1].1 >= pair[0].1));
    }

    #[test]
    fn a_peak_among_the_points_stays_the_peak() {
        let curve = Curve::through([(0.0, 0.0), (2.0, 2.0), (3.0, 1.0), (4.0, 3.0)]);
        for (x, y) in curve.sampled(0.05) {
            assert!((0.0..=3.0).contains(&y), "{y} at {x}");
            assert!(x > 3.0 || y <= 2.0, "{y} at {x}");
        }
    }

    #[test]
    fn takes_nothing_one_point_and_nonsense() {
        assert_eq!(Curve::through([]).sampled(1.0), []);
        assert_eq!(Curve::through([(1.0, 2.0)]).sampled(1.0), [(1.0, 2.0)]);
        assert_eq!(Curve::through([(1.0, 2.0), (1.0, 7.0)]).points(), [(1.0, 2.0)]);
        let wild = Curve::through([
            (f64::NAN, 1.0),
            (0.0, f64::INFINITY),
            (0.0, -1e308),
            (1e-320, 1e308),
            (1.0, 0.0),
        ]);
        assert!(wild.sampled(1e-3).iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        assert_eq!(wild.sampled(0.0).len(), 3);
    }
}
