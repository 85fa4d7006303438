//! How the rate changes over time, as links write it.

use serde::{Deserialize, Serialize};
use sim_core::workload::{RatePoint, RateProfile};

use crate::{
    notice::quoted,
    pieces::call,
    range::{self, Taken},
    writing,
};

/// Latest time that a profile may name, seconds: 31 days.
const MOST_TIME_S: f64 = 2_678_400.0;
/// Largest multiple of the rate.
const MOST_FACTOR: f64 = 100.0;
/// Least multiple where the rate must not be nothing.
const LEAST_FACTOR: f64 = 0.001;
/// Least share of the peak in the quietest hour of a smooth day.
const LEAST_TROUGH: f64 = 0.01;
/// Busiest hour of a smooth day where nobody says: two in the afternoon.
const USUAL_PEAK_HOUR: f64 = 14.0;
/// Shortest period, seconds, and least mean multiple within one: below these a single gap between
/// requests would span thousands of periods.
const LEAST_PERIOD_S: f64 = 60.0;
const LEAST_MEAN: f64 = 0.01;
/// Most points of a profile.
pub(crate) const MOST_POINTS: usize = 48;

/// How the rate changes over time. All factors are multiples of the scenario's rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Profile {
    /// The same at all times.
    #[default]
    Constant,
    /// A sudden change that stays.
    Step {
        /// When, seconds.
        at_s: f64,
        /// The rate from then on.
        factor: f64,
    },
    /// A straight change that stays.
    Ramp {
        /// Its start, seconds.
        from_s: f64,
        /// Its end, seconds.
        to_s: f64,
        /// The rate from its end on.
        factor: f64,
    },
    /// A sudden change that passes.
    Spike {
        /// Its start, seconds.
        at_s: f64,
        /// How long it lasts, seconds.
        length_s: f64,
        /// The rate meanwhile.
        factor: f64,
    },
    /// A smooth day over and over, from midnight on: a cosine with the rate itself at its peak.
    Day {
        /// The rate twelve hours from the peak.
        trough: f64,
        /// Hour of the peak, a whole number from 0 to 23.
        peak_hour: f64,
    },
    /// A day by its hours over and over, from midnight on, with straight lines in between.
    Hours {
        /// The rate at each full hour.
        factors: [f64; 24],
    },
    /// Straight lines between points.
    Points {
        /// In order of time; two at one time are a step.
        points: Vec<RatePoint>,
        /// Length of the period, seconds, where they repeat.
        every_s: Option<f64>,
    },
}

impl Profile {
    /// What the simulator calls it.
    #[must_use]
    pub fn to_rate_profile(&self) -> RateProfile {
        match self {
            Self::Constant => RateProfile::Constant,
            Self::Step { at_s, factor } => RateProfile::step(*at_s, *factor),
            Self::Ramp { from_s, to_s, factor } => RateProfile::ramp(*from_s, *to_s, *factor),
            Self::Spike { at_s, length_s, factor } => RateProfile::spike(*at_s, *length_s, *factor),
            Self::Day { trough, peak_hour } => {
                let factor = |hour: usize| {
                    let turn = (hour as f64 - peak_hour) / 24.0;
                    let height = 0.5 + 0.5 * libm::cos(2.0 * std::f64::consts::PI * turn);
                    trough + (1.0 - trough) * height
                };
                RateProfile::daily(&std::array::from_fn(factor))
            }
            Self::Hours { factors } => RateProfile::daily(factors),
            Self::Points { points, every_s: None } => {
                RateProfile::Piecewise { points: points.clone() }
            }
            Self::Points { points, every_s: Some(period_s) } => {
                RateProfile::Periodic { points: points.clone(), period_s: *period_s }
            }
        }
    }

    /// Whether the rate never changes.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        *self == Self::Constant
    }

    /// Write it: `constant`, `step(60s,2)`, `ramp(0s,600s,3)`, `spike(60s,30s,3)`, `daily(0.3)`,
    /// `daily(0.3,9)`, `daily(…24 numbers…)`, `points(0s:1,600s:2)`,
    /// `points(0s:1,600s:2,every:1200s)`.
    pub(crate) fn text(&self) -> String {
        let (time, factor) = (writing::seconds, |factor: f64| writing::decimal(factor, 0));
        match self {
            Self::Constant => "constant".to_owned(),
            Self::Step { at_s, factor: f } => format!("step({},{})", time(*at_s), factor(*f)),
            Self::Ramp { from_s, to_s, factor: f } => {
                format!("ramp({},{},{})", time(*from_s), time(*to_s), factor(*f))
            }
            Self::Spike { at_s, length_s, factor: f } => {
                format!("spike({},{},{})", time(*at_s), time(*length_s), factor(*f))
            }
            Self::Day { trough, peak_hour } if *peak_hour == USUAL_PEAK_HOUR => {
                format!("daily({})", factor(*trough))
            }
            Self::Day { trough, peak_hour } => {
                format!("daily({},{})", factor(*trough), factor(*peak_hour))
            }
            Self::Hours { factors } => format!("daily({})", factors.map(factor).join(",")),
            Self::Points { points, every_s } => {
                let mut items: Vec<String> = points
                    .iter()
                    .map(|point| format!("{}:{}", time(point.time_s), factor(point.factor)))
                    .collect();
                items.extend(every_s.map(|every_s| format!("every:{}", time(every_s))));
                format!("points({})", items.join(","))
            }
        }
    }
}

