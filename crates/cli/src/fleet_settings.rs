//! Options of `headroom fleet`, and the fleet that they mean.

use std::num::NonZeroU32;

use clap::{Args, ValueEnum};
use scenario::{FLEET_POLICIES, FLEET_ROUTERS, FLEET_SIGNALS, FleetError, FleetSpec};
use sim_core::{
    Setup,
    fleet::{
        autoscale::schedule::{Calendar, Cron, Floor},
        live::{Fault, LiveFleet},
        nodes::NodePool,
        policy::{Aggregate, Policy},
        start_up::{StageTime, StartUp},
    },
};

use crate::{
    args::{ScenarioArgs, TraceArgs},
    failure::Failure,
    typed::requests,
};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom fleet rate=40 --policy hpa --target 24 --max 8
  headroom fleet rate=40 --policy keda --min 0 --cold-start qwen3-32b-h100-cold --provision 210
  headroom fleet rate=40 'profile=spike(300s,600s,3)' fleet.start=240s --csv > fleet.csv
  headroom fleet rate=40 --floor '6 from 45 7 * * 1-5 to 0 19 * * 1-5' --fault node@1800
  headroom fleet --trace day.csv --policy wva-v2 --json")]
pub(crate) struct FleetArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    /// How many requests to send, in place of as many as come in fleet.duration.
    #[arg(long, value_name = "N", value_parser = requests, conflicts_with = "trace")]
    pub(crate) requests: Option<NonZeroU32>,
    /// Who decides how many replicas there are (fleet.policy) [default: hpa].
    #[arg(long, value_enum)]
    policy: Option<PolicyName>,
    /// What hpa, keda and trend look at (fleet.signal) [default: in-flight].
    #[arg(long, value_enum)]
    signal: Option<SignalName>,
    /// How keda puts the replicas together: a sum of which each has its share of --target, or a mean
    /// or maximum held to it.
    #[arg(long, value_enum, default_value = "sum")]
    aggregate: AggregateName,
    /// What each replica should have of it (knative: its requests at once; fleet.target) [default:
    /// three quarters of the engine’s requests at once].
    #[arg(long, value_name = "X", value_parser = amount)]
    target: Option<f64>,
    /// Above which result keda is active.
    #[arg(long, value_name = "X", value_parser = amount, default_value = "0")]
    activation: f64,
    /// Fewest replicas (fleet.min) [default: 1].
    #[arg(long, value_name = "N")]
    min: Option<u16>,
    /// Most replicas (fleet.max) [default: 10].
    #[arg(long, value_name = "N")]
    max: Option<u16>,
    /// Replicas that are ready at the beginning (fleet.initial) [default: --min].
    #[arg(long, value_name = "N")]
    initial: Option<u16>,
    /// Replicas for certain hours, from one cron expression to another; may be repeated.
    #[arg(long, value_name = "N from CRON to CRON")]
    floor: Vec<String>,
    /// Day of the week and time of day at the beginning, for --floor.
    #[arg(long, value_name = "DAY HH:MM", default_value = "mon 00:00")]
    begin: String,
    /// Time a replica takes to start, seconds, whatever is cached (fleet.start) [default: 60].
    #[arg(long, value_name = "S", value_parser = amount, conflicts_with = "cold_start")]
    start: Option<f64>,
    /// A measured start-up; --cold-start list names them.
    #[arg(long, value_name = "NAME")]
    pub(crate) cold_start: Option<String>,
    /// Coefficient of variation of each stage of a start.
    #[arg(long, value_name = "X", value_parser = amount, default_value = "0")]
    start_cv: f64,
    /// Time a new node takes, seconds.
    #[arg(long, value_name = "S", value_parser = amount, default_value = "0")]
    provision: f64,
    /// Nodes, of one replica each, at the beginning [default: --max].
    #[arg(long, value_name = "N")]
    nodes: Option<u16>,
    /// Most nodes that can be had [default: --max].
    #[arg(long, value_name = "N")]
    quota: Option<u16>,
    /// Nodes kept free for the next replica.
    #[arg(long, value_name = "N", default_value = "0")]
    warm: u16,
    /// Who gets which request (fleet.router) [default: least-in-flight].
    #[arg(long, value_enum)]
    router: Option<RouterName>,
    /// Time between two scrapes, seconds.
    #[arg(long, value_name = "S", value_parser = amount, default_value = "15")]
    scrape: f64,
    /// Let replicas that start count as idle in what is scraped.
    #[arg(long)]
    count_warming: bool,
    /// Something that goes wrong at a time, beside fleet.fault: replica@S, node@S or metrics@S (for
    /// five minutes); may be repeated.
    #[arg(long, value_name = "WHAT@S")]
    fault: Vec<String>,
    /// Width of the windows of the results, seconds (fleet.window) [default: by the length of the
    /// run].
    #[arg(long, value_name = "S", value_parser = amount)]
    window: Option<f64>,
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

