//! Plans where clients react or the line has a policy, and where users take the place of a rate.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

use planner::{Job, Plan, PlanAnswer, UsersAnswer, Verdict, closed_form, run_inline};
use scenario::{Resolved, Scenario};
use sim_core::{Outcome, Precision, engine::simulate_attended};

const SMALL: &str = "sim.requests=800&sim.replications=3";

fn resolved(link: &str) -> Resolved {
    let parsed = Scenario::from_link(link);
    assert_eq!(parsed.notices, [], "{link}");
    parsed.scenario.resolve().unwrap_or_else(|error| panic!("{link}: {error}"))
}

fn plan(link: &str) -> PlanAnswer {
    let resolved = resolved(&format!("{link}&{SMALL}"));
    run_inline(&mut Plan::new(&resolved)).expect("it runs").expect("an answer")
}

fn capacity(link: &str) -> f64 {
    plan(link).capacity_per_s.expect("a capacity").value
}

fn users(answer: &PlanAnswer) -> UsersAnswer {
    answer.users.expect("an answer in users")
}

fn gpus(answer: &PlanAnswer) -> u64 {
    let Verdict::Sized(size) = &answer.verdict else { panic!("{:?}", answer.verdict) };
    size.with_headroom
}

#[test]
fn what_never_comes_to_pass_changes_no_bit() {
    let plain = plan("rate=60");
    for setting in
        ["overload.queue_limit=1000000", "clients.patience=3600", "overload.deadline=3600"]
    {
        let answer = plan(&format!("rate=60&{setting}"));
        assert_eq!(answer.capacity_per_s, plain.capacity_per_s, "{setting}");
        assert_eq!(answer.verdict, plain.verdict, "{setting}");
        assert!(answer.knee.iter().all(|point| point.answered_share == 1.0), "{setting}");
    }
}

/// A request that is turned away counts as missing the target, so that a short queue cannot make a
/// GPU hold more; one that is too short makes it hold less.
#[test]
fn who_is_turned_away_counts_as_a_miss() {
    let endless = capacity("rate=60");
    let short = plan("rate=60&overload.queue_limit=2");
    let held = short.capacity_per_s.expect("a capacity");
    assert!(held.value < 0.9 * endless, "{held:?} of {endless}");
    let planned = short.planned.expect("a planned load");
    assert!(planned.slo_share.value <= planned.answered_share, "{planned:?}");
    assert!(short.knee.iter().any(|point| point.answered_share < 0.99));
    assert!(short.knee.iter().any(|point| !point.has_percentile(99.0) && point.stable));
}

/// The share of the plan is that of the very run it hands out.
#[test]
fn jobs_carry_the_clients() {
    let resolved = resolved(&format!("rate=60&overload.queue_limit=5&clients.retries=2&{SMALL}"));
    let mut plan = Plan::quick(&resolved);
    let mut attended = 0;
    loop {
        let jobs = plan.next_jobs();
        if jobs.is_empty() {
            break;
        }
        for job in jobs.iter().filter(|job| !job.attendance.is_open()) {
            let keep =
                sim_core::Keep { precision: Precision::Bounded, requests: true, intervals: false };
            let run = simulate_attended(&job.attendance.before(&job.setup), keep).expect("a run");
            let mine = job.run().expect("a run");
            assert_eq!((run.run.slo_met, run.run.rejected), (mine.slo_met, mine.rejected));
            let requests = run.run.requests.unwrap_or_default();
            let turned_away = requests.iter().filter(|r| r.outcome == Outcome::Rejected).count();
            assert_eq!(turned_away as u64, mine.rejected);
            attended += 1;
        }
        plan.accept(&jobs.iter().map(Job::run).collect::<Result<Vec<_>, _>>().expect("runs"));
    }
    assert!(attended > 12, "{attended}");
}

/// Clients that give up while the server works on make things worse than clients that wait.
#[test]
fn a_retry_storm_costs_capacity() {
    let patient = capacity("rate=60&share=90");
    let storm = capacity(
        "rate=60&share=90&clients.patience=300ms&clients.retries=5&clients.backoff=0\
         &clients.abandoned=finished",
    );
    assert!(storm < 0.97 * patient, "{storm} of {patient}");
}

#[test]
fn a_closed_loop_is_sized_in_users() {
    let answer = plan("arrivals=closed(2000,10s)");
    let found = users(&answer);
    let capacity = found.capacity.expect("a capacity");
    assert_eq!((found.asked, found.think_s), (2_000.0, 10.0));
    assert!(capacity.low <= capacity.value && capacity.value <= capacity.high, "{capacity:?}");
    assert_eq!(capacity.value, libm::floor(capacity.value), "there are no parts of users");
    assert_eq!(gpus(&answer), (2_000.0 * 1.25 / capacity.value).ceil() as u64);
    // Little's law over the whole loop: each user is thinking, waiting or being served.
    let each_per_s = answer.capacity_per_s.expect("a rate").value;
    let at = answer.knee.iter().find(|point| point.users == Some(capacity.value)).expect("a point");
    let in_system = at.rate_per_s * (10.0 + at.e2e_p50_s.value);
    assert!((in_system / capacity.value - 1.0).abs() < 0.05, "{in_system} {capacity:?}");
    assert_eq!(at.rate_per_s, each_per_s);
    let planned = answer.planned.expect("a planned load");
    assert_eq!(planned.users, Some((2_000 / gpus(&answer)) as f64));
    assert_eq!(answer.rate_per_s, planned.rate_per_s * gpus(&answer) as f64);
    assert!(answer.knee.windows(2).all(|pair| pair[0].rate_per_s < pair[1].rate_per_s));
    assert!(answer.knee.iter().all(|point| point.stable && point.users.is_some()));
}

