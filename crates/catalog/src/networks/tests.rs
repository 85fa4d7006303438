use std::collections::BTreeSet;

use sim_core::memory::{GIB, Mixer};

use super::*;
use crate::{builtin, suggest::normalised};

fn all() -> Vec<Checkpoint> {
    search_checkpoints("").expect("the data are whole")
}

#[test]
fn there_are_enough_of_each_and_every_slug_finds_its_own() {
    let checkpoints = all();
    assert!(checkpoints.len() >= 80, "{}", checkpoints.len());
    for known in &checkpoints {
        let found = checkpoint(&known.slug).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found, *known);
        for (index, files) in known.files.iter().enumerate() {
            let name = format!("{}-{}", known.slug, files.format);
            let found = checkpoint(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((&found.slug, found.chosen), (&known.slug, Some(index)), "{name}");
        }
    }
    let devices = search_devices("").expect("the data are whole");
    assert!(devices.len() >= 30, "{}", devices.len());
    for known in &devices {
        assert_eq!(device(&known.slug).as_ref(), Ok(known));
    }
}

#[test]
fn no_name_stands_for_two_and_all_can_be_typed() {
    let names = all().into_iter().flat_map(|it| it.aliases.into_iter().chain([it.slug]));
    let devices = search_devices("").expect("the data are whole");
    let devices = devices.into_iter().flat_map(|it| it.aliases.into_iter().chain([it.slug]));
    for names in [names.collect::<Vec<_>>(), devices.collect()] {
        let mut seen = BTreeSet::new();
        for name in names {
            assert_eq!(normalised(&name), name);
            assert!(seen.insert(name.clone()), "{name} stands for two");
        }
    }
}

