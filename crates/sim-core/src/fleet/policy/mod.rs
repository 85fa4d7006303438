//! An autoscaler in its cluster: what it is told, when it acts, and what it remembers.
//!
//! The rules are those of [`autoscale`](super::autoscale); here are the clocks around them: an HPA
//! syncs every 15 s on what was last scraped; KEDA polls every 30 s for the way from and to zero, and
//! its HPA syncs every 15 s; Knative samples every second and decides every 2 s; WVA computes every
//! 60 s and an HPA follows it every 15 s.

mod activator;
mod latency_model;
mod saturation;

use super::autoscale::{
    fixed::Fixed,
    forecast,
    hpa::{
        self, Bounds, Condition, History, Hpa, Initialization, MetricError, Phase, Pod, PodMetrics,
        Resource, Sample, Tolerance,
    },
    keda::{self, Memory, ScaledObject, Triggers},
    knative::{self, DeciderSpec, ScaleToZero},
    schedule::{Calendar, Floor, floor_at},
    wva,
};
use crate::float::greater;

use activator::Kpa;
use latency_model::LatencyModel;
use saturation::{follow, saturation_v1, saturation_v2};

/// What an autoscaler looks at, of each replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Requests running and waiting.
    InFlight,
    /// Requests waiting, for whatever reason.
    Queue,
    /// Requests waiting for a place or for memory: those that another replica would serve.
    CapacityQueue,
    /// Requests running: the batch.
    Running,
    /// KV cache in use, in per cent.
    KvUsage,
    /// Requests that came per second.
    RequestRate,
    /// Tokens generated per second.
    TokenRate,
    /// Time with a step running, in per cent: near 100 as soon as there is any work.
    GpuBusy,
    /// GPU memory in use, in per cent: the engine takes its share at the start, whatever comes.
    GpuMemory,
    /// Processor time in per cent of what is requested: that of the engine's loop, which spins while
    /// there is any work.
    Cpu,
}

/// What is scraped of one replica.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauges {
    /// When, in seconds.
    pub at_s: f64,
    /// Requests running.
    pub running: f64,
    /// Requests waiting.
    pub waiting: f64,
    /// KV tokens reserved.
    pub kv_tokens: f64,
    /// KV tokens that there are.
    pub kv_capacity: f64,
    /// Requests that came per second since the scrape before.
    pub request_rate: f64,
    /// Tokens generated per second since the scrape before.
    pub token_rate: f64,
    /// Share of the time since the scrape before with a step running, 0 to 1.
    pub busy: f64,
}

/// Share of a GPU's memory that an engine takes at its start.
const GPU_MEMORY_PERCENT: f64 = 90.0;

impl Gauges {
    /// The value of a signal.
    #[must_use]
    pub fn value(&self, signal: Signal) -> f64 {
        match signal {
            Signal::InFlight => self.running + self.waiting,
            Signal::Queue | Signal::CapacityQueue => self.waiting,
            Signal::Running => self.running,
            Signal::KvUsage => self.kv_usage() * 100.0,
            Signal::RequestRate => self.request_rate,
            Signal::TokenRate => self.token_rate,
            Signal::GpuBusy | Signal::Cpu => self.busy * 100.0,
            Signal::GpuMemory => GPU_MEMORY_PERCENT,
        }
    }

    fn kv_usage(&self) -> f64 {
        if self.kv_capacity > 0.0 { self.kv_tokens / self.kv_capacity } else { 0.0 }
    }
}

/// One replica as the cluster's API shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PodView {
    /// Where it is: without a node, on one, or being deleted.
    pub phase: Phase,
    /// Whether it drains.
    pub is_deleted: bool,
    /// Whether it is ready.
    pub is_ready: bool,
    /// Since when it is, or is not, in seconds.
    pub since_s: f64,
    /// When it got its node, in seconds.
    pub start_s: Option<f64>,
    /// What was last scraped of it.
    pub gauges: Option<Gauges>,
}

