//! Sessions of several turns: what they resolve to, and what is said of them.

use scenario::{NoticeKind, Provenance, Scenario};
use sim_core::{
    RequestSource,
    clients::{ClientTime, Population},
    workload::{Mix, RequestClass, Sessions, Turns},
};

fn parsed(link: &str) -> Scenario {
    let parsed = Scenario::from_link(link);
    assert_eq!(parsed.notices, [], "{link}");
    parsed.scenario
}

fn classes(link: &str) -> Vec<RequestClass> {
    let resolved = parsed(link).resolve().expect(link);
    match resolved.setup.workload.source {
        RequestSource::Mixed(mix) => {
            let Mix { classes, .. } = &*mix;
            classes.clone()
        }
        source => panic!("{link}: {source:?}"),
    }
}

fn population(link: &str) -> Population {
    parsed(link).resolve().expect(link).attendance.clients.population
}

/// The model takes 131,072 tokens.
#[test]
fn turns_make_sessions_within_the_context() {
    let [class] = &classes("turns=uniform(2,8)&think=fixed(3s)")[..] else { panic!("one class") };
    let sessions = Sessions {
        turns: Turns::Uniform { least: 2, most: 8 },
        think: ClientTime::Fixed { mean_s: 3.0 },
        most_tokens: 131_072,
    };
    assert_eq!(class.sessions, Some(sessions));
    assert_eq!(population("turns=5"), Population::Sessions);
    assert_eq!(population("turns=1&think=3"), Population::Open);
    // A cache that holds less is the limit, whoever said so.
    let most = |link| classes(link)[0].sessions.map(|sessions| sessions.most_tokens);
    assert_eq!(most("turns=5&kv.capacity_tokens=5000"), Some(5_000));
    let llama = "model=llama-3.1-8b&gpu=l4&turns=5&in=100&out=100";
    let capacity = parsed(llama).resolve().expect(llama).setup.engine.kv_capacity_tokens;
    assert!(capacity < 131_072, "{capacity}");
    assert_eq!(most(llama), Some(capacity));
}

#[test]
fn classes_have_sessions_of_their_own() {
    let link = "turns=4&class.agent=share:20,turns:geometric(12),think:fixed(1s)\
                &class.batch=share:30,turns:1&class.chat=share:10,think:30s";
    let told: Vec<_> = classes(link)
        .iter()
        .map(|class| class.sessions.map(|sessions| (sessions.turns, sessions.think)))
        .collect();
    let four = Turns::Fixed { turns: 4 };
    let exponential = |mean_s| ClientTime::Exponential { mean_s };
    let agent = (Turns::Geometric { mean: 12.0 }, ClientTime::Fixed { mean_s: 1.0 });
    assert_eq!(
        told,
        [Some((four, exponential(10.0))), Some(agent), None, Some((four, exponential(30.0)))]
    );
    let scenario = parsed(link);
    assert_eq!(parsed(&scenario.to_link()), scenario);
    // Only a class has them.
    assert_eq!(population("class.agent=share:20,turns:3"), Population::Sessions);
    assert_eq!(population("turns=3&class.batch=share:100,turns:1"), Population::Sessions);
}

#[test]
fn the_ledger_tells_what_sessions_come_to() {
    let resolved = parsed("turns=5&in=100&out=100&think=20").resolve().expect("it resolves");
    let entry =
        |key: &str| resolved.ledger.get(key).map(|entry| (entry.value, entry.kind)).expect(key);
    assert_eq!(entry("turns"), (5.0, Provenance::Given));
    assert_eq!(entry("think"), (20.0, Provenance::Given));
    // 0, 200, … 800 tokens before the five turns.
    assert_eq!(entry("turns.history"), (400.0, Provenance::Derived));
    assert_eq!(entry("turns.most_tokens"), (131_072.0, Provenance::Derived));
    let plain = parsed("rate=5").resolve().expect("it resolves");
    assert!(plain.ledger.get("turns").is_none() && plain.ledger.get("think").is_none());
}

#[test]
fn sessions_without_effect_are_told() {
    let told = |link: &str| -> Vec<String> {
        let cautions = parsed(link).cautions();
        cautions
            .into_iter()
            .filter(|notice| notice.kind == NoticeKind::NoEffect)
            .map(|notice| notice.message)
            .collect()
    };
    assert_eq!(
        told("arrivals=closed(20,5s)&turns=5"),
        ["Turns of a session (turns=5) has no effect under arrivals=closed(20,5s); set \
          arrivals=poisson to use it."]
    );
    assert_eq!(
        told("think=5s"),
        ["Time to think (think=5s) has no effect under turns=1; set turns=5 to use it."]
    );
    assert_eq!(told("turns=5&think=5s").len(), 0);
    assert_eq!(told("class.chat=share:10,turns:4,think:5s").len(), 0);
    assert_eq!(told("class.chat=share:10,think:5s").len(), 1);
}

#[test]
fn conversations_that_grow_too_long_are_told() {
    let told = |link: &str| -> Vec<String> {
        let cautions = parsed(link).cautions();
        cautions
            .into_iter()
            .filter(|notice| notice.kind == NoticeKind::BeyondContext)
            .map(|notice| notice.message)
            .collect()
    };
    assert_eq!(told("turns=102").len(), 0);
    // 102 turns of 1,280 tokens come to 130,560.
    assert_eq!(
        told("turns=103"),
        [
            "Conversations lose their oldest turns where prompt and answer would exceed this model’s \
          context of 131,072 tokens: about from turn 103 on."
        ]
    );
    assert_eq!(
        told("class.agent=share:10,in:100,out:100,turns:geometric(10)&kv.capacity_tokens=4000"),
        [
            "Conversations of class agent lose their oldest turns where prompt and answer would exceed \
          the KV cache of 4,000 tokens: about from turn 21 on."
        ]
    );
}

#[test]
fn mistakes_are_named() {
    for (key, value, part) in [
        ("turns", "many", "“many”"),
        ("turns", "uniform(5)", "For “Turns of a session” give for example 5, uniform(2,8)"),
        ("think", "soon", "For “Time to think” give for example 10s, fixed(2s)"),
    ] {
        let mut scenario = Scenario::preset();
        let notice = scenario.set(key, value).expect_err(value);
        assert!(notice.message.contains(part), "{}", notice.message);
        assert_eq!(scenario, Scenario::preset());
    }
    let mut scenario = Scenario::preset();
    let notices = scenario.set("turns", "5000").expect("it is moved");
    assert_eq!(notices[0].kind, NoticeKind::Clamped);
    assert_eq!(scenario.get("turns").as_deref(), Some("1000"));
}
