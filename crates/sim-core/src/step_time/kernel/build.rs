//! From an architecture and its place to coefficients.

use super::{
    Experts, Kernel, MOST_PROJECTIONS, MOST_WINDOWS, Windowed,
    constants::{ExpertKernels, Format, Formats, GpuRates, Overheads, Spread},
    roofline::Projection,
};
use crate::{
    float::greater,
    memory::{
        Architecture, Attention, FeedForward, LatentAttention, Layer, Mixer, Reach, Recurrent,
    },
    setup::SetupError,
};

/// Share of the 16-bit peak that attention of long prompts reaches.
const PROMPT_ATTENTION_SHARE: f64 = 0.68;
/// Share of the bandwidth that attention reaches where it moves queries and outputs.
const PROMPT_TRAFFIC_SHARE: f64 = 0.38;
/// Share of the bandwidth that attention reaches where it reads the cache.
const CACHE_SHARE: f64 = 0.85;
/// Share of the 16-bit peak that latent attention reaches in decodes.
const LATENT_SHARE: f64 = 0.5;
/// Share of the bandwidth that element-wise kernels reach.
const ELEMENTWISE_SHARE: f64 = 0.42;
/// Each matrix product of a step, seconds.
const PRODUCT_S: f64 = 4e-6;
/// Each head of each decode, seconds.
const DECODE_HEAD_S: f64 = 3e-9;

/// All that a step's time follows from.
#[derive(Clone, Copy, Debug)]
pub struct KernelInput<'a> {
    /// The network.
    pub architecture: &'a Architecture,
    /// How numbers are stored and computed with.
    pub formats: Formats,
    /// The GPU.
    pub gpu: GpuRates,
    /// How the replica is spread.
    pub spread: Spread,
    /// What the engine spends beside kernels.
    pub overheads: Overheads,
    /// Kernels for experts.
    pub experts: ExpertKernels,
}

/// Why there is no step time.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// A constant is out of its domain.
    #[error(transparent)]
    Constant(#[from] SetupError),
    /// The network has a part that is not modelled.
    #[error("the kernel model does not know {what}; use step.kind=roofline instead")]
    NotModelled {
        /// The part.
        what: &'static str,
    },
}

impl Kernel {
    /// Prepare a network on its GPUs.
    ///
    /// # Errors
    /// If a constant is outside its domain, or the network has a part that is not modelled.
    pub fn new(input: &KernelInput<'_>) -> Result<Self, KernelError> {
        input.spread.check()?;
        let mut builder = Builder::new(input);
        for (layer, count) in distinct_layers(&input.architecture.layers) {
            builder.alike = count;
            for mixer in &layer.mixers {
                builder.mixer(mixer)?;
            }
            builder.feed_forward(layer.feed_forward)?;
        }
        builder.finish()
    }
}

/// Layers that differ, and how many there are of each.
fn distinct_layers(layers: &[Layer]) -> Vec<(&Layer, f64)> {
    let mut distinct: Vec<(&Layer, f64)> = Vec::new();
    for layer in layers {
        match distinct.iter_mut().find(|(known, _)| *known == layer) {
            Some((_, count)) => *count += 1.0,
            None => distinct.push((layer, 1.0)),
        }
    }
    distinct
}

/// A matrix product's shape on one rank; what tells products apart.
#[derive(Clone, Copy, PartialEq)]
struct Product {
    rows: f64,
    columns: f64,
    format: Format,
    /// Share of a step's tokens that the rank computes.
    share: f64,
}

struct Builder<'a> {
    input: &'a KernelInput<'a>,
    /// Layers like the one that is added.
    alike: f64,
    hidden: f64,
    ranks: f64,
    attention_ranks: f64,
    groups: f64,
    bandwidth: f64,
    products: Vec<(Product, f64)>,
    windows: Vec<(u64, Windowed)>,
    experts: Option<Experts>,
    expert_shape: Option<(u64, u64)>,
    pair_s: f64,
    prompt_token_s: f64,
    context_s: f64,
    decode_s: f64,
    elementwise: f64,
    expert_layers: f64,
}

impl<'a> Builder<'a> {
    fn new(input: &'a KernelInput<'a>) -> Self {
        let spread = &input.spread;
        Self {
            input,
            alike: 1.0,
            hidden: input.architecture.hidden_size as f64,
            ranks: spread.ranks as f64,
            attention_ranks: spread.attention_ranks() as f64,
            groups: spread.attention_groups as f64,
            bandwidth: input.gpu.bandwidth_bytes_per_s,
            products: Vec::new(),
            windows: Vec::new(),
            experts: None,
            expert_shape: None,
            pair_s: 0.0,
            prompt_token_s: 0.0,
            context_s: 0.0,
            decode_s: 0.0,
            elementwise: 0.0,
            expert_layers: 0.0,
        }
    }

    fn product(&mut self, rows: f64, columns: f64, format: Format, share: f64) {
        let product = Product { rows, columns, format, share };
        match self.products.iter_mut().find(|(known, _)| *known == product) {
            Some((_, count)) => *count += self.alike,
            None => self.products.push((product, self.alike)),
        }
    }

