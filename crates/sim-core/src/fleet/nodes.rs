//! Nodes with GPUs: those that are there, those that were asked for, and how many there may be.
//!
//! A pending replica makes the cluster autoscaler ask for a node at its next scan. The node comes
//! after a delay of the cloud's, or does not come in time: then the request is given up, and after a
//! pause repeated. A node that no replica has used for a while goes again, unless it belongs to the
//! warm pool; what it had cached goes with it.
//!
//! The warm pool is a number of nodes kept free: placeholder pods of low priority that hold nodes
//! until a replica takes their place, whereupon another node is asked for.

use crate::{
    float::from_count,
    random::{Purpose, Stream},
    setup::SetupError,
};

use super::start_up::StageTime;

/// How nodes come and go. Times are those of Kubernetes' cluster autoscaler by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodePool {
    /// GPUs of one node.
    pub gpus_per_node: u32,
    /// GPUs that one replica needs, all on one node.
    pub gpus_per_replica: u32,
    /// Nodes at the beginning.
    pub initial_nodes: u32,
    /// Most nodes at once, those that were asked for included: a quota, or what can be had.
    pub max_nodes: u32,
    /// Nodes kept free of replicas.
    pub warm_nodes: u32,
    /// Time from the request of a node to pods being scheduled on it.
    pub provisioning: StageTime,
    /// How long to wait for a node before giving it up, in seconds (`max-node-provision-time`).
    pub provisioning_timeout_s: f64,
    /// Pause after that, in seconds (`scale-down-delay-after-failure`, and the node group's backoff).
    pub retry_pause_s: f64,
    /// Time between two looks at pending pods, in seconds (`scan-interval`).
    pub scan_interval_s: f64,
    /// How long a node has to be unused before it goes, in seconds (`scale-down-unneeded-time`).
    pub unneeded_s: f64,
    /// No node goes for so long after one has come, in seconds (`scale-down-delay-after-add`).
    pub after_add_s: f64,
    /// From when to when, in seconds, the cloud has none to give: requests begun then time out.
    pub empty_s: Option<(f64, f64)>,
}

impl Default for NodePool {
    /// Single-GPU nodes at once, as many as are asked for, and the cluster autoscaler's times (its
    /// FAQ): scans of 10 s, 15 min to provision, 3 min after a failure, 10 min unneeded.
    fn default() -> Self {
        Self {
            gpus_per_node: 1,
            gpus_per_replica: 1,
            initial_nodes: 0,
            max_nodes: 1000,
            warm_nodes: 0,
            provisioning: StageTime::NONE,
            provisioning_timeout_s: 900.0,
            retry_pause_s: 180.0,
            scan_interval_s: 10.0,
            unneeded_s: 600.0,
            after_add_s: 600.0,
            empty_s: None,
        }
    }
}

impl NodePool {
    /// # Errors
    /// No GPU, a replica larger than a node, more nodes at first than at most, or a time that is
    /// negative or not finite.
    pub fn check(&self) -> Result<(), SetupError> {
        let error = |field, value: u32, requirement| {
            Err(SetupError::OutOfDomain { field, value: f64::from(value), requirement })
        };
        if self.gpus_per_replica == 0 || self.gpus_per_replica > self.gpus_per_node {
            let requirement = "1 or more, and at most gpus_per_node";
            return error("nodes.gpus_per_replica", self.gpus_per_replica, requirement);
        }
        if self.max_nodes > 100_000 {
            return error("nodes.max", self.max_nodes, "at most 100,000");
        }
        if self.initial_nodes > self.max_nodes {
            return error("nodes.initial", self.initial_nodes, "at most nodes.max");
        }
        self.provisioning.check("nodes.provisioning")?;
        for (field, seconds) in [
            ("nodes.provisioning_timeout", self.provisioning_timeout_s),
            ("nodes.retry_pause", self.retry_pause_s),
            ("nodes.scan_interval", self.scan_interval_s),
            ("nodes.unneeded", self.unneeded_s),
            ("nodes.after_add", self.after_add_s),
        ] {
            StageTime::Fixed(seconds).check(field)?;
        }
        Ok(())
    }

