//! Who sends what, and when.

mod arrival_clock;
mod mix;
mod profile;
mod quantiles;
mod requests;
mod sessions;
mod trace;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use mix::{
    Arrivals, LengthPair, MAX_CLASSES, Mix, OnOff, RequestClass, RequestLengths, SharedPrefix,
};
pub use profile::{RatePoint, RateProfile};
pub use quantiles::{MAX_QUANTILES, Quantiles};
pub use requests::{Request, Requests};
pub(crate) use requests::{lengths_of_turn, share_of};
pub(crate) use sessions::{Conversation, UnderWay};
pub use sessions::{MAX_TURNS, Sessions, Turns};
pub use trace::{PromptBlocks, Trace, TraceRow};

use crate::setup::SetupError;

/// Largest prompt or output that is simulated, in tokens.
pub const MAX_LENGTH_TOKENS: u64 = 1_000_000_000;

/// Most replicas among which requests are dealt.
pub const MAX_REPLICAS: u64 = 100_000;

/// A finite stream of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Where the requests come from.
    pub source: RequestSource,
    /// How many requests are sent; a trace shorter than this ends earlier.
    pub requests: u64,
}

/// Where requests come from.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one in a set-up; lengths by quantiles stay plain values"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum RequestSource {
    /// Drawn from distributions.
    Generated {
        /// How the gaps between arrivals are distributed.
        process: ArrivalProcess,
        /// Mean arrival rate, requests per second.
        rate_per_s: f64,
        /// Prompt lengths.
        input: LengthSpec,
        /// Output lengths.
        output: LengthSpec,
    },
    /// Several classes, bursts, a rate that changes.
    Mixed(Arc<Mix>),
    /// Replayed from a recording.
    Replay {
        /// The recording.
        trace: Arc<Trace>,
        /// How many times faster than recorded: arrival times are divided by it.
        speed: f64,
    },
    /// What one of several replicas gets when requests are dealt out in turn.
    Dealt(Deal),
}

/// The share of one replica behind round robin: of the requests of a stream, counted from 0, every
/// `replicas`-th, beginning with `replica`. A workload of it counts that replica's requests only.
#[derive(Clone, Debug, PartialEq)]
pub struct Deal {
    /// The stream that is dealt out; not itself a share.
    pub source: Box<RequestSource>,
    /// Among how many.
    pub replicas: u64,
    /// Whose share, from 0.
    pub replica: u64,
}

/// The distribution of the gaps between arrivals. All have mean `1 / rate`: one unit-rate stream
/// is divided by the rate, so that a faster rate is the same stream, compressed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ArrivalProcess {
    /// Independent users: exponential gaps.
    Poisson,
    /// Gamma gaps; shape 1 is Poisson, below 1 burstier (`--burstiness` of `vllm bench serve`).
    Gamma {
        /// Shape of the Gamma distribution; the squared coefficient of variation is its inverse.
        shape: f64,
    },
    /// Evenly spaced.
    Even,
}

/// The distribution of a length, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum LengthSpec {
    /// Always the same.
    Fixed {
        /// The length.
        tokens: u64,
    },
    /// Every whole number between two bounds alike.
    Uniform {
        /// Shortest.
        min_tokens: u64,
        /// Longest.
        max_tokens: u64,
    },
    /// Lognormal, rounded to whole tokens and clamped.
    LogNormal {
        /// Median before clamping.
        median_tokens: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Shortest.
        min_tokens: u64,
        /// Longest.
        max_tokens: u64,
    },
    /// By quantiles, as measured: straight lines in between, rounded to whole tokens.
    Empirical(Quantiles),
}

impl LengthSpec {
    /// The longest length that can be drawn, in tokens.
    #[must_use]
    pub fn longest_tokens(&self) -> u64 {
        match self {
            Self::Fixed { tokens } => *tokens,
            Self::Uniform { max_tokens, .. } | Self::LogNormal { max_tokens, .. } => *max_tokens,
            Self::Empirical(quantiles) => quantiles.bounds_tokens().1,
        }
    }

