//! The queueing model: a batch as a server whose rate depends on how many it holds.
//!
//! An iteration over `n` requests takes `α + n(β(I + O)/(O + 1) + γ(I + O/2))` ms: a base, compute
//! per token and memory access per token of context. A prompt takes one more such iteration's base
//! and its own tokens, each output token one iteration; so `n` requests are served at the rate
//! `μ(n) = n / (prefill(n) + O·decode(n))`, and the queue is M/M/1 with `μ(n)` up to the greatest
//! batch and `K` places in all.
//!
//! Times are in milliseconds and rates in requests per second at the interface, both as 32-bit
//! floats, in the order of operations of the original: the results are compared with its own.

/// What iterations cost, in ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceParameters {
    /// Base of an iteration.
    pub alpha: f32,
    /// Per token computed.
    pub beta: f32,
    /// Per token of context read.
    pub gamma: f32,
}

/// Mean lengths of requests in tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestSize {
    /// Prompts; 0 for none.
    pub input: f32,
    /// Outputs; 1 or more.
    pub output: f32,
}

impl ServiceParameters {
    /// Time of one iteration over `batch` requests, in ms.
    #[must_use]
    pub fn iteration_ms(&self, size: &RequestSize, batch: f32) -> f32 {
        let computed = (size.input + size.output) / (size.output + 1.0);
        let read = size.input + size.output / 2.0;
        self.alpha + batch * (self.beta * computed + self.gamma * read)
    }

    /// Time of a prompt among `batch` requests, in ms.
    #[must_use]
    pub fn prefill_ms(&self, size: &RequestSize, batch: f32) -> f32 {
        if size.input == 0.0 {
            return 0.0;
        }
        self.iteration_ms(size, batch) + (self.beta + self.gamma) * size.input
    }

    /// Time of one output token among `batch` requests, in ms.
    #[must_use]
    pub fn decode_ms(&self, size: &RequestSize, batch: f32) -> f32 {
        self.iteration_ms(size, batch) + self.beta + self.gamma * (size.input + size.output / 2.0)
    }
}

/// One replica.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueConfig {
    /// Most requests at once.
    pub max_batch: u32,
    /// Most requests that wait.
    pub max_queue: u32,
    /// What iterations cost.
    pub parameters: ServiceParameters,
}

/// Bounds of what is waited for and of batches: no array is longer.
const MAX_PLACES: u32 = 1 << 20;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// A configuration or a length that is not one.
    #[error("{field} is {value}; it must be {requirement}")]
    OutOfDomain {
        /// Which.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// More than one replica can serve.
    #[error("rate={rate}, max allowed rate={max}")]
    RateTooHigh {
        /// Requests per second that were asked for.
        rate: f32,
        /// Requests per second that it can serve.
        max: f32,
    },
    /// No rate, however low, meets the target.
    #[error("target {target} ms is below the bounded region; a single request takes longer")]
    TargetTooLow {
        /// The target in ms.
        target: f32,
    },
}

/// How a replica does at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Analysis {
    /// Requests served per second.
    pub throughput: f32,
    /// Mean time in the system in ms.
    pub response_ms: f32,
    /// Mean time in the queue in ms.
    pub wait_ms: f32,
    /// Mean number of requests in the batch.
    pub in_service: f32,
    /// Mean time of a prompt in ms.
    pub prefill_ms: f32,
    /// Mean time of an output token in ms.
    pub itl_ms: f32,
    /// Mean time to the first token in ms: wait, prompt and one output token.
    pub ttft_ms: f32,
    /// The highest rate that the model allows, in requests per second.
    pub max_rate: f32,
    /// Share of the greatest batch in use, 0 to 1.
    pub utilization: f32,
}

/// What a replica should keep to; 0 for no target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Targets {
    /// Mean time to first token in ms.
    pub ttft_ms: f32,
    /// Mean time per output token in ms.
    pub itl_ms: f32,
    /// Output tokens per second; any value leaves a tenth of the highest rate unused.
    pub tokens_per_s: f32,
}

/// Highest rates that keep to each target, in requests per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetRates {
    /// To the time to first token.
    pub ttft: f32,
    /// To the time per output token.
    pub itl: f32,
    /// To the token rate.
    pub tokens: f32,
}

