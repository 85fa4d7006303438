//! An engine that is asked for what it can never do.
#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use super::*;
use crate::{
    clients::ClientSpec,
    engine::{
        Keep, OverloadPolicy, Progress, Rules, VllmRules,
        seldom::vllm_setup,
        simulate_attended,
        simulation::ReferenceSimulation,
        vllm::{Version, VllmEngine},
    },
    measure::Run,
    setup::{EngineSpec, Setup, Slo},
    step_time::StepTimeSpec,
    workload::{RequestSource, Trace, TraceRow, Workload},
};

/// Small requests among others that are larger than the cache.
fn setup(rules: Rules) -> AttendedSetup {
    let row = |(index, input_tokens)| TraceRow {
        arrival_s: f64::from(index) * 0.01,
        input_tokens,
        output_tokens: 4,
    };
    let rows = (0..5).zip([500, 20, 500, 500, 20]).map(row).collect();
    let source =
        RequestSource::Replay { trace: Arc::new(Trace::new(rows).expect("in order")), speed: 1.0 };
    AttendedSetup {
        setup: Setup {
            workload: Workload { source, requests: 5 },
            engine: EngineSpec {
                max_num_batched_tokens: 1_000,
                max_num_seqs: 4,
                kv_capacity_tokens: 64,
            },
            rules,
            step_time: StepTimeSpec::Affine { fixed_s: 0.01, per_item_s: 0.0 },
            slo: Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 },
            seed: 0,
        },
        clients: ClientSpec::OPEN,
        overload: OverloadPolicy { queue_limit: Some(100), ..OverloadPolicy::UNBOUNDED },
    }
}

/// Clients whose line does not know what the engine can serve.
fn unknowing(setup: &AttendedSetup, recorder: &Recorder) -> AttendedLine {
    AttendedLine { servable: Servable::Always, ..AttendedLine::new(setup, recorder) }
}

fn refused(ended: Progress, (run, line): (Run, AttendedLine)) {
    assert_eq!(ended, Progress::Done, "livelock");
    assert_eq!((run.completed, run.rejected, run.in_flight), (2, 3, 0));
    assert_eq!((line.counts.rejected, line.counts.never_fit), (3, 3));
    assert_eq!(run.verify(), Ok(()));
}

/// Turned away on arrival they would never come this far; were they not, the engine would still
/// end with everybody behind them served.
#[test]
fn whoever_can_never_be_admitted_is_turned_away() {
    let attended = setup(Rules::Reference);
    let open = |recorder: &mut Recorder| unknowing(&attended, recorder);
    let mut engine =
        ReferenceSimulation::new(&attended.setup, Keep::default(), attended.total(), open);
    refused(engine.advance(10_000), engine.finish());

    let rules = VllmRules::plain(Version::V0_33);
    let attended = setup(Rules::VllmV1(rules));
    let vllm = vllm_setup(&attended.setup, rules);
    let open = |recorder: &mut Recorder| unknowing(&attended, recorder);
    let mut engine = VllmEngine::new(&vllm, Keep::default(), attended.total(), open);
    let ended = engine.advance(10_000);
    let (vllm, line) = engine.finish();
    refused(ended, (vllm.run, line));
}

/// What never fits is turned away with its reason counted, by every engine.
#[test]
fn whoever_never_fits_is_counted_apart() {
    for (rules, never_fit) in [
        (Rules::Reference, 3),
        (Rules::VllmV1(VllmRules::plain(Version::V0_11)), 3),
        (Rules::WholeBatches { max_delay_s: 0.0, noise: crate::engine::ServiceNoise::None }, 0),
    ] {
        let attended = setup(rules);
        let run = simulate_attended(&attended, Keep::default()).expect("a run");
        assert_eq!((run.attempts.rejected, run.attempts.never_fit), (never_fit, never_fit));
    }
}
