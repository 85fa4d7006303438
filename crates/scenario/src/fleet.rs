//! A fleet over time, as a person says it: who decides how many replicas there are, how long they take
//! to start, who gets which request, and what goes wrong.

mod traffic;

use serde::{Deserialize, Serialize};
use sim_core::{
    RequestSource, Setup,
    fleet::{
        autoscale::{
            fixed::Fixed,
            hpa::{Bounds, Hpa, Tolerance},
            keda::ScaledObject,
            knative::{DeciderSpec, ScaleToZero, TARGET_UTILIZATION},
            schedule::Calendar,
            wva,
        },
        live::{Fault, LiveFleet, Reliability},
        nodes::NodePool,
        policy::{Aggregate, Policy, Signal},
        router::Router,
        start_up::StartUp,
    },
};

use traffic::expected_requests;

use crate::{field::word_at, schema::Scenario};

/// Who decides how many replicas there are, as links write it.
pub static FLEET_POLICIES: &[&str] =
    &["hpa", "fixed", "keda", "knative", "wva-v1", "wva-v2", "trend", "wva-queueing", "seasonal"];

/// What an autoscaler looks at, as links write it.
pub static FLEET_SIGNALS: &[&str] = &[
    "in-flight",
    "queue",
    "running",
    "kv-usage",
    "rate",
    "token-rate",
    "gpu-busy",
    "gpu-memory",
    "cpu",
    "capacity-queue",
];

const SIGNALS: [Signal; 10] = [
    Signal::InFlight,
    Signal::Queue,
    Signal::Running,
    Signal::KvUsage,
    Signal::RequestRate,
    Signal::TokenRate,
    Signal::GpuBusy,
    Signal::GpuMemory,
    Signal::Cpu,
    Signal::CapacityQueue,
];

/// Who gets which request, as links write it.
pub static FLEET_ROUTERS: &[&str] = &[
    "least-in-flight",
    "shared-queue",
    "round-robin",
    "random",
    "power-of-two",
    "least-kv",
    "prefix-affinity",
];

const ROUTERS: [Router; 7] = [
    Router::LeastInFlight,
    Router::SharedQueue,
    Router::RoundRobin,
    Router::Random,
    Router::PowerOfTwo,
    Router::LeastKv,
    Router::PrefixAffinity,
];

/// What goes wrong, as links write it.
pub static FLEET_FAULTS: &[&str] = &["none", "replica", "node", "metrics"];

/// How long metrics are away where they fail, seconds.
pub const METRIC_OUTAGE_S: f64 = 300.0;
/// Time between two scrapes of the replicas, seconds: what Prometheus is mostly set to.
const SCRAPE_S: f64 = 15.0;
/// What a draining replica gets to finish, seconds: Kubernetes' grace period.
const DRAIN_GRACE_S: f64 = 30.0;
/// How long a run goes on after the last arrival for those that are not served, seconds.
const PATIENCE_S: f64 = 3600.0;
/// A season of which a forecast learns, and the time between its samples, seconds.
const SEASON_S: f64 = 86_400.0;
const SEASON_SAMPLE_S: f64 = 300.0;
/// What the queueing model of WVA makes of an idle latency where no target is set.
const QUEUEING_MULTIPLIER: f64 = 3.0;
/// Samples of the trend: five minutes of syncs.
const TREND_SAMPLES: usize = 20;
/// Part of the engine's places that an autoscaler aims at where nobody says.
const USUAL_USE: f64 = 0.75;
/// Widths of windows that read well, seconds, and how many windows are enough.
const WINDOWS_S: [f64; 13] =
    [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0];
const MOST_WINDOWS: f64 = 150.0;
/// Most requests of a run.
const MOST_REQUESTS: f64 = 20e6;

/// A fleet over time. Words are places in their lists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSpec {
    /// Who decides how many replicas there are, a place in [`FLEET_POLICIES`].
    pub policy: u8,
    /// What is looked at, a place in [`FLEET_SIGNALS`].
    pub signal: u8,
    /// What each replica should have of it; three quarters of the engine's places if absent.
    pub target: Option<f64>,
    /// Fewest replicas.
    pub min: u64,
    /// Most replicas.
    pub max: u64,
    /// Replicas that are ready at the beginning; the fewest if absent.
    pub initial: Option<u64>,
    /// How long the highest of the last proposals holds against fewer replicas, seconds.
    pub scale_down_window_s: f64,
    /// From the decision for a replica to its being ready, seconds.
    pub start_s: f64,
    /// Who gets which request, a place in [`FLEET_ROUTERS`].
    pub router: u8,
    /// What goes wrong, a place in [`FLEET_FAULTS`].
    pub fault: u8,
    /// When it goes wrong, seconds.
    pub fault_at_s: f64,
    /// How long traffic lasts, seconds.
    pub duration_s: f64,
    /// Width of the windows of the results, seconds; by the length of the run if absent.
    pub window_s: Option<f64>,
}

