//! A replica that serves, and when it is to be looked at.

use crate::{
    engine::Fed,
    fleet::policy::Gauges,
    float::{from_count, lesser},
    workload::SharedPrefix,
};

use super::samples::{ReplicaCounters, ReplicaSample};

/// A replica that takes or has taken requests.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) id: u64,
    pub(super) engine: Fed,
    pub(super) is_draining: bool,
    /// Tells events of now from those of before.
    pub(super) version: u64,
    /// Requests routed to it, and what its counters were at the last scrape.
    pub(super) routed: u64,
    pub(super) scraped: Scraped,
    pub(super) gauges: Option<Gauges>,
    pub(super) counters: ReplicaCounters,
    /// Until when it sends caches away, in seconds.
    pub(super) sends_until_s: f64,
    /// Shared beginnings in its cache, the latest used last.
    prefixes: Vec<u64>,
}

impl Server {
    pub(super) fn new(id: u64, engine: Fed, at_s: f64) -> Self {
        let scraped = Scraped { at_s, ..Scraped::default() };
        Self {
            id,
            engine,
            is_draining: false,
            version: 0,
            routed: 0,
            scraped,
            gauges: None,
            counters: ReplicaCounters::default(),
            sends_until_s: f64::NEG_INFINITY,
            prefixes: Vec::new(),
        }
    }

    /// Tokens of a prompt with this beginning that it need not compute; from now on it has them,
    /// beside the others that it used last. A request right behind the first finds what that one is
    /// still computing.
    pub(super) fn use_prefix(&mut self, prefix: SharedPrefix, most: usize) -> u64 {
        let found = self.prefixes.iter().position(|&group| group == prefix.group);
        if let Some(at) = found {
            self.prefixes.remove(at);
        } else if most > 0 && self.prefixes.len() >= most {
            self.prefixes.remove(0);
        }
        if most > 0 {
            self.prefixes.push(prefix.group);
        }
        if found.is_some() { prefix.tokens } else { 0 }
    }

    /// What a monitoring system sees of it at `at_s`.
    pub(super) fn sample(&self, at_s: f64, kv_capacity: f64) -> ReplicaSample {
        ReplicaSample {
            at_s,
            replica: self.id,
            running: self.engine.running(),
            waiting: self.engine.waiting(),
            kv_usage: from_count(self.engine.kv_tokens()) / kv_capacity,
            generated_tokens: self.engine.generated_tokens(),
            cached_tokens: self.engine.cached_tokens(),
            counters: self.counters.clone(),
        }
    }

    /// What its gauges show at `now_s`, and rates since it was last scraped.
    pub(super) fn scrape(&mut self, now_s: f64, kv_capacity: f64) {
        let engine = &self.engine;
        let now = Scraped {
            at_s: now_s,
            routed: self.routed,
            tokens: engine.generated_tokens(),
            busy_s: engine.busy_s(now_s),
        };
        let before = self.scraped;
        let passed_s = now_s - before.at_s;
        let rate = |amount: f64| if passed_s > 0.0 { amount / passed_s } else { 0.0 };
        self.gauges = Some(Gauges {
            at_s: now_s,
            running: from_count(engine.running()),
            waiting: from_count(engine.waiting()),
            kv_tokens: from_count(engine.kv_tokens()),
            kv_capacity,
            request_rate: rate(from_count(now.routed - before.routed)),
            token_rate: rate(from_count(now.tokens - before.tokens)),
            busy: lesser(rate(now.busy_s - before.busy_s), 1.0),
        });
        self.scraped = now;
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scraped {
    pub(super) at_s: f64,
    pub(super) routed: u64,
    pub(super) tokens: u64,
    pub(super) busy_s: f64,
}

/// A time at which an engine is to be looked at; times are ordered as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Due {
    pub(super) at_s: f64,
    pub(super) id: u64,
    pub(super) version: u64,
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at_s
            .total_cmp(&other.at_s)
            .then((self.id, self.version).cmp(&(other.id, other.version)))
    }
}
