//! `headroom memory`.

use std::{fs::File, io::Read as _, path::Path, process::ExitCode};

use catalog::{Checkpoint, Device, ModelConfig, WeightFormat};
use charts::{Style, memory_bar_svg, theme};
use report::{MemoryTelling, VersionSeen};
use sim_core::memory::{
    Architecture, Deployment, EngineVersion, Gpu, KvElement, MemoryPlan, WeightBytes, plan,
};

use crate::{
    args::{MemoryArgs, ThemeName},
    failure::Failure,
    input,
    memory_settings::{Settings, sentence},
    output,
};

/// The largest `config.json` of any model is a hundredth of this.
const MOST_BYTES: u64 = 8 << 20;
/// A node has no more GPUs, or two of them.
const MOST_GPUS: u64 = 16;

pub(crate) fn run(args: &MemoryArgs) -> Result<ExitCode, Failure> {
    let settings = Settings::of(&args.words)?;
    let mut model = model(args, &settings)?;
    if let Some(extra) = settings.whole("mtp_layers")? {
        add_speculative_layers(&mut model.architecture, extra)?;
    }
    let device = catalog::device(settings.text("gpu").unwrap_or("h100-sxm")).map_err(|error| {
        Failure::input(format!("{} headroom catalog gpus lists them.", sentence(&error)))
    })?;
    if args.versions {
        return versions(args, &settings, &model, &device);
    }
    let deployment = deployment(&settings, &model, &device)?;
    let found =
        plan(&model.architecture, &deployment).map_err(|error| Failure::input(sentence(&error)))?;
    if let Some(path) = &args.svg {
        draw(path, args, &found)?;
    }
    let fits = report::memory_fits(&found, &deployment);
    let remedies = if fits { Vec::new() } else { remedies(&model, &deployment, &found, &device) };
    let has_own_memory = settings.text("gpu_memory_gib").is_some();
    let telling = MemoryTelling {
        model: format!("{} in {}", model.name, model.precision),
        model_source: model.source,
        weights_source: model.weights_source,
        gpu_source: if has_own_memory { "given".to_owned() } else { device.total_line() },
        gpu: device.name,
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

/// Width of the bar and the room of its lines, CSS px.
const BAR_PX: (f64, f64) = (560.0, 210.0);

/// Draw the memory of one GPU.
fn draw(path: &Path, args: &MemoryArgs, plan: &MemoryPlan) -> Result<(), Failure> {
    let colours = match args.theme {
        ThemeName::Light => theme::LIGHT,
        ThemeName::Dark => theme::DARK,
    };
    let svg =
        memory_bar_svg(&report::memory_parts(plan), &colours, &Style::svg(BAR_PX.0, BAR_PX.1))
            .map_err(|error| Failure::input(error.to_string()))?;
    output::write_file(path, &svg)
}

/// Compare versions of the engine, from the one that is asked for to the last.
fn versions(
    args: &MemoryArgs,
    settings: &Settings,
    model: &Served,
    device: &Device,
) -> Result<ExitCode, Failure> {
    let first = match settings.text("engine") {
        Some(_) => settings.version()?,
        None => EngineVersion::MEASURED,
    };
    let base = deployment(settings, model, device)?;
    let mut found = Vec::new();
    for engine in catalog::engines().map_err(|error| Failure::input(sentence(&error)))? {
        if engine.rules.version < first {
            continue;
        }
        let mut deployment = deployment_of(settings, model, device, engine.rules.version)?;
        deployment.max_num_batched_tokens = base.max_num_batched_tokens;
        deployment.max_num_seqs = base.max_num_seqs;
        let plan = plan(&model.architecture, &deployment).map_err(|error| sentence(&error));
        found.push(VersionSeen { engine, plan, max_model_len: deployment.max_model_len });
    }
    let title = format!("{} in {} on {}", model.name, model.precision, device.name);
    output::print(&if args.json {
        report::versions_json(&title, &found)
    } else {
        report::versions_text(&title, &found)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What is served.
struct Served {
    name: String,
    precision: String,
    source: String,
    /// Where the format of the weights is known from.
    weights_source: String,
    architecture: Architecture,
    context_tokens: u64,
    weight_bytes: WeightBytes,
    kv_element: Option<KvElement>,
    /// The entry of the catalogue, where it is one.
    checkpoint: Option<Checkpoint>,
}

impl Served {
    /// Bytes of each parameter in another format: as published, where it is.
    fn bytes_in(&self, format: WeightFormat) -> WeightBytes {
        let known = self.checkpoint.as_ref().and_then(|it| it.in_format(format).ok());
        known.map_or(format.bytes(), |it| it.config.weight_bytes)
    }

    fn of(name: &str, source: String, config: ModelConfig) -> Self {
        Self {
            name: name.to_owned(),
            precision: config.precision,
            source,
            weights_source: String::new(),
            architecture: config.architecture,
            context_tokens: config.context_tokens,
            weight_bytes: config.weight_bytes,
            kv_element: config.kv_element,
            checkpoint: None,
        }
    }
}

/// The model by its file, its numbers or its name: one of the three.
fn model(args: &MemoryArgs, settings: &Settings) -> Result<Served, Failure> {
    let by_numbers = settings.architecture()?;
    let in_format = |served: Served| -> Result<Served, Failure> {
        let Some(format) = settings.format()? else { return Ok(served) };
        let weights_source = format!("made up: all projections in {}", format.name());
        let (precision, weight_bytes) = (format.name(), format.bytes());
        Ok(Served { precision, weight_bytes, weights_source, ..served })
    };
    match (&args.config, by_numbers, settings.text("model")) {
        (Some(path), None, None) => {
            let config = catalog::read_config(&config_text(path)?).map_err(|error| {
                Failure::input(format!("{}: {}", path.display(), sentence(&error)))
            })?;
            in_format(Served::of(&config.family.clone(), path.display().to_string(), config))
        }
        (None, Some(architecture), None) => in_format(Served {
            name: "The model".to_owned(),
            precision: "BF16".to_owned(),
            source: "as given by numbers".to_owned(),
            weights_source: String::new(),
            architecture,
            context_tokens: 8192,
            weight_bytes: WeightBytes::plain(2.0),
            kv_element: None,
            checkpoint: None,
        }),
        (None, None, Some(name)) => {
            let found = catalog::checkpoint(name).map_err(|error| {
                let other = "Any other model is read with --config from its config.json.";
                Failure::input(format!("{} {other}", sentence(&error)))
            })?;
            let found = match settings.format()? {
                Some(format) => {
                    found.in_format(format).map_err(|error| Failure::input(sentence(&error)))?
                }
                None => found,
            };
            let source = format!("{}: {}", found.facts.kind.word(), found.facts.line());
            let (weights_source, checkpoint) = (found.files_line(), Some(found.clone()));
            let served = Served::of(&found.slug, source, found.config);
            Ok(Served { weights_source, checkpoint, ..served })
        }
        (None, None, None) => {
            let slugs = catalog::checkpoint_slugs().map_err(|e| Failure::input(sentence(&e)))?;
            Err(Failure::input(format!(
                "Which model? Give model=, --config config.json, or layers=, kv_heads= and head_dim=. By name there are {}; headroom catalog models lists them.",
                slugs.len()
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

const fn gpu_of(device: &Device) -> Gpu {
    Gpu {
        total_bytes: device.total_bytes,
        has_fast_links: device.has_fast_links,
        is_measured: device.is_measured,
    }
}

fn deployment(settings: &Settings, model: &Served, device: &Device) -> Result<Deployment, Failure> {
    deployment_of(settings, model, device, settings.version()?)
}

fn deployment_of(
    settings: &Settings,
    model: &Served,
    device: &Device,
    version: EngineVersion,
) -> Result<Deployment, Failure> {
    let gpu = gpu_of(device);
    let max_model_len = settings.whole("max_model_len")?.unwrap_or(model.context_tokens);
    let mut deployment = Deployment::on(gpu, version, max_model_len);
    deployment.max_num_batched_tokens = device.max_num_batched_tokens;
    deployment.max_num_seqs = device.max_num_seqs;
    deployment.weight_bytes = model.weight_bytes;
    deployment.kv_element = model.kv_element.unwrap_or(KvElement::Bytes(2));
    settings.apply(&mut deployment, &model.architecture)?;
    Ok(deployment)
}

/// Single changes that make a request of the full length fit, the smallest of each kind. Each is tried.
fn remedies(
    model: &Served,
    deployment: &Deployment,
    found: &MemoryPlan,
    device: &Device,
) -> Vec<String> {
    let architecture = &model.architecture;
    let fits = |changed: &Deployment| {
        plan(architecture, changed).is_ok_and(|plan| report::memory_fits(&plan, changed))
    };
    let with = |change: &dyn Fn(&mut Deployment)| {
        let mut changed = deployment.clone();
        change(&mut changed);
        fits(&changed)
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
    let wider = (deployment.parallel.tp + 1..=MOST_GPUS)
        .find(|&tp| tp.is_power_of_two() && with(&|it: &mut Deployment| it.parallel.tp = tp));
    remedies.extend(wider.map(|tp| format!("tp={tp}")));
    // From the most bytes down: the least that precision has to be given up.
    let lighter =
        WeightFormat::ALL.into_iter().filter(|it| computes_in(device, *it)).find(|format| {
            let bytes = model.bytes_in(*format);
            bytes.mixing + bytes.experts
                < deployment.weight_bytes.mixing + deployment.weight_bytes.experts
                && with(&|it: &mut Deployment| it.weight_bytes = bytes)
        });
    remedies.extend(lighter.map(|format| format!("weights={format}")));
    let is_half = deployment.kv_element == KvElement::Bytes(2);
    if is_half && with(&|it: &mut Deployment| it.kv_element = KvElement::Bytes(1)) {
        remedies.push("kv_dtype=fp8".to_owned());
    }
    remedies.extend(larger_gpu(&fits, deployment, device));
    remedies
}

/// Whether a GPU has arithmetic for a format; weights of integers are unpacked on any.
const fn computes_in(device: &Device, format: WeightFormat) -> bool {
    match format {
        WeightFormat::Fp8 => device.peaks.fp8.is_some(),
        WeightFormat::Mxfp4 | WeightFormat::Nvfp4 => device.peaks.fp4.is_some(),
        WeightFormat::Fp32 | WeightFormat::Bf16 | WeightFormat::Int8 | WeightFormat::Int4 => true,
    }
}

/// The GPU of the same maker with the least memory on which it fits.
fn larger_gpu(
    fits: &dyn Fn(&Deployment) -> bool,
    deployment: &Deployment,
    device: &Device,
) -> Option<String> {
    let mut larger = catalog::search_devices("").ok()?;
    larger.retain(|it| it.maker == device.maker && it.total_bytes > deployment.gpu.total_bytes);
    larger.sort_by(|a, b| a.total_bytes.total_cmp(&b.total_bytes));
    let on = |it: &Device| {
        let mut changed = deployment.clone();
        changed.gpu = gpu_of(it);
        fits(&changed)
    };
    larger.iter().find(|it| on(it)).map(|it| format!("gpu={}", it.slug))
}
