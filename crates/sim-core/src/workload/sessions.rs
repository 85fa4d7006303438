//! Requests that are the turns of conversations.
//!
//! The prompt of a turn is the whole conversation so far, prompts and answers, and what the user adds.
//! A conversation that would grow beyond a limit loses its oldest turns, as chat clients do it; what
//! prompts of its class begin with alike (a system prompt) stays.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{clients::ClientTime, float::lesser, random::Stream, setup::SetupError};

use super::MAX_LENGTH_TOKENS;

/// Most turns of one session.
pub const MAX_TURNS: u64 = 1_000;

/// Turns that are drawn beyond any use: the longest session that a geometric number can come to.
const LONGEST: u64 = 1 << 20;

/// Sessions of several turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    /// How many turns one has.
    pub turns: Turns,
    /// From an answer to the next turn.
    pub think: ClientTime,
    /// Most tokens of a turn, prompt and answer together: beyond it the oldest turns are left out. A
    /// turn that is longer all by itself stays whole.
    pub most_tokens: u64,
}

/// How many turns a session has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Turns {
    /// Always as many.
    Fixed {
        /// How many.
        turns: u64,
    },
    /// Every number between two bounds alike.
    Uniform {
        /// Fewest.
        least: u64,
        /// Most.
        most: u64,
    },
    /// After each turn the user goes on with the same probability.
    Geometric {
        /// The mean, 1 or more.
        mean: f64,
    },
}

/// Where a session stands that is found under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnderWay {
    /// Turns that have been answered, 1 or more.
    pub(crate) done: u64,
    /// Turns to come, 1 or more.
    pub(crate) left: u64,
}

impl Turns {
    /// Their mean number.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Fixed { turns } => turns as f64,
            Self::Uniform { least, most } => 0.5 * (least + most) as f64,
            Self::Geometric { mean } => mean,
        }
    }

    /// The probability that there are at least `turns`.
    #[must_use]
    pub fn at_least(&self, turns: u64) -> f64 {
        match *self {
            Self::Fixed { turns: all } => f64::from(u8::from(turns <= all)),
            Self::Uniform { least, .. } if turns <= least => 1.0,
            Self::Uniform { least, most } => {
                (most + 1).saturating_sub(turns) as f64 / (most - least + 1) as f64
            }
            Self::Geometric { mean } => libm::pow(1.0 - 1.0 / mean, (turns.max(1) - 1) as f64),
        }
    }

    /// The most there can be; `None` where there is no bound.
    #[must_use]
    pub fn most(&self) -> Option<u64> {
        match *self {
            Self::Fixed { turns } => Some(turns),
            Self::Uniform { most, .. } => Some(most),
            Self::Geometric { mean } => (mean <= 1.0).then_some(1),
        }
    }

    fn check(&self) -> Result<(), SetupError> {
        let (value, sound) = match *self {
            Self::Fixed { turns } => (turns as f64, (1..=MAX_TURNS).contains(&turns)),
            Self::Uniform { least, most } => {
                (most as f64, 1 <= least && least <= most && most <= MAX_TURNS)
            }
            Self::Geometric { mean } => (mean, (1.0..=MAX_TURNS as f64).contains(&mean)),
        };
        let requirement = "between 1 and 1,000, bounds in rising order";
        if sound {
            Ok(())
        } else {
            Err(out_of_domain("workload.sessions.turns", value, requirement))
        }
    }

    /// How many turns a new session has.
    pub(crate) fn draw(&self, stream: &mut Stream) -> u64 {
        match *self {
            Self::Fixed { turns } => turns,
            Self::Uniform { least, most } => among(least, most, stream.uniform()),
            Self::Geometric { mean } => 1 + failures(mean, stream.uniform()),
        }
    }

    /// Which turn a request is, counted from 1, where all that is known is that it is one: turn `k` with
    /// a probability in proportion to that of a session with at least `k`.
    pub(crate) fn draw_place(&self, stream: &mut Stream) -> u64 {
        let point = stream.uniform();
        match *self {
            Self::Fixed { turns } => among(1, turns, point),
            Self::Uniform { most, .. } => {
                scan(1, most, point * self.mean(), |turn| self.at_least(turn))
            }
            Self::Geometric { mean } => 1 + failures(mean, point),
        }
    }

    /// Where a session of two turns or more stands that is found between two of them: one of `n` turns
    /// is found in proportion to the `n − 1` times that it thinks, at each of them alike.
    pub(crate) fn draw_under_way(&self, stream: &mut Stream) -> UnderWay {
        if let Self::Geometric { mean } = *self {
            // Who goes on with a constant probability has as much before as behind.
            let done = 1 + failures(mean, stream.uniform());
            return UnderWay { done, left: 1 + failures(mean, stream.uniform()) };
        }
        let turns = match *self {
            Self::Uniform { least, most } => {
                let pauses = |turns: u64| turns.saturating_sub(1) as f64;
                let all = (least..=most).map(pauses).sum::<f64>();
                scan(least.max(2), most, stream.uniform() * all, pauses)
            }
            _ => self.most().unwrap_or(2),
        };
        let done = among(1, turns.max(2) - 1, stream.uniform());
        UnderWay { done, left: turns.max(2) - done }
    }
}

/// The whole number from `least` to `most` at a point in (0, 1].
fn among(least: u64, most: u64, point: f64) -> u64 {
    let above = (point * (most - least + 1) as f64).ceil() as u64;
    (least + above.max(1) - 1).min(most)
}