    fn mixer(&mut self, mixer: &Mixer) -> Result<(), KernelError> {
        self.elementwise += 20.0 * self.hidden * self.alike;
        match mixer {
            Mixer::Attention(attention) => self.attention(attention),
            Mixer::Latent(latent) => self.latent(latent),
            Mixer::Recurrent(recurrent) => self.recurrent(recurrent)?,
        }
        Ok(())
    }

    fn attention(&mut self, attention: &Attention) {
        let format = self.input.formats.mixing;
        let share = 1.0 / self.groups;
        let each = share * self.alike;
        let heads = attention.heads as f64 / self.attention_ranks;
        let kv_heads = greater(1.0, attention.kv_heads as f64 / self.attention_ranks);
        let (key, value) = (attention.key_dim as f64, attention.value_dim as f64);
        let queries = heads * key * if attention.is_gated { 2.0 } else { 1.0 };
        let cached = kv_heads * (key + value);
        let made = if attention.shares_cache { queries } else { queries + cached };
        self.product(made, self.hidden, format, share);
        self.product(self.hidden, heads * value, format, share);
        let gpu = &self.input.gpu;
        let pair_s = 2.0 * heads * (key + value) / (PROMPT_ATTENTION_SHARE * gpu.flops_16) * each;
        let context_s =
            cached * self.input.formats.kv_bytes / (gpu.cache_share * self.bandwidth) * each;
        self.prompt_token_s +=
            4.0 * (heads + kv_heads) * key / (PROMPT_TRAFFIC_SHARE * self.bandwidth) * each;
        self.decode_s += DECODE_HEAD_S * heads * each;
        match attention.reach {
            Reach::Full => {
                self.pair_s += pair_s;
                self.context_s += context_s;
            }
            Reach::Window(tokens) | Reach::Chunk(tokens) => {
                self.window(tokens, pair_s, context_s);
            }
        }
    }

    fn window(&mut self, tokens: u64, pair_s: f64, context_s: f64) {
        match self.windows.iter_mut().find(|(known, _)| *known == tokens) {
            Some((_, windowed)) => {
                windowed.pair_s += pair_s;
                windowed.context_s += context_s;
            }
            None => {
                let windowed = Windowed { window_tokens: tokens as f64, pair_s, context_s };
                self.windows.push((tokens, windowed));
            }
        }
    }

    fn latent(&mut self, latent: &LatentAttention) {
        let format = self.input.formats.mixing;
        let share = 1.0 / self.groups;
        let each = share * self.alike;
        let heads = latent.heads as f64 / self.attention_ranks;
        let (q_rank, kv_rank) = (latent.q_rank as f64, latent.kv_rank as f64);
        let (rope, nope) = (latent.rope_dim as f64, latent.nope_dim as f64);
        let value = latent.value_dim as f64;
        if q_rank > 0.0 {
            self.product(q_rank + kv_rank + rope, self.hidden, format, share);
            self.product(heads * (nope + rope), q_rank, format, share);
        } else {
            self.product(heads * (nope + rope), self.hidden, format, share);
            self.product(kv_rank + rope, self.hidden, format, share);
        }
        self.product(heads * (nope + value), kv_rank, format, share);
        self.product(self.hidden, heads * value, format, share);
        let flops = self.input.gpu.flops_16;
        self.pair_s +=
            2.0 * heads * (nope + rope + value) / (PROMPT_ATTENTION_SHARE * flops) * each;
        self.prompt_token_s += 4.0 * heads * value / (CACHE_SHARE * self.bandwidth) * each;
        let cached = kv_rank + rope;
        let read_s = cached * self.input.formats.kv_bytes / (CACHE_SHARE * self.bandwidth);
        let compute_s = 2.0 * heads * (2.0 * kv_rank + rope) / (LATENT_SHARE * flops);
        self.context_s += greater(read_s, compute_s) * each;
        self.decode_s += DECODE_HEAD_S * heads * each;
    }

    fn recurrent(&mut self, recurrent: &Recurrent) -> Result<(), KernelError> {
        let Recurrent::GatedDelta { key_heads, value_heads, key_dim, value_dim, .. } = *recurrent
        else {
            return Err(KernelError::NotModelled { what: "this recurrence" });
        };
        let format = self.input.formats.mixing;
        let share = 1.0 / self.groups;
        let keys = (key_heads * key_dim) as f64 / self.attention_ranks;
        let values = (value_heads * value_dim) as f64 / self.attention_ranks;
        self.product(2.0 * keys + 2.0 * values, self.hidden, format, share);
        self.product(self.hidden, values, format, share);
        // A state in 32 bits is read and written for each decode.
        let traffic_s = share * self.alike / (CACHE_SHARE * self.bandwidth);
        self.decode_s += 8.0 * values * key_dim as f64 * traffic_s;
        self.prompt_token_s += 32.0 * values * traffic_s;
        Ok(())
    }