#[test]
fn names_are_found_by_repository_alias_and_format() {
    for (name, slug, format) in [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b", WeightFormat::Bf16),
        ("Llama 3.1 8B", "llama-3.1-8b", WeightFormat::Bf16),
        ("someone/Llama-3.1-8B-Instruct", "llama-3.1-8b", WeightFormat::Bf16),
        ("RedHatAI/Llama-3.3-70B-Instruct-fp8-dynamic", "llama-3.3-70b", WeightFormat::Fp8),
        ("Qwen/Qwen3-8B-AWQ", "qwen3-8b", WeightFormat::Int4),
        ("qwen3-32b-nvfp4", "qwen3-32b", WeightFormat::Nvfp4),
        ("deepseek-r1", "deepseek-v3", WeightFormat::Fp8),
        ("gpt-oss-120b", "gpt-oss-120b", WeightFormat::Mxfp4),
    ] {
        let found = checkpoint(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((found.slug.as_str(), found.format()), (slug, Some(format)), "{name}");
    }
}

/// A model of each kind that the catalogue claims to have.
#[test]
fn families_are_there() {
    for name in [
        "llama-2-70b",
        "llama-3-8b",
        "llama-3.1-405b",
        "llama-3.3-70b",
        "llama-4-maverick",
        "qwen2.5-72b",
        "qwen3-235b-a22b",
        "qwen3.5-397b-a17b",
        "mistral-7b-v0.3",
        "mixtral-8x22b",
        "mistral-nemo",
        "gemma-2-27b",
        "gemma-3-27b",
        "phi-4",
        "deepseek-v2",
        "deepseek-v3",
        "deepseek-r1",
        "kimi-k2",
        "glm-4.5",
        "minimax-m2",
        "gpt-oss-120b",
        "yi-34b",
        "falcon-180b",
        "command-a",
        "granite-3.3-8b",
        "nemotron-3-nano-30b-a3b",
    ] {
        assert!(checkpoint(name).is_ok(), "{name}");
    }
    for name in [
        "l4",
        "l40s",
        "a10",
        "a100-40gb",
        "a100-80gb",
        "h100",
        "h100-pcie",
        "h100-nvl",
        "h200",
        "gh200",
        "b200",
        "b300",
        "gb200",
        "rtx-4090",
        "rtx-5090",
        "rtx-pro-6000",
        "mi300x",
        "mi325x",
        "mi355x",
        "gaudi-3",
        "tpu-v5e",
        "tpu-v6e",
    ] {
        assert!(device(name).is_ok(), "{name}");
    }
}

/// Dimensions make the published number of parameters.
#[test]
fn parameters_follow_from_the_facts() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for checkpoint in all() {
        let Some(params) = &checkpoint.params else { continue };
        let found = checkpoint.config.architecture.parameters();
        let total = params.total.value;
        // Some sources round to whole billions.
        let rounding = if total % 1e9 == 0.0 { 0.5e9 } else { 0.0 };
        let off = libm::fabs(found.total - total);
        if off > 0.02 * total + rounding {
            let found = found.total;
            wrong.push(format!("{}: {found:.4e} for {total:.4e}", checkpoint.slug));
        }
        if let Some(active) = params.active {
            // Whether embeddings count as active differs from card to card.
            let of = &checkpoint.config.architecture;
            let table = (of.vocab_size * of.hidden_size) as f64;
            let off = libm::fabs(found.active - active);
            if off > table + 0.06 * active + 0.5e9 {
                let found = found.active;
                wrong.push(format!("{}: {found:.3e} active for {active:.3e}", checkpoint.slug));
            }
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared >= 80, "{compared}");
}

/// Published files and logged weights are what dimensions and formats make.
#[test]
fn bytes_of_weights_follow_from_facts_and_format() {
    let (mut published, mut measured) = (0, 0);
    let mut wrong = Vec::new();
    for checkpoint in all() {
        for (index, files) in checkpoint.files.iter().enumerate() {
            let chosen = format!("{} {}", checkpoint.slug, files.format);
            let computed = checkpoint.computed_file_bytes(files);
            let computed = computed.unwrap_or_else(|error| panic!("{chosen}: {error}"));
            let params = checkpoint.config.architecture.parameters().total;
            let plain = files.format.bytes();
            // Between all parameters in the format and all in 16 bits.
            let least = 0.99 * params * plain.mixing;
            let most = 1.01 * params * WeightFormat::Bf16.bytes().mixing;
            if !(least..=most).contains(&computed) {
                wrong.push(format!("{chosen}: {computed:.4e} is not {least:.4e} to {most:.4e}"));
            }
            let Some(bytes) = &files.bytes else { continue };
            let expected = if bytes.citation.kind == FactKind::Measured {
                measured += 1;
                let found = checkpoint.in_format(files.format).expect("it is published");
                assert_eq!(found.chosen, Some(index));
                found.computed_bytes().expect("the facts are sound")
            } else {
                published += 1;
                computed
            };
            let off = libm::fabs(expected / bytes.value - 1.0);
            if off > 0.02 {
                wrong.push(format!("{chosen}: {expected:.5e} for {:.5e}", bytes.value));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(published >= 6 && measured >= 18, "{published} published, {measured} measured");
}

#[test]
fn a_format_nobody_published_is_made_up_and_says_so() {
    let yi = checkpoint("yi-34b").expect("it is known");
    let four = yi.in_format(WeightFormat::Int4).expect("any format can be made up");
    assert_eq!((four.chosen, four.config.precision.as_str()), (None, "INT4"));
    assert!(four.files_line().starts_with("made up"));
    let (half, quarter) = (yi.computed_bytes(), four.computed_bytes());
    let share = quarter.expect("it is sound") / half.expect("it is sound");
    assert!((0.25..0.30).contains(&share), "{share}");
}

#[test]
fn every_model_of_the_page_has_its_architecture() {
    let catalog = builtin().expect("the catalogue is whole");
    for model in catalog.models() {
        let found = checkpoint(&model.slug).unwrap_or_else(|error| panic!("{error}"));
        let layers = &found.config.architecture.layers;
        assert_eq!(layers.len() as f64, model.layers.value, "{}", model.slug);
        let Mixer::Attention(attention) = &layers[0].mixers[0] else {
            panic!("{} has attention", model.slug);
        };
        assert_eq!(attention.kv_heads as f64, model.kv_heads.value, "{}", model.slug);
        assert_eq!(attention.key_dim as f64, model.head_dim.value, "{}", model.slug);
        assert_eq!(found.config.precision, model.precision, "{}", model.slug);
        for alias in &model.aliases {
            assert_eq!(checkpoint(alias).map(|it| it.slug).as_ref(), Ok(&found.slug), "{alias}");
        }
    }
    for gpu in catalog.gpus() {
        let found = device(&gpu.slug).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.memory_bytes.value, gpu.memory_bytes.value, "{}", gpu.slug);
        assert_eq!(found.peaks.bf16.value, gpu.peak_flops.value, "{}", gpu.slug);
        for alias in &gpu.aliases {
            assert_eq!(device(alias).map(|it| it.slug).as_ref(), Ok(&gpu.slug), "{alias}");
        }
    }
}

#[test]
fn memory_is_what_drivers_report() {
    let h100 = device("H100").expect("it is known");
    assert_eq!(h100.total_bytes, 79.19 * GIB);
    assert!(h100.is_measured && !h100.total_line().is_empty());
    // Known by its nominal memory alone.
    let other = device("mi300x").expect("it is in the catalogue");
    let gib = other.total_bytes / GIB;
    assert!((185.0..192.0).contains(&gib) && other.total_line().is_empty(), "{gib}");
    for found in search_devices("").expect("the data are whole") {
        let nominal = found.memory_bytes.value / 1e9 * GIB;
        let share = found.total_bytes / nominal;
        assert!((0.9..1.08).contains(&share), "{}: {share}", found.slug);
    }
}

/// Figures of one GPU suit one another.
#[test]
fn peaks_bandwidths_and_prices_are_in_order() {
    for found in search_devices("").expect("the data are whole") {
        let slug = &found.slug;
        let bf16 = found.peaks.bf16.value;
        for (peak, most) in
            [(&found.peaks.fp8, 2.1), (&found.peaks.int8, 4.1), (&found.peaks.fp4, 8.5)]
        {
            let Some(peak) = peak else { continue };
            let factor = peak.value / bf16;
            assert!((0.99..=most).contains(&factor), "{slug}: {factor}");
        }
        let bandwidth = found.bandwidth_bytes_per_s.value;
        assert!((2e11..=1e13).contains(&bandwidth), "{slug}");
        // What can be read in a second is from one to seventy times what it holds.
        let sweeps = bandwidth / found.memory_bytes.value;
        assert!((1.0..70.0).contains(&sweeps), "{slug}: {sweeps}");
        if let Some(link) = &found.link_bytes_per_s {
            assert!(link.value < bandwidth && link.value >= 3e10, "{slug}");
        }
        if let Some((low, high)) = &found.price_per_hour {
            assert!(low.value < high.value && high.value < 30.0, "{slug}");
            assert_eq!(low.citation.kind, FactKind::Assumed, "{slug}");
        }
    }
}

#[test]
fn what_is_from_memory_says_so() {
    let is_honest = |citation: &Citation| {
        (citation.source.title == "From memory, unverified") <= (citation.kind == FactKind::Assumed)
    };
    let (mut models, mut verified) = (0, 0);
    for checkpoint in all() {
        assert!(is_honest(&checkpoint.facts), "{}", checkpoint.slug);
        if let Some(params) = &checkpoint.params {
            assert!(is_honest(&params.total.citation), "{}", checkpoint.slug);
        }
        models += 1;
        verified += usize::from(checkpoint.facts.kind != FactKind::Assumed);
    }
    assert!(verified * 10 >= models * 8, "{verified} of {models}");
    for found in search_devices("").expect("the data are whole") {
        let facts =
            [Some(&found.peaks.bf16), found.peaks.fp8.as_ref(), found.link_bytes_per_s.as_ref()];
        for fact in facts.into_iter().flatten() {
            assert!(is_honest(&fact.citation), "{}", found.slug);
        }
    }
}

#[test]
fn an_unknown_name_gets_suggestions() {
    let Err(LookUpError::NotFound(error)) = checkpoint("llama-3.1-9b") else {
        panic!("there is none");
    };
    assert!(error.suggestions.iter().any(|slug| slug == "llama-3.1-8b"), "{error}");
    let Err(LookUpError::NotFound(error)) = device("h1000") else { panic!("there is none") };
    assert!(error.suggestions.iter().any(|slug| slug.starts_with("h100")), "{error}");
}