/// How often in a row a user goes on who ends with probability `1 / mean` each time, by inversion.
fn failures(mean: f64, point: f64) -> u64 {
    if mean <= 1.0 {
        return 0;
    }
    // A float beyond the range of u64 saturates.
    ((libm::log(point) / libm::log1p(-1.0 / mean)) as u64).min(LONGEST)
}

/// The number at which the weights of all from `least` on have come to `sum`.
fn scan(least: u64, most: u64, sum: f64, weight: impl Fn(u64) -> f64) -> u64 {
    let mut passed = 0.0;
    for number in least..most {
        passed += weight(number);
        if passed >= sum {
            return number;
        }
    }
    most
}

impl Sessions {
    /// Sessions of one turn each: requests that have nothing to do with one another.
    pub(crate) const SINGLE: Self = Self {
        turns: Turns::Fixed { turns: 1 },
        think: ClientTime::Fixed { mean_s: 0.0 },
        most_tokens: u64::MAX,
    };

    pub(super) fn check(&self) -> Result<(), SetupError> {
        self.turns.check()?;
        self.think.check_as_think_time()?;
        if self.most_tokens == 0 {
            return Err(out_of_domain("workload.sessions.most_tokens", 0.0, "1 or more"));
        }
        Ok(())
    }

    /// Tokens of the largest turn whose own prompt and answer have at most `own_tokens`.
    pub(super) fn largest_tokens(&self, own_tokens: u64, prefix_tokens: u64) -> u64 {
        // What is never left out stands before a turn that stays whole, whatever the limit.
        let whole_turn = own_tokens.saturating_add(prefix_tokens.min(own_tokens));
        let whole = match self.turns.most() {
            Some(most) => most.saturating_mul(own_tokens),
            None => u64::MAX,
        };
        whole.min(self.most_tokens.max(whole_turn)).min(MAX_LENGTH_TOKENS.max(whole_turn))
    }

    /// The mean number of tokens that a turn finds in the conversation before its own, where each turn
    /// adds as many to prompt and answer. Conversations that are cut count as full to the limit.
    #[must_use]
    pub fn mean_history_tokens(&self, input_tokens: f64, output_tokens: f64) -> f64 {
        let added = input_tokens + output_tokens;
        let most = self.most_tokens as f64 - added;
        if added <= 0.0 || most <= 0.0 {
            return 0.0;
        }
        let (mut sum, mut places) = (0.0, 0.0);
        let longest = self.turns.most().unwrap_or(LONGEST);
        for turn in 1..=longest {
            let share = self.turns.at_least(turn);
            let found = added * (turn - 1) as f64;
            if found >= most {
                // This turn and all later ones find as much as there may be.
                sum += most * (self.turns.mean() - places);
                break;
            }
            if share < 1e-12 {
                break;
            }
            sum += share * lesser(found, most);
            places += share;
        }
        sum / self.turns.mean()
    }
}

/// One conversation: what its next turn's prompt holds.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    most_tokens: u64,
    /// Tokens at the beginning that are never left out.
    pinned_tokens: u64,
    /// What the turns that are not left out came to, prompt and answer.
    kept: VecDeque<u64>,
    kept_tokens: u64,
    /// Turns asked, those that are left out included.
    asked: u64,
    /// Turns left out.
    left_out: u64,
}

/// The next turn of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Its whole prompt.
    pub(crate) input_tokens: u64,
    /// The part of it that the conversation held before.
    pub(crate) history_tokens: u64,
    /// Whether older turns are missing from it that were in the one before.
    pub(crate) is_cut: bool,
}

impl Conversation {
    /// One that begins, with turns of at most so many tokens; so many tokens of its first prompt are
    /// never left out.
    pub(crate) fn new(most_tokens: u64, prefix_tokens: u64) -> Self {
        Self {
            most_tokens,
            pinned_tokens: prefix_tokens,
            kept: VecDeque::new(),
            kept_tokens: 0,
            asked: 0,
            left_out: 0,
        }
    }

    /// How many turns it has had.
    pub(crate) const fn asked(&self) -> u64 {
        self.asked
    }

    /// Tokens at its beginning that are never left out.
    pub(crate) const fn pinned_tokens(&self) -> u64 {
        self.pinned_tokens
    }

    /// Its tokens once the last turn is answered.
    pub(crate) const fn tokens(&self) -> u64 {
        self.pinned_tokens + self.kept_tokens
    }

    /// The next turn, which adds so many tokens to prompt and answer.
    pub(crate) fn ask(&mut self, input_tokens: u64, output_tokens: u64) -> Turn {
        let mut own_tokens = input_tokens;
        let mut pinned_before = self.pinned_tokens;
        if self.asked == 0 {
            self.pinned_tokens = self.pinned_tokens.min(input_tokens);
            own_tokens -= self.pinned_tokens;
            pinned_before = 0;
        }
        let left_out = self.left_out;
        while self.pinned_tokens + self.kept_tokens + own_tokens + output_tokens > self.most_tokens
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_tokens -= oldest;
            self.left_out += 1;
        }
        let turn = Turn {
            input_tokens: self.pinned_tokens + self.kept_tokens + own_tokens,
            history_tokens: pinned_before + self.kept_tokens,
            is_cut: self.left_out > left_out,
        };
        self.asked += 1;
        self.kept.push_back(own_tokens + output_tokens);
        self.kept_tokens += own_tokens + output_tokens;
        turn
    }
}

fn out_of_domain(field: &'static str, value: f64, requirement: &'static str) -> SetupError {
    SetupError::OutOfDomain { field, value, requirement }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
