//! What to run: the server's command, the benchmark that would verify the answer, and manifests.

mod kubernetes;
mod vllm;
mod yaml;

use planner::{PlanAnswer, Verdict};
use scenario::{Resolved, Scenario};

pub use kubernetes::kubernetes;
pub use vllm::{bench_command, serve_command};

/// What a deployment is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// Where the weights are: a repository, or the model's name where nobody published them.
    pub repository: String,
    /// Whether that repository has the format of the scenario's weights.
    pub has_format: bool,
    /// Name of the model, as Kubernetes takes it.
    pub name: String,
    /// The GPU's name in sentences.
    pub gpu: String,
    /// GPUs of an engine.
    pub gpus_each: u64,
    /// Engines with headroom.
    pub engines: u64,
    /// Engines that would do without headroom.
    pub least_engines: u64,
    /// Load of one engine at the plan, requests per second.
    pub planned_per_s: f64,
    /// Users of a closed loop on one engine, where there is one.
    pub users_each: Option<u64>,
    /// Requests in one engine at the plan, on average.
    pub in_flight: f64,
    /// Tokens of the longest request.
    pub longest_tokens: u64,
    /// Seconds that a start may take.
    pub start_s: u64,
}

/// A start that takes longer than this is a failure, seconds: images and weights are large.
const START_S: u64 = 1800;

impl Deployment {
    /// What an answer asks for; `None` where it is no number of GPUs.
    #[must_use]
    pub fn of(answer: &PlanAnswer, scenario: &Scenario, resolved: &Resolved) -> Option<Self> {
        let Verdict::Sized(fleet) = &answer.verdict else { return None };
        let planned = answer.planned?;
        let (repository, has_format) = repository(scenario);
        Some(Self {
            repository,
            has_format,
            name: kubernetes_name(&scenario.model),
            gpu: scenario::gpu_name(&scenario.gpu),
            gpus_each: scenario.gpus_per_engine(),
            engines: fleet.with_headroom,
            least_engines: fleet.without_headroom,
            planned_per_s: planned.rate_per_s,
            // Users are whole.
            users_each: planned.users.map(|users| users as u64),
            in_flight: planned.mean_running + planned.rate_per_s * planned.queue_wait_mean_s.value,
            longest_tokens: resolved.setup.largest_request_tokens(),
            start_s: START_S,
        })
    }
}

/// The repository with the scenario's weights, and whether it has their format.
fn repository(scenario: &Scenario) -> (String, bool) {
    let Ok(checkpoint) = catalog::checkpoint(&scenario.model) else {
        return (scenario.model.clone(), true);
    };
    let wanted = scenario.get("weights").filter(|word| word != "auto");
    let Some(wanted) = wanted else { return (checkpoint.repository, true) };
    let files = checkpoint.files.iter().find(|files| files.format.word() == wanted);
    match files.filter(|files| !files.repository.is_empty()) {
        Some(files) => (files.repository.clone(), true),
        None => (checkpoint.repository.clone(), false),
    }
}

/// Lower-case letters, digits and hyphens, at most 50 of them (RFC 1123).
fn kubernetes_name(model: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = model.to_ascii_lowercase().chars().map(plain).take(50).collect();
    ["vllm-", name.trim_matches('-')].concat()
}
