//! Results of load tests as their tools write them; the values are made up.

use import::bench::{self, Benchmark, BenchmarkFormat, Gaps, Load, MeasuredPoint};

use crate::close;

fn read(text: &str) -> Benchmark {
    bench::read(Some("r"), text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn error(text: &str) -> String {
    bench::read(Some("r"), text.as_bytes()).unwrap_err().to_string()
}

fn one(text: &str) -> MeasuredPoint {
    let mut found = read(text);
    assert_eq!(found.points.len(), 1, "{:?}", found.points);
    found.points.remove(0)
}

/// Mean TTFT, TPOT and end to end, seconds.
#[track_caller]
fn times(point: &MeasuredPoint, ttft_s: f64, tpot_s: f64, e2e_s: f64) {
    let [ttft, tpot, e2e] =
        [&point.ttft, &point.tpot, &point.e2e].map(|it| it.mean_s.unwrap_or(0.0));
    assert!(close(ttft, ttft_s) && close(tpot, tpot_s) && close(e2e, e2e_s), "{point:?}");
}

fn vllm(changes: &str) -> String {
    format!(
        r#"{{"date": "20260101-120000", "backend": "vllm", "model_id": "org/m", "num_prompts": 160,
        "burstiness": 1.0, "duration": 100.0, "completed": 160, "failed": 0, "total_input_tokens": 160000,
        "total_output_tokens": 32000, "request_throughput": 1.6, "request_goodput:": null,
        "output_throughput": 320.0, "mean_ttft_ms": 50.0, "median_ttft_ms": 40.0, "p99_ttft_ms": 90.0,
        "mean_tpot_ms": 10.0, "median_tpot_ms": 9.5, "p99.9_tpot_ms": 20.0, "mean_itl_ms": 10.0, {changes}}}"#
    )
}

