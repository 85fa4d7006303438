//! Files of real tools. They may not be kept here:
//! `HEADROOM_REFERENCE_SAMPLES=<folder> cargo test -p import --features published-samples samples`.

use std::path::PathBuf;

use import::{
    Observed,
    bench::{Benchmark, BenchmarkFormat, Gaps, Load},
    engine_log::EngineLog,
    observe,
};

use crate::bytes;

fn observed(name: &str) -> Result<Observed, import::ImportError> {
    let folder: PathBuf = std::env::var_os("HEADROOM_REFERENCE_SAMPLES")
        .expect("HEADROOM_REFERENCE_SAMPLES is set")
        .into();
    observe(Some(name), &bytes(&folder.join(name)))
}

fn benchmark(name: &str) -> Benchmark {
    match observed(name) {
        Ok(Observed::Benchmark(found)) => found,
        other => panic!("{name}: {other:?}"),
    }
}

fn log(name: &str) -> EngineLog {
    match observed(name) {
        Ok(Observed::Log(found)) => *found,
        other => panic!("{name}: {other:?}"),
    }
}

fn error(name: &str) -> String {
    observed(name).unwrap_err().to_string()
}

/// Within a thousandth.
#[track_caller]
fn near(got: Option<f64>, want: f64) {
    assert!(got.is_some_and(|got| (got / want - 1.0).abs() < 1e-3), "{got:?} {want}");
}

#[test]
fn vllm_bench_serve() {
    let found = benchmark("vllm_bench_serve/bench_serve_v0.25.1.json");
    let point = &found.points[0];
    assert_eq!((found.format, point.load), (BenchmarkFormat::VllmBench, Load::InFlight(2)));
    near(point.ttft.mean_s, 0.215_54);
    near(point.tpot.mean_s, 0.011_266);
    assert_eq!((point.input_tokens, point.output_tokens), (Some(32.0), Some(16.0)));
    assert!(
        error("vllm_bench_serve/bench_serve_all_requests_failed_v0.25.1.json")
            .contains("none of its 8 requests")
    );
    let old = benchmark("vllm_bench_serve/bench_serving_save_detailed_v0.5.4_TRIMMED.json");
    assert_eq!(old.points[0].load, Load::AtOnce(10));
    near(old.points[0].tpot.mean_s, 0.006_274_8);
}

#[test]
fn vllm_bench_sweep() {
    let folder = "vllm_bench_sweep/SERVE--max_num_seqs=4-BENCH--max_concurrency=2-num_prompts=8";
    let found = benchmark(&format!("{folder}/summary.json"));
    assert_eq!(found.points.len(), 2);
    assert_eq!(found.points[0].setting("max_num_seqs"), Some("4"));
    near(found.points[0].e2e.mean_s, 0.340_34);
    assert_eq!(benchmark(&format!("{folder}/run=1.json")).points.len(), 1);
}

#[test]
fn guidellm() {
    let v2 = benchmark("guidellm/guidellm_v0.8_report_v2_mock.json");
    assert_eq!((v2.points.len(), v2.points[0].load), (2, Load::PerSecond(2.0)));
    assert_eq!(v2.points[0].gaps, Some(Gaps::Even));
    near(v2.points[0].tpot.mean_s, 0.001_150_8);
    near(v2.points[0].e2e.mean_s, 0.019_789);
    let v1 = benchmark("guidellm/guidellm_v0.6_report_v1_fixture.json");
    assert_eq!(v1.points[0].load, Load::InFlight(4));
    let rows = benchmark("guidellm/guidellm_csvjson_real_llama8b_i1024_o256.json");
    assert_eq!(rows.points.len(), 10);
    near(rows.points[3].ttft.mean_s, 0.040_046);
    near(rows.points[3].tpot.mean_s, 0.008_630_7);
    assert_eq!(rows.points[3].load, Load::PerSecond(5.33));
}

#[test]
fn aiperf() {
    let found = benchmark("aiperf/profile_export_aiperf.json");
    near(found.points[0].ttft.mean_s, 0.030_815);
    near(found.points[0].tpot.mean_s, 0.018_199);
    assert!(matches!(found.points[0].load, Load::InFlight(_)), "{:?}", found.points[0].load);
    assert!(error("aiperf/profile_export.jsonl").contains("profile_export_aiperf.json"));
}

#[test]
fn inference_perf() {
    let found = benchmark("inference_perf/stage_3_lifecycle_metrics.json");
    let point = &found.points[0];
    assert_eq!(point.load, Load::PerSecond(92.19));
    // Twice what the file says, which counts each event twice.
    near(point.tpot.mean_s, (1.021_272 - 0.050_549) / 61.325_44);
    assert!(error("inference_perf/summary_lifecycle_metrics.json").contains("over stages"));
    assert!(error("inference_perf/stage_3_prometheus_metrics.json").contains("scraped"));
    assert!(error("inference_perf/trace_replay_input.csv").contains("no column for TTFT"));
}

#[test]
fn llmperf_and_sglang() {
    let found = benchmark("llmperf/anyscale_70b_summary.json");
    assert_eq!(found.points[0].load, Load::InFlight(5));
    near(found.points[0].tpot.mean_s, (2.354_667 - 0.248_903) / 145.946_667);
    let found = benchmark("sglang_bench_serving/bench_serving_v0.5.18_output-file_SYNTHETIC.jsonl");
    assert_eq!(found.format, BenchmarkFormat::SglangBench);
    assert_eq!(found.points[0].load, Load::PerSecond(1.5));
}

#[test]
fn vllm_server() {
    let found = log("vllm_server/serve_log_gptoss120b_h200_tp2_v0.22.1.log");
    assert_eq!((found.version.as_deref(), found.tp), (Some("0.22.1"), Some(2)));
    assert_eq!((found.weights_gib, found.kv_cache_gib), (Some(34.38), Some(88.77)));
    assert_eq!(
        (found.kv_cache_tokens, found.max_concurrency),
        (Some(2_560_976), Some((2068, 1238.38)))
    );
    assert_eq!((found.max_num_seqs, found.max_num_batched_tokens), (Some(64), Some(8192)));
    assert!(error("vllm_server/prometheus_metrics_v0.25.1_loaded.txt").contains("metrics page"));
}
