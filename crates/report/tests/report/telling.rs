//! The wording of each state.

use planner::{Estimate, PlanAnswer, Remedy, Verdict};
use report::{Status, Telling, changes_title, plan_text, tell};
use scenario::Scenario;

use super::{about, sized, without};

/// The narrow space of the formatter, as a plain one.
fn plain(text: &str) -> String {
    text.replace('\u{202f}', " ")
}

fn told(answer: &PlanAnswer) -> Telling {
    tell(answer, &Scenario::preset())
}

fn remedy(key: &str, value: &str, effect: &str) -> Remedy {
    Remedy::new(key, value.to_owned(), effect.to_owned())
}

#[test]
fn a_number_of_gpus_with_what_it_holds_for() {
    let telling = told(&sized(about(22.6, 22.2, 23.2)));
    assert_eq!(telling.status, Status::Stable);
    assert_eq!(telling.hero, "6");
    assert_eq!(plain(&telling.headline), "H100 GPUs for 100 req/s");
    assert_eq!(plain(&telling.line), "with 25 % headroom; 5 would do without");
    let sentences: Vec<String> = telling.sentences.iter().map(|s| plain(s)).collect();
    assert_eq!(
        sentences,
        [
            "One GPU sustains about 22.6 req/s at this target (22.2 to 23.2, 95 %); 6 carry 136 req/s.",
            "100 req/s × 1.25 ÷ 22.6 req/s = 5.53, so 6 GPUs.",
            "Each then gets 16.7 req/s: P99 TTFT 181 ms of 1 s, P99 TPOT 15.2 ms of 40 ms.",
            "One GPU can finish at most 24.2 req/s at all, whatever the target.",
            "From 8 runs of 2,000 requests per rate, for the capacity longer ones without their start: \
             123,456 requests simulated in 2,345,678 steps.",
        ]
    );
    assert!(plain(&plan_text(&telling)).starts_with("6 H100 GPUs for 100 req/s\nwith 25 %"));
}

#[test]
fn without_headroom_the_line_says_what_they_carry() {
    let mut answer = sized(Estimate::exactly(22.6));
    answer.headroom = 0.0;
    let Verdict::Sized(fleet) = &mut answer.verdict else { unreachable!("it is sized") };
    (fleet.with_headroom, fleet.carried_per_s) = (5, 113.0);
    (fleet.with_headroom_low, fleet.with_headroom_high) = (5, 5);
    let telling = told(&answer);
    assert_eq!(plain(&telling.line), "no headroom: 113 req/s is the most they carry");
    assert_eq!(plain(&telling.sentences[1]), "100 req/s ÷ 22.6 req/s = 4.42, so 5 GPUs.");
}

#[test]
fn a_close_call_names_both_numbers_and_both_ways_out() {
    let mut answer = sized(about(20.4, 20.0, 21.2));
    answer.rate_per_s = 100.0;
    let telling = told(&answer);
    assert_eq!(telling.status, Status::CloseCall);
    assert_eq!(telling.hero, "6–7");
    assert_eq!(plain(&telling.headline), "H100 for 100 req/s");
    assert_eq!(
        plain(&telling.sentences[0]),
        "100 × 1.25 needs 20.8 req/s from each of 6 GPUs. One GPU holds 20 to 21.2. Take 7, or run 4 times longer."
    );
    assert!(plan_text(&telling).contains("\nClose call\n"));
}

#[test]
fn the_first_runs_are_no_close_call() {
    let telling = report::tell_so_far(&sized(about(20.4, 20.0, 21.2)), &Scenario::preset());
    assert_eq!((telling.status, telling.hero.as_str()), (Status::Stable, "7"));
    assert_eq!(telling.close_call, None);
    assert_eq!(plain(&telling.broken_headline()), "H100 GPUs\nfor 100 req/s");
    assert_eq!(plain(&telling.line), "with 25 % headroom; ≈ 5 would do without");
    assert_eq!(plain(&telling.line_short), "with 25 % headroom; ≈ 5 without");
}

#[test]
fn traffic_that_is_more_than_one_steady_kind_has_remarks() {
    let answer = sized(about(22.6, 22.2, 23.2));
    let remarks = |link| report::remarks(&answer, &Scenario::from_link(link).scenario);
    assert_eq!(remarks("v=1"), Vec::<String>::new());
    for (link, part) in [
        ("profile=spike(60s,30s,3)", "sized for its peak"),
        ("class.chat=share:60,ttft:500", "chat, 60 %: TTFT 500 ms"),
        ("arrivals=onoff(60s,90s,0.1)", "rounds of burst and lull"),
    ] {
        let said = remarks(link);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(plain(&said[0]).contains(part), "{}", said[0]);
    }
}

#[test]
fn a_capacity_that_may_be_nothing_has_no_upper_number() {
    let telling = told(&sized(about(22.6, 0.0, 30.0)));
    assert_eq!(telling.hero, "5 or more");
    assert!(!plan_text(&telling).contains("18,446"), "{}", plan_text(&telling));
}

