//! Measured files, and the scenario that each of their points was measured in.

use std::{fs::File, io::Read as _, path::Path};

use import::{
    Observed,
    bench::{Benchmark, Gaps, Load, MeasuredPoint},
    engine_log::EngineLog,
};
use planner::{Measured, Observation};
use scenario::Scenario;

use crate::{
    args::{FitOn, MeasuredArgs, ScenarioArgs},
    failure::Failure,
    input, output,
};

/// No result of a load test that is read is larger; larger ones are refused with a remedy.
const MOST_BYTES: u64 = 512 << 20;
/// Requests that settle the means of a point: more would only take longer.
const MOST_REQUESTS: u64 = 1200;
/// Requests of a closed loop for each in flight, where a file does not tell.
const ROUNDS: u64 = 10;
/// Requests of a rate, where a file does not tell.
const OPEN_REQUESTS: u64 = 600;
/// A simulation has no fewer.
const LEAST_REQUESTS: u64 = 10;
/// Points that are simulated; more would take minutes and tell no more.
const MOST_POINTS: usize = 60;
/// What must be one and the same for all points of a curve.
const ONE_DEPLOYMENT: [&str; 6] =
    ["model", "gpu", "tp", "engine", "engine_version", "weight_dtype"];

/// Files as they were understood, with the scenario that they were measured on.
pub(crate) struct MeasuredFiles {
    /// The deployment: what was typed, and what the files say.
    pub(crate) scenario: Scenario,
    /// All points of all files, in order.
    pub(crate) points: Vec<MeasuredPoint>,
    /// Sentences on what was read.
    pub(crate) read: Vec<String>,
    /// Keys that were typed.
    typed: Vec<String>,
}

/// Read the files among the words, and apply the others as settings.
pub(crate) fn read(args: &MeasuredArgs) -> Result<MeasuredFiles, Failure> {
    let is_file = |word: &&String| {
        let is_link = word.starts_with("http") || word.starts_with('#') || word.contains("v=1&");
        Path::new(word.as_str()).exists() || !(word.contains('=') || is_link)
    };
    let (files, settings): (Vec<&String>, Vec<&String>) = args.words.iter().partition(is_file);
    let typed = settings.iter().filter_map(|word| word.split_once('=')).map(|it| key(it.0));
    let typed: Vec<String> = typed.collect();
    let scenario = input::scenario(&ScenarioArgs {
        words: settings.into_iter().cloned().collect(),
        preset: None,
        json_file: args.json_file.clone(),
    })?;
    if files.is_empty() {
        return Err(Failure::input(
            "Give a file that was measured: the result of a load test, for example of vllm bench serve \
             --save-result.",
        ));
    }
    let mut all = MeasuredFiles { scenario, points: Vec::new(), read: Vec::new(), typed };
    for file in files {
        all.add(Path::new(file))?;
    }
    if all.points.is_empty() {
        return Err(Failure::input(
            "A start-up log tells memory and settings, but no times. Give the result of a load test beside it.",
        ));
    }
    if all.points.len() > MOST_POINTS {
        return Err(Failure::input(format!(
            "{} points are more than the {MOST_POINTS} that are simulated. Give the rows of one curve.",
            all.points.len()
        )));
    }
    all.one_deployment()?;
    Ok(all)
}

fn key(typed: &str) -> String {
    let key = typed.trim();
    if key == "tp" { "deploy.tp".to_owned() } else { key.to_owned() }
}

