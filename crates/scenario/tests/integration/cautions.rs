//! Settings without effect are named, and only those.

use scenario::{NoticeKind, Scenario};
use sim_core::{Keep, Precision, simulate};

/// A setting that lacks something, beside what, and what it lacks.
const IDLE: [(&str, &str, &str); 30] = [
    ("model=phi-4", "step.kind=affine", "step.kind=roofline"),
    ("gpu=l4", "step.kind=queue-model", "step.kind=roofline"),
    ("sched.max_num_batched_tokens=64", "sched.rules=static", "sched.rules=reference"),
    ("sched.max_num_seqs=9", "sched.rules=sequential", "sched.rules=static"),
    ("sched.async=on", "", "sched.rules=vllm-0.33"),
    ("sched.policy=priority", "sched.rules=dynamic(20ms)", "sched.rules=vllm-0.33"),
    ("sched.prefix_caching=on", "", "sched.rules=vllm-0.33"),
    ("prefix=500", "sched.prefix_caching=on", "sched.rules=vllm-0.33"),
    ("prefix=500", "sched.rules=vllm-0.33", "sched.prefix_caching=on"),
    ("sched.long_prefill_token_threshold=50", "", "sched.rules=vllm-0.33"),
    ("sched.watermark=5%", "", "sched.rules=vllm-0.33"),
    ("class.a.priority=3", "class.a=share:20&sched.rules=vllm-0.33", "sched.policy=priority"),
    ("class.a.prefix=30", "class.a=share:20&sched.rules=vllm-0.33", "sched.prefix_caching=on"),
    ("spec.acceptance=90", "", "spec.tokens=4"),
    ("spec.draft_cost=20", "", "spec.tokens=4"),
    ("disagg.prefill=2", "", "disagg.decode=1"),
    ("disagg.decode=2", "", "disagg.prefill=1"),
    ("disagg.link_gbps=10", "disagg.prefill=1", "disagg.decode=1"),
    ("disagg.latency=5ms", "disagg.decode=3", "disagg.prefill=1"),
    ("step.params=8e9", "step.kind=affine", "step.kind=roofline"),
    ("step.weight_bytes=8e9", "step.kind=affine", "step.kind=roofline"),
    ("step.kv_bytes_per_token=5000", "step.kind=affine", "step.kind=roofline"),
    ("step.peak_flops=8e14", "step.kind=queue-model", "step.kind=roofline"),
    ("step.bandwidth=8e12", "step.kind=affine", "step.kind=roofline"),
    ("step.mfu=0.4", "step.kind=affine", "step.kind=roofline"),
    ("step.overhead_s=1ms", "step.kind=affine", "step.kind=roofline"),
    ("step.fixed_s=10ms", "", "step.kind=affine"),
    ("step.alpha_s=10ms", "step.kind=roofline", "step.kind=queue-model"),
    ("step.beta_s=10us", "step.kind=affine", "step.kind=queue-model"),
    ("step.gamma_s=10e-9", "", "step.kind=queue-model"),
];

fn with(settings: &[&str]) -> Scenario {
    let mut scenario = Scenario::preset();
    for setting in settings.iter().flat_map(|text| text.split('&')).filter(|s| !s.is_empty()) {
        let (key, value) = setting.split_once('=').expect("key=value");
        scenario.set(key, value).unwrap_or_else(|notice| panic!("{notice}"));
    }
    scenario
}

fn outcomes(scenario: &Scenario) -> String {
    let setup = scenario.resolve().unwrap_or_else(|error| panic!("{error}")).setup;
    let run =
        simulate(&setup, Keep { precision: Precision::Exact, requests: true, intervals: false });
    format!("{:?}", run.expect("a run").requests)
}

#[test]
fn what_has_no_effect_is_told_with_what_would_give_it_one() {
    for (setting, beside, lacks) in IDLE {
        // A single run has everything that a plan has, and pools.
        let cautions = with(&[beside, setting]).cautions_of_run();
        let key = setting.split_once('=').map_or("", |pair| pair.0);
        let told = cautions.iter().find(|caution| caution.key == key);
        let told = told.unwrap_or_else(|| panic!("{setting} beside {beside}: {cautions:?}"));
        assert_eq!(told.kind, NoticeKind::NoEffect);
        assert!(told.message.contains(&format!("set {lacks} to use it.")), "{}", told.message);
        assert!(told.message.contains(&format!("({key}={})", told.value)), "{}", told.message);
        // With what it lacks there is nothing left to say of it.
        let cautions = with(&[beside, setting, lacks]).cautions_of_run();
        assert!(cautions.iter().all(|caution| caution.key != key), "{setting}: {cautions:?}");
    }
}