#[test]
fn an_unstable_planned_load_withholds_its_latencies() {
    let mut answer = sized(Estimate::exactly(22.6));
    answer.planned = Some(super::point(25.0, false, 2.0, 0.04));
    let telling = told(&answer);
    assert_eq!(telling.status, Status::Withheld);
    let all = telling.sentences.join(" ");
    assert!(all.contains("the queue grows") && !all.contains("P99 TTFT"), "{all}");
}

#[test]
fn one_gpu_is_singular() {
    let mut answer = sized(Estimate::exactly(22.6));
    (answer.rate_per_s, answer.headroom) = (10.0, 0.0);
    let fleet = planner::FleetSize::divide(10.0, 0.0, &Estimate::exactly(22.6)).unwrap();
    answer.verdict = Verdict::Sized(fleet);
    let telling = told(&answer);
    assert_eq!(plain(&telling.headline), "H100 GPU for 10 req/s");
    assert_eq!(plain(&telling.sentences[0]), "One GPU sustains about 22.6 req/s at this target.");
}

#[test]
fn a_change_says_how_many_gpus_it_leads_to_where_that_is_known() {
    let with = |gpus| {
        let remedy = Remedy { gpus, ..remedy("in", "744", "at most 744 tokens") };
        let verdict =
            Verdict::NoRoom { capacity_tokens: 1000, needed_tokens: 1280, remedies: vec![remedy] };
        plan_text(&told(&PlanAnswer { verdict, ..sized(about(22.6, 22.2, 23.2)) }))
    };
    assert!(with(None).ends_with("Try in=744 (at most 744 tokens).\n"));
    assert!(with(Some(1)).ends_with("tokens): then 1 GPU holds the target.\n"));
    assert!(with(Some(7056)).ends_with("tokens): then 7,056 GPUs hold the target.\n"));
}

#[test]
fn the_class_in_the_way_is_named_and_so_is_a_cache_that_was_typed() {
    let verdict =
        Verdict::NoRoom { capacity_tokens: 1500, needed_tokens: 4256, remedies: Vec::new() };
    let answer = PlanAnswer { verdict, ..sized(about(22.6, 22.2, 23.2)) };
    let mut scenario = Scenario::preset();
    scenario.set("class.big", "share:10,in:4000").expect("a class");
    let sentence = |scenario: &Scenario| plain(&tell(&answer, scenario).sentences[0]);
    assert!(sentence(&scenario).starts_with(
        "Weights fit. What is left holds 1,500 tokens of KV; one request of class big needs 4,256."
    ));
    scenario.set("kv.capacity_tokens", "1500").expect("a number");
    scenario.set("in", "9000").expect("a length");
    assert!(sentence(&scenario).starts_with(
        "The KV cache (kv.capacity_tokens) holds 1,500 tokens of KV; one request needs 4,256."
    ));
}

#[test]
fn what_has_no_answer_says_why_and_what_would_do() {
    let verdicts = [
        (
            Verdict::DoesNotFit {
                weight_bytes: 141e9,
                available_bytes: 70e9,
                remedies: vec![remedy("gpu", "h200-sxm", "141 GB of memory")],
            },
            "Does not fit",
            "Qwen2.5-7B",
        ),
        (
            Verdict::NoRoom {
                capacity_tokens: 9_400,
                needed_tokens: 16_640,
                remedies: vec![remedy("in", "9144", "at most 9,144 tokens")],
            },
            "No room",
            "What is left holds 9,400 tokens of KV; one request needs 16,640.",
        ),
        (
            Verdict::TooLong {
                sentence: "Prompt 200,000 is too long.".to_owned(),
                remedies: vec![remedy("in", "1", "x")],
            },
            "Does not fit",
            "Prompt 200,000",
        ),
        (
            Verdict::OutOfReach {
                class: None,
                ttft_floor_s: 1.412,
                tpot_floor_s: 0.005,
                remedies: vec![remedy("ttft", "1800ms", "25 % above")],
            },
            "Out of reach",
            "At no load is TTFT under 1 s: prefill alone takes 1.41 s.",
        ),
        (
            Verdict::OutOfReach {
                class: None,
                ttft_floor_s: 0.032,
                tpot_floor_s: 0.0505,
                remedies: vec![remedy("tpot", "64ms", "25 % above")],
            },
            "Out of reach",
            "At no load is TPOT under 40 ms: even alone a request waits 50.5 ms for each token.",
        ),
        (
            Verdict::OutOfReach {
                class: None,
                ttft_floor_s: 0.032,
                tpot_floor_s: 0.005,
                remedies: vec![remedy("in", "1", "x")],
            },
            "Out of reach",
            "A lone request meets the target",
        ),
    ];
    for (verdict, hero, words) in verdicts {
        let telling = told(&without(verdict));
        assert_eq!((telling.status, telling.hero.as_str()), (Status::NoAnswer, hero));
        assert!(plain(&telling.sentences[0]).contains(words), "{}", telling.sentences[0]);
        let text = plan_text(&telling);
        assert!(text.contains(&format!("Try {}=", telling.changes[0].key)), "{text}");
    }
}

