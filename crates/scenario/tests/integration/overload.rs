//! Overload and clients: what a scenario says of them, and what the simulator then does.

use proptest::prelude::*;
use scenario::{NoticeKind, OVERLOAD_NEEDS, Resolved, Scenario, field};
use sim_core::{
    Keep, RequestSource, Rules, Run,
    clients::{
        Awaited, ClientSpec, ClientTime, GivenUpWork, Pacing, Patience, PatienceTime, Population,
        Retries, RetryWait, Throttle,
    },
    engine::{
        Attendance, Codel, OverloadPolicy, ServiceOrder, VllmRules, simulate_attended,
        simulate_attended_by_oracle, vllm::Policy,
    },
};

fn resolved(link: &str) -> Resolved {
    let parsed = Scenario::from_link(link);
    assert_eq!(parsed.notices, [], "{link}");
    parsed.scenario.resolve().unwrap_or_else(|error| panic!("{link}: {error}"))
}

#[test]
fn nobody_reacts_unless_somebody_says_so() {
    for link in [
        "",
        "sched.rules=vllm",
        "sched.rules=static",
        // These only say how.
        "clients.backoff=5&clients.backoff_cap=9&clients.retry_budget=10&clients.awaits=answer",
        "overload.codel_target=1&overload.codel_interval=2&clients.abandoned=finished",
        "clients.throttle_k=3&clients.throttle_window=10",
    ] {
        assert_eq!(resolved(link).attendance, Attendance::OPEN, "{link}");
    }
}

#[test]
fn every_setting_reaches_the_simulator() {
    let line = "overload.policy=lifo&overload.queue_limit=50&overload.deadline=2s\
                &overload.rejection_cost=3ms&overload.retry_after=4s";
    let policy = OverloadPolicy {
        queue_limit: Some(50),
        max_wait_s: Some(2.0),
        order: ServiceOrder::NewestFirst,
        codel: None,
        rejection_cost_s: 0.003,
        retry_after_s: Some(4.0),
    };
    assert_eq!(resolved(line).attendance.overload, policy);
    let codel = resolved("overload.policy=codel&overload.codel_target=5ms").attendance.overload;
    assert_eq!(codel.codel, Some(Codel { target_s: 0.005, interval_s: 1.0 }));
    assert_eq!(codel.order, ServiceOrder::OldestFirst);

    let clients = "clients.patience=8&clients.awaits=answer&clients.abandoned=finished\
                   &clients.retries=2&clients.backoff=500ms&clients.backoff_cap=5s\
                   &clients.retry_budget=10%25&clients.throttle=on&clients.throttle_k=1.5\
                   &arrivals=closed(200,10s,scheduled)";
    let spec = ClientSpec {
        population: Population::Closed {
            users: 200,
            think: ClientTime::Fixed { mean_s: 10.0 },
            pacing: Pacing::OnSchedule,
        },
        patience: Some(Patience {
            time: PatienceTime::Same(ClientTime::Fixed { mean_s: 8.0 }),
            awaits: Awaited::Answer,
            work: GivenUpWork::StillDone,
        }),
        retries: Some(Retries {
            max_attempts: 3,
            wait: RetryWait::Backoff { base_s: 0.5, cap_s: 5.0 },
            honours_retry_after: true,
            budget: Some(0.1),
        }),
        throttle: Some(Throttle { k: 1.5, window_s: 120.0 }),
    };
    assert_eq!(resolved(clients).attendance.clients, spec);
    let at_once = resolved("clients.retries=1&clients.backoff=0&overload.queue_limit=5");
    let retries = at_once.attendance.clients.retries.expect("retries");
    assert_eq!((retries.wait, retries.budget), (RetryWait::Immediate, None));
}

