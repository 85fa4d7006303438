//! A mix of request classes under one pattern of arrivals.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    clients::ClientTime,
    setup::{SetupError, Slo},
};

use super::{ArrivalProcess, INPUT_FIELDS, LengthSpec, OUTPUT_FIELDS, RateProfile, Sessions};

/// Most classes of one mix.
pub const MAX_CLASSES: usize = 64;

/// Classes of requests that share one stream of arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mix {
    /// When requests are sent.
    pub arrivals: Arrivals,
    /// What they are, and how often.
    pub classes: Vec<RequestClass>,
}

/// When requests are sent: gaps on a unit-rate clock, which bursts and a profile stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    /// How the gaps between arrivals are distributed.
    pub process: ArrivalProcess,
    /// Mean arrival rate where the profile is 1, requests per second.
    pub rate_per_s: f64,
    /// Bursts and lulls, if any.
    pub bursts: Option<OnOff>,
    /// How the mean rate changes over time.
    pub profile: RateProfile,
}

/// A rate that alternates between a burst and a lull, each of exponential length (a two-state
/// Markov-modulated process). The mean rate stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnOff {
    /// Mean length of a burst in seconds.
    pub on_s: f64,
    /// Mean length of a lull in seconds.
    pub off_s: f64,
    /// Rate in a lull as a share of the rate in a burst, 0 to 1.
    pub lull_share: f64,
}

impl OnOff {
    /// Multiples of the mean rate in a burst and in a lull.
    #[must_use]
    pub fn factors(&self) -> (f64, f64) {
        let burst = (self.on_s + self.off_s) / (self.on_s + self.off_s * self.lull_share);
        (burst, burst * self.lull_share)
    }

    fn check(&self) -> Result<(), SetupError> {
        for (field, value) in
            [("workload.bursts.on_s", self.on_s), ("workload.bursts.off_s", self.off_s)]
        {
            if !(value.is_finite() && value > 0.0) {
                return Err(SetupError::OutOfDomain {
                    field,
                    value,
                    requirement: "finite and above 0 seconds",
                });
            }
        }
        if !(0.0..=1.0).contains(&self.lull_share) {
            return Err(SetupError::OutOfDomain {
                field: "workload.bursts.lull_share",
                value: self.lull_share,
                requirement: "between 0 and 1",
            });
        }
        Ok(())
    }
}

/// One kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestClass {
    /// How often it comes, relative to the others.
    pub weight: f64,
    /// Prompt and output lengths; of a turn of a session what it adds to the conversation.
    pub lengths: RequestLengths,
    /// Its own target.
    pub slo: Slo,
    /// Lower is served first, where the engine has priorities.
    pub priority: i32,
    /// How its prompts begin alike, if they do; the lengths count it.
    pub shared_prefix: Option<SharedPrefix>,
    /// Whether they are turns of sessions. Under [`Population::Sessions`] each waits for the one
    /// before; to clients of any other kind they are requests with the lengths that turns have.
    ///
    /// [`Population::Sessions`]: crate::clients::Population::Sessions
    pub sessions: Option<Sessions>,
    /// How long its clients wait, where patience is that [of the
    /// class](crate::clients::PatienceTime::OfClass); `None`: for ever.
    pub patience: Option<ClientTime>,
}

impl RequestClass {
    /// Mean prompt and mean output in tokens, the conversation before a turn included.
    #[must_use]
    pub fn mean_tokens(&self) -> (f64, f64) {
        let (input, output) = self.lengths.mean_tokens();
        (input + self.mean_history_tokens(), output)
    }

    /// The mean part of a prompt that its session's conversation held before; 0 without sessions.
    #[must_use]
    pub fn mean_history_tokens(&self) -> f64 {
        let (input, output) = self.lengths.mean_tokens();
        self.sessions.map_or(0.0, |sessions| sessions.mean_history_tokens(input, output))
    }

    fn largest_tokens(&self) -> u64 {
        let own_tokens = self.lengths.largest_tokens();
        let prefix_tokens = self.shared_prefix.map_or(0, |prefix| prefix.tokens);
        self.sessions
            .map_or(own_tokens, |sessions| sessions.largest_tokens(own_tokens, prefix_tokens))
    }
}

/// Tokens with which many prompts begin, such as a system prompt. A shorter prompt is all prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPrefix {
    /// Which beginning: classes of one group begin alike.
    pub group: u64,
    /// How long it is, in tokens.
    pub tokens: u64,
}

