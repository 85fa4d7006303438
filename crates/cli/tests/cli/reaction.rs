//! Overload policies, clients that react, and users of a closed loop.

use super::{file, headroom, json, printed};

fn simulate(settings: &[&str]) -> serde_json::Value {
    json(&[&["simulate", "--json", "sim.requests=600"], settings].concat())
}

fn count(value: &serde_json::Value) -> u64 {
    value.as_u64().expect("a count")
}

const STORM: [&str; 5] = [
    "rate=60",
    "overload.queue_limit=20",
    "overload.deadline=1s",
    "clients.patience=700ms",
    "clients.retries=2",
];

/// The same with clients that hold back.
const HELD: [&str; 6] = [STORM[0], STORM[1], STORM[2], STORM[3], STORM[4], "clients.throttle=on"];

#[test]
fn outcomes_of_requests_and_attempts_add_up() {
    let held = simulate(&HELD);
    assert!(count(&held["throttled"]) > 0, "{held}");
    let run = simulate(&STORM);
    add_up(&held);
    add_up(&run);
    assert!(count(&run["rejected"]) > 0 && count(&run["abandoned"]) > 0, "{run}");
    assert!(run["slo_share"].as_f64() < Some(0.9), "who gets no answer misses the target");
}

fn add_up(run: &serde_json::Value) {
    let ends = ["completed", "rejected", "dropped", "abandoned", "throttled", "in_flight"];
    let ended: u64 = ends.iter().map(|end| count(&run[end])).sum();
    assert_eq!(ended, count(&run["offered"]));
    let attempts = &run["attempts"];
    let of = |name: &str| count(&attempts[name]);
    let sent = ["completed", "rejected", "dropped", "abandoned"].into_iter().map(of).sum::<u64>();
    assert_eq!(of("sent"), sent);
    assert_eq!(of("sent") + of("throttled"), count(&run["offered"]) + of("retries"));
    assert_eq!(of("completed"), count(&run["completed"]));
}

#[test]
fn every_outcome_has_a_word_in_the_rows() {
    for settings in [&STORM[..], &HELD, &["rate=60", "overload.deadline=300ms"]] {
        let text = printed(&[&["simulate", "--csv", "sim.requests=600"], settings].concat());
        let words = |word: &str| text.lines().filter(|line| line.ends_with(word)).count() as u64;
        let run = simulate(settings);
        for outcome in ["completed", "rejected", "dropped", "abandoned", "throttled"] {
            assert_eq!(words(&format!(",{outcome}")), count(&run[outcome]), "{outcome}");
        }
        assert_eq!(text.lines().count() as u64, count(&run["offered"]) + 1);
    }
}

#[test]
fn the_slow_engine_tells_the_same() {
    let fast = simulate(&STORM);
    let slow = simulate(&[&STORM[..], &["--oracle"]].concat());
    for part in ["completed", "rejected", "dropped", "abandoned", "throttled", "attempts.sent"] {
        let at = |run: &serde_json::Value| {
            part.split('.').fold(run.clone(), |value, key| value[key].clone())
        };
        assert_eq!(at(&fast), at(&slow), "{part}");
    }
}

#[test]
fn nobody_who_reacts_leaves_the_document_as_it_was() {
    let run = simulate(&["rate=10"]);
    assert!(run["attempts"].is_null());
    assert_eq!(count(&run["dropped"]), 0);
}

#[test]
fn both_views_of_a_schedule_are_told() {
    let scheduled = ["arrivals=closed(60,1s,scheduled)"];
    let run = simulate(&scheduled);
    let median = |latencies: &serde_json::Value| latencies["p50_s"].as_f64().expect("a time");
    let (intended, sent) = (median(&run["ttft"]), median(&run["attempts"]["ttft_from_send"]));
    assert!(intended > sent, "{intended} from the schedule, {sent} from the sending");
    let text = printed(&["simulate", "sim.requests=600", scheduled[0]]);
    assert!(text.contains("TTFT from send") && text.contains("coordinated omission"), "{text}");
}

#[test]
fn users_are_shared_among_gpus_and_not_dealt_out() {
    let half = simulate(&["arrivals=closed(60,5s)", "--gpus", "2"]);
    let own = simulate(&["arrivals=closed(30,5s)"]);
    for part in ["ttft", "slo_met", "duration_s"] {
        assert_eq!(half[part], own[part], "{part}");
    }
    let refused = |words: &[&str]| {
        let output = headroom(words).assert().failure().get_output().stderr.clone();
        String::from_utf8(output).expect("text")
    };
    let dealt = refused(&["simulate", "arrivals=closed(60,5s)", "--replicas", "3"]);
    assert!(dealt.contains("--replicas 3") && dealt.contains("Give --gpus 3"), "{dealt}");
    let few = refused(&["simulate", "arrivals=closed(2,5s)", "--gpus", "3"]);
    assert!(few.contains("--gpus 3") && few.contains("at most --gpus 2"), "{few}");
    let rates = refused(&["sweep", "arrivals=closed(60,5s)", "--rates", "5"]);
    assert!(rates.contains("--rates") && rates.contains("closed(60,5s)"), "{rates}");
}

#[test]
fn replicas_put_their_attempts_together() {
    let run =
        simulate(&["rate=90", "overload.queue_limit=10", "clients.retries=1", "--replicas", "3"]);
    let attempts = &run["attempts"];
    assert_eq!(
        count(&attempts["sent"]) + count(&attempts["throttled"]),
        count(&run["offered"]) + count(&attempts["retries"])
    );
    assert_eq!(run["replicas"], 3);
}

#[test]
fn a_recording_has_no_users() {
    let rows = "arrival_s,input_tokens,output_tokens\n0,100,10\n1,100,10\n2,100,10\n";
    let path = file("reaction_trace.csv", rows);
    let run = headroom(&["simulate", "--json", "--trace", &path, "arrivals=closed(60,5s)"])
        .assert()
        .success();
    let note = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    assert!(note.contains("closed loop"), "{note}");
}

#[test]
fn a_plan_counts_users() {
    let small = ["sim.requests=400", "sim.replications=2"];
    let answer = json(&[&["plan", "--json", "arrivals=closed(2000,10s)"], &small[..]].concat());
    assert_eq!(answer["users"]["asked"], 2000.0);
    assert_eq!(answer["users"]["think_s"], 10.0);
    let each = answer["users"]["capacity"]["value"].as_f64().expect("users");
    let gpus = answer["verdict"]["gpus"].as_f64().expect("GPUs");
    assert_eq!(gpus, (2500.0 / each).ceil());
    assert!(answer["telling"]["headline"].as_str().is_some_and(|text| text.contains("users")));
    assert!(answer["planned"]["users"].as_f64() <= Some(each));
}

#[test]
fn clients_react_before_every_engine() {
    for rules in ["vllm-0.33", "static"] {
        let run = json(&[
            "simulate",
            "--json",
            &format!("sched.rules={rules}"),
            "rate=200",
            "sim.requests=2000",
            "overload.queue_limit=20",
            "class.hasty=share:50,patience:500ms",
        ]);
        let attempts = &run["attempts"];
        assert!(attempts["rejected"].as_u64() > Some(0), "{rules}: {attempts}");
        assert!(attempts["abandoned"].as_u64() > Some(0), "{rules}: {attempts}");
        assert_eq!(attempts["never_fit"], 0);
    }
}
