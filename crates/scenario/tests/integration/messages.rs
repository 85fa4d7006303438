//! What people are told about what they wrote.

use scenario::{FIELDS, Notice, NoticeKind, Scenario};

fn told(key: &str, value: &str) -> Notice {
    let mut scenario = Scenario::preset();
    match scenario.set(key, value) {
        Ok(mut notices) => notices.pop().unwrap_or_else(|| panic!("{key}={value} is taken")),
        Err(notice) => {
            assert_eq!(scenario, Scenario::preset(), "{key}={value} left the scenario alone");
            notice
        }
    }
}

#[test]
fn values_out_of_range_are_moved_into_it() {
    for (key, value, message, kept) in [
        ("rate", "20000", "Most we simulate is 10,000\u{202f}req/s. Using 10,000.", "10000"),
        ("rate", "1e300", "Most we simulate is 10,000\u{202f}req/s. Using 10,000.", "10000"),
        ("rate", "0", "Least we simulate is 0.1\u{202f}req/s. Using 0.1.", "0.1"),
        ("rate", "-5", "Least we simulate is 0.1\u{202f}req/s. Using 0.1.", "0.1"),
        (
            "in",
            "1e12",
            "Most we simulate is 10,000,000\u{202f}tokens. Using 10,000,000.",
            "10000000",
        ),
        ("out", "0", "Least we simulate is 1\u{202f}token. Using 1.", "1"),
        (
            "profile",
            "step(60s,500)",
            "Most we simulate for a factor of the rate is 100. Using 100.",
            "step(60s,100)",
        ),
        (
            "profile",
            "spike(-5s,5s,2)",
            "Least we simulate for a time of the profile is 0\u{202f}s. Using 0.",
            "spike(0s,5s,2)",
        ),
        (
            "arrivals",
            "onoff(1us,5s)",
            "Least we simulate for the mean length of a burst is 0.1\u{202f}s. Using 0.1.",
            "onoff(0.1s,5s,0)",
        ),
        ("ttft", "20 min", "Most we simulate is 600,000\u{202f}ms. Using 600,000.", "600000ms"),
        ("share", "100%", "Most we simulate is 99.99\u{202f}%. Using 99.99.", "99.99"),
        ("headroom", "-1", "Least we simulate is 0\u{202f}%. Using 0.", "0"),
        ("sim.replications", "5000", "Most we simulate is 64\u{202f}runs. Using 64.", "64"),
        (
            "arrivals",
            "gamma(1000)",
            "Most we simulate for the shape is 100. Using 100.",
            "gamma(100)",
        ),
    ] {
        let mut scenario = Scenario::preset();
        let notices = scenario.set(key, value).unwrap_or_else(|notice| panic!("{notice}"));
        assert_eq!(notices.len(), 1, "{key}={value}");
        assert_eq!(notices[0].message, message);
        assert_eq!(notices[0].kind, NoticeKind::Clamped);
        assert_eq!(scenario.get(key).as_deref(), Some(kept), "{key}={value}");
    }
}

#[test]
fn fractions_of_a_token_are_rounded_and_said() {
    let notice = told("in", "100.6");
    assert_eq!(
        notice.message,
        "Prompt is a whole number from 0 to 10,000,000, for example 1024 or lognormal(512,0.9). Using 101."
    );
    for (key, value, message) in [
        (
            "sim.requests",
            "99.5",
            "Requests per run is a whole number from 10 to 1,000,000, for example 2000. Using 100.",
        ),
        (
            "turns",
            "2.4",
            "The number of turns is a whole number from 1 to 1,000, for example 5. Using 2.",
        ),
        (
            "arrivals",
            "closed(2.5,1s)",
            "The number of users is a whole number from 1 to 1,000,000, for example 200. Using 3.",
        ),
    ] {
        assert_eq!(told(key, value).message, message);
    }
}

#[test]
fn nonsense_names_the_field_the_value_and_the_remedy() {
    for field in FIELDS {
        for value in ["abc", "NaN", "inf", "-inf", "1e999", "", "  ", "5 parsecs", "((", "💥"] {
            let notice = told(field.key, value);
            assert_eq!(notice.kind, NoticeKind::Invalid, "{} {value}", field.key);
            assert_eq!(notice.key, field.key);
            assert_eq!(notice.value, value);
            let message = &notice.message;
            let is_name = matches!(field.key, "model" | "gpu");
            assert!(message.contains(value.trim()), "{message}");
            assert!(message.to_lowercase().contains(&field.label.to_lowercase()), "{message}");
            assert!(is_name || message.contains(field.example), "{message}");
            let kept =
                if field.is_optional() { "The setting is as it was." } else { "Still using" };
            assert!(message.contains(kept), "{message}");
        }
    }
}