/// All rules have clients that react, with drafts and without.
#[test]
fn clients_react_under_all_rules() {
    for (rules, setting) in [
        ("vllm-0.33", "overload.queue_limit=100"),
        ("vllm-0.11", "clients.patience=5"),
        ("static", "overload.policy=priority"),
        ("dynamic(0.02s)", "arrivals=closed(200,10s)"),
        ("sequential", "clients.throttle=on&overload.queue_limit=3"),
        ("vllm-0.33", "overload.policy=codel"),
        ("static", "overload.deadline=1"),
        ("reference", "spec.tokens=4&clients.patience=5&clients.retries=3"),
        ("reference", "spec.tokens=4&class.vip=share:20,patience:5"),
        ("reference", "spec.tokens=4&arrivals=closed(200,10s)"),
        ("reference", "spec.tokens=4&turns=3"),
    ] {
        let link = format!("sched.rules={rules}&{setting}&sim.requests=300");
        let resolved = resolved(&link);
        assert!(!resolved.attendance.is_open(), "{link}");
        assert_eq!(run(&link).verify(), Ok(()), "{link}");
    }
}

/// What a link says of patience, whose it is, and how it varies.
#[test]
fn patience_reaches_the_simulator() {
    let patience = |link: &str| resolved(link).attendance.clients.patience.map(|p| p.time);
    let same = |time| Some(PatienceTime::Same(time));
    assert_eq!(patience("clients.patience=8"), same(ClientTime::Fixed { mean_s: 8.0 }));
    assert_eq!(
        patience("clients.patience=8&clients.patience_spread=exponential"),
        same(ClientTime::Exponential { mean_s: 8.0 })
    );
    let lognormal =
        "clients.patience=8&clients.patience_spread=lognormal&clients.patience_sigma=0.5";
    assert_eq!(patience(lognormal), same(ClientTime::LogNormal { mean_s: 8.0, sigma: 0.5 }));
    assert_eq!(patience("clients.patience_spread=exponential"), None);

    let by_class = |link: &str| {
        let resolved = resolved(link);
        let RequestSource::Mixed(mix) = &resolved.setup.workload.source else { panic!("{link}") };
        let classes: Vec<_> = mix.classes.iter().map(|class| class.patience).collect();
        (resolved.attendance.clients.patience.map(|p| p.time), classes)
    };
    let fixed = |mean_s| Some(ClientTime::Fixed { mean_s });
    let classes = "class.a=share:20,patience:3&class.b=share:30,patience:none&class.c=share:10";
    // What the classes leave over comes first.
    assert_eq!(
        by_class(classes),
        (Some(PatienceTime::OfClass), vec![None, fixed(3.0), None, None])
    );
    assert_eq!(
        by_class(&format!("{classes}&clients.patience=9")),
        (Some(PatienceTime::OfClass), vec![fixed(9.0), fixed(3.0), None, fixed(9.0)])
    );
    let exponential = by_class(&format!("{classes}&clients.patience_spread=exponential"));
    assert_eq!(exponential.1[1], Some(ClientTime::Exponential { mean_s: 3.0 }));
    // Nobody has any, or everybody the same.
    assert_eq!(by_class("class.b=share:30,patience:none").0, None);
    assert_eq!(
        by_class("class.b=share:30&clients.patience=9"),
        (same(ClientTime::Fixed { mean_s: 9.0 }), vec![None, None])
    );
    let ledger = resolved(classes).ledger;
    assert_eq!(ledger.get("class.a.patience").map(|entry| entry.value), Some(3.0));
}

/// The clients of a class that gives up sooner do.
#[test]
fn who_has_less_patience_gives_up_more() {
    let run =
        run("rate=90&sim.requests=3000&sched.max_num_seqs=40&class.hasty=share:50,patience:300ms");
    assert!(run.abandoned > 0);
    let [patient, hasty] = &run.classes[..] else { panic!("two classes") };
    assert_eq!(patient.completed, patient.offered);
    assert_eq!(hasty.offered - hasty.completed, run.abandoned);
}

