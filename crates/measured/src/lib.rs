//! Measured files, and the scenario that each of their points was measured in.
//!
//! ```text
//!   bytes ──import──▶ points, start-up logs ──MeasuredFiles──▶ [planner::Observation]
//! ```
//!
//! What a file says of its deployment goes into the scenario, unless a person said it already. The command line
//! and the page's worker read files through this crate, so that both understand the same.

mod error;
mod own_model;
mod sample;

use catalog::ModelConfig;
use import::{
    Observed,
    bench::{Benchmark, Gaps, Load, MeasuredPoint},
    engine_log::EngineLog,
};
use planner::{Measured, Observation};
use scenario::{Notice, Scenario};

pub use error::MeasuredError;
pub use sample::{SAMPLE, SAMPLE_NAME};

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

/// Which points constants are fitted to; none is that whose server did not keep up with its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitOn {
    /// Every one.
    All,
    /// The least and the greatest of these loads: best for TPOT.
    Ends,
    /// The least and the one in the middle: best for TTFT.
    Middle,
}

/// What a file is.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// The log of an engine's start.
    Log(Box<EngineLog>),
    /// The result of a load test.
    Benchmark(Benchmark),
    /// The `config.json` of a model.
    Model(Box<ModelConfig>),
}

/// Files as they were understood, with the scenario that they were measured on.
#[derive(Clone, Debug)]
pub struct MeasuredFiles {
    /// The deployment: what was said, and what the files say.
    pub scenario: Scenario,
    /// All points of all files, in order.
    pub points: Vec<MeasuredPoint>,
    /// Sentences on what was read.
    pub read: Vec<String>,
    /// Whole sentences on how it was read, and on what a person should know of it.
    pub notes: Vec<String>,
    /// Settings that were taken from the files, as links write them.
    pub taken: Vec<(String, String)>,
    /// Keys that a person said, which no file changes.
    said: Vec<String>,
}

impl MeasuredFiles {
    /// None yet, of a deployment of which a person said these keys.
    #[must_use]
    pub const fn new(scenario: Scenario, said: Vec<String>) -> Self {
        Self {
            scenario,
            points: Vec::new(),
            read: Vec::new(),
            notes: Vec::new(),
            taken: Vec::new(),
            said,
        }
    }

