//! Classes of requests: `class.rag=share:20,in:4000,out:lognormal(300,0.6),ttft:2000ms`.
//!
//! A class takes its share of all requests; what the classes leave over is the scenario's own
//! traffic. Whatever a class does not say is as for the scenario.

use quantity::Unit;
use serde::{Deserialize, Serialize};
use sim_core::{LengthSpec, clients::ClientTime, workload::Turns};

use crate::{
    field::{Field, field},
    lengths,
    notice::quoted,
    pieces::items,
    range::{self, Taken},
    sessions, writing,
};

/// What the keys of classes begin with.
pub const CLASS_PREFIX: &str = "class.";
/// Most classes of a scenario.
pub const MAX_CLASSES: usize = 16;
/// Name of the traffic that the classes leave over.
pub const REST: &str = "rest";
/// What one may write, for messages and help.
pub const CLASS_EXAMPLE: &str = "share:20,in:4000,out:lognormal(300,0.6),ttft:2s,tpot:60ms";
/// What a class is, for help.
pub const CLASS_HELP: &str = "A class of requests beside the others, one key for each: its share of all requests, and where they differ its in, out, ttft, tpot, priority (lower goes first, under rules that have priorities), prefix (tokens with which its prompts begin alike) patience (after so long its clients give up; none for never), turns and think (its sessions). What the classes leave over is the scenario’s own traffic. “none” takes a class away.";

/// Parts of a class in the order in which they are written.
const PARTS: [&str; 10] =
    ["share", "in", "out", "ttft", "tpot", "priority", "prefix", "patience", "turns", "think"];
/// Key of the scenario's own patience.
const PATIENCE: &str = "clients.patience";
const LONGEST_NAME: usize = 24;
const MOST_PRIORITY: i64 = 1000;
/// Least and most share, per cent.
const SHARES: (f64, f64) = (0.01, 100.0);

/// One kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSpec {
    /// Its name: small letters, digits, `-` and `_`.
    pub name: String,
    /// Share of all requests, 0 to 1.
    pub share: f64,
    /// Length of prompts; as for the scenario if absent.
    pub input: Option<LengthSpec>,
    /// Length of answers; as for the scenario if absent.
    pub output: Option<LengthSpec>,
    /// Longest time to first token, seconds; as for the scenario if absent.
    pub ttft_s: Option<f64>,
    /// Longest mean gap between tokens, seconds; as for the scenario if absent.
    pub tpot_s: Option<f64>,
    /// Lower goes first, under rules that have priorities; 0 if absent.
    pub priority: Option<i32>,
    /// Tokens with which the prompts of the class begin alike, and no others; as for the scenario
    /// if absent.
    pub prefix_tokens: Option<u64>,
    /// Turns of its sessions; as for the scenario if absent.
    pub turns: Option<Turns>,
    /// Time to think between them; as for the scenario if absent.
    pub think: Option<ClientTime>,
    /// How long its clients wait on average before they give up, seconds, 0 for as long as it takes;
    /// as for the scenario if absent.
    pub patience_s: Option<f64>,
}

impl ClassSpec {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            share: f64::NAN,
            input: None,
            output: None,
            ttft_s: None,
            tpot_s: None,
            priority: None,
            prefix_tokens: None,
            turns: None,
            think: None,
            patience_s: None,
        }
    }

    /// The class as links write it.
    pub(crate) fn text(&self) -> String {
        let part = |key| self.part(key).map(|text| format!("{key}:{text}"));
        PARTS.into_iter().filter_map(part).collect::<Vec<_>>().join(",")
    }

    /// One part as links write it; `None` where it is as for the scenario.
    pub(crate) fn part(&self, key: &str) -> Option<String> {
        let length = |key, length| Some(lengths::write_length(field(key)?, length));
        let time = |value_s| writing::real(value_s, Unit::Milliseconds);
        let patience = |time_s| Some(writing::setting(time_s, field(PATIENCE)?));
        match key {
            "share" => Some(writing::real(self.share, Unit::Percent)),
            "in" => length("in", self.input?),
            "out" => length("out", self.output?),
            "ttft" => self.ttft_s.map(time),
            "tpot" => self.tpot_s.map(time),
            "priority" => self.priority.map(|priority| priority.to_string()),
            "prefix" => self.prefix_tokens.map(|tokens| tokens.to_string()),
            "turns" => self.turns.map(sessions::write_turns),
            "think" => self.think.map(sessions::write_think),
            "patience" => self.patience_s.and_then(patience),
            _ => None,
        }
    }

    /// Change one part; returns the sentences about what was moved into range.
    ///
    /// # Errors
    ///
    /// What is wrong, as a clause that names the text.
    pub(crate) fn set_part(&mut self, key: &str, text: &str) -> Result<Vec<String>, String> {
        if text.is_empty() {
            return Err(format!("“{key}:” has no value"));
        }
        let known = |key| field(key).ok_or_else(|| unknown_part(key));
        let said = match key {
            "share" => {
                let (share, said) = range::share(text, "the share of a class", SHARES)?;
                self.share = share;
                said
            }
            "in" => put(&mut self.input, lengths::read_length(known("in")?, text)?),
            "out" => put(&mut self.output, lengths::read_length(known("out")?, text)?),
            "ttft" => put(&mut self.ttft_s, range::real(known("ttft")?, text)?),
            "tpot" => put(&mut self.tpot_s, range::real(known("tpot")?, text)?),
            "priority" => put(&mut self.priority, priority(text)?),
            "prefix" => put(&mut self.prefix_tokens, range::whole(known("prefix")?, text)?),
            "turns" => put(&mut self.turns, sessions::read_turns(text)?),
            "think" => put(&mut self.think, sessions::read_think(text)?),
            "patience" => put(&mut self.patience_s, range::real(known(PATIENCE)?, text)?),
            _ => return Err(unknown_part(key)),
        };
        Ok(said)
    }
}