/// How far below the service rate of a full batch the highest rate stays.
const EPSILON: f32 = 0.001;
/// How much of the highest rate a token-rate target leaves unused.
const STABILITY_FRACTION: f32 = 0.1;
/// How near the search has to come.
const SEARCH_TOLERANCE: f32 = 1e-6;
/// How often the search halves at most.
const SEARCH_STEPS: usize = 100;

/// The queue of one replica.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueAnalyzer {
    config: QueueConfig,
    size: RequestSize,
    /// Service rates of 1, 2, … requests, per ms.
    rates: Vec<f32>,
    places: usize,
    /// Probabilities of 0, 1, … requests in the system.
    probabilities: Vec<f64>,
    /// Lowest and highest rate, per second.
    range: (f32, f32),
}

/// The queue in its steady state, in ms and requests per ms.
#[derive(Clone, Copy)]
struct Steady {
    throughput: f32,
    response: f32,
    service: f32,
    wait: f32,
    in_service: f32,
}

impl QueueAnalyzer {
    /// The queue of a replica under requests of one mean size.
    ///
    /// # Errors
    /// A batch of 0 or more places than a million, negative prompts or outputs below one token.
    pub fn new(config: QueueConfig, size: RequestSize) -> Result<Self, QueueError> {
        let error =
            |field, value, requirement| QueueError::OutOfDomain { field, value, requirement };
        let places = config.max_batch.saturating_add(config.max_queue);
        if config.max_batch == 0 || places > MAX_PLACES {
            let value = f64::from(config.max_batch);
            return Err(error("max_batch", value, "1 or more, and below 2^20 with max_queue"));
        }
        // What is not a number is not in a range, either.
        if !(0.0..f32::MAX).contains(&size.input) {
            return Err(error("input", size.input.into(), "0 tokens or more"));
        }
        if !(1.0..f32::MAX).contains(&size.output) {
            return Err(error("output", size.output.into(), "1 token or more"));
        }
        let parameters = config.parameters;
        let rates: Vec<f32> = (1..=config.max_batch)
            .map(|batch| {
                let batch = batch as f32;
                let prefill = parameters.prefill_ms(&size, batch);
                batch / (prefill + size.output * parameters.decode_ms(&size, batch))
            })
            .collect();
        let (Some(&first), Some(&last)) = (rates.first(), rates.last()) else {
            return Err(error("max_batch", 0.0, "1 or more"));
        };
        if !(first > 0.0 && last > 0.0 && last < f32::MAX) {
            return Err(error("alpha", parameters.alpha.into(), "such that iterations take time"));
        }
        let places = places as usize;
        Ok(Self {
            config,
            size,
            rates,
            places,
            probabilities: vec![0.0; places + 1],
            range: (first * EPSILON * 1000.0, last * (1.0 - EPSILON) * 1000.0),
        })
    }

    /// Lowest and highest rate that the model allows, in requests per second.
    #[must_use]
    pub const fn range(&self) -> (f32, f32) {
        self.range
    }

    /// How the replica does at `rate` requests per second.
    ///
    /// # Errors
    /// A rate of 0 or less, or above the highest.
    pub fn analyze(&mut self, rate: f32) -> Result<Analysis, QueueError> {
        let max = self.range.1;
        if rate > max {
            return Err(QueueError::RateTooHigh { rate, max });
        }
        if rate.is_nan() || rate <= 0.0 {
            let requirement = "above 0 requests per second";
            return Err(QueueError::OutOfDomain { field: "rate", value: rate.into(), requirement });
        }
        let steady = self.solve(rate / 1000.0);
        let (prefill_ms, itl_ms) = self.latencies(&steady);
        let share = steady.in_service / self.config.max_batch as f32;
        let utilization = if share > 1.0 { 1.0 } else { share };
        Ok(Analysis {
            throughput: steady.throughput * 1000.0,
            response_ms: steady.response,
            wait_ms: steady.wait,
            in_service: steady.in_service,
            prefill_ms,
            itl_ms,
            ttft_ms: steady.wait + prefill_ms + itl_ms,
            max_rate: max,
            utilization,
        })
    }

