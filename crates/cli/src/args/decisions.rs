//! What may be typed of commands that weigh several plans.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};

use super::{ScenarioArgs, ThreadArgs};
use crate::typed::{in_reach, part, seconds, some};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom alternatives model=llama-3.1-8b rate=30 sim.requests=500
  headroom alternatives model=llama-3.1-8b rate=30 --among h100-sxm,h200-sxm,l40s --price h100-sxm=2..3 --csv
  headroom alternatives model=llama-3.1-8b rate=30 --max-cost 20 --chart costs.svg")]
pub(crate) struct AlternativesArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Leave out what costs more, dollars an hour.
    #[arg(long, value_name = "DOLLARS", value_parser = in_reach, allow_hyphen_values = true)]
    pub(crate) max_cost: Option<f64>,
    /// How many of the cheapest are simulated at least, and shown.
    #[arg(long, value_name = "N", default_value = "12", value_parser = some, allow_hyphen_values = true)]
    pub(crate) rows: NonZeroUsize,
    /// Look among these GPUs alone [default: all of the catalogue].
    #[arg(long, value_name = "GPU,…", value_delimiter = ',')]
    pub(crate) among: Vec<String>,
    /// Dollars for an hour of a GPU in place of the catalogue’s, one price or a range; may be repeated.
    #[arg(long, value_name = "GPU=DOLLARS")]
    pub(crate) price: Vec<String>,
    /// Draw cost against latency as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) chart: Option<PathBuf>,
    /// Print JSON (dollars and SI units).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print one CSV row per deployment (dollars and SI units).
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom compare gpu=h100-sxm vs gpu=h200-sxm
  headroom compare rate=40 in=2000 vs sched.rules=vllm-0.33      the same but for the rules
  headroom compare scenario.json '#v=1&rate=40&gpu=h200-sxm' --json")]
pub(crate) struct CompareArgs {
    /// The first scenario, vs, and the second: settings, a link or a .json file each. Where only settings
    /// stand after vs, they change the first.
    #[arg(value_name = "SCENARIO", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom tornado sim.requests=500
  headroom tornado --range rate=80%..150% --range step.mfu=0.4..0.6 --chart tornado.svg
  headroom tornado price=2..4 --json")]
pub(crate) struct TornadoArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// A range of one’s own: parts of rate, in or out, or values of any other number; may be repeated.
    #[arg(long, value_name = "KEY=LOW..HIGH")]
    pub(crate) range: Vec<String>,
    /// Draw the tornado as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) chart: Option<PathBuf>,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom report --html report.html
  headroom report rate=40 price=2..4 --markdown report.md
  headroom report rate=40 > report.md")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Write one HTML page.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,
    /// Write Markdown [default: standard output, unless there is --html].
    #[arg(long, value_name = "FILE.md")]
    pub(crate) markdown: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom export vllm model=llama-3.3-70b gpu=h100-sxm tp=4 rate=20 tpot=60ms
  headroom export bench rate=40 'arrivals=gamma(0.5)'
  headroom export k8s rate=40 > headroom.yaml")]
pub(crate) struct ExportArgs {
    /// What to write.
    #[arg(value_enum)]
    pub(crate) what: ExportKind,
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportKind {
    /// `vllm serve` for one engine.
    Vllm,
    /// `vllm bench serve` at the planned load of one engine.
    Bench,
    /// Deployment, Service, HorizontalPodAutoscaler, KEDA ScaledObject and PrometheusRule.
    K8s,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom replicas rate=100
  headroom replicas rate=40 --out 3 --restart 10min --json")]
pub(crate) struct ReplicasArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// How many replicas may be out at once, as in a rolling update.
    #[arg(long, value_name = "N", default_value = "2", value_parser = some, allow_hyphen_values = true)]
    pub(crate) out: NonZeroUsize,
    /// After how long a replica that was lost with its node is back.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5min",
        value_parser = seconds,
        allow_hyphen_values = true
    )]
    pub(crate) restart: f64,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom slots --rate 8 --service 2s --slots 4
  headroom slots --rate 8 --service 2s --slots 4 --load 75% --json")]
pub(crate) struct SlotsArgs {
    /// Requests per second, Poisson.
    #[arg(long, value_name = "RATE", value_parser = in_reach, allow_hyphen_values = true)]
    pub(crate) rate: f64,
    /// Mean time that a request holds a slot; exponential.
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) service: f64,
    /// Slots of a replica.
    #[arg(long, value_name = "N", value_parser = some, allow_hyphen_values = true)]
    pub(crate) slots: NonZeroUsize,
    /// Part of the slots that is to be busy on average.
    #[arg(
        long,
        value_name = "PART",
        default_value = "60%",
        value_parser = part,
        allow_hyphen_values = true
    )]
    pub(crate) load: f64,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}
