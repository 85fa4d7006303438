//! The life of replicas: decided, started stage by stage, ready, draining, gone.
//!
//! ```text
//!   decided ─▶ (node) ─▶ image pull ─▶ weights ─▶ engine start ─▶ compile ─▶ ready ─▶ draining ─▶ gone
//!      └──────────┴───────────┴────────── called off, or lost ──────┴───────────┴──────────────▶ ┘
//! ```
//!
//! A replica without room on a node waits for one; the oldest gets the first that comes. Durations of
//! stages are drawn per replica and stage, so that what one does changes nothing about another.

use crate::setup::SetupError;

use super::{
    nodes::{NodeEvent, NodePool, Nodes, Place},
    start_up::{StartStage, StartUp},
};

/// Where a replica is in its life; in the order in which it comes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Asked for, and without a node.
    Decided,
    /// Starting on its node.
    Starting(StartStage),
    /// It serves.
    Ready,
    /// It serves what it has, and gets nothing more.
    Draining,
    /// It is no more.
    Gone,
}

/// One replica.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replica {
    /// Its number, in order of decision.
    pub id: u64,
    /// Where it is.
    pub stage: Stage,
    /// Since when, in seconds.
    pub since_s: f64,
    /// When it was decided, in seconds.
    pub decided_s: f64,
    /// Its node, if it has one.
    pub node: Option<u64>,
    /// What its node had when it came.
    cached: (bool, bool),
    /// When its container began, in seconds.
    container_s: f64,
    /// When the stage ends, in seconds; infinite if not by itself.
    until_s: f64,
}

/// A replica that has come to another stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The replica.
    pub id: u64,
    /// Its new stage.
    pub stage: Stage,
    /// When, in seconds.
    pub at_s: f64,
}

/// What the cloud did besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provisioned {
    /// Nodes that came.
    pub came: u64,
    /// Nodes that did not come in time.
    pub timed_out: u64,
    /// Nodes that went unused.
    pub went: u64,
}

impl Provisioned {
    /// What happened here and there.
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            came: self.came + other.came,
            timed_out: self.timed_out + other.timed_out,
            went: self.went + other.went,
        }
    }
}

/// Starts that take longer for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowdown {
    /// How many times as long a stage takes.
    pub factor: f64,
    /// Stages that begin before this time, in seconds.
    pub until_s: f64,
}

/// Replicas of one model and their nodes, over time.
#[derive(Clone, Debug)]
pub struct Lives {
    start_up: StartUp,
    seed: u64,
    pub(super) nodes: Nodes,
    /// How long a draining replica is waited for, in seconds.
    drain_grace_s: f64,
    /// Those that are not gone, in order of decision.
    pub(super) replicas: Vec<Replica>,
    decided: u64,
    gone: u64,
    pub(super) now_s: f64,
    provisioned: Provisioned,
    slowdown: Option<Slowdown>,
}

impl Lives {
    /// No replica yet, at time 0.
    ///
    /// # Errors
    /// A time or a pool outside its domain.
    pub fn new(
        start_up: StartUp,
        pool: NodePool,
        drain_grace_s: f64,
        seed: u64,
    ) -> Result<Self, SetupError> {
        start_up.check()?;
        super::start_up::StageTime::Fixed(drain_grace_s).check("drain_grace")?;
        let nodes = Nodes::new(pool, seed)?;
        Ok(Self {
            start_up,
            seed,
            nodes,
            drain_grace_s,
            replicas: Vec::new(),
            decided: 0,
            gone: 0,
            now_s: 0.0,
            provisioned: Provisioned::default(),
            slowdown: None,
        })
    }

    /// From now on starts take longer.
    pub const fn slow_down(&mut self, slowdown: Slowdown) {
        self.slowdown = Some(slowdown);
    }

    fn slowness(&self, now_s: f64) -> f64 {
        match self.slowdown {
            Some(slowdown) if now_s < slowdown.until_s => slowdown.factor,
            _ => 1.0,
        }
    }

    /// Those that are not gone, in order of decision.
    #[must_use]
    pub fn replicas(&self) -> &[Replica] {
        &self.replicas
    }

