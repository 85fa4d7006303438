//! Replicas and nodes that break down by themselves.
//!
//! Each lasts for a time of its own, exponential with the mean of its kind: what has lasted is as good
//! as new. The draw belongs to the replica's or the node's number, so that a policy that starts one
//! more changes nothing about when the others break.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    fleet::life::Replica,
    random::{Purpose, Stream},
};

use super::{
    faults::{Fault, Reliability},
    server::Due,
};

/// A fault that has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Struck {
    pub(super) at_s: f64,
    pub(super) fault: Fault,
    /// Whether there was anything for it to strike.
    pub(super) has_struck: bool,
    /// Requests that began again because of it.
    pub(super) restarted: u64,
}

/// Kinds of what breaks; they count as the version of a [`Due`].
const REPLICA: u64 = 0;
const NODE: u64 = 1;

/// What is going to break down, and when.
#[derive(Clone, Debug)]
pub(super) struct Breakdowns {
    reliability: Reliability,
    seed: u64,
    due: BinaryHeap<Reverse<Due>>,
    /// Nodes that have had a replica, in order.
    nodes: Vec<u64>,
}

impl Breakdowns {
    pub(super) const fn new(reliability: Reliability, seed: u64) -> Self {
        Self { reliability, seed, due: BinaryHeap::new(), nodes: Vec::new() }
    }

    fn schedule(&mut self, id: u64, kind: u64, mean_s: f64, now_s: f64) {
        let mut stream = Stream::of_request(self.seed, Purpose::Failures, 2 * id + kind);
        let at_s = now_s + mean_s * stream.exponential();
        self.due.push(Reverse(Due { at_s, id, version: kind }));
    }

    /// A replica is ready.
    pub(super) fn of_replica(&mut self, id: u64, now_s: f64) {
        if self.reliability.replica_mtbf_s < f64::INFINITY {
            self.schedule(id, REPLICA, self.reliability.replica_mtbf_s, now_s);
        }
    }

    /// Replicas may have come to nodes that had none before.
    pub(super) fn of_nodes(&mut self, replicas: &[Replica], now_s: f64) {
        if self.reliability.node_mtbf_s == f64::INFINITY {
            return;
        }
        for node in replicas.iter().filter_map(|replica| replica.node) {
            if let Err(place) = self.nodes.binary_search(&node) {
                self.nodes.insert(place, node);
                self.schedule(node, NODE, self.reliability.node_mtbf_s, now_s);
            }
        }
    }

    /// When the next one is due, in seconds.
    pub(super) fn next_s(&self) -> f64 {
        self.due.peek().map_or(f64::INFINITY, |Reverse(due)| due.at_s)
    }

    /// The next one.
    pub(super) fn pop(&mut self) -> Option<Fault> {
        let Reverse(Due { id, version, .. }) = self.due.pop()?;
        Some(if version == NODE { Fault::NodeBreakdown(id) } else { Fault::ReplicaBreakdown(id) })
    }
}
