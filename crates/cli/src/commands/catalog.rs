//! `headroom catalog`.

use std::process::ExitCode;

use report::CatalogTelling;

use crate::{args::CatalogArgs, failure::Failure, memory_settings::sentence, output};

pub(crate) fn run(args: &CatalogArgs) -> Result<ExitCode, Failure> {
    let broken = |error: catalog::LookUpError| Failure::input(sentence(&error));
    let (part, words) = part_and_words(&args.words);
    let query = words.join(" ");
    let has = |asked: Part| part == asked || part == Part::All;
    let models = if has(Part::Models) {
        exact_or(&query, catalog::checkpoint, catalog::search_checkpoints)
    } else {
        Ok(Vec::new())
    };
    let gpus = if has(Part::Gpus) {
        exact_or(&query, catalog::device, catalog::search_devices)
    } else {
        Ok(Vec::new())
    };
    let (models, gpus) = (models.map_err(broken)?, gpus.map_err(broken)?);
    let mut engines = if has(Part::Engines) { catalog::engines() } else { Ok(Vec::new()) };
    if let Ok(engines) = &mut engines {
        let wanted = query.to_ascii_lowercase();
        engines.retain(|engine| {
            let is_release = |release: &String| format!("vllm@{release}") == wanted;
            engine.name.contains(&wanted) || engine.releases.iter().any(is_release)
        });
    }
    let engines = engines.map_err(broken)?;
    if models.is_empty() && gpus.is_empty() && engines.is_empty() {
        return Err(Failure::input(format!(
            "Nothing in the catalogue matches “{query}”. `headroom catalog` lists all of it; a model that it lacks is read from its config.json by headroom memory --config, or given by numbers, for example step.params=7.6e9."
        )));
    }
    let telling = CatalogTelling { models: &models, gpus: &gpus, engines: &engines };
    output::print(&if args.json {
        report::catalog_json(&telling)
    } else {
        report::catalog_text(&telling)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The entry of that very name, or else all that match.
fn exact_or<T>(
    query: &str,
    exact: impl Fn(&str) -> Result<T, catalog::LookUpError>,
    search: impl Fn(&str) -> Result<Vec<T>, catalog::LookUpError>,
) -> Result<Vec<T>, catalog::LookUpError> {
    match exact(query) {
        Ok(found) => Ok(vec![found]),
        Err(catalog::LookUpError::NotFound(_)) => search(query),
        Err(error) => Err(error),
    }
}

/// A part of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    All,
    Models,
    Gpus,
    Engines,
}

/// The first word may name a part; the others are searched for.
fn part_and_words(words: &[String]) -> (Part, &[String]) {
    let part = words.first().map(|word| word.to_ascii_lowercase());
    match part.as_deref() {
        Some("models" | "model") => (Part::Models, &words[1..]),
        Some("gpus" | "gpu") => (Part::Gpus, &words[1..]),
        Some("engines" | "engine") => (Part::Engines, &words[1..]),
        _ => (Part::All, words),
    }
}