    /// How many are in stages of which `is` is true.
    #[must_use]
    pub fn count(&self, is: impl Fn(Stage) -> bool) -> usize {
        self.replicas.iter().filter(|replica| is(replica.stage)).count()
    }

    /// How many count as the workload's replicas: all that are neither draining nor gone.
    #[must_use]
    pub fn wanted(&self) -> usize {
        self.count(|stage| stage < Stage::Draining)
    }

    /// How many were ever decided, and how many of them are gone.
    #[must_use]
    pub const fn decided_and_gone(&self) -> (u64, u64) {
        (self.decided, self.gone)
    }

    /// The nodes.
    #[must_use]
    pub const fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// What the cloud did so far.
    #[must_use]
    pub const fn provisioned(&self) -> Provisioned {
        self.provisioned
    }

    /// When something happens next by itself, in seconds.
    #[must_use]
    pub fn next_s(&self) -> Option<f64> {
        let ends = self.replicas.iter().map(|replica| replica.until_s);
        let first = ends.chain(self.nodes.next_s()).reduce(crate::float::lesser)?;
        (first < f64::INFINITY).then_some(first)
    }

    /// So many replicas ready at once, on nodes that have everything cached: a fleet that has been
    /// running. As many as there is room for.
    pub fn begin_ready(&mut self, count: usize) -> Vec<Change> {
        let mut changes = Vec::new();
        for _ in 0..count {
            let Some(place) = self.nodes.place() else { break };
            self.nodes.keep_cached(place.node, true);
            let id = self.decide();
            let now_s = self.now_s;
            if let Some(replica) = self.replicas.last_mut() {
                replica.node = Some(place.node);
                enter(replica, Stage::Ready, now_s, f64::INFINITY, &mut changes);
            }
            debug_assert_eq!(changes.last().map(|change| change.id), Some(id));
        }
        changes
    }

    pub(super) fn decide(&mut self) -> u64 {
        let id = self.decided;
        self.decided += 1;
        self.replicas.push(Replica {
            id,
            stage: Stage::Decided,
            since_s: self.now_s,
            decided_s: self.now_s,
            node: None,
            cached: (false, false),
            container_s: 0.0,
            until_s: f64::INFINITY,
        });
        id
    }

    /// Have so many replicas: decide on more, or call off, then drain, those that are too many.
    ///
    /// In Kubernetes' order: those without a node first, then those that start, then those that are
    /// ready, of equals the newest first.
    pub fn scale_to(&mut self, count: usize, now_s: f64) -> Vec<Change> {
        self.now_s = now_s;
        let mut changes = Vec::new();
        while self.wanted() < count {
            let id = self.decide();
            changes.push(Change { id, stage: Stage::Decided, at_s: now_s });
        }
        while self.wanted() > count {
            let victims = self.replicas.iter().filter(|replica| replica.stage < Stage::Draining);
            let first = victims.min_by(|a, b| {
                rank(a).cmp(&rank(b)).then(b.since_s.total_cmp(&a.since_s)).then(b.id.cmp(&a.id))
            });
            let Some(id) = first.map(|replica| replica.id) else { break };
            self.end(id, &mut changes);
        }
        self.settle(&mut changes);
        changes
    }

    /// A replica is to go: a ready one drains, one that starts is called off.
    pub(super) fn end(&mut self, id: u64, changes: &mut Vec<Change>) {
        let now_s = self.now_s;
        let grace_s = self.drain_grace_s;
        if let Some(replica) = self.replicas.iter_mut().find(|replica| replica.id == id) {
            if replica.stage == Stage::Ready {
                enter(replica, Stage::Draining, now_s, now_s + grace_s, changes);
            } else {
                self.bury(id, changes);
            }
        }
    }

    pub(super) fn bury(&mut self, id: u64, changes: &mut Vec<Change>) {
        let Some(index) = self.replicas.iter().position(|replica| replica.id == id) else {
            return;
        };
        let mut replica = self.replicas.remove(index);
        if let Some(node) = replica.node {
            self.nodes.release(node, self.now_s);
        }
        self.gone += 1;
        enter(&mut replica, Stage::Gone, self.now_s, f64::INFINITY, changes);
    }

    /// A draining replica has nothing left to do, or a replica is lost: it is gone.
    pub fn remove(&mut self, id: u64, now_s: f64) -> Vec<Change> {
        self.now_s = now_s;
        let mut changes = Vec::new();
        self.bury(id, &mut changes);
        self.settle(&mut changes);
        changes
    }

