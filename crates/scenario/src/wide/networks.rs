//! The wide catalogue of a program that carries it.

use std::{
    hint::black_box,
    sync::{Arc, Mutex, OnceLock},
};

use catalog::{Checkpoint, Device, LookUpError};

use crate::{
    resolve::{Ledger, ResolveError, deployed},
    schema::Scenario,
};

use super::{Changes, EngineNumbers, Listed, Wide};

/// The catalogue that is compiled in.
struct Networks;

/// The only way to the wide catalogue: a page may have it in a part that comes later, so that this is
/// never inlined, and nobody is told what it returns.
#[inline(never)]
pub(super) fn door() -> &'static dyn Wide {
    black_box(&Networks as &dyn Wide)
}

/// A checkpoint by its name. The last one is kept: whoever looks at a scenario asks for its model again and
/// again, and each answer is counted anew from the dimensions.
pub(crate) fn checkpoint(name: &str) -> Result<Arc<Checkpoint>, LookUpError> {
    static LAST: Mutex<Option<(String, Arc<Checkpoint>)>> = Mutex::new(None);
    let Ok(mut last) = LAST.lock() else { return catalog::checkpoint(name).map(Arc::new) };
    if let Some((known, found)) = last.as_ref()
        && known == name
    {
        return Ok(Arc::clone(found));
    }
    let found = Arc::new(catalog::checkpoint(name)?);
    *last = Some((name.to_owned(), Arc::clone(&found)));
    Ok(found)
}

impl Wide for Networks {
    fn model_slug(&self, name: &str) -> Option<String> {
        let found = checkpoint(name).ok()?;
        let format = found.format().filter(|_| found.chosen != Some(0));
        Some(format.map_or(found.slug.clone(), |format| [&found.slug, "-", format.word()].concat()))
    }

    fn gpu_slug(&self, name: &str) -> Option<String> {
        catalog::device(name).ok().map(|device| device.slug)
    }

    fn context_tokens(&self, slug: &str) -> Option<u64> {
        checkpoint(slug).ok().map(|found| found.config.context_tokens)
    }

    fn model_name(&self, slug: &str) -> Option<String> {
        let found = checkpoint(slug).ok()?;
        let format = found.format().filter(|_| found.chosen != Some(0));
        Some(
            format.map_or(found.name.clone(), |format| {
                format!("{} in {}", found.name, format.name())
            }),
        )
    }

    fn gpu_name(&self, slug: &str) -> Option<String> {
        catalog::device(slug).ok().map(|device| device.short_name)
    }

    fn models(&self, query: &str) -> Vec<Listed> {
        // Counting the parameters of all of them takes long enough to be noticed while somebody types.
        static ALL: OnceLock<Vec<Listed>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let found = catalog::search_checkpoints("").unwrap_or_default();
            found.into_iter().map(listed_model).collect()
        });
        let slugs = catalog::search_checkpoint_slugs(query).unwrap_or_default();
        slugs.iter().filter_map(|slug| all.iter().find(|it| it.slug == *slug).cloned()).collect()
    }

    fn gpus(&self, query: &str) -> Vec<Listed> {
        let found = catalog::search_devices(query).unwrap_or_default();
        found.into_iter().map(listed_gpu).collect()
    }

    fn resolve(
        &self,
        scenario: &Scenario,
        ledger: &mut Ledger,
    ) -> Result<EngineNumbers, ResolveError> {
        deployed::resolve(scenario, ledger)
    }

    fn roomier(&self, scenario: &Scenario) -> Vec<Changes> {
        deployed::wider(scenario)
    }
}

/// “70.6 B parameters, BF16”; of a mixture of experts “30.5 B, 3.3 B active, BF16”.
fn listed_model(found: Checkpoint) -> Listed {
    let counted = found.config.architecture.parameters();
    let said = |parameters: f64| quantity::format(parameters, quantity::Unit::Parameters);
    let size = if counted.active < ALL_ACTIVE * counted.total {
        [&said(counted.total), ", ", &said(counted.active), " active"].concat()
    } else {
        said(counted.total) + " parameters"
    };
    let facts = format!("{size}, {}", found.config.precision);
    Listed { slug: found.slug, name: found.name, maker: found.maker, facts }
}

/// Above this share of its parameters a token visits as good as all: the table of the vocabulary is
/// read, not multiplied with.
const ALL_ACTIVE: f64 = 0.75;

/// “80 GB, 989 TFLOP/s, 3.35 TB/s”.
fn listed_gpu(found: Device) -> Listed {
    let facts = [
        quantity::format(found.memory_bytes.value, quantity::Unit::Bytes),
        quantity::format(found.peaks.bf16.value, quantity::Unit::FlopsPerSecond),
        quantity::format(found.bandwidth_bytes_per_s.value, quantity::Unit::BytesPerSecond),
    ]
    .join(", ");
    Listed { slug: found.slug, name: found.name, maker: found.maker, facts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_how_large_a_model_is_and_what_a_token_visits() {
        let of = |query: &str| Networks.models(query).swap_remove(0).facts;
        assert_eq!(of("llama-3.3-70b"), "70.6\u{202f}B parameters, BF16");
        let mixture = of("qwen3-30b-a3b");
        assert!(mixture.contains("30.5\u{202f}B, 3."), "{mixture}");
        assert!(mixture.contains(" active, BF16"), "{mixture}");
    }

    #[test]
    fn every_row_can_be_set_and_called_by_its_name() {
        let (models, gpus) = (Networks.models(""), Networks.gpus(""));
        assert!(models.len() >= 120 && gpus.len() >= 40, "{} {}", models.len(), gpus.len());
        let mut scenario = Scenario::preset();
        for row in &models {
            assert!(scenario.set("model", &row.slug).is_ok(), "{}", row.slug);
            assert!(!crate::model_name(&scenario.model).is_empty());
        }
        for row in &gpus {
            assert!(scenario.set("gpu", &row.slug).is_ok(), "{}", row.slug);
            assert!(!crate::gpu_name(&scenario.gpu).is_empty());
        }
    }
}
