//! Settings of `headroom memory`, by the names that vLLM's own options have.

use std::fmt::Write as _;

use catalog::WeightFormat;
use sim_core::memory::{
    Architecture, Attention, Deployment, EngineVersion, FeedForward, GIB, KvElement,
    LatentAttention, Layer, Mixer, Reach,
};

use crate::{failure::Failure, output};

/// A setting and what it is.
struct Setting {
    key: &'static str,
    help: &'static str,
}

const fn setting(key: &'static str, help: &'static str) -> Setting {
    Setting { key, help }
}

const SETTINGS: [Setting; 38] = [
    setting("model", "A checkpoint whose architecture is known, for example llama-3.1-8b."),
    setting("gpu", "A GPU of the catalogue [h100-sxm]."),
    setting("engine", "vllm@0.11 to vllm@0.33 [vllm@0.33]."),
    setting("tp", "Tensor-parallel ranks [1]."),
    setting("pp", "Pipeline stages [1]."),
    setting("dp", "Data-parallel replicas of attention that share the experts [1]."),
    setting("dcp", "Ranks that share the tokens of a request (decode context parallel) [1]."),
    setting("ep", "Whether ranks hold whole experts [false]."),
    setting("max_model_len", "Longest request, tokens [the model’s context]."),
    setting("context", "Also tell how many requests of so many tokens fit; several with commas."),
    setting("max_num_batched_tokens", "Most tokens of a step [the engine’s choice for the GPU]."),
    setting("max_num_seqs", "Most requests at once [the engine’s choice for the GPU]."),
    setting(
        "gpu_memory_utilization",
        "Share of the memory that the engine takes [of the version].",
    ),
    setting("weights", "bf16, fp8, int8, int4, nvfp4, mxfp4 or fp32 [of the checkpoint]."),
    setting(
        "kv_cache_dtype",
        "auto, bf16, fp8, fp8_ds_mla, fp8_per_token_head, nvfp4 or fp32; also kv_dtype [auto].",
    ),
    setting("block_size", "Tokens of a block [16; 64 for sparse latent attention]."),
    setting("num_gpu_blocks", "Blocks as the engine logged them, in place of computed ones."),
    setting(
        "enable_prefix_caching",
        "Whether states of recurrent layers are kept [of the version].",
    ),
    setting("hybrid_allocator", "Whether layers with windows keep less [true]."),
    setting("speculative_tokens", "Tokens drafted in a step [0]."),
    setting("mtp_layers", "Speculative layers that keep a cache like the last one [0]."),
    setting("enforce_eager", "Whether CUDA graphs are left out [false]."),
    setting("gpu_memory_gib", "Memory that the driver reports, GiB."),
    setting("weights_gib", "Weights of one GPU as logged, GiB."),
    setting("activation_gib", "Peak of activations as logged, GiB."),
    setting("non_torch_gib", "What lies outside the framework as logged, GiB."),
    setting("graphs_gib", "What is kept for CUDA graphs, GiB."),
    setting("kv_cache_gib", "Available KV cache memory as logged, GiB."),
    setting("layers", "In place of a model: how many layers."),
    setting("sliding_layers", "How many of them have a window [0]."),
    setting("window", "Tokens of the window."),
    setting("chunked_layers", "How many of them attend within chunks [0]."),
    setting("chunk", "Tokens of a chunk."),
    setting("kv_heads", "Key-value heads."),
    setting("head_dim", "Elements of a head."),
    setting("latent_dim", "In place of heads: cached elements of latent attention (MLA)."),
    setting("hidden_size", "Width of the residual stream, for activations and weights [0]."),
    setting("vocab_size", "Tokens of the vocabulary, for activations and weights [0]."),
];

/// More memory than any GPU will have, GiB.
const MOST_GIB: f64 = 1e6;

/// Settings that are those of an architecture given by numbers.
const OF_LAYERS: [&str; 9] = [
    "sliding_layers",
    "window",
    "chunked_layers",
    "chunk",
    "kv_heads",
    "head_dim",
    "latent_dim",
    "hidden_size",
    "vocab_size",
];

