//! From words to numbers.

use scenario::{Provenance, ResolveError, Scenario};
use sim_core::{
    LengthSpec, RequestSource, Rules, StepShape, StepTimeSpec,
    engine::Speculation,
    workload::{Mix, RequestLengths},
};

fn with(settings: &[(&str, &str)]) -> Scenario {
    let mut scenario = Scenario::preset();
    for (key, value) in settings {
        scenario.set(key, value).unwrap_or_else(|notice| panic!("{notice}"));
    }
    scenario
}

#[test]
fn the_preset_has_the_published_constants() {
    let resolved = Scenario::preset().resolve().expect("the preset resolves");
    assert_eq!(
        resolved.setup.step_time,
        StepTimeSpec::Roofline {
            params: 7.6e9,
            weight_bytes: 15.2e9,
            kv_bytes_per_token: 57_344.0,
            peak_flops: 989e12,
            bandwidth_bytes_per_s: 3.35e12,
            mfu: 0.5,
            overhead_s: 0.5e-3,
        }
    );
    let engine = resolved.setup.engine;
    assert_eq!(engine.kv_capacity_tokens, (55e9_f64 / 57_344.0) as u64);
    assert_eq!(engine.kv_capacity_tokens, 959_123);
    assert_eq!(engine.max_num_batched_tokens, 8192);
    assert_eq!(engine.max_num_seqs, 256);
    assert_eq!(resolved.setup.workload.requests, 2000);
    assert_eq!(resolved.headroom, 0.25);
    let memory = resolved.memory;
    assert_eq!(memory.kv_bytes, 55e9);
    let parts =
        memory.weight_bytes + memory.reserve_bytes + memory.kv_bytes + memory.kept_free_bytes;
    assert_eq!(parts, memory.total_bytes);
}

#[test]
fn int4_weights_change_the_reading_and_not_the_computing() {
    let resolved = with(&[("model", "qwen2.5-7b-int4")]).resolve().expect("fits");
    let StepTimeSpec::Roofline { params, weight_bytes, .. } = resolved.setup.step_time else {
        panic!("a roofline");
    };
    assert_eq!((params, weight_bytes), (7.6e9, 4.5e9));
}

#[test]
fn every_number_says_where_it_comes_from() {
    let ledger = with(&[("step.mfu", "0.4"), ("rate", "50")]).resolve().expect("fits").ledger;
    for (key, kind) in [
        ("step.params", Provenance::Published),
        ("step.weight_bytes", Provenance::Published),
        ("step.kv_bytes_per_token", Provenance::Derived),
        ("step.peak_flops", Provenance::Published),
        ("step.bandwidth", Provenance::Published),
        ("step.mfu", Provenance::Given),
        ("step.overhead_s", Provenance::Assumed),
        ("memory.total_bytes", Provenance::Published),
        ("memory.engine_share", Provenance::Assumed),
        ("memory.reserve_bytes", Provenance::Assumed),
        ("kv.capacity_tokens", Provenance::Derived),
        ("rate", Provenance::Given),
        ("ttft", Provenance::Assumed),
    ] {
        let entry = ledger.get(key).unwrap_or_else(|| panic!("{key} is in the ledger"));
        assert_eq!(entry.kind, kind, "{key}");
        assert!(!entry.source.is_empty() && !entry.label.is_empty(), "{key}");
        assert_eq!(entry.formula.is_some(), kind == Provenance::Derived, "{key}");
    }
    let mfu = Scenario::preset().resolve().expect("fits").ledger;
    let mfu = mfu.get("step.mfu").expect("mfu");
    assert_eq!((mfu.low, mfu.high), (Some(0.45), Some(0.55)));
    let formula = ledger.get("kv.capacity_tokens").and_then(|entry| entry.formula.clone());
    assert_eq!(
        formula.as_deref(),
        Some(
            "(80\u{202f}GB × 0.9 − 15.2\u{202f}GB weights − 1.8\u{202f}GB reserve) ÷ 57,344 bytes \
             = 959,123 tokens, rounded down"
        )
    );
}

#[test]
fn numbers_replace_names() {
    let mut scenario = with(&[
        ("step.params", "1e9"),
        ("step.weight_bytes", "2e9"),
        ("step.kv_bytes_per_token", "1000"),
        ("step.peak_flops", "1e14"),
        ("step.bandwidth", "1e12"),
        ("kv.capacity_tokens", "50000"),
    ]);
    scenario.model = "my own".to_owned();
    scenario.gpu = "my own".to_owned();
    let resolved = scenario.resolve().expect("nothing to look up");
    assert_eq!(resolved.setup.engine.kv_capacity_tokens, 50_000);
    assert_eq!(resolved.memory.total_bytes, 0.0);
}

