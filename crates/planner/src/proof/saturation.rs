//! Engines that never run out of work, beside what closed forms say they can finish.

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, RequestSource, Rules, Setup, Slo, StepTimeSpec,
    Workload,
    engine::ServiceNoise,
    simulate,
    theory::{BatchCurve, Fluid},
};

use super::{
    answer::{Plateau, PlateauKind},
    check::Finding,
    published::{H100, H100_STEP},
    records::bits_of_run,
};

const PLATEAUS: [PlateauKind; 9] = [
    PlateauKind::WholeBatches { batch: 1 },
    PlateauKind::WholeBatches { batch: 8 },
    PlateauKind::WholeBatches { batch: 32 },
    PlateauKind::Continuous { batch: 1 },
    PlateauKind::Continuous { batch: 8 },
    PlateauKind::Continuous { batch: 32 },
    PlateauKind::Roofline { input_tokens: 1024, output_tokens: 256 },
    PlateauKind::Roofline { input_tokens: 256, output_tokens: 256 },
    PlateauKind::Roofline { input_tokens: 4096, output_tokens: 64 },
];
/// How many there are.
pub(super) const POINTS: usize = PLATEAUS.len();

/// Turnovers of all slots in one run.
const TURNOVERS: u64 = 60;
/// How many times faster than it can finish an engine is driven.
const OVERLOAD: f64 = 50.0;
/// Tokens of each answer under continuous batching.
const ANSWER_TOKENS: u64 = 64;
/// Whole batches: a pass of 40 ms + 5 ms a request. Continuous: a step of 20 ms + 0.5 ms each.
const PASS: (f64, f64) = (0.04, 0.005);
const STEP: (f64, f64) = (0.02, 0.0005);
/// The fluid ceiling takes the maximum of mean arithmetic and mean traffic. The mean of the steps'
/// own maxima is never less, and most above it where the two are nearly equal: by some 4 %.
const FLUID_OPTIMISM: f64 = 0.05;

/// Drive one engine to its plateau.
pub(super) fn check(seed: u64, index: usize) -> Result<Finding, String> {
    let kind = PLATEAUS[index];
    let (mut setup, theory_per_s) = case(kind)?;
    setup.seed = seed;
    if let RequestSource::Generated { rate_per_s, .. } = &mut setup.workload.source {
        *rate_per_s = OVERLOAD * theory_per_s;
    }
    let keep = Keep { requests: true, ..Keep::default() };
    let run = simulate(&setup, keep).map_err(|error| error.to_string())?;
    let simulated_per_s =
        run.settled_throughput_per_s().ok_or("the run is too short for a plateau")?;
    // Requests end in waves, one a turnover: a count is off by a wave at most.
    let above = setup.engine.max_num_seqs as f64 / run.settled_requests as f64 + 1e-9;
    let below = match kind {
        PlateauKind::Roofline { .. } => FLUID_OPTIMISM,
        _ => above,
    };
    Ok(Finding {
        requests: run.offered,
        bits: bits_of_run(&run),
        plateau: Some(Plateau { kind, theory_per_s, simulated_per_s, above, below }),
        ..Finding::default()
    })
}

/// The set-up, and what its closed form says it finishes, requests per second.
fn case(kind: PlateauKind) -> Result<(Setup, f64), String> {
    let affine = |(fixed_s, per_item_s)| StepTimeSpec::Affine { fixed_s, per_item_s };
    let curve = |(fixed_s, per_item_s), batch| {
        BatchCurve::new(fixed_s, per_item_s)
            .and_then(|curve| curve.capacity_per_s(batch))
            .map_err(|error| error.to_string())
    };
    Ok(match kind {
        PlateauKind::WholeBatches { batch } => {
            let noise = ServiceNoise::None;
            let rules = Rules::WholeBatches { max_delay_s: 0.0, noise };
            let setup = full(affine(PASS), rules, slots(batch), (0, 1));
            (setup, curve(PASS, batch)?)
        }
        PlateauKind::Continuous { batch } => {
            let setup = full(affine(STEP), Rules::Reference, slots(batch), (0, ANSWER_TOKENS));
            (setup, curve(STEP, batch)? / ANSWER_TOKENS as f64)
        }
        PlateauKind::Roofline { input_tokens, output_tokens } => {
            let lengths = (input_tokens, output_tokens);
            let setup = full(H100_STEP, Rules::Reference, H100, lengths);
            let (input, output) = (input_tokens as f64, output_tokens as f64);
            (setup, Fluid::new(&H100_STEP, H100, input, output).ceiling_per_s())
        }
    })
}

const fn slots(max_num_seqs: u64) -> EngineSpec {
    EngineSpec { max_num_batched_tokens: 1_000_000, max_num_seqs, kv_capacity_tokens: 1_000_000 }
}

fn full(
    step_time: StepTimeSpec,
    rules: Rules,
    engine: EngineSpec,
    (input, output): (u64, u64),
) -> Setup {
    let source = RequestSource::Generated {
        process: ArrivalProcess::Poisson,
        rate_per_s: 1.0,
        input: LengthSpec::Fixed { tokens: input },
        output: LengthSpec::Fixed { tokens: output },
    };
    Setup {
        workload: Workload { source, requests: TURNOVERS * engine.max_num_seqs.max(4) },
        engine,
        rules,
        step_time,
        slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
        seed: 0,
    }
}
