//! What other fleets under one quota make of a fleet's replicas and nodes.
//!
//! As Kubernetes preempts pods: the deployment still wants its replicas, so that for each one that is
//! taken another waits without a node until there is room again.

use super::life::{Change, Lives, Stage, rank};

impl Lives {
    /// Nodes that are there or asked for.
    pub(super) fn used_nodes(&self) -> u32 {
        self.nodes.used()
    }

    /// Those of them that go as soon as they are unused.
    pub(super) fn leaving_nodes(&self) -> u32 {
        self.nodes.leaving()
    }

    /// The greater of what is used and what may be.
    pub(super) fn held_nodes(&self) -> u32 {
        self.nodes.used().max(self.nodes.most())
    }

    /// Nodes that replicas without one need beyond those on their way.
    pub(super) fn missing_nodes(&self) -> u32 {
        self.nodes.missing(self.count(|stage| stage == Stage::Decided))
    }

    /// Those of them that are not to be kept free, beyond what may be asked for already.
    pub(super) fn urgent_nodes(&self) -> u32 {
        let missing = self.nodes.missing_for_replicas(self.count(|stage| stage == Stage::Decided));
        missing.saturating_sub(self.held_nodes() - self.used_nodes())
    }

    /// There may be so many nodes from now on, fewer than there are included: those stay.
    pub(super) fn allow_nodes(&mut self, most: u32, now_s: f64) -> Vec<Change> {
        self.nodes.allow(most);
        self.settled(now_s)
    }

    /// The same, where nobody looks whether that is enough.
    pub(super) const fn nodes_may_be(&mut self, most: u32) {
        self.nodes.allow(most);
    }

    /// An unused node goes, beyond those kept free where they are to be kept; whether there was one.
    pub(super) fn give_up_unused(&mut self, keeps_warm: bool, now_s: f64) -> bool {
        self.nodes.give_up_unused(keeps_warm, now_s)
    }

    /// A node that was asked for is asked for no more; whether there was one.
    pub(super) fn call_off_node(&mut self) -> bool {
        self.nodes.call_off()
    }

    /// Nodes whose replicas all drain go with them.
    pub(super) fn let_draining_leave(&mut self) {
        for replica in &self.replicas {
            if let (Stage::Draining, Some(node)) = (replica.stage, replica.node) {
                self.nodes.let_leave(node);
            }
        }
    }

    /// Take a replica's node: one that starts is called off, a ready one drains, or is killed. Of
    /// equals the newest. `None` if there is none left to take.
    pub(super) fn reclaim_one(&mut self, kills: bool, now_s: f64) -> Option<Vec<Change>> {
        self.now_s = now_s;
        let serves = |stage| matches!(stage, Stage::Starting(_) | Stage::Ready);
        let victims = self.replicas.iter().filter(|replica| serves(replica.stage));
        let victim = victims.min_by(|a, b| {
            rank(a).cmp(&rank(b)).then(b.since_s.total_cmp(&a.since_s)).then(b.id.cmp(&a.id))
        })?;
        let (id, node) = (victim.id, victim.node?);
        self.nodes.let_leave(node);
        let mut changes = Vec::new();
        let other = self.decide();
        changes.push(Change { id: other, stage: Stage::Decided, at_s: now_s });
        if kills {
            self.bury(id, &mut changes);
        } else {
            self.end(id, &mut changes);
        }
        self.settle(&mut changes);
        Some(changes)
    }
}
