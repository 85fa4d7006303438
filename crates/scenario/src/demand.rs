//! What is asked for in other words than a rate: tokens a day, users who think, or a job with an end.

use quantity::Unit;

use crate::{Scenario, resolve::workload};

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// Requests per second, averaged over time.
    Requests {
        /// Requests per second.
        per_s: f64,
    },
    /// Tokens per second, averaged over time.
    Tokens {
        /// Tokens per second.
        per_s: f64,
        /// Which tokens count.
        which: Tokens,
    },
    /// Users of a closed loop, each of whom thinks between an answer and the next request.
    Users {
        /// How many, over all GPUs.
        users: u64,
        /// For how long each thinks on average, seconds.
        think_s: f64,
    },
    /// So many requests, all of them there at the beginning, to be done within a time.
    Job {
        /// How many requests.
        requests: u64,
        /// Until when, seconds from the beginning.
        within_s: f64,
    },
}

/// Tokens that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Of prompts and answers.
    All,
    /// Of prompts.
    Input,
    /// Of answers.
    Output,
}

/// Why a demand cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DemandError {
    /// It is not one of the forms.
    #[error("demand={text}: {problem}. Write for example {EXAMPLES}")]
    Unreadable {
        /// What was typed.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The scenario's requests have none of those tokens, or make no stream.
    #[error("demand={text}: the scenario’s requests have no such tokens; set in and out")]
    NoTokens {
        /// What was typed.
        text: String,
    },
    /// What follows is beyond what a scenario takes.
    #[error("demand={text}: {message}")]
    OutOfRange {
        /// What was typed.
        text: String,
        /// Which setting would take which value, and what it takes.
        message: String,
    },
}

/// One of each form.
pub const EXAMPLES: &str = "demand=\"50M tokens/day\", demand=\"20M output tokens/day\", demand=\"2k requests/hour\", demand=\"300 users, 30s\", demand=\"120k documents in 8h\" or demand=\"120k documents from 22:00 to 06:00\"";

const DAY_S: f64 = 86_400.0;
/// Longest time for a job: a year.
const MOST_S: f64 = 366.0 * DAY_S;

impl Demand {
    /// Read one of the forms of [`EXAMPLES`].
    ///
    /// # Errors
    /// It is none of them, or a number in it cannot be used.
    pub fn read(text: &str) -> Result<Self, DemandError> {
        let wrong = |problem: String| DemandError::Unreadable { text: text.to_owned(), problem };
        let text = text.trim();
        let digits = text.find(char::is_whitespace).unwrap_or(text.len());
        // “M” is a million, “m” nothing.
        let (number, rest) = text.split_at(digits);
        let amount = quantity::parse(number, Unit::Number)
            .map_err(|error| wrong(error.to_string()))
            .and_then(|amount| {
                let is_some = amount > 0.0 && amount <= 1e15;
                is_some.then_some(amount).ok_or_else(|| wrong(format!("“{number}” is not above 0")))
            })?;
        let rest = rest.trim().to_ascii_lowercase();
        let rest = rest.as_str();
        if let Some((what, per)) = split_per(rest) {
            let per_s = amount
                / period_s(per).ok_or_else(|| {
                    wrong(format!("“{per}” is no time: second, minute, hour, day, week or month"))
                })?;
            return match what {
                "tokens" | "token" => Ok(Self::Tokens { per_s, which: Tokens::All }),
                "input tokens" | "prompt tokens" => {
                    Ok(Self::Tokens { per_s, which: Tokens::Input })
                }
                "output tokens" | "answer tokens" => {
                    Ok(Self::Tokens { per_s, which: Tokens::Output })
                }
                "requests" | "request" | "req" | "documents" => Ok(Self::Requests { per_s }),
                other => Err(wrong(format!("“{other}” is neither tokens nor requests"))),
            };
        }
        let (what, how) = rest.split_once([' ', ',']).unwrap_or((rest, ""));
        let (what, how) = (what.trim(), how.trim_matches([' ', ',']));
        let whole = libm::round(amount) as u64;
        match what {
            "users" | "user" => {
                let time =
                    how.trim_start_matches("who think for").trim_start_matches("think").trim();
                let think_s = time_s(time).map_err(wrong)?;
                Ok(Self::Users { users: whole, think_s })
            }
            "documents" | "document" | "requests" | "request" | "prompts" | "jobs" => {
                Ok(Self::Job { requests: whole, within_s: span_s(how).map_err(wrong)? })
            }
            other => {
                Err(wrong(format!("“{other}” is neither tokens, requests, users nor documents")))
            }
        }
    }

