//! Options of `headroom fleet`, and the fleet that they mean.

use std::num::NonZeroU32;

use clap::{Args, ValueEnum};
use sim_core::{
    Setup,
    fleet::{
        autoscale::{
            fixed::Fixed,
            hpa::{Bounds, Hpa, Tolerance},
            keda::ScaledObject,
            knative::{DeciderSpec, ScaleToZero, TARGET_UTILIZATION},
            schedule::{Calendar, Cron, Floor},
            wva,
        },
        live::{Fault, LiveFleet},
        nodes::NodePool,
        outcome::LiveRun,
        policy::{Aggregate, Policy, Signal},
        router::Router,
        start_up::{StageTime, StartUp},
    },
};

use crate::{
    args::{ScenarioArgs, TraceArgs},
    failure::Failure,
    output,
    typed::requests,
};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom fleet rate=40 --policy hpa --target 24 --max 8
  headroom fleet rate=40 --policy keda --min 0 --cold-start qwen3-32b-h100-cold --provision 210
  headroom fleet rate=40 'profile=spike(300s,600s,3)' --start 240 --csv > fleet.csv
  headroom fleet rate=40 --floor '6 from 45 7 * * 1-5 to 0 19 * * 1-5' --fault node@1800
  headroom fleet --trace day.csv --policy wva-v2 --json")]
