//! What the Calibrate view says.

use quantity::{count, counted, share};
use scenario::{Scenario, field};

pub(crate) const CALIBRATE: &str = "Calibrate";
pub(crate) const CALIBRATE_HEADING: &str = "The model held against what was measured";
pub(crate) const NOT_CALIBRATED_YET: &str = "Published constants";
pub(crate) const CALIBRATE_EMPTY: &str = "Give a load test of this model on this GPU, and the model’s few free constants are fitted to it.";
pub(crate) const CALIBRATE_STAYS: &str = "Files stay in this tab; links keep the fitted constants.";
pub(crate) const GIVE_FILES: &str = "Give what was measured";
pub(crate) const GIVE_FILES_BESIDE: &str = "one file or several, of one deployment";
pub(crate) const CHOOSE_MEASURED: &str = "Choose files, or drop them here";
pub(crate) const MEASURED_HELP: &str = "Results of vllm bench serve and its sweeps, SGLang bench_serving, GuideLLM, AIPerf, inference-perf, llmperf, or a table with a load, lengths and TTFT or TPOT; beside them vLLM’s start-up log, or the config.json of a model that the catalogue lacks.";
pub(crate) const PASTE_LABEL: &str = "Or paste the text of one";
pub(crate) const PASTE_HINT: &str =
    "{\"request_rate\": 4, \"mean_ttft_ms\": 61.2, \"mean_tpot_ms\": 9.8, …}";
pub(crate) const READ_PASTED: &str = "Read the text";
pub(crate) const PASTED: &str = "pasted text";
pub(crate) const NOTHING_PASTED: &str =
    "There is no text to read yet. Paste the content of a file first.";
pub(crate) const NO_FILE_YET: &str = "Nothing at hand?";
pub(crate) const NO_FILE_YET_BESIDE: &str = "measure it, or look at a sample";
pub(crate) const MEASURE_WITH: &str = "Beside a running server, this measures the present traffic and saves a file for here. Three rates from light to nearly full tell more than one.";
pub(crate) const COPY_COMMAND: &str = "Copy the command";
pub(crate) const COMMAND_COPIED: &str = "Copied as a command.";
pub(crate) const SAMPLE_TOLD: &str = "The sample was made by the simulator, not measured: Qwen2.5-7B on an H100 that reaches less of its peak.";
pub(crate) const TRY_SAMPLE: &str = "Try the sample";
pub(crate) const FILES_UNDERSTOOD: &str = "What was understood";
pub(crate) const MEASURED_POINTS: &str = "Point by point";
pub(crate) const POINTS_BESIDE: &str = "times of the client, mean or median as the file has them";
pub(crate) const POINT_COLUMNS: [&str; 8] =
    ["Load", "TTFT measured", "before", "after", "TPOT measured", "before", "after", "Fit"];
pub(crate) const FITTED: &str = "fitted";
pub(crate) const LEFT_OUT: &str = "left out: the server did not keep up";
pub(crate) const CONSTANTS: &str = "Fitted constants";
pub(crate) const CONSTANTS_BESIDE: &str = "few, so that few points do";
pub(crate) const CONSTANT_COLUMNS: [&str; 4] = ["Constant", "before", "after", "Setting"];
pub(crate) const PREDICTED: &str = "Measured against predicted";
pub(crate) const PREDICTED_BESIDE: &str = "bands: 10 and 25 % around equal";
pub(crate) const BEFORE: &str = "before";
pub(crate) const AFTER: &str = "after";
pub(crate) const AFTER_LEFT_OUT: &str = "after, left out";
pub(crate) const USE_EVERYWHERE: &str = "Use everywhere";
pub(crate) const FORGET_CALIBRATION: &str = "Forget";
pub(crate) const FIT_AGAIN: &str = "Fit again";
pub(crate) const STOP_FIT: &str = "Stop";
pub(crate) const USED: &str = "In use";
pub(crate) const NOT_USED: &str = "Not in use yet";
pub(crate) const READING_FILES: &str = "Reading…";
pub(crate) const FIT_STOPPED: &str = "Stopped";
pub(crate) const NOTHING_TO_FIT: &str = "Nothing to fit";
pub(crate) const SETTINGS_ONLY: &str = "Settings only";
pub(crate) const NO_POINTS: &str =
    "None of these files has a point to fit constants to. Beside each stands why.";
pub(crate) const LOG_ONLY: &str =
    "These files tell settings, but no times. Give a load test beside them to fit constants.";
pub(crate) const CALIBRATION_DIED: &str = "Reading these files took more memory or time than this tab has. Give less at once: the rows of one curve, or the part of a log that starts the server.";
pub(crate) const FORGOTTEN: &str = "The constants are the published ones again.";
pub(crate) const TAKEN_SETTINGS: &str = "Settings taken from the files:";
pub(crate) const FIT_ROUNDS: &str = "simulated with other constants until they agree";

/// “Fitting, 40 %”.
pub(crate) fn fitting(done: u32, all: u32) -> String {
    let percent = 100 * u64::from(done) / u64::from(all.max(1));
    ["Fitting, ", &count(percent), "\u{202f}%"].concat()
}

/// “41 % → 9 %”.
pub(crate) fn error_shrinks(before: f64, after: f64) -> String {
    [&share(before), " → ", &share(after)].concat()
}

/// “median error of TPOT over 6 points, before and after”.
pub(crate) fn error_of(time: &str, points: u64) -> String {
    ["Median error of ", time, " over ", &counted(points, "point", "points"), ", before and after"]
        .concat()
}

/// “TTFT 22 % → 3.1 %”.
pub(crate) fn other_error(time: &str, before: f64, after: f64) -> String {
    [time, " ", &error_shrinks(before, after)].concat()
}

/// “Qwen2.5-7B on H100”.
pub(crate) fn calibrated_deployment(scenario: &Scenario) -> String {
    [&*scenario::model_name(&scenario.model), " on ", &*scenario::gpu_name(&scenario.gpu)].concat()
}

/// “fitted to 6 points; in the ledger and in every link”.
pub(crate) fn calibration_used(points: u64) -> String {
    ["The scenario has constants fitted to ", &counted(points, "point", "points"), "."].concat()
}

/// What a file is larger than.
pub(crate) fn measured_too_large(mib: u64) -> String {
    [
        "This file is larger than ",
        &count(mib),
        " MiB. Save the result without single requests, or keep the part of the log that starts the server.",
    ]
    .concat()
}

/// A file that the browser does not read.
pub(crate) const MEASURED_UNREAD: &str =
    "The browser could not read this file. Is it still where it was? Choose it again.";

/// “3 places are not used; the first:”.
pub(crate) fn places_unused(places: u64) -> String {
    [&counted(places, "place is", "places are"), " not used."].concat()
}

/// The name of a constant.
pub(crate) fn constant_name(key: &str) -> &'static str {
    field(key).map_or("", |field| field.label)
}

/// The command that measures a scenario's traffic.
pub(crate) fn bench_command(scenario: &Scenario) -> String {
    let tokens = |length: &sim_core::LengthSpec| quantity::plain(length.mean_tokens().round(), 0);
    [
        "vllm bench serve --dataset-name random --random-input-len ",
        &tokens(&scenario.input),
        " --random-output-len ",
        &tokens(&scenario.output),
        " --ignore-eos --request-rate ",
        &quantity::editable(scenario.rate_per_s),
        " --num-prompts 500 --save-result",
    ]
    .concat()
}

/// What the live region says.
pub(crate) fn calibration_taken(points: u64) -> String {
    ["Constants fitted to ", &counted(points, "point", "points"), " are in use everywhere."]
        .concat()
}
