//! `step.kind=kernel`: a deployment's step as the sum of its kernels.
#![cfg(feature = "networks")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use scenario::{Provenance, Scenario};
use sim_core::{Keep, Precision, StepTimeSpec, simulate};

fn deployed(settings: &[(&str, &str)]) -> Scenario {
    let mut scenario = Scenario::preset();
    for (key, value) in [("model", "llama-3.1-8b"), ("gpu", "h100-sxm"), ("step.kind", "kernel")] {
        scenario.set(key, value).unwrap();
    }
    for (key, value) in settings {
        scenario.set(key, value).unwrap();
    }
    scenario
}

#[test]
fn its_ledger_says_what_a_step_takes_and_where_that_is_from() {
    let resolved = deployed(&[]).resolve().unwrap();
    let StepTimeSpec::Kernel(kernel) = resolved.setup.step_time else { unreachable!() };
    let lone = resolved.ledger.get("step.lone_decode_s").unwrap();
    // 16 GB of weights at 2.85 TB/s, and the overheads of an engine.
    assert!(lone.value > 5.6e-3 && lone.value < 8.5e-3, "{lone:?}");
    assert!(lone.source.contains("kernel timings") && lone.source.contains("headroom fit"));
    let layer = resolved.ledger.get("step.layer_s").unwrap();
    assert_eq!(layer.kind, Provenance::Derived);
    let api = resolved.ledger.get("step.api_s").unwrap();
    assert_eq!((api.kind, api.value), (Provenance::Assumed, kernel.api_s()));
    assert!(resolved.ledger.get("kv.capacity_tokens").is_some());
}

#[test]
fn more_gpus_take_less_time_but_not_in_proportion() {
    let lone = |tp: &str| {
        let resolved = deployed(&[("deploy.tp", tp)]).resolve().unwrap();
        resolved.ledger.get("step.lone_decode_s").unwrap().value
    };
    let (one, four) = (lone("1"), lone("4"));
    assert!(four < one && four > one / 4.0, "{one} {four}");
}

#[test]
fn a_run_waits_for_the_server_before_the_engine() {
    let settings = [("rate", "0.5"), ("sim.requests", "200")];
    let resolved = deployed(&settings).resolve().unwrap();
    let keep = Keep { precision: Precision::Exact, requests: false, intervals: false };
    let run = simulate(&resolved.setup, keep).unwrap();
    let prompt = resolved.ledger.get("step.lone_prefill_s").unwrap().value;
    let api = resolved.ledger.get("step.api_s").unwrap().value;
    let ttft = run.ttft.percentile(50.0).unwrap();
    assert!(ttft > api + 0.5 * prompt && ttft < api + 3.0 * prompt, "{ttft} {api} {prompt}");
}

#[test]
fn what_was_never_timed_is_refused_with_a_way_out() {
    let error = deployed(&[("gpu", "l4")]).resolve().unwrap_err().to_string();
    assert!(error.contains("h100-sxm") && error.contains("step.kind=roofline"), "{error}");
}
