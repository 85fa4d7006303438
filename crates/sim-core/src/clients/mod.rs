//! The clients' side: who sends when, how long they wait, and whether they try again.
//!
//! A *request* is what a user wants; an *attempt* is one try to get it. Without retries each request
//! has one attempt. Latencies are the user's: they count from the moment the request was meant to be
//! sent. What one attempt does is counted apart, in [`AttemptCounts`].

mod draws;

use serde::{Deserialize, Serialize};

use crate::setup::SetupError;

pub(crate) use draws::{
    first_think_s, patience_s, rest_of_think_s, retry_wait_s, think_s, throttle_point,
};

/// How clients behave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientSpec {
    /// Who sends when.
    pub population: Population,
    /// How long a client waits for an answer; `None`: for ever.
    pub patience: Option<Patience>,
    /// Whether it tries again; `None`: never.
    pub retries: Option<Retries>,
    /// Whether it turns its own attempts away while the server does; `None`: never.
    pub throttle: Option<Throttle>,
}

/// Who sends when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Population {
    /// Users without number: requests come as the workload says, whatever became of earlier ones.
    Open,
    /// A fixed number of users, each with at most one request at a time, who together send as many
    /// as the workload has. Lengths are those of the workload, its arrival times play no part.
    /// Request `k · users + u` is the k-th of user u; where one is ahead of the others so far that
    /// the workload has no such request, lengths come round again.
    Closed {
        /// How many.
        users: u64,
        /// How long each thinks before a request.
        think: ClientTime,
        /// From when on it thinks.
        pacing: Pacing,
    },
    /// Users without number who come as the workload says, each with a session of its class: the next
    /// turn is sent some time to think after the answer to the last one, and a turn without an answer
    /// ends the session. Classes without sessions send one request each.
    ///
    /// The workload's rate is that of the turns, and its shares are shares of them. The run begins as
    /// the sessions are found at a random moment, and ends when as many turns have been sent as the
    /// workload has requests and the last of these has ended.
    Sessions,
}

/// From when on a user thinks about the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pacing {
    /// From the end of the last one: a slow server is asked less.
    AfterAnswer,
    /// From the moment at which the last one was meant to be sent: a load generator with a
    /// schedule. A request whose time has come while the last is unanswered is sent late, and its
    /// latency counts from the schedule.
    OnSchedule,
}

/// How long a client takes for something, in seconds. A draw of a user's thinking belongs to the user
/// and the number of its request, one of patience to the request and the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClientTime {
    /// Always the same; but a user thinks only a random part of it the first time.
    Fixed {
        /// The time.
        mean_s: f64,
    },
    /// Exponential.
    Exponential {
        /// The mean.
        mean_s: f64,
    },
    /// Lognormal.
    LogNormal {
        /// The mean.
        mean_s: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

/// How long a client waits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Patience {
    /// After so long without what it waits for it gives the attempt up.
    pub time: PatienceTime,
    /// What it waits for.
    pub awaits: Awaited,
    /// What the server then does.
    pub work: GivenUpWork,
}

/// Whose patience lasts how long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PatienceTime {
    /// Everybody's as long, on average.
    Same(ClientTime),
    /// As long as the class of the workload's mix says; for ever where it says nothing.
    OfClass,
}

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Awaited {
    /// The first token; from then on it waits as long as it takes.
    FirstToken,
    /// The whole answer.
    Answer,
}

/// What a server does with an attempt that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GivenUpWork {
    /// It learns of it, and frees the request after the step that is running.
    Abandoned,
    /// It does not learn of it, and works for nobody.
    StillDone,
}

/// Whether and when a client tries again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retries {
    /// Attempts in all, the first one included.
    pub max_attempts: u32,
    /// How long it waits before each.
    pub wait: RetryWait,
    /// Whether it waits at least as long as the server's `Retry-After` says.
    pub honours_retry_after: bool,
    /// Retries allowed per first attempt, for all clients together; `None`: no bound. Each first
    /// attempt adds this much to an account that holds at most [`RETRIES_SAVED`], and each retry
    /// takes 1 from it.
    pub budget: Option<f64>,
}

