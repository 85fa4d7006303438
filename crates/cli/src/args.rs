//! What may be typed.

mod decisions;
mod measurements;

use std::{
    fmt::Write as _,
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
};

use charts::Theme;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::{
    fleet_settings::FleetArgs,
    typed::{in_reach, requests, seed, some},
};

pub(crate) use decisions::{
    AlternativesArgs, CompareArgs, ExportArgs, ExportKind, ReplicasArgs, ReportArgs, SlotsArgs,
    TornadoArgs,
};
pub(crate) use measurements::{CalibrateArgs, CurveArgs, FitArgs, FitOn, LeaveOut, MeasuredArgs};

const EXIT_CODES: &str = "\
Exit codes:
  0  there is an answer
  1  the target cannot be met, the model does not fit, or a truth or an assertion fails; the output
     says why
  2  something that was typed or read cannot be used; the message says what and how to mend it.
     What a .json file says counts as if it were typed. Of a link, an unknown key is passed over and
     a value out of range is moved into it, both with a note above the answer (notices with --json);
     headroom check takes neither
  3  a file or stream could not be read or written";

/// What may be typed like a setting, and is none: links and pages have a rate.
const BESIDE_SETTINGS: &str = "\
Beside settings:
  demand [rate]
      What is asked for in other words: tokens or requests per time, users who think, or a job with an end (plan alone). Example: 'demand=50M tokens/day', 'demand=300 users, 30s' or 'demand=120k documents in 8h'
  price [catalogue] (plan)
      Dollars for an hour of one GPU: one price, a range, or a range with the typical price inside. Example: price=2..4
  utilisation [of the profile, or 100%] (plan)
      Mean load over the planned one. Example: utilisation=40%
";

/// What fits a screen: `-h`.
const FIRST_STEPS: &str = "\
Try headroom plan gpu=h200 rate=40 ttft=500ms; more with --help, and settings with headroom plan --help.";

const EXAMPLES: &str = "\
Examples:
  headroom plan                                   the preset: Qwen2.5-7B on H100, 100 req/s
  headroom plan model=llama-3.1-8b gpu=h200 rate=40 ttft=500ms
  headroom check rate=40 --assert 'gpus<=8'       for scripts: exit code 1 where it fails
  headroom sweep --rates 1,5,10,15,20 --csv
  headroom simulate rate=20 --requests-out requests.csv
  headroom chart --out knee.svg --theme dark
  headroom link rate=250 --base https://example.org/headroom/
  headroom catalog gpus                           GPUs that can be named, with their figures
  headroom memory model=gemma-3-27b gpu=h100      what weights and KV cache take, and what fits
  headroom know                                   check the simulator against theory and itself";

/// How many GPUs an LLM service needs, at what latency, by simulating the serving engine.
#[derive(Debug, Parser)]
#[command(
    name = "headroom",
    version,
    after_help = FIRST_STEPS,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}")
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// How many GPUs: the capacity of one at the target, and the fleet for the rate.
    Plan(PlanArgs),
    /// Why no more: what holds the capacity down, what would next, and what more of each gives.
    Why(WhyArgs),
    /// What else would do: every GPU, number of GPUs and published format that fits, by its cost at
    /// the target.
    Alternatives(AlternativesArgs),
    /// Two scenarios under the same users: what differs in settings, in the answer, and for each request.
    Compare(CompareArgs),
    /// How far the answer moves when inputs that nobody knows exactly move within their ranges.
    Tornado(TornadoArgs),
    /// A report that stands alone: Markdown, or one HTML page that opens without a network.
    Report(ReportArgs),
    /// What to run: the server’s command, a benchmark that would verify the plan, or manifests.
    Export(ExportArgs),
    /// Whole fleets beside the division: behind routers, with replicas out, with one lost.
    Replicas(ReplicasArgs),
    /// Servers with slots by Little’s law, with the queue simulated beside the arithmetic.
    Slots(SlotsArgs),
    /// Hold a plan against assertions, for scripts: the exit code tells whether all of them hold.
    Check(CheckArgs),
    /// Latency, throughput and goodput of one GPU as the request rate rises.
    Sweep(SweepArgs),
    /// One run on one GPU, or the replay of a recording: what happened to every request.
    Simulate(SimulateArgs),
    /// A fleet over time: replicas started and drained as an autoscaler asks, with real cold starts.
    Fleet(Box<FleetArgs>),
    /// Claims about autoscaling and serving fleets, each tried by simulation.
    Experiment(ExperimentArgs),
    /// Draw the knee as SVG.
    Chart(ChartArgs),
    /// Write the scenario as a link, or explain a link.
    Link(LinkArgs),
    /// How we know: check every truth of the simulator, theory against simulation, published
    /// figures, and list what is assumed.
    Know(KnowArgs),
    /// List the models and GPUs that can be named, with their figures and where those come from.
    Catalog(CatalogArgs),
    /// The memory of a GPU term by term: weights, activations, KV cache, and how many requests fit.
    Memory(MemoryArgs),
    /// Fit the kernel model’s constants to measured runs, and tell how far it is off on runs that it
    /// never saw.
    Fit(FitArgs),
    /// Refit the step time’s few free constants to measured points, and tell how far it was and is off.
    Calibrate(CalibrateArgs),
    /// The knee and the GPUs straight from a measured curve, beside what the model says.
    Curve(CurveArgs),
}

