//! Prefill and decode pools over time: each with replicas, nodes and an autoscaler of its own, and a
//! link between them.
//!
//! ```text
//!   requests ─▶ router ─▶ prefill replicas ═ links ═▶ router ─▶ decode replicas ─▶ users
//!                  ▲            │                        ▲            │
//!               autoscaler ◀────┘                     autoscaler ◀────┘
//!                  ▲──────────── what a lost decode replica had ──────┘
//! ```
//!
//! Each pool is a fleet like any other ([`live`](super::live)). A prompt that has its first token goes
//! over the link of its prefill replica, one cache after the other in the order of first tokens: its
//! bytes over the bandwidth, and then the latency, in which the next one is sent already. A decode
//! replica computes from the second token on: as an engine does, from the one token of the context
//! whose keys and values are not in the cache yet. A request of one token never comes there.
//!
//! A decode replica that is lost loses its caches; its requests go through the prefill pool again. A
//! prefill replica that drains stays until it has sent what it computed; one that is lost, or whose
//! grace is over, sends nothing more, which is found out when a cache does not come. What a prefill
//! replica holds of caches that wait to be sent is not counted against its memory.

mod simulation;

pub use simulation::PooledSimulation;

use crate::{
    engine::Keep,
    fleet::{Link, Transfers, live::LiveFleet, outcome::LiveRun},
    setup::SetupError,
};

/// Two pools under one traffic.
#[derive(Clone, Debug)]
pub struct PooledFleet {
    /// Replicas that compute prompts. Its set-up is the whole traffic.
    pub prefill: LiveFleet,
    /// Replicas that compute the rest, with the same engine. Its set-up's traffic is not looked at.
    pub decode: LiveFleet,
    /// What connects them.
    pub link: Link,
    /// Whether one autoscaler scales both.
    pub scaling: Scaling,
}

/// Who says how many replicas the pools have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// Each pool's own autoscaler.
    Apart,
    /// One pool's autoscaler; both then have so many units of so many prefill and decode replicas, as
    /// few as give that pool what it asked for.
    AsOne {
        /// Whether it is the prefill pool's.
        by_prefill: bool,
        /// Prefill and decode replicas of a unit, each 1 or more.
        unit: (u32, u32),
    },
}

/// What happened in two pools.
#[derive(Clone, Debug, PartialEq)]
pub struct PooledRun {
    /// All of it, as the users saw it. Its limits are those of one replica, its peaks those of the
    /// replica that came closest; replicas, GPU-hours and steps are sums over both pools, and what
    /// waits for a link waits.
    pub users: LiveRun,
    /// The prefill pool: requests that want one token.
    pub prefill: LiveRun,
    /// The decode pool: requests that come with a cache, and want what is left of their output.
    pub decode: LiveRun,
    /// What went from the one to the other.
    pub transfers: Transfers,
    /// Caches that never came, because their prefill replica was lost.
    pub lost_transfers: u64,
}

impl PooledFleet {
    /// # Errors
    /// As [`LiveFleet::check`] of each pool; a link without a bandwidth; a unit without a replica; or
    /// pools that differ in their engine, in the width of their windows, or that defer requests.
    pub fn check(&self) -> Result<(), SetupError> {
        self.prefill.check()?;
        self.decode.check()?;
        let bad =
            |field, value, requirement| Err(SetupError::OutOfDomain { field, value, requirement });
        let Link { bytes_per_s, latency_s, kv_bytes_per_token } = self.link;
        if bytes_per_s.is_nan() || bytes_per_s <= 0.0 {
            return bad("link.bandwidth", bytes_per_s, "above 0");
        }
        for (field, value) in
            [("link.latency", latency_s), ("link.kv_bytes_per_token", kv_bytes_per_token)]
        {
            if !(0.0..f64::INFINITY).contains(&value) {
                return bad(field, value, "finite and 0 or more");
            }
        }
        if let Scaling::AsOne { unit: (prefill, decode), .. } = self.scaling
            && (prefill == 0 || decode == 0)
        {
            return bad("pools.unit", 0.0, "1 replica or more of each kind");
        }
        if self.prefill.setup.engine != self.decode.setup.engine {
            let value = self.decode.setup.engine.max_num_seqs as f64;
            return bad("decode.engine", value, "that of the prefill pool");
        }
        if self.prefill.window_s.to_bits() != self.decode.window_s.to_bits() {
            return bad("decode.window", self.decode.window_s, "that of the prefill pool");
        }
        if self.prefill.deferral.or(self.decode.deferral).is_some() {
            return bad("fleet.deferral", 1.0, "none where prefill and decode are apart");
        }
        Ok(())
    }
}

/// Simulate two pools from their beginning to their end.
///
/// # Errors
/// As [`PooledFleet::check`], or more replicas at the beginning than have room.
pub fn simulate_pooled(fleet: &PooledFleet, keep: Keep) -> Result<PooledRun, SetupError> {
    let mut simulation = PooledSimulation::new(fleet.clone(), keep)?;
    while simulation.advance(u64::MAX) {}
    Ok(simulation.finish())
}
