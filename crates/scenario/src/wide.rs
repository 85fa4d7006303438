//! What the short list does not have: further names, and engines that are set up as their versions do.
//!
//! The rest of the crate goes through one door, [`wide`]. A program without the wide catalogue has none;
//! a page has it once the part of it has come that few visitors need.

use sim_core::StepTimeSpec;

#[cfg(feature = "networks")]
use crate::late;
use crate::{
    resolve::{Ledger, Memory, ResolveError},
    schema::Scenario,
};

#[cfg(feature = "networks")]
pub(crate) mod networks;

/// Values of one setting that may make room, each with what it does; the smallest change first.
pub(crate) type Changes = (&'static str, Vec<(String, String)>);

/// Step time, memory, and tokens of the KV cache.
pub(crate) type EngineNumbers = (StepTimeSpec, Memory, u64);

/// A model or a GPU that can be named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What links call it.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// Who makes it.
    pub maker: String,
    /// Its size in a few words.
    pub facts: String,
}

/// The wide catalogue.
pub(crate) trait Wide {
    /// The slug of a model, its format included where it is not the first one.
    fn model_slug(&self, name: &str) -> Option<String>;
    /// The slug of a GPU.
    fn gpu_slug(&self, name: &str) -> Option<String>;
    /// The longest context of a model, tokens.
    fn context_tokens(&self, slug: &str) -> Option<u64>;
    /// “Llama-3.3-70B in FP8”.
    fn model_name(&self, slug: &str) -> Option<String>;
    /// “H200”.
    fn gpu_name(&self, slug: &str) -> Option<String>;
    /// Models that match what was typed, best first; all of them for nothing.
    fn models(&self, query: &str) -> Vec<Listed>;
    /// The same of GPUs.
    fn gpus(&self, query: &str) -> Vec<Listed>;
    /// A deployment in numbers.
    fn resolve(
        &self,
        scenario: &Scenario,
        ledger: &mut Ledger,
    ) -> Result<EngineNumbers, ResolveError>;
    /// Changes of the deployment that may make room, the smallest of each kind first.
    fn roomier(&self, scenario: &Scenario) -> Vec<Changes>;
}

/// The wide catalogue, where this program has it by now.
#[cfg(feature = "networks")]
pub(crate) fn wide() -> Option<&'static dyn Wide> {
    late::is_here().then(networks::door)
}

#[cfg(not(feature = "networks"))]
pub(crate) const fn wide() -> Option<&'static dyn Wide> {
    None
}

/// Whether a link cannot be read without the wide catalogue: it names what the short list does not
/// have, or says how an engine is set up.
#[must_use]
pub fn link_wants_wide_catalogue(link: &str) -> bool {
    let parsed = Scenario::from_link(link);
    let is_unknown = |key: &str| key == "model" || key == "gpu";
    parsed.scenario.deploy.is_asked_for()
        || parsed.notices.iter().any(|notice| is_unknown(&notice.key))
}

/// Models beyond the short list that match what was typed, best first; all of them for nothing; none
/// where there is no wide catalogue.
#[must_use]
pub fn wide_models(query: &str) -> Vec<Listed> {
    wide().map(|wide| wide.models(query)).unwrap_or_default()
}

/// The same of GPUs.
#[must_use]
pub fn wide_gpus(query: &str) -> Vec<Listed> {
    wide().map(|wide| wide.gpus(query)).unwrap_or_default()
}

/// Whether memory is computed as an engine does: where its set-up is said, or where a name is one that
/// the short list does not have.
pub(crate) fn is_deployed(scenario: &Scenario) -> bool {
    if scenario.deploy.is_asked_for() {
        return true;
    }
    let (Ok(short), Some(wide)) = (catalog::builtin(), wide()) else { return false };
    let is_wide_model =
        short.model(&scenario.model).is_err() && wide.model_slug(&scenario.model).is_some();
    let is_wide_gpu = short.gpu(&scenario.gpu).is_err() && wide.gpu_slug(&scenario.gpu).is_some();
    is_wide_model || is_wide_gpu
}

impl Scenario {
    /// Whether memory is computed as the engine's version does, rather than by the rule of thumb of the
    /// short list.
    #[must_use]
    pub fn is_deployed(&self) -> bool {
        self.knows_memory() && is_deployed(self)
    }
}

/// A model's name: “Qwen2.5-7B”. A name that the catalogue does not know stays as it is.
#[must_use]
pub fn model_name(slug: &str) -> String {
    let found = catalog::builtin().ok().and_then(|catalog| catalog.model(slug).ok());
    let name = found.map(|model| model.name.clone());
    name.or_else(|| wide()?.model_name(slug)).unwrap_or_else(|| slug.to_owned())
}

/// A GPU's short name: “H100”. A name that the catalogue does not know stays as it is.
#[must_use]
pub fn gpu_name(slug: &str) -> String {
    let found = catalog::builtin().ok().and_then(|catalog| catalog.gpu(slug).ok());
    let name = found.map(|gpu| gpu.short_name.clone());
    name.or_else(|| wide()?.gpu_name(slug)).unwrap_or_else(|| slug.to_owned())
}