/// A scenario: a preset, a file or a link, and then single settings.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScenarioArgs {
    /// Settings `key=value`, a shared link, or the path of a .json file; later ones win.
    #[arg(value_name = "SCENARIO")]
    pub(crate) words: Vec<String>,
    /// Start from a named scenario.
    #[arg(long, value_enum)]
    pub(crate) preset: Option<Preset>,
    /// Start from a JSON file, as `headroom link --json` writes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) json_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// Qwen2.5-7B in BF16 on one H100: 100 req/s of 1,024 tokens in and 256 out.
    #[value(name = "qwen2.5-7b-h100")]
    Qwen25,
}

/// A recording whose arrivals and lengths are used in place of drawn ones.
#[derive(Args, Clone, Debug)]
pub(crate) struct TraceArgs {
    /// A table with the columns arrival_s, input_tokens and output_tokens in any order and under
    /// their usual names, an Azure LLM inference trace, a Mooncake trace, JSON records or AIPerf
    /// records; perhaps packed with gzip. The format is told by what is in the file.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// The rate, per second, at which the recording counts as made [default: its mean rate].
    #[arg(
        long,
        value_name = "RATE",
        value_parser = in_reach,
        allow_hyphen_values = true,
        requires = "trace"
    )]
    pub(crate) trace_rate: Option<f64>,
    /// Leave out rows that cannot be used, with a note, instead of refusing the file.
    #[arg(long, requires = "trace")]
    pub(crate) skip_bad_rows: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom experiment
  headroom experiment queue-lags
  headroom experiment all --json")]
pub(crate) struct ExperimentArgs {
    /// Which one; all for all of them, list or nothing for their names and claims.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ThreadArgs {
    /// Threads to simulate on [default: all cores]. The answer does not depend on it.
    #[arg(long, value_name = "N", value_parser = some, allow_hyphen_values = true)]
    pub(crate) threads: Option<NonZeroUsize>,
}

impl ThreadArgs {
    pub(crate) fn count(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(crate::pool::default_threads)
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom plan
  headroom plan rate=250 headroom=30%
  headroom plan 'in=lognormal(512,0.9)' 'arrivals=gamma(0.5)'
  headroom plan rate=40 'class.rag=share:20%,in:4000,ttft:3s'
  headroom plan rate=20 'profile=daily(0.3)'              sized for the peak of the day
  headroom plan rate=20 step.kind=queue-model step.alpha_s=7ms
  headroom plan price=2..4 utilisation=40%               with a price of yours, at that use over time
  headroom plan 'demand=50M tokens/day'
  headroom plan 'demand=120k documents from 22:00 to 06:00'
  headroom plan --gpus 8                                  what 8 GPUs carry
  headroom plan --budget 40 gpu=h200                      what 40 dollars an hour carry
  headroom plan --trace day.csv --trace-rate 12 rate=80 --json")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// One run per rate instead of many: sooner, without intervals.
    #[arg(long, conflicts_with = "trace")]
    pub(crate) quick: bool,
    /// Tell what so many GPUs carry, too.
    #[arg(long, value_name = "N", value_parser = some, allow_hyphen_values = true)]
    pub(crate) gpus: Option<NonZeroUsize>,
    /// Tell what so many dollars an hour carry, too.
    #[arg(
        long,
        value_name = "DOLLARS",
        value_parser = in_reach,
        allow_hyphen_values = true,
        conflicts_with = "gpus"
    )]
    pub(crate) budget: Option<f64>,
    /// Also list every number with its source.
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) sources: bool,
    /// Print JSON (SI units).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print the knee as CSV (SI units).
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom why
  headroom why sched.max_num_seqs=8 ttft=3s --json")]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom check scenario.json --assert 'gpus<=8' --assert 'ttft_p99<=800ms'
  headroom check rate=250 gpu=h200 --assert 'gpus<=14' --strict
  headroom check --list                                   what can be asserted

