//! The link codec: flat, readable, versioned.
//!
//! A link says only what differs from the frozen defaults of its version. Its texts are made of
//! letters, digits, `.`, `,`, `:`, `(`, `)`, `-` and `_`, which survive mail, chat and shells as they are.

use crate::{
    defaults,
    field::{Access, field},
    notice::{Notice, NoticeKind, Parsed, quoted},
    reader::{LINK_VERSION, Reader},
    schema::Scenario,
};

/// Keys of the page, which are no settings of the scenario.
const PAGE_KEYS: [&str; 7] = ["view", "lab", "step", "price", "utilisation", "demand", VERSUS];

impl Scenario {
    /// Read a link: a whole address, its fragment, or the fragment's text. Never fails: what cannot
    /// be used keeps its default, and a notice says so.
    #[must_use]
    pub fn from_link(text: &str) -> Parsed {
        let mut reader = Reader::new("link");
        for piece in fragment(text).split('&').filter(|piece| !piece.is_empty()) {
            if let Err(notice) = take(&mut reader, piece) {
                reader.note(notice);
            }
        }
        reader.finish()
    }

    /// Write a link's text: `v=1&rev=…`, then what differs from the defaults, in the order of
    /// [`Scenario::entries`].
    #[must_use]
    pub fn to_link(&self) -> String {
        let defaults = defaults::v1();
        let mut link = format!("v={LINK_VERSION}&rev={}", catalog::REVISION);
        for (key, text) in self.entries() {
            let Some(text) = text.filter(|text| defaults.get(&key).as_ref() != Some(text)) else {
                continue;
            };
            link.push('&');
            link.push_str(&key);
            link.push('=');
            match field(&key).map(|field| &field.access) {
                // Names may be anything; all other texts are made of safe characters.
                Some(Access::Model | Access::Gpu) => {
                    link.extend(form_urlencoded::byte_serialize(text.as_bytes()));
                }
                _ => link.push_str(&text),
            }
        }
        link
    }
}

/// The last value that a link holds for a key that is no setting of the scenario: what a GPU costs
/// belongs to whoever looks, and still travels with the link.
#[must_use]
pub fn page_word(link: &str, key: &str) -> Option<String> {
    let words = form_urlencoded::parse(fragment(link).as_bytes());
    words.filter(|(name, _)| name == key).last().map(|(_, value)| value.into_owned())
}

/// Key of a whole scenario that a link holds beside its own, to be compared with it.
pub const VERSUS: &str = "versus";

impl Scenario {
    /// The scenario as a word of another scenario's link: `versus=` and its own link, escaped.
    #[must_use]
    pub fn as_versus(&self) -> String {
        let mut word = format!("{VERSUS}=");
        word.extend(form_urlencoded::byte_serialize(self.to_link().as_bytes()));
        word
    }

    /// The scenario that a link wants to be compared with, and what of it was not taken as written; `None`
    /// where it holds none.
    #[must_use]
    pub fn versus(link: &str) -> Option<Parsed> {
        let text = page_word(link, VERSUS).filter(|text| !text.trim().is_empty())?;
        Some(Self::from_link(&text))
    }
}

/// The part of an address that holds the scenario.
fn fragment(text: &str) -> &str {
    let text = text.trim();
    if let Some((_, fragment)) = text.split_once('#') {
        return fragment;
    }
    if let Some((_, query)) = text.split_once('?') {
        return query;
    }
    if text.contains("://") { "" } else { text }
}

/// Take one `key=value` in.
fn take(reader: &mut Reader, piece: &str) -> Result<(), Notice> {
    // Copied from the source of a web page, `&` reads `&amp;`.
    let piece = piece.strip_prefix("amp;").unwrap_or(piece);
    let Some((key, value)) = form_urlencoded::parse(piece.as_bytes()).next() else {
        return Ok(());
    };
    let (key, value) = (key.trim(), value.trim());
    if PAGE_KEYS.contains(&key) {
        return Ok(());
    }
    if let (false, Some(field)) = (piece.contains('='), field(key)) {
        let message = format!(
            "{} has no “=” and no value. For “{}” give for example {key}={}.",
            quoted(key),
            field.label,
            field.example
        );
        return Err(Notice::new(key, "", NoticeKind::Invalid, message));
    }
    reader.take(key, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beside_the_scenario_travel_and_are_no_settings() {
        let link = "#v=1&rate=40&price=2..4&demand=120k%20documents+in%208h&price=3";
        assert_eq!(page_word(link, "price").as_deref(), Some("3"), "the last one counts");
        assert_eq!(page_word(link, "demand").as_deref(), Some("120k documents in 8h"));
        assert_eq!(page_word(link, "utilisation"), None);
        let parsed = Scenario::from_link(link);
        assert!(parsed.notices.is_empty(), "{:?}", parsed.notices);
        assert_eq!(
            parsed.scenario.to_link(),
            Scenario::from_link("v=1&rate=40").scenario.to_link()
        );
    }

    #[test]
    fn a_link_holds_another_scenario() {
        let mut first = Scenario::preset();
        for (key, value) in
            [("in", "lognormal(512,0.9)"), ("class.rag", "share:20,in:100"), ("rate", "12.5")]
        {
            first.set(key, value).unwrap();
        }
        let second = Scenario::preset();
        let link = [&second.to_link(), "&view=compare&", &first.as_versus()].concat();
        assert!(!link.contains(' ') && link.matches('#').count() == 0, "{link}");
        let told = Scenario::versus(&link).unwrap();
        assert_eq!((told.scenario, told.notices.len()), (first, 0));
        // Whoever does not compare sees the other one alone, and nothing odd.
        let alone = Scenario::from_link(&link);
        assert_eq!((alone.scenario, alone.notices.len()), (second, 0));
    }

    #[test]
    fn what_is_wrong_with_the_other_is_told() {
        for none in ["v=1", "v=1&versus=", "v=1&versus", "v=1&versus=+"] {
            assert_eq!(Scenario::versus(none), None, "{none}");
        }
        let told = Scenario::versus("v=1&versus=v%3D1%26rate%3Dmany%26gpus%3D3").unwrap();
        let keys: Vec<&str> = told.notices.iter().map(|notice| notice.key.as_str()).collect();
        assert_eq!(keys, ["rate", "gpus"]);
        // Cut off in the middle of an escape: what is whole counts.
        let told = Scenario::versus("v=1&versus=v%3D1%26rate%3D50%2").unwrap();
        assert_eq!(told.notices.len(), 1, "{:?}", told.notices);
    }
}
