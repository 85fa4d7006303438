//! The measuring client of a run, and the rules of the engine it measured.

use catalog::kernel::{Engine, KernelGpu};

use crate::{
    networks::bare_name,
    replay::{Pace, Rules, Sent},
    rows::Row,
    setting::Origin,
};

/// Prompts of a closed loop for each request in flight, as InferenceX and others send them.
const ROUNDS: usize = 10;
/// More are not needed for a mean, as long as there are three rounds.
const MOST_CLOSED: usize = 1200;
/// Requests of an open loop that settle its means.
const MOST_OPEN: usize = 3000;
/// Tokens of a prompt that is in the cache which are computed all the same.
const UNCACHED_TOKENS: f64 = 16.0;
/// The golden section: its multiples fill an interval evenly.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Who measured: what was sent, and when.
#[derive(Clone, Debug)]
pub struct Client {
    /// When.
    pub pace: Pace,
    /// What.
    pub requests: Vec<Sent>,
}

impl Client {
    /// Mean output, tokens.
    #[must_use]
    pub fn mean_output(&self) -> f64 {
        let total: f64 = self.requests.iter().map(|sent| sent.output as f64).sum();
        total / self.requests.len() as f64
    }

    /// Requests per second where each takes so long.
    #[must_use]
    pub fn requests_per_s(&self, e2e_s: f64) -> f64 {
        match self.pace {
            Pace::InFlight(most) => most as f64 / e2e_s,
            Pace::Every(gap_s) => 1.0 / gap_s,
        }
    }
}

/// The client of a row.
pub(crate) fn client(row: &Row, origin: Origin, load: f64) -> Result<Client, &'static str> {
    let (input, output) = (row.isl.ok_or("lengths untold")?, row.osl.ok_or("lengths untold")?);
    let (pace, count) = match row.load_mode.as_str() {
        "concurrency" if load >= 1.0 => {
            let most = load as usize;
            let count = if origin.is_guidellm {
                row.n_requests.unwrap_or(50.0) as usize
            } else {
                (ROUNDS * most).min(MOST_CLOSED.max(3 * most))
            };
            (Pace::InFlight(most), count.max(most))
        }
        "rate" if load > 0.0 => {
            let count = row.n_requests.unwrap_or(600.0) as usize;
            (Pace::Every(1.0 / load), count.clamp(1, MOST_OPEN))
        }
        _ => return Err("a burst"),
    };
    let (low, high) = if origin.is_inferencex {
        (0.8, 1.0)
    } else if origin.is_guidellm {
        (0.5, 1.5)
    } else {
        (1.0, 1.0)
    };
    let is_cached = origin.is_blis || row.run_id.contains("prefix_caching");
    let drawn = |nominal: f64, at: usize, offset: f64| {
        let place = (at as f64 + 0.5) * GOLDEN + offset;
        libm::round(nominal * (low + (high - low) * (place - libm::floor(place))))
    };
    let request = |at: usize| {
        let prompt = drawn(input, at, 0.11);
        let is_long = is_cached && prompt > UNCACHED_TOKENS;
        let cached = if is_long { prompt - UNCACHED_TOKENS } else { 0.0 };
        let output = drawn(output, at, 0.37) as u64;
        Sent { prompt: prompt - cached, cached, output: output.max(1) }
    };
    Ok(Client { pace, requests: (0..count).map(request).collect() })
}

impl Rules {
    /// The rules of a row's engine. Launchers of InferenceX and AIConfigurator give TensorRT-LLM a budget of
    /// one prompt a step; those of AIConfigurator do so for vLLM, too.
    pub(crate) fn of(
        row: &Row,
        origin: Origin,
        engine: Engine,
        gpu: &KernelGpu,
        (load, kv_tokens): (f64, f64),
    ) -> Self {
        let is_large = gpu.memory_gb > 80.0 && gpu.generation >= 9;
        let is_vllm = engine == Engine::Vllm;
        let is_tight = origin.is_gap && is_vllm
            || (origin.is_gap || origin.is_inferencex) && engine == Engine::TensorRt;
        let budget_tokens = if is_tight {
            let in_flight = if row.load_mode == "concurrency" { load } else { 0.0 };
            row.isl.unwrap_or(0.0) + in_flight + 64.0
        } else if engine == Engine::Sglang && gpu.memory_gb >= 160.0 {
            16384.0
        } else {
            row.max_num_batched_tokens.unwrap_or(if is_large { 8192.0 } else { 2048.0 })
        };
        let most_running = row.max_num_seqs.unwrap_or(if is_large { 1024 } else { 256 });
        Self {
            is_prompt_first: engine == Engine::Sglang,
            is_chunked: engine != Engine::TensorRt,
            reserved_share: match engine {
                Engine::Vllm => 0.0,
                Engine::TensorRt => 1.0,
                Engine::Sglang => 0.5,
            },
            budget_tokens,
            most_running: most_running as usize,
            kv_tokens,
            receive_every: if engine == Engine::Sglang && origin.is_inferencex {
                polled_every(gpu, &row.model, load)
            } else {
                1
            },
        }
    }
}

/// Steps between looks at new requests that the TTFT of InferenceX's SGLang rows speaks for.
fn polled_every(gpu: &KernelGpu, model: &str, load: f64) -> u64 {
    let is_rare = gpu.generation == 9 || bare_name(model).starts_with("glm-5");
    match (is_rare, load < 16.0) {
        (true, true) => 20,
        (true, false) => 30,
        (false, true) => 40,
        (false, false) => 60,
    }
}