/// The fleet as an autoscaler sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Replicas that are asked for: those that neither drain nor are gone.
    pub replicas: i32,
    /// All that are not gone.
    pub pods: Vec<PodView>,
    /// Requests that wait before the replicas, when that was last scraped.
    pub queued: f64,
    /// Requests that wait for one another, when that was last scraped.
    pub deferred: f64,
    /// Requests in the whole system now, for those that count them in its path.
    pub in_system: f64,
    /// What has happened to requests so far.
    pub totals: Totals,
    /// Whether metrics cannot be had.
    pub is_blind: bool,
}

/// What has happened to requests since the beginning: counters, as they are scraped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Requests that came.
    pub offered: f64,
    /// Requests that were answered.
    pub answered: f64,
    /// Tokens of their prompts.
    pub input_tokens: f64,
    /// Tokens of their outputs.
    pub output_tokens: f64,
    /// Their times to first token, added up, in seconds.
    pub ttft_s: f64,
    /// Their mean times per output token, added up, in seconds.
    pub tpot_s: f64,
}

impl Observed {
    /// Mean prompt and output of the requests that have ended; 0 before any has.
    fn mean_tokens(&self) -> (f64, f64) {
        let Totals { answered, input_tokens, output_tokens, .. } = self.totals;
        let mean = |sum: f64| if answered > 0.0 { sum / answered } else { 0.0 };
        (mean(input_tokens), mean(output_tokens))
    }

    fn ready(&self) -> impl Iterator<Item = &PodView> {
        self.pods.iter().filter(|pod| pod.is_ready && !pod.is_deleted)
    }

    fn ready_count(&self) -> i32 {
        self.ready().count() as i32
    }

    /// What was scraped of those that stay: of those that are ready, and of those that start where
    /// they count.
    fn scraped(&self) -> impl Iterator<Item = Gauges> {
        self.pods.iter().filter(|pod| !pod.is_deleted).filter_map(|pod| pod.gauges)
    }

    /// A signal over all replicas, put together.
    fn query(&self, signal: Signal, aggregate: Aggregate) -> f64 {
        match aggregate {
            Aggregate::Sum => self.total(signal),
            Aggregate::Mean => {
                let count = self.scraped().count().max(1);
                self.total(signal) / count as f64
            }
            // What waits before the replicas is on none of them, and no less for it.
            Aggregate::Max => {
                let values = self.scraped().map(|gauges| gauges.value(signal));
                values.fold(self.before(signal), greater)
            }
        }
    }

    /// A signal over all replicas, and of what waits before them.
    fn total(&self, signal: Signal) -> f64 {
        let replicas: f64 = self.scraped().map(|gauges| gauges.value(signal)).sum();
        replicas + self.before(signal)
    }

    /// What of a signal is before the replicas.
    fn before(&self, signal: Signal) -> f64 {
        match signal {
            Signal::InFlight | Signal::Queue => self.queued + self.deferred,
            Signal::CapacityQueue => self.queued,
            _ => 0.0,
        }
    }
}

/// How a query puts the replicas together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// The sum, of which each replica should have its share (`AverageValue`).
    Sum,
    /// The mean, held to the target itself (`Value`).
    Mean,
    /// The greatest, held to the target itself (`Value`): it sees a hot spot that the mean hides.
    Max,
}