/// A fleet that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FleetError {
    /// No replica at all, or fewer at most than at least.
    #[error("fleet.max {max}: it must be 1 or more, and at least fleet.min {min}.")]
    Bounds {
        /// Fewest.
        min: u64,
        /// Most.
        max: u64,
    },
    /// More at the beginning than at most.
    #[error(
        "fleet.initial {initial}: there are no more than fleet.max {max} replicas. Begin with fewer, or allow more."
    )]
    Initial {
        /// At the beginning.
        initial: u64,
        /// Most.
        max: u64,
    },
    /// More requests than a run can have.
    #[error(
        "fleet.duration: {requests} requests would come; a run has at most 20,000,000. Make it shorter, or lower the rate."
    )]
    Requests {
        /// How many.
        requests: String,
    },
    /// A setting that a fleet over time does not have.
    #[error(
        "{setting}: a fleet over time has no queue limits, deadlines, clients that react, closed loops, sessions or prefill and decode pools; leave that out."
    )]
    Setting {
        /// As one would type it.
        setting: String,
    },
}

impl FleetSpec {
    /// The defaults of link version 1. Never to be changed.
    pub(crate) const V1: Self = Self {
        policy: 0,
        signal: 0,
        target: None,
        min: 1,
        max: 10,
        initial: None,
        scale_down_window_s: 300.0,
        start_s: 60.0,
        router: 0,
        fault: 0,
        fault_at_s: 600.0,
        duration_s: 1500.0,
        window_s: None,
    };

