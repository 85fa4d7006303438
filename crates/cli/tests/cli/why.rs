//! `headroom why`: what binds.

use super::{headroom, json, printed};

#[test]
fn the_preset_is_held_down_by_arithmetic() {
    let text = printed(&["why"]);
    assert!(text.starts_with("Arithmetic binds: give 10\u{202f}% more of it, and "), "{text}");
    assert!(
        text.contains("Of what was promised, the target for TPOT holds it down most."),
        "{text}"
    );
    assert!(text.contains("twice as much"), "{text}");
    assert!(text.contains("sched.max_num_seqs"), "{text}");
}

#[test]
fn the_capacity_is_the_plan_s() {
    let why = json(&["why", "--json"]);
    let plan = json(&["plan", "--json"]);
    assert_eq!(why["capacity"]["estimate"], plan["capacity_per_s"]);
    assert_eq!(why["binding"], "compute");
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let with = |threads| printed(&["why", "sim.requests=300", "--json", "--threads", threads]);
    assert_eq!(with("1"), with("3"));
}

#[test]
fn without_a_capacity_it_says_so() {
    let output = headroom(&["why", "ttft=1ms"]).assert().code(1).get_output().stdout.clone();
    assert!(String::from_utf8_lossy(&output).contains("Even an idle engine misses the target"));
    headroom(&["why", "model=llama-3.1-70b", "gpu=l4"]).assert().code(1);
}