    /// The mean length in tokens. For the lognormal, before clamping and rounding:
    /// `median · exp(sigma² / 2)`, held within the bounds.
    #[must_use]
    pub fn mean_tokens(&self) -> f64 {
        match *self {
            Self::Fixed { tokens } => tokens as f64,
            Self::Uniform { min_tokens, max_tokens } => 0.5 * (min_tokens + max_tokens) as f64,
            Self::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
                let mean = median_tokens * libm::exp(0.5 * sigma * sigma);
                crate::float::lesser(
                    crate::float::greater(mean, min_tokens as f64),
                    max_tokens as f64,
                )
            }
            Self::Empirical(quantiles) => quantiles.mean_tokens(),
        }
    }

    /// The length in tokens, not rounded, that a share of the requests stays within, 0 to 1.
    #[must_use]
    pub fn at(&self, share: f64) -> f64 {
        match *self {
            Self::Fixed { tokens } => tokens as f64,
            Self::Uniform { min_tokens, max_tokens } => {
                min_tokens as f64 + share * max_tokens.saturating_sub(min_tokens) as f64
            }
            Self::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
                let (least, most) = (min_tokens as f64, max_tokens as f64);
                match crate::quantile::normal_quantile(share) {
                    Some(z) => crate::float::lesser(
                        crate::float::greater(median_tokens * libm::exp(sigma * z), least),
                        most,
                    ),
                    None if share > 0.5 => most,
                    None => least,
                }
            }
            Self::Empirical(quantiles) => quantiles.at(share),
        }
    }

    fn check(&self, names: &LengthFields, least: u64) -> Result<(), SetupError> {
        let (shortest, longest) = match *self {
            Self::Fixed { tokens } => (tokens, tokens),
            Self::Uniform { min_tokens, max_tokens } => {
                if min_tokens > max_tokens {
                    return Err(out_of_domain(
                        names.shortest,
                        min_tokens as f64,
                        "no more than the longest length",
                    ));
                }
                (min_tokens, max_tokens)
            }
            Self::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
                if !(median_tokens.is_finite() && median_tokens > 0.0) {
                    return Err(out_of_domain(names.median, median_tokens, "finite and above 0"));
                }
                if !(0.0..=10.0).contains(&sigma) {
                    return Err(out_of_domain(names.sigma, sigma, "between 0 and 10"));
                }
                if min_tokens > max_tokens {
                    return Err(out_of_domain(
                        names.shortest,
                        min_tokens as f64,
                        "no more than the longest length",
                    ));
                }
                (min_tokens, max_tokens)
            }
            Self::Empirical(quantiles) => {
                if !quantiles.is_sound() {
                    return Err(out_of_domain(
                        names.quantiles,
                        quantiles.points().count() as f64,
                        "2 to 12 points from 0 to 1, in rising order",
                    ));
                }
                quantiles.bounds_tokens()
            }
        };
        if shortest < least {
            return Err(out_of_domain(names.shortest, shortest as f64, "1 token or more"));
        }
        if longest > MAX_LENGTH_TOKENS {
            return Err(out_of_domain(names.longest, longest as f64, "at most 1,000,000,000"));
        }
        Ok(())
    }
}

/// Field names for messages about one length.
struct LengthFields {
    median: &'static str,
    sigma: &'static str,
    shortest: &'static str,
    longest: &'static str,
    quantiles: &'static str,
}

const INPUT_FIELDS: LengthFields = LengthFields {
    median: "workload.input.median_tokens",
    sigma: "workload.input.sigma",
    shortest: "workload.input.min_tokens",
    longest: "workload.input.max_tokens",
    quantiles: "workload.input.quantiles",
};

const OUTPUT_FIELDS: LengthFields = LengthFields {
    median: "workload.output.median_tokens",
    sigma: "workload.output.sigma",
    shortest: "workload.output.min_tokens",
    longest: "workload.output.max_tokens",
    quantiles: "workload.output.quantiles",
};

impl Workload {
    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        if self.requests == 0 {
            return Err(out_of_domain("workload.requests", 0.0, "1 or more"));
        }
        self.source.check()
    }
}

