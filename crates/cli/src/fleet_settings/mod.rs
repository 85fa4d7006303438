//! Options of `headroom fleet`, and the fleet that they mean.

mod compared;
mod names;
mod pools;
mod readers;
mod search;
mod shared;

use std::{num::NonZeroU32, path::PathBuf};

use clap::{Args, ValueEnum};
use scenario::{FLEET_POLICIES, FLEET_ROUTERS, FLEET_SIGNALS, FleetError, FleetSpec};
use sim_core::{
    Setup,
    fleet::{
        autoscale::{schedule::Calendar, wva},
        live::{Deferral, Fault, LiveFleet, Reliability},
        nodes::NodePool,
        outcome::LiveRun,
        policy::Policy,
        start_up::{StageTime, StartUp},
    },
    float::lesser,
};

pub(crate) use pools::PoolArgs;
pub(crate) use search::SearchArgs;
pub(crate) use shared::{Named, SharedArgs};

use names::{AggregateName, PolicyName, RouterName, SignalName};
use readers::{
    amount, calendar, floor, lifetime, read_faults, replicas, season, some_amount, some_seconds,
    variation,
};

use crate::{
    args::{ScenarioArgs, ThemeName, ThreadArgs, TraceArgs},
    failure::Failure,
    output,
    typed::requests,
};

#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  headroom fleet rate=40 --policy hpa --target 24 --max 8
  headroom fleet rate=40 --policy keda --min 0 --cold-start qwen3-32b-h100-cold --provision 210
  headroom fleet rate=40 'profile=spike(300s,600s,3)' fleet.start=240s --csv > fleet.csv
  headroom fleet rate=40 --floor '6 from 45 7 * * 1-5 to 0 19 * * 1-5' --fault node@1800
  headroom fleet rate=40 prefix=800 in=1000 --prefix-cache 8 --router prefix-affinity --policy fixed --min 4
  headroom fleet rate=40 --policy fixed --min 4 --fault surge:2.5:120@300 --fault stall:1@600
  headroom fleet rate=40 'profile=spike(300s,600s,3)' --requests 60000 --compare hpa:target=8/16/24 keda knative wva-v2
  headroom fleet rate=30 in=2000 --prefill hpa:signal=in-flight,target=3,max=6 --decode hpa:signal=running,target=20,max=6
  headroom fleet --quota-gpus 8 --model 'chat:10=rate=20 fleet.max=8' --model 'batch:1=rate=40 fleet.max=8'
  headroom fleet rate=40 'profile=spike(300s,600s,3)' --max 8 --trials 20 --search hpa:min=2 keda
  headroom fleet rate=40 fleet.duration=1h --policy fixed --min 4 --replica-mtbf 1800 --node-mtbf 7200
  headroom fleet --trace day.csv --policy wva-v2 --json")]
