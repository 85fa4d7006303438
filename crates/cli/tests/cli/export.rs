//! `headroom export`: what to run.

use super::{headroom, json, printed};

const FEW: [&str; 2] = ["sim.requests=300", "sim.replications=2"];

fn export(what: &str, more: &[&str]) -> String {
    printed(&[&["export", what][..], &FEW, more].concat())
}

#[test]
fn the_server_has_the_plan_s_limits() {
    let settings = [
        "model=llama-3.3-70b",
        "gpu=h100-sxm",
        "tp=4",
        "weights=fp8",
        "kv_dtype=fp8",
        "rate=10",
        "tpot=60ms",
    ];
    let text = export("vllm", &settings);
    for option in [
        "vllm serve RedHatAI/Llama-3.3-70B-Instruct-FP8",
        "--tensor-parallel-size 4",
        "--max-num-seqs 256",
        "--max-num-batched-tokens 8192",
        "--max-model-len 2048",
        "--kv-cache-dtype fp8",
        "--no-enable-prefix-caching",
    ] {
        let name = option.split('/').next().unwrap_or(option);
        assert!(text.contains(name), "{option}: {text}");
    }
    let ours =
        export("vllm", &["sched.rules=vllm-0.33", "sched.prefix_caching=on", "in=9000", "ttft=5s"]);
    assert!(
        ours.contains("  --enable-prefix-caching") && ours.contains("--max-model-len 10240"),
        "{ours}"
    );
    assert!(!ours.contains("reference rules"), "{ours}");
}

#[test]
fn the_benchmark_sends_the_planned_load() {
    let text = export("bench", &["arrivals=gamma(0.5)"]);
    let plan = json(&[&["plan", "--json", "arrivals=gamma(0.5)"][..], &FEW].concat());
    let rate = plan["planned"]["rate_per_s"].as_f64().expect("a rate");
    let line = text.lines().find(|line| line.contains("--request-rate")).expect("a rate");
    let told: f64 = line
        .trim()
        .trim_end_matches(" \\")
        .rsplit(' ')
        .next()
        .and_then(|it| it.parse().ok())
        .expect("a number");
    assert!((told / rate - 1.0).abs() < 1e-9, "{line} {rate}");
    for option in [
        "--burstiness 0.5",
        "--random-input-len 1024",
        "--random-output-len 256",
        "--goodput ttft:1000 tpot:40",
        "--ignore-eos",
    ] {
        assert!(text.contains(option), "{option}: {text}");
    }
    let spread = export("bench", &["in=lognormal(512,0.9)"]);
    assert!(spread.contains("# Lengths are the means"), "{spread}");
    let users = export("bench", &["arrivals=closed(200,10s)"]);
    assert!(users.contains("--max-concurrency 200"), "{users}");
}

#[test]
fn manifests_ask_for_the_plan_s_engines() {
    let text = export("k8s", &["headroom=25%"]);
    let plan = json(&[&["plan", "--json"][..], &FEW].concat());
    let gpus = plan["verdict"]["gpus"].as_u64().expect("GPUs");
    assert!(text.contains(&format!("  replicas: {gpus}\n")), "{text}");
    let kinds: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("kind: ")).collect();
    let expected = [
        "\"Deployment\"",
        "\"Service\"",
        "\"HorizontalPodAutoscaler\"",
        "\"ScaledObject\"",
        "\"PrometheusRule\"",
    ];
    assert_eq!(kinds, expected);
    assert!(text.contains("vllm:num_preemptions_total"), "{text}");
    // One in a hundred may be late: fourteen in a hundred burn it too fast.
    assert!(text.contains("> 0.144"), "{text}");
    assert!(!text.contains("cache_usage"), "alerts on the level of the cache: {text}");
}

#[test]
fn what_has_no_answer_has_nothing_to_run() {
    let output = headroom(&["export", "vllm", "ttft=1ms"]).assert().code(1).get_output().clone();
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("Out of reach"));
}