/// Both settings of a priority mean the same under vLLM's rules, and under the reference rules the
/// one of the line does.
#[test]
fn there_is_one_priority() {
    let policy = |link: &str| match resolved(link).setup.rules {
        Rules::VllmV1(VllmRules { policy, .. }) => policy,
        other => panic!("{other:?}"),
    };
    let classes = "sched.rules=vllm&class.chat=share:20,priority:-1";
    assert_eq!(policy(classes), Policy::Fcfs);
    for setting in ["sched.policy=priority", "overload.policy=priority"] {
        let link = format!("{classes}&{setting}");
        assert_eq!(policy(&link), Policy::Priority, "{setting}");
        assert!(resolved(&link).attendance.is_open(), "{setting}");
    }
    let reference = resolved("class.chat=share:20,priority:-1&overload.policy=priority");
    assert_eq!(reference.attendance.overload.order, ServiceOrder::ByPriority);
}

#[test]
fn a_closed_loop_has_no_rate_over_time() {
    let scenario = Scenario::from_link("arrivals=closed(200,10s)&profile=daily(0.3)").scenario;
    assert!(!scenario.changes_over_time());
    let resolved = scenario.resolve().expect("resolves");
    let plain = self::resolved("arrivals=closed(200,10s)");
    assert_eq!(resolved.setup, plain.setup);
    let ledger = &plain.ledger;
    assert_eq!(ledger.get("arrivals.users").map(|entry| entry.value), Some(200.0));
    assert_eq!(ledger.get("arrivals.think_s").map(|entry| entry.value), Some(10.0));
    assert!(ledger.get("rate").is_none(), "the rate follows from the users");
}

#[test]
fn the_ledger_tells_what_something_follows_from() {
    let quiet = resolved("").ledger;
    let said = |entry: &&scenario::LedgerEntry| {
        entry.key.starts_with("overload.") || entry.key.starts_with("clients.")
    };
    assert_eq!(quiet.0.iter().filter(said).count(), 0);
    let ledger = resolved("overload.queue_limit=100&clients.retries=3").ledger;
    let keys: Vec<&str> = ledger.0.iter().filter(said).map(|entry| &*entry.key).collect();
    let expected =
        ["overload.queue_limit", "clients.retries", "clients.backoff", "clients.backoff_cap"];
    assert_eq!(keys, expected);
}

#[test]
fn needs_name_settings_and_values_that_meet_them() {
    for (key, needs) in
        OVERLOAD_NEEDS.iter().flat_map(|(keys, needs)| keys.iter().map(move |key| (*key, *needs)))
    {
        assert!(field(key).is_some(), "{key}");
        for need in needs {
            let mut scenario = Scenario::preset();
            if need.key == "arrivals" {
                scenario.set("arrivals", "closed(20,1s)").expect("users");
            } else if need.key == "clients.backoff" {
                scenario.set("clients.backoff", "0").expect("a time");
            }
            assert!(!(need.is_met)(&scenario), "{key}: {}", need.key);
            assert_eq!(scenario.set(need.key, need.value), Ok(vec![]), "{key}");
            assert!((need.is_met)(&scenario), "{key}: {}={}", need.key, need.value);
        }
    }
}

