//! The budget: as an identity where its terms are logged, and from the configuration alone.

use std::collections::BTreeSet;

use sim_core::memory::{ActivationFeatures, ActivationModel, GIB, PLAIN_ACTIVATION, plan};

use super::{Row, apart, rows};

#[test]
fn what_is_left_of_logged_terms_is_the_logged_pool() {
    let mut seen = 0;
    for row in rows() {
        let terms = ["peak_activation_gib", "non_torch_gib", "gpu_total_gib"];
        let (Some(logged), Some((config, mut deployment))) =
            (row.gib("kv_cache_gib_per_gpu"), row.served())
        else {
            continue;
        };
        if terms.iter().any(|term| row.number(term).is_none()) {
            continue;
        }
        deployment.gpu.total_bytes = row.gib("gpu_total_gib").expect("it is there");
        deployment.given.weights_bytes = row.gib("model_weights_gib_per_gpu");
        deployment.given.activation_bytes = row.gib("peak_activation_gib");
        deployment.given.non_torch_bytes = row.gib("non_torch_gib");
        let found = plan(&config.architecture, &deployment).expect("it can be planned");
        let first = &found.stages[0].budget;
        let off = libm::fabs(first.kv_bytes - logged) / GIB;
        assert!(off <= 0.06, "{}: {off} GiB", row.text("model"));
        seen += 1;
    }
    assert!(seen >= 37, "{seen}");
}

/// A row of vLLM 0.19 on H100, without a pipeline.
fn measured() -> Vec<Row> {
    let is_measured = |row: &Row| {
        row.text("vllm_version") == "0.19.0"
            && row.parallel().pp == 1
            && ["A", "B"].contains(&row.text("grade"))
    };
    rows().into_iter().filter(is_measured).collect()
}

fn features(row: &Row) -> [f64; 4] {
    let (config, deployment) = row.served().expect("the model is named");
    let of = ActivationFeatures::of(&config.architecture, &deployment, true);
    [of.logit_bytes, of.stream_bytes, of.expert_bytes, of.towers * GIB].map(|bytes| bytes / GIB)
}

/// Least squares by the normal equations.
fn fitted(rows: &[Row]) -> ActivationModel {
    let mut system = [[0.0; 5]; 4];
    for row in rows {
        let Some(peak) = row.number("peak_activation_gib") else { continue };
        let features = features(row);
        for (equation, a) in system.iter_mut().zip(features) {
            for (cell, b) in equation.iter_mut().zip(features.into_iter().chain([peak])) {
                *cell += a * b;
            }
        }
    }
    for pivot in 0..4 {
        let from = system[pivot];
        for (index, row) in system.iter_mut().enumerate() {
            let factor = if index == pivot { 0.0 } else { row[pivot] / from[pivot] };
            row.iter_mut().zip(from).for_each(|(cell, value)| *cell -= factor * value);
        }
    }
    let of = |index: usize| system[index][4] / system[index][index];
    ActivationModel { logits: of(0), stream: of(1), experts: of(2), towers_bytes: of(3) * GIB }
}

#[test]
fn the_constants_are_those_that_fit_the_logs() {
    let found = fitted(&measured());
    let kept = PLAIN_ACTIVATION;
    for (found, kept, name) in [
        (found.logits, kept.logits, "logits"),
        (found.stream, kept.stream, "stream"),
        (found.experts, kept.experts, "experts"),
        (found.towers_bytes, kept.towers_bytes, "towers"),
    ] {
        assert!(apart(kept, found) < 0.01, "{name}: {kept}, but {found} fits");
    }
}

#[test]
fn the_pool_follows_from_the_configuration_alone() {
    let all = measured();
    assert!(all.len() >= 50, "{}", all.len());
    let network = |row: &Row| {
        let (config, _) = row.served().expect("the model is named");
        let of = &config.architecture;
        format!("{} {} {}", of.hidden_size, of.layers.len(), of.vocab_size)
    };
    let networks: BTreeSet<String> = all.iter().map(network).collect();
    assert!(networks.len() >= 15, "{networks:?}");
    let mut errors = Vec::new();
    for left_out in &networks {
        let (tested, used): (Vec<Row>, Vec<Row>) =
            all.iter().cloned().partition(|row| network(row) == *left_out);
        let model = fitted(&used);
        for row in tested {
            let (config, mut deployment) = row.served().expect("the model is named");
            let of = ActivationFeatures::of(&config.architecture, &deployment, true);
            // The only constants that were fitted to models.
            deployment.given.activation_bytes = Some(model.peak_bytes(&of));
            let found = plan(&config.architecture, &deployment).expect("it can be planned");
            let pool = found.stages[0].budget.kv_bytes;
            let logged = row.gib("kv_cache_gib_per_gpu").expect("it is logged");
            errors.push((
                apart(pool, logged),
                format!("{} tp {}", row.text("model"), row.text("tp")),
            ));
        }
    }
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = errors[errors.len() / 2].0;
    let ninth_tenth = errors[errors.len() * 9 / 10].0;
    println!("pool: median {median:.4}, P90 {ninth_tenth:.4}, worst {:?}", errors.last());
    assert!(median <= 0.005, "{median}: {errors:?}");
    assert!(ninth_tenth <= 0.015, "{ninth_tenth}: {errors:?}");
}

#[test]
fn the_tightest_stage_of_a_pipeline_sets_the_tokens() {
    let mut seen = 0;
    for row in rows().iter().filter(|row| row.parallel().pp > 1 && row.text("grade") == "A") {
        let (config, deployment) = row.served().expect("the model is named");
        let found = plan(&config.architecture, &deployment).expect("it can be planned");
        let logged = row.number("kv_cache_tokens_logged").expect("it is logged");
        let off = apart(found.logged_tokens as f64, logged);
        assert!(off < 0.005, "pp {}: {} for {logged}", row.text("pp"), found.logged_tokens);
        // The last stage samples.
        assert_eq!(found.tightest_stage + 1, found.stages.len());
        seen += 1;
    }
    assert_eq!(seen, 2);
}
