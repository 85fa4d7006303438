//! The engine at one rate, over replications.

use sim_core::{
    Distribution, Run,
    measure::{ClassRun, Verdict},
};

use crate::{
    answer::{ClassAtLoad, Estimate, LoadPoint},
    demand::Demand,
};

/// One number per replication.
#[derive(Clone, Debug, Default)]
struct Spread(Vec<f64>);

impl Spread {
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    fn estimate(&self) -> Estimate {
        Estimate::of_mean(&self.0)
    }
}

/// A distribution pooled over replications, and the percentiles of each.
#[derive(Clone, Debug, Default)]
struct Pooled {
    all: Distribution,
    p50: Spread,
    p99: Spread,
}

impl Pooled {
    fn add(&mut self, of_run: &Distribution) {
        self.all.merge(of_run);
        // A distribution is empty only where no request has such a value (one-token outputs).
        self.p50.0.extend(of_run.percentile(50.0));
        self.p99.0.extend(of_run.percentile(99.0));
    }

    /// The percentile of all requests together, with the spread of the replications.
    fn estimate(&self, percent: f64, spread: &Spread) -> Estimate {
        let value = self.all.percentile(percent).unwrap_or(0.0);
        Estimate::around(value, &spread.0).not_negative()
    }

    fn p50(&self) -> Estimate {
        self.estimate(50.0, &self.p50)
    }

    fn p99(&self) -> Estimate {
        self.estimate(99.0, &self.p99)
    }
}

/// Collects the runs at one rate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    ttft: Pooled,
    tpot: Pooled,
    itl: Pooled,
    e2e: Pooled,
    queue_wait_mean_s: Spread,
    goodput_per_s: Spread,
    throughput_per_s: Spread,
    output_tokens_per_s: Spread,
    slo_share: Spread,
    answered_share: Spread,
    mean_running: Spread,
    compute_bound_share: Spread,
    busy_share: Spread,
    kv_peak_tokens: u64,
    /// Runs that more came to than left.
    overloaded: usize,
    /// Runs that were still settling, or too short to tell.
    unsettled: usize,
    /// Each class over all runs, where asked for.
    classes: Vec<ClassRun>,
}

impl Load {
    pub(crate) fn add(&mut self, run: &Run) {
        self.ttft.add(&run.ttft);
        self.tpot.add(&run.tpot);
        self.itl.add(&run.itl);
        self.e2e.add(&run.e2e);
        self.queue_wait_mean_s.0.push(run.queue_wait.mean().unwrap_or(0.0));
        self.goodput_per_s.0.push(run.goodput_per_s());
        self.throughput_per_s.0.push(run.throughput_per_s());
        self.output_tokens_per_s.0.push(run.output_tokens_per_s());
        self.slo_share.0.push(run.slo_share());
        self.answered_share.0.push(run.completed as f64 / run.offered.max(1) as f64);
        self.mean_running.0.push(run.mean_running());
        let times = run.step_times;
        let share = |part_s: f64, whole_s: f64| if whole_s > 0.0 { part_s / whole_s } else { 0.0 };
        self.compute_bound_share.0.push(share(times.compute_bound_s, times.busy_s));
        // The two sides are added up in different orders; rounding must not show as more than all.
        let busy_share = share(times.busy_s, run.duration_s());
        self.busy_share.0.push(sim_core::float::lesser(1.0, busy_share));
        self.kv_peak_tokens = self.kv_peak_tokens.max(run.peak_kv_tokens);
        match run.judgement().verdict {
            Verdict::Overloaded => self.overloaded += 1,
            Verdict::Transient => self.unsettled += 1,
            Verdict::Stable => {}
        }
    }

    /// Add up each class of a run, too.
    pub(crate) fn add_classes(&mut self, run: &Run) {
        if self.classes.is_empty() {
            self.classes.clone_from(&run.classes);
            return;
        }
        for (all, class) in self.classes.iter_mut().zip(&run.classes) {
            all.add(class);
        }
    }

