//! `headroom memory`.

use std::{fs::File, io::Read as _, path::Path, process::ExitCode};

use catalog::{Device, ModelConfig};
use report::MemoryTelling;
use sim_core::memory::{Architecture, Deployment, Gpu, KvElement, MemoryPlan, WeightBytes, plan};

use crate::{
    args::MemoryArgs,
    failure::Failure,
    input,
    memory_settings::{Settings, sentence},
    output,
};

/// The largest `config.json` of any model is a hundredth of this.
const MOST_BYTES: u64 = 8 << 20;

pub(crate) fn run(args: &MemoryArgs) -> Result<ExitCode, Failure> {
    let settings = Settings::of(&args.words)?;
    let mut model = model(args, &settings)?;
    if let Some(typed) = settings.text("weights") {
        model.precision = typed.to_ascii_uppercase();
    }
    if let Some(extra) = settings.whole("mtp_layers")? {
        add_speculative_layers(&mut model.architecture, extra)?;
    }
    let device = catalog::device(settings.text("gpu").unwrap_or("h100-sxm")).map_err(|error| {
        Failure::input(format!("{} headroom catalog gpus lists them.", sentence(&error)))
    })?;
    let deployment = deployment(&settings, &model, &device)?;
    let found =
        plan(&model.architecture, &deployment).map_err(|error| Failure::input(sentence(&error)))?;
    let fits = report::memory_fits(&found, &deployment);
    let remedies =
        if fits { Vec::new() } else { remedies(&model.architecture, &deployment, &found) };
    let has_own_memory = settings.text("gpu_memory_gib").is_some();
    let telling = MemoryTelling {
        model: format!("{} in {}", model.name, model.precision),
        model_source: model.source,
        gpu: device.name,
        gpu_source: if has_own_memory { "given".to_owned() } else { device.source },
        architecture: &model.architecture,
        deployment: &deployment,
        plan: &found,
        contexts: settings.contexts()?,
        remedies,
    };
    output::print(&if args.json {
        report::memory_json(&telling)
    } else {
        report::memory_text(&telling)
    })?;
    Ok(output::code(fits))
}

/// What is served.
struct Served {
    name: String,
    precision: String,
    source: String,
    architecture: Architecture,
    context_tokens: u64,
    weight_bytes: WeightBytes,
    kv_element: Option<KvElement>,
}

impl Served {
    fn of(name: &str, source: String, config: ModelConfig) -> Self {
        Self {
            name: name.to_owned(),
            precision: config.precision,
            source,
            architecture: config.architecture,
            context_tokens: config.context_tokens,
            weight_bytes: config.weight_bytes,
            kv_element: config.kv_element,
        }
    }
}

/// The model by its file, its numbers or its name: one of the three.
fn model(args: &MemoryArgs, settings: &Settings) -> Result<Served, Failure> {
    let by_numbers = settings.architecture()?;
    match (&args.config, by_numbers, settings.text("model")) {
        (Some(path), None, None) => {
            let config = catalog::read_config(&config_text(path)?).map_err(|error| {
                Failure::input(format!("{}: {}", path.display(), sentence(&error)))
            })?;
            Ok(Served::of(&config.family.clone(), path.display().to_string(), config))
        }
        (None, Some(architecture), None) => Ok(Served {
            name: "The model".to_owned(),
            precision: "BF16".to_owned(),
            source: "as given by numbers".to_owned(),
            architecture,
            context_tokens: 8192,
            weight_bytes: WeightBytes::plain(2.0),
            kv_element: None,
        }),
        (None, None, Some(name)) => {
            let found = catalog::checkpoint(name).map_err(|error| {
                let other = "Any other model is read with --config from its config.json.";
                Failure::input(format!("{} {other}", sentence(&error)))
            })?;
            let source = if found.date.is_empty() {
                found.source
            } else {
                format!("config.json of {}, {}", found.source, found.date)
            };
            Ok(Served::of(&found.slug, source, found.config))
        }
        (None, None, None) => {
            let slugs = catalog::checkpoint_slugs().map_err(|e| Failure::input(sentence(&e)))?;
            Err(Failure::input(format!(
                "Which model? Give model=, --config config.json, or layers=, kv_heads= and head_dim=. By name there are {}.",
                slugs.join(", ")
            )))
        }
        _ => Err(Failure::input(
            "Give one of model=, --config and layers=: each of them says what the model is.",
        )),
    }
}

