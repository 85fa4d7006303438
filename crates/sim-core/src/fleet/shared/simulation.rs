//! Several models as they run, from event to event.

use crate::{
    engine::Keep,
    fleet::live::{FleetSimulation, Part},
    setup::SetupError,
};

use super::{Reclaim, SharedFleet, SharedRun};

/// One model of several.
#[derive(Debug)]
struct Model {
    simulation: FleetSimulation,
    priority: i32,
    gpus_per_node: u32,
    /// Its own limit.
    most_nodes: u32,
    reclaimed: u64,
}

/// Several models as they run, to be advanced in slices: looking at them changes nothing.
#[derive(Debug)]
pub struct SharedSimulation {
    models: Vec<Model>,
    /// Their places, the most important first.
    order: Vec<usize>,
    quota_gpus: u32,
    kills: bool,
    peak_gpus: u32,
    now_s: f64,
    events: u64,
    /// How often replicas had come to another stage when GPUs were last shared out.
    seen_changes: u64,
}

impl SharedSimulation {
    /// Several models at their beginning.
    ///
    /// # Errors
    /// As [`SharedFleet::check`], or more replicas at the beginning than have room.
    pub fn new(fleet: &SharedFleet, keep: Keep) -> Result<Self, SetupError> {
        fleet.check()?;
        let mut models = Vec::new();
        for tenant in &fleet.tenants {
            let simulation = FleetSimulation::of_part(tenant.fleet.clone(), Part::default(), keep)?;
            models.push(Model {
                simulation,
                priority: tenant.priority,
                gpus_per_node: tenant.fleet.nodes.gpus_per_node,
                most_nodes: tenant.fleet.nodes.max_nodes,
                reclaimed: 0,
            });
        }
        let mut order: Vec<usize> = (0..models.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(models[at].priority));
        let kills = fleet.reclaim == Reclaim::Kill;
        let mut shared = Self {
            models,
            order,
            quota_gpus: fleet.quota_gpus,
            kills,
            peak_gpus: 0,
            now_s: 0.0,
            events: 0,
            seen_changes: 0,
        };
        shared.share_out();
        Ok(shared)
    }

    /// Let up to `events` events happen; whether there is more.
    pub fn advance(&mut self, events: u64) -> bool {
        let end = self.events.saturating_add(events);
        while self.events < end {
            if !self.step() {
                return false;
            }
        }
        true
    }

    /// GPUs of nodes that are there or asked for.
    #[must_use]
    pub fn used_gpus(&mut self) -> u32 {
        self.models
            .iter_mut()
            .map(|model| model.simulation.lives().used_nodes() * model.gpus_per_node)
            .sum()
    }

    /// The time of the last event in seconds.
    #[must_use]
    pub const fn now_s(&self) -> f64 {
        self.now_s
    }

