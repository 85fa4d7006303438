//! `headroom fit`.

use super::{headroom, printed};

fn runs() -> String {
    format!("{}/../../assets/kernel/runs.csv", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn constants_follow_from_measured_runs_again_and_again() {
    let fit = || printed(&["fit", &runs(), "--leave-out", "none"]);
    let text = fit();
    assert!(text.contains("free constants"), "{text}");
    assert!(text.contains("dense, below 80 %"), "{text}");
    assert_eq!(text, fit());
}

#[test]
fn files_that_hold_no_runs_are_refused_with_a_reason() {
    for (name, text, reason) in [
        ("fit-empty.csv", "", "none of the file"),
        ("fit-binary.csv", "\0\u{1}\u{2},\n\0", "row 1"),
        ("fit-columns.csv", "a,b\n1,2\n", "row 1"),
    ] {
        let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&path, text).expect("the folder can be written");
        let output = headroom(&["fit", &path]).assert().code(2).get_output().stderr.clone();
        let message = String::from_utf8(output).expect("it prints UTF-8");
        assert!(message.contains(reason), "{name}: {message}");
    }
}