/// An autoscaler with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// None.
    Fixed(Fixed),
    /// HPA v2 on a pods metric: the mean of a signal over the replicas.
    Hpa {
        /// Bounds and behaviour.
        hpa: Hpa,
        /// What is measured.
        signal: Signal,
        /// The mean that it is held to.
        target: f64,
        /// How far it may be off.
        tolerance: Tolerance,
    },
    /// KEDA on a query.
    Keda {
        /// The object.
        object: ScaledObject,
        /// What is measured.
        signal: Signal,
        /// How the replicas are put together.
        aggregate: Aggregate,
        /// What each replica should have of it, or the whole (`threshold`).
        threshold: f64,
        /// Above which result it is active (`activationThreshold`).
        activation_threshold: f64,
    },
    /// Knative's pod autoscaler on concurrency.
    Knative {
        /// The decider.
        decider: DeciderSpec,
        /// The scaler.
        zero: ScaleToZero,
    },
    /// WVA, saturation V1, with an HPA that follows it.
    WvaV1 {
        /// Thresholds.
        config: wva::SaturationConfig,
        /// Who acts.
        hpa: Hpa,
    },
    /// WVA, saturation V2, with an HPA that follows it.
    WvaV2 {
        /// Thresholds.
        config: wva::TokenConfig,
        /// The engine's limits, as its deployment gives them.
        limits: wva::EngineLimits,
        /// Who acts.
        hpa: Hpa,
    },
    /// WVA's queueing-model analyzer with an HPA that follows it. *Parked upstream*: the code is there,
    /// and its engine refuses to run it.
    WvaQueueing {
        /// What a replica should keep to on the mean; `None` to infer it from what is learned.
        targets: Option<wva::Targets>,
        /// How many times its idle length an iteration may take where targets are inferred
        /// (`sloMultiplier`).
        multiplier: f64,
        /// Requests at once.
        max_batch: u32,
        /// Who acts.
        hpa: Hpa,
    },
    /// A season learned from a signal's sum, looked ahead in; until one has been seen, the signal as it
    /// is.
    Seasonal {
        /// Least and greatest number of replicas.
        bounds: Bounds,
        /// What is measured.
        signal: Signal,
        /// What each replica should have of it.
        per_replica: f64,
        /// Length of a season in seconds: a day.
        season_s: f64,
        /// Time between two samples in seconds: what is measured meanwhile is averaged.
        sample_s: f64,
        /// How far ahead to look, in seconds: a start-up time.
        ahead_s: f64,
    },
    /// A line through the last samples of a signal's sum, looked ahead along.
    Trend {
        /// Least and greatest number of replicas.
        bounds: Bounds,
        /// What is measured.
        signal: Signal,
        /// What each replica should have of it.
        per_replica: f64,
        /// How many samples the line is through, one a sync.
        samples: usize,
        /// How far ahead to look, in seconds: a start-up time.
        ahead_s: f64,
    },
}

/// Time between two computations of WVA, in seconds (`GLOBAL_OPT_INTERVAL`).
const WVA_INTERVAL_S: f64 = 60.0;

/// What a policy remembers.
#[derive(Clone, Debug)]
enum State {
    Nothing,
    Hpa(History),
    Keda { history: History, memory: Memory, failures: u32, next_poll_s: f64 },
    Knative(Box<Kpa>),
    Wva { history: History, seen: wva::History, desired: i32, next_s: f64 },
    Queueing { history: History, model: Box<LatencyModel>, desired: i32, next_s: f64 },
    Trend(Vec<(f64, f64)>),
    Seasonal { seasonal: forecast::Seasonal, sum: f64, count: f64, next_s: f64 },
}

/// A policy at work.
#[derive(Clone, Debug)]
pub struct Controller {
    policy: Policy,
    floors: Vec<Floor>,
    calendar: Calendar,
    state: State,
    next_s: f64,
}