#[test]
fn what_changes_nothing_is_told_with_what_would_make_it_count() {
    let said = |link: &str| {
        let cautions = Scenario::from_link(link).scenario.cautions();
        cautions.into_iter().map(|notice| notice.message).collect::<Vec<_>>()
    };
    assert_eq!(
        said("clients.retries=3"),
        ["Retries (clients.retries=3) has no effect under overload.queue_limit=none; set \
             overload.queue_limit=100 to use it."]
    );
    assert_eq!(
        said("rate=40&arrivals=closed(200,10s)"),
        ["Request rate (rate=40) has no effect under arrivals=closed(200,10s); set \
             arrivals=poisson to use it."]
    );
    for quiet in [
        "clients.retries=3&clients.patience=5&clients.backoff=0",
        "overload.policy=codel&overload.codel_target=5ms",
        "overload.queue_limit=50&overload.rejection_cost=2ms&clients.throttle=on",
        "class.vip=share:20,priority:-1&overload.policy=priority",
        "sched.rules=vllm&class.vip=share:20,priority:-1&overload.policy=priority",
        "class.vip=share:20,patience:5&clients.awaits=answer&clients.retries=2",
        "clients.patience=5&clients.patience_spread=lognormal&clients.patience_sigma=0.5",
    ] {
        assert_eq!(said(quiet), Vec::<String>::new(), "{quiet}");
    }
}

fn run(link: &str) -> Run {
    let resolved = resolved(link);
    let attended = resolved.attendance.before(&resolved.setup);
    simulate_attended(&attended, Keep::default()).expect("a run").run
}

/// What needs something changes nothing without it.
#[test]
fn what_lacks_what_it_needs_changes_nothing() {
    let bare = run("rate=40&sim.requests=300");
    for (setting, lacks) in [
        ("overload.codel_target=1ms", "overload.policy"),
        ("overload.rejection_cost=5ms", "overload.queue_limit"),
        ("overload.retry_after=9", "overload.queue_limit"),
        ("clients.awaits=answer", "clients.patience"),
        ("clients.abandoned=finished", "clients.patience"),
        ("clients.patience_spread=exponential", "clients.patience"),
        ("clients.patience_sigma=2", "clients.patience"),
        ("clients.retries=5", "overload.queue_limit"),
        ("clients.backoff=9", "clients.retries"),
        ("clients.retry_budget=50", "clients.retries"),
        ("clients.throttle=on", "overload.queue_limit"),
        ("clients.throttle_k=1.1", "clients.throttle"),
    ] {
        assert_eq!(run(&format!("rate=40&sim.requests=300&{setting}")), bare, "{setting} {lacks}");
    }
}

/// A zero where people may mean the opposite of none: it is none, as in every link so far, and that is
/// said with both ways to say what is meant.
#[test]
fn zeros_that_mean_none_say_so() {
    for (key, meaning) in [
        ("overload.queue_limit", "no limit"),
        ("overload.deadline", "no deadline"),
        ("clients.patience", "never give up"),
        ("clients.retry_budget", "no budget"),
    ] {
        for zero in ["0", "0.0", " 0 "] {
            let mut scenario = Scenario::preset();
            let said = scenario.set(key, zero).expect(key);
            assert_eq!(scenario, Scenario::preset(), "{key}");
            assert_eq!(said.len(), 1, "{key}: {said:?}");
            assert_eq!(said[0].kind, NoticeKind::ZeroIsNone);
            let message = &said[0].message;
            assert!(message.contains(meaning) && message.contains("Write none"), "{message}");
            let parsed = Scenario::from_link(&format!("{key}={zero}"));
            assert_eq!((parsed.scenario, parsed.notices.len()), (Scenario::preset(), 1));
        }
        let mut scenario = Scenario::preset();
        scenario.set(key, "5").expect(key);
        assert_eq!(scenario.set(key, "None"), Ok(vec![]), "{key}");
        assert_eq!(scenario.get(key).as_deref(), Some("none"));
        assert_eq!(scenario.number(key), Some(0.0));
        scenario.set(key, "5").expect(key);
        assert_eq!(scenario.set_number(key, 0.0), Ok(vec![]), "a slider says what it means");
        assert_eq!(scenario, Scenario::preset());
        let below = scenario.set(key, "-3").expect(key);
        assert_eq!(below[0].kind, NoticeKind::Clamped);
        assert!(below[0].message.contains("none stands for"), "{}", below[0].message);
    }
    let mut scenario = Scenario::preset();
    let said = scenario.set("class.a", "share:20,patience:0").expect("a class");
    assert_eq!(said[0].kind, NoticeKind::ZeroIsNone);
    assert_eq!(scenario.get("class.a").as_deref(), Some("share:20,patience:none"));
    // Zeros that say what they mean are silent.
    for quiet in ["clients.retries=0", "clients.backoff=0", "overload.retry_after=0", "think=0"] {
        assert_eq!(Scenario::from_link(quiet).notices, [], "{quiet}");
    }
}