impl MeasuredFiles {
    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        input::check_file(path)?;
        let bytes = bytes(path)?;
        let name = path.file_name().map(|name| name.to_string_lossy());
        let found = import::observe(name.as_deref(), &bytes)
            .map_err(|error| Failure::input(output::sentence(&error.to_string())))?;
        match found {
            Observed::Log(log) => self.add_log(path, &log),
            Observed::Benchmark(benchmark) => {
                self.add_benchmark(path, benchmark);
                Ok(())
            }
        }
    }

    fn add_benchmark(&mut self, path: &Path, benchmark: Benchmark) {
        self.read.push(format!(
            "{}: {}, {}",
            path.display(),
            benchmark.format.name(),
            quantity::counted(benchmark.points.len() as u64, "point", "points")
        ));
        benchmark.notes.iter().for_each(|note| output::note(note));
        self.points.extend(benchmark.points);
    }

    /// Take what the engine logged of itself, where nobody typed it.
    fn add_log(&mut self, path: &Path, log: &EngineLog) -> Result<(), Failure> {
        if let Some(failure) = &log.failure {
            return Err(Failure::input(format!(
                "{}: this start failed: {failure}",
                path.display()
            )));
        }
        let number = |value: Option<u64>| value.map(|it| it.to_string());
        let version = log.version.as_ref().map(|it| format!("vllm@{it}"));
        let cache = log.kv_cache_dtype.as_deref().filter(|word| word.starts_with("fp8"));
        let mut taken = Vec::new();
        for (key, value) in [
            ("model", log.model.as_deref().and_then(model_slug)),
            ("engine", version),
            ("deploy.tp", number(log.tp)),
            ("weights", log.quantization.as_deref().and_then(weights_word).map(str::to_owned)),
            ("kv_dtype", cache.map(|_| "fp8".to_owned())),
            ("sched.max_num_batched_tokens", number(log.max_num_batched_tokens)),
            ("sched.max_num_seqs", number(log.max_num_seqs)),
            ("kv.capacity_tokens", number(log.kv_cache_tokens)),
        ] {
            let Some(value) = value.filter(|_| !self.typed.iter().any(|typed| typed == key)) else {
                continue;
            };
            match self.scenario.set(key, &value) {
                Ok(_) => taken.push(format!("{key}={value}")),
                Err(notice) => output::note(&format!("{}: {}", path.display(), notice.message)),
            }
        }
        let taken = if taken.is_empty() { "nothing".to_owned() } else { taken.join(" ") };
        self.read.push(format!("{}: start-up log, from which {taken}", path.display()));
        Ok(())
    }

    /// Points of several deployments have no constants in common.
    fn one_deployment(&mut self) -> Result<(), Failure> {
        for name in ONE_DEPLOYMENT {
            let mut values: Vec<&str> =
                self.points.iter().filter_map(|it| it.setting(name)).collect();
            values.sort_unstable();
            values.dedup();
            if let [first, second, ..] = values.as_slice() {
                return Err(Failure::input(format!(
                    "The points are of several deployments: {name} is “{first}” and “{second}”. Give those of one."
                )));
            }
        }
        let told =
            |name: &str| self.points.iter().find_map(|it| it.setting(name)).map(str::to_owned);
        let settings = [
            ("model", told("model").and_then(|it| model_slug(&it))),
            ("gpu", told("gpu").filter(|it| catalog::device(it).is_ok())),
            ("deploy.tp", told("tp")),
            ("weights", told("weight_dtype").filter(|word| word != "bf16")),
        ];
        for (key, value) in settings {
            if let Some(value) = value.filter(|_| !self.typed.iter().any(|typed| typed == key))
                && self.scenario.get(key).as_ref() != Some(&value)
                && self.scenario.set(key, &value).is_ok()
            {
                self.read.push(format!("taken from the points: {key}={value}"));
            }
        }
        let has_model = told("model").and_then(|it| model_slug(&it)).is_some();
        if !has_model && !self.typed.iter().any(|typed| typed == "model") {
            output::note(&format!(
                "No model of the catalogue is named, so that {} stands for it. Give model=.",
                self.scenario.model
            ));
        }
        Ok(())
    }

    /// The points as observations, those that are fitted marked.
    pub(crate) fn observations(&self, on: FitOn) -> Result<Vec<Observation>, Failure> {
        let fitted = fitted(&self.points, on);
        self.points
            .iter()
            .zip(fitted)
            .map(|(point, is_fitted)| self.observation(point, is_fitted))
            .collect()
    }

    fn observation(&self, point: &MeasuredPoint, is_fitted: bool) -> Result<Observation, Failure> {
        let mut scenario = self.scenario.clone();
        let mut put = |key: &str, value: String| {
            let set = scenario.set(key, &value);
            set.map_err(|notice| Failure::input(format!("{}: {}", point.name, notice.message)))
        };
        for (key, tokens) in [("in", point.input_tokens), ("out", point.output_tokens)] {
            let is_typed = self.typed.iter().any(|typed| typed == key);
            if let Some(tokens) = tokens.filter(|_| !is_typed) {
                put(key, format!("{}", (tokens.round() as u64).max(u64::from(key == "out"))))?;
            }
        }
        let sent = point.completed.map(|it| it + point.failed).filter(|it| *it > 0);
        let requests = match point.load {
            Load::InFlight(count) | Load::AtOnce(count) => {
                put("arrivals", format!("closed({count},0s)"))?;
                let rounds = if matches!(point.load, Load::AtOnce(_)) { 1 } else { ROUNDS };
                sent.unwrap_or(rounds * count).min(MOST_REQUESTS.max(3 * count)).max(count)
            }
            Load::PerSecond(rate) => {
                put("rate", format!("{rate}"))?;
                if !self.typed.iter().any(|typed| typed == "arrivals") {
                    put("arrivals", gaps_word(point.gaps))?;
                }
                sent.unwrap_or(OPEN_REQUESTS).min(3 * MOST_REQUESTS)
            }
            Load::Untold => {
                return Err(Failure::input(
                    "A point does not tell its load. Give it in a table, with a column concurrency or rate.",
                ));
            }
        };
        put("sim.requests", format!("{}", requests.max(LEAST_REQUESTS)))?;
        let measured = Measured {
            ttft_s: point.ttft.typical_s(),
            ttft_is_median: point.ttft.mean_s.is_none(),
            tpot_s: point.tpot.typical_s(),
            tpot_is_median: point.tpot.mean_s.is_none(),
        };
        Ok(Observation { name: point.name.clone(), scenario, measured, is_fitted })
    }
}