/// What users come to who wait for their answers lies below the rate of an open loop that the GPU
/// could finish, and above the rate at which the open loop fails its target.
#[test]
fn users_who_wait_do_not_overload() {
    let closed = plan("arrivals=closed(500,10s)");
    let open = plan("rate=60");
    let rate = |answer: &PlanAnswer| answer.capacity_per_s.expect("a capacity").value;
    assert!(rate(&closed) > rate(&open), "{} {}", rate(&closed), rate(&open));
    assert!(rate(&closed) < closed.ceiling_per_s.expect("a ceiling").value);
}

#[test]
fn a_schedule_is_held_below_what_can_be_finished() {
    let answer = plan("arrivals=closed(2000,10s,scheduled)");
    let capacity = users(&answer).capacity.expect("a capacity").value;
    let ceiling = answer.ceiling_per_s.expect("a ceiling").value;
    assert!(capacity / 10.0 < ceiling, "{capacity} users every 10 s, {ceiling} at most");
    assert!(capacity / 10.0 > 0.8 * ceiling, "even gaps need little room: {capacity} {ceiling}");
}

/// With all the time in the world the target is met by any number of users that wait; the answer
/// stops at a number beyond which waits alone exceed it.
#[test]
fn a_loose_target_still_has_a_number() {
    let answer = plan("arrivals=closed(100,0s)&ttft=30s&tpot=1s&in=200&out=20");
    let capacity = users(&answer).capacity.expect("a capacity").value;
    let ceiling = answer.ceiling_per_s.expect("a ceiling").value;
    assert!(capacity > 256.0 && capacity < 256.0 + 61.0 * ceiling, "{capacity} {ceiling}");
}

#[test]
fn one_user_is_the_least() {
    let answer = plan("arrivals=closed(1,0s)");
    assert_eq!(gpus(&answer), 1);
    assert_eq!(answer.planned.and_then(|point| point.users), Some(1.0));
    let Verdict::OutOfReach { .. } = plan("arrivals=closed(5,1s)&ttft=5ms").verdict else {
        panic!("a lone prefill takes longer");
    };
}

#[test]
fn closed_forms_of_a_loop_come_close() {
    for link in ["arrivals=closed(2000,10s)", "arrivals=closed(2000,10s,scheduled)"] {
        let form = closed_form(&resolved(link));
        let answer = plan(link);
        let simulated = users(&answer).capacity.expect("a capacity").value;
        let estimate = form.users.expect("users");
        assert!((estimate / simulated - 1.0).abs() < 0.25, "{link}: {estimate} for {simulated}");
        assert_eq!(form.gpus, Some((2_000.0 * 1.25 / estimate).ceil() as u64));
        assert!((form.asked_per_s / answer.rate_per_s - 1.0).abs() < 0.25, "{link}: {form:?}");
    }
    assert_eq!(closed_form(&resolved("rate=60")).users, None);
    assert_eq!(closed_form(&resolved("rate=60")).asked_per_s, 60.0);
}

/// Whatever forms the batches, clients that give up are planned for, and a closed loop is sized in
/// users.
#[test]
fn every_rules_clients_are_planned_for() {
    for rules in ["vllm-0.33", "vllm-0.33&sched.async=on", "static", "dynamic(20ms)"] {
        let link = format!("sched.rules={rules}&rate=20&ttft=3s&tpot=200ms");
        let patient = plan(&link).capacity_per_s.expect("a capacity").value;
        let short = plan(&format!("{link}&overload.queue_limit=1&sched.max_num_seqs=8"));
        let held = short.capacity_per_s.expect("a capacity").value;
        assert!(held < 0.9 * patient, "{rules}: {held} of {patient}");
        let planned = short.planned.expect("a planned load");
        assert!(planned.slo_share.value <= planned.answered_share, "{rules}: {planned:?}");
        let answer =
            plan(&format!("sched.rules={rules}&arrivals=closed(200,10s)&ttft=3s&tpot=200ms"));
        assert!(users(&answer).capacity.expect("users").value >= 1.0, "{rules}");
    }
}

/// Turns of a session have longer prompts than single requests, and a prefix cache spares what was
/// said before; with as many tokens each, turns and single requests are the same load.
#[test]
fn conversations_take_more_and_a_cache_gives_it_back() {
    let chat = "rate=60&in=200&out=100&sched.max_num_batched_tokens=4096";
    let single = capacity(chat);
    let sessions = plan(&format!("{chat}&turns=8&think=3s"));
    let turns = sessions.capacity_per_s.expect("a capacity").value;
    assert!(turns < 0.8 * single, "{turns} of {single}");
    let ceiling = sessions.ceiling_per_s.expect("a ceiling").value;
    assert!(turns < ceiling, "{turns} {ceiling}");
    // 200 + 7 · 300 / 2 tokens on average: as much work, so as many are finished at most. The target is
    // held up to a higher rate, since turns wait for their answers and do not pile up.
    let alike = plan("rate=60&in=1250&out=100&sched.max_num_batched_tokens=4096");
    let alike_ceiling = alike.ceiling_per_s.expect("a ceiling").value;
    assert!((ceiling / alike_ceiling - 1.0).abs() < 0.02, "{ceiling} {alike_ceiling}");
    assert!(turns > alike.capacity_per_s.expect("a capacity").value, "{turns}");
    let vllm = format!("{chat}&turns=8&think=3s&sched.rules=vllm-0.33");
    let without = capacity(&vllm);
    let with = plan(&format!("{vllm}&sched.prefix_caching=on"));
    let held = with.capacity_per_s.expect("a capacity").value;
    assert!(held > 1.2 * without, "{held} of {without}");
    assert!(held < with.ceiling_per_s.expect("a ceiling").value, "{with:?}");
}
