//! What catalogue entries are called in sentences.

/// A GPU's short name: “H100”. A name that the catalogue does not know stays as it is.
pub(crate) fn gpu(slug: &str) -> String {
    let found = catalog::builtin().ok().and_then(|catalog| catalog.gpu(slug).ok());
    found.map_or_else(|| slug.to_owned(), |gpu| gpu.short_name.clone())
}

/// A model's name: “Qwen2.5-7B”. A name that the catalogue does not know stays as it is.
pub(crate) fn model(slug: &str) -> String {
    let found = catalog::builtin().ok().and_then(|catalog| catalog.model(slug).ok());
    found.map_or_else(|| slug.to_owned(), |model| model.name.clone())
}
