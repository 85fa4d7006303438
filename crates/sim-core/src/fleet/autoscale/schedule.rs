//! Scaling by the clock: floors that begin and end at times of day and week.
//!
//! The rules are those of KEDA's cron scaler: a floor holds while its next end comes before its next
//! start. Cron expressions have five fields; the days of a simulation have no dates, so that day of
//! month and month have to be `*`.

use thiserror::Error;

const MINUTES_PER_DAY: u32 = 24 * 60;
const MINUTES_PER_WEEK: u32 = 7 * MINUTES_PER_DAY;

/// Why an expression is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CronError {
    /// Too few or too many fields.
    #[error(
        "cron expression {expression:?} has {count} fields; it needs 5: minute hour * * weekday"
    )]
    FieldCount {
        /// The expression.
        expression: String,
        /// How many it has.
        count: usize,
    },
    /// A field that cannot be read.
    #[error(
        "cron {field} {text:?} is not *, a number, a range a-b, a list or a step */n within {least} to {greatest}"
    )]
    BadField {
        /// Which.
        field: &'static str,
        /// As it is.
        text: String,
        /// The least value.
        least: u32,
        /// The greatest value.
        greatest: u32,
    },
    /// A date.
    #[error("cron {field} is {text:?}; only * is possible, since simulated days have no dates")]
    HasDate {
        /// Which field.
        field: &'static str,
        /// As it is.
        text: String,
    },
}

/// Minutes of the week at which something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    minutes: Vec<bool>,
    hours: Vec<bool>,
    /// From Sunday.
    weekdays: Vec<bool>,
}

impl Cron {
    /// Read `minute hour * * weekday`; weekdays are 0 (Sunday) to 6, and 7 is Sunday again.
    ///
    /// # Errors
    /// An expression that is none, or one with dates.
    pub fn parse(expression: &str) -> Result<Self, CronError> {
        let fields: Vec<&str> = expression.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            let expression = expression.to_owned();
            return Err(CronError::FieldCount { expression, count: fields.len() });
        };
        for (field, text) in [("day of month", day), ("month", month)] {
            if text != "*" {
                return Err(CronError::HasDate { field, text: text.to_owned() });
            }
        }
        let minutes = parse_field("minute", minute, 0, 59)?;
        let hours = parse_field("hour", hour, 0, 23)?;
        let mut weekdays = parse_field("weekday", weekday, 0, 7)?;
        if weekdays.pop() == Some(true) {
            weekdays[0] = true;
        }
        Ok(Self { minutes, hours, weekdays })
    }

    fn is_at(&self, minute_of_week: u32) -> bool {
        let minute_of_day = minute_of_week % MINUTES_PER_DAY;
        self.weekdays[(minute_of_week / MINUTES_PER_DAY) as usize]
            && self.hours[(minute_of_day / 60) as usize]
            && self.minutes[(minute_of_day % 60) as usize]
    }
}

fn parse_field(
    field: &'static str,
    text: &str,
    least: u32,
    greatest: u32,
) -> Result<Vec<bool>, CronError> {
    let error = || CronError::BadField { field, text: text.to_owned(), least, greatest };
    let number = |text: &str| {
        let value: Option<u32> = text.parse().ok();
        value.filter(|value| (least..=greatest).contains(value)).ok_or_else(error)
    };
    let mut chosen = vec![false; greatest as usize + 1];
    for part in text.split(',') {
        let (range, every) = match part.split_once('/') {
            Some((range, every)) => (range, every.parse().ok().filter(|&n: &u32| n > 0)),
            None => (part, Some(1)),
        };
        let every = every.ok_or_else(error)?;
        let (first, last) = match (range, range.split_once('-')) {
            ("*", _) => (least, greatest),
            (_, Some((first, last))) => (number(first)?, number(last)?),
            // A step from one value on goes to the end, as in Quartz and in KEDA's parser.
            (_, None) if part.contains('/') => (number(range)?, greatest),
            (_, None) => (number(range)?, number(range)?),
        };
        if first > last {
            return Err(error());
        }
        for value in (first..=last).step_by(every as usize) {
            chosen[value as usize] = true;
        }
    }
    Ok(chosen)
}