/// Read what [`Profile::text`] writes.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn read(text: &str) -> Result<Taken<Profile>, String> {
    if text.trim().eq_ignore_ascii_case("constant") {
        return Ok((Profile::Constant, Vec::new()));
    }
    let Some((name, parts)) = call(text) else {
        return Err(format!("{} is not a rate profile", quoted(text)));
    };
    let mut reader = Reader { text, said: Vec::new() };
    let profile = match name.as_str() {
        "step" => reader.step(&parts),
        "ramp" => reader.ramp(&parts),
        "spike" => reader.spike(&parts),
        "daily" => reader.daily(&parts),
        "points" => reader.points(&parts),
        _ => Err(format!("{} is not a rate profile", quoted(text))),
    }?;
    Ok((profile, reader.said))
}

/// Reads the parts of one profile, and gathers what was moved into range.
struct Reader<'a> {
    text: &'a str,
    said: Vec<String>,
}

impl Reader<'_> {
    fn wrong(&self, problem: &str) -> String {
        format!("{} {problem}", quoted(self.text))
    }

    fn time(&mut self, text: &str) -> Result<f64, String> {
        let (time_s, said) = range::seconds(text, "a time of the profile", (0.0, MOST_TIME_S))?;
        self.said.extend(said);
        Ok(time_s)
    }

    fn factor(&mut self, text: &str, least: f64) -> Result<f64, String> {
        // “3x” as people say it.
        let plain = text.trim().trim_end_matches(['x', '×']);
        let (factor, said) = range::plain(plain, "a factor of the rate", (least, MOST_FACTOR))?;
        self.said.extend(said);
        Ok(factor)
    }

    fn step(&mut self, parts: &[&str]) -> Result<Profile, String> {
        let [at, factor] = *parts else {
            return Err(self.wrong("needs a time and a factor of the rate"));
        };
        Ok(Profile::Step { at_s: self.time(at)?, factor: self.factor(factor, LEAST_FACTOR)? })
    }

    fn ramp(&mut self, parts: &[&str]) -> Result<Profile, String> {
        let [from, to, factor] = *parts else {
            return Err(self.wrong("needs a start, an end and a factor of the rate"));
        };
        let (from_s, to_s) = (self.time(from)?, self.time(to)?);
        if from_s > to_s {
            return Err(self.wrong("ends before it starts"));
        }
        Ok(Profile::Ramp { from_s, to_s, factor: self.factor(factor, LEAST_FACTOR)? })
    }

    fn spike(&mut self, parts: &[&str]) -> Result<Profile, String> {
        let [at, length, factor] = *parts else {
            return Err(self.wrong("needs a time, how long it lasts and a factor of the rate"));
        };
        let (at_s, length_s) = (self.time(at)?, self.time(length)?);
        Ok(Profile::Spike { at_s, length_s, factor: self.factor(factor, 0.0)? })
    }

    fn daily(&mut self, parts: &[&str]) -> Result<Profile, String> {
        let (trough, hour) = match *parts {
            [trough] => (trough, None),
            [trough, hour] => (trough, Some(hour)),
            _ if parts.len() == 24 => return self.hours(parts),
            _ => {
                let needs = "needs the quietest hour as a share of the busiest, and perhaps the \
                             busiest hour; or a factor for each of 24 hours";
                return Err(self.wrong(needs));
            }
        };
        let what = "the quietest hour as a share of the busiest";
        let (trough, said) = range::plain(trough, what, (LEAST_TROUGH, 1.0))?;
        self.said.extend(said);
        let peak_hour = match hour {
            None => USUAL_PEAK_HOUR,
            Some(hour) => {
                let (hour, said) = range::plain(hour, "the busiest hour", (0.0, 23.0))?;
                self.said.extend(said);
                if libm::trunc(hour) != hour {
                    return Err(self.wrong("has a busiest hour that is not whole"));
                }
                hour
            }
        };
        Ok(Profile::Day { trough, peak_hour })
    }

    fn hours(&mut self, parts: &[&str]) -> Result<Profile, String> {
        let mut factors = [0.0; 24];
        for (factor, part) in factors.iter_mut().zip(parts) {
            *factor = self.factor(part, 0.0)?;
        }
        self.lively(Profile::Hours { factors })
    }

    fn points(&mut self, parts: &[&str]) -> Result<Profile, String> {
        let mut points: Vec<RatePoint> = Vec::new();
        let mut every_s = None;
        for part in parts {
            let Some((time, value)) = part.split_once(':') else {
                return Err(self.wrong("needs points such as 0s:1, a time and a factor each"));
            };
            if time.trim().eq_ignore_ascii_case("every") {
                every_s = Some(self.period(value)?);
                continue;
            }
            let point = RatePoint { time_s: self.time(time)?, factor: self.factor(value, 0.0)? };
            if points.last().is_some_and(|last| last.time_s > point.time_s) {
                return Err(self.wrong("has its times out of order"));
            }
            points.push(point);
        }
        if points.len() > MOST_POINTS {
            return Err(self.wrong("has more than 48 points"));
        }
        match (points.first(), points.last(), every_s) {
            (Some(first), Some(last), Some(every_s)) => {
                if first.time_s != 0.0 || last.time_s > every_s {
                    return Err(self.wrong("must begin at 0s and end within its period"));
                }
            }
            (Some(_), Some(last), None) => {
                if last.factor < LEAST_FACTOR {
                    return Err(self.wrong("ends at a rate of nothing, which would stay for ever"));
                }
            }
            _ => return Err(self.wrong("has no point")),
        }
        self.lively(Profile::Points { points, every_s })
    }

    fn period(&mut self, text: &str) -> Result<f64, String> {
        let limits = (LEAST_PERIOD_S, MOST_TIME_S);
        let (every_s, said) = range::seconds(text, "the period", limits)?;
        self.said.extend(said);
        Ok(every_s)
    }

    /// A profile that repeats must send somebody in each period.
    fn lively(&self, profile: Profile) -> Result<Profile, String> {
        if let RateProfile::Periodic { points, period_s } = profile.to_rate_profile()
            && mean_factor(&points, period_s) < LEAST_MEAN
        {
            return Err(self.wrong("has a mean rate under 1 % of the rate"));
        }
        Ok(profile)
    }
}

