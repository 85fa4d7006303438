//! `headroom check`: assertions and exit codes.

use super::{file, headroom, json, printed};

#[test]
fn what_holds_ends_with_0_and_says_the_figures() {
    let text = printed(&["check", "--assert", "gpus<=8", "--assert", "ttft_p99<=1s"]);
    assert!(text.contains("holds  gpus<=8  (GPUs with headroom: 6\u{202f}GPUs"), "{text}");
    assert!(text.ends_with("Nothing fails of 2 assertions.\n"), "{text}");
}

#[test]
fn what_fails_ends_with_1_and_says_why() {
    let output = headroom(&["check", "--assert", "gpus<=5", "--assert", "slo>=90%"]).assert();
    let output = output.code(1).get_output().stdout.clone();
    let text = String::from_utf8_lossy(&output);
    assert!(text.contains("FAILS  gpus<=5  (GPUs with headroom: 6\u{202f}GPUs"), "{text}");
    assert!(text.contains("holds  slo>=90%"), "{text}");
    assert!(text.ends_with("1 of 2 assertions failed.\n"), "{text}");
}

#[test]
fn strict_asks_both_ends_of_the_interval() {
    let answer = json(&["check", "--json", "--assert", "capacity>0"]);
    let capacity = &answer["assertions"][0]["figure"];
    let between = (capacity["low"].as_f64().expect("an end")
        + capacity["value"].as_f64().expect("a value"))
        / 2.0;
    let assertion = format!("capacity>={between}");
    let loose = json(&["check", "--json", "--assert", &assertion]);
    assert_eq!(loose["holds"], true);
    assert_eq!(loose["assertions"][0]["is_close"], true);
    headroom(&["check", "--strict", "--assert", &assertion]).assert().code(1);
}

#[test]
fn an_answer_without_the_figure_fails_with_its_reason() {
    let output = headroom(&["check", "ttft=1ms", "--assert", "gpus<=1000"]).assert().code(1);
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.contains("withheld; even an idle engine misses the target"), "{text}");
}

/// A script must not pass on a scenario that is not the one that was written.
#[test]
fn a_link_that_is_not_taken_as_written_is_not_checked() {
    for (link, parts) in [
        ("v=1&rate=-5", ["rate=-5", "Least we simulate is 0.1"]),
        ("v=1&rate=99999", ["rate=99999", "Most we simulate"]),
        ("v=1&rat=5", ["rat", "did you mean “rate”"]),
        ("v=1&rate=fast", ["fast", "for example 100"]),
        ("v=1&in=200000", ["in=200000", "131,072"]),
        ("v=2&rate=5", ["newer version", "write it as it is meant"]),
    ] {
        for form in [&[][..], &["--json"]] {
            let arguments = [&["check", link, "--assert", "gpus<=100000"][..], form].concat();
            let output = headroom(&arguments).assert().code(2).get_output().clone();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.stdout.is_empty(), "{link}");
            assert!(parts.iter().all(|part| text.contains(part)), "{link}: {text}");
        }
    }
}

#[test]
fn a_file_is_checked_and_a_wrong_assertion_is_refused() {
    let scenario = file("check.json", &printed(&["link", "rate=40", "--json"]));
    printed(&["check", &scenario, "--assert", "gpus<=3"]);
    for (assertion, words) in [
        ("gpu<=8", "no figure is called “gpu”"),
        ("gpus", "compares nothing"),
        ("ttft_p99<=soon", "“soon” is not"),
    ] {
        let output = headroom(&["check", "--assert", assertion]).assert().code(2);
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains(words), "{text}");
    }
    headroom(&["check"]).assert().code(2);
    assert!(printed(&["check", "--list"]).contains("ttft_p99_s"));
}
