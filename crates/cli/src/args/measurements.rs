//! What may be typed of commands that take measured runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ThreadArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  headroom fit serving.csv                                    errors of the fit, and of each group left out
  headroom fit serving.csv --leave-out both --groups          families, too; and a line for each group
  headroom fit serving.csv --leave-out none --constants assets/kernel/constants.json --date 2026-11")]
pub(crate) struct FitArgs {
    /// A table of measured runs, comma-separated.
    pub(crate) file: PathBuf,
    /// What is left out together, to tell the errors on what a fit never saw.
    #[arg(long, value_enum, default_value_t = LeaveOut::Group)]
    pub(crate) leave_out: LeaveOut,
    /// Tell the errors of each group.
    #[arg(long)]
    pub(crate) groups: bool,
    /// Write the constants to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) constants: Option<PathBuf>,
    /// The date that the file of constants tells.
    #[arg(long, default_value = "")]
    pub(crate) date: String,
    /// Also calibrate each curve on two of its points, from constants that never saw its group, and tell how far
    /// the others are off then.
    #[arg(long)]
    pub(crate) two_points: bool,
    /// Write the errors as a page in Markdown.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Draw predicted against measured times as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
    /// Tell how far it has come.
    #[arg(long)]
    pub(crate) progress: bool,
}

/// Measured files and the settings of the deployment that they were measured on.
#[derive(Debug, Args)]
pub(crate) struct MeasuredArgs {
    /// Files (results of vllm bench serve and its sweeps, GuideLLM, AIPerf, inference-perf, SGLang’s
    /// bench_serving, llmperf, a table; vLLM’s start-up log), and settings key=value or a link.
    #[arg(value_name = "FILE or SETTING", required = true)]
    pub(crate) words: Vec<String>,
    /// Start from a scenario of a JSON file, as `headroom link --json` writes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) json_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Print JSON (SI units).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  headroom calibrate results.json model=llama-3.1-8b gpu=h100-sxm
  headroom calibrate results.csv server.log gpu=h100-sxm step.kind=kernel --on ends
  headroom calibrate results.csv model=llama-3.1-8b step.kind=affine --json")]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    pub(crate) measured: MeasuredArgs,
    /// Which points constants are fitted to; the others are predicted, to hold the fit against them.
    #[arg(long, value_enum, default_value_t = FitOn::All)]
    pub(crate) on: FitOn,
}

/// Which points constants are fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FitOn {
    /// Every point whose server kept up with its load.
    All,
    /// The least and the greatest of these loads: best for TPOT.
    Ends,
    /// The least and the one in the middle: best for TTFT.
    Middle,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  headroom curve results.csv model=llama-3.1-8b gpu=h100-sxm rate=40 ttft=500ms tpot=30ms
  headroom curve results.csv server.log gpu=h100-sxm step.kind=kernel rate=40 --json")]
pub(crate) struct CurveArgs {
    #[command(flatten)]
    pub(crate) measured: MeasuredArgs,
}

/// What is left out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeaveOut {
    /// Nothing: only the fit on all runs.
    None,
    /// Network, GPU, ranks, engine and precision.
    Group,
    /// The same whatever the ranks.
    Family,
    /// Groups, then families.
    Both,
}
