//! Versions of vLLM: what changed about memory, and what that comes to.

use serde::Deserialize;
use sim_core::memory::{EngineRules, EngineVersion};

use super::{LookUpError, Source, source::source};

const ENGINES: &str = include_str!("../../../../assets/catalog/engines.json");

/// One version of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// Its name: “vllm@0.19”.
    pub name: String,
    /// Releases of it.
    pub releases: Vec<String>,
    /// Where they are listed.
    pub releases_source: Source,
    /// What it does about memory.
    pub rules: EngineRules,
    /// What it changed, each with its source.
    pub changes: Vec<(String, Source)>,
}

#[derive(Deserialize)]
struct RawEngines {
    engines: Vec<RawEngine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEngine {
    name: String,
    releases: Vec<String>,
    releases_source: String,
    changes: Vec<RawChange>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawChange {
    text: String,
    source: String,
}

/// All versions, the oldest first.
///
/// # Errors
///
/// If the compiled-in data are broken.
pub fn engines() -> Result<Vec<Engine>, LookUpError> {
    let broken = |error: &dyn std::fmt::Display| LookUpError::Broken(error.to_string());
    let raw: RawEngines = serde_json::from_str(ENGINES).map_err(|error| broken(&error))?;
    let build = |raw: RawEngine| {
        let version: EngineVersion = raw.name.parse().map_err(|error| broken(&error))?;
        let changes = raw
            .changes
            .into_iter()
            .map(|change| Ok((change.text, source(&change.source, &raw.name)?)))
            .collect::<Result<_, LookUpError>>()?;
        Ok(Engine {
            releases_source: source(&raw.releases_source, &raw.name)?,
            name: raw.name,
            releases: raw.releases,
            rules: EngineRules::of(version),
            changes,
        })
    };
    raw.engines.into_iter().map(build).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_there_and_every_change_of_rules_is_told() {
        let all = engines().expect("the data are whole");
        let (first, last) = (EngineVersion::FIRST.minor, EngineVersion::LAST.minor);
        assert_eq!(all.len() as u32, last - first + 1);
        for (engine, minor) in all.iter().zip(first..) {
            assert_eq!(engine.name, format!("vllm@0.{minor}"));
            let prefix = format!("0.{minor}.");
            assert!(engine.releases.iter().all(|release| release.starts_with(&prefix)));
            assert!(!engine.releases.is_empty(), "{}", engine.name);
        }
        // The version itself, and whether it was measured, are no rules.
        let plain = |rules: &EngineRules| EngineRules {
            version: EngineVersion::FIRST,
            is_measured: false,
            ..*rules
        };
        for pair in all.windows(2) {
            let is_changed = plain(&pair[0].rules) != plain(&pair[1].rules);
            assert_eq!(is_changed, !pair[1].changes.is_empty(), "{}", pair[1].name);
        }
    }
}