    /// The word for who decides.
    #[must_use]
    pub fn policy_word(&self) -> &'static str {
        word_at(FLEET_POLICIES, self.policy)
    }

    /// The word for what goes wrong.
    #[must_use]
    pub fn fault_word(&self) -> &'static str {
        word_at(FLEET_FAULTS, self.fault)
    }

    /// Replicas that are ready at the beginning.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.initial.unwrap_or(self.min)
    }

    /// What each replica should have of the signal, for an engine with so many places.
    #[must_use]
    pub fn target_or_usual(&self, places: u64) -> f64 {
        self.target.unwrap_or(places as f64 * USUAL_USE)
    }

    /// Width of the windows of the results, seconds.
    #[must_use]
    pub fn window_or_usual_s(&self) -> f64 {
        let enough = |width: &&f64| self.duration_s <= **width * MOST_WINDOWS;
        let usual = WINDOWS_S.iter().find(enough).copied().unwrap_or(WINDOWS_S[12]);
        self.window_s.unwrap_or(usual)
    }

    /// How many requests come in [`duration_s`](Self::duration_s), on average.
    ///
    /// # Errors
    /// More than a run can have.
    pub fn requests(&self, source: &RequestSource) -> Result<u64, FleetError> {
        let expected = expected_requests(source, self.duration_s);
        if expected > MOST_REQUESTS {
            let requests = quantity::whole(expected);
            return Err(FleetError::Requests { requests });
        }
        Ok((expected as u64).max(1))
    }

    /// The fleet that is meant, over the traffic and the engine of `setup`, whose replicas have so many
    /// GPUs and start up like this.
    ///
    /// # Errors
    /// Numbers of replicas that contradict one another.
    pub fn fleet(
        &self,
        setup: Setup,
        gpus_per_replica: u64,
        start_up: StartUp,
    ) -> Result<LiveFleet, FleetError> {
        let Self { min, max, .. } = *self;
        if max == 0 || max < min {
            return Err(FleetError::Bounds { min, max });
        }
        let initial = self.first();
        if initial > max {
            return Err(FleetError::Initial { initial, max });
        }
        let gpus = small(gpus_per_replica).max(1);
        Ok(LiveFleet {
            policy: self.policy(&setup, &start_up),
            router: ROUTERS.get(usize::from(self.router)).copied().unwrap_or(ROUTERS[0]),
            floors: Vec::new(),
            calendar: Calendar { weekday: 1, minute_of_day: 0 },
            start_up,
            nodes: NodePool {
                gpus_per_node: gpus,
                gpus_per_replica: gpus,
                initial_nodes: small(max),
                max_nodes: small(max),
                ..NodePool::default()
            },
            initial_replicas: small(initial),
            scrape_s: SCRAPE_S,
            counts_warming: false,
            cached_prefixes: 0,
            deferral: None,
            keeps_samples: false,
            drain_grace_s: DRAIN_GRACE_S,
            window_s: self.window_or_usual_s(),
            patience_s: PATIENCE_S,
            faults: self.faults(),
            reliability: Reliability::default(),
            setup,
        })
    }

    fn policy(&self, setup: &Setup, start_up: &StartUp) -> Policy {
        let signal = SIGNALS.get(usize::from(self.signal)).copied().unwrap_or(SIGNALS[0]);
        let places = setup.engine.max_num_seqs;
        let target = self.target_or_usual(places);
        let (min, max) = (small(self.min).cast_signed(), small(self.max).cast_signed());
        // An HPA cannot come back from zero by a metric of its pods.
        let mut hpa = Hpa::new(Bounds { min: min.max(1), max });
        if let Some(behaviour) = &mut hpa.behaviour {
            behaviour.down.stabilization_s = self.scale_down_window_s;
        }
        match self.policy_word() {
            "fixed" => Policy::Fixed(Fixed { replicas: min }),
            "keda" => Policy::Keda {
                object: ScaledObject {
                    min_replicas: min,
                    max_replicas: max,
                    ..ScaledObject::default()
                },
                signal,
                aggregate: Aggregate::Sum,
                threshold: target,
                activation_threshold: 0.0,
            },
            "knative" => Policy::Knative {
                decider: DeciderSpec {
                    target: target * TARGET_UTILIZATION,
                    total: target,
                    ..DeciderSpec::default()
                },
                zero: ScaleToZero { min_scale: min, max_scale: max, ..ScaleToZero::default() },
            },
            "wva-v1" => Policy::WvaV1 { config: wva::SaturationConfig::default(), hpa },
            "wva-v2" => Policy::WvaV2 {
                config: wva::TokenConfig::default(),
                limits: wva::EngineLimits {
                    max_batched_tokens: setup.engine.max_num_batched_tokens.cast_signed(),
                    max_num_seqs: places.cast_signed(),
                },
                hpa,
            },
            "wva-queueing" => Policy::WvaQueueing {
                targets: Some(wva::Targets {
                    ttft_ms: (1000.0 * setup.slo.ttft_s) as f32,
                    itl_ms: (1000.0 * setup.slo.tpot_s) as f32,
                    tokens_per_s: 0.0,
                }),
                multiplier: QUEUEING_MULTIPLIER,
                max_batch: small(places),
                hpa,
            },
            "seasonal" => Policy::Seasonal {
                bounds: Bounds { min, max },
                signal,
                per_replica: target,
                season_s: SEASON_S,
                sample_s: SEASON_SAMPLE_S,
                ahead_s: start_up.mean_s(false, false),
            },
            "trend" => Policy::Trend {
                bounds: Bounds { min, max },
                signal,
                per_replica: target,
                samples: TREND_SAMPLES,
                ahead_s: start_up.mean_s(false, false),
            },
            _ => Policy::Hpa { hpa, signal, target, tolerance: Tolerance::default() },
        }
    }

    fn faults(&self) -> Vec<(f64, Fault)> {
        let fault = match self.fault_word() {
            "replica" => Fault::ReplicaLoss,
            "node" => Fault::NodeLoss,
            "metrics" => Fault::MetricOutage(METRIC_OUTAGE_S),
            _ => return Vec::new(),
        };
        vec![(self.fault_at_s, fault)]
    }
}

/// A number of replicas or GPUs; beyond the range there is none.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(i32::MAX.cast_unsigned()).min(i32::MAX.cast_unsigned())
}