#[test]
fn an_affine_step_needs_no_catalogue() {
    let mut scenario =
        with(&[("step.kind", "affine"), ("step.fixed_s", "40ms"), ("step.per_item_s", "5ms")]);
    scenario.model = "unheard of".to_owned();
    scenario.gpu = String::new();
    let resolved = scenario.resolve().expect("affine");
    let expected = StepTimeSpec::Affine { fixed_s: 0.04, per_item_s: 0.005 };
    assert_eq!(resolved.setup.step_time, expected);
    let capacity = resolved.ledger.get("kv.capacity_tokens").expect("capacity");
    assert_eq!(capacity.kind, Provenance::Assumed);
    assert!(capacity.value >= 1e12);
}

#[test]
fn unknown_names_get_suggestions() {
    let scenario = Scenario { model: "lama-3.1-8b".to_owned(), ..Scenario::preset() };
    match scenario.resolve() {
        Err(error @ ResolveError::UnknownModel { .. }) => {
            let text = error.to_string();
            assert!(text.contains("did you mean “llama-3.1-8b”"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    let scenario = Scenario { gpu: "zzz".to_owned(), ..Scenario::preset() };
    match scenario.resolve() {
        Err(error @ ResolveError::UnknownGpu { .. }) => {
            assert_eq!(
                error.to_string(),
                "No GPU called “zzz”. Choose one from the catalogue, or give its numbers in place of a \
                 name: step.peak_flops, step.bandwidth and kv.capacity_tokens."
            );
        }
        other => panic!("{other:?}"),
    }
}

/// Each remedy is applied, and the scenario must resolve.
fn remedies(scenario: &Scenario) -> Vec<(String, String)> {
    let Err(error) = scenario.resolve() else { panic!("it resolves") };
    let list = error.remedies();
    assert!(!list.is_empty() && list.len() <= 4, "{error}");
    for remedy in list {
        let mut changed = scenario.clone();
        changed.set(&remedy.key, &remedy.value).unwrap_or_else(|notice| panic!("{notice}"));
        changed.resolve().unwrap_or_else(|error| panic!("{}: {error}", remedy.value));
    }
    list.iter().map(|remedy| (remedy.key.clone(), remedy.value.clone())).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[test]
fn a_model_too_large_gets_the_smallest_changes_that_work() {
    let scenario = with(&[("model", "llama-3.1-70b")]);
    match scenario.resolve() {
        Err(ResolveError::DoesNotFit { weight_bytes, available_bytes, .. }) => {
            assert_eq!(weight_bytes, 141_107_412_992.0);
            assert!((available_bytes - 70.2e9).abs() < 1.0, "{available_bytes}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        remedies(&scenario),
        pairs(&[
            ("gpu", "b200-sxm"),
            ("deploy.tp", "2"),
            ("model", "llama-3.1-70b-int4"),
            ("model", "llama-3.1-8b")
        ])
    );
}

/// 32 billion parameters in four bits are lighter than 14 billion in sixteen, and no smaller model.
#[test]
fn lighter_models_are_never_larger_and_the_heaviest_comes_first() {
    let scenario = with(&[("model", "qwen2.5-14b"), ("gpu", "l4")]);
    assert_eq!(
        remedies(&scenario),
        pairs(&[
            ("gpu", "l40s"),
            ("deploy.tp", "2"),
            ("model", "qwen2.5-7b"),
            ("model", "qwen2.5-14b-int4")
        ])
    );
    let catalog = catalog::builtin().expect("the catalogue");
    for model in catalog.models() {
        for gpu in catalog.gpus() {
            let scenario = with(&[("model", &model.slug), ("gpu", &gpu.slug), ("in", "100")]);
            let Err(error) = scenario.resolve() else { continue };
            let mut lightest = model.weight_bytes.value;
            for remedy in error.remedies().iter().filter(|remedy| remedy.key == "model") {
                let other = catalog.model(&remedy.value).expect("a model");
                assert!(other.params.value <= model.params.value, "{} {error}", model.slug);
                assert!(other.weight_bytes.value < lightest, "{} {error}", model.slug);
                lightest = other.weight_bytes.value;
            }
        }
    }
}

#[test]
fn heads_that_do_not_divide_get_the_next_numbers_that_do() {
    let of = |tp: &str| remedies(&with(&[("model", "llama-3.1-8b"), ("deploy.tp", tp)]));
    assert_eq!(of("3"), pairs(&[("deploy.tp", "4"), ("deploy.tp", "2")]));
    assert_eq!(of("24"), pairs(&[("deploy.tp", "16")]));
}

#[test]
fn a_cache_too_small_for_one_request_gets_the_smallest_changes_that_work() {
    let scenario = with(&[("model", "llama-3.1-8b"), ("gpu", "l4"), ("in", "50000")]);
    match scenario.resolve() {
        Err(ResolveError::NoRoom { needed_tokens, capacity_tokens, .. }) => {
            assert_eq!(needed_tokens, 50_256);
            assert_eq!(capacity_tokens, 28_529);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        remedies(&scenario),
        pairs(&[("in", "28273"), ("gpu", "l40s"), ("model", "llama-3.1-8b-int4")])
    );
    let spread =
        with(&[("model", "llama-3.1-8b"), ("gpu", "l4"), ("in", "lognormal(512,0.9,1,100000)")]);
    assert_eq!(remedies(&spread)[0], pairs(&[("in", "lognormal(512,0.9,1,28273)")])[0]);
}

#[test]
fn a_cache_typed_too_small_can_be_computed_instead() {
    for settings in [
        &[("kv.capacity_tokens", "1000")][..],
        &[("kv.capacity_tokens", "1000"), ("step.kind", "affine")],
    ] {
        let scenario = with(settings);
        let text = scenario.resolve().map_err(|error| error.to_string());
        let Err(text) = text else { panic!("it resolves") };
        assert!(
            text.starts_with("The KV cache holds 1,000 tokens; one request needs 1,280."),
            "{text}"
        );
        assert_eq!(
            remedies(&scenario)[..2],
            pairs(&[("kv.capacity_tokens", "auto"), ("in", "744")])
        );
    }
}

#[test]
fn refusals_read_as_sentences() {
    let text = |settings: &[(&str, &str)]| match with(settings).resolve() {
        Err(error) => error.to_string().replace('\u{202f}', " "),
        Ok(_) => panic!("it resolves"),
    };
    assert_eq!(
        text(&[("model", "llama-3.1-70b")]),
        "Llama-3.1-70B in BF16 has 131 GiB of weights. One H100 leaves 65.4 GiB for weights and KV \
         cache after the engine’s own 1.68 GiB and 10 % kept free. Try gpu=b200-sxm (180 GB of \
         memory), or deploy.tp=2 (weights and KV cache shared by 2 GPUs), or \
         model=llama-3.1-70b-int4 (37 GiB of weights), or model=llama-3.1-8b (15 GiB of weights)."
    );
    assert_eq!(
        text(&[("model", "llama-3.1-8b"), ("gpu", "l4"), ("in", "50000")]),
        "Weights fit. The 3.48 GiB left hold 28,529 tokens of KV; one request needs 50,256. Try \
         in=28273 (at most 28,273 tokens), or gpu=l40s (48 GB of memory), or \
         model=llama-3.1-8b-int4 (5.34 GiB of weights)."
    );
}

#[test]
fn a_prompt_beyond_the_context_gets_the_smallest_changes_that_work() {
    let scenario = with(&[("model", "phi-4"), ("in", "20000")]);
    let error = scenario.resolve().expect_err("too long");
    assert!(
        error.to_string().starts_with("Prompt 20,000 is longer than this model’s 16,384 tokens."),
        "{error}"
    );
    assert_eq!(remedies(&scenario), pairs(&[("in", "16384"), ("model", "qwen2.5-7b-int4")]));
}

fn mix(scenario: &Scenario) -> std::sync::Arc<Mix> {
    match scenario.resolve().expect("it resolves").setup.workload.source {
        RequestSource::Mixed(mix) => mix,
        other => panic!("{other:?}"),
    }
}

#[test]
fn plain_traffic_stays_plain() {
    let resolved = Scenario::preset().resolve().expect("the preset resolves");
    assert!(matches!(resolved.setup.workload.source, RequestSource::Generated { .. }));
    assert!(resolved.classes.is_empty());
}

#[test]
fn what_classes_leave_over_comes_first_and_is_the_scenarios_own() {
    let scenario = with(&[
        ("in", "700"),
        ("class.rag", "share:20,in:4000,ttft:3s,priority:2"),
        ("class.chat", "share:50,out:uniform(10,90),tpot:25ms"),
    ]);
    assert_eq!(scenario.resolve().expect("it resolves").classes, ["rest", "chat", "rag"]);
    let mix = mix(&scenario);
    let weights: Vec<f64> = mix.classes.iter().map(|class| class.weight).collect();
    assert!((weights[0] - 0.3).abs() < 1e-15 && weights[1..] == [0.5, 0.2], "{weights:?}");
    let fixed = |tokens| LengthSpec::Fixed { tokens };
    let lengths = |input, output| RequestLengths::Independent { input, output };
    let short = LengthSpec::Uniform { min_tokens: 10, max_tokens: 90 };
    assert_eq!(mix.classes[0].lengths, lengths(fixed(700), fixed(256)));
    assert_eq!(mix.classes[1].lengths, lengths(fixed(700), short));
    assert_eq!(mix.classes[2].lengths, lengths(fixed(4000), fixed(256)));
    let targets: Vec<(f64, f64)> =
        mix.classes.iter().map(|class| (class.slo.ttft_s, class.slo.tpot_s)).collect();
    assert_eq!(targets, [(1.0, 0.04), (1.0, 0.025), (3.0, 0.04)]);
    assert_eq!(mix.classes.iter().map(|class| class.priority).collect::<Vec<_>>(), [0, 0, 2]);
    // Three thirds leave nothing over.
    let thirds = [("class.a", "share:33.3"), ("class.b", "share:33.3"), ("class.c", "share:33.4")];
    assert_eq!(with(&thirds).resolve().expect("it resolves").classes, ["a", "b", "c"]);
}

#[test]
fn classes_that_take_more_than_all_are_refused_with_a_change_that_works() {
    let mut scenario = with(&[("class.a", "share:70"), ("class.b", "share:50")]);
    let text = scenario.resolve().expect_err("too much").to_string().replace('\u{202f}', " ");
    assert_eq!(
        text,
        "The shares of the classes (a 70 %, b 50 %) add up to 120 %. Make them 100 % or less, for \
         example class.a.share=50."
    );
    scenario.set("class.a.share", "50").expect("a share");
    assert!(scenario.resolve().is_ok());
}

#[test]
fn traffic_says_where_its_numbers_come_from() {
    let scenario = with(&[
        ("rate", "20"),
        ("profile", "spike(60s,30s,3)"),
        ("arrivals", "onoff(20s,60s,0.1,gamma(0.5))"),
        ("class.rag", "share:20,in:4000,priority:1"),
    ]);
    let ledger = scenario.resolve().expect("it resolves").ledger;
    for (key, value, kind) in [
        ("rate.peak", 60.0, Provenance::Derived),
        ("arrivals.shape", 0.5, Provenance::Given),
        ("arrivals.on_s", 20.0, Provenance::Given),
        ("arrivals.off_s", 60.0, Provenance::Given),
        ("arrivals.lull_share", 0.1, Provenance::Given),
        ("arrivals.burst_factor", 80.0 / 26.0, Provenance::Derived),
        ("class.rag.share", 20.0, Provenance::Given),
        ("class.rag.in", 4000.0, Provenance::Given),
        ("class.rag.out", 256.0, Provenance::Assumed),
        ("class.rag.ttft", 1000.0, Provenance::Assumed),
        ("class.rag.priority", 1.0, Provenance::Given),
        ("class.rest.share", 80.0, Provenance::Derived),
        ("in.mean", 0.8 * 1024.0 + 0.2 * 4000.0, Provenance::Derived),
    ] {
        let entry = ledger.get(key).unwrap_or_else(|| panic!("{key} is in the ledger"));
        assert_eq!(entry.kind, kind, "{key}");
        assert!((entry.value - value).abs() < 1e-9, "{key}: {}", entry.value);
        assert_eq!(entry.formula.is_some(), kind == Provenance::Derived, "{key}");
    }
    assert_eq!(scenario.peak_rate_per_s(), 60.0);
}

#[test]
fn a_queue_model_takes_the_mean_lengths_of_all_classes() {
    let scenario = with(&[
        ("step.kind", "queue-model"),
        ("in", "uniform(100,300)"),
        ("out", "50"),
        ("class.long", "share:50,in:1000"),
    ]);
    let resolved = scenario.resolve().expect("no catalogue needed");
    assert_eq!(
        resolved.setup.step_time,
        StepTimeSpec::QueueModel {
            alpha_s: 5e-3,
            beta_s: 50e-6,
            gamma_s: 50e-9,
            input_tokens: 600.0,
            output_tokens: 50.0,
        }
    );
    let delta = resolved.ledger.get("step.delta_s").expect("δ");
    let shape = |sequences| StepShape { tokens: 1, sequences, context_tokens: 0 };
    let step_s = |sequences| resolved.setup.step_time.step_s(&shape(sequences));
    assert!((step_s(1) - step_s(0) - delta.value).abs() < 1e-15, "{}", delta.value);
}

#[test]
fn classes_are_held_to_the_context_and_the_memory_too() {
    let parsed = Scenario::from_link("class.rag=share:20,in:200000");
    assert_eq!(parsed.scenario.get("class.rag.in").as_deref(), Some("131072"));
    assert_eq!(
        parsed.notices[0].message,
        "Prompt of class rag 200,000 is longer than this model’s 131,072 tokens. Using 131,072."
    );
    let scenario = with(&[("kv.capacity_tokens", "5000"), ("class.rag", "share:20,in:8000")]);
    match scenario.resolve() {
        Err(ResolveError::NoRoom { needed_tokens, .. }) => assert_eq!(needed_tokens, 8256),
        other => panic!("{other:?}"),
    }
    assert!(remedies(&scenario).contains(&("class.rag.in".to_owned(), "4744".to_owned())));
}

#[test]
fn numbers_out_of_their_domain_are_refused() {
    let scenario = Scenario { rate_per_s: f64::NAN, ..Scenario::preset() };
    assert!(matches!(scenario.resolve(), Err(ResolveError::Setup(_))));
    let scenario =
        with(&[("step.kind", "affine"), ("step.fixed_s", "0"), ("step.per_item_s", "0")]);
    assert!(matches!(scenario.resolve(), Err(ResolveError::Setup(_))));
}

/// Where each length alone is too long, cutting one leaves the other: both are cut.
#[test]
fn what_only_helps_together_is_offered_together() {
    for (settings, typed) in [
        (&[("in", "10000000"), ("out", "1000000")][..], "in=131072 out=131072"),
        (&[("step.weight_bytes", "1e15"), ("in", "1000000")], "step.weight_bytes=auto in=131072"),
    ] {
        let mut scenario = Scenario::preset();
        for (key, value) in settings {
            scenario.set(key, value).expect("a setting");
        }
        let error = scenario.resolve().expect_err("it cannot run");
        let remedies: Vec<String> = error.remedies().iter().map(|r| r.typed()).collect();
        assert_eq!(remedies, [typed]);
        assert!(error.to_string().contains(&format!("Try {typed} (only together).")), "{error}");
        for (key, value) in error.remedies()[0].changes() {
            scenario.set(key, value).expect("a remedy can be set");
        }
        assert!(scenario.resolve().is_ok());
    }
}

#[test]
fn drafts_become_rules_and_need_room() {
    let mut scenario = Scenario::preset();
    scenario.set("spec.tokens", "4").unwrap();
    scenario.set("spec.acceptance", "80%").unwrap();
    let resolved = scenario.resolve().unwrap();
    let speculation = Speculation { tokens: 4, acceptance: 0.8, draft_cost: 0.05 };
    assert_eq!(resolved.setup.rules, Rules::Speculative(speculation));
    let entry = |key| resolved.ledger.get(key).map(|entry| (entry.value, entry.kind));
    assert_eq!(entry("spec.acceptance"), Some((80.0, Provenance::Given)));
    assert_eq!(entry("spec.draft_cost"), Some((5.0, Provenance::Assumed)));
    // Without drafts nothing is said of them.
    assert!(Scenario::preset().resolve().unwrap().ledger.get("spec.tokens").is_none());
    // Prompt, answer and drafts.
    scenario.set("kv.capacity_tokens", "1284").unwrap();
    assert!(scenario.resolve().is_ok());
    scenario.set("kv.capacity_tokens", "1283").unwrap();
    let error = scenario.resolve().unwrap_err();
    assert!(matches!(error, ResolveError::NoRoom { needed_tokens: 1284, .. }), "{error}");
}

#[test]
fn other_rules_have_no_drafts() {
    for rules in ["vllm-0.33", "static", "dynamic(0.02s)", "sequential"] {
        let mut scenario = Scenario::preset();
        scenario.set("sched.rules", rules).unwrap();
        scenario.set("spec.tokens", "4").unwrap();
        let error = scenario.resolve().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "spec.tokens=4 beside sched.rules={rules}: only sched.rules=reference has \
                 speculative decoding. Try sched.rules=reference (with drafts), or spec.tokens=0 \
                 (without drafts)."
            )
        );
        for remedy in error.remedies() {
            let mut changed = scenario.clone();
            for (key, value) in remedy.changes() {
                changed.set(key, value).unwrap();
            }
            assert!(changed.resolve().is_ok(), "{}", remedy.typed());
        }
    }
}