impl RequestSource {
    /// Tokens of the largest request that can come, prompt and output together.
    #[must_use]
    pub fn largest_request_tokens(&self) -> u64 {
        match self {
            Self::Generated { input, output, .. } => {
                input.longest_tokens() + output.longest_tokens()
            }
            Self::Mixed(mix) => mix.largest_tokens(),
            Self::Replay { trace, .. } => trace.largest_request_tokens(),
            Self::Dealt(deal) => deal.source.largest_request_tokens(),
        }
    }

    /// Mean prompt and output lengths in tokens, before clamping and rounding.
    #[must_use]
    pub fn mean_tokens(&self) -> (f64, f64) {
        match self {
            Self::Generated { input, output, .. } => (input.mean_tokens(), output.mean_tokens()),
            Self::Mixed(mix) => mix.mean_tokens(),
            Self::Replay { trace, .. } => trace.mean_tokens(),
            Self::Dealt(deal) => deal.source.mean_tokens(),
        }
    }

    /// The stream itself, for a share of one the stream that is dealt out.
    #[must_use]
    pub fn whole(&self) -> &Self {
        match self {
            Self::Dealt(deal) => &deal.source,
            _ => self,
        }
    }

    /// The rate in requests per second that it asks for; a replay has none of its own.
    #[must_use]
    pub fn rate_per_s(&self) -> Option<f64> {
        match self {
            Self::Generated { rate_per_s, .. } => Some(*rate_per_s),
            Self::Mixed(mix) => Some(mix.arrivals.rate_per_s),
            Self::Replay { .. } => None,
            Self::Dealt(deal) => Some(deal.source.rate_per_s()? / deal.replicas as f64),
        }
    }

    /// Ask for another rate. A replay is taken to ask for 1 req/s, and runs so much faster.
    pub fn set_rate(&mut self, rate_per_s: f64) {
        match self {
            Self::Generated { rate_per_s: rate, .. } => *rate = rate_per_s,
            Self::Mixed(mix) => Arc::make_mut(mix).arrivals.rate_per_s = rate_per_s,
            Self::Replay { speed, .. } => *speed *= rate_per_s,
            Self::Dealt(deal) => deal.source.set_rate(rate_per_s * deal.replicas as f64),
        }
    }

    fn check(&self) -> Result<(), SetupError> {
        match self {
            Self::Generated { process, rate_per_s, input, output } => {
                if !(rate_per_s.is_finite() && *rate_per_s > 0.0) {
                    return Err(out_of_domain(
                        "workload.rate_per_s",
                        *rate_per_s,
                        "finite and above 0 requests per second",
                    ));
                }
                if let ArrivalProcess::Gamma { shape } = *process
                    && !(0.001..=1000.0).contains(&shape)
                {
                    return Err(out_of_domain("workload.shape", shape, "between 0.001 and 1000"));
                }
                input.check(&INPUT_FIELDS, 0)?;
                output.check(&OUTPUT_FIELDS, 1)
            }
            Self::Mixed(mix) => mix.check(),
            Self::Replay { trace, speed } => {
                if !(speed.is_finite() && *speed > 0.0) {
                    return Err(out_of_domain("workload.speed", *speed, "finite and above 0"));
                }
                trace.check()
            }
            Self::Dealt(deal) => deal.check(),
        }
    }
}

impl Deal {
    fn check(&self) -> Result<(), SetupError> {
        let (replicas, replica) = (self.replicas as f64, self.replica as f64);
        if !(1..=MAX_REPLICAS).contains(&self.replicas) {
            return Err(out_of_domain("fleet.replicas", replicas, "between 1 and 100,000"));
        }
        if self.replica >= self.replicas {
            return Err(out_of_domain("fleet.replica", replica, "below the number of replicas"));
        }
        if let RequestSource::Dealt(inner) = &*self.source {
            let replicas = inner.replicas as f64;
            return Err(out_of_domain("fleet.replicas", replicas, "dealt among only once"));
        }
        self.source.check()
    }
}

fn out_of_domain(field: &'static str, value: f64, requirement: &'static str) -> SetupError {
    SetupError::OutOfDomain { field, value, requirement }
}
