//! How weights are stored and computed with.

use sim_core::step_time::kernel::{Format, Formats, GpuRates};

use super::{Deployment, Engine, Precision};

/// Share of the 16-bit rate where weights are widened first.
const WIDENED_SHARE: f64 = 0.75;
/// The same for weights that are almost of that width.
const NARROWED_SHARE: f64 = 0.8;

/// Formats of a deployment's weights. Embeddings and output projection are always in 16 bits. Keys and
/// values are in 8 bits where nobody said otherwise and the engine's builds of that checkpoint have them so.
#[must_use]
pub fn formats(deployment: &Deployment, gpu: &GpuRates) -> Formats {
    let half = Format { bytes: 2.0, flops: gpu.flops_16 * gpu.share_16 };
    let or_half = |bytes: f64, peak: f64, share: f64| Format {
        bytes,
        flops: if peak * share > 0.0 { peak * share } else { NARROWED_SHARE * half.flops },
    };
    let eight = or_half(1.0, gpu.flops_8, gpu.share_8);
    let four = or_half(0.5625, gpu.flops_4, gpu.share_4);
    let widened = Format { bytes: 0.52, flops: WIDENED_SHARE * half.flops };
    let is_blackwell = deployment.generation >= 10;
    let (mixing, dense, experts) = match deployment.precision {
        Precision::Half => (half, half, half),
        Precision::Fp8 => (eight, eight, eight),
        Precision::Nvfp4 if deployment.has_experts => (eight, four, four),
        Precision::Nvfp4 => (four, four, four),
        Precision::Mxfp4 => {
            let flops = if is_blackwell { eight.flops } else { widened.flops };
            (half, half, Format { bytes: 0.531, flops })
        }
        Precision::Int4 if deployment.has_experts => (half, widened, widened),
        Precision::Int4 => (widened, widened, widened),
    };
    let is_tensorrt = deployment.engine == Engine::TensorRt;
    let kv_bytes = match deployment.precision {
        Precision::Nvfp4 => 1.0,
        Precision::Fp8 if is_tensorrt || is_blackwell => 1.0,
        Precision::Mxfp4 if is_tensorrt => 1.0,
        _ => 2.0,
    };
    let kv_bytes = deployment.kv_bytes.unwrap_or(kv_bytes);
    Formats { mixing, dense, experts, head: half, kv_bytes }
}
