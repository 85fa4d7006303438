//! What vLLM's rules can be told.

use scenario::{Provenance, Resolved, Scenario};
use sim_core::{
    RequestSource, Rules,
    engine::{
        VllmRules,
        vllm::{Policy, Version},
    },
    workload::SharedPrefix,
};

fn resolved(link: &str) -> Resolved {
    let parsed = Scenario::from_link(link);
    assert_eq!(parsed.notices, [], "{link}");
    parsed.scenario.resolve().unwrap_or_else(|error| panic!("{link}: {error}"))
}

fn prefixes(resolved: &Resolved) -> Vec<Option<SharedPrefix>> {
    let RequestSource::Mixed(mix) = &resolved.setup.workload.source else { return Vec::new() };
    mix.classes.iter().map(|class| class.shared_prefix).collect()
}

#[test]
fn every_option_reaches_the_engine() {
    let all = resolved(
        "sched.rules=vllm-0.33&sched.async=on&sched.policy=priority&sched.prefix_caching=true\
         &sched.long_prefill_token_threshold=512&sched.watermark=1%25",
    );
    let expected = VllmRules {
        version: Version::V0_33,
        asynchronous: true,
        policy: Policy::Priority,
        prefix_caching: true,
        long_prefill_token_threshold: 512,
        watermark: 0.01,
    };
    assert_eq!(all.setup.rules, Rules::VllmV1(expected));
    let none = resolved("sched.rules=vllm-0.11").setup.rules;
    assert_eq!(none, Rules::VllmV1(VllmRules::plain(Version::V0_11)));
}

#[test]
fn what_the_rules_do_not_know_is_said_or_refused() {
    let old = Scenario::from_link("sched.rules=vllm-0.11&sched.watermark=0.02").scenario;
    let message = old.resolve().map(|_| ()).expect_err("no watermark").to_string();
    assert!(message.contains("sched.watermark is 0.02"), "{message}");
    assert!(message.contains("0 under the rules of 0.11"), "{message}");
    let mut scenario = Scenario::preset();
    let notice = scenario.set("sched.async", "maybe").expect_err("no such word");
    let expected = "“maybe” is none of: off, on. For “Asynchronous scheduling” give for example on \
                    or off. Still using off.";
    assert_eq!(notice.message, expected);
    let other = resolved("sched.long_prefill_token_threshold=300&prefix=200");
    assert_eq!(other.setup.rules, Rules::Reference);
    for (key, source) in [
        ("sched.long_prefill_token_threshold", "typed; only vLLM’s rules have it"),
        ("prefix", "typed; only vLLM’s rules have a prefix cache"),
    ] {
        let entry = other.ledger.get(key).expect(key);
        assert_eq!((entry.kind, &*entry.source), (Provenance::Given, source));
    }
    // Who says nothing is told nothing.
    let silent = resolved("sched.rules=vllm-0.33").ledger;
    assert!(silent.get("prefix").is_none() && silent.get("sched.watermark").is_none());
}

#[test]
fn prefixes_are_shared_by_all_or_by_a_class() {
    let shared = |group, tokens| Some(SharedPrefix { group, tokens });
    assert_eq!(prefixes(&resolved("prefix=300")), [shared(0, 300)]);
    assert_eq!(prefixes(&resolved("class.a=share:20")), [None, None]);
    let three = resolved(
        "sched.rules=vllm&sched.prefix_caching=on&prefix=300&class.a=share:20,prefix:1k\
         &class.b=share:20&class.c=share:20,prefix:0",
    );
    assert_eq!(prefixes(&three), [shared(0, 300), shared(1, 1000), shared(0, 300), None]);
    let entry = three.ledger.get("class.a.prefix").expect("an entry");
    assert_eq!((entry.value, &*entry.source), (1000.0, "typed"));
}

#[test]
fn a_prefix_changes_nothing_but_what_the_cache_finds() {
    let run = |link: &str| {
        let setup = resolved(&format!("rate=20&sim.requests=400&{link}")).setup;
        let run = sim_core::simulate(&setup, sim_core::Keep::default()).expect("a run");
        // Traffic with a prefix is a mix of one class, which is all of it.
        for class in &run.classes {
            assert_eq!((&class.ttft, &class.e2e), (&run.ttft, &run.e2e));
        }
        sim_core::Run { classes: Vec::new(), ..run }
    };
    for rules in ["", "sched.rules=vllm", "sched.rules=static&sched.max_num_seqs=16"] {
        assert_eq!(run(rules), run(&format!("{rules}&prefix=500")), "{rules}");
    }
    let cold = run("sched.rules=vllm");
    let warm = run("sched.rules=vllm&prefix=500&sched.prefix_caching=on");
    // 31 full blocks of 16 tokens, for all but the first.
    assert!(warm.cached_tokens >= 390 * 496 && warm.cached_tokens <= 400 * 496);
    assert_eq!(cold.cached_tokens, 0);
    assert!(warm.ttft.mean() < cold.ttft.mean());
}
