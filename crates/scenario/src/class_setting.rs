//! One class at a time: reading it, changing it, taking it away.

use crate::{
    class::{self, CLASS_EXAMPLE, CLASS_PREFIX, ClassSpec, MAX_CLASSES},
    field::FIELDS,
    notice::{Notice, NoticeKind},
    schema::Scenario,
};

/// Word that takes a class away.
const NONE: &str = "none";

/// After which setting classes are written: with the rest of the traffic.
const CLASSES_AFTER: &str = "profile";

impl Scenario {
    /// Every setting and every class with its text as links write it, in the order of links; `None`
    /// where the catalogue decides.
    pub fn entries(&self) -> impl Iterator<Item = (String, Option<String>)> + '_ {
        FIELDS.iter().flat_map(|field| {
            let classes = if field.key == CLASSES_AFTER { &self.classes[..] } else { &[] };
            let class =
                |class: &ClassSpec| (format!("{CLASS_PREFIX}{}", class.name), Some(class.text()));
            [(field.key.to_owned(), self.text(field))].into_iter().chain(classes.iter().map(class))
        })
    }

    /// A class, or one part of it: `chat`, `chat.ttft`.
    pub(crate) fn class_text(&self, key: &str) -> Option<String> {
        let key = key.trim().to_ascii_lowercase();
        match key.split_once('.') {
            None => self.class(&key).map(ClassSpec::text),
            Some((name, part)) => self.class(name)?.part(part),
        }
    }

    fn class(&self, name: &str) -> Option<&ClassSpec> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// Change a class, or one part of one that is there: `chat`, `chat.ttft`.
    pub(crate) fn set_class(&mut self, key: &str, value: &str) -> Result<Vec<Notice>, Notice> {
        let (name, part) = match key.split_once('.') {
            None => (key, None),
            Some((name, part)) => (name, Some(part)),
        };
        let full_key = format!("{CLASS_PREFIX}{key}");
        let said = class::name(name)
            .and_then(|(name, mut said)| {
                said.extend(self.put_class(&name, part, value.trim())?);
                Ok(said)
            })
            .map_err(|problem| self.invalid_class(key, value, &problem))?;
        Ok(said.into_iter().map(|said| Notice::taken(&full_key, value, said)).collect())
    }

    fn put_class(
        &mut self,
        name: &str,
        part: Option<&str>,
        text: &str,
    ) -> Result<Vec<String>, String> {
        if text.is_empty() {
            let part = part.map(|part| format!(".{part}")).unwrap_or_default();
            return Err(format!("“{CLASS_PREFIX}{name}{part}=” has no value"));
        }
        let place = self.classes.iter().position(|class| class.name == name);
        let (class, said) = match (part, place) {
            (None, _) if text.eq_ignore_ascii_case(NONE) => {
                self.classes.retain(|class| class.name != name);
                return Ok(Vec::new());
            }
            (None, _) => class::read(name, text)?,
            (Some(part), Some(place)) => {
                let mut class = self.classes[place].clone();
                let said = class.set_part(part, text)?;
                (class, said)
            }
            (Some(_), None) => {
                return Err(format!("There is no class “{name}” to change; begin with its share"));
            }
        };
        match place {
            Some(place) => self.classes[place] = class,
            None if self.classes.len() >= MAX_CLASSES => {
                return Err(format!("“{name}” would be one class more than {MAX_CLASSES}"));
            }
            None => {
                // In the order of names, so that the order of a link's keys means nothing.
                let after = self.classes.partition_point(|class| class.name.as_str() < name);
                self.classes.insert(after, class);
            }
        }
        Ok(said)
    }

    /// The notice about a class that cannot be used: field, value and remedy.
    fn invalid_class(&self, key: &str, value: &str, problem: &str) -> Notice {
        let (name, part) = key.split_once('.').map_or((key, None), |(n, p)| (n, Some(p)));
        let example = match part {
            Some("priority") => "0 or -1",
            _ => part.and_then(class::field_of_part).map_or(CLASS_EXAMPLE, |field| field.example),
        };
        let kept = match self.class_text(key) {
            Some(current) => format!("Still using {current}."),
            None => "The setting is as it was.".to_owned(),
        };
        let named = match part {
            Some(part) => format!("{name}, {part}"),
            None => name.to_owned(),
        };
        let mut named: String = named.chars().take(40).collect();
        if named.is_empty() {
            named.push_str("chat");
        }
        let message = format!("{problem}. For “Class {named}” give for example {example}. {kept}");
        let one_line = quantity::visible(&message);
        let key: String = format!("{CLASS_PREFIX}{key}");
        Notice::new(&key, value, NoticeKind::Invalid, one_line)
    }
}