/// Links of overload and clients at loads from light to far too much.
fn links() -> impl Strategy<Value = String> {
    let policy = prop::sample::select(vec!["fifo", "lifo", "priority", "codel"]);
    let limit = prop::sample::select(vec!["none", "3", "20"]);
    let time = || prop::sample::select(vec!["0", "0.2", "3"]);
    let limit_s = || prop::sample::select(vec!["none", "0.2", "3"]);
    let awaits = prop::sample::select(vec!["first-token", "answer"]);
    let work = prop::sample::select(vec!["stopped", "finished"]);
    let budget = prop::sample::select(vec!["none", "20%"]);
    let throttle = prop::sample::select(vec!["on", "off"]);
    let rules = prop::sample::select(vec![
        "reference",
        "vllm-0.33",
        "vllm-0.11",
        "vllm-0.33&sched.async=on&sched.prefix_caching=on&prefix=30",
        "static",
        "dynamic(50ms)",
        "sequential",
    ]);
    let spread = prop::sample::select(vec!["fixed", "exponential", "lognormal"]);
    let arrivals =
        prop::sample::select(vec!["poisson", "closed(30,500ms)", "closed(40,1s,scheduled)"]);
    (
        (policy, limit, limit_s(), time()),
        (limit_s(), awaits, work, 0..4, time()),
        (budget, throttle, arrivals, (5..80, any::<u32>()), [rules, spread]),
    )
        .prop_map(|(line, clients, others)| {
            let (policy, limit, deadline, after) = line;
            let (patience, awaits, work, retries, backoff) = clients;
            let (budget, throttle, arrivals, (rate, seed), words) = others;
            let [rules, spread] = words;
            format!(
                "sched.rules={rules}&clients.patience_spread={spread}&overload.policy={policy}&overload.queue_limit={limit}&overload.deadline={deadline}\
                 &overload.retry_after={after}&overload.rejection_cost=1ms&overload.codel_interval=200ms\
                 &clients.patience={patience}&clients.awaits={awaits}&clients.abandoned={work}\
                 &clients.retries={retries}&clients.backoff={backoff}&clients.backoff_cap=5\
                 &clients.retry_budget={budget}&clients.throttle={throttle}\
                 &clients.throttle_window=5&arrivals={arrivals}&rate={rate}&seed={seed}\
                 &in=uniform(50,500)&out=uniform(1,60)&sched.max_num_seqs=6&sim.requests=80\
                 &class.vip=share:30,priority:-2,in:40,patience:1"
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// What a link says is simulated alike by the fast engine and by the one that looks at every
    /// request in every step.
    #[test]
    fn the_engine_agrees_with_the_obvious_one(link in links()) {
        let resolved = resolved(&link);
        let attended = resolved.attendance.before(&resolved.setup);
        let keep = Keep { requests: true, ..Keep::default() };
        let fast = simulate_attended(&attended, keep).expect("a run");
        let slow = simulate_attended_by_oracle(&attended, keep).expect("a run");
        prop_assert_eq!(fast.run.verify(), Ok(()));
        prop_assert_eq!(fast.attempts, slow.attempts, "{}", link);
        let outcomes = |run: &Run| {
            let all = run.requests.clone().unwrap_or_default();
            all.iter().map(|request| request.outcome).collect::<Vec<_>>()
        };
        prop_assert_eq!(outcomes(&fast.run), outcomes(&slow.run), "{}", link);
    }
}
