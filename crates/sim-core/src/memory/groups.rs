//! Layers that keep different things share one pool of blocks: the groups of vLLM's hybrid allocator.
//!
//! One block is one page in each layer of a group, so all groups have equally many layers (the last of a
//! kind is filled up with padding) and all pages are of one size. Source: vLLM,
//! `v1/core/kv_cache_utils.py`.

use super::{EngineRules, Hold, LayerCache, MemoryError, PagePolicy};

/// Layers that hold the same blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheGroup {
    /// Indices of the caches.
    pub layers: Vec<usize>,
    /// What each of them keeps.
    pub cache: LayerCache,
}

/// How all caches of a model share blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct KvLayout {
    /// The groups. A request holds blocks of each.
    pub groups: Vec<CacheGroup>,
    /// Bytes of one page of each cache.
    page_bytes: Vec<u64>,
    /// Whether all caches are of one type and only their pages differ, so that each has its own.
    is_one_type: bool,
}

impl KvLayout {
    /// Group the caches of all layers, in the order of the layers.
    ///
    /// # Errors
    ///
    /// If pages cannot be made equal and the engine's version does not pad them.
    pub fn of(caches: &[LayerCache], rules: &EngineRules) -> Result<Self, MemoryError> {
        let Some(first) = caches.first() else {
            return Ok(Self { groups: Vec::new(), page_bytes: Vec::new(), is_one_type: false });
        };
        let all: Vec<usize> = (0..caches.len()).collect();
        if caches.iter().all(|cache| is_one_type(cache, first)) {
            return Ok(Self {
                groups: vec![CacheGroup { layers: all, cache: *first }],
                page_bytes: caches.iter().map(|cache| cache.page_bytes).collect(),
                is_one_type: true,
            });
        }
        let caches = unified(caches, rules.pages)?;
        let kinds = kinds(&caches);
        let counts = || kinds.iter().map(|kind| kind.layers.len());
        let fewest = counts().min().unwrap_or(1);
        let most = counts().max().unwrap_or(1);
        // Kinds of nearly the same number are padded to the greatest instead of being split.
        let per_group =
            if (most as f64) < fewest as f64 * rules.even_kinds { most } else { fewest };
        let mut groups = Vec::new();
        for kind in &kinds {
            let parts = kind.layers.len().div_ceil(per_group);
            for part in 0..parts {
                // Dealt out in turn, so that the stages of a pipeline get even shares.
                let layers = kind.layers.iter().skip(part).step_by(parts).copied().collect();
                groups.push(CacheGroup { layers, cache: kind.cache });
            }
        }
        let page_bytes = caches.iter().map(|cache| cache.page_bytes).collect();
        Ok(Self { groups, page_bytes, is_one_type: false })
    }

    /// Bytes that one block takes among the caches that a stage of a pipeline has.
    pub fn block_bytes(&self, is_here: impl Fn(usize) -> bool) -> u64 {
        let page = |&layer: &usize| self.page_bytes.get(layer).copied().unwrap_or(0);
        if self.is_one_type {
            let all = self.groups.iter().flat_map(|group| &group.layers);
            return all.filter(|&&layer| is_here(layer)).map(page).sum();
        }
        let slots = self
            .groups
            .iter()
            .map(|group| group.layers.iter().filter(|&&layer| is_here(layer)).count())
            .max();
        slots.unwrap_or(0) as u64 * self.page_bytes.first().copied().unwrap_or(0)
    }

    /// Blocks of all groups that a request of `tokens` holds at most.
    pub fn blocks_per_request(&self, tokens: u64, step_tokens: u64, dcp: u64) -> u64 {
        self.groups.iter().map(|group| group.cache.blocks(tokens, step_tokens, dcp)).sum()
    }

    /// Tokens of the shortest block of all groups; zero where nothing is cached.
    pub fn least_block_tokens(&self) -> u64 {
        self.groups.iter().map(|group| group.cache.block_tokens).min().unwrap_or(0)
    }

    /// Layers of the largest group, padding included.
    pub fn layers_per_group(&self) -> usize {
        self.groups.iter().map(|group| group.layers.len()).max().unwrap_or(0)
    }

    /// Slots of all groups that no layer uses.
    pub fn padding_layers(&self) -> usize {
        let used: usize = self.groups.iter().map(|group| group.layers.len()).sum();
        self.groups.len() * self.layers_per_group() - used
    }

    /// Bytes that one more token takes, once a request is longer than every window: pages of the
    /// caches that hold all tokens, and the blocks of the others that none of them fill.
    pub fn bytes_per_token(&self) -> f64 {
        let slot_bytes = |group: &CacheGroup| {
            if self.is_one_type {
                group.layers.iter().filter_map(|&layer| self.page_bytes.get(layer)).sum()
            } else {
                self.layers_per_group() as u64 * group.cache.page_bytes
            }
        };
        self.groups
            .iter()
            .filter(|group| group.cache.hold == Hold::All)
            .map(|group| slot_bytes(group) as f64 / group.cache.block_tokens as f64)
            .sum()
    }
}

/// Whether two caches need blocks for the same tokens, whatever the size of their pages.
fn is_one_type(a: &LayerCache, b: &LayerCache) -> bool {
    a.hold == b.hold && a.block_tokens == b.block_tokens
}

/// Caches of one kind, in the order in which kinds first appear.
fn kinds(caches: &[LayerCache]) -> Vec<CacheGroup> {
    let mut kinds: Vec<CacheGroup> = Vec::new();
    for (index, cache) in caches.iter().enumerate() {
        match kinds.iter_mut().find(|kind| kind.cache == *cache) {
            Some(kind) => kind.layers.push(index),
            None => kinds.push(CacheGroup { layers: vec![index], cache: *cache }),
        }
    }
    kinds
}

/// All caches with pages of one size: blocks of smaller pages get longer by a whole factor. The pages
/// of states do not depend on the length of a block, so they are padded.
fn unified(caches: &[LayerCache], policy: PagePolicy) -> Result<Vec<LayerCache>, MemoryError> {
    let greatest = caches.iter().map(|cache| cache.page_bytes).max().unwrap_or(0);
    let unify = |cache: &LayerCache| {
        let is_state = matches!(cache.hold, Hold::State(_));
        if cache.page_bytes == greatest {
            Ok(*cache)
        } else if is_state {
            Ok(LayerCache { page_bytes: greatest, ..*cache })
        } else {
            match (cache.scaled(greatest), policy) {
                (Err(_), PagePolicy::Pad) => Ok(LayerCache { page_bytes: greatest, ..*cache }),
                (scaled, _) => scaled,
            }
        }
    };
    caches.iter().map(unify).collect()
}