/// A number of 0 or more.
fn amount(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=1e9).contains(&value) => Ok(value),
        _ => Err("it must be a number from 0 to 1,000,000,000, for example 30".to_owned()),
    }
}

impl FleetArgs {
    /// What the scenario says of the fleet, with the options in its place.
    pub(crate) fn spec(&self, said: &FleetSpec) -> FleetSpec {
        let place = |words: &[&str], word: Option<&str>, said: u8| {
            let found = word.and_then(|word| words.iter().position(|known| *known == word));
            found.map_or(said, |place| place as u8)
        };
        let count = |given: Option<u16>| given.map(u64::from);
        FleetSpec {
            policy: place(FLEET_POLICIES, name(self.policy).as_deref(), said.policy),
            signal: place(FLEET_SIGNALS, name(self.signal).as_deref(), said.signal),
            router: place(FLEET_ROUTERS, name(self.router).as_deref(), said.router),
            target: self.target.or(said.target),
            min: count(self.min).unwrap_or(said.min),
            max: count(self.max).unwrap_or(said.max),
            initial: count(self.initial).or(said.initial),
            start_s: self.start.unwrap_or(said.start_s),
            window_s: self.window.or(said.window_s),
            ..*said
        }
    }

    /// The fleet that is meant, over the traffic and the engine of `setup`, whose replicas have so
    /// many GPUs.
    pub(crate) fn fleet(
        &self,
        spec: &FleetSpec,
        setup: Setup,
        gpus_per_replica: u64,
    ) -> Result<LiveFleet, Failure> {
        let start_up = self.start_up(spec.start_s)?;
        let refused = |error: FleetError| {
            Failure::input(match error {
                FleetError::Bounds { min, max } => {
                    format!("--max {max}: it must be 1 or more, and at least --min {min}.")
                }
                other => other.to_string(),
            })
        };
        let mut fleet = spec.fleet(setup, gpus_per_replica, start_up).map_err(refused)?;
        let (initial, most) = (fleet.initial_replicas, fleet.nodes.max_nodes);
        let nodes = self.nodes.map_or(most, u32::from);
        if initial > nodes {
            return Err(Failure::input(format!(
                "--initial {initial}: there are --nodes {nodes} at the beginning, of one replica each."
            )));
        }
        if let Policy::Keda { aggregate, activation_threshold, .. } = &mut fleet.policy {
            *activation_threshold = self.activation;
            *aggregate = match self.aggregate {
                AggregateName::Sum => Aggregate::Sum,
                AggregateName::Mean => Aggregate::Mean,
                AggregateName::Max => Aggregate::Max,
            };
        }
        let faults = [fleet.faults, self.faults()?].concat();
        Ok(LiveFleet {
            floors: self.floor.iter().map(|text| floor(text)).collect::<Result<_, _>>()?,
            calendar: calendar(&self.begin)?,
            nodes: NodePool {
                initial_nodes: nodes,
                max_nodes: self.quota.map_or(most, u32::from).max(nodes),
                warm_nodes: self.warm.into(),
                provisioning: self.stage(self.provision),
                ..fleet.nodes
            },
            scrape_s: self.scrape,
            counts_warming: self.count_warming,
            faults: in_order(faults),
            ..fleet
        })
    }

    const fn stage(&self, mean_s: f64) -> StageTime {
        if self.start_cv > 0.0 {
            StageTime::Lognormal { mean_s, cv: self.start_cv }
        } else {
            StageTime::Fixed(mean_s)
        }
    }

    fn start_up(&self, start_s: f64) -> Result<StartUp, Failure> {
        let measured = match &self.cold_start {
            None => StartUp::fixed(start_s),
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
        Ok(faults)
    }
}

fn in_order(mut faults: Vec<(f64, Fault)>) -> Vec<(f64, Fault)> {
    faults.sort_by(|a, b| a.0.total_cmp(&b.0));
    faults
}

/// An option as it is typed, which is what scenarios write, too.
fn name(given: Option<impl ValueEnum>) -> Option<String> {
    given?.to_possible_value().map(|value| value.get_name().to_owned())
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