    fn feed_forward(&mut self, feed_forward: FeedForward) -> Result<(), KernelError> {
        match feed_forward {
            FeedForward::None => Ok(()),
            FeedForward::Dense { width, matrices } => {
                self.dense(width as f64, matrices as f64);
                Ok(())
            }
            FeedForward::Experts { count, active, width, shared_width, matrices } => {
                if shared_width > 0 {
                    self.dense(shared_width as f64, matrices as f64);
                }
                self.experts(count, active, width as f64, matrices as f64)
            }
        }
    }

    fn dense(&mut self, width: f64, matrices: f64) {
        let format = self.input.formats.dense;
        let width = width / self.ranks;
        self.elementwise += 6.0 * width * self.alike;
        self.product((matrices - 1.0) * width, self.hidden, format, 1.0);
        self.product(self.hidden, width, format, 1.0);
    }

    fn experts(
        &mut self,
        count: u64,
        active: u64,
        width: f64,
        matrices: f64,
    ) -> Result<(), KernelError> {
        if *self.expert_shape.get_or_insert((count, active)) != (count, active) {
            return Err(KernelError::NotModelled { what: "layers with different experts" });
        }
        let kernels = &self.input.experts;
        let format = self.input.formats.experts;
        let gpu = &self.input.gpu;
        let width = width / self.ranks;
        let params = matrices * self.hidden * width;
        let rate = format.flops * kernels.compute_share;
        let bandwidth = self.bandwidth * gpu.bandwidth_share * kernels.bandwidth_share;
        let moved = 2.0 * active as f64 * (2.0 * self.hidden + matrices * width);
        let experts = self.experts.get_or_insert(Experts {
            count: count as f64,
            active: active as f64,
            padding_tokens: kernels.padding_tokens,
            routing_exponent: kernels.routing_exponent,
            ..Experts::default()
        });
        experts.compute_s_per_visit += self.alike * 2.0 * params / rate;
        experts.weights_s_per_expert += self.alike * params * format.bytes / bandwidth;
        experts.activations_s_per_token +=
            self.alike * moved / (self.bandwidth * gpu.bandwidth_share);
        self.expert_layers += self.alike;
        Ok(())
    }

    fn finish(self) -> Result<Kernel, KernelError> {
        let input = self.input;
        let (gpu, overheads) = (&input.gpu, &input.overheads);
        let layers = input.architecture.layers.len() as f64;
        if self.products.len() > MOST_PROJECTIONS {
            return Err(KernelError::NotModelled { what: "so many kinds of layers" });
        }
        if self.windows.len() > MOST_WINDOWS {
            return Err(KernelError::NotModelled { what: "so many kinds of windows" });
        }
        let bandwidth = self.bandwidth * gpu.bandwidth_share;
        let mut projections = [Projection::default(); MOST_PROJECTIONS];
        let mut product_count = 0.0;
        for (slot, (product, count)) in projections.iter_mut().zip(&self.products) {
            *slot = projection(product, bandwidth).times(*count);
            product_count += count;
        }
        let mut windows = [Windowed::default(); MOST_WINDOWS];
        for (slot, (_, windowed)) in windows.iter_mut().zip(&self.windows) {
            *slot = *windowed;
        }
        let vocabulary = input.architecture.vocab_size as f64 / self.ranks;
        let head = Product {
            rows: vocabulary,
            columns: self.hidden,
            format: input.formats.head,
            share: 1.0,
        };
        let reductions = if self.attention_ranks > 1.0 { 2.0 } else { 1.0 } * layers;
        let reductions = if self.ranks > 1.0 { reductions } else { 0.0 };
        Ok(Kernel {
            projections,
            projection_count: self.products.len() as u64,
            experts: self.experts.unwrap_or_default(),
            windows,
            head: projection(&head, bandwidth),
            pair_s: self.pair_s,
            prompt_token_s: self.prompt_token_s,
            context_s: self.context_s,
            decode_s: self.decode_s,
            token_s: self.elementwise / (ELEMENTWISE_SHARE * self.bandwidth),
            fixed_s: layers * overheads.layer_s
                + self.expert_layers * overheads.expert_layer_s
                + product_count * PRODUCT_S,
            prompt_step_s: layers * overheads.prompt_layer_s,
            reduction: gpu.reduction(input.spread.ranks),
            reductions,
            reduced_bytes_per_token: 2.0 * self.hidden / self.groups,
            step_s: overheads.step_s,
            sequence_s: overheads.sequence_s,
            stages: input.spread.stages as f64,
            api_s: overheads.api_s,
            prompt_mean: 0.0,
            context_mean: 0.0,
        })
    }
}

fn projection(product: &Product, bandwidth: f64) -> Projection {
    let Product { rows, columns, format, share } = *product;
    Projection {
        compute_s_per_token: 2.0 * rows * columns * share / format.flops,
        weights_s: format.bytes * rows * columns / bandwidth,
        activations_s_per_token: 2.0 * (rows + columns) * share / bandwidth,
    }
}
