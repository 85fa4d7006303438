//! Both engines against a reference in another language, on workloads that no file holds.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use sim_core::{
    ArrivalProcess, EngineSpec, LengthSpec, RequestSource, Setup, StepTimeSpec, Trace, TraceRow,
    Workload, simulate, simulate_by_oracle, workload::Requests,
};

use super::reference::{KEEP_ALL, Reference, Row};

const RELATIVE: f64 = 1e-9;

/// One workload with the limits it meets.
struct Case {
    seed: u64,
    rate_per_s: f64,
    engine: EngineSpec,
}

/// From roomy to starved: chunks of a prompt over many steps, a full batch, a full cache.
const CASES: [Case; 4] = [
    Case { seed: 101, rate_per_s: 16.0, engine: engine(8192, 256, 959_123) },
    Case { seed: 102, rate_per_s: 10.0, engine: engine(384, 48, 400_000) },
    Case { seed: 103, rate_per_s: 9.0, engine: engine(2048, 256, 20_000) },
    Case { seed: 104, rate_per_s: 30.0, engine: engine(37, 9, 90_000) },
];

const fn engine(
    max_num_batched_tokens: u64,
    max_num_seqs: u64,
    kv_capacity_tokens: u64,
) -> EngineSpec {
    EngineSpec { max_num_batched_tokens, max_num_seqs, kv_capacity_tokens }
}

fn setup(case: &Case) -> Setup {
    let lengths = |median_tokens, max_tokens| LengthSpec::LogNormal {
        median_tokens,
        sigma: 1.0,
        min_tokens: 1,
        max_tokens,
    };
    let drawn = Workload {
        source: RequestSource::Generated {
            process: ArrivalProcess::Gamma { shape: 0.6 },
            rate_per_s: case.rate_per_s,
            input: lengths(500.0, 6_000),
            output: lengths(120.0, 1_500),
        },
        requests: 600,
    };
    let rows = Requests::new(&drawn, case.seed)
        .map(|request| TraceRow {
            arrival_s: request.arrival_s,
            input_tokens: request.input_tokens,
            output_tokens: request.output_tokens,
        })
        .collect();
    let trace = Arc::new(Trace::new(rows).expect("drawn requests are in order"));
    let workload = Workload { source: RequestSource::Replay { trace, speed: 1.0 }, requests: 600 };
    Setup { workload, engine: case.engine, ..Reference::named("rate1").setup(1.0) }
}

/// The settings as the reference takes them.
fn arguments(setup: &Setup) -> Vec<String> {
    let StepTimeSpec::Roofline { params, weight_bytes, kv_bytes_per_token, .. } = setup.step_time
    else {
        unreachable!("the reference knows only the roofline")
    };
    vec![
        format!("params={params:?}"),
        format!("weight_bytes={weight_bytes:?}"),
        format!("kv_bytes_per_token={kv_bytes_per_token:?}"),
        format!("kv_capacity_tokens={}", setup.engine.kv_capacity_tokens),
        format!("max_num_batched_tokens={}", setup.engine.max_num_batched_tokens),
        format!("max_num_seqs={}", setup.engine.max_num_seqs),
    ]
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("python/roofline_reference.py")
}

/// What the reference makes of a set-up.
fn outcomes(setup: &Setup, name: &str) -> Vec<Row> {
    let RequestSource::Replay { trace, .. } = &setup.workload.source else {
        unreachable!("the reference reads traces")
    };
    let mut text = String::from("arrival_s,input_tokens,output_tokens\n");
    for row in trace.rows() {
        let TraceRow { arrival_s, input_tokens, output_tokens } = row;
        writeln!(text, "{arrival_s:?},{input_tokens},{output_tokens}").expect("text grows");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (given, made) =
        (folder.join(format!("{name}_in.csv")), folder.join(format!("{name}_out.csv")));
    std::fs::write(&given, text).expect("the folder can be written to");
    let status = Command::new("python3")
        .arg(script())
        .args([&given, &made])
        .args(arguments(setup))
        .status()
        .expect("python3 starts");
    assert!(status.success(), "the reference failed on {}", given.display());
    csv::Reader::from_path(&made)
        .expect("it wrote its outcomes")
        .deserialize()
        .collect::<Result<Vec<Row>, _>>()
        .expect("its rows are numbers")
}

fn close(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= RELATIVE * theirs.abs()
}

#[test]
fn engines_agree_with_a_reference_in_python() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|o| o.status.success()) {
        println!("skipped: there is no python3 on this machine; the golden files were checked");
        return;
    }
    for case in &CASES {
        let setup = setup(case);
        let expected = outcomes(&setup, &format!("python_{}", case.seed));
        for (engine, run) in [
            ("the fast engine", simulate(&setup, KEEP_ALL)),
            ("the oracle", simulate_by_oracle(&setup, KEEP_ALL)),
        ] {
            let requests = run.expect("a valid set-up").requests.expect("requests were kept");
            assert_eq!(requests.len(), expected.len());
            for (index, (ours, theirs)) in requests.iter().zip(&expected).enumerate() {
                assert!(
                    close(ours.first_token_s, theirs.first_token_s)
                        && close(ours.finish_s, theirs.finish_s),
                    "seed {}, {engine}, request {index}: {ours:?}, expected {theirs:?}",
                    case.seed
                );
            }
        }
    }
}