#[test]
fn what_is_said_to_have_no_effect_changes_no_bit() {
    let small = "rate=30&in=uniform(50,900)&out=uniform(1,40)&sim.requests=150";
    for (setting, beside, _) in IDLE {
        let without = outcomes(&with(&[small, beside]));
        assert_eq!(outcomes(&with(&[small, beside, setting])), without, "{setting} {beside}");
    }
}

#[test]
fn a_sentence_names_setting_reason_and_way() {
    let message = |link: &str| Scenario::from_link(link).scenario.cautions()[0].message.clone();
    assert_eq!(
        message("sched.async=on"),
        "Asynchronous scheduling (sched.async=on) has no effect under sched.rules=reference; set \
         sched.rules=vllm-0.33 to use it."
    );
    assert_eq!(
        message("class.rag=share:20,prefix:3"),
        "Class rag, prefix (class.rag.prefix=3) has no effect under sched.rules=reference and \
         sched.prefix_caching=off; set sched.rules=vllm-0.33 and sched.prefix_caching=on to use it."
    );
    assert_eq!(
        message("step.alpha_s=1ms"),
        "Iteration base time (step.alpha_s=0.001) has no effect under step.kind=roofline; set \
         step.kind=queue-model to use it."
    );
}

#[test]
fn pools_are_not_planned_with() {
    // One of the two is planned with no more than both: there is nothing to set beside it.
    for settings in [
        "disagg.prefill=1&disagg.decode=2&disagg.link_gbps=10",
        "disagg.prefill=2",
        "disagg.decode=2&disagg.latency=5ms",
        "disagg.link_gbps=10",
    ] {
        let cautions = with(&[settings]).cautions();
        assert_eq!(cautions.len(), 1, "{settings}: {cautions:?}");
        assert_eq!(cautions[0].kind, NoticeKind::NotPlanned);
        let message = &cautions[0].message;
        assert!(message.contains("headroom simulate") && !message.contains("set "), "{message}");
        assert!(with(&[settings]).cautions_of_run().iter().all(|c| c.kind == NoticeKind::NoEffect));
    }
}

#[test]
fn empty_prompts_are_told_with_what_to_set() {
    for (settings, key) in [
        (&["in=0"][..], "in"),
        (&["in=uniform(0,0)"], "in"),
        (&["class.a=share:20,in:0"], "class.a.in"),
    ] {
        for cautions in [with(settings).cautions(), with(settings).cautions_of_run()] {
            assert_eq!(cautions.len(), 1, "{cautions:?}");
            assert_eq!(cautions[0].kind, NoticeKind::EmptyPrompt);
            let message = &cautions[0].message;
            assert!(message.contains(&format!("({key}=0) is empty")), "{message}");
            assert!(message.contains(&format!("Set {key}=1 or more")), "{message}");
        }
        // They are simulated all the same.
        with(settings).resolve().expect("it resolves");
    }
    assert_eq!(with(&["in=uniform(0,9)"]).cautions(), []);
}

#[test]
fn defaults_and_settings_in_use_give_no_caution() {
    for link in [
        "",
        "rate=7&in=lognormal(512,0.9)&arrivals=gamma(0.5)&profile=step(60,2)&seed=3",
        "step.mfu=0.4&step.overhead_s=1ms&kv.capacity_tokens=90000",
        "sched.rules=vllm-0.33&sched.async=on&sched.prefix_caching=on&prefix=300&sched.watermark=1",
        "sched.rules=vllm-0.33&sched.policy=priority&class.a=share:20,priority:1",
        "step.kind=queue-model&step.alpha_s=5ms&sched.max_num_seqs=64",
        "sched.async=off&prefix=0&sched.policy=fcfs",
        "spec.tokens=4&spec.acceptance=80&spec.draft_cost=0",
    ] {
        let scenario = Scenario::from_link(link).scenario;
        assert_eq!(scenario.cautions(), [], "{link}");
    }
}

#[test]
fn a_full_batch_beyond_the_cache_is_told_with_what_fits() {
    let said = |settings: &[&str]| -> Vec<String> {
        let cautions = with(settings).cautions();
        cautions.into_iter().map(|caution| caution.message).collect()
    };
    let crowded = ["sched.rules=static", "in=50000", "out=2000", "rate=1"];
    let told = said(&crowded);
    let [only] = &told[..] else { panic!("{told:?}") };
    assert!(only.contains("256 requests of mean length need 13,312,000 tokens"), "{only}");
    assert!(only.ends_with("Set sched.max_num_seqs=18 or less."), "{only}");
    for settings in [
        &[&crowded[..], &["sched.max_num_seqs=18"]].concat()[..],
        &["sched.rules=static"],
        &["sched.rules=sequential", "in=50000"],
        &crowded[1..],
    ] {
        assert_eq!(said(settings), Vec::<String>::new(), "{settings:?}");
    }
}
