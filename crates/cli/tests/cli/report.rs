//! `headroom report`: a document that stands alone.

use super::{file, headroom, printed};

const FEW: [&str; 4] = ["report", "sim.requests=200", "sim.replications=2", "price=2..4"];

#[test]
fn markdown_tells_everything() {
    let text = printed(&FEW);
    assert!(text.starts_with("# 5–14 H100 for 100\u{202f}req/s\n"), "{text}");
    for heading in [
        "The scenario",
        "What holds it down",
        "What it costs",
        "The knee",
        "What to run",
        "Where the numbers come from",
    ] {
        assert!(text.contains(&format!("\n## {heading}\n")), "{heading}: {text}");
    }
    assert!(text.contains("vllm bench serve"), "{text}");
}

#[test]
fn the_page_needs_no_network() {
    let path = file("report.html", "");
    assert_eq!(printed(&[&FEW[..], &["--html", &path]].concat()), "");
    let html = std::fs::read_to_string(path).expect("it was written");
    assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    assert!(html.contains("<svg") && html.contains("@page{size:A4"));
    for fetched in ["<script", "<link", "<img", "src=", "url(", "@import"] {
        assert!(!html.contains(fetched), "{fetched}");
    }
    // What is opened is closed.
    for element in ["table", "thead", "tbody", "tr", "ul", "li", "figure", "pre", "main", "svg"] {
        let opened = html.matches(&format!("<{element}>")).count()
            + html.matches(&format!("<{element} ")).count();
        assert_eq!(opened, html.matches(&format!("</{element}>")).count(), "{element}");
    }
}

/// What a person typed cannot become a part of the page.
#[test]
fn nothing_that_is_typed_becomes_markup() {
    let path = file("classes.html", "");
    let settings =
        ["report", "sim.requests=200", "sim.replications=1", "rate=5", "out=uniform(1,9)"];
    printed(&[&settings[..], &["--html", &path]].concat());
    let html = std::fs::read_to_string(path).expect("it was written");
    assert!(html.contains("uniform(1,9)"), "a setting is missing");
}

#[test]
fn without_an_answer_the_report_says_why() {
    let output = headroom(&["report", "ttft=1ms"]).assert().code(1).get_output().stdout.clone();
    let text = String::from_utf8_lossy(&output).into_owned();
    assert!(text.starts_with("# Out of reach\n"), "{text}");
    assert!(!text.contains("What to run"), "{text}");
    headroom(&["report", "demand=5 documents in 1h"]).assert().code(2);
}
