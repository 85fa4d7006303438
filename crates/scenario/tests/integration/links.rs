//! Links that must work for ever.

use scenario::{NoticeKind, Scenario};

const GOLDEN: &str = include_str!("../../../../tests/links/v1.txt");

/// A link without the catalogue revision, which goes up while the links stay.
fn without_revision(link: &str) -> String {
    let pieces = link.split('&').filter(|piece| !piece.starts_with("rev="));
    pieces.collect::<Vec<_>>().join("&")
}

fn golden() -> impl Iterator<Item = (usize, Vec<&'static str>)> {
    GOLDEN
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty())
        .map(|(index, line)| (index + 1, line.split('\t').collect()))
}

#[test]
fn every_golden_link_means_what_it_meant() {
    let mut count = 0;
    for (line, columns) in golden() {
        let [link, canonical, notices, comment] = columns[..] else {
            panic!("line {line}: link, canonical link, number of notices, comment");
        };
        let parsed = Scenario::from_link(link);
        assert_eq!(without_revision(&parsed.scenario.to_link()), canonical, "line {line}");
        assert_eq!(parsed.notices.len().to_string(), notices, "line {line}: {:?}", parsed.notices);
        assert!(!comment.trim().is_empty(), "line {line}");
        count += 1;
    }
    assert!(count >= 25, "{count} links");
}

#[test]
fn canonical_links_are_stable_and_silent() {
    for (line, columns) in golden() {
        let parsed = Scenario::from_link(columns[1]);
        assert!(parsed.notices.is_empty(), "line {line}: {:?}", parsed.notices);
        assert_eq!(without_revision(&parsed.scenario.to_link()), columns[1], "line {line}");
    }
}

#[test]
fn the_golden_links_use_every_key() {
    for field in scenario::FIELDS {
        let written = format!("{}=", field.key);
        let used = golden()
            .any(|(_, columns)| columns[1].split('&').any(|piece| piece.starts_with(&written)));
        assert!(used, "no golden link sets {}", field.key);
    }
    for part in ["share", "in", "out", "ttft", "tpot", "priority", "prefix", "patience"] {
        let used = golden().any(|(_, columns)| {
            let mut pieces = columns[1].split('&').filter(|piece| piece.starts_with("class."));
            pieces.any(|piece| piece.contains(&format!("{part}:")))
        });
        assert!(used, "no golden link sets {part} of a class");
    }
}

#[test]
fn the_preset_is_an_empty_link() {
    assert_eq!(Scenario::preset().to_link(), format!("v=1&rev={}", catalog::REVISION));
    for nothing in ["", "#", "  ", "https://example.org/", "https://example.org/#", "?"] {
        let parsed = Scenario::from_link(nothing);
        assert_eq!(parsed.scenario, Scenario::preset(), "{nothing:?}");
        assert!(parsed.notices.is_empty(), "{nothing:?}");
    }
}

#[test]
fn links_hold_no_character_that_copying_harms() {
    let mut scenario = Scenario::preset();
    for (key, value) in [
        ("in", "lognormal(512,0.9)"),
        ("arrivals", "onoff(20s,60s,0.1,gamma(0.5))"),
        ("profile", "points(0s:1,10min:2,every:1h)"),
        ("class.chat", "share:60%,in:quantiles(0:5,100:900),ttft:500ms,priority:-1"),
        ("share", "99.9%"),
        ("headroom", "0.5%"),
        ("ttft", "1.5s"),
        ("step.peak_flops", "1e15"),
    ] {
        scenario.set(key, value).expect(key);
    }
    let link = scenario.to_link();
    assert!(link.contains("in=lognormal(512,0.9)"), "{link}");
    assert!(link.contains("share=99.9&"), "{link}");
    let safe = |c: char| c.is_ascii_alphanumeric() || "=&.,:()-_".contains(c);
    assert!(link.chars().all(safe), "{link}");
}

#[test]
fn versions_and_revisions_are_noticed() {
    let kinds = |link: &str| -> Vec<NoticeKind> {
        Scenario::from_link(link).notices.iter().map(|notice| notice.kind).collect()
    };
    assert_eq!(kinds("v=1&rate=5"), []);
    assert_eq!(kinds("rate=5"), []);
    assert_eq!(kinds("v=2&rate=5"), [NoticeKind::Version]);
    assert_eq!(kinds("v=x"), [NoticeKind::Invalid]);
    assert_eq!(kinds(&format!("rev={}", catalog::REVISION)), []);
    assert_eq!(kinds("rev=0"), [NoticeKind::Version]);
    assert_eq!(kinds("rev=new"), [NoticeKind::Invalid]);
    assert_eq!(kinds("view=fleet&rate=5"), []);
}

#[test]
fn of_repeated_keys_the_last_one_counts() {
    let parsed = Scenario::from_link("rate=5&rate=7");
    assert_eq!(parsed.scenario.rate_per_s, 7.0);
    assert_eq!(parsed.notices.len(), 1);
    assert_eq!(parsed.notices[0].kind, NoticeKind::Repeated);
    assert_eq!(
        parsed.notices[0].message,
        "“rate” is given more than once. The last one counts: “7”."
    );
}

#[test]
fn prompts_beyond_the_context_are_cut_with_a_notice() {
    let parsed = Scenario::from_link("in=200000");
    assert_eq!(parsed.scenario.get("in").as_deref(), Some("131072"));
    assert_eq!(
        parsed.notices[0].message,
        "Prompt 200,000 is longer than this model’s 131,072 tokens. Using 131,072."
    );
    // Whatever the order of the keys.
    let link = "in=100000&model=mistral-7b-v0.3";
    assert_eq!(Scenario::from_link(link).scenario.get("in").as_deref(), Some("32768"));
}
