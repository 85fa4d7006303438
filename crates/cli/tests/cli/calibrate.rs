//! `headroom calibrate` and `headroom curve`.

use std::fmt::Write as _;

use super::{file, headroom, json, printed};

/// A table of points measured on a machine whose constants are known: the model itself with other numbers.
fn measured(name: &str, settings: &[&str], constants: &[&str]) -> String {
    let mut text = "concurrency,input_tokens,output_tokens,requests,req_s,ttft_ms,ttft_p99_ms,tpot_ms,tpot_p99_ms\n".to_owned();
    for users in [1, 4, 16, 64, 200] {
        let load = format!("arrivals=closed({users},0s)");
        let requests = format!("sim.requests={}", 10 * users);
        let mut arguments = vec!["simulate", "--json", "in=1000", "out=200", &load, &requests];
        arguments.extend(settings.iter().chain(constants));
        let run = json(&arguments);
        let ms = |time: &str, of: &str| 1e3 * run[time][of].as_f64().expect("a number");
        let _ = writeln!(
            text,
            "{users},1000,200,{},{},{},{},{},{}",
            10 * users,
            run["throughput_per_s"],
            ms("ttft", "mean_s"),
            ms("ttft", "p99_s"),
            ms("tpot", "mean_s"),
            ms("tpot", "p99_s")
        );
    }
    file(name, &text)
}

const KERNEL: [&str; 3] = ["model=llama-3.1-8b", "gpu=h100-sxm", "step.kind=kernel"];

#[test]
fn two_points_bring_the_kernel_model_onto_the_rest_of_a_curve() {
    let truth = ["step.memory_factor=1.2", "step.compute_factor=0.85", "step.api_s=25ms"];
    let path = measured("calibrate-kernel.csv", &KERNEL, &truth);
    let arguments = [&["calibrate", path.as_str(), "--on", "ends", "--json"], &KERNEL[..]].concat();
    let found = json(&arguments);
    assert_eq!((&found["fitted"]["points"], &found["left_out"]["points"]), (&2.into(), &3.into()));
    for time in ["ttft", "tpot"] {
        let errors = &found["left_out"][time];
        let of = |when: &str| errors[when]["most_percent"].as_f64().expect("a number");
        assert!(of("after") < 4.0 && of("after") < 0.5 * of("before"), "{time}: {errors}");
    }
    for (constant, want) in
        found["constants"].as_array().expect("a list").iter().zip([1.2, 0.85, 0.025])
    {
        let after = constant["after"].as_f64().expect("a number");
        assert!((after / want - 1.0).abs() < 0.1, "{constant}");
    }
    // The link carries it, and what follows from it.
    let link = format!("#{}", found["link"].as_str().expect("a text"));
    assert!(
        link.contains("step.memory_factor=1.") && link.contains("step.calibrated_on=2"),
        "{link}"
    );
    let load = ["arrivals=closed(16,0s)", "sim.requests=160", "in=1000", "out=200"];
    let run = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["simulate", "--json"].iter().chain(more).chain(&load).copied().collect();
        json(&arguments)["tpot"]["mean_s"].as_f64().expect("a number")
    };
    let off = run(&[&link]) / run(&[&KERNEL[..], &truth].concat()) - 1.0;
    assert!(off.abs() < 0.02, "{off}");
}

#[test]
fn a_calibration_is_told_point_by_point() {
    let path = measured(
        "calibrate-affine.csv",
        &["step.kind=affine"],
        &["step.fixed_s=12ms", "step.per_item_s=0.3ms"],
    );
    let text = printed(&["calibrate", &path, "step.kind=affine"]);
    for part in [
        "1 in flight",
        "TTFT",
        "before",
        "after",
        "fitted points",
        "step.fixed_s",
        "Settings that keep it",
        "Link:",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.contains("step.fixed_s=0.012") || text.contains("step.fixed_s=0.0119"), "{text}");
}

#[test]
fn a_log_gives_settings_where_nobody_typed_them() {
    let path = measured("calibrate-log.csv", &KERNEL, &[]);
    let log = file(
        "calibrate-server.log",
        "INFO Initializing a V1 LLM engine (v0.19.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', tensor_parallel_size=1, kv_cache_dtype=fp8\n\
         INFO non-default args: {'max_num_seqs': 300}\nINFO GPU KV cache size: 400,000 tokens\n",
    );
    let arguments = [
        "calibrate",
        &path,
        &log,
        "gpu=h100-sxm",
        "step.kind=kernel",
        "engine=vllm@0.21",
        "--json",
    ];
    let found = json(&arguments);
    let link = found["link"].as_str().expect("a text");
    for part in [
        "engine=vllm-0.21",
        "kv_dtype=fp8",
        "sched.max_num_seqs=300",
        "kv.capacity_tokens=400000",
        "model=llama-3.1-8b",
    ] {
        assert!(link.contains(part), "{part} {link}");
    }
}

#[test]
fn a_measured_curve_gives_its_own_knee_beside_the_models() {
    let path = measured("curve.csv", &KERNEL, &[]);
    let settings = ["rate=40", "ttft=400ms", "tpot=18ms", "sched.max_num_seqs=256"];
    let arguments = [&["curve", path.as_str()], &KERNEL[..], &settings].concat();
    let text = printed(&arguments);
    for part in ["P99", "Measured: one engine holds TTFT", "Model: one engine holds it"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let found = json(&[&arguments[..], &["--json"]].concat());
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let measured = number(&found["measured"]["capacity_per_s"]);
    assert!(measured > number(&found["measured"]["meets_per_s"]) - 1e-9);
    assert!(measured < number(&found["measured"]["misses_per_s"]));
    assert_eq!(number(&found["measured"]["gpus"]), (40.0 * 1.25 / measured).ceil());
    assert!(number(&found["model"]["gpus"]) >= 1.0);
}

#[test]
fn what_cannot_be_calibrated_says_why() {
    let table =
        file("calibrate-two.csv", "model,concurrency,ttft_ms,tpot_ms\na,1,20,8\nb,2,20,8\n");
    let failed = file(
        "calibrate-failed.json",
        r#"{"completed": 0, "failed": 8, "num_prompts": 8, "mean_ttft_ms": 0.0, "mean_tpot_ms": 0.0, "total_output_tokens": 0}"#,
    );
    let log = file("calibrate-only.log", "INFO GPU KV cache size: 400,000 tokens\n");
    let over = file("calibrate-over.csv", "rate,req_s,ttft_ms,tpot_ms\n50,20,9000,40\n");
    let binary = file("calibrate-binary.json", "\u{0}\u{1}{\"a\"");
    for (arguments, want) in [
        (vec!["rate=5"], "Give a file that was measured"),
        (vec![table.as_str()], "model is “a” and “b”"),
        (vec![failed.as_str()], "none of its 8 requests was answered"),
        (vec![log.as_str()], "no times"),
        (vec![over.as_str()], "there is no point to fit"),
        (vec![binary.as_str()], "no column for TTFT or TPOT"),
        (vec!["not-there.json"], "reading not-there.json failed"),
    ] {
        let arguments = [&["calibrate"][..], &arguments].concat();
        let output = headroom(&arguments).assert().failure().get_output().stderr.clone();
        let message = String::from_utf8(output).expect("it prints UTF-8").to_lowercase();
        assert!(message.contains(&want.to_lowercase()), "{arguments:?}: {message}");
    }
}