/// At which minute of the week the simulation begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    /// Days since Sunday at time 0, 0 to 6.
    pub weekday: u32,
    /// Minutes since midnight at time 0, below 1,440.
    pub minute_of_day: u32,
}

impl Calendar {
    /// The minute of the week that `now_s` falls into.
    fn minute_of_week(&self, now_s: f64) -> u32 {
        let begun = self.weekday * MINUTES_PER_DAY + self.minute_of_day;
        let passed = (now_s / 60.0).floor() as i64;
        (i64::from(begun) + passed).rem_euclid(i64::from(MINUTES_PER_WEEK)) as u32
    }
}

/// So many replicas from each start to the next end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floor {
    /// When it begins.
    pub start: Cron,
    /// When it ends.
    pub end: Cron,
    /// Replicas.
    pub replicas: i32,
}

impl Floor {
    /// Whether it holds in a minute of the week: the next end is nearer than the next start. A
    /// minute at which it starts is in it; one at which it ends is not.
    fn holds(&self, minute_of_week: u32) -> bool {
        for ahead in 1..=MINUTES_PER_WEEK {
            let minute = (minute_of_week + ahead) % MINUTES_PER_WEEK;
            let (starts, ends) = (self.start.is_at(minute), self.end.is_at(minute));
            if starts || ends {
                return ends && !starts;
            }
        }
        false
    }
}

/// The highest floor that holds at `now_s`; `None` when none does.
#[must_use]
pub fn floor_at(floors: &[Floor], calendar: Calendar, now_s: f64) -> Option<i32> {
    let minute = calendar.minute_of_week(now_s);
    floors.iter().filter(|floor| floor.holds(minute)).map(|floor| floor.replicas).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONDAY_MIDNIGHT: Calendar = Calendar { weekday: 1, minute_of_day: 0 };

    fn floor(start: &str, end: &str, replicas: i32) -> Floor {
        Floor { start: Cron::parse(start).unwrap(), end: Cron::parse(end).unwrap(), replicas }
    }

    #[test]
    fn a_working_day_has_its_floor() {
        let floors =
            [floor("45 7 * * 1-5", "0 19 * * 1-5", 8), floor("0 12 * * *", "0 13 * * *", 12)];
        let at =
            |day: f64, hour: f64| floor_at(&floors, MONDAY_MIDNIGHT, (day * 24.0 + hour) * 3600.0);
        assert_eq!(at(0.0, 7.7), None);
        assert_eq!(at(0.0, 7.75), Some(8));
        assert_eq!(at(0.0, 12.5), Some(12));
        assert_eq!(at(0.0, 18.99), Some(8));
        assert_eq!(at(0.0, 19.0), None);
        // Saturday: lunch alone.
        assert_eq!(at(5.0, 9.0), None);
        assert_eq!(at(5.0, 12.0), Some(12));
        // The week after.
        assert_eq!(at(7.0, 8.0), Some(8));
    }

    #[test]
    fn fields_have_ranges_lists_and_steps() {
        let cron = Cron::parse("*/20 8-10,22 * * 7").unwrap();
        let sunday: Vec<u32> = (0..MINUTES_PER_WEEK).filter(|&minute| cron.is_at(minute)).collect();
        let expected: Vec<u32> =
            [8, 9, 10, 22].iter().flat_map(|hour| [0, 20, 40].map(|m| hour * 60 + m)).collect();
        assert_eq!(sunday, expected);
        let from = Cron::parse("50/5 0 * * 0").unwrap();
        assert_eq!((0..60).filter(|&minute| from.is_at(minute)).collect::<Vec<_>>(), [50, 55]);
    }

    #[test]
    fn what_is_no_expression_is_said_to_be_none() {
        for text in
            ["0 8 * *", "61 8 * * *", "x 8 * * *", "*/0 8 * * *", "9-3 8 * * *", "0 8 1 * *"]
        {
            assert!(Cron::parse(text).is_err(), "{text}");
        }
        let error = Cron::parse("0 8 1 * *").unwrap_err().to_string();
        assert!(error.contains("day of month") && error.contains("only * is possible"), "{error}");
    }
}