impl Scenario {
    /// That a setting is beyond what a fleet over time has, if one is.
    ///
    /// # Errors
    /// The first such setting.
    pub fn check_fleet(&self) -> Result<(), FleetError> {
        let preset = Self::preset();
        let reacts = |key: &str| {
            ["overload.", "clients.", "disagg."].iter().any(|group| key.starts_with(group))
                || key == "turns"
        };
        let typed = |key: &str| {
            let now = self.get(key)?;
            (preset.get(key).as_ref() != Some(&now)).then(|| [key, "=", &now].concat())
        };
        let of_class = || {
            let reacts = self
                .classes
                .iter()
                .find(|class| class.patience_s.is_some() || class.turns.is_some())?;
            Some(["class.", &reacts.name].concat())
        };
        let keys = crate::FIELDS.iter().map(|field| field.key).filter(|key| reacts(key));
        let closed = || self.closed.is_some().then(|| typed("arrivals")).flatten();
        match keys.into_iter().find_map(typed).or_else(closed).or_else(of_class) {
            Some(setting) => Err(FleetError::Setting { setting }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(settings: &[(&str, &str)]) -> Scenario {
        let mut scenario = Scenario::preset();
        for (key, value) in settings {
            let said = scenario.set(key, value).expect(key);
            assert!(said.is_empty(), "{said:?}");
        }
        scenario
    }

    fn requests(settings: &[(&str, &str)]) -> u64 {
        let scenario = scenario(settings);
        let source = scenario.resolve().expect("numbers").setup.workload.source;
        scenario.fleet.requests(&source).expect("not too many")
    }

    #[test]
    fn requests_are_the_area_under_the_rate() {
        assert_eq!(requests(&[]), 150_000);
        assert_eq!(requests(&[("profile", "step(500s,2)")]), 250_000);
        assert_eq!(requests(&[("profile", "spike(300s,600s,3)")]), 270_000);
        // From 1 to 3 in ten minutes, then 3: 1,200 s and 2,700 s of the rate.
        assert_eq!(requests(&[("profile", "ramp(0s,600s,3)")]), 390_000);
        // A cosine between 0.2 and 1 has a mean of 0.6, its hours joined by straight lines, too.
        let day = [("profile", "daily(0.2)"), ("fleet.duration", "48h"), ("rate", "10")];
        assert!((1_036_799..=1_036_800).contains(&requests(&day)));
    }

    #[test]
    fn windows_are_few_enough_to_see() {
        let window = |duration| scenario(&[("fleet.duration", duration)]).fleet.window_or_usual_s();
        assert_eq!([window("25min"), window("1h"), window("24h")], [10.0, 30.0, 600.0]);
        assert_eq!(scenario(&[("fleet.window", "60s")]).fleet.window_or_usual_s(), 60.0);
    }

    #[test]
    fn what_contradicts_itself_is_named() {
        let refusal = |settings: &[(&str, &str)]| {
            let scenario = scenario(settings);
            let setup = scenario.resolve().expect("numbers").setup;
            let source = setup.workload.source.clone();
            let fleet = scenario.fleet.fleet(setup, 1, StartUp::fixed(60.0));
            let told = scenario.check_fleet().and(scenario.fleet.requests(&source).map(|_| ()));
            told.and(fleet.map(|_| ())).expect_err("a refusal").to_string()
        };
        for (settings, why) in [
            (&[("fleet.max", "2"), ("fleet.min", "3")][..], "fleet.max 2"),
            (&[("fleet.initial", "12")], "fleet.initial 12"),
            (&[("fleet.duration", "168h")], "60,480,000 requests"),
            (&[("overload.queue_limit", "5")], "overload.queue_limit=5"),
            (&[("turns", "5")], "turns=5"),
            (&[("arrivals", "closed(20,10s)")], "arrivals=closed(20,10"),
        ] {
            let message = refusal(settings);
            assert!(message.contains(why) && message.ends_with('.'), "{message}");
        }
    }

    #[test]
    fn words_stand_for_what_they_say() {
        assert_eq!((SIGNALS.len(), ROUTERS.len()), (FLEET_SIGNALS.len(), FLEET_ROUTERS.len()));
        let scenario = scenario(&[
            ("fleet.policy", "keda"),
            ("fleet.signal", "kv-usage"),
            ("fleet.router", "power-of-two"),
            ("fleet.fault", "metrics"),
            ("fleet.target", "60"),
            ("fleet.min", "0"),
            ("fleet.max", "8"),
            ("fleet.initial", "2"),
        ]);
        let setup = scenario.resolve().expect("numbers").setup;
        let fleet = scenario.fleet.fleet(setup, 2, StartUp::fixed(1.0)).expect("a fleet");
        let Policy::Keda { signal: Signal::KvUsage, threshold: 60.0, object, .. } = &fleet.policy
        else {
            panic!("{:?}", fleet.policy)
        };
        assert_eq!((object.min_replicas, object.max_replicas), (0, 8));
        assert_eq!((fleet.router, fleet.initial_replicas), (Router::PowerOfTwo, 2));
        assert_eq!(fleet.faults, [(600.0, Fault::MetricOutage(300.0))]);
        assert_eq!((fleet.nodes.gpus_per_replica, fleet.nodes.initial_nodes), (2, 8));
    }

    #[test]
    fn the_scale_down_window_reaches_the_hpa() {
        let scenario = scenario(&[("fleet.scale_down_window", "30s")]);
        let setup = scenario.resolve().expect("numbers").setup;
        let fleet = scenario.fleet.fleet(setup, 1, StartUp::fixed(1.0)).expect("a fleet");
        let Policy::Hpa { hpa, .. } = fleet.policy else { panic!("{:?}", fleet.policy) };
        assert_eq!(hpa.behaviour.expect("a behaviour").down.stabilization_s, 30.0);
    }
}