    /// Put it into a scenario as its rate, or its users; a rate that goes up and down has this one as
    /// its mean. A job is no rate: the scenario stays.
    ///
    /// # Errors
    /// The scenario cannot take what follows.
    pub fn put_into(&self, scenario: &mut Scenario, text: &str) -> Result<(), DemandError> {
        let mean_per_s = match *self {
            Self::Job { .. } => return Ok(()),
            Self::Requests { per_s } => per_s,
            Self::Users { users, think_s } => {
                return set(scenario, "arrivals", &format!("closed({users},{think_s}s)"), text);
            }
            Self::Tokens { per_s, which } => {
                let none = || DemandError::NoTokens { text: text.to_owned() };
                let (input, output) =
                    workload(scenario).map(|it| it.source.mean_tokens()).ok_or_else(none)?;
                let tokens = match which {
                    Tokens::All => input + output,
                    Tokens::Input => input,
                    Tokens::Output => output,
                };
                if tokens.is_nan() || tokens <= 0.0 {
                    return Err(none());
                }
                per_s / tokens
            }
        };
        let factor = scenario.profile.to_rate_profile().mean_factor().unwrap_or(1.0);
        set(scenario, "rate", &quantity::plain(mean_per_s / factor, 0), text)
    }
}

fn set(scenario: &mut Scenario, key: &str, value: &str, text: &str) -> Result<(), DemandError> {
    let refused = |message: String| DemandError::OutOfRange { text: text.to_owned(), message };
    let notices = scenario.set(key, value).map_err(|notice| refused(notice.message))?;
    match notices.into_iter().next() {
        Some(notice) => Err(refused(notice.message)),
        None => Ok(()),
    }
}

/// “tokens/day”, “tokens a day”, “tokens per day”.
fn split_per(text: &str) -> Option<(&str, &str)> {
    let parts = ["/", " per ", " a ", " an "].iter().find_map(|sign| text.split_once(sign))?;
    Some((parts.0.trim(), parts.1.trim()))
}

fn period_s(text: &str) -> Option<f64> {
    Some(match text {
        "s" | "sec" | "second" => 1.0,
        "min" | "minute" => 60.0,
        "h" | "hour" => 3600.0,
        "d" | "day" => DAY_S,
        "week" => 7.0 * DAY_S,
        "month" => 365.0 / 12.0 * DAY_S,
        _ => return None,
    })
}

/// “8h”, “30 s”: above nothing and at most a year.
fn time_s(text: &str) -> Result<f64, String> {
    let time_s = quantity::parse(text, Unit::Seconds).map_err(|error| error.to_string())?;
    let is_time = (0.0..=MOST_S).contains(&time_s);
    is_time.then_some(time_s).ok_or_else(|| format!("“{text}” is not from 0 to 366 days"))
}

/// “in 8h”, “within 8h”, “from 22:00 to 06:00”, “from 22:00 by 06:00”.
fn span_s(text: &str) -> Result<f64, String> {
    let span_s = if let Some(rest) = text.strip_prefix("from ") {
        let parts = [" to ", " by ", " until "].iter().find_map(|sign| rest.split_once(sign));
        let (from, to) = parts.ok_or("a job from a time of day needs another one to end by")?;
        let between = clock_s(to)? - clock_s(from)?;
        if between > 0.0 { between } else { between + DAY_S }
    } else {
        let time = text.trim_start_matches("within ").trim_start_matches("in ");
        if time == text && text.starts_with("by ") {
            return Err(
                "a job by a time of day needs its beginning, too: from 22:00 to 06:00".into()
            );
        }
        time_s(time)?
    };
    if span_s > 0.0 { Ok(span_s) } else { Err("a job needs some time".to_owned()) }
}