#[test]
fn vllm_tells_a_closed_loop_by_its_most_in_flight() {
    let found = read(&vllm(r#""request_rate": "inf", "max_concurrency": 16"#));
    assert_eq!(found.format, BenchmarkFormat::VllmBench);
    let point = &found.points[0];
    assert_eq!((point.load, point.completed), (Load::InFlight(16), Some(160)));
    assert_eq!((point.input_tokens, point.output_tokens), (Some(1000.0), Some(200.0)));
    times(point, 0.05, 0.01, 0.0);
    assert_eq!((point.ttft.p50_s, point.setting("model")), (Some(0.04), Some("org/m")));
}

#[test]
fn a_rate_may_be_infinite_in_many_ways() {
    for rate in [r#""inf""#, "Infinity", "null", r#""INF""#] {
        let point = one(&vllm(&format!(r#""request_rate": {rate}, "max_concurrency": null"#)));
        assert_eq!(point.load, Load::AtOnce(160), "{rate}");
    }
    let point = one(&vllm(r#""request_rate": 1.6, "max_concurrency": null"#));
    assert_eq!((point.load, point.gaps), (Load::PerSecond(1.6), Some(Gaps::Poisson)));
    let bursty = vllm(r#""request_rate": 2, "max_concurrency": 8"#)
        .replace("1.0, \"duration", "0.5, \"duration");
    let found = read(&bursty);
    assert_eq!(found.points[0].gaps, Some(Gaps::Gamma(0.5)));
    assert!(found.points[0].is_overloaded());
    assert!(found.notes[0].contains("held back requests beyond 8"), "{:?}", found.notes);
}

#[test]
fn times_without_ms_in_their_names_are_seconds() {
    let text = vllm(r#""request_rate": "inf", "max_concurrency": 16"#)
        .replace("_ms\": 50.0", "\": 0.05")
        .replace("_ms\": 40.0", "\": 0.04")
        .replace("\"mean_tpot_ms\": 10.0", "\"mean_tpot\": 0.01");
    times(&one(&text), 0.05, 0.01, 0.0);
}

#[test]
fn seconds_under_names_in_ms_are_told_by_littles_law_or_by_their_size() {
    let seconds = vllm(r#""request_rate": "inf", "max_concurrency": 16, "mean_e2el_ms": 2.04"#)
        .replace("_ttft_ms\": 50.0", "_ttft_ms\": 0.05")
        .replace("mean_tpot_ms\": 10.0", "mean_tpot_ms\": 0.01")
        .replace("\"request_throughput\": 1.6", "\"request_throughput\": 7.8");
    let found = read(&seconds);
    times(&found.points[0], 0.05, 0.01, 2.04);
    assert!(found.notes[0].contains("read as seconds"), "{:?}", found.notes);
    let table = "concurrency,Mean TTFT (ms),Mean TPOT (ms)\n1,0.031,0.0112\n64,0.4,0.031\n";
    let found = read(table);
    times(&found.points[0], 0.031, 0.0112, 0.0);
    times(&found.points[1], 0.4, 0.031, 0.0);
    // A fast server in milliseconds stays one.
    times(&one("concurrency,ttft_ms,tpot_ms\n1,5,0.9\n"), 0.005, 0.9e-3, 0.0);
}

#[test]
fn a_run_whose_requests_all_failed_measures_nothing() {
    let failed = vllm(r#""request_rate": "inf", "max_concurrency": 16"#)
        .replace("\"completed\": 160, \"failed\": 0", "\"completed\": 0, \"failed\": 160")
        .replace("50.0", "0.0");
    assert_eq!(
        error(&failed),
        "“r”: none of its 160 requests was answered, so that it measures nothing; look for the reason in \
         the server’s log and measure again"
    );
    let some = vllm(r#""request_rate": "inf", "max_concurrency": 16"#)
        .replace("\"completed\": 160, \"failed\": 0", "\"completed\": 120, \"failed\": 40");
    assert!(read(&some).notes[0].contains("40 of 160 requests failed"));
    // A list keeps the runs that were answered.
    let found = read(&format!("[{failed}, {some}]"));
    assert_eq!((found.points.len(), found.skipped_total, found.skipped[0].line), (1, 1, 1));
}

#[test]
fn a_sweep_is_a_list_of_runs_with_what_was_swept() {
    let run = |number: u32| {
        vllm(&format!(
            r#""request_rate": "inf", "max_concurrency": 16, "run_number": {number}, "max_num_seqs": 4, "fast": true"#
        ))
    };
    let found = read(&format!("[{}, {}]", run(0), run(1)));
    assert_eq!(found.points.len(), 2);
    assert_eq!(found.points[1].name, "16 in flight, run 1");
    assert_eq!(found.points[1].setting("max_num_seqs"), Some("4"));
    assert_eq!(found.points[1].setting("fast"), Some("true"));
}

#[test]
fn sglang_appends_a_line_a_run() {
    let run = |rate: &str| {
        format!(
            r#"{{"backend": "sglang", "request_rate": {rate}, "max_concurrency": null, "duration": 10.0, "completed": 20, "total_input_tokens": 2000, "total_output_tokens": 1000, "request_throughput": 2.0, "output_throughput": 100.0, "total_throughput": 300.0, "mean_e2e_latency_ms": 510.0, "mean_ttft_ms": 20.0, "mean_tpot_ms": 10.0, "mean_itl_ms": 10.0, "accept_length": 2.5, "itls": [[0.1]]}}"#
        )
    };
    let found = read(&format!("{}\n{}\n", run("2.0"), run("Infinity")));
    assert_eq!(found.format, BenchmarkFormat::SglangBench);
    let loads: Vec<Load> = found.points.iter().map(|it| it.load).collect();
    assert_eq!(loads, [Load::PerSecond(2.0), Load::AtOnce(20)]);
    times(&found.points[0], 0.02, 0.01, 0.51);
    assert!(found.notes.iter().any(|note| note.contains("speculatively")));
}

/// A benchmark of GuideLLM's reports.
fn guidellm(config: &str, tpot_ms: f64) -> String {
    let metric = |name: &str, mean: f64| {
        format!(
            r#""{name}": {{"successful": {{"mean": {mean}, "median": {mean}, "count": 50, "percentiles": {{"p001": 0.1, "p50": {mean}, "p99": {}, "p999": 9e9}}, "pdf": null}}, "errored": {{"mean": 0.0}}}}"#,
            2.0 * mean
        )
    };
    format!(
        r#"{{{config}, "duration": 30.0, "metrics": {{"request_totals": {{"successful": 50, "errored": 1, "incomplete": 2, "total": 53}}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}, "requests": {{"successful": [{{"text": "Infinity"}}]}}}}"#,
        metric("requests_per_second", 2.0),
        metric("request_concurrency", 6.2),
        metric("request_latency", 3.1),
        metric("prompt_token_count", 1000.0),
        metric("output_token_count", 301.0),
        metric("output_tokens_per_second", 600.0),
        metric("time_to_first_token_ms", 100.0),
        metric("time_per_output_token_ms", tpot_ms),
        metric("inter_token_latency_ms", 10.0),
    )
}

#[test]
fn guidellms_inter_token_latency_is_tpot_in_every_version() {
    let old = guidellm(r#""args": {"strategy": {"type_": "constant", "rate": 2.0}}"#, 9.97);
    let v1 = guidellm(r#""config": {"strategy": {"type_": "concurrent", "streams": 4}}"#, 10.3);
    let v2 = guidellm(r#""config": {"strategy": {"type_": "poisson", "rate": 2.0}}"#, 10.3);
    let burst = guidellm(r#""config": {"strategy": {"type_": "throughput"}}"#, 10.3);
    let lone = guidellm(r#""config": {"strategy": {"type_": "synchronous"}}"#, 10.3);
    for (head, benchmark, load, gaps) in [
        ("", old, Load::PerSecond(2.0), Some(Gaps::Even)),
        (
            r#""metadata": {"version": 1}, "args": {"model": "org/m"}, "#,
            v1,
            Load::InFlight(4),
            None,
        ),
        (
            r#""metadata": {"version": 2}, "config": {"spec": {"backend": {"model": "org/m"}}}, "#,
            v2,
            Load::PerSecond(2.0),
            Some(Gaps::Poisson),
        ),
        ("", burst, Load::AtOnce(6), None),
        ("", lone, Load::InFlight(1), None),
    ] {
        let found = read(&format!("{{{head}\"benchmarks\": [{benchmark}]}}"));
        assert_eq!(found.format, BenchmarkFormat::GuideLlm);
        let point = &found.points[0];
        assert_eq!((point.load, point.gaps, point.failed), (load, gaps, 1));
        times(point, 0.1, 0.01, 3.1);
        assert_eq!((point.ttft.p99_s, point.output_tokens), (Some(0.2), Some(301.0)));
        assert_eq!(point.setting("model"), (!head.is_empty()).then_some("org/m"));
        assert!(
            found.notes.iter().any(|note| note.contains("2 requests cut off")),
            "{:?}",
            found.notes
        );
    }
}

#[test]
fn guidellms_older_rows_are_read_too() {
    let list = "Successful Time to first token ms [min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]";
    let text = format!(
        r#"[{{"Type": "generative_benchmark", "Name": "constant@5.33", "Successful Requests": 50,
        "Successful Time to first token ms mean": 40.0, "Successful Time to first token ms median": 39.0,
        "{list}": "[1, 2, 3, 4, 5, 6, 7, 60.0, 9, 80.0, 11]",
        "Successful Inter token latency ms mean": 8.6, "Successful Time per output token ms mean": 8.5,
        "Successful Request latency mean": 2.19, "Successful Prompt token count mean": 1000.0,
        "Successful Output token count mean": 251.0, "Incomplete Requests": 3}}]"#
    );
    let point = one(&text);
    assert_eq!((point.load, point.gaps), (Load::PerSecond(5.33), Some(Gaps::Even)));
    times(&point, 0.04, 8.6e-3, 2.19);
    assert_eq!((point.ttft.p90_s, point.ttft.p99_s), (Some(0.06), Some(0.08)));
}

#[test]
fn aiperf_says_its_units() {
    let profile = |config: &str| {
        format!(
            r#"{{"request_throughput": {{"unit": "requests/sec", "avg": 2.0}},
            "request_latency": {{"unit": "sec", "avg": 2.09, "p50": 2.0, "p99": 3.0}},
            "request_count": {{"unit": "requests", "avg": 64.0}}, "goodput": null, "error_request_count": null,
            "time_to_first_token": {{"unit": "us", "avg": 100000.0}},
            "inter_token_latency": {{"unit": "ms", "avg": 10.0}},
            "output_token_throughput": {{"unit": "tokens/sec", "avg": 400.0}},
            "output_sequence_length": {{"unit": "tokens", "avg": 200.0}},
            "input_sequence_length": {{"unit": "tokens", "avg": 100.0}},
            "input_config": {{"endpoint": {{"model_names": ["org/m"]}}, {config}}}, "was_cancelled": true}}"#
        )
    };
    let found = read(&profile(r#""loadgen": {"concurrency": 4}"#));
    assert_eq!((found.format, found.points[0].load), (BenchmarkFormat::Aiperf, Load::InFlight(4)));
    times(&found.points[0], 0.1, 0.01, 2.09);
    assert!(found.notes[0].contains("broken off"), "{:?}", found.notes);
    let rate =
        one(&profile(r#""loadgen": {"request_rate": 2.0, "request_rate_mode": "constant"}"#));
    assert_eq!((rate.load, rate.gaps), (Load::PerSecond(2.0), Some(Gaps::Even)));
    let genai = one(&profile(r#""perf_analyzer": {"stimulus": {"concurrency": 8}}"#));
    assert_eq!(genai.load, Load::InFlight(8));
}

#[test]
fn inference_perf_counts_events_twice() {
    let stage = |load: &str| {
        format!(
            r#"{{"load_summary": {{"count": 100, {load} "send_duration": 50.0}}, "successes": {{"count": 100,
            "latency": {{"request_latency": {{"mean": 0.66, "median": 0.6, "p90": 0.8, "p99": 1.0}},
            "time_per_output_token": {{"mean": 0.005}}, "time_to_first_token": {{"mean": 0.05}}}},
            "throughput": {{"requests_per_sec": 2.0, "output_tokens_per_sec": 124.0}},
            "prompt_len": {{"mean": 200.0}}, "output_len": {{"mean": 62.0}}}}, "failures": {{"count": 0}}}}"#
        )
    };
    let point = one(&stage(r#""requested_rate": 2.0,"#));
    assert_eq!((point.load, point.gaps), (Load::PerSecond(2.0), Some(Gaps::Even)));
    times(&point, 0.05, 0.01, 0.66);
    assert!(error(&stage("")).contains("a summary over stages of different loads"));
    let scraped =
        r#"{"load_summary": {}, "successes": {"count": 3, "rate": 138.4}, "failures": {}}"#;
    assert!(error(scraped).contains("scraped of the server"));
}

#[test]
fn llmperf_includes_the_first_token_in_its_gaps() {
    let summary = r#"{"model": "org/m", "num_concurrent_requests": 5, "results_inter_token_latency_s_mean": 0.02,
        "results_ttft_s_mean": 1.0, "results_ttft_s_quantiles_p50": 0.9, "results_end_to_end_latency_s_mean": 2.0,
        "results_number_input_tokens_mean": 550.0, "results_number_output_tokens_mean": "101",
        "results_number_errors": 2, "results_num_completed_requests": 150,
        "results_num_completed_requests_per_min": 120.0}"#;
    let point = one(summary);
    assert_eq!((point.load, point.failed, point.requests_per_s), (Load::InFlight(5), 2, Some(2.0)));
    times(&point, 1.0, 0.01, 2.0);
    let response = |ttft: f64, error: &str| {
        format!(
            r#"{{"error_code": {error}, "error_msg": "", "inter_token_latency_s": 0.02, "ttft_s": {ttft}, "end_to_end_latency_s": {}, "number_output_tokens": 101, "number_input_tokens": 550}}"#,
            ttft + 1.0
        )
    };
    let list = [response(0.9, "null"), response(1.1, "null"), response(9.0, "503")].join(", ");
    let point = one(&format!("[{list}]"));
    assert_eq!((point.completed, point.failed, point.load), (Some(2), 1, Load::Untold));
    times(&point, 1.0, 0.01, 2.0);
    assert!(error(&format!("[{}]", response(9.0, "503"))).contains("none of its 1 request"));
}

#[test]
fn tables_are_read_by_the_words_of_their_columns() {
    let found = read(
        "# licence\nConcurrency;Input Tokens;Output Tokens;TTFT (s);TPOT p50 (ms);Mean TPOT (ms);note\n\
         1;1000;200;0,05;9,5;10;a\n64;1,000;200;0,25;19;20 ms;b\nx;1;1;1;1;1;\n",
    );
    assert_eq!(
        (found.format, found.points.len(), found.skipped_total),
        (BenchmarkFormat::Table, 2, 1)
    );
    assert_eq!(found.points[1].load, Load::InFlight(64));
    times(&found.points[1], 0.25, 0.02, 0.0);
    assert!(found.skipped[0].reason.contains("Concurrency is “x”"), "{:?}", found.skipped);
    let found = read(
        "load_mode,load,ttft_mean_ms,tpot_mean_ms,e2e_mean_ms,osl,model\nrate,2.5,100,40,4060,100,m\n",
    );
    assert_eq!(
        (found.points[0].load, found.points[0].setting("model")),
        (Load::PerSecond(2.5), Some("m"))
    );
    // (whole ÷ tokens includes the first one, but that is within what rounding of lengths does.)
    times(&found.points[0], 0.1, 0.04, 4.06);
    let found = read("users,ttft,tpot\n8,0.2,0.03\n");
    times(&found.points[0], 0.2, 0.03, 0.0);
    assert!(found.notes[0].contains("read as seconds"), "{:?}", found.notes);
}

#[test]
fn a_tpot_that_includes_the_first_token_is_noticed() {
    let found = read("concurrency,ttft_ms,tpot_ms,e2e_ms,osl\n8,2000,30,3000,101\n");
    times(&found.points[0], 2.0, 0.01, 3.0);
    assert!(found.notes[0].contains("include the first token"), "{:?}", found.notes);
}

#[test]
fn files_beside_a_load_test_say_which_one_to_give() {
    for (text, want) in [
        (r#"{"metadata": {}, "metrics": {}}"#, "profile_export_aiperf.json"),
        (r#"{"model_type": "llama", "architectures": ["L"], "hidden_size": 1}"#, "config.json"),
        (r#"{"hello": 1}"#, "its keys are “hello”"),
        ("[]", "its keys are none"),
        ("Metric,avg,min\nTTFT (ms),1,2\n", "choose the .json file beside it"),
        ("# HELP python_gc x\n# TYPE a counter\na 1\n", "metrics page"),
        ("a,b\n1,2\n", "no column for TTFT or TPOT"),
        ("concurrency,ttft_ms\n", "has a header and no row"),
        ("concurrency,ttft_ms\n0,5\n", "had no request in flight"),
        ("concurrency,e2e_ms\n4,5\n", "neither TTFT nor TPOT"),
    ] {
        let message = error(text);
        assert!(message.contains(want), "{text}\n{message}");
    }
}