    /// Take in a file, called `name` in messages.
    ///
    /// # Errors
    /// It is neither the result of a load test nor the log of a start that went well.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<Seen, MeasuredError> {
        if own_model::is_config(bytes) {
            return self.add_model(name, bytes);
        }
        Ok(match import::observe(Some(name), bytes)? {
            Observed::Log(log) => {
                self.add_log(name, &log)?;
                Seen::Log(log)
            }
            Observed::Benchmark(benchmark) => {
                self.add_benchmark(name, &benchmark);
                Seen::Benchmark(benchmark)
            }
        })
    }

    /// Take a model's figures in the place of the catalogue's.
    fn add_model(&mut self, name: &str, bytes: &[u8]) -> Result<Seen, MeasuredError> {
        let (config, settings) = own_model::settings(name, bytes, &self.scenario)?;
        for (key, value) in settings {
            if let Err(notice) = self.take(key, &value) {
                return Err(MeasuredError::NoModel {
                    file: name.to_owned(),
                    reason: notice.message,
                });
            }
        }
        self.read
            .push(format!("{name}: config.json of {}, in {}", config.family, config.precision));
        self.notes.push(format!(
            "A link holds no file, so these figures stand for the model in memory and step time. Its name stays {}, \
             and lengths are held to the context of that model; the file says {}.",
            scenario::model_name(&self.scenario.model),
            quantity::tokens(config.context_tokens as f64)
        ));
        if self.scenario.is_deployed() {
            self.notes.push(
                "The KV cache of a deployment is computed for the model that is named. Set its tokens by \
                 kv.capacity_tokens, as the engine logs them."
                    .to_owned(),
            );
        }
        Ok(Seen::Model(Box::new(config)))
    }

    fn add_benchmark(&mut self, name: &str, benchmark: &Benchmark) {
        self.read.push(format!(
            "{name}: {}, {}",
            benchmark.format.name(),
            quantity::counted(benchmark.points.len() as u64, "point", "points")
        ));
        self.notes.extend(benchmark.notes.iter().cloned());
        self.points.extend(benchmark.points.iter().cloned());
    }

    /// Take what the engine logged of itself, where nobody said it.
    fn add_log(&mut self, name: &str, log: &EngineLog) -> Result<(), MeasuredError> {
        if let Some(failure) = &log.failure {
            let (file, failure) = (name.to_owned(), failure.clone());
            return Err(MeasuredError::FailedStart { file, failure });
        }
        let number = |value: Option<u64>| value.map(|it| it.to_string());
        // Releases within a minor version have the same memory.
        let minor = |version: &String| version.split('.').take(2).collect::<Vec<_>>().join(".");
        let version = log.version.as_ref().map(|it| format!("vllm@{}", minor(it)));
        let cache = log.kv_cache_dtype.as_deref().filter(|word| word.starts_with("fp8"));
        let is_known =
            log.model.as_deref().and_then(model_slug).is_some() && !self.is_said("model");
        let (blocks, tokens) = match (number(log.num_gpu_blocks), number(log.kv_cache_tokens)) {
            (Some(blocks), _) if is_known => (Some(blocks), None),
            (_, tokens) => (None, tokens),
        };
        let before = self.taken.len();
        for (key, value) in [
            ("model", log.model.as_deref().and_then(model_slug)),
            ("engine", version),
            ("deploy.tp", number(log.tp)),
            ("weights", log.quantization.as_deref().and_then(weights_word).map(str::to_owned)),
            ("kv_dtype", cache.map(|_| "fp8".to_owned())),
            ("sched.max_num_batched_tokens", number(log.max_num_batched_tokens)),
            ("sched.max_num_seqs", number(log.max_num_seqs)),
            // Blocks say more than tokens where layers keep different things, but of the engine's own model only.
            ("kv.num_gpu_blocks", blocks),
            ("kv.capacity_tokens", tokens),
        ] {
            let Some(value) = value.filter(|_| !self.is_said(key)) else { continue };
            if let Err(notice) = self.take(key, &value) {
                self.notes.push(format!("{name}: {}", notice.message));
            }
        }
        let taken: Vec<String> =
            self.taken.iter().skip(before).map(|(key, value)| format!("{key}={value}")).collect();
        let taken = if taken.is_empty() { "nothing".to_owned() } else { taken.join(" ") };
        self.read.push(format!("{name}: start-up log, from which {taken}"));
        Ok(())
    }

    fn is_said(&self, key: &str) -> bool {
        self.said.iter().any(|said| said == key)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), Notice> {
        self.scenario.set(key, value)?;
        self.taken.push((key.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Whether all that was taken in can be simulated together; takes what the points say of their deployment.
    ///
    /// # Errors
    /// There are no points, too many, or those of several deployments.
    pub fn complete(&mut self) -> Result<(), MeasuredError> {
        if self.points.is_empty() {
            return Err(MeasuredError::NoTimes);
        }
        if self.points.len() > MOST_POINTS {
            let points = self.points.len();
            return Err(MeasuredError::TooManyPoints { points, most: MOST_POINTS });
        }
        self.one_deployment()
    }

    /// Points of several deployments have no constants in common.
    fn one_deployment(&mut self) -> Result<(), MeasuredError> {
        for name in ONE_DEPLOYMENT {
            let mut values: Vec<&str> =
                self.points.iter().filter_map(|it| it.setting(name)).collect();
            values.sort_unstable();
            values.dedup();
            if let [first, second, ..] = values.as_slice() {
                let (first, second) = ((*first).to_owned(), (*second).to_owned());
                return Err(MeasuredError::SeveralDeployments { name, first, second });
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
        let has_model = settings[0].1.is_some();
        for (key, value) in settings {
            if let Some(value) = value.filter(|_| !self.is_said(key))
                && self.scenario.get(key).as_ref() != Some(&value)
                && self.take(key, &value).is_ok()
            {
                self.read.push(format!("taken from the points: {key}={value}"));
            }
        }
        if !has_model && !self.is_said("model") && !self.taken.iter().any(|it| it.0 == "model") {
            self.notes.push(format!(
                "No model of the catalogue is named, so that {} stands for it. Give model=.",
                self.scenario.model
            ));
        }
        Ok(())
    }

    /// The points as observations, those that are fitted marked.
    ///
    /// # Errors
    /// A point does not tell its load, or its scenario refuses what it tells.
    pub fn observations(&self, on: FitOn) -> Result<Vec<Observation>, MeasuredError> {
        let fitted = fitted(&self.points, on);
        self.points
            .iter()
            .zip(fitted)
            .map(|(point, is_fitted)| self.observation(point, is_fitted))
            .collect()
    }

    fn observation(
        &self,
        point: &MeasuredPoint,
        is_fitted: bool,
    ) -> Result<Observation, MeasuredError> {
        let mut scenario = self.scenario.clone();
        let mut put = |key: &str, value: String| {
            let set = scenario.set(key, &value);
            set.map_err(|notice| {
                let (point, message) = (point.name.clone(), notice.message);
                MeasuredError::Setting { point, message }
            })
        };
        for (key, tokens) in [("in", point.input_tokens), ("out", point.output_tokens)] {
            let is_said = self.is_said(key);
            if let Some(tokens) = tokens.filter(|_| !is_said) {
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
                if !self.is_said("arrivals") {
                    put("arrivals", gaps_word(point.gaps))?;
                }
                sent.unwrap_or(OPEN_REQUESTS).min(3 * MOST_REQUESTS)
            }
            Load::Untold => {
                return Err(MeasuredError::NoLoad);
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

/// A scenario's engine on its GPUs under plain traffic: what load tests measure, whatever else is planned for.
#[must_use]
pub fn deployment_of(scenario: &Scenario) -> Scenario {
    Scenario {
        model: scenario.model.clone(),
        gpu: scenario.gpu.clone(),
        sched: scenario.sched,
        rules: scenario.rules,
        vllm: scenario.vllm,
        spec: scenario.spec,
        step: scenario.step,
        kv_capacity_tokens: scenario.kv_capacity_tokens,
        deploy: scenario.deploy,
        sim: scenario.sim,
        ..Scenario::preset()
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
#[must_use]
pub fn rate_of(point: &MeasuredPoint) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_keeps_its_engine_and_none_of_its_traffic() {
        let mut scenario = Scenario::preset();
        for (key, value) in [
            ("model", "llama-3.1-8b"),
            ("engine", "vllm@0.19"),
            ("step.mfu", "0.4"),
            ("profile", "daily(0.3)"),
            ("class.rag", "share:20,in:9000"),
            ("rate", "7"),
        ] {
            scenario.set(key, value).unwrap();
        }
        let link = deployment_of(&scenario).to_link();
        for part in ["model=llama-3.1-8b", "engine=vllm-0.19", "step.mfu=0.4"] {
            assert!(link.contains(part), "{link}");
        }
        for part in ["profile", "class", "rate"] {
            assert!(!link.contains(part), "{link}");
        }
    }

    #[test]
    fn what_a_person_said_no_file_changes() {
        let text = b"model,gpu,concurrency,input_tokens,output_tokens,tpot_ms\nllama-3.1-8b,h200-sxm,1,100,10,9\n";
        let taken = |said: &[&str]| {
            let said = said.iter().map(|key| (*key).to_owned()).collect();
            let mut files = MeasuredFiles::new(Scenario::preset(), said);
            files.add("a.csv", text).unwrap();
            files.complete().unwrap();
            (files.scenario.model, files.scenario.gpu)
        };
        assert_eq!(taken(&[]), ("llama-3.1-8b".to_owned(), "h200-sxm".to_owned()));
        assert_eq!(taken(&["model"]), ("qwen2.5-7b".to_owned(), "h200-sxm".to_owned()));
    }
}
