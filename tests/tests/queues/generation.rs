//! Static and continuous batching of generation: recorded runs exactly, and what static wastes.

use sim_core::{
    EngineSpec, Keep, Precision, Rules, Run, Setup, Slo, StepTimeSpec,
    engine::{BatchRule, BatchSetup, ServiceNoise, simulate_batches},
    simulate, simulate_by_oracle,
};

use super::{Table, assert_close, percentile, replay};

const STEP: StepTimeSpec = StepTimeSpec::Affine { fixed_s: 0.02, per_item_s: 0.0005 };
const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 };
const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

fn assert_reproduces(run: &Run, table: &Table, kind: &str) {
    let first_s = table.numbers(&format!("{kind}_first_s"));
    let done_s = table.numbers(&format!("{kind}_done_s"));
    let records = run.requests.as_ref().expect("kept");
    assert_eq!(records.len(), done_s.len());
    for (record, (first_s, done_s)) in records.iter().zip(first_s.iter().zip(&done_s)) {
        assert_close(record.first_token_s, *first_s, kind);
        assert_close(record.finish_s, *done_s, kind);
    }
}

fn compare(name: &str, useful: f64) {
    let table = Table::read(&format!("{name}.csv"));
    let outputs = table.numbers("output_tokens");
    let workload = replay(&table.numbers("arrival_s"), outputs.iter().map(|&tokens| tokens as u64));
    let whole = BatchSetup {
        workload: workload.clone(),
        rule: BatchRule { max_batch: 16, max_delay_s: 0.0 },
        step_time: STEP,
        noise: ServiceNoise::None,
        slo: SLO,
        seed: 0,
    };
    let fixed = simulate_batches(&whole, KEEP_ALL).expect("a valid set-up");
    assert_reproduces(&fixed, &table, "static");
    assert_close(fixed.useful_slot_share(), useful, "useful slot-iterations");

    let setup = Setup {
        workload,
        engine: EngineSpec {
            max_num_batched_tokens: 1_000_000,
            max_num_seqs: 16,
            kv_capacity_tokens: 1_000_000,
        },
        rules: Rules::Reference,
        step_time: STEP,
        slo: SLO,
        seed: 0,
    };
    for engine in [simulate, simulate_by_oracle] {
        let continuous = engine(&setup, KEEP_ALL).expect("a valid set-up");
        assert_reproduces(&continuous, &table, "continuous");
        assert_close(continuous.useful_slot_share(), 1.0, "continuous wastes nothing");
        // The ordering that the comparison is about.
        let p99_s = |run: &Run| run.ttft.percentile(99.0).expect("first tokens");
        assert!(p99_s(&fixed) > 10.0 * p99_s(&continuous));
    }
    let sorted = percentile(&table.numbers("static_done_s"), 50.0);
    assert!(sorted.is_finite());
}

#[test]
fn recorded_generation_is_reproduced_by_every_engine() {
    compare("generate_rate2", 0.2907670504531538);
    compare("generate_rate8", 0.2588101963642991);
}