#[test]
fn what_only_fits_is_not_said_to_work() {
    let of = |remedies: Vec<Remedy>| {
        let no_room = Verdict::NoRoom { capacity_tokens: 9, needed_tokens: 10, remedies };
        let telling = told(&without(no_room));
        (changes_title(&telling.hero, &telling.changes), telling.sentences[0].clone())
    };
    let fits = remedy("in", "8", "at most 8 tokens");
    let (title, sentence) = of(vec![fits.clone()]);
    assert_eq!(title, "Smallest changes that make it fit");
    assert!(sentence.contains("no change that we know of meets the target"), "{sentence}");
    let (title, sentence) = of(vec![fits.meeting_target()]);
    assert_eq!(title, "Smallest changes that work");
    assert!(!sentence.contains("no change"), "{sentence}");
    assert_eq!(of(Vec::new()).0, "");
}

#[test]
fn several_settings_are_changed_together_and_nothing_is_said_to_be_nothing() {
    let of = |remedies| {
        let verdict =
            Verdict::OutOfReach { class: None, ttft_floor_s: 1.4, tpot_floor_s: 0.05, remedies };
        plain(&plan_text(&told(&without(verdict))))
    };
    let both = remedy("ttft", "40ms", "together").with("tpot", "6.4ms");
    assert_eq!(both.changes().collect::<Vec<_>>(), [("ttft", "40ms"), ("tpot", "6.4ms")]);
    assert!(of(vec![both]).contains("Try ttft=40ms tpot=6.4ms (together)."));
    let nothing = of(Vec::new());
    assert!(nothing.contains("takes 1.4 s. No change") && !nothing.contains("Try"), "{nothing}");
}

fn scenario(settings: &[(&str, &str)]) -> Scenario {
    let mut scenario = Scenario::preset();
    for (key, value) in settings {
        scenario.set(key, value).unwrap_or_else(|notice| panic!("{notice}"));
    }
    scenario
}

fn sentences(answer: &PlanAnswer, settings: &[(&str, &str)]) -> Vec<String> {
    tell(answer, &scenario(settings)).sentences.iter().map(|s| plain(s)).collect()
}

#[test]
fn traffic_is_told_where_it_is_more_than_a_steady_rate() {
    let mut answer = sized(about(22.6, 22.2, 23.2));
    answer.rate_per_s = 100.0;
    let told = sentences(&answer, &[("rate", "25"), ("profile", "spike(60s,30s,4)")]);
    assert!(
        told.contains(
            &"The rate changes over time: this is sized for its peak, 100 req/s (4 × 25 req/s), as \
              if it stayed there; what a GPU sustains is measured at a steady rate."
                .to_owned()
        ),
        "{told:?}"
    );
    let told = sentences(&answer, &[("class.rag", "share:20,ttft:3s"), ("ttft", "500ms")]);
    assert!(
        told.contains(
            &"Each request is held to the target of its class (rag, 20 %: TTFT 3 s, TPOT 40 ms; \
              rest, 80 %: TTFT 500 ms, TPOT 40 ms)."
                .to_owned()
        ),
        "{told:?}"
    );
    assert!(told.iter().any(|s| s.contains("within the target of their class")), "{told:?}");
    assert!(!told.iter().any(|s| s.contains("P99 TTFT 181 ms of")), "{told:?}");
    // 2,000 requests at 22.6 req/s last 88 s: a round of 80 s fits once.
    let told = sentences(&answer, &[("arrivals", "onoff(20s,60s,0.1)")]);
    assert!(
        told.iter().any(|s| s.contains("about 1.11 rounds") && s.contains("37000")),
        "{told:?}"
    );
    let told = sentences(&answer, &[("arrivals", "onoff(1s,2s,0.1)")]);
    assert!(!told.iter().any(|s| s.contains("rounds")), "{told:?}");
}

#[test]
fn a_class_out_of_reach_is_told_with_its_own_target() {
    let verdict = Verdict::OutOfReach {
        class: Some("rag".to_owned()),
        ttft_floor_s: 1.412,
        tpot_floor_s: 0.005,
        remedies: vec![remedy("class.rag.ttft", "1800ms", "25 % above").meeting_target()],
    };
    let scenario = scenario(&[("class.rag", "share:20,ttft:800ms")]);
    let telling = tell(&without(verdict), &scenario);
    assert_eq!(
        plain(&telling.sentences[0]),
        "In class rag: At no load is TTFT under 800 ms: prefill alone takes 1.41 s."
    );
}

#[test]
fn one_of_a_thing_is_no_plural() {
    let mut answer = sized(about(22.6, 22.2, 23.2));
    (answer.replications, answer.requests) = (1, 1);
    (answer.simulated_requests, answer.simulated_steps) = (1, 1);
    let told = sentences(&answer, &[]);
    let effort = "From 1 run of 1 request per rate: 1 request simulated in 1 step.";
    assert_eq!(told.last().map(String::as_str), Some(effort));
    let verdict = Verdict::NoRoom { capacity_tokens: 1, needed_tokens: 1280, remedies: Vec::new() };
    let told = sentences(&without(verdict), &[]);
    assert!(told[0].contains("holds 1 token of KV"), "{told:?}");
}
