//! Bytes of weights that each rank holds.

use super::{Architecture, FeedForward, Layer, Mixer, plan::Parallelism};

/// Vocabularies are padded to multiples of this before they are divided (vLLM,
/// `vocab_parallel_embedding.py`).
const VOCAB_PADDING: u64 = 64;
/// Widths of experts in MXFP4 are padded to multiples of these (vLLM, `quantization/mxfp4.py`).
const MXFP4_WIDTH_PADDING: u64 = 128;
const MXFP4_HIDDEN_PADDING: u64 = 256;

/// Bytes of one parameter, scales included, by where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightBytes {
    /// Projections of attention and of recurrences.
    pub mixing: f64,
    /// Dense feed-forward layers and shared experts.
    pub dense: f64,
    /// Routed experts.
    pub experts: f64,
    /// Embeddings.
    pub embedding: f64,
    /// Output projection.
    pub head: f64,
    /// All else: routers, towers, rotary tables; the size of an activation, too.
    pub plain: f64,
    /// Whether experts are stored in MXFP4, whose kernels pad their widths.
    pub pads_experts: bool,
}

impl WeightBytes {
    /// All parameters of one size: 2 for BF16.
    pub const fn plain(bytes: f64) -> Self {
        Self {
            mixing: bytes,
            dense: bytes,
            experts: bytes,
            embedding: bytes,
            head: bytes,
            plain: bytes,
            pads_experts: false,
        }
    }

    /// Projections in `bytes`, embeddings and all else in `plain`.
    pub const fn quantised(bytes: f64, plain: f64) -> Self {
        Self { mixing: bytes, dense: bytes, experts: bytes, ..Self::plain(plain) }
    }
}

/// What a rank's weights are made of, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankWeights {
    /// Embeddings and output projection.
    pub vocabulary_bytes: f64,
    /// Attention and recurrences.
    pub mixing_bytes: f64,
    /// Dense feed-forward layers, shared experts and routers.
    pub dense_bytes: f64,
    /// Routed experts.
    pub expert_bytes: f64,
    /// Towers beside the language model.
    pub tower_bytes: f64,
    /// Tables of rotary embeddings.
    pub rotary_bytes: f64,
}

impl RankWeights {
    /// All of them.
    pub fn total_bytes(&self) -> f64 {
        self.vocabulary_bytes
            + self.mixing_bytes
            + self.dense_bytes
            + self.expert_bytes
            + self.tower_bytes
            + self.rotary_bytes
    }

    /// The weights of one rank in stage `stage` of the pipeline, which has the layers `layers`.
    pub(crate) fn of(
        architecture: &Architecture,
        bytes: &WeightBytes,
        parallel: &Parallelism,
        stage: u64,
        layers: &[Layer],
    ) -> Self {
        let of = Sizes { hidden: architecture.hidden_size as f64, bytes, parallel };
        let (is_first, is_last) = (stage == 0, stage + 1 == parallel.pp);
        let vocab = architecture.vocab_size.div_ceil(VOCAB_PADDING) * VOCAB_PADDING;
        let table = vocab as f64 * of.hidden / parallel.tp as f64;
        // A tied table is held once by a stage that needs it for both.
        let embeds = is_first || (is_last && architecture.tied_embeddings);
        let projects = is_last && !architecture.tied_embeddings;
        let mut weights = Self {
            vocabulary_bytes: table
                * (if embeds { bytes.embedding } else { 0.0 }
                    + if projects { bytes.head } else { 0.0 }),
            rotary_bytes: (architecture.max_positions * architecture.rotary_dim) as f64
                * architecture.rotary_tables as f64
                * bytes.plain,
            ..Self::default()
        };
        if is_first {
            let ranks = if architecture.towers_are_replicated { 1 } else { parallel.tp };
            weights.tower_bytes = architecture.tower_params * bytes.plain / ranks as f64;
        }
        for layer in layers {
            weights.mixing_bytes += layer.mixers.iter().map(|mixer| of.mixing(mixer)).sum::<f64>();
            of.add_feed_forward(layer.feed_forward, &mut weights);
        }
        weights
    }
}

/// What sizes of layers depend on.
struct Sizes<'a> {
    hidden: f64,
    bytes: &'a WeightBytes,
    parallel: &'a Parallelism,
}