A scenario is checked as it is written. Where a link says what cannot be taken as written (a value out
of range, an unknown key, a length beyond the context), nothing is checked: exit code 2.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// A figure of the plan, one of <= < >= > ==, and a bound with or without a unit.
    #[arg(long = "assert", value_name = "ASSERTION", required_unless_present = "list")]
    pub(crate) assertions: Vec<String>,
    /// Hold only what holds at both ends of the 95 % intervals.
    #[arg(long)]
    pub(crate) strict: bool,
    /// List the figures that can be asserted.
    #[arg(long, conflicts_with_all = ["assertions", "json"])]
    pub(crate) list: bool,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom sweep
  headroom sweep --rates 1,5,10,15,20 --csv > knee.csv
  headroom sweep --rates 4 in=4096 sched.max_num_batched_tokens=512
  headroom sweep --trace day.csv --rates 5,10,20")]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Request rates on one GPU, per second [default: those of the plan's knee].
    #[arg(
        long,
        value_name = "RATE,…",
        value_delimiter = ',',
        value_parser = in_reach,
        allow_hyphen_values = true
    )]
    pub(crate) rates: Vec<f64>,
    /// Print JSON (SI units).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV (SI units).
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom simulate rate=20
  headroom simulate rate=100 --gpus 6
  headroom simulate rate=12 'profile=spike(30s,20s,3)' sim.requests=1500
  headroom simulate rate=15 'arrivals=onoff(20s,60s,0.1)'
  headroom simulate rate=100 --replicas 5 --requests 8640000      a day, on five replicas
  headroom simulate rate=60 disagg.prefill=2 disagg.decode=2     two pools, beside 4 replicas
  headroom simulate --trace day.csv --requests-out outcomes.csv
  headroom simulate --trace day.csv --trace-speed 2 --exact --json
  headroom simulate --trace azure.csv.gz --trace-rate 2 rate=10     replayed at five times the speed")]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Replay a table with the columns arrival_s, input_tokens and output_tokens in any order and
    /// under their usual names, an Azure LLM inference trace, a Mooncake trace, JSON records or
    /// AIPerf records; perhaps packed with gzip. The format is told by what is in the file.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// How many times faster than recorded.
    #[arg(
        long,
        value_name = "X",
        value_parser = in_reach,
        allow_hyphen_values = true,
        requires = "trace"
    )]
    pub(crate) trace_speed: Option<f64>,
    /// The rate, per second, at which the recording counts as made: it is replayed at the
    /// scenario’s rate.
    #[arg(
        long,
        value_name = "RATE",
        value_parser = in_reach,
        allow_hyphen_values = true,
        requires = "trace",
        conflicts_with = "trace_speed"
    )]
    pub(crate) trace_rate: Option<f64>,
    /// Leave out rows that cannot be used, with a note, instead of refusing the file.
    #[arg(long, requires = "trace")]
    pub(crate) skip_bad_rows: bool,
    /// How many GPUs share the rate evenly; one of them is simulated.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = some,
        allow_hyphen_values = true,
        conflicts_with = "trace"
    )]
    pub(crate) gpus: NonZeroUsize,
    /// How many replicas get the requests in turn (round robin); all of them are simulated.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = some,
        allow_hyphen_values = true,
        conflicts_with = "gpus"
    )]
    pub(crate) replicas: NonZeroUsize,
    /// How many requests to send, in place of sim.requests.
    #[arg(
        long,
        value_name = "N",
        value_parser = requests,
        allow_hyphen_values = true,
        conflicts_with = "trace"
    )]
    pub(crate) requests: Option<NonZeroU32>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Write one CSV row per request.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) requests_out: Option<PathBuf>,
    /// Use the slow engine that walks over every request in every step, as a check.
    #[arg(long)]
    pub(crate) oracle: bool,
    /// Exact percentiles at any number of requests; takes memory.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Print JSON (SI units).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print one CSV row per request.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print the run over time, one CSV row per window; with --json among the rest.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) windows: bool,
    /// Print the figures of the steady state with their 95 % intervals, one CSV row each; with --json
    /// they are among the rest.
    #[arg(long, conflicts_with_all = ["csv", "windows"])]
    pub(crate) intervals: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom chart --out knee.svg
  headroom chart --out knee.svg --theme dark model=llama-3.1-8b gpu=h200")]
