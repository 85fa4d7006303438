//! Networks and GPUs of measured runs.

use serde::Deserialize;
use serde_json::{Map, Value};
use sim_core::{
    memory::Architecture,
    step_time::kernel::{GpuRates, Reduction},
};

const NETWORKS: &str = include_str!("../../../assets/kernel/networks.json");
const GPUS: &str = include_str!("../../../assets/kernel/gpus.json");

#[derive(Deserialize)]
struct Networks {
    checkpoints: Vec<Network>,
}

#[derive(Deserialize)]
struct Network {
    slug: String,
    repository: String,
    aliases: Vec<String>,
    config: Map<String, Value>,
}

#[derive(Deserialize)]
struct Gpus {
    gpus: Vec<GpuFacts>,
}

/// A GPU as the data tell it.
#[derive(Clone, Deserialize)]
pub struct GpuFacts {
    slug: String,
    names: Vec<String>,
    /// Memory in units of 10⁹ bytes.
    pub memory_gb: f64,
    tflops_16: f64,
    tflops_8: f64,
    tflops_4: f64,
    bandwidth_gb_s: f64,
    share_16: f64,
    share_8: f64,
    share_4: f64,
    bandwidth_share: f64,
    reduce_us: [[f64; 13]; 3],
}

impl GpuFacts {
    /// Its rates in SI units.
    pub fn rates(&self) -> GpuRates {
        let reduce = |at: usize| Reduction { times_s: self.reduce_us[at].map(|time| time * 1e-6) };
        GpuRates {
            flops_16: self.tflops_16 * 1e12,
            flops_8: self.tflops_8 * 1e12,
            flops_4: self.tflops_4 * 1e12,
            bandwidth_bytes_per_s: self.bandwidth_gb_s * 1e9,
            share_16: self.share_16,
            share_8: self.share_8,
            share_4: self.share_4,
            bandwidth_share: self.bandwidth_share,
            cache_share: 0.85,
            reduce: [reduce(0), reduce(1), reduce(2)],
        }
    }
}

/// All GPUs.
pub fn gpus() -> Vec<GpuFacts> {
    serde_json::from_str::<Gpus>(GPUS).map(|it| it.gpus).unwrap_or_default()
}

/// The GPU that a run names.
pub fn gpu<'a>(all: &'a [GpuFacts], name: &str) -> Option<&'a GpuFacts> {
    all.iter().find(|it| it.slug == name || it.names.iter().any(|known| known == name))
}

/// The network that a run's checkpoint has.
pub fn network(model: &str) -> Option<Architecture> {
    let lower = model.to_lowercase();
    let tail = lower.rsplit('/').next().unwrap_or(&lower);
    let bare = ["-instruct-2507-fp8", "-instruct-2507", "-fp8-kv", "-instruct", "-fp8", "-nvfp4", "-awq", "-hf", "-v0.1", "-0528"]
        .iter()
        .fold(tail.to_owned(), |name, end| name.strip_suffix(end).unwrap_or(&name).to_owned());
    let bare = match bare.as_str() {
        "glm-5.2" => "glm-5",
        "deepseek-v3.1" | "deepseek-v3.2" => "deepseek-v3",
        other => other,
    };
    let own = serde_json::from_str::<Networks>(NETWORKS).map(|it| it.checkpoints).unwrap_or_default();
    let found = own.iter().find(|it| {
        it.slug == bare || it.repository == model || it.aliases.iter().any(|alias| alias == model)
    });
    if let Some(found) = found {
        let text = serde_json::to_string(&found.config).ok()?;
        return match catalog::read_config(&text) {
            Ok(c) => Some(c.architecture),
            Err(e) => { eprintln!("{model}: {e}"); None }
        };
    }
    let named = catalog::checkpoint(bare).or_else(|_| catalog::checkpoint(model));
    named.ok().map(|checkpoint| checkpoint.config.architecture)
}