pub(crate) struct FleetArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    /// How many requests to send, in place of as many as come in fleet.duration.
    #[arg(long, value_name = "N", value_parser = requests, allow_hyphen_values = true, conflicts_with = "trace")]
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
    #[arg(long, value_name = "X", value_parser = some_amount, allow_hyphen_values = true)]
    target: Option<f64>,
    /// Above which result keda is active.
    #[arg(long, value_name = "X", value_parser = amount, allow_hyphen_values = true, default_value = "0")]
    activation: f64,
    /// Length of a season for seasonal, seconds.
    #[arg(long, value_name = "S", value_parser = season, allow_hyphen_values = true, default_value = "86400")]
    season: f64,
    /// Fewest replicas (fleet.min) [default: 1].
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true)]
    min: Option<u16>,
    /// Most replicas (fleet.max) [default: 10].
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true)]
    max: Option<u16>,
    /// Replicas that are ready at the beginning (fleet.initial) [default: --min].
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true)]
    initial: Option<u16>,
    /// How long the highest of hpa’s last proposals holds against fewer replicas, seconds
    /// (fleet.scale_down_window) [default: 300].
    #[arg(long, value_name = "S", value_parser = amount, allow_hyphen_values = true)]
    scale_down_window: Option<f64>,
    /// Replicas for certain hours, from one cron expression to another; may be repeated.
    #[arg(long, value_name = "N from CRON to CRON", allow_hyphen_values = true)]
    floor: Vec<String>,
    /// Day of the week and time of day at the beginning, for --floor.
    #[arg(long, value_name = "DAY HH:MM", allow_hyphen_values = true, default_value = "mon 00:00")]
    begin: String,
    /// Time a replica takes to start, seconds, whatever is cached (fleet.start) [default: 60].
    #[arg(long, value_name = "S", value_parser = amount, allow_hyphen_values = true, conflicts_with = "cold_start")]
    start: Option<f64>,
    /// A measured start-up; --cold-start list names them.
    #[arg(long, allow_hyphen_values = true, value_name = "NAME")]
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
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true, default_value = "0")]
    warm: u16,
    /// Who gets which request (fleet.router) [default: least-in-flight].
    #[arg(long, value_enum)]
    router: Option<RouterName>,
    /// Time between two scrapes, seconds.
    #[arg(long, value_name = "S", value_parser = some_seconds, allow_hyphen_values = true, default_value = "15")]
    scrape: f64,
    /// Let replicas that start count as idle in what is scraped.
    #[arg(long)]
    count_warming: bool,
    /// Beginnings of prompts (prefix=…) that each replica keeps in its cache.
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true, default_value = "0")]
    prefix_cache: u16,
    /// A class whose requests wait for one another, so many of them at once in the whole fleet: for
    /// an adapter's places, which no replica has more of.
    #[arg(long, value_name = "CLASS:N", allow_hyphen_values = true)]
    defer: Option<String>,
    /// A key of WVA's saturation configuration, by its own name; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    wva: Vec<String>,
    /// Something that goes wrong at a time, beside fleet.fault: replica, node, metrics:SECONDS, stall:SECONDS,
    /// slow:TIMES:SECONDS (starts) or surge:TIMES:SECONDS (traffic), with @S; may be repeated.
    #[arg(long, value_name = "WHAT@S", allow_hyphen_values = true)]
    fault: Vec<String>,
    /// Mean time from a replica’s being ready to its breaking down by itself, seconds [default: never].
    #[arg(long, value_name = "S", value_parser = lifetime, allow_hyphen_values = true)]
    replica_mtbf: Option<f64>,
    /// Mean time from a node’s first replica to the node’s breaking down by itself, seconds [default:
    /// never].
    #[arg(long, value_name = "S", value_parser = lifetime, allow_hyphen_values = true)]
    node_mtbf: Option<f64>,
    #[command(flatten)]
    pub(crate) pools: PoolArgs,
    #[command(flatten)]
    pub(crate) shared: SharedArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Width of the windows of the results, seconds (fleet.window) [default: by the length of the
    /// run].
    #[arg(long, value_name = "S", value_parser = some_seconds, allow_hyphen_values = true)]
    window: Option<f64>,
    /// Also write what is scraped under vLLM’s metric names, as OpenMetrics text, for dashboards and
    /// alert rules (promtool tsdb create-blocks-from openmetrics).
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    pub(crate) openmetrics: Option<PathBuf>,
    /// Unix time of the beginning in it, seconds [default: a Monday, 5 January 2026, and --begin].
    #[arg(long, value_name = "S", value_parser = amount, allow_hyphen_values = true, requires = "openmetrics")]
    epoch: Option<f64>,
    /// Also draw the run over time, as SVG.
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    pub(crate) svg: Option<PathBuf>,
    /// On which ground --svg is drawn.
    #[arg(long, value_enum, default_value = "light")]
    pub(crate) theme: ThemeName,
    /// Put policies side by side on the same traffic, each by its name or as NAME:KEY=VALUE,… with
    /// signal, aggregate, target, activation, min, max or floor in place of the options; target=4/8/16
    /// stands for one of each.
    #[arg(long, value_name = "POLICY", num_args = 1.., conflicts_with = "policy")]
    pub(crate) compare: Vec<String>,
    /// What a GPU costs an hour, for --compare.
    #[arg(long, value_name = "X", value_parser = amount, allow_hyphen_values = true, requires = "compare")]
    pub(crate) price: Option<f64>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Print JSON (SI units), with the windows.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print one CSV row per window (SI units).
    #[arg(long)]
    pub(crate) csv: bool,
}

