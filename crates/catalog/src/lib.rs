//! Names to numbers: models and GPUs, each figure with its source.
//!
//! The data lie in `assets/catalog` as JSON; the build reads them and compiles them in. Slugs are stable: a slug that was
//! once published is never given to something else. Whenever a figure changes, [`REVISION`] goes up
//! by one, and links written under another revision say so.

mod cold_start;
mod config;
mod figure;
mod gpu;
pub mod kernel;
mod model;
mod networks;
mod parse;
mod suggest;

use std::sync::OnceLock;

pub use cold_start::{ColdStart, cold_start, cold_starts};
pub use config::{ConfigError, ModelConfig, read_config};
pub use figure::{Figure, FigureKind};
pub use gpu::Gpu;
pub use model::Model;
pub use networks::{
    Checkpoint, Citation, Device, Engine, Fact, FactKind, Files, LookUpError, Params, Peaks,
    Source, UnknownFormat, WeightFormat, checkpoint, checkpoint_slugs, device, engines,
    search_checkpoint_slugs, search_checkpoints, search_devices,
};
pub use parse::CatalogError;
pub use suggest::nearest;

/// Revision of the data. Goes up by one with every change of a figure.
pub const REVISION: u32 = 1;

/// The data as `build.rs` encoded them.
const ENCODED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog.bin"));

/// All models and GPUs that can be named.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    models: Vec<Model>,
    gpus: Vec<Gpu>,
}

/// No entry has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {what} called “{name}”{}", did_you_mean(suggestions))]
pub struct NotFound {
    /// `model` or `GPU`.
    pub what: &'static str,
    /// The name that was asked for.
    pub name: String,
    /// Slugs that are close to it, best first; at most three, possibly none.
    pub suggestions: Vec<String>,
}

/// The catalogue that is compiled in, decoded on first use.
///
/// # Errors
///
/// If what the build encoded cannot be decoded; broken data stop the build itself.
pub fn builtin() -> Result<&'static Catalog, CatalogError> {
    static BUILTIN: OnceLock<Result<Catalog, CatalogError>> = OnceLock::new();
    let decode = || match postcard::from_bytes(ENCODED) {
        Ok((models, gpus)) => Ok(Catalog { models, gpus }),
        Err(error) => Err(CatalogError::Encoded { message: error.to_string() }),
    };
    BUILTIN.get_or_init(decode).as_ref().map_err(Clone::clone)
}

impl Catalog {
    /// Read a catalogue from the JSON texts of its models and its GPUs.
    ///
    /// # Errors
    ///
    /// If a text is not JSON of the documented shape, a figure is not a positive number, a source is
    /// missing, or two entries share a name.
    pub fn parse(models: &str, gpus: &str) -> Result<Self, CatalogError> {
        Ok(Self { models: parse::models(models)?, gpus: parse::gpus(gpus)? })
    }

    /// All models, in catalogue order.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// All GPUs, in catalogue order.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    /// Find a model by its slug or one of its aliases, whatever the case.
    ///
    /// # Errors
    ///
    /// If there is none; the error holds the nearest slugs.
    pub fn model(&self, name: &str) -> Result<&Model, NotFound> {
        let wanted = suggest::normalised(name);
        self.models
            .iter()
            .find(|model| model.names().any(|known| known == wanted))
            .ok_or_else(|| not_found("model", name, self.models.iter().flat_map(Model::names)))
            .map_err(|error| self.with_slugs(error))
    }

    /// Find a GPU by its slug or one of its aliases, whatever the case.
    ///
    /// # Errors
    ///
    /// If there is none; the error holds the nearest slugs.
    pub fn gpu(&self, name: &str) -> Result<&Gpu, NotFound> {
        let wanted = suggest::normalised(name);
        self.gpus
            .iter()
            .find(|gpu| gpu.names().any(|known| known == wanted))
            .ok_or_else(|| not_found("GPU", name, self.gpus.iter().flat_map(Gpu::names)))
            .map_err(|error| self.with_slugs(error))
    }

    /// Models that match what was typed into a picker, best first; all of them for an empty query.
    pub fn search_models(&self, query: &str) -> Vec<&Model> {
        suggest::ranked(query, &self.models, Model::search_text)
    }

    /// GPUs that match what was typed into a picker, best first; all of them for an empty query.
    pub fn search_gpus(&self, query: &str) -> Vec<&Gpu> {
        suggest::ranked(query, &self.gpus, Gpu::search_text)
    }

    /// Replace suggested aliases by the slugs they stand for, each once.
    fn with_slugs(&self, mut error: NotFound) -> NotFound {
        let mut slugs: Vec<String> = Vec::new();
        for name in &error.suggestions {
            let model = self.models.iter().find(|model| model.names().any(|known| known == name));
            let gpu = self.gpus.iter().find(|gpu| gpu.names().any(|known| known == name));
            let slug = model.map(|m| &m.slug).or(gpu.map(|g| &g.slug));
            if let Some(slug) = slug.filter(|slug| !slugs.contains(slug)) {
                slugs.push(slug.clone());
            }
        }
        slugs.truncate(3);
        error.suggestions = slugs;
        error
    }
}

fn not_found<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> NotFound {
    let suggestions = nearest(name, known, 8).into_iter().map(str::to_owned).collect();
    NotFound { what, name: name.to_owned(), suggestions }
}

fn did_you_mean(suggestions: &[String]) -> String {
    match suggestions {
        [] => String::new(),
        [only] => format!("; did you mean “{only}”?"),
        [first, second, ..] => format!("; did you mean “{first}” or “{second}”?"),
    }
}
