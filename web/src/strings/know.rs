//! What “How we know” says.

use quantity::{count, duration, number};

pub(crate) const KNOW: &str = "How we know";
pub(crate) const KNOW_HEADING: &str =
    "How we know: the simulator’s truths, checked in this browser";
pub(crate) const RUN_AGAIN: &str = "Run again";
pub(crate) const ALL_HOLD: &str = "All hold";
pub(crate) const DOES_NOT_HOLD: &str = "Does not hold";
pub(crate) const FINGERPRINT: &str = "Fingerprint ";
pub(crate) const SAME_AS: &str = ", the same to the bit as natively: ";
pub(crate) const TRUTHS: &str = "What every run must satisfy";
pub(crate) const TRUTHS_BESIDE: &str = "both sides as found";
pub(crate) const QUEUES: &str = "Theory against simulation";
pub(crate) const QUEUES_BESIDE: &str = "in mean service times, 99\u{202f}% intervals";
pub(crate) const MEAN: &str = "mean";
pub(crate) const P90: &str = "P90";
pub(crate) const OUTSIDE: &str = "theory outside";
pub(crate) const THEORY: &str = "theory";
pub(crate) const P99: &str = "P99";
pub(crate) const QUEUE_COLUMNS: [&str; 7] =
    ["Queue, load", "Mean", "Simulated", "P90", "Simulated", "P99", "Simulated"];
pub(crate) const COMPARISONS: &str = "Ceilings and published figures";
pub(crate) const COMPARISONS_BESIDE: &str = "formula or print beside simulation";
pub(crate) const PLATEAUS: &str = "Engines that never run out of work";
pub(crate) const PLATEAU_COLUMNS: [&str; 4] = ["Engine", "Closed form", "Simulated", "Difference"];
pub(crate) const PUBLISHED: &str = "Figures that others printed";
pub(crate) const PUBLISHED_COLUMNS: [&str; 4] = ["Setting", "Figure", "Printed", "A run of ours"];
pub(crate) const ASSUMED: &str = "What is assumed";
pub(crate) const ASSUMED_BESIDE: &str = "of this scenario first, then of every answer";

/// “of 15 hold”.
pub(crate) fn of_truths_hold(truths: usize) -> String {
    format!("of {} hold", count(truths as u64))
}

/// “just now, in this browser; 0.8 s”.
pub(crate) fn know_when(took_ms: Option<f64>) -> String {
    match took_ms {
        Some(ms) => format!("just now, in this browser; it took {}", duration(ms / 1_000.0)),
        None => "being checked in this browser".to_owned(),
    }
}

/// The command that gives the same numbers.
pub(crate) fn know_command(seed: u64) -> String {
    if seed == 1 {
        "headroom know".to_owned()
    } else {
        format!("headroom know --proof-seed {seed}")
    }
}

/// A verdict between a truth and its figures, for those who listen.
pub(crate) fn spoken_verdict(verdict: &str) -> String {
    format!(": {verdict}. ")
}

/// “M/M/1 at 0.95”.
pub(crate) fn queue_at(queue: &str, load: f64) -> String {
    format!("{queue} at {}", number(load))
}

pub(crate) const LATENCY_ACCURACY: &str = "Predicted latency against measured";
pub(crate) const ACCURACY_BESIDE: &str = "absolute error of runs whose model, GPU, engine and format were left out of the fit: median / P90";
pub(crate) const ACCURACY_COLUMNS: [&str; 5] =
    ["Regime, as a share of a curve’s largest throughput", "Runs", "TTFT", "TPOT", "End to end"];
pub(crate) const ACCURACY_SOURCE: &str = "Of the kernel model, which the command line simulates (step.kind=kernel), on runs of SemiAnalysis InferenceX, the AIConfigurator team, llm-inferno and inference-perf; docs/accuracy.md tells each group. The step time of this page is the roofline with published constants: calibrate it on your own measurements to know its error.";

/// “9.3 % / 17 %”.
pub(crate) fn median_and_p90(median: f64, p90: f64) -> String {
    [&quantity::share(median), " / ", &quantity::share(p90)].concat()
}