/// Most retries that a retry budget can save up for bad times.
pub const RETRIES_SAVED: f64 = 10.0;

/// How long a client waits before it tries again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum RetryWait {
    /// Not at all.
    Immediate,
    /// Before retry k, counted from 0, uniform between 0 and `min(cap, base · 2^k)`: exponential
    /// backoff with full jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015).
    Backoff {
        /// Longest first wait in seconds.
        base_s: f64,
        /// Longest wait in seconds.
        cap_s: f64,
    },
}

/// Adaptive throttling on the client's side: with `requests` and `accepts` of the last window, an
/// attempt is not even sent with probability `max(0, (requests − k · accepts) / (requests + 1))`
/// (Beyer et al., "Site Reliability Engineering", ch. 21). All clients share one account, in which an
/// attempt counts when its end is known; one that was not sent counts at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throttle {
    /// How many attempts may be sent for each one accepted.
    pub k: f64,
    /// How far back it looks, in seconds.
    pub window_s: f64,
}

/// What became of the attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AttemptCounts {
    /// Sent to the server.
    pub sent: u64,
    /// Decisions to try again, sent or throttled.
    pub retries: u64,
    /// Answered while the client waited.
    pub completed: u64,
    /// Turned away by the server.
    pub rejected: u64,
    /// Those of them that no server of its kind could ever serve: too long for its memory or model.
    pub never_fit: u64,
    /// Dropped by the server after waiting, while the client still waited.
    pub dropped: u64,
    /// Given up by the client.
    pub abandoned: u64,
    /// Not sent, because the client throttled itself.
    pub throttled: u64,
    /// Retries that the budget forbade.
    pub forbidden: u64,
    /// Output tokens generated for clients that had gone, over attempts that got any.
    pub wasted_tokens: u64,
}

/// What became of the sessions whose turns were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionCounts {
    /// Found under way as the run began, between two turns.
    pub found: u64,
    /// Begun in the run.
    pub begun: u64,
    /// Over, with every turn answered.
    pub completed: u64,
    /// Broken off by a turn that got no answer.
    pub broken_off: u64,
    /// Still to go on when the last turn of the run had ended.
    pub under_way: u64,
    /// Turns sent, each counted once whatever its attempts.
    pub turns: u64,
    /// Turns whose prompt did without turns that the one before it had held.
    pub cut_turns: u64,
    /// Tokens of their prompts.
    pub input_tokens: u64,
    /// The part of these that the conversation had held before.
    pub history_tokens: u64,
}

impl SessionCounts {
    /// The share of all prompt tokens that the conversation had held before: what a prefix cache
    /// without limits finds again, but for parts of blocks.
    #[must_use]
    pub fn history_share(&self) -> f64 {
        if self.input_tokens == 0 {
            0.0
        } else {
            self.history_tokens as f64 / self.input_tokens as f64
        }
    }

    /// Add those of another replica.
    pub const fn add(&mut self, other: &Self) {
        self.found += other.found;
        self.begun += other.begun;
        self.completed += other.completed;
        self.broken_off += other.broken_off;
        self.under_way += other.under_way;
        self.turns += other.turns;
        self.cut_turns += other.cut_turns;
        self.input_tokens += other.input_tokens;
        self.history_tokens += other.history_tokens;
    }

    /// That no session and no turn is lost, given the users' requests of the run.
    ///
    /// # Errors
    /// The violated identity with its two sides.
    pub fn verify(&self, offered: u64) -> Result<(), String> {
        let (met, ends) =
            (self.found + self.begun, self.completed + self.broken_off + self.under_way);
        if met != ends {
            return Err(format!("sessions: {met} found or begun, {ends} accounted for"));
        }
        if self.turns != offered {
            return Err(format!("turns: {} sent, {offered} requests offered", self.turns));
        }
        if self.history_tokens > self.input_tokens {
            let (part, whole) = (self.history_tokens, self.input_tokens);
            return Err(format!("history: {part} tokens of prompts that have {whole}"));
        }
        Ok(())
    }
}

