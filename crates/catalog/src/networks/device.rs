//! GPUs and other accelerators as an engine sees them, with what their makers print.

use std::sync::OnceLock;

use serde::Deserialize;
use sim_core::memory::GIB;

use super::{
    Citation, Fact, FactKind, LookUpError,
    source::{RawFact, Source, source},
};
use crate::{
    Figure, FigureKind, NotFound, builtin,
    suggest::{nearest_slugs, normalised, ranked},
};

const DEVICES: &str = include_str!("../../../../assets/catalog/devices.json");
/// Of nominal memory in GiB, what drivers report of it: between 0.979 (RTX 4090) and 0.991 (H200).
const REPORTED_SHARE: f64 = 0.985;

/// A GPU as an engine sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Stable name.
    pub slug: String,
    /// Name with its memory: “H100 SXM 80 GB”.
    pub name: String,
    /// Name in sentences: “H100”.
    pub short_name: String,
    /// Who makes it.
    pub maker: String,
    /// Other names that find it.
    pub aliases: Vec<String>,
    /// Nominal memory, bytes.
    pub memory_bytes: Fact,
    /// Memory that the driver reports, bytes.
    pub total_bytes: f64,
    /// Where that is said; `None` where it follows from the nominal memory.
    pub total_source: Option<Citation>,
    /// Memory bandwidth, bytes per second.
    pub bandwidth_bytes_per_s: Fact,
    /// Dense peaks by precision, FLOP/s or operations per second.
    pub peaks: Peaks,
    /// How GPUs of a node are linked, in words.
    pub interconnect: String,
    /// Bandwidth of the links of one GPU, bytes per second, as the source counts.
    pub link_bytes_per_s: Option<Fact>,
    /// What an hour costs, US dollars, from the lowest to the highest: an assumption to edit.
    pub price_per_hour: Option<(Fact, Fact)>,
    /// Whether GPUs of a node reduce over NVLink or its like.
    pub has_fast_links: bool,
    /// The most tokens of a step that vLLM's server chooses.
    pub max_num_batched_tokens: u64,
    /// The most requests at once that it chooses.
    pub max_num_seqs: u64,
    /// Whether the engine's fixed costs were measured on it.
    pub is_measured: bool,
}

/// Dense peaks, without sparsity.
#[derive(Clone, Debug, PartialEq)]
pub struct Peaks {
    /// BF16; FP16 where there is no BF16.
    pub bf16: Fact,
    /// FP8, where it computes in it.
    pub fp8: Option<Fact>,
    /// FP4, where it computes in it.
    pub fp4: Option<Fact>,
    /// INT8, where it is known.
    pub int8: Option<Fact>,
}

