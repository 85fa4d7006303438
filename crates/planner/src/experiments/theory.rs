//! Where the simulation and a closed form part.

use sim_core::{
    EngineSpec, Keep, SetupError, StepTimeSpec, simulate, theory::IterationModel,
    workload::RateProfile,
};

use super::{
    Check, Experiment, Findings, Table, Unit,
    lab::{Kind, traffic},
};

pub(super) const EXPERIMENTS: [Experiment; 1] = [Experiment {
    name: "iteration-time",
    claim: "An iteration takes T = α/(1−ρ), so that holding it at k α holds the load at 1 − 1/k.",
    setting: "Iterations of α + n δ with α = 8 ms, β = 0.2 ms and γ = 0.001 ms per token, prompts of 300 and outputs of 200 tokens, an unbounded batch, at the rates of k = 2, 3 and 5.",
    run: iteration_time,
}];

const ALPHA_S: f64 = 0.008;
const BETA_S: f64 = 2e-4;
const GAMMA_S: f64 = 1e-6;
const KIND: Kind = Kind { weight: 1.0, input_tokens: 300, output_tokens: 200, prefix: None };

fn iteration_time() -> Result<Findings, SetupError> {
    let columns = [
        ("requests/s", Unit::Number),
        ("α/(1−ρ)", Unit::Seconds),
        ("(α+δ)/(1−ρ′)", Unit::Seconds),
        ("as tokens see it", Unit::Seconds),
    ];
    let mut table = Table::new("k", &columns);
    let (input_tokens, output_tokens) = (KIND.input_tokens as f64, KIND.output_tokens as f64);
    let model = IterationModel::new(ALPHA_S, BETA_S, GAMMA_S, input_tokens, output_tokens).ok();
    let delta_s = model.map_or(f64::NAN, |model| model.per_request_s());
    for k in [2.0, 3.0, 5.0] {
        let rate = model.and_then(|model| model.rate_at_multiple(k).ok().flatten());
        let rate_per_s = rate.unwrap_or(f64::NAN);
        let mut setup = traffic(&[KIND], (rate_per_s, 60_000), RateProfile::Constant);
        setup.engine = EngineSpec {
            max_num_batched_tokens: 1_000_000,
            max_num_seqs: 100_000,
            kv_capacity_tokens: 1_000_000_000,
        };
        setup.step_time = StepTimeSpec::QueueModel {
            alpha_s: ALPHA_S,
            beta_s: BETA_S,
            gamma_s: GAMMA_S,
            input_tokens,
            output_tokens,
        };
        let run = simulate(&setup, Keep::default())?;
        let tokens_s = run.itl.mean().unwrap_or(f64::NAN);
        // The prefill gives the first token, so that a request is in o iterations, not o + 1.
        let load = rate_per_s * output_tokens * delta_s;
        let exact_s = (ALPHA_S + delta_s) / (1.0 - load);
        table.row(format!("{k}"), &[rate_per_s, k * ALPHA_S, exact_s, tokens_s]);
    }
    let near = |found: f64, expected: f64, share: f64| (found / expected - 1.0).abs() < share;
    let rows = &table.rows;
    let checks = vec![
        Check::new(
            "What a token sees lies more than 3 % above α/(1−ρ) at every k.",
            rows.iter().all(|row| row.values[3] > 1.03 * row.values[1]),
        ),
        Check::new(
            "It is (α+δ)/(1−ρ′) to one in a hundred: δ/(1−ρ′) above the closed form's own.",
            rows.iter().all(|row| near(row.values[3], row.values[2], 0.01)),
        ),
    ];
    let remark = "The closed form puts the mean number of requests n into α + n δ. A request in an iteration sees itself \
                  and, arrivals being random, that mean beside it: T = α + δ (1 + n), and with n = λ (o + 1) T that is \
                  (α + δ)/(1−ρ). The engine's prefill gives the first token, so that its ρ′ is λ o δ.";
    Ok(Findings { tables: vec![table], checks, remark })
}
