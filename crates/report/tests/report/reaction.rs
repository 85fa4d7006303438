//! Answers about clients that react: users in place of a rate, and requests without an answer.

use planner::{Estimate, FleetSize, LoadPoint, PlanAnswer, UsersAnswer, Verdict};
use report::{
    Attempts, Status, expected_headline, knee_csv, knee_data, knee_table, plan_json, remarks,
    run_text, tell,
};
use scenario::Scenario;
use sim_core::{Keep, engine::simulate_attended};

use super::{about, point, sized, without};

fn plain(text: &str) -> String {
    text.replace('\u{202f}', " ")
}

fn with(link: &str) -> Scenario {
    let parsed = Scenario::from_link(link);
    assert_eq!(parsed.notices, []);
    parsed.scenario
}

/// 2,000 users with 25 % headroom, of whom one GPU sustains `capacity`.
fn of_users(capacity: Estimate) -> PlanAnswer {
    let fleet = FleetSize::divide(2_000.0, 0.25, &capacity).expect("a capacity above nothing");
    let users = 2_000.0 / fleet.with_headroom as f64;
    let planned = LoadPoint { users: Some(users.floor()), ..point(20.0, true, 0.314, 0.0208) };
    PlanAnswer {
        users: Some(UsersAnswer { asked: 2_000.0, think_s: 10.0, capacity: Some(capacity) }),
        rate_per_s: 20.0 * fleet.with_headroom as f64,
        capacity_per_s: Some(about(23.5, 23.2, 23.8)),
        ceiling_per_s: Some(Estimate::exactly(24.5)),
        planned: Some(planned),
        knee: vec![planned],
        ..without(Verdict::Sized(fleet))
    }
}

#[test]
fn users_are_counted_in_users() {
    let scenario = with("arrivals=closed(2000,10s)");
    let telling = tell(&of_users(about(450.0, 440.0, 460.0)), &scenario);
    assert_eq!(telling.status, Status::Stable);
    assert_eq!(plain(&telling.headline), "H100 GPUs for 2,000 users");
    let sentences: Vec<String> = telling.sentences.iter().map(|s| plain(s)).collect();
    let expected = [
        "One GPU sustains about 450 users at this target (440 to 460, 95 %); 6 carry 2,700 users.",
        "2,000 users × 1.25 ÷ 450 users = 5.56, so 6 GPUs.",
        "Each user thinks for 10 s on average before the next request; as many as one GPU sustains \
         come to 23.5 req/s.",
        "Each then gets 333 users, who come to 20 req/s: P99 TTFT 314 ms of 1 s, P99 TPOT 20.8 ms \
         of 40 ms.",
    ];
    assert_eq!(sentences[..4], expected);
    assert_eq!(plain(&expected_headline(6, &scenario)), "H100 GPUs\nfor 2,000 users");
    let close = tell(&of_users(about(415.0, 400.0, 445.0)), &scenario);
    assert_eq!(close.hero, "6–7");
    assert_eq!(
        close.close_call.map(|text| plain(&text)).as_deref(),
        Some(
            "2,000 × 1.25 needs 417 users from each of 6 GPUs. One GPU holds 400 to 445. Take 7, or"
        )
    );
}

#[test]
fn a_schedule_and_no_time_to_think_are_told() {
    let answer = of_users(about(450.0, 440.0, 460.0));
    let said = |link: &str| plain(&remarks(&answer, &with(link)).join(" "));
    let scheduled = said("arrivals=closed(2000,10s,scheduled)");
    assert!(scheduled.starts_with("Each user means to send a request every 10 s;"), "{scheduled}");
    let at_once = said("arrivals=closed(2000,0s)");
    assert!(at_once.starts_with("Each user sends the next request at once;"), "{at_once}");
    assert_eq!(said(""), "");
}

#[test]
fn curves_over_users_never_turn_back() {
    let mut answer = of_users(about(450.0, 440.0, 460.0));
    let at = |rate, users| LoadPoint { users: Some(users), ..point(rate, true, 0.1, 0.01) };
    answer.knee = vec![at(20.0, 300.0), at(23.8, 500.0), at(23.9, 470.0), at(24.0, 510.0)];
    let drawn = knee_data(&answer, &with("arrivals=closed(2000,10s)"), Vec::new()).points;
    let rates: Vec<f64> = drawn.iter().map(|point| point.rate_per_s).collect();
    assert_eq!(rates, [20.0, 23.8, 24.0]);
}

fn partly_answered(answered_share: f64) -> PlanAnswer {
    let mut answer = sized(about(22.6, 22.2, 23.2));
    for point in answer.knee.iter_mut().chain(&mut answer.planned) {
        point.answered_share = answered_share;
    }
    answer
}