#[derive(Deserialize)]
struct RawDevices {
    devices: Vec<RawDevice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDevice {
    slug: String,
    name: String,
    short_name: String,
    maker: String,
    aliases: Vec<String>,
    // What the page's own list has is not said again.
    memory_bytes: Option<RawFact>,
    driver_gib: Option<RawFact>,
    bandwidth_bytes_per_s: Option<RawFact>,
    bf16_flops: Option<RawFact>,
    fp8_flops: Option<RawFact>,
    fp4_flops: Option<RawFact>,
    int8_ops: Option<RawFact>,
    interconnect: String,
    link_bytes_per_s: Option<RawFact>,
    price_low: Option<RawFact>,
    price_high: Option<RawFact>,
    has_fast_links: bool,
    max_num_batched_tokens: Option<u64>,
    max_num_seqs: Option<u64>,
    #[serde(default)]
    is_measured: bool,
}

impl RawDevice {
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.slug.as_str()).chain(self.aliases.iter().map(String::as_str))
    }

    fn is_named(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    fn search_text(&self) -> String {
        format!(
            "{} {} {} {} {}",
            self.slug,
            self.name,
            self.maker,
            self.aliases.join(" "),
            self.interconnect
        )
    }

    fn build(&self) -> Result<Device, LookUpError> {
        let broken = |problem: &str| LookUpError::Broken(format!("{}: {problem}", self.slug));
        let page = builtin().map_err(|error| broken(&error.to_string()))?;
        let page = page.gpus().iter().find(|gpu| gpu.slug == self.slug);
        let fact =
            |raw: &Option<RawFact>| raw.as_ref().map(|raw| raw.build(&self.slug)).transpose();
        let needed = |raw: &Option<RawFact>, figure: Option<&Figure>, what: &str| {
            let from_page = figure.map(of_page).transpose()?;
            fact(raw)?.or(from_page).ok_or_else(|| broken(&format!("it has no {what}")))
        };
        let memory_bytes = needed(&self.memory_bytes, page.map(|gpu| &gpu.memory_bytes), "memory")?;
        let driver = fact(&self.driver_gib)?;
        let nominal_gb = memory_bytes.value / 1e9;
        let is_large = nominal_gb >= 70.0;
        let (tokens, requests) = match nominal_gb {
            gb if gb >= 160.0 => (16_384, 1024),
            _ if is_large => (8192, 1024),
            _ => (2048, 256),
        };
        let prices = fact(&self.price_low)?.zip(fact(&self.price_high)?);
        Ok(Device {
            slug: self.slug.clone(),
            name: self.name.clone(),
            short_name: self.short_name.clone(),
            maker: self.maker.clone(),
            aliases: self.aliases.clone(),
            total_bytes: driver.as_ref().map_or(nominal_gb * REPORTED_SHARE, |driver| driver.value)
                * GIB,
            total_source: driver.map(|driver| driver.citation),
            bandwidth_bytes_per_s: needed(
                &self.bandwidth_bytes_per_s,
                page.map(|gpu| &gpu.bandwidth_bytes_per_s),
                "bandwidth",
            )?,
            peaks: Peaks {
                bf16: needed(&self.bf16_flops, page.map(|gpu| &gpu.peak_flops), "peak")?,
                fp8: fact(&self.fp8_flops)?,
                fp4: fact(&self.fp4_flops)?,
                int8: fact(&self.int8_ops)?,
            },
            memory_bytes,
            interconnect: self.interconnect.clone(),
            link_bytes_per_s: fact(&self.link_bytes_per_s)?,
            price_per_hour: prices,
            has_fast_links: self.has_fast_links,
            max_num_batched_tokens: self.max_num_batched_tokens.unwrap_or(tokens),
            max_num_seqs: self.max_num_seqs.unwrap_or(requests),
            is_measured: self.is_measured,
        })
    }
}

/// A figure of the page's own list.
fn of_page(figure: &Figure) -> Result<Fact, LookUpError> {
    let address = source("datasheet", "the page’s list")?.address;
    let source = Source {
        title: figure.source.clone(),
        address,
        date: figure.date.clone(),
        read: String::new(),
    };
    let kind = match figure.kind {
        FigureKind::Published => FactKind::Published,
        FigureKind::Derived => FactKind::Derived,
    };
    let citation = Citation { kind, source, at: String::new(), note: figure.note.clone() };
    Ok(Fact { value: figure.value, citation })
}

impl Device {
    /// Where the memory that the driver reports is known from; empty where it follows from the nominal
    /// memory.
    #[must_use]
    pub fn total_line(&self) -> String {
        self.total_source.as_ref().map(Citation::line).unwrap_or_default()
    }
}

/// Find a GPU by its slug or an alias, whatever the case. One whose reported memory is not known has
/// what others report of theirs.
///
/// # Errors
///
/// If there is none; the error holds the nearest slugs.
pub fn device(name: &str) -> Result<Device, LookUpError> {
    let all = raw_devices()?;
    let wanted = normalised(name);
    match all.iter().find(|raw| raw.is_named(&wanted)) {
        Some(raw) => raw.build(),
        None => {
            let names =
                all.iter().flat_map(|raw| raw.names().map(|name| (name, raw.slug.as_str())));
            let suggestions = nearest_slugs(&wanted, names, 3);
            Err(NotFound { what: "GPU", name: name.to_owned(), suggestions }.into())
        }
    }
}

/// GPUs that match what was typed, best first; all of them for an empty query.
///
/// # Errors
///
/// If the compiled-in data are broken.
pub fn search_devices(query: &str) -> Result<Vec<Device>, LookUpError> {
    ranked(query, raw_devices()?, RawDevice::search_text)
        .into_iter()
        .map(RawDevice::build)
        .collect()
}

fn raw_devices() -> Result<&'static [RawDevice], LookUpError> {
    static ALL: OnceLock<Result<RawDevices, String>> = OnceLock::new();
    let read = || serde_json::from_str(DEVICES).map_err(|error| format!("devices.json: {error}"));
    match ALL.get_or_init(read) {
        Ok(raw) => Ok(&raw.devices),
        Err(error) => Err(LookUpError::Broken(error.clone())),
    }
}