#[test]
fn messages_read_as_sentences() {
    for (key, value, message) in [
        (
            "rate",
            "abc",
            "“abc” is not a request rate. For “Request rate” give for example 100 or 1.5k. Still using 100.",
        ),
        (
            "sim.requests",
            "many",
            "“many” is not a count. For “Requests per run” give for example 2000. Still using 2,000.",
        ),
        (
            "ttft",
            "",
            "“ttft=” has no value. For “TTFT at most” give for example 500ms or 1s. Still using 1,000\u{202f}ms.",
        ),
        (
            "in",
            "short",
            "“short” is not a number of tokens. For “Prompt” give for example 1024 or lognormal(512,0.9). Still using 1,024.",
        ),
        (
            "class.chat",
            "share:60%,inn:5",
            "“inn” is no part of a class; perhaps “in” is meant. For “Class chat” give for example share:20,in:4000,out:lognormal(300,0.6),ttft:2s,tpot:60ms. The setting is as it was.",
        ),
        (
            "class.chat.ttft",
            "5s",
            "There is no class “chat” to change; begin with its share. For “Class chat, ttft” give for example 500ms or 1s. The setting is as it was.",
        ),
        (
            "class",
            "share:60%",
            "A class needs a name: class.chat=share:20,in:4000,out:lognormal(300,0.6),ttft:2s,tpot:60ms.",
        ),
        ("rat", "5", "Unknown key “rat”; did you mean “rate”?"),
        ("requests", "5", "Unknown key “requests”; did you mean “sim.requests”?"),
        ("xylophone", "5", "Unknown key “xylophone”. It is not used."),
        (
            "model",
            "qwen25-7b",
            "No model called “qwen25-7b”; did you mean “qwen2.5-7b” or “qwen2.5-14b”? Still using qwen2.5-7b.",
        ),
    ] {
        assert_eq!(told(key, value).message, message);
    }
}

#[test]
fn a_key_without_a_value_is_said() {
    let parsed = Scenario::from_link("v=1&rate");
    assert_eq!(parsed.scenario, Scenario::preset());
    assert_eq!(
        parsed.notices[0].message,
        "“rate” has no “=” and no value. For “Request rate” give for example rate=100 or 1.5k."
    );
}

#[test]
fn long_and_many_lined_values_stay_short() {
    let long = "x\ny".repeat(100_000);
    for key in ["rate", "model", "in", "arrivals", "step.kind", long.as_str()] {
        let notice = told(key, &long);
        assert!(notice.message.len() < 300, "{}", notice.message);
        assert!(!notice.message.contains('\n'), "{}", notice.message);
    }
}

/// What steers a terminal is shown by its code, wherever it was typed.
#[test]
fn control_characters_are_shown_and_not_sent() {
    const RED: &str = "\u{1b}[31mred\u{202e}";
    for key in ["rate", "model", "in", "arrivals", "profile", "sched.rules", "class.a", "seed", RED]
    {
        for value in [RED, "share:20,in:\u{1b}[2J", "lognormal(\u{1b}[2J,0.9)"] {
            let message = told(key, value).message;
            assert!(!message.chars().any(|c| c.is_control() || c == '\u{202e}'), "{message:?}");
            assert!(message.contains("\\u{1b}["), "{message:?}");
        }
    }
    let link = Scenario::from_link("rate=%1B%5B31m&%1b=3&class.%1b=share:5&v=%1b&rev=%1b");
    assert_eq!(link.notices.len(), 5);
    for notice in link.notices {
        assert!(!notice.message.chars().any(char::is_control), "{notice:?}");
        assert!(notice.message.contains("\\u{1b}"), "{notice:?}");
    }
}