/// Seconds after midnight.
fn clock_s(text: &str) -> Result<f64, String> {
    let wrong = || format!("“{}” is no time of day, for example 06:00", text.trim());
    let (hour, minute) = text.trim().split_once(':').ok_or_else(wrong)?;
    let part = |text: &str, most: u32| text.parse::<u32>().ok().filter(|value| *value < most);
    let (hour, minute) = part(hour, 24).zip(part(minute, 60)).ok_or_else(wrong)?;
    Ok(f64::from(hour * 3600 + minute * 60))
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    fn read(text: &str) -> Demand {
        Demand::read(text).expect(text)
    }

    #[test]
    fn every_form_is_read() {
        let per_s = 50e6 / DAY_S;
        assert_eq!(read("50M tokens/day"), Demand::Tokens { per_s, which: Tokens::All });
        assert_eq!(read("50M tokens a day"), Demand::Tokens { per_s, which: Tokens::All });
        assert_eq!(
            read("50M output tokens per day"),
            Demand::Tokens { per_s, which: Tokens::Output }
        );
        assert_eq!(read("2k requests/hour"), Demand::Requests { per_s: 2000.0 / 3600.0 });
        assert_eq!(read("300 users, 30s"), Demand::Users { users: 300, think_s: 30.0 });
        assert_eq!(read("300 users think 30 s"), Demand::Users { users: 300, think_s: 30.0 });
        let job = |within_s| Demand::Job { requests: 120_000, within_s };
        assert_eq!(read("120k documents in 8h"), job(28_800.0));
        assert_eq!(read("120k documents from 22:00 to 06:00"), job(28_800.0));
        assert_eq!(read("120,000 requests from 06:00 by 06:30"), job(1800.0));
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_can() {
        for bad in [
            "",
            "many",
            "50M",
            "50M tokens",
            "50M tokens/fortnight",
            "-5 users, 3s",
            "300 users",
            "120k documents",
            "120k documents by 06:00",
            "120k documents from 25:00 to 06:00",
            "120k documents in -3h",
            "5 horses/day",
        ] {
            let error = Demand::read(bad).expect_err(bad).to_string();
            assert!(error.starts_with(&format!("demand={bad}: ")), "{error}");
            assert!(error.contains("50M tokens/day"), "{error}");
        }
    }

    #[test]
    fn tokens_a_day_become_a_rate() {
        let mut scenario = Scenario::preset();
        read("110.592M tokens/day").put_into(&mut scenario, "").expect("a rate");
        // 1,024 and 256 tokens a request.
        assert!((scenario.rate_per_s - 1.0).abs() < 1e-9, "{}", scenario.rate_per_s);
        // Of a day between half the peak and the peak the mean is three quarters of it.
        scenario.set("profile", "daily(0.5)").expect("a profile");
        read("110.592M tokens/day").put_into(&mut scenario, "").expect("a rate");
        assert!((scenario.rate_per_s * 0.75 - 1.0).abs() < 1e-6, "{}", scenario.rate_per_s);
    }

    #[test]
    fn users_become_a_closed_loop() {
        let mut scenario = Scenario::preset();
        read("300 users, 30s").put_into(&mut scenario, "").expect("users");
        assert_eq!(scenario.get("arrivals").as_deref(), Some("closed(300,30s)"));
    }

    #[test]
    fn what_a_scenario_does_not_take_is_refused() {
        let mut scenario = Scenario::preset();
        let text = "1e15 tokens/s";
        let error = read(text).put_into(&mut scenario, text).expect_err("too many").to_string();
        assert!(error.contains("10,000"), "{error}");
    }
}