/// Names of settings in scenarios, and those that vLLM has for them.
const SHORT_NAMES: [(&str, &str); 4] = [
    ("deploy.tp", "tp"),
    ("kv_dtype", "kv_cache_dtype"),
    ("kv.num_gpu_blocks", "num_gpu_blocks"),
    ("sched.max_num_seqs", "max_num_seqs"),
];

/// All settings, for the long help.
pub(crate) fn list() -> String {
    let mut text = String::from("Settings (key=value; [default]):\n");
    for Setting { key, help } in &SETTINGS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {key}\n      {help}");
    }
    text
}

/// What was typed, each key once.
pub(crate) struct Settings(Vec<(&'static str, String)>);

impl Settings {
    /// Take words apart. A key may have hyphens; a later value wins.
    pub(crate) fn of(words: &[String]) -> Result<Self, Failure> {
        let mut settings = Vec::new();
        for word in words {
            let Some((typed, value)) = word.split_once('=') else {
                return Err(Failure::input(format!(
                    "“{word}” is no setting. A setting is written key=value, for example tp=2."
                )));
            };
            let mut key = typed.trim().to_ascii_lowercase().replace('-', "_");
            if let Some((_, name)) = SHORT_NAMES.iter().find(|(short, _)| *short == key) {
                key = (*name).to_owned();
            }
            let Some(known) = SETTINGS.iter().find(|it| it.key == key) else {
                let keys = SETTINGS.iter().map(|it| it.key);
                let near = catalog::nearest(&key.replace('_', "-"), keys, 1);
                let meant = near.first().map_or_else(
                    || "headroom memory --help lists all settings.".to_owned(),
                    |key| format!("Did you mean {key}?"),
                );
                return Err(Failure::input(format!("There is no setting “{typed}”. {meant}")));
            };
            settings.retain(|(key, _)| *key != known.key);
            settings.push((known.key, value.trim().to_owned()));
        }
        let settings = Self(settings);
        settings.check()?;
        settings.tell_idle();
        Ok(settings)
    }

    /// Tell of numbers of an architecture that have no effect.
    fn tell_idle(&self) {
        if self.text("layers").is_some() {
            return;
        }
        for (key, value) in self.0.iter().filter(|(key, _)| OF_LAYERS.contains(key)) {
            output::note(&format!(
                "{key}={value} has no effect without layers; give layers, kv_heads and head_dim in \
                 place of a model to use it."
            ));
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn whole(&self, key: &str) -> Result<Option<u64>, Failure> {
        let read = |value: &str| {
            let read = crate::typed::whole(&value.replace('_', ""));
            read.ok_or_else(|| refused(key, value, "a whole number, for example 4"))
        };
        self.text(key).map(read).transpose()
    }

    fn several(&self, key: &str) -> Result<Vec<u64>, Failure> {
        let read = |value: &str| {
            let tokens = value.trim().parse().ok().filter(|tokens| *tokens > 0);
            tokens.ok_or_else(|| refused(key, value, "1 token or more, for example 4096,8192"))
        };
        self.text(key).map_or(Ok(Vec::new()), |value| value.split(',').map(read).collect())
    }

    fn number(&self, key: &str) -> Result<Option<f64>, Failure> {
        let read = |value: &str| match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(refused(key, value, "a number, for example 0.9")),
        };
        self.text(key).map(read).transpose()
    }

    fn bytes(&self, key: &str) -> Result<Option<f64>, Failure> {
        let read = |value: &str| match value.parse::<f64>() {
            Ok(gib) if (0.0..=MOST_GIB).contains(&gib) => Ok(gib * GIB),
            _ => Err(refused(key, value, "GiB from 0 to 1,000,000, for example 14.99")),
        };
        self.text(key).map(read).transpose()
    }

    /// Read every value that is no word, whether or not anything will ask for it.
    fn check(&self) -> Result<(), Failure> {
        for (key, value) in &self.0 {
            match *key {
                "model" | "gpu" | "engine" | "weights" | "kv_cache_dtype" => {}
                "context" => drop(self.several(key)?),
                "ep" | "enable_prefix_caching" | "hybrid_allocator" | "enforce_eager" => {
                    self.flag(key)?;
                }
                "gpu_memory_utilization" => {
                    let share = self.number(key)?.unwrap_or_default();
                    if share <= 0.0 || share > 1.0 {
                        return Err(refused(
                            key,
                            value,
                            "a share above 0 and up to 1, for example 0.9",
                        ));
                    }
                }
                "gpu_memory_gib" if self.bytes(key)? == Some(0.0) => {
                    return Err(refused(key, value, "GiB above 0, for example 79.19"));
                }
                key if key.ends_with("_gib") => drop(self.bytes(key)?),
                key => drop(self.whole(key)?),
            }
        }
        Ok(())
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, Failure> {
        let read = |value: &str| match value.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(true),
            "false" | "no" | "off" | "0" => Ok(false),
            _ => Err(refused(key, value, "true or false")),
        };
        self.text(key).map(read).transpose()
    }

    /// The engine's version.
    pub(crate) fn version(&self) -> Result<EngineVersion, Failure> {
        let read = |value: &str| value.parse();
        let version = self.text("engine").map_or(Ok(EngineVersion::LAST), read);
        version.map_err(|error: sim_core::memory::MemoryError| Failure::input(sentence(&error)))
    }

    /// Contexts to tell about, tokens.
    pub(crate) fn contexts(&self) -> Result<Vec<u64>, Failure> {
        self.several("context")
    }

    /// How weights are to be stored, where that was typed.
    pub(crate) fn format(&self) -> Result<Option<WeightFormat>, Failure> {
        let read = |value: &str| {
            value.parse().map_err(|error| Failure::input(format!("weights={value}: {error}.")))
        };
        self.text("weights").map(read).transpose()
    }

    /// How keys and values are stored, where that was typed. FP8 of sparse latent attention has a
    /// layout of its own.
    fn kv_element(&self, architecture: &Architecture) -> Result<Option<KvElement>, Failure> {
        let is_sparse = architecture
            .layers
            .iter()
            .flat_map(|layer| &layer.mixers)
            .any(|mixer| matches!(mixer, Mixer::Latent(latent) if latent.indexer.is_some()));
        let read = |value: &str| match value.to_ascii_lowercase().as_str() {
            "auto" => Ok(None),
            "bf16" | "fp16" | "bfloat16" | "float16" => Ok(Some(KvElement::Bytes(2))),
            "fp32" | "float32" => Ok(Some(KvElement::Bytes(4))),
            "fp8" | "fp8_e4m3" | "fp8_e5m2" if is_sparse => Ok(Some(KvElement::SparseLatentFp8)),
            "fp8" | "fp8_e4m3" | "fp8_e5m2" => Ok(Some(KvElement::Bytes(1))),
            "fp8_ds_mla" => Ok(Some(KvElement::SparseLatentFp8)),
            "fp8_per_token_head" | "int8_per_token_head" => Ok(Some(KvElement::ScaledPerTokenHead)),
            "nvfp4" => Ok(Some(KvElement::Nvfp4)),
            _ => Err(refused(
                "kv_cache_dtype",
                value,
                "auto, bf16, fp8, fp8_ds_mla, fp8_per_token_head, nvfp4 or fp32",
            )),
        };
        self.text("kv_cache_dtype").map_or(Ok(None), read)
    }

    /// Put all that was typed into a deployment.
    pub(crate) fn apply(
        &self,
        deployment: &mut Deployment,
        architecture: &Architecture,
    ) -> Result<(), Failure> {
        let parallel = &mut deployment.parallel;
        put(&mut parallel.tp, self.whole("tp")?);
        put(&mut parallel.pp, self.whole("pp")?);
        put(&mut parallel.dp, self.whole("dp")?);
        put(&mut parallel.dcp, self.whole("dcp")?);
        put(&mut parallel.has_expert_parallelism, self.flag("ep")?);
        put(&mut deployment.max_num_batched_tokens, self.whole("max_num_batched_tokens")?);
        put(&mut deployment.max_num_seqs, self.whole("max_num_seqs")?);
        put(&mut deployment.utilization, self.number("gpu_memory_utilization")?);
        put(&mut deployment.kv_element, self.kv_element(architecture)?);
        put(&mut deployment.caches_states, self.flag("enable_prefix_caching")?);
        put(&mut deployment.has_hybrid_allocator, self.flag("hybrid_allocator")?);
        put(&mut deployment.drafted_tokens, self.whole("speculative_tokens")?);
        if self.flag("enforce_eager")? == Some(true) {
            deployment.has_cuda_graphs = false;
        }
        put(&mut deployment.gpu.total_bytes, self.bytes("gpu_memory_gib")?);
        deployment.block_tokens = self.whole("block_size")?;
        deployment.num_blocks = self.whole("num_gpu_blocks")?;
        let given = &mut deployment.given;
        given.weights_bytes = self.bytes("weights_gib")?;
        given.activation_bytes = self.bytes("activation_gib")?;
        given.non_torch_bytes = self.bytes("non_torch_gib")?;
        given.graph_bytes = self.bytes("graphs_gib")?;
        given.kv_bytes = self.bytes("kv_cache_gib")?;
        Ok(())
    }

    /// The architecture that is given by numbers alone, where it is.
    pub(crate) fn architecture(&self) -> Result<Option<Architecture>, Failure> {
        let Some(layers) = self.whole("layers")? else { return Ok(None) };
        let needed = |key: &str| {
            self.whole(key)?.ok_or_else(|| {
                Failure::input(format!("layers={layers} alone says too little. Give {key}, too."))
            })
        };
        let of = |reach: Reach| -> Result<Mixer, Failure> {
            if let Some(dim) = self.whole("latent_dim")? {
                return Ok(Mixer::Latent(LatentAttention {
                    heads: 0,
                    q_rank: 0,
                    kv_rank: dim,
                    rope_dim: 0,
                    nope_dim: 0,
                    value_dim: 0,
                    indexer: None,
                }));
            }
            let full = Attention::full(0, needed("kv_heads")?, needed("head_dim")?);
            Ok(Mixer::Attention(Attention { reach, ..full }))
        };
        let sliding = self.whole("sliding_layers")?.unwrap_or(0);
        let chunked = self.whole("chunked_layers")?.unwrap_or(0);
        let full = layers.checked_sub(sliding).and_then(|rest| rest.checked_sub(chunked));
        // A number of layers beyond reach is refused by the model itself, but not before they exist.
        let Some(full) = full.filter(|_| layers <= 4096) else {
            let must_be = "from 1 to 4096, and no less than sliding_layers and chunked_layers";
            return Err(refused("layers", &layers.to_string(), must_be));
        };
        let mut all = Vec::new();
        let mut add = |count: u64, mixer: Mixer| {
            let layer = Layer { mixers: vec![mixer], feed_forward: FeedForward::None };
            all.extend(std::iter::repeat_n(layer, count as usize));
        };
        if sliding > 0 {
            add(sliding, of(Reach::Window(needed("window")?))?);
        }
        if chunked > 0 {
            add(chunked, of(Reach::Chunk(needed("chunk")?))?);
        }
        if full > 0 {
            add(full, of(Reach::Full)?);
        }
        Ok(Some(Architecture {
            hidden_size: self.whole("hidden_size")?.unwrap_or(0),
            vocab_size: self.whole("vocab_size")?.unwrap_or(0),
            layers: all,
            ..Architecture::default()
        }))
    }
}

fn put<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn refused(key: &str, value: &str, must_be: &str) -> Failure {
    let shown: String = value.chars().take(40).collect();
    let rest = if shown.len() < value.len() { "…" } else { "" };
    Failure::input(format!("{key}={shown}{rest}: it must be {must_be}."))
}

/// An error as a sentence.
pub(crate) fn sentence(error: &dyn std::fmt::Display) -> String {
    output::sentence(&error.to_string())
}