    /// A node breaks down, and all replicas on it are gone.
    pub fn lose_node(&mut self, node: u64, now_s: f64) -> Vec<Change> {
        self.now_s = now_s;
        let mut changes = Vec::new();
        if self.nodes.lose(node, now_s) {
            let lost = self.replicas.iter().filter(|replica| replica.node == Some(node));
            for id in lost.map(|replica| replica.id).collect::<Vec<u64>>() {
                self.bury(id, &mut changes);
            }
        }
        self.settle(&mut changes);
        changes
    }

    /// Let happen what happens by itself up to `until_s`, in its order.
    pub fn advance(&mut self, until_s: f64) -> Vec<Change> {
        let mut changes = Vec::new();
        while let Some(next_s) = self.next_s().filter(|&next_s| next_s <= until_s) {
            self.now_s = next_s;
            for event in self.nodes.advance(next_s) {
                match event {
                    NodeEvent::Came(_) => self.provisioned.came += 1,
                    NodeEvent::TimedOut(_) => self.provisioned.timed_out += 1,
                    NodeEvent::Went(_) => self.provisioned.went += 1,
                }
            }
            let due = self.replicas.iter().filter(|replica| replica.until_s <= next_s);
            for id in due.map(|replica| replica.id).collect::<Vec<u64>>() {
                self.step(id, &mut changes);
            }
            self.settle(&mut changes);
        }
        self.now_s = until_s;
        changes
    }

    /// What there is room for now.
    pub(super) fn settled(&mut self, now_s: f64) -> Vec<Change> {
        self.now_s = now_s;
        let mut changes = Vec::new();
        self.settle(&mut changes);
        changes
    }

    /// Give room to those that wait, ask for nodes, let unused ones go.
    pub(super) fn settle(&mut self, changes: &mut Vec<Change>) {
        for index in 0..self.replicas.len() {
            if self.replicas[index].stage != Stage::Decided {
                continue;
            }
            let Some(place) = self.nodes.place() else { break };
            self.start(index, place, changes);
        }
        let pending = self.count(|stage| stage == Stage::Decided);
        for event in self.nodes.look(pending, self.now_s) {
            self.provisioned.went += u64::from(matches!(event, NodeEvent::Went(_)));
        }
    }

    fn start(&mut self, index: usize, place: Place, changes: &mut Vec<Change>) {
        let slowness = self.slowness(self.now_s);
        let replica = &mut self.replicas[index];
        replica.node = Some(place.node);
        replica.cached = (place.has_image, place.has_kernels);
        let pull_s = slowness
            * self.start_up.draw_s((self.seed, replica.id), StartStage::ImagePull, replica.cached);
        let stage = Stage::Starting(StartStage::ImagePull);
        enter(replica, stage, self.now_s, self.now_s + pull_s, changes);
    }

    /// A timed stage of a replica is over.
    fn step(&mut self, id: u64, changes: &mut Vec<Change>) {
        let Some(index) = self.replicas.iter().position(|replica| replica.id == id) else {
            return;
        };
        let now_s = self.now_s;
        let slowness = self.slowness(now_s);
        let replica = &mut self.replicas[index];
        match replica.stage {
            Stage::Starting(stage) => {
                let next = StartStage::ALL.into_iter().find(|&next| next > stage);
                if let Some(node) = replica.node
                    && matches!(stage, StartStage::ImagePull | StartStage::Compile)
                {
                    self.nodes.keep_cached(node, stage == StartStage::Compile);
                }
                if stage == StartStage::ImagePull {
                    replica.container_s = now_s;
                }
                let Some(next) = next else {
                    enter(replica, Stage::Ready, now_s, f64::INFINITY, changes);
                    return;
                };
                let mut length_s =
                    slowness * self.start_up.draw_s((self.seed, id), next, replica.cached);
                if next == StartStage::Compile {
                    length_s =
                        self.start_up.until_probed_s(now_s + length_s, replica.container_s) - now_s;
                }
                enter(replica, Stage::Starting(next), now_s, now_s + length_s, changes);
            }
            Stage::Draining => self.bury(id, changes),
            Stage::Decided | Stage::Ready | Stage::Gone => {}
        }
    }
}