    fn step(&mut self) -> bool {
        if self.models.iter_mut().all(|model| model.simulation.is_over()) {
            return false;
        }
        let times = self.models.iter_mut().map(|model| model.simulation.next_event_s());
        let first = times.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, at_s)) = first.filter(|(_, at_s)| *at_s < f64::INFINITY) else {
            return false;
        };
        self.events += 1;
        self.now_s = crate::float::greater(self.now_s, at_s);
        self.models[at].simulation.take_next();
        if self.changes() != self.seen_changes {
            self.share_out();
        }
        true
    }

    fn changes(&self) -> u64 {
        self.models.iter().map(|model| model.simulation.changes()).sum()
    }

    /// GPUs that nobody has and nobody may ask for.
    fn free_gpus(&mut self) -> u32 {
        let held = self
            .models
            .iter_mut()
            .map(|model| model.simulation.lives().held_nodes() * model.gpus_per_node)
            .sum();
        self.quota_gpus.saturating_sub(held)
    }

    /// Give GPUs to those who wait for some, the most important first.
    fn share_out(&mut self) {
        for model in &mut self.models {
            let lives = model.simulation.lives();
            let used = lives.used_nodes();
            lives.nodes_may_be(used);
        }
        let mut claimed_gpus = 0;
        for place in 0..self.order.len() {
            let at = self.order[place];
            let short = self.give(at);
            // Nodes that are to be kept free are worth nobody's replica.
            let short = short.min(self.models[at].simulation.lives().urgent_nodes());
            if short == 0 {
                continue;
            }
            claimed_gpus += short * self.models[at].gpus_per_node;
            self.take_for(at, claimed_gpus);
            let still_short = self.give(at);
            let given = short.saturating_sub(still_short);
            claimed_gpus -= given * self.models[at].gpus_per_node;
        }
        self.seen_changes = self.changes();
        let used = self.used_gpus();
        self.peak_gpus = self.peak_gpus.max(used);
    }

    /// Allow a model the nodes that it lacks, as far as GPUs are free or unused; how many it still
    /// lacks.
    fn give(&mut self, at: usize) -> u32 {
        let Model { gpus_per_node, most_nodes, .. } = self.models[at];
        let lives = self.models[at].simulation.lives();
        let (used, leaving) = (lives.used_nodes(), lives.leaving_nodes());
        let allowed = lives.held_nodes() - used;
        let room = most_nodes.saturating_sub(used - leaving);
        let lacks = lives.missing_nodes().min(room).saturating_sub(allowed);
        let mut can = lacks.min(self.free_gpus() / gpus_per_node);
        while can < lacks && self.find_unused(at) {
            can = lacks.min(self.free_gpus() / gpus_per_node);
        }
        if can > 0 {
            self.models[at].simulation.allow_nodes(used + allowed + can, self.now_s);
        }
        lacks - can
    }

    /// Make a GPU free that nobody uses; whether there was one.
    fn find_unused(&mut self, whose: usize) -> bool {
        let (order, now_s) = (self.order.clone(), self.now_s);
        let others = || order.iter().rev().copied().filter(move |&other| other != whose);
        let priority = self.models[whose].priority;
        others().any(|other| {
            let model = &mut self.models[other];
            let keeps_warm = model.priority >= priority;
            model.simulation.lives().give_up_unused(keeps_warm, now_s)
        }) || others().any(|other| {
            let model = &mut self.models[other];
            model.priority < priority && model.simulation.lives().call_off_node()
        })
    }

    /// Take replicas from less important models until so many GPUs are or will be free.
    fn take_for(&mut self, whose: usize, gpus: u32) {
        let priority = self.models[whose].priority;
        let less: Vec<usize> = self.order.iter().rev().copied().collect();
        let less: Vec<usize> =
            less.into_iter().filter(|&other| self.models[other].priority < priority).collect();
        for &other in &less {
            self.models[other].simulation.lives().let_draining_leave();
        }
        for &other in &less {
            while self.coming_gpus(&less) + self.free_gpus() < gpus
                && self.models[other].simulation.reclaim_one(self.kills, self.now_s)
            {
                self.models[other].reclaimed += 1;
            }
        }
    }

    /// GPUs of nodes that go as soon as their replica does.
    fn coming_gpus(&mut self, of: &[usize]) -> u32 {
        let mut gpus = 0;
        for &at in of {
            let model = &mut self.models[at];
            gpus += model.simulation.lives().leaving_nodes() * model.gpus_per_node;
        }
        gpus
    }

    /// What happened.
    #[must_use]
    pub fn finish(mut self) -> SharedRun {
        let end_s = self.now_s;
        for model in &mut self.models {
            model.simulation.pass_until(end_s);
        }
        let reclaimed = self.models.iter().map(|model| model.reclaimed).collect();
        let runs = self.models.into_iter().map(|model| model.simulation.finish()).collect();
        SharedRun { runs, reclaimed, peak_gpus: self.peak_gpus }
    }
}