    /// Replicas that fit on one node.
    const fn room(&self) -> u32 {
        self.gpus_per_node / self.gpus_per_replica
    }

    /// The first scan at or after `now_s`.
    fn scan_s(&self, now_s: f64) -> f64 {
        if self.scan_interval_s == 0.0 {
            return now_s;
        }
        let scans = (now_s / self.scan_interval_s).ceil();
        crate::float::greater(scans * self.scan_interval_s, now_s)
    }
}

/// A node that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    id: u64,
    replicas: u32,
    has_image: bool,
    has_kernels: bool,
    unused_since_s: f64,
    /// It goes as soon as it is unused, and gets nobody more.
    leaves: bool,
}

/// A node that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Request {
    id: u64,
    /// When it comes, or is given up.
    at_s: f64,
    comes: bool,
}

/// Where a replica was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The node.
    pub node: u64,
    /// Whether it has had the image.
    pub has_image: bool,
    /// Whether it has compiled the model.
    pub has_kernels: bool,
}

/// What happened to nodes by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// A node came.
    Came(u64),
    /// A node was given up.
    TimedOut(u64),
    /// An unused node went.
    Went(u64),
}

/// The nodes of a fleet over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes {
    pool: NodePool,
    seed: u64,
    nodes: Vec<Node>,
    requests: Vec<Request>,
    next_id: u64,
    last_added_s: f64,
    no_request_before_s: f64,
    /// When the pool is looked at again though nothing else happens.
    look_s: Option<f64>,
    /// Node-seconds up to the last change, and when that was.
    used: (f64, f64),
    /// The greatest number of nodes, asked for or there.
    peak: u32,
}

impl Nodes {
    /// The nodes at time 0.
    ///
    /// # Errors
    /// Those of [`NodePool::check`].
    pub fn new(pool: NodePool, seed: u64) -> Result<Self, SetupError> {
        pool.check()?;
        let mut nodes = Self {
            pool,
            seed,
            nodes: Vec::new(),
            requests: Vec::new(),
            next_id: 0,
            last_added_s: f64::NEG_INFINITY,
            no_request_before_s: 0.0,
            look_s: None,
            used: (0.0, 0.0),
            peak: pool.initial_nodes,
        };
        for _ in 0..pool.initial_nodes {
            nodes.add(0.0);
        }
        nodes.last_added_s = f64::NEG_INFINITY;
        Ok(nodes)
    }

