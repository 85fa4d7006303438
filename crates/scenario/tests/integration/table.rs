//! The one table of settings.

use scenario::{FIELDS, Scenario, field};

#[test]
fn keys_and_labels_are_there_once() {
    for (index, field) in FIELDS.iter().enumerate() {
        assert!(FIELDS[..index].iter().all(|other| other.key != field.key), "{}", field.key);
        assert!(!field.label.is_empty(), "{}", field.key);
        assert!(field.help.ends_with('.'), "{}: help is a sentence", field.key);
        assert!(!field.example.is_empty(), "{}", field.key);
        assert!(std::ptr::eq(field, scenario::field(field.key).expect("found")));
    }
    assert!(field("no such key").is_none());
}

#[test]
fn the_table_and_the_preset_agree() {
    for field in FIELDS {
        let text = Scenario::preset().get(field.key);
        assert_eq!(text.unwrap_or_default(), field.default, "{}", field.key);
        assert_eq!(field.is_optional(), field.default.is_empty(), "{}", field.key);
    }
}

#[test]
fn sliders_lie_within_what_is_simulated_and_hold_the_default() {
    for field in FIELDS {
        let Some(slider) = field.slider else { continue };
        assert!(field.min <= slider.min && slider.max <= field.max, "{}", field.key);
        let default = Scenario::preset().number(field.key).expect("a number");
        assert!(slider.min <= default && default <= slider.max, "{}", field.key);
    }
}

#[test]
fn ends_choices_and_examples_are_taken_in_silence() {
    for field in FIELDS {
        let mut scenario = Scenario::preset();
        for text in field.choices.iter().copied().chain(field.example.split(" or ")) {
            for text in text.split(", ") {
                let notices = scenario.set(field.key, text).unwrap_or_else(|n| panic!("{n}"));
                assert!(notices.is_empty(), "{}={text}: {notices:?}", field.key);
            }
        }
        if !field.is_number() {
            continue;
        }
        let mut scenario = Scenario::preset();
        for end in [field.min, field.max] {
            let notices = scenario.set_number(field.key, end).unwrap_or_else(|n| panic!("{n}"));
            assert!(notices.is_empty(), "{} {end}: {notices:?}", field.key);
            assert_eq!(scenario.number(field.key), Some(end), "{}", field.key);
        }
    }
}

#[test]
fn a_slider_keeps_the_spread_of_lengths() {
    let mut scenario = Scenario::preset();
    scenario.set("in", "lognormal(512,0.9)").expect("a length");
    scenario.set_number("in", 1024.0).expect("a number");
    assert_eq!(scenario.get("in").as_deref(), Some("lognormal(1024,0.9)"));
    scenario.set("in", "lognormal(512,0.9,1,8192)").expect("a length");
    scenario.set_number("in", 1024.0).expect("a number");
    assert_eq!(scenario.get("in").as_deref(), Some("lognormal(1024,0.9,1,8192)"));
    assert!(scenario.set_number("in", f64::NAN).is_err());
    assert!(scenario.set_number("headroom", 0.5).is_ok());
    assert_eq!(scenario.headroom, 0.005);
}
