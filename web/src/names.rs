//! What catalogue entries are called on the page.

use catalog::{Catalog, Gpu, Model};

/// The catalogue that is compiled in. Its tests read it, so it is never missing.
pub(crate) fn catalogue() -> Option<&'static Catalog> {
    catalog::builtin().ok()
}

/// A model's name, or its slug if the catalogue does not have it.
pub(crate) fn model(slug: &str) -> String {
    scenario::model_name(slug)
}

/// A GPU's name in pickers.
pub(crate) fn gpu(slug: &str) -> String {
    find_gpu(slug).map_or_else(|| scenario::gpu_name(slug), |gpu| gpu.name.clone())
}

/// A GPU's name in sentences.
pub(crate) fn gpu_short(slug: &str) -> String {
    scenario::gpu_name(slug)
}

/// A model's name on a chip: without its variant.
pub(crate) fn model_short(slug: &str) -> String {
    find_model(slug).map_or_else(|| scenario::model_name(slug), |model| model.network.clone())
}

/// A model by its slug.
pub(crate) fn find_model(slug: &str) -> Option<&'static Model> {
    catalogue()?.model(slug).ok()
}

/// A GPU by its slug.
pub(crate) fn find_gpu(slug: &str) -> Option<&'static Gpu> {
    catalogue()?.gpu(slug).ok()
}

/// “7.6 B parameters, BF16, 14.2 GiB”.
pub(crate) fn model_facts(model: &Model) -> String {
    let parameters = quantity::format(model.params.value, quantity::Unit::Parameters);
    let weights = quantity::memory(model.weight_bytes.value);
    format!("{parameters} parameters, {}, {weights}", model.precision)
}

/// “989 TFLOP/s, 3.35 TB/s”.
pub(crate) fn gpu_facts(gpu: &Gpu) -> String {
    let peak = quantity::format(gpu.peak_flops.value, quantity::Unit::FlopsPerSecond);
    let bandwidth =
        quantity::format(gpu.bandwidth_bytes_per_s.value, quantity::Unit::BytesPerSecond);
    format!("{peak}, {bandwidth}")
}