impl StartUp {
    /// The first probe at or after `able_s` of a container that began at `container_s`.
    fn until_probed_s(&self, able_s: f64, container_s: f64) -> f64 {
        if self.readiness_period_s == 0.0 {
            return able_s;
        }
        let probes = ((able_s - container_s) / self.readiness_period_s).ceil();
        crate::float::greater(container_s + probes * self.readiness_period_s, able_s)
    }
}

/// The order in which replicas are given up.
pub(super) const fn rank(replica: &Replica) -> u8 {
    match replica.stage {
        Stage::Decided => 0,
        Stage::Starting(_) => 1,
        Stage::Ready | Stage::Draining | Stage::Gone => 2,
    }
}

fn enter(replica: &mut Replica, stage: Stage, at_s: f64, until_s: f64, changes: &mut Vec<Change>) {
    debug_assert!(stage > replica.stage, "{:?} after {:?}", stage, replica.stage);
    replica.stage = stage;
    replica.since_s = at_s;
    replica.until_s = until_s;
    changes.push(Change { id: replica.id, stage, at_s });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::start_up::StageTime;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const START_UP: StartUp = StartUp {
        image_pull: StageTime::Fixed(60.0),
        image_pull_cached: StageTime::Fixed(2.0),
        weights: StageTime::Fixed(40.0),
        engine_start: StageTime::Fixed(30.0),
        compile: StageTime::Fixed(50.0),
        compile_cached: StageTime::Fixed(8.0),
        readiness_period_s: 0.0,
    };

    fn pool() -> NodePool {
        NodePool { provisioning: StageTime::Fixed(200.0), initial_nodes: 1, ..NodePool::default() }
    }

    fn ready_at(changes: &[Change]) -> Vec<(u64, f64)> {
        let ready = changes.iter().filter(|change| change.stage == Stage::Ready);
        ready.map(|change| (change.id, change.at_s)).collect()
    }

    #[test]
    fn a_start_goes_through_its_stages() {
        let mut lives = Lives::new(START_UP, pool(), 30.0, 1).unwrap();
        let mut changes = lives.scale_to(2, 0.0);
        changes.extend(lives.advance(1000.0));
        let first: Vec<(Stage, f64)> = changes
            .iter()
            .filter(|change| change.id == 0)
            .map(|change| (change.stage, change.at_s))
            .collect();
        assert_eq!(
            first,
            [
                (Stage::Decided, 0.0),
                (Stage::Starting(StartStage::ImagePull), 0.0),
                (Stage::Starting(StartStage::Weights), 60.0),
                (Stage::Starting(StartStage::EngineStart), 100.0),
                (Stage::Starting(StartStage::Compile), 130.0),
                (Stage::Ready, 180.0),
            ]
        );
        // The other waits for its node first.
        assert_eq!(ready_at(&changes), [(0, 180.0), (1, 380.0)]);
    }

    #[test]
    fn caches_shorten_the_next_start_on_the_same_node() {
        let mut lives = Lives::new(START_UP, pool(), 30.0, 1).unwrap();
        lives.scale_to(1, 0.0);
        lives.advance(500.0);
        lives.remove(0, 500.0);
        lives.scale_to(1, 500.0);
        assert_eq!(ready_at(&lives.advance(600.0)), [(1, 500.0 + 2.0 + 40.0 + 30.0 + 8.0)]);
    }

    #[test]
    fn a_probe_comes_when_it_comes() {
        let start_up = StartUp { readiness_period_s: 25.0, ..START_UP };
        let mut lives = Lives::new(start_up, pool(), 30.0, 1).unwrap();
        lives.scale_to(1, 0.0);
        // Able at 180 s; probes every 25 s from 60 s on.
        assert_eq!(ready_at(&lives.advance(600.0)), [(0, 185.0)]);
    }

    #[test]
    fn those_without_a_node_are_called_off_first_and_ready_ones_drain() {
        let mut lives = Lives::new(START_UP, pool(), 30.0, 1).unwrap();
        lives.scale_to(3, 0.0);
        lives.advance(190.0);
        let changes = lives.scale_to(1, 190.0);
        let ended: Vec<(u64, Stage)> =
            changes.iter().map(|change| (change.id, change.stage)).collect();
        assert_eq!(ended, [(2, Stage::Gone), (1, Stage::Gone)]);
        assert_eq!(lives.scale_to(0, 195.0)[0].stage, Stage::Draining);
        assert_eq!(lives.wanted(), 0);
        let gone = lives.advance(400.0);
        assert_eq!(
            gone.last().map(|change| (change.stage, change.at_s)),
            Some((Stage::Gone, 225.0))
        );
        assert_eq!(lives.decided_and_gone(), (3, 3));
    }

    #[test]
    fn a_lost_node_takes_its_replicas() {
        let large = NodePool { gpus_per_node: 2, ..pool() };
        let mut lives = Lives::new(START_UP, large, 30.0, 1).unwrap();
        lives.begin_ready(2);
        let changes = lives.lose_node(0, 50.0);
        assert_eq!(changes.iter().filter(|change| change.stage == Stage::Gone).count(), 2);
        assert_eq!((lives.wanted(), lives.nodes().count()), (0, 0));
    }

    #[derive(Clone, Debug)]
    enum Act {
        Scale(usize),
        Wait(f64),
        Remove(usize),
        LoseNode(u64),
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            4 => (0_usize..9).prop_map(Act::Scale),
            4 => (0.0_f64..400.0).prop_map(Act::Wait),
            1 => (0_usize..9).prop_map(Act::Remove),
            1 => (0_u64..12).prop_map(Act::LoseNode),
        ]
    }

    proptest! {
        /// Nobody is lost or comes back, everybody goes forward, and there is room for all.
        #[test]
        fn lives_are_kept_in_order(
            acts in prop::collection::vec(act(), 1..40),
            (gpus_per_node, gpus_per_replica) in (1_u32..9, 1_u32..3),
            (max_nodes, warm_nodes) in (1_u32..6, 0_u32..2),
            cv in 0.0_f64..2.0,
            seed in 0_u64..1000,
        ) {
            let pool = NodePool {
                gpus_per_node: gpus_per_node.max(gpus_per_replica),
                gpus_per_replica,
                max_nodes,
                warm_nodes,
                provisioning: StageTime::Lognormal { mean_s: 300.0, cv },
                unneeded_s: 60.0,
                after_add_s: 60.0,
                ..pool()
            };
            let start_up =
                StartUp { weights: StageTime::Lognormal { mean_s: 90.0, cv }, ..START_UP };
            let mut lives = Lives::new(start_up, pool, 45.0, seed).unwrap();
            let mut seen: BTreeMap<u64, (Stage, f64)> = BTreeMap::new();
            let mut now_s = 0.0;
            for act in acts {
                let changes = match act {
                    Act::Scale(count) => lives.scale_to(count, now_s),
                    Act::Wait(seconds) => {
                        now_s += seconds;
                        lives.advance(now_s)
                    }
                    Act::Remove(index) => match lives.replicas().get(index).copied() {
                        Some(replica) => lives.remove(replica.id, now_s),
                        None => Vec::new(),
                    },
                    Act::LoseNode(node) => lives.lose_node(node, now_s),
                };
                for Change { id, stage, at_s } in changes {
                    if let Some(&(before, since_s)) = seen.get(&id) {
                        prop_assert!(stage > before && at_s >= since_s);
                    } else {
                        prop_assert!(stage == Stage::Decided);
                    }
                    seen.insert(id, (stage, at_s));
                }
                let (decided, gone) = lives.decided_and_gone();
                prop_assert_eq!(decided, gone + lives.replicas().len() as u64);
                prop_assert_eq!(decided, seen.len() as u64);
                for replica in lives.replicas() {
                    prop_assert_eq!(seen[&replica.id].0, replica.stage);
                    prop_assert_eq!(replica.node.is_some(), replica.stage != Stage::Decided);
                }
                let placed = lives.count(|stage| stage != Stage::Decided) as u32;
                let room = lives.nodes().count() as u32 * (pool.gpus_per_node / gpus_per_replica);
                prop_assert!(placed <= room && lives.nodes().peak() <= max_nodes);
                prop_assert!(lives.next_s().is_none_or(|next_s| next_s >= now_s));
            }
        }
    }
}