/// Class names that begin otherwise were taken once, so that links with them are opened still.
#[test]
fn names_of_classes_begin_with_a_letter() {
    let parsed = Scenario::from_link("class.-7=share:20&class.-7.ttft=2s");
    assert_eq!(parsed.scenario.get("class.c-7").as_deref(), Some("share:20,ttft:2000ms"));
    assert_eq!(parsed.notices.len(), 2);
    for notice in &parsed.notices {
        assert_eq!(notice.kind, NoticeKind::Clamped);
        assert_eq!(
            notice.message,
            "A class is named by a letter and then letters, digits, - and _, as in class.chat. Using class.c-7."
        );
    }
    let notice = told("class.a b", "share:20");
    assert_eq!(notice.kind, NoticeKind::Invalid);
    assert!(notice.message.contains("a letter and then up to 23"), "{notice}");
}

#[test]
fn units_and_suffixes_are_understood() {
    for (key, value, canonical) in [
        ("rate", "1.5k", "1500"),
        ("rate", "1e3", "1000"),
        ("rate", "22.6 req/s", "22.6"),
        ("in", "4096 tokens", "4096"),
        ("in", "4k", "4000"),
        ("in", "1,024", "1024"),
        ("in", "0", "0"),
        ("in", "LogNormal( 512 , 0.9 )", "lognormal(512,0.9)"),
        ("in", "lognormal(512,0.9", "lognormal(512,0.9)"),
        ("out", "lognormal(200,0.7,1,2048)", "lognormal(200,0.7,1,2048)"),
        ("ttft", "1s", "1000ms"),
        ("ttft", "2 s", "2000ms"),
        ("ttft", "500", "500ms"),
        ("tpot", "0.5ms", "0.5ms"),
        ("tpot", "40.3", "40.3ms"),
        ("share", "99%", "99"),
        ("share", "0.999", "99.9"),
        ("share", "99.9", "99.9"),
        ("headroom", "25", "25"),
        ("headroom", "0.25", "25"),
        ("headroom", "0.5%", "0.005"),
        ("headroom", "0", "0"),
        ("arrivals", "Poisson", "poisson"),
        ("arrivals", "gamma(0.5)", "gamma(0.5)"),
        ("gpu", "H100", "h100-sxm"),
        ("kv.capacity_tokens", "1M", "1000000"),
        ("step.kind", "Affine", "affine"),
        ("step.params", "7.6B", "7.6e9"),
        ("step.weight_bytes", "15.2 GB", "1.52e10"),
        ("step.peak_flops", "989 TFLOPS", "9.89e14"),
        ("step.bandwidth", "3.35 TB/s", "3.35e12"),
        ("step.mfu", "50%", "0.5"),
        ("step.overhead_s", "0.5ms", "0.0005"),
        ("step.alpha_s", "5ms", "0.005"),
        ("step.beta_s", "50us", "0.00005"),
        ("step.gamma_s", "50e-9", "5e-8"),
        ("step.kind", "Queue-Model", "queue-model"),
        (
            "in",
            "Quantiles( p0:5, 50%:700 ,99.9:2k,100:9000)",
            "quantiles(0:5,50:700,99.9:2000,100:9000)",
        ),
        ("arrivals", "OnOff(20 s,1 min,10%)", "onoff(20s,60s,0.1)"),
        ("arrivals", "onoff(20,60,0.1,gamma(0.5))", "onoff(20s,60s,0.1,gamma(0.5))"),
        ("profile", "spike(1 min,30s,3x)", "spike(60s,30s,3)"),
        ("class.chat", "share:60%,ttft:0.5s", "share:60,ttft:500ms"),
        ("class.Chat", "SHARE:0.6", "share:60"),
        ("seed", "18446744073709551615", "18446744073709551615"),
    ] {
        let mut scenario = Scenario::preset();
        let notices = scenario.set(key, value).unwrap_or_else(|notice| panic!("{notice}"));
        assert!(notices.is_empty(), "{key}={value}: {notices:?}");
        assert_eq!(scenario.get(key).as_deref(), Some(canonical), "{key}={value}");
    }
}

#[test]
fn auto_gives_an_optional_setting_back_to_the_catalogue() {
    for field in FIELDS.iter().filter(|field| field.is_optional()) {
        let mut scenario = Scenario::preset();
        let value = field.choices.last().copied().unwrap_or("0.5");
        scenario.set(field.key, value).expect(field.key);
        assert!(scenario.get(field.key).is_some(), "{}", field.key);
        scenario.set(field.key, "auto").expect(field.key);
        assert_eq!(scenario, Scenario::preset(), "{}", field.key);
    }
}