impl Sizes<'_> {
    fn mixing(&self, mixer: &Mixer) -> f64 {
        let (hidden, tp) = (self.hidden, self.parallel.tp as f64);
        let params = match mixer {
            Mixer::Attention(attention) => {
                let heads = attention.heads as f64;
                let keys = attention.key_dim as f64;
                let values = attention.value_dim as f64;
                let gates = if attention.is_gated { 2.0 } else { 1.0 };
                let queries_and_output = heads * (gates * keys + values) / tp;
                let kept = if attention.shares_cache { 0.0 } else { keys + values };
                let kv_heads = attention.kv_heads_per_rank(self.parallel.tp) as f64;
                hidden * (queries_and_output + kv_heads * kept)
            }
            Mixer::Latent(latent) => {
                let heads = latent.heads as f64 / tp;
                let (q_rank, kv_rank) = (latent.q_rank as f64, latent.kv_rank as f64);
                let rope = latent.rope_dim as f64;
                let (nope, values) = (latent.nope_dim as f64, latent.value_dim as f64);
                // Down-projections are replicated, what works on heads is divided.
                let queries = if q_rank > 0.0 {
                    hidden * q_rank + q_rank * heads * (nope + rope)
                } else {
                    hidden * heads * (nope + rope)
                };
                let compressed = hidden * (kv_rank + rope) + kv_rank * heads * (nope + values);
                let indexer = latent.indexer.map_or(0.0, |indexer| {
                    let (index_heads, dim) = (indexer.heads as f64, indexer.dim as f64);
                    q_rank * index_heads * dim + hidden * (dim + index_heads)
                });
                queries + compressed + heads * values * hidden + indexer
            }
            Mixer::Recurrent(recurrent) => recurrent.params(self.hidden as u64) / tp,
        };
        params * self.bytes.mixing
    }

    fn add_feed_forward(&self, feed_forward: FeedForward, weights: &mut RankWeights) {
        let (hidden, tp) = (self.hidden, self.parallel.tp as f64);
        match feed_forward {
            FeedForward::None => {}
            FeedForward::Dense { width, matrices } => {
                let params = matrices as f64 * hidden * width as f64 / tp;
                weights.dense_bytes += params * self.bytes.dense;
            }
            FeedForward::Experts { count, width, shared_width, matrices, .. } => {
                let matrices = matrices as f64;
                let shared = matrices * hidden * shared_width as f64 / tp;
                let router = hidden * count as f64;
                weights.dense_bytes += shared * self.bytes.dense + router * self.bytes.plain;
                weights.expert_bytes +=
                    matrices * self.expert_params(count, width) * self.bytes.experts;
            }
        }
    }

    /// Parameters of one matrix of all routed experts on one rank. Experts are shared out among all
    /// ranks of a stage, those of data parallelism included: whole ones with expert parallelism, a
    /// part of each without.
    fn expert_params(&self, count: u64, width: u64) -> f64 {
        let ranks = self.parallel.tp * self.parallel.dp;
        let (experts, width) = if self.parallel.has_expert_parallelism {
            (count.div_ceil(ranks), width as f64)
        } else {
            (count, width as f64 / ranks as f64)
        };
        let experts = experts as f64;
        if !self.bytes.pads_experts {
            return experts * width * self.hidden;
        }
        let padded = |size: f64, to: u64| libm::ceil(size / to as f64) * to as f64;
        experts * padded(width, MXFP4_WIDTH_PADDING) * padded(self.hidden, MXFP4_HIDDEN_PADDING)
    }
}

/// Parameters of a network; norms and biases, which are some ten thousandths, are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// All of them, a tied table once.
    pub total: f64,
    /// Those that each token is multiplied with: not the experts it does not visit, and not a table of
    /// input embeddings, from which one row is read.
    pub active: f64,
}

impl Architecture {
    /// How many parameters there are, counted from the dimensions.
    pub fn parameters(&self) -> Parameters {
        let (one, alone) = (WeightBytes::plain(1.0), Parallelism::default());
        let all = RankWeights::of(self, &one, &alone, 0, &self.layers);
        let total = all.total_bytes() - all.rotary_bytes;
        let idle: f64 = self.layers.iter().map(|layer| idle_experts(layer, self.hidden_size)).sum();
        let table = self.vocab_size as f64 * self.hidden_size as f64;
        let input = if self.tied_embeddings { 0.0 } else { table };
        Parameters { total, active: total - idle - input }
    }
}

/// Parameters of the experts of a layer that one token does not visit.
fn idle_experts(layer: &Layer, hidden: u64) -> f64 {
    match layer.feed_forward {
        FeedForward::Experts { count, active, width, matrices, .. } => {
            count.saturating_sub(active) as f64 * matrices as f64 * (hidden as f64 * width as f64)
        }
        FeedForward::None | FeedForward::Dense { .. } => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Attention;

    #[test]
    fn parameters_are_those_that_the_dimensions_make() {
        let layer = |feed_forward| Layer {
            mixers: vec![Mixer::Attention(Attention::full(4, 2, 8))],
            feed_forward,
        };
        let experts =
            FeedForward::Experts { count: 8, active: 2, width: 16, shared_width: 0, matrices: 3 };
        let mut network = Architecture {
            hidden_size: 32,
            vocab_size: 64,
            layers: vec![layer(FeedForward::Dense { width: 128, matrices: 3 }), layer(experts)],
            ..Architecture::default()
        };
        // Queries and output 4 heads, keys and values 2, of 8 elements each.
        let attention = 32.0 * (2.0 * 4.0 + 2.0 * 2.0) * 8.0;
        let table = 64.0 * 32.0;
        let (dense, expert, router) = (3.0 * 32.0 * 128.0, 3.0 * 32.0 * 16.0, 32.0 * 8.0);
        let found = network.parameters();
        let body = 2.0 * attention + dense + router;
        assert_eq!(found.total, body + 8.0 * expert + 2.0 * table);
        assert_eq!(found.active, body + 2.0 * expert + table);
        network.tied_embeddings = true;
        let tied = network.parameters();
        assert_eq!((tied.total, tied.active), (found.total - table, found.active));
    }
}