#[test]
fn requests_without_an_answer_are_told_and_withhold_percentiles() {
    let scenario = with("overload.queue_limit=20");
    let few = partly_answered(0.996);
    let said = plain(&tell(&few, &scenario).sentences.join(" "));
    assert!(said.contains("At the planned load 0.4 % of requests get no answer"), "{said}");
    assert!(said.contains("P99 TTFT 181 ms"), "{said}");

    // The P99 of all requests is not that of an answer: more than one in a hundred has none.
    let many = partly_answered(0.97);
    let said = plain(&tell(&many, &scenario).sentences.join(" "));
    assert!(!said.contains("P99 TTFT") && said.contains("A percentile is withheld"), "{said}");
    let table = knee_table(&many.knee);
    let first = table.lines().nth(1).expect("a row");
    assert!(first.contains("45 ms") || first.contains("45\u{202f}ms"), "P50 is known: {first}");
    assert_eq!(first.matches("withheld").count(), 3, "{first}");
    assert!(table.contains("A percentile is withheld"), "{table}");
    let value: serde_json::Value =
        serde_json::from_str(&plan_json(&many, &scenario, None, None)).expect("JSON");
    assert!(value["planned"]["ttft_p99_s"].is_null() && value["planned"]["ttft_p50_s"].is_object());
    assert_eq!(value["planned"]["answered_share"], 0.97);
    let csv = knee_csv(&many.knee);
    let column = |name: &str| {
        let index = csv.lines().next()?.split(',').position(|title| title == name)?;
        csv.lines().nth(1)?.split(',').nth(index)
    };
    assert_eq!(column("ttft_p99_s"), Some(""));
    assert_eq!(column("answered_share"), Some("0.97"));
    assert_ne!(column("goodput_per_s"), Some(""));
    let drawn = knee_data(&many, &scenario, Vec::new()).points;
    assert!(drawn[0].ttft_p99_s.value.is_nan() && drawn[0].ttft_p50_s.is_finite());
    assert!(drawn[0].goodput_per_s.value.is_finite());
}

fn simulated(link: &str) -> String {
    let scenario = with(link);
    let resolved = scenario.resolve().expect("it resolves");
    let attended = resolved.attendance.before(&resolved.setup);
    let done = simulate_attended(&attended, Keep::default()).expect("it runs");
    let mut attempts = Attempts::default();
    let (run, of_run) = Attempts::of(done.clone());
    attempts.add(&of_run);
    assert_eq!((attempts.counts, attempts.sessions), (done.attempts, done.sessions));
    plain(&run_text(&run, 1, &scenario, (&[], Some(&attempts)), false))
}

#[test]
fn a_run_tells_how_sessions_ended() {
    let text = simulated(
        "rate=15&turns=uniform(2,6)&think=5&in=200&sim.requests=1000&clients.patience=50ms\
         &kv.capacity_tokens=2000",
    );
    for part in [
        " sessions, ",
        " of them found under way: ",
        " ended, ",
        " broken off by a turn without an answer, ",
        " still under way at the end.",
        "1,000 turns: ",
        " % of their prompt tokens had been in the conversation before. ",
        " went without the oldest turns of their conversation.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!simulated("rate=15&clients.patience=5&sim.requests=100").contains("session"));
}

#[test]
fn a_run_tells_how_requests_and_attempts_ended() {
    let text = simulated(
        "rate=60&sim.requests=500&overload.queue_limit=30&clients.patience=2&clients.retries=2\
         &clients.retry_budget=20%25&clients.abandoned=finished",
    );
    for part in [
        "Without an answer: ",
        "rejected",
        "given up by their clients",
        " attempts sent, ",
        "forbidden by the retry budget",
        "generated for clients that had gone",
        "TTFT from send ",
        "coordinated omission",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let held = simulated("rate=60&sim.requests=500&overload.queue_limit=9&clients.throttle=on");
    assert!(held.contains("held back by clients that throttled themselves"), "{held}");
    assert!(!held.contains("attempts sent"), "without retries they are the requests: {held}");
    let dropped = simulated("rate=60&sim.requests=500&overload.deadline=500ms");
    assert!(dropped.contains("dropped after waiting"), "{dropped}");
}

#[test]
fn the_two_views_are_told_where_they_differ() {
    assert!(simulated("arrivals=closed(400,10s,scheduled)&sim.requests=500").contains("omission"));
    for same in ["arrivals=closed(50,10s)&sim.requests=200", "overload.queue_limit=5"] {
        assert!(!simulated(same).contains("omission"), "{same}");
    }
}
