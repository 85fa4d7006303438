//! Published start-ups of serving engines, stage by stage.
//!
//! Of each: what was measured, on what, and by whom. A stage that was not measured on its own is part
//! of the one that says so; what was not measured at all takes no time, so that the sum is what was
//! measured. Node provisioning is the cloud's and in none of them.

use sim_core::fleet::start_up::{StageTime, StartUp};

/// A measured start-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColdStart {
    /// Its stable name.
    pub slug: &'static str,
    /// What was started, where and from what.
    pub what: &'static str,
    /// The stages.
    pub start_up: StartUp,
    /// The whole from the container's schedule (or the process' start, where that is said) to
    /// readiness as it was measured, in seconds; `None` where only stages were.
    pub measured_s: Option<f64>,
    /// Where it is from.
    pub source: &'static str,
}

const fn stages(image_pull_s: f64, weights_s: f64, engine_start_s: f64, compile_s: f64) -> StartUp {
    StartUp {
        image_pull: StageTime::Fixed(image_pull_s),
        image_pull_cached: StageTime::NONE,
        weights: StageTime::Fixed(weights_s),
        engine_start: StageTime::Fixed(engine_start_s),
        compile: StageTime::Fixed(compile_s),
        compile_cached: StageTime::Fixed(compile_s),
        readiness_period_s: 0.0,
    }
}

/// All of them.
#[must_use]
pub const fn cold_starts() -> &'static [ColdStart] {
    &COLD_STARTS
}

/// The one of that name.
#[must_use]
pub fn cold_start(slug: &str) -> Option<&'static ColdStart> {
    COLD_STARTS.iter().find(|start| start.slug == slug)
}

const LLM_D: &str = "llm-d/llm-d guides/gke-pod-snapshots/benchmark-results/vllm-qwen3-32b-h100.md @005cf571 (Apache-2.0); node provisioning excluded";
const NEBIUS: &str = "heyram74/nebius_sopertors_inferencex_benchmark @4c8d50bd, engine logs: process start to routes available";
const STREAMER: &str = "run-ai/runai-model-streamer docs/src/benchmarks.md @f73a19ac (Apache-2.0); g5.12xlarge, weights load and engine readiness";
const TENSORFUSE: &str =
    "Tensorfuse, cold starts of vLLM: Llama-3.1-8B on one L40S, with and without its caches";
const MODEL_EXPRESS: &str =
    "ai-dynamo/modelexpress docs/BENCHMARKS.md @3db6bdc4 (Apache-2.0); process start to API ready";

static COLD_STARTS: [ColdStart; 11] = [
    ColdStart {
        slug: "qwen3-32b-h100-cold",
        what: "Qwen3-32B on one H100 with vLLM 0.26: weights from Hugging Face, image streamed onto the node",
        start_up: stages(1.8, 130.2, 73.0, 73.0),
        measured_s: Some(278.0),
        source: LLM_D,
    },
    ColdStart {
        slug: "qwen3-32b-h100-cold-pull",
        what: "the same with the image (8.91 GB) pulled whole",
        start_up: stages(69.0, 130.2, 73.0, 73.0),
        measured_s: None,
        source: LLM_D,
    },
    ColdStart {
        slug: "qwen3-32b-h100-snapshot",
        what: "Qwen3-32B on one H100 restored from a pod snapshot: 6 s mount, 8 s restore, 4 s to ready",
        start_up: stages(0.0, 14.0, 4.0, 0.0),
        measured_s: Some(18.0),
        source: LLM_D,
    },
    ColdStart {
        slug: "gpt-oss-120b-h200-tp2",
        what: "gpt-oss-120b on two H200 with vLLM 0.22: weights from a shared NFS, cold compile cache",
        start_up: stages(0.0, 45.6, 97.0, 96.4),
        measured_s: Some(248.0),
        source: NEBIUS,
    },
    ColdStart {
        slug: "gpt-oss-120b-h200-tp8",
        what: "gpt-oss-120b on eight H200 with vLLM 0.22: weights from a shared NFS, cold compile cache",
        start_up: stages(0.0, 59.7, 186.2, 442.6),
        measured_s: Some(704.0),
        source: NEBIUS,
    },
    ColdStart {
        slug: "llama-3.1-8b-l40s-cold",
        what: "Llama-3.1-8B on one L40S with vLLM: weights downloaded (61 s) and loaded (33 s), compile (52 s) and graphs (54 s) cold; the rest is image and imports",
        start_up: StartUp {
            // 23 s and, of fewer sizes, 7 s with the caches.
            compile_cached: StageTime::Fixed(30.0),
            ..stages(0.0, 94.0, 94.0, 106.0)
        },
        measured_s: Some(294.0),
        source: TENSORFUSE,
    },
    ColdStart {
        slug: "llama-3.1-8b-l40s-warm",
        what: "Llama-3.1-8B on one L40S with vLLM: weights on a shared volume, compile cache warm, eight captured sizes",
        start_up: stages(0.0, 18.0, 34.0, 30.0),
        measured_s: Some(82.0),
        source: TENSORFUSE,
    },
    ColdStart {
        slug: "llama-3-8b-a10g-safetensors",
        what: "Llama-3-8B on one A10G with vLLM 0.5.5: safetensors on a gp3 volume of 1000 MiB/s",
        start_up: stages(0.0, 47.99, 18.14, 0.0),
        measured_s: Some(66.13),
        source: STREAMER,
    },
    ColdStart {
        slug: "llama-3-8b-a10g-streamed",
        what: "Llama-3-8B on one A10G with vLLM 0.5.5: streamed from S3 with 32 readers",
        start_up: stages(0.0, 4.88, 18.3, 0.0),
        measured_s: Some(23.18),
        source: STREAMER,
    },
    ColdStart {
        slug: "deepseek-v4-pro-b200",
        what: "DeepSeek-V4-Pro on eight B200 with vLLM 0.23: fast storage, no peer to load from; one stage",
        start_up: stages(0.0, 0.0, 481.0, 0.0),
        measured_s: Some(481.0),
        source: MODEL_EXPRESS,
    },
    ColdStart {
        slug: "deepseek-v4-pro-b200-p2p",
        what: "the same with weights and compiled kernels from a running peer; one stage",
        start_up: stages(0.0, 0.0, 104.0, 0.0),
        measured_s: Some(104.0),
        source: MODEL_EXPRESS,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_add_up_to_what_was_measured() {
        for start in cold_starts() {
            assert!(start.start_up.check().is_ok() && !start.source.is_empty(), "{}", start.slug);
            let sum_s = start.start_up.mean_s(false, false);
            if let Some(measured_s) = start.measured_s {
                // Of the whole, up to a twentieth lay between the stages.
                let missing_s = measured_s - sum_s;
                assert!((-0.5..=measured_s / 20.0).contains(&missing_s), "{}: {sum_s}", start.slug);
            }
            assert!(start.start_up.mean_s(true, true) <= sum_s, "{}", start.slug);
        }
    }

    #[test]
    fn names_are_told_apart() {
        for start in cold_starts() {
            assert_eq!(cold_start(start.slug), Some(start));
        }
        assert_eq!(cold_start("nothing"), None);
    }
}
