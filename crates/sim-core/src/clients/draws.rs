//! The clients' random numbers. Each belongs to a request and an attempt, or to a user and the
//! number of its request, never to the order in which things happen.

use crate::{
    float::lesser,
    random::{Purpose, Stream, split_mix},
};

use super::{ClientTime, RetryWait};

/// The wait in seconds before retry `retry`, counted from 0, of request `request`.
pub(crate) fn retry_wait_s(wait: &RetryWait, seed: u64, request: u64, retry: u32) -> f64 {
    match *wait {
        RetryWait::Immediate => 0.0,
        RetryWait::Backoff { base_s, cap_s } => {
            let longest_s = lesser(cap_s, base_s * libm::exp2(f64::from(retry)));
            longest_s * of_attempt(seed, Purpose::RetryWait, request, retry).uniform()
        }
    }
}

/// A point in (0, 1]: attempt `attempt`, counted from 0, is not sent where the probability of that
/// is at least this.
pub(crate) fn throttle_point(seed: u64, request: u64, attempt: u32) -> f64 {
    of_attempt(seed, Purpose::Throttle, request, attempt).uniform()
}

/// How long user `user` thinks before its first request, in seconds. Where the time is always the
/// same it is a random part of it: users who all began at once would go on in step.
pub(crate) fn first_think_s(think: &ClientTime, seed: u64, user: u64) -> f64 {
    match *think {
        ClientTime::Fixed { mean_s } => {
            mean_s * Stream::of_request(seed, Purpose::Think, user).uniform()
        }
        ClientTime::Exponential { .. } | ClientTime::LogNormal { .. } => think_s(think, seed, user),
    }
}

/// How long a user thinks before its request `request`, counted over all users, in seconds.
pub(crate) fn think_s(think: &ClientTime, seed: u64, request: u64) -> f64 {
    think.drawn_s(|| Stream::of_request(seed, Purpose::Think, request))
}

/// How long attempt `attempt`, counted from 0, of request `request` is waited for, in seconds.
pub(crate) fn patience_s(patience: &ClientTime, seed: u64, request: u64, attempt: u32) -> f64 {
    patience.drawn_s(|| of_attempt(seed, Purpose::Patience, request, attempt))
}

impl ClientTime {
    fn drawn_s(&self, draw: impl FnOnce() -> Stream) -> f64 {
        match *self {
            Self::Fixed { mean_s } => mean_s,
            Self::Exponential { mean_s } => mean_s * draw().exponential(),
            Self::LogNormal { mean_s, sigma } => {
                mean_s * libm::exp(sigma * draw().normal() - 0.5 * sigma * sigma)
            }
        }
    }
}

/// What is left of a time to think that is found under way: longer ones are found more often, at any
/// point alike (the equilibrium distribution of renewal theory).
pub(crate) fn rest_of_think_s(think: &ClientTime, seed: u64, key: u64) -> f64 {
    let mut draw = Stream::of_request(seed, Purpose::Think, key);
    match *think {
        ClientTime::Fixed { mean_s } => mean_s * draw.uniform(),
        // It has no memory.
        ClientTime::Exponential { mean_s } => mean_s * draw.exponential(),
        // In proportion to its length a lognormal is one with its median shifted by sigma².
        ClientTime::LogNormal { mean_s, sigma } => {
            let whole_s = mean_s * libm::exp(sigma * draw.normal() + 0.5 * sigma * sigma);
            whole_s * draw.uniform()
        }
    }
}

fn of_attempt(seed: u64, purpose: Purpose, request: u64, attempt: u32) -> Stream {
    Stream::of_request(seed ^ split_mix(u64::from(attempt)), purpose, request)
}