    fn add(&mut self, now_s: f64) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let node = Node {
            id,
            replicas: 0,
            has_image: false,
            has_kernels: false,
            unused_since_s: now_s,
            leaves: false,
        };
        self.nodes.push(node);
        self.last_added_s = now_s;
        id
    }

    /// How many nodes are there.
    #[must_use]
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a node is there.
    #[must_use]
    pub fn has(&self, node: u64) -> bool {
        self.nodes.iter().any(|candidate| candidate.id == node)
    }

    /// How many are asked for.
    #[must_use]
    pub fn requested(&self) -> usize {
        self.requests.len()
    }

    /// The most nodes that were there or asked for at once.
    #[must_use]
    pub const fn peak(&self) -> u32 {
        self.peak
    }

    /// Node-seconds up to `now_s`.
    #[must_use]
    pub fn node_s(&self, now_s: f64) -> f64 {
        self.used.0 + from_count(self.nodes.len() as u64) * (now_s - self.used.1)
    }

    fn account(&mut self, now_s: f64) {
        self.used = (self.node_s(now_s), now_s);
    }

    /// Put a replica on the node with the least room that has enough of it: one that has the image
    /// before one that has not, and the oldest of equals.
    pub fn place(&mut self) -> Option<Place> {
        let room = self.pool.room();
        let fits = self.nodes.iter_mut().filter(|node| node.replicas < room && !node.leaves);
        let node = fits.min_by_key(|node| {
            (room - node.replicas, !node.has_kernels, !node.has_image, node.id)
        })?;
        node.replicas += 1;
        let Node { id, has_image, has_kernels, .. } = *node;
        Some(Place { node: id, has_image, has_kernels })
    }

    /// A node has the image, or the compiled model, from now on.
    pub fn keep_cached(&mut self, node: u64, has_kernels: bool) {
        if let Some(node) = self.nodes.iter_mut().find(|candidate| candidate.id == node) {
            node.has_image = true;
            node.has_kernels |= has_kernels;
        }
    }

    /// A replica has left its node.
    pub fn release(&mut self, node: u64, now_s: f64) {
        if let Some(node) = self.nodes.iter_mut().find(|candidate| candidate.id == node) {
            node.replicas = node.replicas.saturating_sub(1);
            if node.replicas == 0 {
                node.unused_since_s = now_s;
            }
        }
        let is_over = |node: &Node| node.leaves && node.replicas == 0;
        if self.nodes.iter().any(is_over) {
            self.account(now_s);
            let before = self.nodes.len();
            self.nodes.retain(|node| !is_over(node));
            // Whoever it was taken for has it, and not the next one here.
            let gone = (before - self.nodes.len()) as u32;
            self.pool.max_nodes = self.pool.max_nodes.saturating_sub(gone);
        }
    }

    /// How many nodes are there or asked for.
    pub(super) fn used(&self) -> u32 {
        (self.nodes.len() + self.requests.len()) as u32
    }

    /// How many of them go as soon as they are unused.
    pub(super) fn leaving(&self) -> u32 {
        self.nodes.iter().filter(|node| node.leaves).count() as u32
    }

    /// The most nodes that there may be from now on.
    pub(super) const fn allow(&mut self, most: u32) {
        self.pool.max_nodes = most;
    }

    /// The most nodes that there may be.
    pub(super) const fn most(&self) -> u32 {
        self.pool.max_nodes
    }

    /// A node goes as soon as it is unused. Whether that is news.
    pub(super) fn let_leave(&mut self, node: u64) -> bool {
        match self.nodes.iter_mut().find(|candidate| candidate.id == node) {
            Some(node) if !node.leaves => {
                node.leaves = true;
                true
            }
            _ => false,
        }
    }

    /// The newest node that nobody uses goes, beyond those kept free where they are to be kept; whether
    /// there was one.
    pub(super) fn give_up_unused(&mut self, keeps_warm: bool, now_s: f64) -> bool {
        if keeps_warm && self.free() <= self.pool.warm_nodes as usize {
            return false;
        }
        let Some(at) = self.nodes.iter().rposition(|node| node.replicas == 0) else { return false };
        self.account(now_s);
        self.nodes.remove(at);
        self.pool.max_nodes = self.pool.max_nodes.saturating_sub(1);
        true
    }

    /// The node that was asked for last is asked for no more; whether there was one.
    pub(super) fn call_off(&mut self) -> bool {
        let was_asked = self.requests.pop().is_some();
        if was_asked {
            self.pool.max_nodes = self.pool.max_nodes.saturating_sub(1);
        }
        was_asked
    }

    /// The same for replicas alone, and not to be kept free.
    pub(super) fn missing_for_replicas(&self, pending: usize) -> u32 {
        let needed = pending.div_ceil(self.pool.room() as usize);
        needed.saturating_sub(self.free() + self.requests.len()) as u32
    }

    /// Nodes that so many replicas without one need beyond those that are there or on their way.
    pub(super) fn missing(&self, pending: usize) -> u32 {
        let needed = pending.div_ceil(self.pool.room() as usize) + self.pool.warm_nodes as usize;
        needed.saturating_sub(self.free() + self.requests.len()) as u32
    }

    /// A node breaks down; whoever was on it is the caller's affair. Whether there was one.
    pub fn lose(&mut self, node: u64, now_s: f64) -> bool {
        self.account(now_s);
        let before = self.nodes.len();
        self.nodes.retain(|candidate| candidate.id != node);
        self.nodes.len() < before
    }

    /// Ask for as many nodes as `pending` replicas and the warm pool need and the quota allows; and
    /// let go of those that are unused for long.
    pub fn look(&mut self, pending: usize, now_s: f64) -> Vec<NodeEvent> {
        self.look_s = None;
        let mut went = Vec::new();
        self.ask(pending, now_s);
        self.let_go(pending, now_s, &mut went);
        went
    }

    fn ask(&mut self, pending: usize, now_s: f64) {
        // Free nodes beyond the warm pool's, and those on the way, take pending replicas first.
        let missing = self.missing(pending) as usize;
        let quota = self.pool.max_nodes as usize;
        let allowed = quota.saturating_sub(self.nodes.len() + self.requests.len());
        let asked = missing.min(allowed);
        if asked == 0 {
            return;
        }
        let scan_s = self.pool.scan_s(now_s);
        let begin_s = crate::float::greater(scan_s, self.no_request_before_s);
        if begin_s > now_s {
            self.look_at(begin_s);
            return;
        }
        for _ in 0..asked {
            let id = self.next_id;
            self.next_id += 1;
            let mut stream = Stream::of_request(self.seed, Purpose::Provisioning, id);
            let delay_s = self.pool.provisioning.draw_s(&mut stream);
            let is_empty = self.pool.empty_s.is_some_and(|(from, to)| from <= now_s && now_s < to);
            let comes = !is_empty && delay_s <= self.pool.provisioning_timeout_s;
            let wait_s = if comes { delay_s } else { self.pool.provisioning_timeout_s };
            self.requests.push(Request { id, at_s: now_s + wait_s, comes });
        }
        self.peak = self.peak.max((self.nodes.len() + self.requests.len()) as u32);
    }

    fn free(&self) -> usize {
        self.nodes.iter().filter(|node| node.replicas == 0 && !node.leaves).count()
    }

    fn look_at(&mut self, at_s: f64) {
        self.look_s = Some(self.look_s.map_or(at_s, |look_s| crate::float::lesser(look_s, at_s)));
    }

    fn let_go(&mut self, pending: usize, now_s: f64, went: &mut Vec<NodeEvent>) {
        if pending > 0 {
            return;
        }
        let mut spare = self.free().saturating_sub(self.pool.warm_nodes as usize);
        let earliest_s = self.last_added_s + self.pool.after_add_s;
        let mut next_s = f64::INFINITY;
        // The newest first: older ones have more in their caches.
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            if spare == 0 || node.replicas > 0 {
                continue;
            }
            spare -= 1;
            let due_s =
                crate::float::greater(node.unused_since_s + self.pool.unneeded_s, earliest_s);
            if due_s <= now_s {
                self.account(now_s);
                self.nodes.remove(index);
                went.push(NodeEvent::Went(node.id));
            } else {
                next_s = crate::float::lesser(next_s, due_s);
            }
        }
        if next_s < f64::INFINITY {
            let scan_s = self.pool.scan_s(next_s);
            self.look_at(scan_s);
        }
    }

    /// When something happens here next, in seconds.
    #[must_use]
    pub fn next_s(&self) -> Option<f64> {
        let times = self.requests.iter().map(|request| request.at_s).chain(self.look_s);
        times.reduce(crate::float::lesser)
    }

    /// What has happened up to `now_s`; [`look`](Self::look) afterwards.
    pub fn advance(&mut self, now_s: f64) -> Vec<NodeEvent> {
        let mut events = Vec::new();
        self.account(now_s);
        let (due, waiting): (Vec<Request>, Vec<Request>) =
            self.requests.iter().partition(|request| request.at_s <= now_s);
        self.requests = waiting;
        for request in due {
            if request.comes {
                events.push(NodeEvent::Came(self.add(now_s)));
            } else {
                self.no_request_before_s = now_s + self.pool.retry_pause_s;
                events.push(NodeEvent::TimedOut(request.id));
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> NodePool {
        NodePool { provisioning: StageTime::Fixed(200.0), ..NodePool::default() }
    }

    #[test]
    fn a_pending_replica_brings_a_node_at_the_next_scan() {
        let mut nodes = Nodes::new(pool(), 1).unwrap();
        assert_eq!(nodes.place(), None);
        nodes.look(1, 3.0);
        assert_eq!((nodes.requested(), nodes.next_s()), (0, Some(10.0)));
        nodes.look(1, 10.0);
        assert_eq!((nodes.requested(), nodes.next_s()), (1, Some(210.0)));
        nodes.look(1, 20.0);
        assert_eq!(nodes.requested(), 1, "it is on its way");
        assert_eq!(nodes.advance(210.0), [NodeEvent::Came(1)]);
        assert!(nodes.place().is_some_and(|place| !place.has_image));
    }

    #[test]
    fn an_empty_cloud_times_out_and_is_asked_again() {
        let mut nodes = Nodes::new(NodePool { empty_s: Some((0.0, 500.0)), ..pool() }, 1).unwrap();
        nodes.look(1, 0.0);
        assert_eq!(nodes.next_s(), Some(900.0));
        assert!(matches!(nodes.advance(900.0)[..], [NodeEvent::TimedOut(_)]));
        nodes.look(1, 900.0);
        assert_eq!((nodes.requested(), nodes.next_s()), (0, Some(1080.0)));
        nodes.look(1, 1080.0);
        assert!(matches!(nodes.advance(1280.0)[..], [NodeEvent::Came(_)]));
    }

    #[test]
    fn unused_nodes_go_but_for_the_warm_ones() {
        let with = NodePool { initial_nodes: 3, warm_nodes: 1, ..pool() };
        let mut nodes = Nodes::new(with, 1).unwrap();
        assert!(nodes.look(0, 0.0).is_empty());
        assert_eq!(nodes.next_s(), Some(600.0));
        assert_eq!(nodes.look(0, 600.0), [NodeEvent::Went(2), NodeEvent::Went(1)]);
        assert_eq!(nodes.count(), 1);
        assert_eq!(nodes.node_s(700.0), 3.0 * 600.0 + 100.0);
        // The warm one is taken, and another asked for.
        assert!(nodes.place().is_some());
        nodes.look(0, 700.0);
        assert_eq!(nodes.requested(), 1);
    }

    #[test]
    fn a_quota_is_a_ceiling() {
        let mut nodes = Nodes::new(NodePool { max_nodes: 2, ..pool() }, 1).unwrap();
        nodes.look(5, 0.0);
        assert_eq!((nodes.requested(), nodes.peak()), (2, 2));
    }

    #[test]
    fn replicas_share_a_node_with_room_for_two() {
        let large = NodePool { gpus_per_node: 8, gpus_per_replica: 4, initial_nodes: 2, ..pool() };
        let mut nodes = Nodes::new(large, 1).unwrap();
        let places: Vec<u64> = std::iter::from_fn(|| nodes.place()).map(|at| at.node).collect();
        assert_eq!(places, [0, 0, 1, 1]);
        let tight = NodePool { gpus_per_node: 8, gpus_per_replica: 5, initial_nodes: 2, ..pool() };
        let mut nodes = Nodes::new(tight, 1).unwrap();
        assert_eq!(std::iter::from_fn(|| nodes.place()).count(), 2, "all or nothing");
        assert!(NodePool { gpus_per_replica: 9, gpus_per_node: 8, ..pool() }.check().is_err());
    }
}
