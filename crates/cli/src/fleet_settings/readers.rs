//! Floors, beginnings and faults as they are typed.

use sim_core::fleet::{
    autoscale::schedule::{Calendar, Cron, Floor},
    live::Fault,
};

use crate::failure::Failure;

/// How many replicas or nodes.
pub(super) fn replicas(text: &str) -> Result<u16, String> {
    text.trim()
        .parse()
        .map_err(|_| "it must be a whole number from 0 to 65,535, for example 8".to_owned())
}

/// A span of time that is not nothing.
pub(super) fn some_seconds(text: &str) -> Result<f64, String> {
    amount(text).ok().filter(|value| *value >= LEAST_SPAN_S).ok_or_else(|| {
        "it must be a time of 0.1 to 1,000,000,000 seconds, for example 15".to_owned()
    })
}

/// Shorter windows and shorter times between scrapes would be more events than requests.
const LEAST_SPAN_S: f64 = 0.1;

/// How long something lasts on average.
pub(super) fn lifetime(text: &str) -> Result<f64, String> {
    amount(text).ok().filter(|value| *value >= 1.0).ok_or_else(|| {
        "it must be a time of 1 to 1,000,000,000 seconds, for example 86400".to_owned()
    })
}

/// A coefficient of variation.
pub(super) fn variation(text: &str) -> Result<f64, String> {
    amount(text)
        .ok()
        .filter(|value| *value <= 10.0)
        .ok_or_else(|| "it must be a number from 0 to 10, for example 0.3".to_owned())
}

/// A number above 0.
pub(super) fn some_amount(text: &str) -> Result<f64, String> {
    amount(text)
        .ok()
        .filter(|value| *value >= 1e-3)
        .ok_or_else(|| "it must be a number from 0.001 to 1,000,000,000, for example 30".to_owned())
}

/// A number of 0 or more.
pub(super) fn amount(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=1e9).contains(&value) => Ok(value),
        _ => Err("it must be a number from 0 to 1,000,000,000, for example 30".to_owned()),
    }
}

/// A number of seconds that can be cut into samples.
pub(super) fn season(text: &str) -> Result<f64, String> {
    amount(text).and_then(|season_s| {
        let error = || "it must be 360 or more, 24 samples of 15 s, for example 86400".to_owned();
        (season_s >= 360.0).then_some(season_s).ok_or_else(error)
    })
}

/// `surge:2.5:300@1800`, in order of time.
pub(super) fn read_faults(texts: &[String]) -> Result<Vec<(f64, Fault)>, Failure> {
    let mut faults = Vec::new();
    for text in texts {
        let error = || {
            Failure::input(format!(
                "--fault {text}: it must be replica, node, metrics:SECONDS, stall:SECONDS, \
                     slow:TIMES:SECONDS or surge:TIMES:SECONDS, and @S for when, for example \
                     surge:2.5:300@1800."
            ))
        };
        let (what, at) = text.split_once('@').ok_or_else(error)?;
        let at_s = amount(at).map_err(|_| error())?;
        let mut parts = what.split(':');
        let name = parts.next().unwrap_or_default();
        let given: Vec<f64> = parts.map(amount).collect::<Result<_, _>>().map_err(|_| error())?;
        let fault = match (name, given.as_slice()) {
            ("replica", []) => Fault::ReplicaLoss,
            ("node", []) => Fault::NodeLoss,
            ("metrics", []) => Fault::MetricOutage(300.0),
            ("metrics", &[for_s]) => Fault::MetricOutage(for_s),
            ("stall", []) => Fault::Stall(1.0),
            ("stall", &[for_s]) => Fault::Stall(for_s),
            ("slow", &[factor, for_s]) => Fault::SlowStart { factor, for_s },
            ("surge", &[factor, for_s]) => Fault::Surge { factor, for_s },
            _ => return Err(error()),
        };
        faults.push((at_s, fault));
    }
    faults.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(faults)
}

/// `6 from 45 7 * * 1-5 to 0 19 * * 1-5`.
pub(super) fn floor(text: &str) -> Result<Floor, Failure> {
    let error = |why: &str| {
        Failure::input(format!(
            "--floor {text}: {why}. Give it as 'N from CRON to CRON', for example \
             '6 from 45 7 * * 1-5 to 0 19 * * 1-5'."
        ))
    };
    let (replicas, rest) = text.split_once(" from ").ok_or_else(|| error("“from” is missing"))?;
    let (start, end) = rest.split_once(" to ").ok_or_else(|| error("“to” is missing"))?;
    let replicas: u16 =
        replicas.trim().parse().map_err(|_| error("the number of replicas is not whole"))?;
    let cron = |text: &str| Cron::parse(text).map_err(|why| error(&why.to_string()));
    Ok(Floor { start: cron(start)?, end: cron(end)?, replicas: replicas.into() })
}

/// `mon 07:30`.
pub(super) fn calendar(text: &str) -> Result<Calendar, Failure> {
    let error = || {
        Failure::input(format!(
            "--begin {text}: it must be a day and a time, for example 'mon 07:30'."
        ))
    };
    let (day, time) = text.trim().split_once(' ').ok_or_else(error)?;
    let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let weekday = days.iter().position(|name| *name == day).ok_or_else(error)?;
    let (hour, minute) = time.trim().split_once(':').ok_or_else(error)?;
    let number = |text: &str, most: u32| {
        text.parse().ok().filter(|value: &u32| *value <= most).ok_or_else(error)
    };
    let minute_of_day = number(hour, 23)? * 60 + number(minute, 59)?;
    Ok(Calendar { weekday: weekday as u32, minute_of_day })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_and_beginnings_are_read() {
        let floor = floor("6 from 45 7 * * 1-5 to 0 19 * * 1-5").unwrap();
        assert_eq!(floor.replicas, 6);
        assert_eq!(calendar("tue 07:30").unwrap(), Calendar { weekday: 2, minute_of_day: 450 });
        for bad in ["monday 07:30", "mon 24:00", "mon", "mon 7"] {
            assert!(calendar(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bad_floors_say_why() {
        for (bad, why) in [
            ("6", "“from” is missing"),
            ("x from 0 8 * * * to 0 9 * * *", "not whole"),
            ("6 from 0 8 1 * * to 0 9 * * *", "day of month"),
        ] {
            let Err(Failure::Input(message)) = floor(bad) else { panic!("{bad}") };
            assert!(message.contains(why), "{message}");
        }
    }
}
