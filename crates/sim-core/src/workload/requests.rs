//! Requests, one at a time, in order of arrival.

use std::sync::Arc;

use crate::random::{Purpose, Stream};

use super::{ArrivalProcess, LengthSpec, RequestSource, Trace, Workload};

/// One request as its user sends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Position in the order of arrival, from 0.
    pub index: u64,
    /// When it is sent, in seconds.
    pub arrival_s: f64,
    /// Prompt length.
    pub input_tokens: u64,
    /// Output length, 1 or more.
    pub output_tokens: u64,
}

impl Request {
    /// Tokens whose keys and values it will hold at its end.
    #[must_use]
    pub const fn final_tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

/// The stream of requests of a workload. Memory does not grow with its length.
#[derive(Clone, Debug)]
pub struct Requests {
    next_index: u64,
    end: u64,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    // Boxed: a generator is many times the size of a replay.
    Generated(Box<Generator>),
    Replay { trace: Arc<Trace>, speed: f64 },
}

/// Draws requests from distributions.
#[derive(Clone, Debug)]
struct Generator {
    process: ArrivalProcess,
    rate_per_s: f64,
    /// Arrival time on the unit-rate clock.
    unit_clock: f64,
    arrivals: Stream,
    input: Lengths,
    output: Lengths,
}

impl Generator {
    fn draw(&mut self, index: u64) -> Request {
        self.unit_clock += match self.process {
            ArrivalProcess::Poisson => self.arrivals.exponential(),
            ArrivalProcess::Gamma { shape } => self.arrivals.gamma_of_mean_one(shape),
            ArrivalProcess::Even => 1.0,
        };
        Request {
            index,
            arrival_s: self.unit_clock / self.rate_per_s,
            input_tokens: self.input.draw(),
            output_tokens: self.output.draw(),
        }
    }
}

#[derive(Clone, Debug)]
enum Lengths {
    Fixed(u64),
    LogNormal { log_median: f64, sigma: f64, min_tokens: u64, max_tokens: u64, stream: Stream },
}

impl Lengths {
    fn new(spec: LengthSpec, seed: u64, purpose: Purpose) -> Self {
        match spec {
            LengthSpec::Fixed { tokens } => Self::Fixed(tokens),
            LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
                Self::LogNormal {
                    log_median: libm::log(median_tokens),
                    sigma,
                    min_tokens,
                    max_tokens,
                    stream: Stream::new(seed, purpose),
                }
            }
        }
    }

    fn draw(&mut self) -> u64 {
        match self {
            Self::Fixed(tokens) => *tokens,
            Self::LogNormal { log_median, sigma, min_tokens, max_tokens, stream } => {
                let length = libm::exp(*log_median + *sigma * stream.normal());
                // A float beyond the range of u64 saturates, then the bounds hold it.
                (libm::round(length) as u64).clamp(*min_tokens, *max_tokens)
            }
        }
    }
}

impl Requests {
    /// Start the stream of a checked workload.
    #[must_use]
    pub fn new(workload: &Workload, seed: u64) -> Self {
        let (end, source) = match &workload.source {
            RequestSource::Generated { process, rate_per_s, input, output } => {
                let generator = Generator {
                    process: *process,
                    rate_per_s: *rate_per_s,
                    unit_clock: 0.0,
                    arrivals: Stream::new(seed, Purpose::Arrivals),
                    input: Lengths::new(*input, seed, Purpose::InputTokens),
                    output: Lengths::new(*output, seed, Purpose::OutputTokens),
                };
                (workload.requests, Source::Generated(Box::new(generator)))
            }
            RequestSource::Replay { trace, speed } => (
                workload.requests.min(trace.rows().len() as u64),
                Source::Replay { trace: Arc::clone(trace), speed: *speed },
            ),
        };
        Self { next_index: 0, end, source }
    }

    /// How many requests the whole stream holds.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.end
    }
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if self.next_index == self.end {
            return None;
        }
        let index = self.next_index;
        self.next_index += 1;
        Some(match &mut self.source {
            Source::Generated(generator) => generator.draw(index),
            Source::Replay { trace, speed } => {
                let row = trace.rows()[index as usize];
                Request {
                    index,
                    arrival_s: row.arrival_s / *speed,
                    input_tokens: row.input_tokens,
                    output_tokens: row.output_tokens,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(process: ArrivalProcess, rate_per_s: f64, output: LengthSpec) -> Workload {
        Workload {
            source: RequestSource::Generated {
                process,
                rate_per_s,
                input: LengthSpec::Fixed { tokens: 7 },
                output,
            },
            requests: 20_000,
        }
    }

    #[test]
    fn a_faster_rate_is_the_same_stream_compressed() {
        let output = LengthSpec::LogNormal {
            median_tokens: 200.0,
            sigma: 1.0,
            min_tokens: 1,
            max_tokens: 4000,
        };
        let slow = Requests::new(&generated(ArrivalProcess::Poisson, 2.0, output), 5);
        let fast = Requests::new(&generated(ArrivalProcess::Poisson, 8.0, output), 5);
        for (s, f) in slow.zip(fast) {
            assert_eq!(s.arrival_s, 4.0 * f.arrival_s);
            assert_eq!(s.output_tokens, f.output_tokens);
        }
    }

    #[test]
    fn mean_rate_is_the_asked_one() {
        let output = LengthSpec::Fixed { tokens: 3 };
        for process in
            [ArrivalProcess::Poisson, ArrivalProcess::Gamma { shape: 0.5 }, ArrivalProcess::Even]
        {
            let last = Requests::new(&generated(process, 10.0, output), 9).last().unwrap();
            let rate = 20_000.0 / last.arrival_s;
            // Four standard deviations of the burstiest: 10 · 4 · √(2 / 20,000).
            assert!((rate - 10.0).abs() < 0.4, "{process:?}: {rate}");
        }
    }

    #[test]
    fn lognormal_median_and_bounds_hold() {
        let output = LengthSpec::LogNormal {
            median_tokens: 200.0,
            sigma: 0.5,
            min_tokens: 50,
            max_tokens: 900,
        };
        let mut lengths: Vec<u64> = Requests::new(&generated(ArrivalProcess::Even, 1.0, output), 3)
            .map(|request| request.output_tokens)
            .collect();
        lengths.sort_unstable();
        let median = lengths[lengths.len() / 2];
        // Standard error of a sample median: 1.25 · 200 · 0.5 / √20,000 = 0.9 tokens; four of them.
        assert!((196..=204).contains(&median), "{median}");
        assert!(lengths[0] >= 50 && lengths[lengths.len() - 1] <= 900);
    }
}