impl ClientSpec {
    /// The open loop: everybody waits for ever and tries once.
    pub const OPEN: Self =
        Self { population: Population::Open, patience: None, retries: None, throttle: None };

    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        if let Population::Closed { users, think, .. } = self.population {
            require("clients.users", users as f64, users > 0, "1 or more")?;
            think.check_as_think_time()?;
        }
        if let Some(Patience { time: PatienceTime::Same(time), .. }) = self.patience {
            time.check_as_patience()?;
        }
        if let Some(retries) = self.retries {
            let attempts = retries.max_attempts;
            let sound = (1..=1_000).contains(&attempts);
            require("clients.max_attempts", f64::from(attempts), sound, "between 1 and 1,000")?;
            if let RetryWait::Backoff { base_s, cap_s } = retries.wait {
                above_zero("clients.backoff_base_s", base_s)?;
                above_zero("clients.backoff_cap_s", cap_s)?;
            }
            if let Some(budget) = retries.budget {
                not_negative("clients.retry_budget", budget)?;
            }
        }
        if let Some(throttle) = self.throttle {
            let sound = throttle.k.is_finite() && throttle.k >= 1.0;
            require("clients.throttle_k", throttle.k, sound, "finite and 1 or more")?;
            above_zero("clients.throttle_window_s", throttle.window_s)?;
        }
        Ok(())
    }
}

impl ClientTime {
    /// The mean in seconds.
    #[must_use]
    pub const fn mean_s(&self) -> f64 {
        match *self {
            Self::Fixed { mean_s }
            | Self::Exponential { mean_s }
            | Self::LogNormal { mean_s, .. } => mean_s,
        }
    }

    /// Whether it can be a time to think.
    ///
    /// # Errors
    /// The first number outside its domain.
    pub(crate) fn check_as_think_time(&self) -> Result<(), SetupError> {
        not_negative("clients.think_s", self.mean_s())?;
        self.check_spread("clients.think_sigma")
    }

    /// Whether it can be a time after which somebody gives up.
    ///
    /// # Errors
    /// The first number outside its domain.
    pub(crate) fn check_as_patience(&self) -> Result<(), SetupError> {
        above_zero("clients.patience_s", self.mean_s())?;
        self.check_spread("clients.patience_sigma")
    }

    fn check_spread(&self, field: &'static str) -> Result<(), SetupError> {
        match *self {
            Self::LogNormal { sigma, .. } => {
                require(field, sigma, (0.0..=10.0).contains(&sigma), "between 0 and 10")
            }
            Self::Fixed { .. } | Self::Exponential { .. } => Ok(()),
        }
    }
}

fn require(
    field: &'static str,
    value: f64,
    sound: bool,
    requirement: &'static str,
) -> Result<(), SetupError> {
    if sound { Ok(()) } else { Err(SetupError::OutOfDomain { field, value, requirement }) }
}

fn above_zero(field: &'static str, value: f64) -> Result<(), SetupError> {
    require(field, value, value.is_finite() && value > 0.0, "finite and above 0")
}