pub(crate) struct FleetArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    /// How many requests to send, in place of sim.requests.
    #[arg(long, value_name = "N", value_parser = requests, allow_hyphen_values = true, conflicts_with = "trace")]
    pub(crate) requests: Option<NonZeroU32>,
    /// Who decides how many replicas there are.
    #[arg(long, value_enum, default_value = "hpa")]
    policy: PolicyName,
    /// What hpa, keda and trend look at.
    #[arg(long, value_enum, default_value = "in-flight")]
    signal: SignalName,
    /// How keda puts the replicas together: a sum of which each has its share of --target, or a mean
    /// or maximum held to it.
    #[arg(long, value_enum, default_value = "sum")]
    aggregate: AggregateName,
    /// What each replica should have of it (knative: its requests at once) [default: three quarters
    /// of the engine’s requests at once].
    #[arg(long, value_name = "X", value_parser = some_amount, allow_hyphen_values = true)]
    target: Option<f64>,
    /// Above which result keda is active.
    #[arg(long, value_name = "X", value_parser = amount, allow_hyphen_values = true, default_value = "0")]
    activation: f64,
    /// Fewest replicas.
    #[arg(
        long,
        value_name = "N",
        value_parser = replicas,
        allow_hyphen_values = true,
        default_value = "1"
    )]
    min: u16,
    /// Most replicas.
    #[arg(
        long,
        value_name = "N",
        value_parser = replicas,
        allow_hyphen_values = true,
        default_value = "10"
    )]
    max: u16,
    /// Replicas that are ready at the beginning [default: --min].
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true)]
    initial: Option<u16>,
    /// Replicas for certain hours, from one cron expression to another; may be repeated.
    #[arg(long, value_name = "N from CRON to CRON", allow_hyphen_values = true)]
    floor: Vec<String>,
    /// Day of the week and time of day at the beginning, for --floor.
    #[arg(long, value_name = "DAY HH:MM", allow_hyphen_values = true, default_value = "mon 00:00")]
    begin: String,
    /// Time a replica takes to start, seconds, whatever is cached [default: 60].
    #[arg(long, value_name = "S", value_parser = amount, allow_hyphen_values = true, conflicts_with = "cold_start")]
    start: Option<f64>,
    /// A measured start-up; --cold-start list names them.
    #[arg(long, value_name = "NAME")]
    pub(crate) cold_start: Option<String>,
    /// Coefficient of variation of each stage of a start.
    #[arg(long, value_name = "X", value_parser = variation, allow_hyphen_values = true, default_value = "0")]
    start_cv: f64,
    /// Time a new node takes, seconds.
    #[arg(long, value_name = "S", value_parser = amount, allow_hyphen_values = true, default_value = "0")]
    provision: f64,
    /// Nodes, of one replica each, at the beginning [default: --max].
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true)]
    nodes: Option<u16>,
    /// Most nodes that can be had [default: --max].
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true)]
    quota: Option<u16>,
    /// Nodes kept free for the next replica.
    #[arg(
        long,
        value_name = "N",
        value_parser = replicas,
        allow_hyphen_values = true,
        default_value = "0"
    )]
    warm: u16,
    /// Who gets which request.
    #[arg(long, value_enum, default_value = "least-in-flight")]
    router: RouterName,
    /// Time between two scrapes, seconds.
    #[arg(long, value_name = "S", value_parser = some_seconds, allow_hyphen_values = true, default_value = "15")]
    scrape: f64,
    /// Let replicas that start count as idle in what is scraped.
    #[arg(long)]
    count_warming: bool,
    /// Something that goes wrong at a time: replica@S, node@S or metrics@S (for five minutes); may be
    /// repeated.
    #[arg(long, value_name = "WHAT@S", allow_hyphen_values = true)]
    fault: Vec<String>,
    /// Width of the windows of the results, seconds.
    #[arg(long, value_name = "S", value_parser = some_seconds, allow_hyphen_values = true, default_value = "60")]
    pub(crate) window: f64,
    /// Print JSON (SI units), with the windows.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print one CSV row per window (SI units).
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PolicyName {
    /// Nobody: --min replicas.
    Fixed,
    /// Kubernetes’ HPA v2 on the mean over the replicas.
    Hpa,
    /// KEDA on the sum, from and to zero.
    Keda,
    /// Knative’s pod autoscaler on requests at once, from and to zero.
    Knative,
    /// llm-d’s variant autoscaler by saturation, version 1, followed by an HPA.
    WvaV1,
    /// The same, version 2.
    WvaV2,
    /// A line through the last five minutes, looked ahead along by a start-up time.
    Trend,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SignalName {
    /// Requests running and waiting.
    InFlight,
    /// Requests waiting.
    Queue,
    /// Requests running.
    Running,
    /// KV cache in use, per cent.
    KvUsage,
    /// Requests per second.
    Rate,
    /// Tokens generated per second.
    TokenRate,
    /// GPU busy, per cent.
    GpuBusy,
    /// GPU memory, per cent.
    GpuMemory,
    /// Processor, per cent.
    Cpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AggregateName {
    /// Their sum, and what waits before them.
    Sum,
    /// Their mean.
    Mean,
    /// The greatest of them.
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RouterName {
    /// One line for all replicas.
    SharedQueue,
    /// In turn.
    RoundRobin,
    /// By chance.
    Random,
    /// To the one with the fewest requests.
    LeastInFlight,
    /// To the better of two by chance.
    PowerOfTwo,
    /// To the one with the fewest KV tokens.
    LeastKv,
}

/// How many replicas or nodes.
fn replicas(text: &str) -> Result<u16, String> {
    text.trim()
        .parse()
        .map_err(|_| "it must be a whole number from 0 to 65,535, for example 8".to_owned())
}

/// A span of time that is not nothing.
fn some_seconds(text: &str) -> Result<f64, String> {
    amount(text).ok().filter(|value| *value >= LEAST_SPAN_S).ok_or_else(|| {
        "it must be a time of 0.1 to 1,000,000,000 seconds, for example 15".to_owned()
    })
}

/// Shorter windows and shorter times between scrapes would be more events than requests.
const LEAST_SPAN_S: f64 = 0.1;

/// A coefficient of variation.
fn variation(text: &str) -> Result<f64, String> {
    amount(text)
        .ok()
        .filter(|value| *value <= 10.0)
        .ok_or_else(|| "it must be a number from 0 to 10, for example 0.3".to_owned())
}

/// A number above 0.
fn some_amount(text: &str) -> Result<f64, String> {
    amount(text)
        .ok()
        .filter(|value| *value >= 1e-3)
        .ok_or_else(|| "it must be a number from 0.001 to 1,000,000,000, for example 30".to_owned())
}

/// A number of 0 or more.
fn amount(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=1e9).contains(&value) => Ok(value),
        _ => Err("it must be a number from 0 to 1,000,000,000, for example 30".to_owned()),
    }
}

impl FleetArgs {
    /// The fleet that is meant, over the traffic and the engine of `setup`.
    pub(crate) fn fleet(&self, setup: Setup) -> Result<LiveFleet, Failure> {
        if self.max == 0 || self.max < self.min {
            return Err(Failure::input(format!(
                "--max {}: it must be 1 or more, and at least --min {}. Give for example --max {}.",
                self.max,
                self.min,
                self.min.max(10)
            )));
        }
        let is_empty = self.min == 0 && self.initial.unwrap_or(0) == 0 && self.floor.is_empty();
        if self.policy == PolicyName::Fixed && is_empty {
            return Err(Failure::input(
                "--min 0: with --policy fixed there would never be a replica. Give --min 1 or more, \
                 for example --min 4.",
            ));
        }
        let start_up = self.start_up()?;
        let initial = self.initial.unwrap_or(self.min);
        let nodes = self.nodes.unwrap_or(self.max);
        if initial > nodes {
            return Err(Failure::input(format!(
                "--initial {initial}: there are --nodes {nodes} at the beginning, of one replica each. \
                 Give --nodes {initial} or more, or a smaller --initial."
            )));
        }
        Ok(LiveFleet {
            policy: self.policy(&setup, &start_up),
            router: self.router(),
            floors: self.floor.iter().map(|text| floor(text)).collect::<Result<_, _>>()?,
            calendar: calendar(&self.begin)?,
            start_up,
            nodes: NodePool {
                initial_nodes: nodes.into(),
                max_nodes: self.quota.unwrap_or(self.max).max(nodes).into(),
                warm_nodes: self.warm.into(),
                provisioning: self.stage(self.provision),
                ..NodePool::default()
            },
            initial_replicas: initial.into(),
            scrape_s: self.scrape,
            counts_warming: self.count_warming,
            drain_grace_s: 30.0,
            window_s: self.window,
            patience_s: 3600.0,
            faults: self.faults()?,
            setup,
        })
    }

    const fn stage(&self, mean_s: f64) -> StageTime {
        if self.start_cv > 0.0 {
            StageTime::Lognormal { mean_s, cv: self.start_cv }
        } else {
            StageTime::Fixed(mean_s)
        }
    }

    fn start_up(&self) -> Result<StartUp, Failure> {
        let measured = match &self.cold_start {
            None => StartUp::fixed(self.start.unwrap_or(60.0)),
            Some(slug) => match catalog::cold_start(slug) {
                Some(start) => start.start_up,
                None => {
                    return Err(Failure::input(format!(
                        "--cold-start {slug}: there is no such start-up. --cold-start list names \
                         them; --start gives a time of your own."
                    )));
                }
            },
        };
        let vary = |time: StageTime| self.stage(time.mean_s());
        Ok(StartUp {
            image_pull: vary(measured.image_pull),
            image_pull_cached: vary(measured.image_pull_cached),
            weights: vary(measured.weights),
            engine_start: vary(measured.engine_start),
            compile: vary(measured.compile),
            compile_cached: vary(measured.compile_cached),
            readiness_period_s: measured.readiness_period_s,
        })
    }

    const fn router(&self) -> Router {
        match self.router {
            RouterName::SharedQueue => Router::SharedQueue,
            RouterName::RoundRobin => Router::RoundRobin,
            RouterName::Random => Router::Random,
            RouterName::LeastInFlight => Router::LeastInFlight,
            RouterName::PowerOfTwo => Router::PowerOfTwo,
            RouterName::LeastKv => Router::LeastKv,
        }
    }

    fn policy(&self, setup: &Setup, start_up: &StartUp) -> Policy {
        let signal = match self.signal {
            SignalName::InFlight => Signal::InFlight,
            SignalName::Queue => Signal::Queue,
            SignalName::Running => Signal::Running,
            SignalName::KvUsage => Signal::KvUsage,
            SignalName::Rate => Signal::RequestRate,
            SignalName::TokenRate => Signal::TokenRate,
            SignalName::GpuBusy => Signal::GpuBusy,
            SignalName::GpuMemory => Signal::GpuMemory,
            SignalName::Cpu => Signal::Cpu,
        };
        let at_once = setup.engine.max_num_seqs;
        let target = self.target.unwrap_or(at_once as f64 * 0.75);
        let (min, max) = (i32::from(self.min), i32::from(self.max));
        // An HPA cannot come back from zero by a metric of its pods.
        let hpa = Hpa::new(Bounds { min: min.max(1), max });
        match self.policy {
            PolicyName::Fixed => Policy::Fixed(Fixed { replicas: min }),
            PolicyName::Hpa => Policy::Hpa { hpa, signal, target, tolerance: Tolerance::default() },
            PolicyName::Keda => Policy::Keda {
                object: ScaledObject {
                    min_replicas: min,
                    max_replicas: max,
                    ..ScaledObject::default()
                },
                signal,
                aggregate: match self.aggregate {
                    AggregateName::Sum => Aggregate::Sum,
                    AggregateName::Mean => Aggregate::Mean,
                    AggregateName::Max => Aggregate::Max,
                },
                threshold: target,
                activation_threshold: self.activation,
            },
            PolicyName::Knative => Policy::Knative {
                decider: DeciderSpec {
                    target: target * TARGET_UTILIZATION,
                    total: target,
                    ..DeciderSpec::default()
                },
                zero: ScaleToZero { min_scale: min, max_scale: max, ..ScaleToZero::default() },
            },
            PolicyName::WvaV1 => Policy::WvaV1 { config: wva::SaturationConfig::default(), hpa },
            PolicyName::WvaV2 => Policy::WvaV2 {
                config: wva::TokenConfig::default(),
                limits: wva::EngineLimits {
                    max_batched_tokens: setup.engine.max_num_batched_tokens.cast_signed(),
                    max_num_seqs: at_once.cast_signed(),
                },
                hpa,
            },
            PolicyName::Trend => Policy::Trend {
                bounds: Bounds { min, max },
                signal,
                per_replica: target,
                samples: 20,
                ahead_s: start_up.mean_s(false, false),
            },
        }
    }

    /// Tell of faults that changed nothing: those after the end, and those with nothing to strike.
    pub(crate) fn tell_idle_faults(&self, fleet: &LiveFleet, run: &LiveRun) {
        for (index, (at_s, fault)) in fleet.faults.iter().enumerate() {
            let fault = [fault_word(*fault), "@", &quantity::plain(*at_s, 0)].concat();
            match run.faults_struck.get(index) {
                Some(true) => {}
                Some(false) => output::note(&format!(
                    "--fault {fault} has no effect: no replica was ready then. Give a time at which \
                     one is, or more replicas with --min."
                )),
                None => output::note(&format!(
                    "--fault {fault} has no effect: the last request was done after {}. Give an \
                     earlier time, or more --requests.",
                    quantity::duration(run.end_s)
                )),
            }
        }
    }

    fn faults(&self) -> Result<Vec<(f64, Fault)>, Failure> {
        let mut faults = Vec::new();
        for text in &self.fault {
            let error = || {
                Failure::input(format!(
                    "--fault {text}: it must be replica@S, node@S or metrics@S with S in seconds, \
                     for example node@1800."
                ))
            };
            let (what, at) = text.split_once('@').ok_or_else(error)?;
            let at_s = amount(at).map_err(|_| error())?;
            let fault = match what {
                "replica" => Fault::ReplicaLoss,
                "node" => Fault::NodeLoss,
                "metrics" => Fault::MetricOutage(300.0),
                _ => return Err(error()),
            };
            faults.push((at_s, fault));
        }
        faults.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(faults)
    }
}

/// What an option calls it.
const fn fault_word(fault: Fault) -> &'static str {
    match fault {
        Fault::ReplicaLoss => "replica",
        Fault::NodeLoss => "node",
        Fault::MetricOutage(_) => "metrics",
    }
}