    /// Each class that was added up and has a name.
    pub(crate) fn classes(&self, names: &[String]) -> Vec<ClassAtLoad> {
        let told = |(class, name): (&ClassRun, &String)| ClassAtLoad {
            name: name.clone(),
            slo_share: class.slo_share(),
            ttft_p99_s: class.ttft.percentile(99.0),
            tpot_p99_s: class.tpot.percentile(99.0),
        };
        self.classes.iter().zip(names).map(told).collect()
    }

    /// Whether this is true of most runs: a verdict on one of them may be a false alarm.
    const fn is_most(&self, runs: usize) -> bool {
        2 * runs > self.replications()
    }

    /// Whether no more came than left, in most runs.
    pub(crate) const fn keeps_up(&self) -> bool {
        !self.is_most(self.overloaded)
    }

    /// How many runs were added.
    pub(crate) const fn replications(&self) -> usize {
        self.slo_share.0.len()
    }

    /// Time to first token in seconds that a share of the requests stays within, 0 to 1.
    pub(crate) fn ttft_tail_s(&self, share: f64) -> f64 {
        self.ttft.all.percentile(100.0 * share).unwrap_or(0.0)
    }

    /// The same of the time per output token; 0 where nothing has such a time.
    pub(crate) fn tpot_tail_s(&self, share: f64) -> f64 {
        self.tpot.all.percentile(100.0 * share).unwrap_or(0.0)
    }

    /// Share of requests that met the target.
    pub(crate) fn slo_share(&self) -> Estimate {
        within_one(self.slo_share.estimate())
    }

    /// Requests finished per second.
    pub(crate) fn throughput_per_s(&self) -> Estimate {
        self.throughput_per_s.estimate().not_negative()
    }

    /// The measures at a load, against a cache of `kv_capacity_tokens` and the highest rate that
    /// the engine can finish.
    pub(crate) fn point(
        &self,
        (demand, load): (Demand, f64),
        kv_capacity_tokens: u64,
        ceiling_per_s: f64,
    ) -> LoadPoint {
        let (rate_per_s, users) = match demand {
            Demand::Rate => (load, None),
            Demand::Users { .. } => (self.throughput_per_s().value, Some(demand.simulated(load))),
        };
        LoadPoint {
            rate_per_s,
            users,
            stable: demand.is_stable(load, ceiling_per_s) && !self.is_most(self.overloaded),
            settled: !self.is_most(self.unsettled),
            ttft_p50_s: self.ttft.p50(),
            ttft_p99_s: self.ttft.p99(),
            tpot_p50_s: self.tpot.p50(),
            tpot_p99_s: self.tpot.p99(),
            itl_p50_s: self.itl.p50(),
            itl_p99_s: self.itl.p99(),
            itl_max_s: self.itl.all.max().unwrap_or(0.0),
            e2e_p50_s: self.e2e.p50(),
            e2e_p99_s: self.e2e.p99(),
            queue_wait_mean_s: self.queue_wait_mean_s.estimate().not_negative(),
            goodput_per_s: self.goodput_per_s.estimate().not_negative(),
            throughput_per_s: self.throughput_per_s(),
            output_tokens_per_s: self.output_tokens_per_s.estimate().not_negative(),
            slo_share: self.slo_share(),
            answered_share: self.answered_share.mean(),
            mean_running: self.mean_running.mean(),
            kv_peak_share: self.kv_peak_tokens as f64 / kv_capacity_tokens as f64,
            compute_bound_share: self.compute_bound_share.mean(),
            busy_share: self.busy_share.mean(),
        }
    }
}

/// A share's interval cannot leave 0 to 1.
fn within_one(estimate: Estimate) -> Estimate {
    let estimate = estimate.not_negative();
    Estimate { high: sim_core::float::lesser(1.0, estimate.high), ..estimate }
}
