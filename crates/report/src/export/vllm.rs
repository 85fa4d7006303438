//! `vllm serve` and `vllm bench serve`.

use scenario::{KV_DTYPES, Scenario};
use sim_core::{ArrivalProcess, LengthSpec};

use super::Deployment;

/// Lengths of contexts go up by this, tokens.
const CONTEXT_STEP: u64 = 1024;

/// Options of the server, in the order in which they are shown, each with its value.
pub(super) fn serve_options(scenario: &Scenario, deployment: &Deployment) -> Vec<String> {
    let mut options = vec![
        format!("--tensor-parallel-size {}", deployment.gpus_each),
        format!("--max-num-seqs {}", scenario.sched.max_num_seqs),
        format!("--max-num-batched-tokens {}", scenario.sched.max_num_batched_tokens),
        format!("--max-model-len {}", context(deployment.longest_tokens, scenario)),
    ];
    let word = KV_DTYPES.get(usize::from(scenario.deploy.kv_dtype)).copied().unwrap_or("auto");
    if word == "fp8" {
        options.push("--kv-cache-dtype fp8".to_owned());
    }
    let caching = if scenario.vllm.prefix_caching { "" } else { "no-" };
    options.push(format!("--{caching}enable-prefix-caching"));
    if scenario.vllm.by_priority {
        options.push("--scheduling-policy priority".to_owned());
    }
    if scenario.vllm.long_prefill_token_threshold > 0 {
        let tokens = scenario.vllm.long_prefill_token_threshold;
        options.push(format!("--long-prefill-token-threshold {tokens}"));
    }
    options
}

/// The longest request, rounded up, and no more than the model takes.
fn context(longest: u64, scenario: &Scenario) -> u64 {
    let rounded = longest.max(1).div_ceil(CONTEXT_STEP) * CONTEXT_STEP;
    scenario.context_tokens().map_or(rounded, |most| rounded.min(most))
}

/// The command that starts one engine as it was planned, with what is to be said of it in comments.
#[must_use]
pub fn serve_command(scenario: &Scenario, deployment: &Deployment) -> String {
    let mut text = format!(
        "# One of {} engines, on {} {} each.\n",
        quantity::count(deployment.engines),
        quantity::count(deployment.gpus_each),
        deployment.gpu
    );
    if !deployment.has_format {
        text.push_str(&format!(
            "# Nobody is known to publish these weights in {}: quantize them, or give the repository that has them.\n",
            scenario.get("weights").unwrap_or_default().to_uppercase()
        ));
    }
    if scenario.rules == Scenario::preset().rules {
        text.push_str(
            "# Planned by the reference rules; plan again with sched.rules=vllm-0.33 for vLLM’s own.\n",
        );
    }
    text.push_str(&folded(
        &format!("vllm serve {}", deployment.repository),
        &serve_options(scenario, deployment),
    ));
    text
}

/// The benchmark that sends one engine its planned load, and counts what meets the target.
#[must_use]
pub fn bench_command(scenario: &Scenario, deployment: &Deployment) -> String {
    let mut text =
        "# At the planned load of one engine; what meets the target is its goodput.\n".to_owned();
    let mut options = vec![
        format!("--model {}", deployment.repository),
        "--endpoint /v1/completions".to_owned(),
        "--dataset-name random".to_owned(),
    ];
    let mean = |length: LengthSpec| libm::round(length.mean_tokens()) as u64;
    options.push(format!("--random-input-len {}", mean(scenario.input)));
    options.push(format!("--random-output-len {}", mean(scenario.output)));
    let is_fixed = |length: LengthSpec| matches!(length, LengthSpec::Fixed { .. });
    if !(is_fixed(scenario.input) && is_fixed(scenario.output) && scenario.classes.is_empty()) {
        text.push_str(
            "# Lengths are the means: the random data set has no such spread. Replay a recording for that.\n",
        );
    }
    if scenario.bursts.is_some() || !scenario.profile.is_constant() || scenario.has_sessions() {
        text.push_str("# Bursts, rates that change over time and sessions are left out: it has none of them.\n");
    }
    match deployment.users_each {
        Some(users) => {
            text.push_str("# Users do not think here, so that this asks for more than the plan.\n");
            options.push(format!("--max-concurrency {users}"));
        }
        None => {
            options
                .push(format!("--request-rate {}", quantity::plain(deployment.planned_per_s, 0)));
            options.extend(burstiness(scenario.arrivals));
        }
    }
    options.push(format!("--num-prompts {}", scenario.sim.requests));
    options.push("--ignore-eos".to_owned());
    options.push(format!(
        "--goodput ttft:{} tpot:{}",
        quantity::plain(scenario.slo.ttft_s * 1e3, 0),
        quantity::plain(scenario.slo.tpot_s * 1e3, 0)
    ));
    options.push("--percentile-metrics ttft,tpot,itl,e2el".to_owned());
    options.push("--metric-percentiles 50,90,95,99".to_owned());
    options.push(format!("--seed {}", scenario.sim.seed));
    text.push_str(&folded("vllm bench serve", &options));
    text
}

/// Poisson arrivals have a burstiness of 1, which is the default; even ones have none.
fn burstiness(arrivals: ArrivalProcess) -> Option<String> {
    match arrivals {
        ArrivalProcess::Poisson => None,
        ArrivalProcess::Gamma { shape } => {
            Some(format!("--burstiness {}", quantity::plain(shape, 0)))
        }
        // A gamma with a large shape has gaps that are all but equal.
        _ => Some("--burstiness 10000".to_owned()),
    }
}

/// A command with one option a line.
fn folded(command: &str, options: &[String]) -> String {
    let mut text = command.to_owned();
    for option in options {
        text.push_str(" \\\n  ");
        text.push_str(option);
    }
    text.push('\n');
    text
}
