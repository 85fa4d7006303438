//! What links and files have in common: keys and values, taken in one after the other.

use crate::{
    class::CLASS_PREFIX,
    defaults, field,
    notice::{Notice, NoticeKind, Parsed, quoted},
    schema::Scenario,
};

/// Version of the keys and of the defaults that links and files are written in.
pub const LINK_VERSION: u32 = 1;

/// Takes a scenario in, setting by setting, from the defaults on.
pub(crate) struct Reader {
    scenario: Scenario,
    notices: Vec<Notice>,
    seen: Vec<String>,
    /// “link” or “file”, for sentences.
    source: &'static str,
}

impl Reader {
    pub(crate) fn new(source: &'static str) -> Self {
        Self { scenario: defaults::v1(), notices: Vec::new(), seen: Vec::new(), source }
    }

    /// Take one setting in. What is merely worth a notice is noted.
    ///
    /// # Errors
    ///
    /// If the value cannot be used; the setting then has the value that it had.
    pub(crate) fn take(&mut self, key: &str, value: &str) -> Result<(), Notice> {
        self.note_repetition(key, value);
        match key {
            "v" => self.version(value),
            "rev" => self.revision(value),
            _ => match self.scenario.set(key, value) {
                Ok(notices) => self.notices.extend(notices),
                Err(notice) if notice.kind == NoticeKind::Unknown => self.notices.push(notice),
                Err(notice) => return Err(notice),
            },
        }
        Ok(())
    }

    pub(crate) fn note(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    /// The scenario, with what was noted.
    pub(crate) fn finish(self) -> Parsed {
        let mut parsed = Parsed { scenario: self.scenario, notices: self.notices };
        parsed.notices.extend(parsed.scenario.limit_to_context());
        parsed
    }

    fn note_repetition(&mut self, key: &str, value: &str) {
        if self.seen.iter().any(|seen| seen == key) {
            self.notices.push(Notice::repeated(key, value));
        } else if field(key).is_some()
            || key.starts_with(CLASS_PREFIX)
            || matches!(key, "v" | "rev")
        {
            self.seen.push(key.to_owned());
        }
    }

    fn version(&mut self, value: &str) {
        let (kind, message) = match value.parse::<u32>() {
            Ok(LINK_VERSION) => return,
            Ok(newer) if newer > LINK_VERSION => (
                NoticeKind::Version,
                format!(
                    "This {} is from a newer version: {newer}, where this program knows \
                     {LINK_VERSION}. Settings that are new in it are not used.",
                    self.source
                ),
            ),
            _ => (
                NoticeKind::Invalid,
                format!(
                    "There is no version {}. Reading it as version {LINK_VERSION}.",
                    quoted(value)
                ),
            ),
        };
        self.notices.push(Notice::new("v", value, kind, message));
    }

    fn revision(&mut self, value: &str) {
        let current = catalog::REVISION;
        let (kind, message) = match value.parse::<u32>() {
            Ok(revision) if revision == current => return,
            Ok(revision) => (
                NoticeKind::Version,
                format!(
                    "This {} was made with catalogue revision {revision}, and this program has \
                     {current}. The answer may differ.",
                    self.source
                ),
            ),
            Err(_) => (
                NoticeKind::Invalid,
                format!(
                    "There is no catalogue revision {}. Using revision {current}.",
                    quoted(value)
                ),
            ),
        };
        self.notices.push(Notice::new("rev", value, kind, message));
    }
}