impl FleetArgs {
    /// Unix time of the beginning, in seconds.
    pub(crate) fn epoch_s(&self, calendar: Calendar) -> f64 {
        /// Monday, 5 January 2026, 00:00 UTC.
        const MONDAY_S: f64 = 1_767_571_200.0;
        self.epoch.unwrap_or_else(|| {
            let days = (calendar.weekday + 6) % 7;
            MONDAY_S + f64::from(days * 86_400 + calendar.minute_of_day * 60)
        })
    }

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
            scale_down_window_s: self.scale_down_window.unwrap_or(said.scale_down_window_s),
            window_s: self.window.or(said.window_s),
            ..*said
        }
    }

    /// The fleet that is meant, over the traffic and the engine of `setup`, whose replicas have so
    /// many GPUs. Classes are numbered in the order of `classes`.
    pub(crate) fn fleet(
        &self,
        spec: &FleetSpec,
        (setup, classes): (Setup, &[String]),
        gpus_per_replica: u64,
    ) -> Result<LiveFleet, Failure> {
        let is_empty = spec.first() == 0 && spec.min == 0 && self.floor.is_empty();
        if spec.policy_word() == "fixed" && is_empty {
            return Err(Failure::input(
                "--min 0: with --policy fixed there would never be a replica. Give --min 1 or more, \
                 for example --min 4.",
            ));
        }
        let start_up = self.start_up(spec.start_s)?;
        let mut fleet = spec.fleet(setup, gpus_per_replica, start_up).map_err(refused)?;
        let (initial, most) = (fleet.initial_replicas, fleet.nodes.max_nodes);
        let nodes = self.nodes.map_or(most, u32::from);
        if initial > nodes {
            return Err(Failure::input(format!(
                "--initial {initial}: there are --nodes {nodes} at the beginning, of one replica each. \
                 Give --nodes {initial} or more, or a smaller --initial."
            )));
        }
        self.adjust(&mut fleet.policy)?;
        let faults = [fleet.faults, read_faults(&self.fault)?].concat();
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
            cached_prefixes: self.prefix_cache.into(),
            deferral: self.deferral(classes)?,
            keeps_samples: self.openmetrics.is_some(),
            faults: in_order(faults),
            reliability: Reliability {
                replica_mtbf_s: self.replica_mtbf.unwrap_or(f64::INFINITY),
                node_mtbf_s: self.node_mtbf.unwrap_or(f64::INFINITY),
            },
            ..fleet
        })
    }

    /// Puts into a policy what only options say.
    fn adjust(&self, policy: &mut Policy) -> Result<(), Failure> {
        let version = match policy {
            Policy::WvaV1 { .. } => Some(wva::Version::V1),
            Policy::WvaV2 { .. } => Some(wva::Version::V2),
            _ => None,
        };
        let keys = self.wva_config(version)?;
        match policy {
            Policy::Keda { aggregate, activation_threshold, .. } => {
                *activation_threshold = self.activation;
                *aggregate = self.aggregate.aggregate();
            }
            Policy::WvaV1 { config, .. } => *config = keys.v1,
            Policy::WvaV2 { config, .. } => *config = keys.v2,
            Policy::Seasonal { season_s, sample_s, .. } => {
                *season_s = self.season;
                *sample_s = lesser(self.season / 24.0, 300.0);
            }
            _ => {}
        }
        Ok(())
    }

    /// Tell of faults that changed nothing: those after the end, and those with nothing to strike.
    pub(crate) fn tell_idle_faults(&self, run: &LiveRun) {
        for (index, (at_s, fault)) in run.faults.iter().enumerate() {
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

    /// What WVA goes by, with a note for each key that its analyzer does not read.
    fn wva_config(&self, version: Option<wva::Version>) -> Result<wva::ConfigMap, Failure> {
        let pair = |text: &String| {
            let parts = text.split_once('=');
            let value = parts.and_then(|(_, value)| amount(value).ok());
            parts.zip(value).map(|((key, _), value)| (key.trim().to_owned(), value)).ok_or_else(
                || {
                    Failure::input(format!(
                        "--wva {text}: it must be KEY=NUMBER, for example kvCacheThreshold=0.8."
                    ))
                },
            )
        };
        let pairs = self.wva.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<(&str, f64)> =
            pairs.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        let (reads, version) = (version.is_some(), version.unwrap_or(wva::Version::V1));
        let config = wva::ConfigMap::read(version, &keys)
            .map_err(|error| Failure::input(format!("--wva: {error}.")))?;
        let ignored = if reads {
            config.ignored.clone()
        } else {
            pairs.into_iter().map(|pair| pair.0).collect()
        };
        for key in ignored {
            let whom = match (reads, version) {
                (false, _) => "this policy",
                (true, wva::Version::V1) => "WVA's analyzer V1",
                (true, wva::Version::V2) => "WVA's analyzer V2",
            };
            output::note(&format!("{key} has no effect: {whom} does not read it."));
        }
        Ok(config)
    }

    /// `NAME:8`.
    fn deferral(&self, classes: &[String]) -> Result<Option<Deferral>, Failure> {
        let Some(text) = &self.defer else { return Ok(None) };
        let parts = text.rsplit_once(':');
        let class = parts.and_then(|(name, _)| classes.iter().position(|class| class == name));
        let at_once =
            parts.and_then(|(_, count)| count.parse().ok()).filter(|&count: &u32| count > 0);
        match (class, at_once) {
            (Some(class), Some(at_once)) => {
                Ok(Some(Deferral { class: class as u32, at_once: at_once.into() }))
            }
            _ => Err(Failure::input(format!(
                "--defer {text}: it must be a class of the scenario and a number of 1 or more, for \
                 example lora:8 beside class.lora=share:20%."
            ))),
        }
    }
}

/// A fleet that cannot be, in the words of the options.
fn refused(error: FleetError) -> Failure {
    Failure::input(match error {
        FleetError::Bounds { min, max } => format!(
            "--max {max}: it must be 1 or more, and at least --min {min}. Give for example --max {}.",
            min.max(10)
        ),
        other => other.to_string(),
    })
}

fn in_order(mut faults: Vec<(f64, Fault)>) -> Vec<(f64, Fault)> {
    faults.sort_by(|a, b| a.0.total_cmp(&b.0));
    faults
}

/// What an option calls it.
const fn fault_word(fault: Fault) -> &'static str {
    match fault {
        Fault::ReplicaLoss => "replica",
        Fault::NodeLoss => "node",
        Fault::ReplicaBreakdown(_) => "replica breakdown",
        Fault::NodeBreakdown(_) => "node breakdown",
        Fault::MetricOutage(_) => "metrics",
        Fault::Stall(_) => "stall",
        Fault::SlowStart { .. } => "slow",
        Fault::Surge { .. } => "surge",
    }
}

/// An option as it is typed, which is what scenarios write, too.
fn name(given: Option<impl ValueEnum>) -> Option<String> {
    given?.to_possible_value().map(|value| value.get_name().to_owned())
}