impl Controller {
    /// A controller that begins at time 0 beside so many ready replicas, never below the floors.
    #[must_use]
    pub fn new(policy: Policy, (floors, calendar): (Vec<Floor>, Calendar), ready: i32) -> Self {
        let state = match &policy {
            Policy::Fixed(_) => State::Nothing,
            Policy::Hpa { .. } => State::Hpa(History::default()),
            Policy::Keda { .. } => State::Keda {
                history: History::default(),
                memory: Memory { created_s: 0.0, last_active_s: None },
                failures: 0,
                next_poll_s: keda::POLLING_INTERVAL_S,
            },
            Policy::Knative { decider, .. } => State::Knative(Box::new(Kpa::new(decider, ready))),
            Policy::WvaV1 { .. } | Policy::WvaV2 { .. } => State::Wva {
                history: History::default(),
                seen: wva::History::default(),
                desired: 0,
                next_s: WVA_INTERVAL_S,
            },
            Policy::WvaQueueing { .. } => State::Queueing {
                history: History::default(),
                model: Box::default(),
                desired: 0,
                next_s: WVA_INTERVAL_S,
            },
            Policy::Trend { .. } => State::Trend(Vec::new()),
            &Policy::Seasonal { season_s, sample_s, .. } => {
                let samples = (season_s / sample_s).round() as usize;
                let smoothing = forecast::Smoothing::default();
                let seasonal = forecast::Seasonal::new(samples.min(100_000), smoothing);
                State::Seasonal { seasonal, sum: 0.0, count: 0.0, next_s: sample_s }
            }
        };
        let mut controller = Self { policy, floors, calendar, state, next_s: 0.0 };
        controller.next_s = controller.period_s();
        controller
    }

    const fn period_s(&self) -> f64 {
        match self.policy {
            Policy::Knative { .. } => knative::GRANULARITY_S,
            _ => hpa::SYNC_PERIOD_S,
        }
    }

    /// When it acts next, in seconds.
    #[must_use]
    pub const fn next_s(&self) -> f64 {
        self.next_s
    }

    /// Act at [`next_s`](Self::next_s): how many replicas there should be.
    pub fn sync(&mut self, observed: &Observed) -> i32 {
        let now_s = self.next_s;
        self.next_s = now_s + self.period_s();
        let desired = self.desired(observed, now_s);
        match floor_at(&self.floors, self.calendar, now_s) {
            Some(floor) => desired.max(floor),
            None => desired,
        }
    }

