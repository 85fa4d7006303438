//! llm-d's queueing model and the filter that learns its parameters.

use serde::Deserialize;
use sim_core::fleet::autoscale::wva::{
    Analysis, DEFAULT_STATE, Environment, ParameterFilter, QueueAnalyzer, QueueConfig, RequestSize,
    ServiceParameters, Targets,
};

use super::{CASES, Case, assert_near, cases};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceInput {
    alpha: f32,
    beta: f32,
    gamma: f32,
    input_tokens: f32,
    output_tokens: f32,
    batch: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceExpected {
    prefill_time_ms: Option<f64>,
    decode_time_ms: Option<f64>,
}

#[test]
fn queueing_model_service_times() {
    let path = ["wva", "queueing_model", "service_times"];
    for case in cases::<Case<ServiceInput, ServiceExpected>>(&path) {
        let ServiceInput { alpha, beta, gamma, input_tokens, output_tokens, batch } = case.input;
        let parameters = ServiceParameters { alpha, beta, gamma };
        let size = RequestSize { input: input_tokens, output: output_tokens };
        let (ours, theirs) = match (case.expected.prefill_time_ms, case.expected.decode_time_ms) {
            (Some(prefill), None) => (parameters.prefill_ms(&size, batch), prefill),
            (None, Some(decode)) => (parameters.decode_ms(&size, batch), decode),
            _ => panic!("{}: one time", case.id),
        };
        // Expected as decimal numbers, computed as 32-bit floats.
        assert_near(ours.into(), theirs, 1e-6, &case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct AnalyzerCase {
    name: String,
    alpha: f32,
    beta: f32,
    gamma: f32,
    max_batch: u32,
    max_queue: u32,
    r#in: f32,
    out: f32,
    rate: f32,
    #[serde(rename = "TTFT")]
    ttft: f32,
    #[serde(rename = "ITL")]
    itl: f32,
    rate_min: f64,
    rate_max: f64,
    #[serde(rename = "analyze")]
    analyze: Option<AnalysisExpected>,
    #[serde(rename = "size_rates")]
    size_rates: Option<RatesExpected>,
    #[serde(rename = "size_metrics")]
    size_metrics: Option<AnalysisExpected>,
    analyze_err: String,
    size_err: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct AnalysisExpected {
    throughput: f64,
    avg_resp_time: f64,
    avg_wait_time: f64,
    avg_num_in_serv: f64,
    avg_prefill_time: f64,
    avg_token_time: f64,
    #[serde(rename = "AvgTTFT")]
    avg_ttft: f64,
    max_rate: f64,
    rho: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RatesExpected {
    #[serde(rename = "RateTargetTTFT")]
    ttft: f64,
    #[serde(rename = "RateTargetITL")]
    itl: f64,
    #[serde(rename = "RateTargetTPS")]
    tps: f64,
}

/// Their outputs have eight digits of a 32-bit float; ours have the same bits before they are shown.
const SHOWN: f64 = 1e-7;

fn assert_analysis(ours: &Analysis, theirs: &AnalysisExpected, name: &str) {
    for (what, ours, theirs) in [
        ("throughput", ours.throughput, theirs.throughput),
        ("response", ours.response_ms, theirs.avg_resp_time),
        ("wait", ours.wait_ms, theirs.avg_wait_time),
        ("in service", ours.in_service, theirs.avg_num_in_serv),
        ("prefill", ours.prefill_ms, theirs.avg_prefill_time),
        ("token time", ours.itl_ms, theirs.avg_token_time),
        ("first token", ours.ttft_ms, theirs.avg_ttft),
        ("maximum", ours.max_rate, theirs.max_rate),
        ("utilisation", ours.utilization, theirs.rho),
    ] {
        assert_near(ours.into(), theirs, SHOWN, &format!("{name}: {what}"));
    }
}

#[test]
fn queueing_model_analyzer_oracle() {
    for case in cases::<AnalyzerCase>(&["wva", "queueing_model", "analyzer_oracle"]) {
        let parameters =
            ServiceParameters { alpha: case.alpha, beta: case.beta, gamma: case.gamma };
        let config =
            QueueConfig { max_batch: case.max_batch, max_queue: case.max_queue, parameters };
        let size = RequestSize { input: case.r#in, output: case.out };
        let mut analyzer = QueueAnalyzer::new(config, size).expect("a queue");
        assert_near(analyzer.range().0.into(), case.rate_min, SHOWN, &case.name);
        assert_near(analyzer.range().1.into(), case.rate_max, SHOWN, &case.name);
        match (analyzer.analyze(case.rate), &case.analyze) {
            (Ok(ours), Some(theirs)) => assert_analysis(&ours, theirs, &case.name),
            (Err(error), None) => assert_eq!(error.to_string(), case.analyze_err),
            (ours, _) => panic!("{}: {ours:?}", case.name),
        }
        let targets = Targets { ttft_ms: case.ttft, itl_ms: case.itl, tokens_per_s: 0.0 };
        match (analyzer.size(&targets), &case.size_rates, &case.size_metrics) {
            (Ok((rates, analysis)), Some(theirs), Some(metrics)) => {
                for (ours, theirs) in
                    [(rates.ttft, theirs.ttft), (rates.itl, theirs.itl), (rates.tokens, theirs.tps)]
                {
                    assert_near(ours.into(), theirs, SHOWN, &case.name);
                }
                assert_analysis(&analysis, metrics, &case.name);
            }
            (Err(error), None, None) => {
                let reason = "target is below the bounded region";
                assert!(case.size_err.contains(reason), "{}", case.size_err);
                assert!(error.to_string().contains("below the bounded region"), "{error}");
            }
            (ours, ..) => panic!("{}: {ours:?}", case.name),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct FilterCase {
    name: String,
    init: [f64; 3],
    #[serde(rename = "TrueParms")]
    _true_parms: [f64; 3],
    steps: Vec<FilterStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct FilterStep {
    lambda_per_min: f32,
    r#in: f32,
    out: f32,
    #[serde(rename = "TTFT")]
    ttft: f32,
    #[serde(rename = "ITL")]
    itl: f32,
    max_batch: u32,
    alpha: f64,
    beta: f64,
    gamma: f64,
    #[serde(rename = "NIS")]
    nis: f64,
    rejected: bool,
    innovation: [f64; 2],
    p: [f64; 9],
    err: String,
}

#[test]
fn ekf_cases() {
    for case in cases::<FilterCase>(&["wva", "ekf", "cases"]) {
        let first = &case.steps[0];
        let mut filter = ParameterFilter::new(case.init, (first.ttft, first.itl));
        for (index, step) in case.steps.iter().enumerate() {
            let what = format!("{} step {index}", case.name);
            assert_eq!(step.err, "", "{what}");
            let tuned = filter
                .update(&Environment {
                    rate_per_min: step.lambda_per_min,
                    size: RequestSize { input: step.r#in, output: step.out },
                    max_batch: step.max_batch,
                    ttft_ms: step.ttft,
                    itl_ms: step.itl,
                })
                .expect("a rate that can be served");
            assert_eq!(tuned.is_rejected, step.rejected, "{what}");
            // Differences of 32-bit floats are what they are or something else altogether.
            for (ours, theirs) in tuned.innovation.iter().zip(step.innovation) {
                assert_near(*ours, theirs, 0.0, &format!("{what}: innovation"));
            }
            // Sums in another order, in 64 bits.
            let state = tuned.state.iter().zip([step.alpha, step.beta, step.gamma]);
            for (ours, theirs) in state {
                assert_near(*ours, theirs, 1e-9, &format!("{what}: state"));
            }
            assert_near(tuned.normalized_innovation, step.nis, 1e-6, &format!("{what}: NIS"));
            for (ours, theirs) in tuned.covariance.as_flattened().iter().zip(step.p) {
                // Off the diagonal they are what is left of larger numbers.
                assert_near(*ours, theirs, 1e-6, &format!("{what}: covariance"));
            }
        }
    }
}

#[test]
fn defaults() {
    let theirs = &CASES["wva"]["ekf"]["defaults"]["init_state"];
    assert_eq!(*theirs, serde_json::json!(DEFAULT_STATE));
}