fn not_negative(field: &'static str, value: f64) -> Result<(), SetupError> {
    require(field, value, value.is_finite() && value >= 0.0, "finite and 0 or more")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(spec: ClientSpec) -> Option<&'static str> {
        match spec.check() {
            Err(SetupError::OutOfDomain { field, .. }) => Some(field),
            _ => None,
        }
    }

    #[test]
    fn each_number_outside_its_domain_is_named() {
        let open = ClientSpec::OPEN;
        let closed = |users, think| ClientSpec {
            population: Population::Closed { users, think, pacing: Pacing::AfterAnswer },
            ..open
        };
        let retries = |max_attempts, wait, budget| ClientSpec {
            retries: Some(Retries { max_attempts, wait, honours_retry_after: true, budget }),
            ..open
        };
        let waits = |time| ClientSpec {
            patience: Some(Patience {
                time: PatienceTime::Same(time),
                awaits: Awaited::Answer,
                work: GivenUpWork::Abandoned,
            }),
            ..open
        };
        let patience = |mean_s| waits(ClientTime::Fixed { mean_s });
        let throttle =
            |k, window_s| ClientSpec { throttle: Some(Throttle { k, window_s }), ..open };
        let backoff = |base_s, cap_s| RetryWait::Backoff { base_s, cap_s };
        let noisy = ClientTime::LogNormal { mean_s: 1.0, sigma: f64::NAN };
        for (spec, field) in [
            (closed(0, ClientTime::Fixed { mean_s: 1.0 }), "clients.users"),
            (closed(1, ClientTime::Exponential { mean_s: -1.0 }), "clients.think_s"),
            (closed(1, noisy), "clients.think_sigma"),
            (patience(0.0), "clients.patience_s"),
            (waits(ClientTime::Exponential { mean_s: f64::NAN }), "clients.patience_s"),
            (waits(ClientTime::LogNormal { mean_s: 1.0, sigma: -1.0 }), "clients.patience_sigma"),
            (retries(0, RetryWait::Immediate, None), "clients.max_attempts"),
            (retries(2, backoff(0.0, 1.0), None), "clients.backoff_base_s"),
            (retries(2, backoff(1.0, f64::INFINITY), None), "clients.backoff_cap_s"),
            (retries(2, RetryWait::Immediate, Some(-0.1)), "clients.retry_budget"),
            (throttle(0.9, 1.0), "clients.throttle_k"),
            (throttle(2.0, 0.0), "clients.throttle_window_s"),
        ] {
            assert_eq!(refused(spec), Some(field));
        }
        let sound = [open, patience(1.0), retries(3, backoff(0.1, 1.0), Some(0.1))];
        assert!(sound.iter().all(|spec| spec.check() == Ok(())));
    }

    #[test]
    fn waits_double_up_to_their_cap_and_jitter_below() {
        let wait = RetryWait::Backoff { base_s: 1.0, cap_s: 5.0 };
        for (retry, longest_s) in [(0, 1.0), (1, 2.0), (2, 4.0), (3, 5.0), (900, 5.0)] {
            let waits: Vec<f64> =
                (0..2_000).map(|request| retry_wait_s(&wait, 7, request, retry)).collect();
            assert!(waits.iter().all(|wait_s| *wait_s > 0.0 && *wait_s <= longest_s));
            // The mean of 2,000 uniform draws has a standard deviation of 0.65 % of the longest.
            let mean_s = waits.iter().sum::<f64>() / 2_000.0;
            assert!((mean_s / longest_s - 0.5).abs() < 0.025, "{retry}: {mean_s}");
        }
        assert_eq!(retry_wait_s(&RetryWait::Immediate, 7, 1, 3), 0.0);
    }

    #[test]
    fn times_have_the_mean_they_were_given() {
        for time in [
            ClientTime::Fixed { mean_s: 3.0 },
            ClientTime::Exponential { mean_s: 3.0 },
            ClientTime::LogNormal { mean_s: 3.0, sigma: 1.0 },
        ] {
            let thinking_s: f64 = (0..20_000).map(|request| think_s(&time, 3, request)).sum();
            let waiting_s: f64 = (0..20_000)
                .map(|request| patience_s(&time, 3, request / 4, request as u32 % 4))
                .sum();
            for sum_s in [thinking_s, waiting_s] {
                assert!((sum_s / 20_000.0 / 3.0 - 1.0).abs() < 0.04, "{time:?}: {sum_s}");
            }
        }
    }
}