/// Clients send at independent gaps unless they say otherwise.
fn gaps_word(gaps: Option<Gaps>) -> String {
    match gaps {
        Some(Gaps::Even) => "even".to_owned(),
        Some(Gaps::Gamma(shape)) => format!("gamma({shape})"),
        Some(Gaps::Poisson) | None => "poisson".to_owned(),
    }
}

/// Which points are fitted. An overloaded one never is: its times tell how long the test was.
fn fitted(points: &[MeasuredPoint], on: FitOn) -> Vec<bool> {
    let mut order: Vec<usize> =
        (0..points.len()).filter(|at| !points[*at].is_overloaded()).collect();
    if on == FitOn::All {
        return points.iter().map(|point| !point.is_overloaded()).collect();
    }
    order.sort_by(|a, b| rate_of(&points[*a]).total_cmp(&rate_of(&points[*b])));
    let second = if on == FitOn::Ends { order.len().saturating_sub(1) } else { order.len() / 2 };
    let chosen = [order.first().copied(), order.get(second).copied()];
    (0..points.len()).map(|at| chosen.contains(&Some(at))).collect()
}

/// Requests that a point answered per second, as nearly as it tells.
pub(crate) fn rate_of(point: &MeasuredPoint) -> f64 {
    if let Some(rate) = point.requests_per_s {
        return rate;
    }
    let output = point.output_tokens.unwrap_or(1.0);
    let whole_s = point.e2e.typical_s().or_else(|| {
        let (ttft_s, tpot_s) = (point.ttft.typical_s()?, point.tpot.typical_s()?);
        Some(ttft_s + (output - 1.0) * tpot_s)
    });
    match (point.load, whole_s) {
        (Load::PerSecond(rate), _) => rate,
        (Load::InFlight(count) | Load::AtOnce(count), Some(whole_s)) => count as f64 / whole_s,
        _ => 0.0,
    }
}

/// The catalogue's name of a model, where it has one.
fn model_slug(name: &str) -> Option<String> {
    let tail = name.rsplit('/').next().unwrap_or(name);
    let known = catalog::checkpoint(name).or_else(|_| catalog::checkpoint(tail));
    known.ok().map(|checkpoint| checkpoint.slug)
}

/// Headroom's word for a quantisation of vLLM's.
fn weights_word(quantization: &str) -> Option<&'static str> {
    Some(match quantization {
        "fp8" | "fbgemm_fp8" | "modelopt" => "fp8",
        "mxfp4" => "mxfp4",
        "modelopt_fp4" | "nvfp4" => "nvfp4",
        "awq" | "awq_marlin" | "gptq" | "gptq_marlin" => "int4",
        _ => return None,
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::reading(path, error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::input(format!(
            "{} is larger than 512 MiB. Save the result without single requests, or the part of the log that \
             starts the server.",
            path.display()
        )));
    }
    Ok(bytes)
}