pub(crate) struct ChartArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Where to write the SVG [default: standard output].
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) out: Option<PathBuf>,
    #[arg(long, value_enum, default_value = "light")]
    pub(crate) theme: ThemeName,
    /// Print the answer behind the chart as JSON (SI units).
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeName {
    /// On a light ground.
    Light,
    /// On a dark ground.
    Dark,
}

impl ThemeName {
    pub(crate) const fn colours(self) -> &'static Theme {
        match self {
            Self::Light => &charts::theme::LIGHT,
            Self::Dark => &charts::theme::DARK,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom link rate=250 gpu=h200
  headroom link rate=250 --base https://example.org/headroom/
  headroom link 'https://example.org/headroom/#v=1&rate=250'     explains the link
  headroom link rate=250 --json > scenario.json")]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Address of the page that the link opens.
    #[arg(long, value_name = "URL", default_value = "")]
    pub(crate) base: String,
    /// Print every setting as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom know
  headroom know --proof-seed 7 --json
  headroom know model=llama-3.1-8b          with what is assumed of this scenario")]
pub(crate) struct KnowArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Other random set-ups and arrivals; the page begins with 1, and each further run has the next.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = seed,
        allow_hyphen_values = true
    )]
    pub(crate) proof_seed: u64,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom catalog
  headroom catalog models qwen
  headroom catalog gpus h100                each figure with its source
  headroom catalog engines                  versions of vLLM, and what each changed
  headroom catalog --json > catalog.json")]
pub(crate) struct CatalogArgs {
    /// `models`, `gpus` or `engines` for one of the three, and words that entries must have.
    #[arg(value_name = "models|gpus|engines|SEARCH")]
    pub(crate) words: Vec<String>,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headroom memory model=llama-3.1-8b gpu=h100-sxm engine=vllm@0.19
  headroom memory model=gemma-3-27b gpu=h100 max_model_len=32768 context=4096
  headroom memory --config config.json gpu=h200-sxm tp=4 weights=fp8 kv_cache_dtype=fp8
  headroom memory model=gemma-3-27b gpu=h100 tp=2 --versions                 what 0.20 to 0.33 change
  headroom memory model=llama-3.1-8b gpu=h100 --svg memory.svg
  headroom memory model=gpt-oss-120b gpu=h100 tp=2 num_gpu_blocks=91495     with a logged number
  headroom memory layers=32 kv_heads=8 head_dim=128 gpu=h100 weights_gib=14.99 activation_gib=1.89")]
pub(crate) struct MemoryArgs {
    /// Settings `key=value`; --help lists them.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) words: Vec<String>,
    /// Read the architecture from a Hugging Face config.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Draw the memory of one GPU as a bar, as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Colours of the bar.
    #[arg(long, value_enum, default_value_t = ThemeName::Light, requires = "svg")]
    pub(crate) theme: ThemeName,
    /// Compare versions of the engine, from the one of engine= (0.19 where none is given) to the last: what
    /// changes, and why.
    #[arg(long, conflicts_with = "svg")]
    pub(crate) versions: bool,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

/// The command line, with the list of settings at the end of each command's long help.
pub(crate) fn command() -> clap::Command {
    let names: Vec<String> =
        Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
    names.into_iter().fold(Cli::command(), |command, name| {
        let takes_settings = !["catalog", "fit", "slots"].contains(&name.as_str());
        command.mut_subcommand(&name, |sub| {
            let examples = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            let settings = match name.as_str() {
                "memory" => crate::memory_settings::list() + "\n",
                _ if takes_settings => settings() + "\n",
                _ => String::new(),
            };
            sub.after_long_help(format!("{examples}\n\n{settings}{EXIT_CODES}"))
        })
    })
}

/// Every setting, from the one table.
fn settings() -> String {
    let mut text = String::from(BESIDE_SETTINGS);
    text.push_str("Settings (key=value; [default], what it is, example):\n");
    for field in scenario::FIELDS {
        let default = if field.default.is_empty() { "catalogue" } else { field.default };
        let (key, help, example) = (field.key, field.help, field.example);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {key} [{default}]\n      {help} Example: {example}");
        if key == "profile" {
            let (prefix, help) = (scenario::CLASS_PREFIX, scenario::CLASS_HELP);
            let example = scenario::CLASS_EXAMPLE;
            let _ = writeln!(text, "  {prefix}NAME [none]\n      {help} Example: {example}");
        }
    }
    text
}
