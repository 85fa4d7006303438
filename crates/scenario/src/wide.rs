//! Names beyond the short list. They are known where the wide catalogue is carried along.

/// The slug of a model of the wide catalogue, its format included where it is not the first one.
#[cfg(feature = "networks")]
pub(crate) fn model_slug(name: &str) -> Option<String> {
    let found = catalog::checkpoint(name).ok()?;
    let format = found.format().filter(|_| found.chosen != Some(0));
    Some(format.map_or(found.slug.clone(), |format| [&found.slug, "-", format.word()].concat()))
}

/// The slug of a GPU of the wide catalogue.
#[cfg(feature = "networks")]
pub(crate) fn gpu_slug(name: &str) -> Option<String> {
    catalog::device(name).ok().map(|device| device.slug)
}

/// The longest context of a model of the wide catalogue.
#[cfg(feature = "networks")]
pub(crate) fn context_tokens(slug: &str) -> Option<u64> {
    catalog::checkpoint(slug).ok().map(|found| found.config.context_tokens)
}

#[cfg(feature = "networks")]
fn wide_model_name(slug: &str) -> Option<String> {
    let found = catalog::checkpoint(slug).ok()?;
    let format = found.format().filter(|_| found.chosen != Some(0));
    Some(format.map_or(found.name.clone(), |format| format!("{} in {}", found.name, format.name())))
}

#[cfg(feature = "networks")]
fn wide_gpu_name(slug: &str) -> Option<String> {
    catalog::device(slug).ok().map(|device| device.short_name)
}

#[cfg(not(feature = "networks"))]
mod none {
    pub(crate) const fn model_slug(_: &str) -> Option<String> {
        None
    }
    pub(crate) const fn gpu_slug(_: &str) -> Option<String> {
        None
    }
    pub(crate) const fn context_tokens(_: &str) -> Option<u64> {
        None
    }
    pub(super) const fn wide_model_name(_: &str) -> Option<String> {
        None
    }
    pub(super) const fn wide_gpu_name(_: &str) -> Option<String> {
        None
    }
}

#[cfg(not(feature = "networks"))]
pub(crate) use none::{context_tokens, gpu_slug, model_slug};
#[cfg(not(feature = "networks"))]
use none::{wide_gpu_name, wide_model_name};

/// A model's name: “Qwen2.5-7B”. A name that the catalogue does not know stays as it is.
#[must_use]
pub fn model_name(slug: &str) -> String {
    let found = catalog::builtin().ok().and_then(|catalog| catalog.model(slug).ok());
    let name = found.map(|model| model.name.clone());
    name.or_else(|| wide_model_name(slug)).unwrap_or_else(|| slug.to_owned())
}

/// A GPU's short name: “H100”. A name that the catalogue does not know stays as it is.
#[must_use]
pub fn gpu_name(slug: &str) -> String {
    let found = catalog::builtin().ok().and_then(|catalog| catalog.gpu(slug).ok());
    let name = found.map(|gpu| gpu.short_name.clone());
    name.or_else(|| wide_gpu_name(slug)).unwrap_or_else(|| slug.to_owned())
}
