//! From what was typed to a scenario.

use std::{fmt::Display, path::Path};

use scenario::{Demand, Notice, NoticeKind, Parsed, Scenario, ScenarioError};

use crate::{
    args::{Preset, ScenarioArgs},
    failure::Failure,
    output,
    prices::{self, MoneyWords},
};

/// One positional word.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Word<'a> {
    /// A whole scenario as a link.
    Link(&'a str),
    /// A whole scenario as a JSON file.
    File(&'a Path),
    /// One setting.
    Setting(&'a str, &'a str),
    /// Something about money, which is no setting of a scenario.
    Money(&'static str, &'a str),
    /// What is asked for, in other words than a rate.
    Demand(&'a str),
}

impl<'a> Word<'a> {
    /// Tell the kinds apart.
    pub(crate) fn of(word: &'a str) -> Result<Self, Failure> {
        let starts = ["http://", "https://", "#", "v="];
        if starts.iter().any(|start| word.starts_with(start)) || word.contains("v=1&") {
            return Ok(Self::Link(word));
        }
        if let Some((key, value)) = word.split_once('=') {
            if let Some(key) = prices::key(key) {
                return Ok(Self::Money(key, value));
            }
            if key.trim() == "demand" {
                return Ok(Self::Demand(value));
            }
            // Links have it by its long name alone.
            let key = if key.trim() == "tp" { "deploy.tp" } else { key };
            return Ok(Self::Setting(key, value));
        }
        if Path::new(word).extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            return Ok(Self::File(Path::new(word)));
        }
        Err(Failure::input(format!(
            "“{word}” is no setting, link or .json file. A setting is written key=value, for example rate=100."
        )))
    }
}

/// A scenario, and what was typed beside it.
pub(crate) struct Asked {
    pub(crate) scenario: Scenario,
    /// What of it was not taken as written.
    pub(crate) notices: Vec<Notice>,
    pub(crate) money: MoneyWords,
    /// A job: so many requests, and the seconds that they may take.
    pub(crate) job: Option<(u64, f64)>,
}

/// The scenario that was asked for. What was not taken as written is told on standard error.
pub(crate) fn scenario(args: &ScenarioArgs) -> Result<Scenario, Failure> {
    let Parsed { scenario, notices } = parsed(args)?;
    tell(&notices);
    Ok(scenario)
}

/// The scenario that was asked for, and what of it was not taken as written, where nothing else may be
/// said beside it.
pub(crate) fn parsed(args: &ScenarioArgs) -> Result<Parsed, Failure> {
    let asked = asked(args)?;
    let key = prices::KEYS.iter().find(|key| asked.has_money(args, key));
    // What a link carries for whoever looks at it is no demand of this command.
    let is_typed = args.words.iter().any(|word| matches!(Word::of(word), Ok(Word::Demand(_))));
    let job = asked.job.filter(|_| is_typed);
    let unused = key.copied().or(job.map(|_| "a demand that is a job"));
    match unused {
        Some(what) => Err(Failure::input(format!(
            "{what}: this command has no use for it; headroom plan has. Leave it out."
        ))),
        None => Ok(Parsed { scenario: asked.scenario, notices: asked.notices }),
    }
}

/// The scenario that was asked for, of which nothing may have been taken otherwise than written.
pub(crate) fn exactly(args: &ScenarioArgs) -> Result<Scenario, Failure> {
    let Parsed { scenario, notices } = parsed(args)?;
    let departs = |notice: &&Notice| match notice.kind {
        NoticeKind::Clamped | NoticeKind::Shortened | NoticeKind::Unknown | NoticeKind::Invalid => {
            true
        }
        NoticeKind::Version => notice.key == "v",
        _ => false,
    };
    match notices.iter().find(departs) {
        Some(notice) => Err(Failure::input(format!(
            "{} headroom check answers only for what is written: write it as it is meant.",
            refusal(notice)
        ))),
        None => {
            tell(&notices);
            Ok(scenario)
        }
    }
}

/// The scenario with what was typed about money and demand, and what of it was not taken as written.
pub(crate) fn asked(args: &ScenarioArgs) -> Result<Asked, Failure> {
    let words = args.words.iter().map(|word| Word::of(word)).collect::<Result<Vec<_>, _>>()?;
    let Parsed { mut scenario, mut notices } = base(args, &words)?;
    let mut money = MoneyWords::default();
    let (mut demand, mut in_link) = (None, None);
    for (place, word) in words.iter().enumerate() {
        match word {
            Word::Setting(key, value) => {
                if words[..place].iter().any(|other| is_setting(other, key)) {
                    notices.push(Notice::repeated(key, value));
                }
                let said = scenario.set(key, value).map_err(|notice| refused(&notice))?;
                as_written(&said)?;
            }
            Word::Money(key, value) => money.set(key, value)?,
            Word::Demand(text) => demand = Some(*text),
            Word::Link(link) => {
                in_link = scenario::page_word(link, "demand");
                for key in prices::KEYS {
                    if let Some(value) = scenario::page_word(link, key) {
                        money.set(key, &value)?;
                    }
                }
            }
            Word::File(_) => {}
        }
    }
    // Only now is it known which model is asked for.
    notices.extend(scenario.limit_to_context());
    let mut job = None;
    if let Some(text) = demand.or(in_link.as_deref()) {
        let in_words = |error: scenario::DemandError| Failure::input(format!("{error}."));
        let demand = Demand::read(text).map_err(in_words)?;
        demand.put_into(&mut scenario, text).map_err(in_words)?;
        if let Demand::Job { requests, within_s } = demand {
            job = Some((requests, within_s));
        }
    }
    Ok(Asked { scenario, notices, money, job })
}

fn is_setting(word: &Word<'_>, key: &str) -> bool {
    matches!(word, Word::Setting(other, _) if *other == key)
}

impl Asked {
    /// The same once what was not taken as written has been told on standard error.
    pub(crate) fn told(mut self) -> Self {
        tell(&std::mem::take(&mut self.notices));
        self
    }

    /// Whether something about money was typed.
    fn has_money(&self, args: &ScenarioArgs, key: &str) -> bool {
        args.words.iter().any(|word| matches!(Word::of(word), Ok(Word::Money(it, _)) if it == key))
    }
}

/// Tell of settings that are taken as written and still do nothing, and of lengths that no engine
/// serves whole. Those of a recording are its own: `has_recording` leaves the scenario's out.
pub(crate) fn caution(cautions: &[Notice], has_recording: bool) {
    for caution in cautions {
        if !(has_recording && caution.kind == NoticeKind::BeyondContext) {
            output::note(&caution.message);
        }
    }
}

/// The whole scenario to start from: at most one may be given.
fn base(args: &ScenarioArgs, words: &[Word<'_>]) -> Result<Parsed, Failure> {
    let mut bases: Vec<(String, Parsed)> = Vec::new();
    match args.preset {
        Some(Preset::Qwen25) => {
            let preset = Parsed { scenario: Scenario::preset(), notices: Vec::new() };
            bases.push(("--preset".to_owned(), preset));
        }
        None => {}
    }
    if let Some(path) = &args.json_file {
        bases.push((format!("--json-file {}", path.display()), read_json(path)?));
    }
    for word in words {
        match word {
            Word::Link(link) => bases.push(("a link".to_owned(), usable(link)?)),
            Word::File(path) => bases.push((path.display().to_string(), read_json(path)?)),
            Word::Setting(..) | Word::Money(..) | Word::Demand(..) => {}
        }
    }
    if let [(first, _), (second, _), ..] = bases.as_slice() {
        return Err(Failure::input(format!(
            "{first} and {second} both give a whole scenario. Keep one, and change single settings with key=value."
        )));
    }
    let preset = || Parsed { scenario: Scenario::preset(), notices: Vec::new() };
    Ok(bases.pop().map_or_else(preset, |(_, parsed)| parsed))
}

/// The scenario of a link, whose values could all be used. The page may open a link with a default
/// in the place of a value that it cannot read; a script must not compute with one. A value out of
/// range is moved into it, as the page does: every link that ever worked works.
fn usable(link: &str) -> Result<Parsed, Failure> {
    let parsed = Scenario::from_link(link);
    match parsed.notices.iter().find(|notice| notice.kind == NoticeKind::Invalid) {
        Some(notice) => Err(refused(notice)),
        None => Ok(parsed),
    }
}

/// What is typed is taken as written or refused, never moved into range.
fn as_written(notices: &[Notice]) -> Result<(), Failure> {
    let is_moved =
        |notice: &&Notice| matches!(notice.kind, NoticeKind::Clamped | NoticeKind::ZeroIsNone);
    notices.iter().find(is_moved).map_or(Ok(()), |notice| Err(refused(notice)))
}

/// What is kept in a file counts as if it were typed: a script must not compute with half of it. A
/// link says “passed over” where a file is refused, since links are opened by people who did not write
/// them. Only of a file from a newer version it is known that there are keys which are new in it.
fn as_typed(notices: &[Notice]) -> Result<(), Failure> {
    let is_newer = |notice: &Notice| notice.key == "v" && notice.kind == NoticeKind::Version;
    let is_newer = notices.iter().any(is_newer);
    let is_wrong = |notice: &&Notice| match notice.kind {
        NoticeKind::Clamped | NoticeKind::Invalid => true,
        NoticeKind::Unknown => !is_newer,
        _ => false,
    };
    notices.iter().find(is_wrong).map_or(Ok(()), |notice| Err(refused(notice)))
}

fn read_json(path: &Path) -> Result<Parsed, Failure> {
    let text = read_text(path)?;
    let in_file = |message: &dyn Display| Failure::input(format!("{}: {message}", path.display()));
    let parsed = Scenario::from_json(&text).map_err(|error| match error {
        ScenarioError::Setting(notice) => in_file(&refused(&notice)),
        other => in_file(&other),
    })?;
    as_typed(&parsed.notices).map_err(|failure| in_file(&failure))?;
    Ok(parsed)
}

/// Read a text file.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::reading(path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        Failure::input(format!(
            "{} is not text in UTF-8: byte {position} is not. Save it as UTF-8.",
            path.display()
        ))
    })
}

