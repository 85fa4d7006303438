//! The charts' colours and the page's style sheet are the same.

use std::collections::BTreeMap;

use charts::Theme;
use charts::theme::{DARK, LIGHT};

const TOKENS: &str = include_str!("../../../assets/tokens.css");

/// Properties and values of every rule with this selector, white space aside.
fn rule(selector: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut blocks = 0;
    for (at, _) in TOKENS.match_indices(&format!("{selector} {{")) {
        let is_whole_selector =
            TOKENS[..at].chars().next_back().is_none_or(|before| before.is_whitespace());
        if !is_whole_selector {
            continue;
        }
        let body = &TOKENS[at + selector.len() + 2..];
        let body = body.split('}').next().unwrap_or_default();
        for declaration in body.split(';') {
            if let Some((name, value)) = declaration.split_once(':') {
                found.entry(name.trim().to_owned()).or_insert_with(|| value.trim().to_owned());
            }
        }
        blocks += 1;
    }
    assert!(blocks > 0, "no rule for {selector}");
    found
}

fn assert_same(selector: &str, theme: &Theme, scheme: &str) {
    let rule = rule(selector);
    for (name, rgb) in theme.tokens() {
        assert_eq!(
            rule.get(&format!("--{name}")),
            Some(&rgb.to_string()),
            "--{name} in {selector}"
        );
    }
    assert_eq!(rule.get("--bands"), Some(&theme.band_opacity.to_string()));
    assert_eq!(rule.get("color-scheme").map(String::as_str), Some(scheme));
}

#[test]
fn light_is_the_default() {
    assert_same(":root", &LIGHT, "light");
}

#[test]
fn dark_by_choice_and_by_system_are_the_same() {
    assert_same(":root[data-theme=\"dark\"]", &DARK, "dark");
    assert_same(":root:not([data-theme=\"light\"])", &DARK, "dark");
    assert_eq!(rule(":root[data-theme=\"dark\"]"), rule(":root:not([data-theme=\"light\"])"));
}

/// Contrast of two colours as WCAG 2 defines it.
fn contrast(a: charts::theme::Rgb, b: charts::theme::Rgb) -> f64 {
    let linear = |channel: u8| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
    };
    let luminance = |c: charts::theme::Rgb| {
        0.2126 * linear(c.0) + 0.7152 * linear(c.1) + 0.0722 * linear(c.2) + 0.05
    };
    let (a, b) = (luminance(a), luminance(b));
    if a > b { a / b } else { b / a }
}

#[test]
fn text_and_marks_can_be_seen() {
    for theme in [LIGHT, DARK] {
        let grounds = [theme.surface, theme.bg];
        for ground in grounds {
            for ink in [theme.text, theme.text2, theme.text3, theme.ok, theme.held] {
                assert!(contrast(ink, ground) >= 4.5, "{ink} on {ground}");
            }
            for colour in theme.data {
                assert!(contrast(colour.mark, ground) >= 3.0, "{} on {ground}", colour.mark);
                assert!(contrast(colour.ink, ground) >= 4.5, "{} on {ground}", colour.ink);
            }
        }
        for (ink, soft) in [
            (theme.ok, theme.ok_soft),
            (theme.warn, theme.warn_soft),
            (theme.bad, theme.bad_soft),
            (theme.held, theme.held_soft),
        ] {
            assert!(contrast(ink, soft) >= 4.5, "{ink} on {soft}");
        }
    }
}
