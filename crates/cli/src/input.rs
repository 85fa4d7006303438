//! From what was typed to a scenario.

use std::path::Path;

use scenario::{Notice, NoticeKind, Parsed, Scenario};

use crate::{
    args::{Preset, ScenarioArgs},
    failure::Failure,
    output,
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
}

impl<'a> Word<'a> {
    /// Tell the kinds apart.
    pub(crate) fn of(word: &'a str) -> Result<Self, Failure> {
        let starts = ["http://", "https://", "#", "v="];
        if starts.iter().any(|start| word.starts_with(start)) || word.contains("v=1&") {
            return Ok(Self::Link(word));
        }
        if let Some((key, value)) = word.split_once('=') {
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

/// The scenario that was asked for. What was not taken as written is told on standard error.
pub(crate) fn scenario(args: &ScenarioArgs) -> Result<Scenario, Failure> {
    let words = args.words.iter().map(|word| Word::of(word)).collect::<Result<Vec<_>, _>>()?;
    let mut scenario = base(args, &words)?;
    for word in &words {
        if let Word::Setting(key, value) = word {
            let notices = scenario.set(key, value).map_err(|notice| refused(&notice))?;
            tell(&notices);
        }
    }
    Ok(scenario)
}

/// The whole scenario to start from: at most one may be given.
fn base(args: &ScenarioArgs, words: &[Word<'_>]) -> Result<Scenario, Failure> {
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
            Word::Link(link) => bases.push(("a link".to_owned(), Scenario::from_link(link))),
            Word::File(path) => bases.push((path.display().to_string(), read_json(path)?)),
            Word::Setting(..) => {}
        }
    }
    if let [(first, _), (second, _), ..] = bases.as_slice() {
        return Err(Failure::input(format!(
            "{first} and {second} both give a whole scenario. Keep one, and change single settings with key=value."
        )));
    }
    let Some((_, parsed)) = bases.pop() else { return Ok(Scenario::preset()) };
    taken(parsed)
}

/// A scenario whose values could all be used. A link that is opened by the page may lose a setting
/// with a notice; a script must not compute with a default in its place.
fn taken(parsed: Parsed) -> Result<Scenario, Failure> {
    if let Some(notice) = parsed.notices.iter().find(|n| n.kind == NoticeKind::Invalid) {
        return Err(refused(notice));
    }
    tell(&parsed.notices);
    Ok(parsed.scenario)
}

fn read_json(path: &Path) -> Result<Parsed, Failure> {
    let text = read_text(path)?;
    Scenario::from_json(&text)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
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
    args.words.iter().any(|word| matches!(Word::of(word), Ok(Word::Setting(..))))
}

/// Tell of what was not taken as written.
pub(crate) fn tell(notices: &[Notice]) {
    for notice in notices {
        output::note(&notice.message);
    }
}

fn refused(notice: &Notice) -> Failure {
    Failure::input(notice.message.clone())
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
