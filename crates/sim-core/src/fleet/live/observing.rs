//! What the autoscaler is shown of a fleet, and what it asks for.

use crate::{
    fleet::{
        autoscale::hpa::Phase,
        life::{Replica, Stage},
        policy::{Gauges, Observed, PodView, Totals},
    },
    float::from_count,
};

use super::{FleetSimulation, samples::LineSample};

impl FleetSimulation {
    pub(super) fn sync(&mut self, now_s: f64) {
        let observed = self.observe(now_s);
        self.desired = self.controller.sync(&observed).max(0);
        let changes = self.lives.scale_to(self.desired as usize, now_s);
        self.follow(&changes, now_s);
    }

    fn observe(&self, now_s: f64) -> Observed {
        let pod = |replica: &Replica| {
            let gauges = match replica.stage {
                Stage::Ready | Stage::Draining => {
                    self.server(replica.id).and_then(|at| self.servers[at].gauges)
                }
                Stage::Starting(_) if self.fleet.counts_warming => {
                    Some(Gauges { at_s: now_s, ..Gauges::default() })
                }
                _ => None,
            };
            PodView {
                phase: if replica.node.is_some() { Phase::Running } else { Phase::Pending },
                is_deleted: replica.stage == Stage::Draining,
                is_ready: replica.stage == Stage::Ready,
                since_s: replica.since_s,
                start_s: replica.node.map(|_| replica.decided_s),
                gauges,
            }
        };
        Observed {
            replicas: self.lives.wanted() as i32,
            pods: self.lives.replicas().iter().map(pod).collect(),
            queued: self.queued_scraped,
            deferred: self.deferred_scraped,
            in_system: from_count(self.in_system),
            totals: Totals { offered: from_count(self.offered), ..self.totals },
            is_blind: now_s < self.blind_until_s,
        }
    }

    pub(super) fn scrape(&mut self, now_s: f64) {
        self.next_scrape_s = now_s + self.fleet.scrape_s;
        if now_s < self.blind_until_s {
            return;
        }
        self.queued_scraped = from_count(self.line.len() as u64);
        self.deferred_scraped = from_count(self.deferred.len() as u64);
        let kv_capacity = from_count(self.fleet.setup.engine.kv_capacity_tokens);
        for server in &mut self.servers {
            server.scrape(now_s, kv_capacity);
        }
        if self.fleet.keeps_samples {
            let of_replicas = self.servers.iter().map(|server| server.sample(now_s, kv_capacity));
            self.samples.replicas.extend(of_replicas);
            let (queued, deferred) = (self.line.len() as u64, self.deferred.len() as u64);
            self.samples.line.push(LineSample { at_s: now_s, queued, deferred });
        }
    }
}