    fn desired(&mut self, observed: &Observed, now_s: f64) -> i32 {
        let current = observed.replicas;
        match (&self.policy, &mut self.state) {
            (Policy::Fixed(fixed), _) => fixed.desired(),
            (Policy::Hpa { hpa, signal, target, tolerance }, State::Hpa(history)) => {
                let proposal = pods_metric(observed, *signal, *target, tolerance, now_s);
                hpa::decide(hpa, history, current, &[proposal], now_s).replicas
            }
            (
                Policy::Keda { object, signal, aggregate, threshold, activation_threshold },
                State::Keda { history, memory, failures, next_poll_s },
            ) => {
                let reading = (!observed.is_blind).then(|| observed.query(*signal, *aggregate));
                let mut replicas = current;
                if now_s >= *next_poll_s {
                    *next_poll_s = now_s + keda::POLLING_INTERVAL_S;
                    let active =
                        reading.is_some_and(|value| keda::is_active(value, *activation_threshold));
                    let triggers = Triggers { is_active: active, is_error: observed.is_blind };
                    replicas = keda::scale(object, memory, current, triggers, now_s);
                }
                let served = keda::metric_with_fallback(
                    object.fallback.as_ref(),
                    failures,
                    reading,
                    (*threshold, current),
                );
                let proposal = served.ok_or(MetricError::Unavailable).and_then(|value| {
                    let (value, target) = (milli(value), milli(*threshold));
                    let tolerance = Tolerance::default();
                    let proposal = if *aggregate == Aggregate::Sum {
                        hpa::external_average(replicas, &[value], target, &tolerance)
                    } else {
                        let counts = (replicas, observed.ready_count().unsigned_abs());
                        hpa::external_value(counts, &[value], target, &tolerance)
                    };
                    proposal.map(|proposal| proposal.replicas)
                });
                let hpa = Hpa::new(keda::hpa_bounds(object));
                hpa::decide(&hpa, history, replicas, &[proposal], now_s).replicas
            }
            (Policy::Knative { decider, zero }, State::Knative(kpa)) => {
                kpa.sync(decider, zero, observed, now_s)
            }
            (Policy::WvaV1 { config, hpa }, State::Wva { history, desired, next_s, .. }) => {
                if now_s >= *next_s && !observed.is_blind {
                    *next_s = now_s + WVA_INTERVAL_S;
                    *desired = saturation_v1(observed, config, *desired);
                }
                follow(hpa, history, (current, *desired), now_s)
            }
            (
                Policy::WvaV2 { config, limits, hpa },
                State::Wva { history, seen, desired, next_s },
            ) => {
                if now_s >= *next_s && !observed.is_blind {
                    *next_s = now_s + WVA_INTERVAL_S;
                    *desired = saturation_v2(observed, config, limits, seen, hpa.bounds);
                }
                follow(hpa, history, (current, *desired), now_s)
            }
            (
                Policy::Trend { bounds, signal, per_replica, samples, ahead_s },
                State::Trend(seen),
            ) => {
                if !observed.is_blind {
                    seen.push((now_s, observed.total(*signal)));
                    let excess = seen.len().saturating_sub((*samples).max(1));
                    seen.drain(..excess);
                }
                let forecast = forecast::trend(seen, *ahead_s).unwrap_or(0.0);
                forecast::replicas_for(forecast, *per_replica).max(bounds.min).min(bounds.max)
            }
            (
                Policy::WvaQueueing { targets, multiplier, max_batch, hpa },
                State::Queueing { history, model, desired, next_s },
            ) => {
                if now_s >= *next_s && !observed.is_blind {
                    *next_s = now_s + WVA_INTERVAL_S;
                    let limits = (*max_batch, targets.as_ref(), *multiplier);
                    *desired = model.replicas(observed, limits).unwrap_or(*desired);
                }
                follow(hpa, history, (current, *desired), now_s)
            }
            (
                &Policy::Seasonal { bounds, signal, per_replica, sample_s, ahead_s, .. },
                State::Seasonal { seasonal, sum, count, next_s },
            ) => {
                let load = observed.total(signal);
                if !observed.is_blind {
                    *sum += load;
                    *count += 1.0;
                }
                if now_s >= *next_s && *count > 0.0 {
                    *next_s = now_s + sample_s;
                    seasonal.observe(*sum / *count);
                    (*sum, *count) = (0.0, 0.0);
                }
                // The greatest on the way to the sample that begins when a start would be over.
                let samples = (ahead_s / sample_s).ceil() as usize + 1;
                let ahead = (1..=samples.max(1)).filter_map(|at| seasonal.ahead(at));
                let expected = ahead.reduce(greater).unwrap_or(load);
                forecast::replicas_for(expected, per_replica).max(bounds.min).min(bounds.max)
            }
            // Made together.
            _ => current,
        }
    }
}

fn milli(value: f64) -> i64 {
    (value * 1000.0) as i64
}

fn pods_metric(
    observed: &Observed,
    signal: Signal,
    target: f64,
    tolerance: &Tolerance,
    now_s: f64,
) -> Result<i32, MetricError> {
    if observed.is_blind {
        return Err(MetricError::Unavailable);
    }
    let pod = |view: &PodView| Pod {
        phase: view.phase,
        is_deleted: view.is_deleted,
        condition: Some(Condition { is_ready: view.is_ready, since_s: view.since_s }),
        start_s: view.start_s,
        request_milli: None,
    };
    let pods: Vec<Pod> = observed.pods.iter().map(pod).collect();
    let sample = |view: &PodView| {
        let gauges = view.gauges?;
        let value_milli = milli(gauges.value(signal));
        Some(Sample { value_milli, at_s: gauges.at_s, window_s: 0.0 })
    };
    let samples: Vec<Option<Sample>> = observed.pods.iter().map(sample).collect();
    let metrics = PodMetrics { of_pods: &samples, of_strangers_milli: &[] };
    let against = (observed.replicas, milli(target));
    let initialization = Initialization::default();
    let of = (pods.as_slice(), Resource::Other);
    hpa::pods_average(of, &metrics, against, tolerance, &initialization, now_s)
        .map(|proposal| proposal.replicas)
}