    /// The highest rates that keep to the targets, and how the replica does at the least of them.
    ///
    /// # Errors
    /// A target that not even the lowest rate meets.
    pub fn size(&mut self, targets: &Targets) -> Result<(TargetRates, Analysis), QueueError> {
        let highest = self.range.1 / 1000.0;
        let ttft = self.highest_rate(targets.ttft_ms, |analyzer, steady| {
            let (prefill, itl) = analyzer.latencies(steady);
            steady.wait + prefill + itl
        })?;
        let itl =
            self.highest_rate(targets.itl_ms, |analyzer, steady| analyzer.latencies(steady).1)?;
        let tokens =
            if targets.tokens_per_s > 0.0 { highest * (1.0 - STABILITY_FRACTION) } else { highest };
        let least = if ttft < itl { ttft } else { itl };
        let least = if tokens < least { tokens } else { least };
        let analysis = self.analyze(least * 1000.0)?;
        let rates = TargetRates { ttft: ttft * 1000.0, itl: itl * 1000.0, tokens: tokens * 1000.0 };
        Ok((rates, analysis))
    }

    /// Times of a prompt and of an output token, in ms.
    fn latencies(&self, steady: &Steady) -> (f32, f32) {
        let prefill = self.config.parameters.prefill_ms(&self.size, steady.in_service);
        (prefill, (steady.service - prefill) / self.size.output)
    }

