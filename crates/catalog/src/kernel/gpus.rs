//! GPUs whose kernels were timed.

use serde::Deserialize;
use sim_core::step_time::kernel::{GpuRates, Reduction};

use super::KernelDataError;
use crate::suggest::normalised;

const GPUS: &str = include_str!("../../../../assets/kernel/gpus.json");

#[derive(Deserialize)]
struct Gpus {
    gpus: Vec<KernelGpu>,
}

/// A GPU as its kernels were timed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct KernelGpu {
    /// Stable name, that of the catalogue.
    pub slug: String,
    /// Names in files of measured runs.
    pub names: Vec<String>,
    /// Memory in units of 10⁹ bytes.
    pub memory_gb: f64,
    /// 8 for Ampere and Ada, 9 for Hopper, 10 for Blackwell.
    pub generation: u64,
    /// What its shares rest on: “kernel timings”, or what they were copied from.
    pub evidence: String,
    tflops_16: f64,
    tflops_8: f64,
    tflops_4: f64,
    bandwidth_gb_s: f64,
    share_16: f64,
    share_8: f64,
    share_4: f64,
    bandwidth_share: f64,
    cache_share: f64,
    reduce_us: [[f64; 13]; 3],
}

impl KernelGpu {
    /// Its rates in SI units.
    #[must_use]
    pub fn rates(&self) -> GpuRates {
        let reduce =
            |at: usize| Reduction { times_s: self.reduce_us[at].map(|time_us| time_us * 1e-6) };
        GpuRates {
            flops_16: self.tflops_16 * 1e12,
            flops_8: self.tflops_8 * 1e12,
            flops_4: self.tflops_4 * 1e12,
            bandwidth_bytes_per_s: self.bandwidth_gb_s * 1e9,
            share_16: self.share_16,
            share_8: self.share_8,
            share_4: self.share_4,
            bandwidth_share: self.bandwidth_share,
            cache_share: self.cache_share,
            reduce: [reduce(0), reduce(1), reduce(2)],
        }
    }
}

/// All GPUs with rates, in the order of the data.
///
/// # Errors
/// If the compiled-in data are broken.
pub fn kernel_gpus() -> Result<Vec<KernelGpu>, KernelDataError> {
    serde_json::from_str::<Gpus>(GPUS)
        .map(|it| it.gpus)
        .map_err(|error| KernelDataError::Broken(error.to_string()))
}

/// A GPU by its slug or a name in files of measured runs.
///
/// # Errors
/// If its kernels were never timed, or the compiled-in data are broken.
pub fn kernel_gpu(name: &str) -> Result<KernelGpu, KernelDataError> {
    let wanted = normalised(name);
    let all = kernel_gpus()?;
    let is_wanted = |gpu: &&KernelGpu| {
        gpu.slug == wanted || gpu.names.iter().any(|name| normalised(name) == wanted)
    };
    if let Some(found) = all.iter().find(is_wanted) {
        return Ok(found.clone());
    }
    let known = all.iter().map(|gpu| gpu.slug.as_str()).collect::<Vec<_>>().join(", ");
    Err(KernelDataError::UnknownGpu { name: name.to_owned(), known })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

    use super::*;

    #[test]
    fn gpus_are_found_by_slug_and_by_name_of_a_measured_run() {
        assert_eq!(kernel_gpu("H100-SXM").unwrap().generation, 9);
        assert_eq!(kernel_gpu("b200-sxm").unwrap().memory_gb, 192.0);
        let error = kernel_gpu("abacus").unwrap_err().to_string();
        assert!(error.contains("h100-sxm") && error.contains("roofline"), "{error}");
    }

    #[test]
    fn a_larger_message_never_takes_less() {
        for gpu in kernel_gpus().unwrap() {
            for curve in gpu.rates().reduce {
                assert!(curve.times_s.windows(2).all(|pair| pair[0] <= pair[1]), "{}", gpu.slug);
            }
        }
    }
}