/// Prompt and output lengths of a class.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each class; lengths by quantiles stay plain values"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RequestLengths {
    /// Drawn independently.
    Independent {
        /// Prompt lengths.
        input: LengthSpec,
        /// Output lengths.
        output: LengthSpec,
    },
    /// Drawn as pairs with equal chances, so that their correlation is kept.
    Pairs(Arc<[LengthPair]>),
}

/// The lengths of one recorded request, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LengthPair {
    /// Prompt.
    pub input_tokens: u64,
    /// Output.
    pub output_tokens: u64,
}

impl RequestLengths {
    /// Tokens of the largest request, prompt and output together.
    #[must_use]
    pub fn largest_tokens(&self) -> u64 {
        match self {
            Self::Independent { input, output } => input.longest_tokens() + output.longest_tokens(),
            Self::Pairs(pairs) => {
                pairs.iter().map(|pair| pair.input_tokens + pair.output_tokens).max().unwrap_or(0)
            }
        }
    }

    /// Mean prompt and mean output, in tokens.
    #[must_use]
    pub fn mean_tokens(&self) -> (f64, f64) {
        match self {
            Self::Independent { input, output } => (input.mean_tokens(), output.mean_tokens()),
            Self::Pairs(pairs) => {
                let number = pairs.len().max(1) as f64;
                let input: u64 = pairs.iter().map(|pair| pair.input_tokens).sum();
                let output: u64 = pairs.iter().map(|pair| pair.output_tokens).sum();
                (input as f64 / number, output as f64 / number)
            }
        }
    }

    fn check(&self) -> Result<(), SetupError> {
        match self {
            Self::Independent { input, output } => {
                input.check(&INPUT_FIELDS, 0)?;
                output.check(&OUTPUT_FIELDS, 1)
            }
            Self::Pairs(pairs) => {
                if pairs.is_empty() {
                    return Err(SetupError::EmptyTrace);
                }
                for pair in pairs.iter() {
                    LengthSpec::Fixed { tokens: pair.input_tokens }.check(&INPUT_FIELDS, 0)?;
                    LengthSpec::Fixed { tokens: pair.output_tokens }.check(&OUTPUT_FIELDS, 1)?;
                }
                Ok(())
            }
        }
    }
}

impl Mix {
    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        self.arrivals.check()?;
        if self.classes.is_empty() || self.classes.len() > MAX_CLASSES {
            return Err(SetupError::OutOfDomain {
                field: "workload.classes",
                value: self.classes.len() as f64,
                requirement: "1 to 64 classes",
            });
        }
        for class in &self.classes {
            if !(class.weight.is_finite() && class.weight >= 0.0) {
                return Err(SetupError::OutOfDomain {
                    field: "workload.classes.weight",
                    value: class.weight,
                    requirement: "finite and 0 or more",
                });
            }
            class.lengths.check()?;
            if let Some(sessions) = &class.sessions {
                sessions.check()?;
            }
            class.slo.check()?;
            if let Some(patience) = class.patience {
                patience.check_as_patience()?;
            }
        }
        if self.total_weight() <= 0.0 {
            return Err(SetupError::OutOfDomain {
                field: "workload.classes.weight",
                value: 0.0,
                requirement: "above 0 for at least one class",
            });
        }
        Ok(())
    }

    /// Sum of the classes' weights.
    #[must_use]
    pub fn total_weight(&self) -> f64 {
        self.classes.iter().map(|class| class.weight).sum()
    }

    /// Mean prompt and mean output over all classes, in tokens.
    #[must_use]
    pub fn mean_tokens(&self) -> (f64, f64) {
        let total = self.total_weight();
        self.classes.iter().fold((0.0, 0.0), |(input, output), class| {
            let (class_input, class_output) = class.mean_tokens();
            let share = class.weight / total;
            (input + share * class_input, output + share * class_output)
        })
    }

    /// Tokens of the largest request of any class.
    #[must_use]
    pub fn largest_tokens(&self) -> u64 {
        self.classes.iter().map(RequestClass::largest_tokens).max().unwrap_or(0)
    }
}

impl Arrivals {
    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        if !(self.rate_per_s.is_finite() && self.rate_per_s > 0.0) {
            return Err(SetupError::OutOfDomain {
                field: "workload.rate_per_s",
                value: self.rate_per_s,
                requirement: "finite and above 0 requests per second",
            });
        }
        if let ArrivalProcess::Gamma { shape } = self.process
            && !(0.001..=1000.0).contains(&shape)
        {
            return Err(SetupError::OutOfDomain {
                field: "workload.shape",
                value: shape,
                requirement: "between 0.001 and 1000",
            });
        }
        if let Some(bursts) = &self.bursts {
            bursts.check()?;
        }
        self.profile.check()
    }
}
