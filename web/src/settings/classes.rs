//! Classes of requests, as a list that can be edited.

use quantity::Unit;
use scenario::{CLASS_PREFIX, Notice, NoticeKind, Scenario, SchedRules, field_of_part};

use crate::strings;

/// Share of a new class, per cent, if so much is left over.
const FIRST_SHARE: f64 = 20.0;

/// What a class says of itself, in the order of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClassPart {
    /// Key within the class.
    pub(crate) key: &'static str,
    /// What it is called.
    pub(crate) label: &'static str,
    /// One sentence of help.
    pub(crate) help: &'static str,
}

impl ClassPart {
    pub(crate) const SHARE: Self =
        Self { key: "share", label: strings::CLASS_SHARE, help: strings::CLASS_SHARE_HELP };
    pub(crate) const INPUT: Self =
        Self { key: "in", label: strings::CLASS_PROMPT, help: strings::CLASS_LENGTH_HELP };
    pub(crate) const OUTPUT: Self =
        Self { key: "out", label: strings::CLASS_ANSWER, help: strings::CLASS_LENGTH_HELP };
    pub(crate) const TTFT: Self =
        Self { key: "ttft", label: strings::TTFT, help: strings::CLASS_TTFT_HELP };
    pub(crate) const TPOT: Self =
        Self { key: "tpot", label: strings::TPOT, help: strings::CLASS_TPOT_HELP };
    pub(crate) const PRIORITY: Self =
        Self { key: "priority", label: strings::CLASS_PRIORITY, help: strings::PRIORITY_HELP };
    pub(crate) const PREFIX: Self =
        Self { key: "prefix", label: strings::CLASS_PREFIX, help: strings::CLASS_PREFIX_HELP };
    pub(crate) const PATIENCE: Self = Self {
        key: "patience",
        label: strings::CLASS_PATIENCE,
        help: strings::CLASS_PATIENCE_HELP,
    };
    const ALL: [Self; 8] = [
        Self::SHARE,
        Self::INPUT,
        Self::OUTPUT,
        Self::TTFT,
        Self::TPOT,
        Self::PRIORITY,
        Self::PREFIX,
        Self::PATIENCE,
    ];

    /// What is in force where a class does not say.
    pub(crate) fn inherited(self, scenario: &Scenario) -> String {
        match field_of_part(self.key) {
            Some(field) if self.key != "share" => scenario.get(field.key).unwrap_or_default(),
            _ if self.key == "priority" => "0".to_owned(),
            _ => String::new(),
        }
    }
}

fn key_of(name: &str) -> String {
    format!("{CLASS_PREFIX}{name}")
}

/// One part as links write it; empty where it is as for all requests.
pub(crate) fn class_part(scenario: &Scenario, name: &str, part: ClassPart) -> String {
    scenario.get(&format!("{}.{}", key_of(name), part.key)).unwrap_or_default()
}

/// Sets one part to what a person typed; nothing typed gives it back to all requests.
pub(crate) fn put_class_part(
    scenario: &mut Scenario,
    name: &str,
    part: ClassPart,
    text: &str,
) -> Result<Vec<Notice>, Notice> {
    let unit = field_of_part(part.key).map_or(Unit::Percent, |field| field.quantity);
    if part != ClassPart::PRIORITY && strings::is_negative(text, unit) {
        let now = class_part(scenario, name, part);
        let now = if now.is_empty() { part.inherited(scenario) } else { now };
        let example = field_of_part(part.key).map_or("20", |field| field.example);
        let message = strings::refused_number(&strings::negative(text), part.label, example, &now);
        let key = [&key_of(name), ".", part.key].concat();
        return Err(Notice { key, value: text.to_owned(), kind: NoticeKind::Invalid, message });
    }
    if !text.trim().is_empty() || part == ClassPart::SHARE {
        return scenario.set(&format!("{}.{}", key_of(name), part.key), text);
    }
    let parts: Vec<String> = ClassPart::ALL
        .into_iter()
        .filter(|other| *other != part)
        .map(|other| (other.key, class_part(scenario, name, other)))
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| format!("{key}:{text}"))
        .collect();
    scenario.set(&key_of(name), &parts.join(","))
}

/// Gives a class another name.
pub(crate) fn rename_class(
    scenario: &mut Scenario,
    name: &str,
    text: &str,
) -> Result<Vec<Notice>, Notice> {
    let new = text.trim().to_ascii_lowercase();
    if new == name {
        return Ok(Vec::new());
    }
    let refuse = |message| {
        let (key, value) = (key_of(name), text.to_owned());
        Err(Notice { key, value, kind: NoticeKind::Invalid, message })
    };
    if scenario.classes.iter().any(|class| class.name == new) {
        return refuse(strings::class_exists(&new, name));
    }
    let written = scenario.get(&key_of(name)).unwrap_or_default();
    let mut renamed = scenario.clone();
    renamed.set(&key_of(name), "none")?;
    match renamed.set(&key_of(&new), &written) {
        Ok(said) => {
            *scenario = renamed;
            Ok(said)
        }
        Err(_) => refuse(strings::class_name_refused(text, name)),
    }
}