/// `6 from 45 7 * * 1-5 to 0 19 * * 1-5`.
fn floor(text: &str) -> Result<Floor, Failure> {
    let error = |why: &str| {
        Failure::input(format!(
            "--floor {text}: {why}. Give it as 'N from CRON to CRON', for example \
             '6 from 45 7 * * 1-5 to 0 19 * * 1-5'."
        ))
    };
    let (replicas, rest) = text.split_once(" from ").ok_or_else(|| error("“from” is missing"))?;
    let (start, end) = rest.split_once(" to ").ok_or_else(|| error("“to” is missing"))?;
    let replicas: u16 =
        replicas.trim().parse().map_err(|_| error("the number of replicas is not whole"))?;
    let cron = |text: &str| Cron::parse(text).map_err(|why| error(&why.to_string()));
    Ok(Floor { start: cron(start)?, end: cron(end)?, replicas: replicas.into() })
}

/// `mon 07:30`.
fn calendar(text: &str) -> Result<Calendar, Failure> {
    let error = || {
        Failure::input(format!(
            "--begin {text}: it must be a day and a time, for example 'mon 07:30'."
        ))
    };
    let (day, time) = text.trim().split_once(' ').ok_or_else(error)?;
    let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let weekday = days.iter().position(|name| *name == day).ok_or_else(error)?;
    let (hour, minute) = time.trim().split_once(':').ok_or_else(error)?;
    let number = |text: &str, most: u32| {
        text.parse().ok().filter(|value: &u32| *value <= most).ok_or_else(error)
    };
    let minute_of_day = number(hour, 23)? * 60 + number(minute, 59)?;
    Ok(Calendar { weekday: weekday as u32, minute_of_day })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_and_beginnings_are_read() {
        let floor = floor("6 from 45 7 * * 1-5 to 0 19 * * 1-5").unwrap();
        assert_eq!(floor.replicas, 6);
        assert_eq!(calendar("tue 07:30").unwrap(), Calendar { weekday: 2, minute_of_day: 450 });
        for bad in ["monday 07:30", "mon 24:00", "mon", "mon 7"] {
            assert!(calendar(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bad_floors_say_why() {
        for (bad, why) in [
            ("6", "“from” is missing"),
            ("x from 0 8 * * * to 0 9 * * *", "not whole"),
            ("6 from 0 8 1 * * to 0 9 * * *", "day of month"),
        ] {
            let Err(Failure::Input(message)) = floor(bad) else { panic!("{bad}") };
            assert!(message.contains(why), "{message}");
        }
    }
}
