//! `headroom replicas` and `headroom slots`: fleets and slots beside arithmetic.

use super::{headroom, json, printed};

const FEW: [&str; 3] = ["replicas", "sim.requests=500", "sim.replications=2"];

#[test]
fn fleets_stand_beside_the_division() {
    let answer = json(&[&FEW[..], &["--json"]].concat());
    assert_eq!(answer["by_division"]["with_headroom"], 6);
    let fewest = answer["fewest"].as_array().expect("routers");
    assert_eq!(fewest.len(), 5);
    let n = fewest[0]["replicas"].as_u64().expect("a number");
    assert_eq!(answer["n_plus_one"], n + 1);
    assert_eq!(answer["out"].as_array().map(Vec::len), Some(3));
    let text = printed(&FEW);
    assert!(text.starts_with("By division 5 replicas do, 6 with headroom."), "{text}");
    assert!(text.contains("one lost, back after 5\u{202f}min"), "{text}");
    let with = |threads| printed(&[&FEW[..], &["--json", "--threads", threads]].concat());
    assert_eq!(with("1"), with("3"));
}

/// Little's law: 16 busy slots, so 4 replicas of 4 at 100 %, 7 at 60 %.
#[test]
fn slots_are_sized_by_little_s_law_with_the_queue_beside() {
    let words = ["slots", "--rate", "8", "--service", "2s", "--slots", "4", "--load", "60%"];
    let text = printed(&words);
    assert!(text.contains("= 16 slots busy on average"), "{text}");
    assert!(text.contains("so 4 replicas.") && text.contains("so 7 replicas."), "{text}");
    assert!(text.contains("grows without end"), "{text}");
    let sizing = &json(&[&words[..], &["--json"]].concat())["sizing"];
    assert_eq!(sizing["at_full_load"]["replicas"], 4);
    assert_eq!(sizing["at_load"]["replicas"], 7);
}

#[test]
fn what_is_no_fleet_is_refused() {
    for (words, word) in [
        (vec!["replicas", "arrivals=closed(200,10s)"], "arrivals=closed"),
        (vec!["replicas", "sched.rules=static"], "reference"),
        (
            vec!["slots", "--rate", "8", "--service", "2s", "--slots", "4", "--load", "160%"],
            "--load",
        ),
        (vec!["slots", "--rate", "8", "--service", "-2s", "--slots", "4"], "--service"),
    ] {
        let output = headroom(&words).assert().code(2).get_output().stderr.clone();
        let message = String::from_utf8_lossy(&output).into_owned();
        assert!(message.contains(word), "{words:?}: {message}");
    }
    headroom(&["replicas", "ttft=1ms"]).assert().code(1);
}