/// Adds a class with a name and a share of its own; tells the name.
pub(crate) fn add_class(scenario: &mut Scenario) -> Option<String> {
    let is_free = |name: &String| scenario.classes.iter().all(|class| class.name != *name);
    let name = (1..).map(|n| format!("class-{n}")).find(is_free)?;
    let left = 100.0 - shares_taken(scenario);
    let share = if left >= FIRST_SHARE {
        FIRST_SHARE
    } else if left >= 1.0 {
        left.floor()
    } else {
        1.0
    };
    scenario.set(&key_of(&name), &format!("share:{share}%")).ok()?;
    Some(name)
}

/// Takes a class away.
pub(crate) fn remove_class(scenario: &mut Scenario, name: &str) {
    // There is nothing in it that could be refused.
    let _ = scenario.set(&key_of(name), "none");
}

/// Whether prompts that begin alike can be found again.
pub(crate) const fn caches_prefixes(scenario: &Scenario) -> bool {
    matches!(scenario.rules, SchedRules::Vllm { .. }) && scenario.vllm.prefix_caching
}

/// Whether anybody gives up.
pub(crate) fn loses_patience(scenario: &Scenario) -> bool {
    scenario.has_needs_of("clients.awaits")
}

/// What all classes take of the requests, per cent.
pub(crate) fn shares_taken(scenario: &Scenario) -> f64 {
    let taken: f64 = scenario.classes.iter().map(|class| class.share).sum();
    (taken * 1e8).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(link: &str) -> Scenario {
        Scenario::from_link(link).scenario
    }

    #[test]
    fn a_part_comes_and_goes() {
        let mut scenario = with("class.chat=share:60,in:512");
        let ttft = ClassPart::TTFT;
        assert_eq!(put_class_part(&mut scenario, "chat", ttft, "2 s"), Ok(Vec::new()));
        assert_eq!(class_part(&scenario, "chat", ttft), "2000ms");
        put_class_part(&mut scenario, "chat", ttft, "").unwrap();
        assert_eq!(scenario.get("class.chat").as_deref(), Some("share:60,in:512"));
        assert_eq!(ttft.inherited(&scenario), "1000ms");
        // Nor is anything else lost, whether its field is there or not.
        put_class_part(&mut scenario, "chat", ClassPart::PREFIX, "300").unwrap();
        put_class_part(&mut scenario, "chat", ClassPart::INPUT, "").unwrap();
        assert_eq!(scenario.get("class.chat").as_deref(), Some("share:60,prefix:300"));
        put_class_part(&mut scenario, "chat", ClassPart::PATIENCE, "1500 ms").unwrap();
        put_class_part(&mut scenario, "chat", ClassPart::PREFIX, "").unwrap();
        assert_eq!(scenario.get("class.chat").as_deref(), Some("share:60,patience:1.5"));
        assert!(loses_patience(&scenario));
        assert_eq!(ClassPart::PATIENCE.inherited(&scenario), "0");
        // A class without a share is none.
        let notice = put_class_part(&mut scenario, "chat", ClassPart::SHARE, "").unwrap_err();
        assert!(notice.message.contains("Still using 60"), "{}", notice.message);
    }

    #[test]
    fn negative_parts_are_refused() {
        let mut scenario = with("class.chat=share:60,in:512");
        let before = scenario.clone();
        for part in ClassPart::ALL.into_iter().filter(|part| *part != ClassPart::PRIORITY) {
            let notice = put_class_part(&mut scenario, "chat", part, "-5").expect_err(part.key);
            for word in ["“-5” is less than 0", part.label, "Still using"] {
                assert!(notice.message.contains(word), "{}", notice.message);
            }
            assert_eq!(scenario, before);
        }
        assert_eq!(
            put_class_part(&mut scenario, "chat", ClassPart::PRIORITY, "-5"),
            Ok(Vec::new())
        );
    }

    #[test]
    fn names_change_and_stay_apart() {
        let mut scenario = with("class.chat=share:60&class.rag=share:20");
        rename_class(&mut scenario, "chat", " Talk ").unwrap();
        assert_eq!(scenario.get("class.talk").as_deref(), Some("share:60"));
        let before = scenario.clone();
        for taken in ["rag", "two words", ""] {
            let notice = rename_class(&mut scenario, "talk", taken).expect_err(taken);
            assert!(notice.message.contains("talk"), "{}", notice.message);
            assert_eq!(scenario, before);
        }
    }

    #[test]
    fn new_classes_take_what_is_left() {
        let mut scenario = with("class.chat=share:90");
        assert_eq!(add_class(&mut scenario).as_deref(), Some("class-1"));
        assert_eq!(shares_taken(&scenario), 100.0);
        remove_class(&mut scenario, "chat");
        assert_eq!(add_class(&mut scenario).as_deref(), Some("class-2"));
        assert_eq!(shares_taken(&scenario), 30.0);
    }
}
