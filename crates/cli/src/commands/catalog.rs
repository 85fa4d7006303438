//! `headroom catalog`.

use std::process::ExitCode;

use crate::{args::CatalogArgs, failure::Failure, output};

pub(crate) fn run(args: &CatalogArgs) -> Result<ExitCode, Failure> {
    let catalog = catalog::builtin().map_err(|error| Failure::input(error.to_string()))?;
    let (part, words) = part_and_words(&args.words);
    let query = words.join(" ");
    let models = if part == Part::Gpus { Vec::new() } else { catalog.search_models(&query) };
    let gpus = if part == Part::Models { Vec::new() } else { catalog.search_gpus(&query) };
    if models.is_empty() && gpus.is_empty() {
        return Err(Failure::input(format!(
            "Nothing in the catalogue matches “{query}”. `headroom catalog` lists all of it; what it lacks can be given by numbers, for example step.params=7.6e9."
        )));
    }
    output::print(&if args.json {
        report::catalog_json(&models, &gpus)
    } else {
        report::catalog_text(&models, &gpus)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A part of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    All,
    Models,
    Gpus,
}

/// The first word may name a part; the others are searched for.
fn part_and_words(words: &[String]) -> (Part, &[String]) {
    let part = words.first().map(|word| word.to_ascii_lowercase());
    match part.as_deref() {
        Some("models" | "model") => (Part::Models, &words[1..]),
        Some("gpus" | "gpu") => (Part::Gpus, &words[1..]),
        _ => (Part::All, words),
    }
}
