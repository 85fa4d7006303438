//! Options of `headroom fleet`, and the fleet that they mean.

mod compared;
mod names;
mod readers;

use std::{num::NonZeroU32, path::PathBuf};

use clap::Args;
use sim_core::{
    Setup,
    fleet::{
        autoscale::{
            fixed::Fixed,
            hpa::{Bounds, Hpa, Tolerance},
            keda::ScaledObject,
            knative::{DeciderSpec, ScaleToZero, TARGET_UTILIZATION},
            schedule::Calendar,
            wva,
        },
        live::{Deferral, LiveFleet},
        nodes::NodePool,
        policy::Policy,
        start_up::{StageTime, StartUp},
    },
    float::lesser,
};

use names::{AggregateName, PolicyName, RouterName, SignalName};
use readers::{amount, calendar, floor, read_faults, season};

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
  headroom fleet rate=40 'profile=spike(300s,600s,3)' --start 240 --csv > fleet.csv
  headroom fleet rate=40 --floor '6 from 45 7 * * 1-5 to 0 19 * * 1-5' --fault node@1800
  headroom fleet rate=40 prefix=800 in=1000 --prefix-cache 8 --router prefix-affinity --policy fixed --min 4
  headroom fleet rate=40 --policy fixed --min 4 --fault surge:2.5:120@300 --fault stall:1@600
  headroom fleet rate=40 'profile=spike(300s,600s,3)' --requests 60000 --compare hpa:target=8/16/24 keda knative wva-v2
  headroom fleet --trace day.csv --policy wva-v2 --json")]