/// Mean of straight lines between points that go on from the first after a period.
fn mean_factor(points: &[RatePoint], period_s: f64) -> f64 {
    let Some((first, last)) = points.first().zip(points.last()) else { return 0.0 };
    let line =
        |from: &RatePoint, to_s: f64, to: f64| 0.5 * (from.factor + to) * (to_s - from.time_s);
    let inner: f64 =
        points.windows(2).map(|pair| line(&pair[0], pair[1].time_s, pair[1].factor)).sum();
    (inner + line(last, period_s, first.factor)) / period_s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Profile {
        let (profile, said) = read(text).expect(text);
        assert!(said.is_empty(), "{said:?}");
        assert_eq!(profile.to_rate_profile().check(), Ok(()), "{text}");
        profile
    }

    #[test]
    fn forms_are_written_one_way() {
        for (text, canonical) in [
            ("Constant", "constant"),
            ("step(1min, 2)", "step(60s,2)"),
            ("ramp(0,10 min,3x)", "ramp(0s,600s,3)"),
            ("spike(60s,0.5min,3", "spike(60s,30s,3)"),
            ("daily(0.3)", "daily(0.3)"),
            ("daily(0.3,14)", "daily(0.3)"),
            ("daily(0.3,9)", "daily(0.3,9)"),
            ("points(0:1,10min:2,10min:0.5)", "points(0s:1,600s:2,600s:0.5)"),
            ("points(0s:1,1min:2,every:1h)", "points(0s:1,60s:2,every:3600s)"),
        ] {
            let profile = taken(text);
            assert_eq!(profile.text(), canonical);
            assert_eq!(taken(canonical), profile);
        }
        let hours = format!("daily({})", [1.0; 24].map(|factor: f64| factor.to_string()).join(","));
        assert_eq!(taken(&hours).text(), hours);
    }

    #[test]
    fn a_smooth_day_has_its_peak_and_its_trough() {
        let RateProfile::Periodic { points, .. } = taken("daily(0.2,9)").to_rate_profile() else {
            panic!("a day repeats");
        };
        assert_eq!(points[9].factor, 1.0);
        assert!((points[21].factor - 0.2).abs() < 1e-12);
        assert!((mean_factor(&points, 86_400.0) - 0.6).abs() < 1e-12);
        assert_eq!(taken("daily(0.2,9)").to_rate_profile().peak_factor(), 1.0);
    }

    #[test]
    fn profiles_that_make_no_sense_are_refused_with_the_reason() {
        for (text, reason) in [
            ("wobbly(3)", "not a rate profile"),
            ("3", "not a rate profile"),
            ("step(60s)", "a time and a factor"),
            ("step(60s,fast)", "“fast” is not a plain number"),
            ("ramp(60s,30s,2)", "ends before it starts"),
            ("spike(1,2)", "how long it lasts"),
            ("daily(1,2,3)", "24 hours"),
            ("daily(0.5,9.5)", "not whole"),
            ("points(1,2)", "0s:1"),
            ("points(5s:1,4s:2)", "out of order"),
            ("points(0s:1,5s:0)", "for ever"),
            ("points(every:60s)", "no point"),
            ("points(1s:1,every:60s)", "begin at 0s"),
            ("points(0s:0,30s:0,every:60s)", "mean rate"),
        ] {
            let problem = read(text).expect_err(text);
            assert!(problem.contains(reason) && problem.contains('“'), "{text}: {problem}");
        }
        let many = vec!["0s:1"; 49].join(",");
        assert!(read(&format!("points({many})")).is_err());
    }
}
