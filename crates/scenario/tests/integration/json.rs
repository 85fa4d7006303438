//! Scenario files.

use scenario::{FIELDS, NoticeKind, Scenario, ScenarioError};

#[test]
fn strings_and_numbers_are_taken() {
    let text = r#"{ "rate": 50, "ttft": "1s", "in": "lognormal(512,0.9)", "out": 128,
                    "share": 0.95, "seed": 18446744073709551615, "step.mfu": null }"#;
    let parsed = Scenario::from_json(text).expect("a scenario");
    assert!(parsed.notices.is_empty(), "{:?}", parsed.notices);
    let mut expected = Scenario::preset();
    for (key, value) in [
        ("rate", "50"),
        ("in", "lognormal(512,0.9)"),
        ("out", "128"),
        ("share", "95%"),
        ("seed", "18446744073709551615"),
    ] {
        expected.set(key, value).expect(key);
    }
    assert_eq!(parsed.scenario, expected);
}

#[test]
fn every_key_is_written() {
    let text = Scenario::preset().to_json();
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let object = value.as_object().expect("an object");
    assert_eq!(object.len(), FIELDS.len() + 2);
    for field in FIELDS {
        assert!(object.contains_key(field.key), "{}", field.key);
    }
    assert_eq!(object["rate"], 100);
    assert_eq!(object["ttft"], "1000ms");
    assert!(object["step.mfu"].is_null());
    assert_eq!(Scenario::from_json(&text).expect("a scenario").scenario, Scenario::preset());
}

#[test]
fn broken_json_is_placed() {
    for (text, line) in [("{\n  \"rate\": 5,\n}", 3), ("", 1), ("[1]", 1), ("5", 1), ("{\"a\"", 1)]
    {
        match Scenario::from_json(text) {
            Err(error @ ScenarioError::Json { line: found, .. }) => {
                assert_eq!(found, line, "{text:?}: {error}");
                assert!(error.to_string().contains("Correct it there"), "{error}");
            }
            other => panic!("{text:?} gives {other:?}"),
        }
    }
}

#[test]
fn values_that_cannot_be_used_are_errors() {
    for text in [
        r#"{"rate": "abc"}"#,
        r#"{"rate": true}"#,
        r#"{"rate": [5]}"#,
        r#"{"rate": {"per_s": 5}}"#,
        r#"{"rate": ""}"#,
        r#"{"model": "nope"}"#,
    ] {
        match Scenario::from_json(text) {
            Err(ScenarioError::Setting(notice)) => {
                assert_eq!(notice.kind, NoticeKind::Invalid, "{text}");
            }
            other => panic!("{text} gives {other:?}"),
        }
    }
}

/// A `null` is how a file leaves a setting to the catalogue; any other key has nothing to be left to.
#[test]
fn a_missing_value_is_told_and_no_default_is_put_in_its_place() {
    for (text, parts) in [
        (r#"{"rate": null}"#, ["“rate” is missing a value", "100 or 1.5k, or leave the key out"]),
        (r#"{"class.a": null}"#, ["“class.a” is missing a value", "or leave the key out"]),
        (
            r#"{"class.a": {"share": 20, "in": null}}"#,
            ["“class.a.in” is missing a value", "1024 or lognormal(512,0.9), or leave the key out"],
        ),
        (r#"{"class.a": {"share": null}}"#, ["“class.a.share”", "or leave the key out"]),
        (r#"{"v": null}"#, ["“v” is missing a value", "or leave the key out"]),
        (r#"{"no such key": null}"#, ["“no such key” is missing", "or leave the key out"]),
        (r#"{"rate": [null]}"#, ["“[null]”", "Request rate"]),
        (r#"{"rate": {"per_s": null}}"#, ["per_s", "Request rate"]),
    ] {
        match Scenario::from_json(text) {
            Err(ScenarioError::Setting(notice)) => {
                assert_eq!(notice.kind, NoticeKind::Invalid, "{text}");
                for part in parts {
                    assert!(notice.message.contains(part), "{text}: {notice}");
                }
            }
            other => panic!("{text} gives {other:?}"),
        }
    }
    let parsed = Scenario::from_json(r#"{"step.mfu": 0.4, "step.mfu": null}"#).expect("a file");
    assert_eq!(parsed.scenario, Scenario::preset(), "the last one counts");
}

/// Files of the first days hold zeros where today's hold none.
#[test]
fn files_with_zeros_for_none_are_still_read() {
    let parsed = Scenario::from_json(r#"{"overload.queue_limit": 0, "clients.patience": 0}"#);
    let parsed = parsed.expect("a file");
    assert_eq!(parsed.scenario, Scenario::preset());
    let kinds: Vec<NoticeKind> = parsed.notices.iter().map(|notice| notice.kind).collect();
    assert_eq!(kinds, [NoticeKind::ZeroIsNone, NoticeKind::ZeroIsNone]);
}

#[test]
fn the_rest_is_noticed() {
    let text = r#"{"rat": 5, "rate": 1e9, "rate": 7, "v": 2, "rev": 0}"#;
    let parsed = Scenario::from_json(text).expect("a scenario");
    assert_eq!(parsed.scenario.rate_per_s, 7.0);
    let kinds: Vec<NoticeKind> = parsed.notices.iter().map(|notice| notice.kind).collect();
    assert_eq!(
        kinds,
        [
            NoticeKind::Unknown,
            NoticeKind::Clamped,
            NoticeKind::Repeated,
            NoticeKind::Version,
            NoticeKind::Version
        ]
    );
    assert!(parsed.notices[3].message.starts_with("This file is from a newer version"));
}