/// The text of a `config.json`; no more is read than any has.
fn config_text(path: &Path) -> Result<String, Failure> {
    input::check_file(path)?;
    let failed = |error| Failure::reading(path, error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    let name = path.display();
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::input(format!(
            "{name} is larger than 8 MiB, so it is no config.json. Take the file config.json of the model’s repository, not its weights."
        )));
    }
    // Some editors put a mark in front.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    String::from_utf8(bytes.to_vec()).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        Failure::input(format!(
            "{name} is not text in UTF-8: byte {position} is not. Take the file config.json of the model’s repository."
        ))
    })
}

fn add_speculative_layers(architecture: &mut Architecture, extra: u64) -> Result<(), Failure> {
    if extra > 16 {
        return Err(Failure::input(format!("mtp_layers={extra}: it must be at most 16.")));
    }
    if let Some(last) = architecture.layers.last().cloned() {
        architecture.layers.extend(std::iter::repeat_n(last, extra as usize));
    }
    Ok(())
}

fn deployment(settings: &Settings, model: &Served, device: &Device) -> Result<Deployment, Failure> {
    let gpu = Gpu {
        total_bytes: device.total_bytes,
        has_fast_links: device.has_fast_links,
        is_measured: device.is_measured,
    };
    let max_model_len = settings.whole("max_model_len")?.unwrap_or(model.context_tokens);
    let mut deployment = Deployment::on(gpu, settings.version()?, max_model_len);
    deployment.max_num_batched_tokens = device.max_num_batched_tokens;
    deployment.max_num_seqs = device.max_num_seqs;
    deployment.weight_bytes = model.weight_bytes;
    deployment.kv_element = model.kv_element.unwrap_or(KvElement::Bytes(2));
    settings.apply(&mut deployment, &model.architecture)?;
    Ok(deployment)
}

/// Single changes that make a request of the full length fit. Each is tried.
fn remedies(
    architecture: &Architecture,
    deployment: &Deployment,
    found: &MemoryPlan,
) -> Vec<String> {
    let fits = |changed: &Deployment| {
        plan(architecture, changed).is_ok_and(|plan| report::memory_fits(&plan, changed))
    };
    let mut remedies = Vec::new();
    let longest = found.longest_request(deployment.max_model_len);
    if longest > 0 {
        remedies.push(format!("max_model_len={longest}"));
    }
    // What was logged holds for the division that it was logged with.
    let is_free = deployment.num_blocks.is_none() && deployment.given == Default::default();
    if !is_free {
        return remedies;
    }
    let wider = [2, 4, 8, 16].into_iter().filter(|&tp| tp > deployment.parallel.tp).find(|&tp| {
        let mut changed = deployment.clone();
        changed.parallel.tp = tp;
        fits(&changed)
    });
    remedies.extend(wider.map(|tp| format!("tp={tp}")));
    for (name, bytes) in [("fp8", 1.0), ("int4", 0.5 + 2.5 / 128.0)] {
        let mut changed = deployment.clone();
        changed.weight_bytes = WeightBytes::quantised(bytes, 2.0);
        if bytes < deployment.weight_bytes.mixing && fits(&changed) {
            remedies.push(format!("weights={name}"));
            break;
        }
    }
    let mut changed = deployment.clone();
    changed.kv_element = KvElement::Bytes(1);
    if deployment.kv_element == KvElement::Bytes(2) && fits(&changed) {
        remedies.push("kv_cache_dtype=fp8".to_owned());
    }
    remedies
}