pub(crate) struct FleetArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    /// How many requests to send, in place of sim.requests.
    #[arg(long, value_name = "N", value_parser = requests, conflicts_with = "trace")]
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
    #[arg(long, value_name = "X", value_parser = amount)]
    target: Option<f64>,
    /// Above which result keda is active.
    #[arg(long, value_name = "X", value_parser = amount, default_value = "0")]
    activation: f64,
    /// Length of a season for seasonal, seconds.
    #[arg(long, value_name = "S", value_parser = season, default_value = "86400")]
    season: f64,
    /// Fewest replicas.
    #[arg(long, value_name = "N", default_value = "1")]
    min: u16,
    /// Most replicas.
    #[arg(long, value_name = "N", default_value = "10")]
    max: u16,
    /// Replicas that are ready at the beginning [default: --min].
    #[arg(long, value_name = "N")]
    initial: Option<u16>,
    /// Replicas for certain hours, from one cron expression to another; may be repeated.
    #[arg(long, value_name = "N from CRON to CRON")]
    floor: Vec<String>,
    /// Day of the week and time of day at the beginning, for --floor.
    #[arg(long, value_name = "DAY HH:MM", default_value = "mon 00:00")]
    begin: String,
    /// Time a replica takes to start, seconds, whatever is cached [default: 60].
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
    /// Who gets which request.
    #[arg(long, value_enum, default_value = "least-in-flight")]
    router: RouterName,
    /// Time between two scrapes, seconds.
    #[arg(long, value_name = "S", value_parser = amount, default_value = "15")]
    scrape: f64,
    /// Let replicas that start count as idle in what is scraped.
    #[arg(long)]
    count_warming: bool,
    /// Beginnings of prompts (prefix=…) that each replica keeps in its cache.
    #[arg(long, value_name = "N", default_value = "0")]
    prefix_cache: u16,
    /// A class whose requests wait for one another, so many of them at once in the whole fleet: for
    /// an adapter's places, which no replica has more of.
    #[arg(long, value_name = "CLASS:N")]
    defer: Option<String>,
    /// A key of WVA's saturation configuration, by its own name; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    wva: Vec<String>,
    /// Something that goes wrong at a time: replica, node, metrics:SECONDS, stall:SECONDS,
    /// slow:TIMES:SECONDS (starts) or surge:TIMES:SECONDS (traffic), with @S; may be repeated.
    #[arg(long, value_name = "WHAT@S")]
    fault: Vec<String>,
    /// Width of the windows of the results, seconds.
    #[arg(long, value_name = "S", value_parser = amount, default_value = "60")]
    pub(crate) window: f64,
    /// Also write what is scraped under vLLM’s metric names, as OpenMetrics text, for dashboards and
    /// alert rules (promtool tsdb create-blocks-from openmetrics).
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    pub(crate) openmetrics: Option<PathBuf>,
    /// Unix time of the beginning in it, seconds [default: a Monday, 5 January 2026, and --begin].
    #[arg(long, value_name = "S", value_parser = amount, requires = "openmetrics")]
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
    #[arg(long, value_name = "X", value_parser = amount, requires = "compare")]
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

    /// The fleet that is meant, over the traffic and the engine of `setup`.
    /// Classes are numbered in the order of `classes`.
    pub(crate) fn fleet(&self, setup: Setup, classes: &[String]) -> Result<LiveFleet, Failure> {
        if self.max == 0 || self.max < self.min {
            return Err(Failure::input(format!(
                "--max {}: it must be 1 or more, and at least --min {}.",
                self.max, self.min
            )));
        }
        let start_up = self.start_up()?;
        let initial = self.initial.unwrap_or(self.min);
        let nodes = self.nodes.unwrap_or(self.max);
        if initial > nodes {
            return Err(Failure::input(format!(
                "--initial {initial}: there are --nodes {nodes} at the beginning, of one replica each."
            )));
        }
        Ok(LiveFleet {
            policy: self.policy(&setup, &start_up)?,
            router: self.router.router(),
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
            cached_prefixes: self.prefix_cache.into(),
            deferral: self.deferral(classes)?,
            keeps_samples: self.openmetrics.is_some(),
            drain_grace_s: 30.0,
            window_s: self.window,
            patience_s: 3600.0,
            faults: read_faults(&self.fault)?,
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

    fn policy(&self, setup: &Setup, start_up: &StartUp) -> Result<Policy, Failure> {
        let signal = self.signal.signal();
        let at_once = setup.engine.max_num_seqs;
        let target = self.target.unwrap_or(at_once as f64 * 0.75);
        let (min, max) = (i32::from(self.min), i32::from(self.max));
        // An HPA cannot come back from zero by a metric of its pods.
        let hpa = Hpa::new(Bounds { min: min.max(1), max });
        let wva = self.wva_config()?;
        Ok(match self.policy {
            PolicyName::Fixed => Policy::Fixed(Fixed { replicas: min }),
            PolicyName::Hpa => Policy::Hpa { hpa, signal, target, tolerance: Tolerance::default() },
            PolicyName::Keda => Policy::Keda {
                object: ScaledObject {
                    min_replicas: min,
                    max_replicas: max,
                    ..ScaledObject::default()
                },
                signal,
                aggregate: self.aggregate.aggregate(),
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
            PolicyName::WvaV1 => Policy::WvaV1 { config: wva.v1, hpa },
            PolicyName::WvaV2 => Policy::WvaV2 {
                config: wva.v2,
                limits: wva::EngineLimits {
                    max_batched_tokens: setup.engine.max_num_batched_tokens.cast_signed(),
                    max_num_seqs: at_once.cast_signed(),
                },
                hpa,
            },
            PolicyName::WvaQueueing => Policy::WvaQueueing {
                targets: Some(wva::Targets {
                    ttft_ms: (1000.0 * setup.slo.ttft_s) as f32,
                    itl_ms: (1000.0 * setup.slo.tpot_s) as f32,
                    tokens_per_s: 0.0,
                }),
                multiplier: 3.0,
                max_batch: u32::try_from(at_once).unwrap_or(u32::MAX),
                hpa,
            },
            PolicyName::Seasonal => Policy::Seasonal {
                bounds: Bounds { min, max },
                signal,
                per_replica: target,
                season_s: self.season,
                sample_s: lesser(self.season / 24.0, 300.0),
                ahead_s: start_up.mean_s(false, false),
            },
            PolicyName::Trend => Policy::Trend {
                bounds: Bounds { min, max },
                signal,
                per_replica: target,
                samples: 20,
                ahead_s: start_up.mean_s(false, false),
            },
        })
    }

    /// What WVA goes by, with a note for each key that its analyzer does not read.
    fn wva_config(&self) -> Result<wva::ConfigMap, Failure> {
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
        let version = match self.policy {
            PolicyName::WvaV2 => wva::Version::V2,
            _ => wva::Version::V1,
        };
        let config = wva::ConfigMap::read(version, &keys)
            .map_err(|error| Failure::input(format!("--wva: {error}.")))?;
        let reads = matches!(self.policy, PolicyName::WvaV1 | PolicyName::WvaV2);
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