/// The link among the words, where one is given.
pub(crate) fn link_of(args: &ScenarioArgs) -> Option<&str> {
    args.words.iter().find_map(|word| match Word::of(word) {
        Ok(Word::Link(link)) => Some(link),
        _ => None,
    })
}

/// Whether anything but one whole scenario was given.
pub(crate) fn has_settings(args: &ScenarioArgs) -> bool {
    args.words.iter().any(|word| matches!(Word::of(word), Ok(Word::Setting(..) | Word::Demand(..))))
}

/// Tell of what was not taken as written.
pub(crate) fn tell(notices: &[Notice]) {
    for notice in notices {
        output::note(&named(notice, &notice.message));
    }
}

/// The notice as an error. Nothing goes on, so what would be used instead is left out.
fn refused(notice: &Notice) -> Failure {
    Failure::input(refusal(notice))
}

fn refusal(notice: &Notice) -> String {
    let instead =
        ["Still using ", "Using ", "The setting is as it was", "It is not used", "Reading it as "];
    let end = instead.iter().filter_map(|words| notice.message.rfind(words)).min();
    let message = notice.message.get(..end.unwrap_or(notice.message.len()));
    let mut message = named(notice, message.unwrap_or_default().trim_end());
    if message.contains("No ") && ["model", "gpu"].contains(&notice.key.as_str()) {
        message.push_str(&format!(" headroom catalog {}s lists all names.", notice.key));
    }
    if ["v", "rev"].contains(&notice.key.as_str()) {
        message.push_str(" Leave it out.");
    }
    if notice.kind == NoticeKind::Unknown {
        message.push_str(" headroom plan --help lists all keys.");
    }
    message
}

/// Letters of a value that a message shows.
const LONGEST_SHOWN: usize = 40;

/// The message with the setting and its value in front, where it does not name the value itself.
pub(crate) fn named(notice: &Notice, message: &str) -> String {
    let is_named = message.contains(&format!("“{}”", quantity::visible(&notice.value)));
    if is_named || notice.key.is_empty() || notice.value.trim().is_empty() {
        return message.to_owned();
    }
    let shown: String = notice.value.chars().take(LONGEST_SHOWN).collect();
    let rest = if shown.len() < notice.value.len() { "…" } else { "" };
    format!("{}={shown}{rest}: {message}", notice.key)
}

/// A path that is a folder gives an unclear error on some systems; name it early.
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::input(format!(
            "{} is a folder. Give the path of a file in it.",
            path.display()
        )));
    }
    Ok(())
}
