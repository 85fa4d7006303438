//! What a person entered and is not in force: texts that a field refused or moved, or that were not yet
//! taken in, the link that was not taken as written, and the name of a recording.
//!
//! An address says what is in force and nothing else. So these texts lie beside it, in the state of
//! the history's entry: a reload and the way back bring them again, and a copied link is clean.

use leptos::prelude::*;

/// Name under which the link lies; every field has a longer one.
pub(crate) const LINK: &str = "";
/// Name under which that of the recording lies. Its file goes with the page.
pub(crate) const RECORDING: &str = "recording file";
/// Between a name and its text, and between one text and the next: nobody types these.
const UNIT: char = '\u{1f}';
const RECORD: char = '\u{1e}';

/// The texts, by the names of their fields. Copies share them.
#[derive(Clone, Copy)]
pub(crate) struct Kept(RwSignal<Vec<(String, String)>>);

impl Kept {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self(RwSignal::new(Vec::new()))
    }

    /// What is kept under a name.
    pub(crate) fn get(self, name: &str) -> Option<String> {
        let texts = self.0.read_untracked();
        texts.iter().find(|(kept, _)| kept == name).map(|(_, text)| text.clone())
    }

    /// Follows all of them.
    pub(crate) fn track(self) {
        self.0.track();
    }

    /// Keeps a text in the place of an earlier one; none takes it away.
    #[inline(never)]
    pub(crate) fn keep(self, name: &str, text: Option<&str>) {
        if self.get(name).as_deref() == text {
            return;
        }
        self.0.update(|texts| {
            texts.retain(|(kept, _)| kept != name);
            texts.extend(text.map(|text| (name.to_owned(), text.to_owned())));
        });
    }

    /// Gives what is kept for the parts of something to those of another, which may be none.
    pub(crate) fn rename(self, from: &str, to: Option<&str>) {
        self.0.update(|texts| {
            texts.retain_mut(|(name, _)| match (name.strip_prefix(from), to) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(part), Some(to)) => {
                    *name = [to, part].concat();
                    true
                }
            });
        });
    }

    /// All of it in one text.
    pub(crate) fn written(self) -> String {
        written(&self.0.read_untracked())
    }

    /// Takes in what [`Self::written`] gave.
    pub(crate) fn read(self, text: &str) {
        let texts = read(text);
        if *self.0.read_untracked() != texts {
            self.0.set(texts);
        }
    }
}

fn written(texts: &[(String, String)]) -> String {
    let mut written = String::new();
    for (name, text) in texts {
        if !written.is_empty() {
            written.push(RECORD);
        }
        written.push_str(name);
        written.push(UNIT);
        written.push_str(text);
    }
    written
}

fn read(text: &str) -> Vec<(String, String)> {
    let pair = |record: &str| {
        let (name, text) = record.split_once(UNIT)?;
        Some((name.to_owned(), text.to_owned()))
    };
    text.split(RECORD).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were() {
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        for texts in [
            vec![],
            vec![pair("rate", "3 apples")],
            vec![pair(LINK, "v=1&rate=abc&foo"), pair("in", ""), pair("class.a.in", "a\n=&\t,b")],
        ] {
            assert_eq!(read(&written(&texts)), texts);
        }
        assert_eq!(read("of somebody else"), []);
    }
}