fn put<T>(place: &mut Option<T>, (value, said): Taken<T>) -> Vec<String> {
    *place = Some(value);
    said
}

/// Read the parts of a class.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn read(name: &str, text: &str) -> Result<Taken<ClassSpec>, String> {
    let mut class = ClassSpec::new(name);
    let mut said = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for item in items(text) {
        let Some((key, value)) = item.split_once(':') else {
            return Err(format!("{} needs parts such as share:20, parted by commas", quoted(item)));
        };
        let key = key.trim();
        let Some(key) = PARTS.into_iter().find(|part| part.eq_ignore_ascii_case(key)) else {
            return Err(unknown_part(key));
        };
        if seen.contains(&key) {
            return Err(format!("“{key}:” is given twice in {}", quoted(text)));
        }
        seen.push(key);
        said.extend(class.set_part(key, value.trim())?);
    }
    if class.share.is_nan() {
        return Err(format!("{} has no share of the requests", quoted(text)));
    }
    Ok((class, said))
}

/// The name of a class from what was typed, and a sentence where it is another one.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn name(text: &str) -> Result<Taken<String>, String> {
    let typed = text.trim().to_ascii_lowercase();
    // Links of the first days may have names that begin otherwise; they keep working.
    let begins_well = !typed.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '_');
    let name = if begins_well { typed } else { ["c", &typed].concat() };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
        return Err(format!(
            "{} is no name for a class: a letter and then up to 23 letters, digits, - and _",
            quoted(text)
        ));
    }
    if name == REST {
        return Err(format!("{} is what the classes leave over", quoted(text)));
    }
    let said = if begins_well {
        Vec::new()
    } else {
        vec![
            [
                "A class is named by a letter and then letters, digits, - and _, as in ",
                CLASS_PREFIX,
                "chat. Using ",
                CLASS_PREFIX,
                &name,
                ".",
            ]
            .concat(),
        ]
    };
    Ok((name, said))
}

/// The field that a part is an instance of, where there is one.
#[must_use]
pub fn field_of_part(key: &str) -> Option<&'static Field> {
    match key {
        "patience" => field(PATIENCE),
        _ => field(key).filter(|_| PARTS.contains(&key)),
    }
}

fn priority(text: &str) -> Result<Taken<i32>, String> {
    let typed: i64 = text
        .parse()
        .map_err(|_| format!("{} is no whole priority such as 0 or -1", quoted(text)))?;
    let kept = typed.clamp(-MOST_PRIORITY, MOST_PRIORITY);
    let said = if kept == typed {
        Vec::new()
    } else {
        vec![format!(
            "Priorities go from -1,000 to 1,000. Using {}.",
            quantity::editable(kept as f64)
        )]
    };
    Ok((kept as i32, said))
}

fn unknown_part(key: &str) -> String {
    match catalog::nearest(key, PARTS, 1).first() {
        Some(near) => format!("{} is no part of a class; perhaps “{near}” is meant", quoted(key)),
        None => format!("{} is no part of a class: those are {}", quoted(key), PARTS.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_written_one_way() {
        for (text, canonical) in [
            ("share:60%", "share:60"),
            (" Share : 0.6 ", "share:60"),
            (
                "priority:0,tpot:0.04s,ttft:500,out:lognormal(128,0.6),in:512,share:60%",
                "share:60,in:512,out:lognormal(128,0.6),ttft:500ms,tpot:40ms,priority:0",
            ),
            ("share:5,in:quantiles(0:1,100:5)", "share:5,in:quantiles(0:1,100:5)"),
            ("share:5,in:uniform(1,5", "share:5,in:uniform(1,5)"),
            ("share:5,patience:1500ms,prefix:3", "share:5,prefix:3,patience:1.5"),
        ] {
            let (class, said) = read("chat", text).expect(text);
            assert!(said.is_empty(), "{said:?}");
            assert_eq!(class.text(), canonical);
            assert_eq!(read("chat", canonical), Ok((class, Vec::new())));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, reason) in [
            ("60%", "parts such as share:20"),
            ("in:512", "no share"),
            ("share:60,inn:512", "perhaps “in” is meant"),
            ("share:60,colour:red", "“colour” is no part of a class: those are share"),
            ("share:60,share:50", "given twice"),
            ("share:", "“share:” has no value"),
            ("share:many", "“many” is not a share"),
            ("share:5,ttft:3GB", "“3GB”"),
            ("share:5,patience:long", "“long”"),
            ("share:5,priority:high", "“high” is no whole priority"),
        ] {
            let problem = read("chat", text).expect_err(text);
            assert!(problem.contains(reason), "{text}: {problem}");
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        assert_eq!(name("Chat-2_b"), Ok(("chat-2_b".to_owned(), Vec::new())));
        for (typed, moved) in [("-7", "c-7"), ("7b", "c7b"), ("_x", "c_x")] {
            let (name, said) = name(typed).expect(typed);
            assert_eq!(name, moved);
            assert!(said.concat().contains("by a letter"), "{said:?}");
        }
        for bad in ["", "a b", "ä", "a.b", "rest", "abcdefghijklmnopqrstuvwxy"] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_out_of_range_are_moved_into_it() {
        let (class, said) = read("chat", "share:500%,priority:5000").expect("a class");
        assert_eq!((class.share, class.priority), (1.0, Some(1000)));
        assert_eq!(said.len(), 2, "{said:?}");
    }
}
