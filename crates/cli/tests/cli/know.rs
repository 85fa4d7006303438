//! How we know, at a terminal.

use super::{json, printed};

#[test]
fn every_truth_holds_on_any_number_of_threads() {
    let told = json(&["know", "--json", "--threads", "1"]);
    assert_eq!((&told["kind"], &told["holds"]), (&"know".into(), &true.into()));
    let truths = told["truths"].as_array().expect("a list");
    // The list is the page's; what only a command line can check stands beside it.
    assert_eq!(truths.len(), 14);
    assert_eq!(told["headline"], "14 of 14 hold");
    assert!(truths.iter().all(|truth| truth["kind"] != "TwoEngines"));
    assert_eq!(
        (&told["engines"]["kind"], &told["engines"]["state"]),
        (&"TwoEngines".into(), &"Holds".into())
    );
    for truth in truths {
        assert_eq!(truth["state"], "Holds", "{truth}");
        assert!(truth["checks"].as_u64().is_some_and(|checks| checks > 0), "{truth}");
    }
    assert_eq!(told["queues"].as_array().map(Vec::len), Some(24));
    assert_eq!(json(&["know", "--json", "--threads", "3"]), told);
    assert_ne!(json(&["know", "--json", "--proof-seed", "2"])["fingerprint"], told["fingerprint"]);
}

#[test]
fn the_table_says_what_is_assumed_of_the_scenario() {
    let text = printed(&["know", "step.mfu=0.4", "--proof-seed", "3"]);
    assert!(text.starts_with("14 of 14 hold."), "{text}");
    assert!(
        text.contains("On the command line only: Fast engine = obvious engine holds;"),
        "{text}"
    );
    for part in ["Sent = answered", "M/M/4", "b/(a + cb)", "TTFT P99", "too hopeful", "Fingerprint"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // What somebody typed is not assumed.
    assert!(!text.contains("0.45 to 0.55"), "{text}");
    assert!(printed(&["know"]).contains("0.45 to 0.55"));
}