    /// The rate per ms at which `measure`, which grows with the rate, reaches `target`.
    fn highest_rate(
        &mut self,
        target: f32,
        measure: impl Fn(&Self, &Steady) -> f32,
    ) -> Result<f32, QueueError> {
        let (mut low, mut high) = (self.range.0 / 1000.0, self.range.1 / 1000.0);
        if target <= 0.0 {
            return Ok(high);
        }
        let mut at = |rate: f32| {
            let steady = self.solve(rate);
            measure(self, &steady)
        };
        let is_near =
            |value: f32| value == target || ((value - target) / target).abs() <= SEARCH_TOLERANCE;
        let (least, most) = (at(low), at(high));
        if is_near(least) {
            return Ok(low);
        }
        if is_near(most) {
            return Ok(high);
        }
        if target < least {
            return Err(QueueError::TargetTooLow { target });
        }
        if target > most {
            return Ok(high);
        }
        let mut middle = low;
        for _ in 0..SEARCH_STEPS {
            middle = 0.5 * (low + high);
            let value = at(middle);
            if is_near(value) {
                break;
            }
            if target < value {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(middle)
    }

    /// The steady state at `rate` requests per ms.
    fn solve(&mut self, rate: f32) -> Steady {
        self.fill_probabilities(rate);
        let batch = self.rates.len();
        let (mut in_system, mut in_service, mut cumulated) = (0.0, 0.0, self.probabilities[0]);
        for (requests, probability) in self.probabilities.iter().enumerate().skip(1) {
            in_system += requests as f64 * probability;
            cumulated += probability;
            if requests == batch {
                in_service = in_system + (1.0 - cumulated) * batch as f64;
            }
        }
        let (in_system, in_service) = (in_system as f32, in_service as f32);
        let throughput = rate * (1.0 - self.probabilities[self.places] as f32);
        let response = in_system / throughput;
        let service = in_service / throughput;
        let wait = response - service;
        let wait = if wait < 0.0 { 0.0 } else { wait };
        Steady { throughput, response, service, wait, in_service }
    }

    /// Birth and death: `p(n + 1) = p(n)·λ/μ(n + 1)`, scaled down where it would overflow.
    fn fill_probabilities(&mut self, rate: f32) {
        let scale = f64::MAX / self.places as f64;
        let p = &mut self.probabilities;
        p[0] = 1.0;
        let last = self.rates.len() - 1;
        for n in 0..self.places {
            let step = f64::from(self.rates[n.min(last)]);
            p[n + 1] = p[n] * f64::from(rate) / step;
            // Twice is enough: what is left then is next to nothing.
            for _ in 0..2 {
                if p[n + 1].is_finite() {
                    break;
                }
                for value in &mut p[..=n] {
                    *value /= scale;
                }
                p[n + 1] = p[n] * f64::from(rate) / step;
            }
        }
        let mut sum = 0.0;
        for n in 0..=self.places {
            sum += p[n];
            if !f64::is_finite(sum) {
                for value in p.iter_mut() {
                    *value /= scale;
                }
                sum = p[..=n].iter().sum();
            }
        }
        for value in p.iter_mut() {
            *value /= sum;
        }
    }
}

/// Targets where none is set: the queueing part of an iteration may grow to `multiplier` times its
/// idle length, `T = α/(1 − ρ)` with `ρ = 1 − 1/k`, and the work stays what it is. (3 by default: two
/// thirds busy.)
#[must_use]
pub fn inferred_targets(
    parameters: &ServiceParameters,
    (input, output): (f64, f64),
    multiplier: f64,
) -> Targets {
    let (alpha, beta, gamma) =
        (f64::from(parameters.alpha), f64::from(parameters.beta), f64::from(parameters.gamma));
    let iteration = multiplier * alpha;
    Targets {
        ttft_ms: (iteration + (beta + gamma) * input) as f32,
        itl_ms: (iteration + beta + gamma * (input + (output + 1.0) / 2.0)) as f32,
        tokens_per_s: 0.0,
    }
}

/// Targets where nothing is learned yet: half as much again as what is observed, at most 10 s to the
/// first token and 500 ms per token. `None` without observations. Times in seconds.
#[must_use]
pub fn observed_targets(ttft_s: f64, itl_s: f64) -> Option<Targets> {
    (ttft_s > 0.0 && itl_s > 0.0).then(|| Targets {
        ttft_ms: crate::float::lesser(ttft_s * 1500.0, 10_000.0) as f32,
        itl_ms: crate::float::lesser(itl_s * 1500.0, 500.0) as f32,
        tokens_per_s: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyzer() -> QueueAnalyzer {
        let parameters = ServiceParameters { alpha: 5.0, beta: 0.05, gamma: 5e-5 };
        let config = QueueConfig { max_batch: 64, max_queue: 100, parameters };
        QueueAnalyzer::new(config, RequestSize { input: 512.0, output: 128.0 }).unwrap()
    }

    #[test]
    fn more_requests_wait_longer() {
        let mut analyzer = analyzer();
        let mut last = 0.0;
        let max = analyzer.range().1;
        for tenth in 1..=9 {
            let analysis = analyzer.analyze(max * tenth as f32 / 10.0).unwrap();
            assert!(analysis.ttft_ms > last);
            // Little's law.
            let in_service =
                analysis.throughput / 1000.0 * (analysis.response_ms - analysis.wait_ms);
            assert!((in_service - analysis.in_service).abs() < 1e-3 * in_service);
            last = analysis.ttft_ms;
        }
    }

    #[test]
    fn a_sized_rate_keeps_to_its_targets() {
        let targets = Targets { ttft_ms: 200.0, itl_ms: 12.0, tokens_per_s: 0.0 };
        let (rates, analysis) = analyzer().size(&targets).unwrap();
        assert!(analysis.itl_ms <= 12.001 && analysis.ttft_ms <= 200.1);
        assert!(rates.itl < rates.ttft);
        let some = Targets { tokens_per_s: 1.0, ..Targets::default() };
        let (rates, _) = analyzer().size(&some).unwrap();
        assert!((rates.tokens / rates.ttft - 0.9).abs() < 1e-5);
    }

    #[test]
    fn what_is_no_queue_is_said_to_be_none() {
        let config = QueueConfig { max_batch: 0, ..analyzer().config };
        let size = RequestSize { input: 1.0, output: 1.0 };
        assert!(QueueAnalyzer::new(config, size).is_err());
        let none = RequestSize { output: 0.0, ..size };
        assert!(QueueAnalyzer::new(analyzer().config, none).is_err());
        assert!(analyzer().analyze(0.0).is_err());
        assert!(analyzer().analyze(f32::NAN).is_err());
        let parameters = ServiceParameters { alpha: f32::NAN, beta: 0.0, gamma: 0.0 };
        assert!(QueueAnalyzer::new(QueueConfig { parameters, ..analyzer().config }, size).is_err());
    }

    #[test]
    fn targets_follow_the_multiplier() {
        let parameters = ServiceParameters { alpha: 5.0, beta: 0.05, gamma: 5e-5 };
        let targets = inferred_targets(&parameters, (512.0, 255.0), 3.0);
        assert!((targets.ttft_ms - 40.6256).abs() < 1e-4);
        assert!((targets.itl_ms - 15.082).abs() < 1e-4);
        assert_eq!(observed_targets(9.0, 1.0).unwrap().ttft_ms, 10_000.0);
        assert_eq!(observed_targets(0.0, 1.0), None);
    }
}
