//! The cheapest settings of a policy that hold the target.
//!
//! A pattern search (Hooke, Jeeves 1961): from the best settings so far, one step up and down along
//! each setting, all at once; to the best of them if it is better, and with half the step where none
//! is. Steps are factors for amounts and differences for counts. All are tried on the same users
//! (common random numbers), so that what differs are the settings. Settings that hold the target beat
//! those that do not, then the fewest GPU-hours; among those that do not, the greatest share in time.
//!
//! Whoever is best of many has been lucky, too. So the cheapest is run with other users, and gives way
//! to the next if its share in time over all of them is below the target.

use sim_core::{
    fleet::outcome::LiveRun,
    float::{greater, lesser},
};

use crate::job::seed_of;

/// A setting that is varied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// What it is called.
    pub name: &'static str,
    /// Where to begin.
    pub first: f64,
    /// The least that it may be.
    pub least: f64,
    /// The greatest that it may be.
    pub most: f64,
    /// How it is varied.
    pub steps: Steps,
}

/// How a setting is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// By factors: 4 at first, 2^¼ at last.
    Factors,
    /// By whole numbers: a quarter of the range at first, 1 at last.
    Counts,
}

/// Settings that were tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// One value per axis.
    pub settings: Vec<f64>,
    /// Share of all requests that met their target.
    pub slo_share: f64,
    /// GPU-hours that replicas held.
    pub gpu_hours: f64,
    /// Minutes in windows below the target's share.
    pub violation_min: f64,
    /// Whether the target's share was met.
    pub holds: bool,
}

/// A run that the search asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyJob {
    /// One value per axis.
    pub settings: Vec<f64>,
    /// Which users: 0 for those of the search.
    pub replication: u32,
}

impl PolicyJob {
    /// The seed of these users, of a scenario with this seed.
    #[must_use]
    pub fn seed(&self, seed: u64) -> u64 {
        seed_of(seed, self.replication)
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySearchAnswer {
    /// What the settings are called.
    pub names: Vec<&'static str>,
    /// The cheapest that holds the target, with other users, too; `None` if none does.
    pub best: Option<Trial>,
    /// The same with other users, one by one.
    pub checked: Vec<Trial>,
    /// All that were tried on the first users, in their order.
    pub trials: Vec<Trial>,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// From the best settings so far, with steps of 2 to this power of two.
    Searching {
        halvings: u32,
    },
    /// Places of those that hold the target, the cheapest first, and which of them is checked.
    Checking {
        candidates: Vec<usize>,
        at: usize,
    },
    Done {
        best: Option<usize>,
    },
}

/// Steps are halved so often: factors from 4 to 2^¼.
const HALVINGS: u32 = 3;
/// Streams of other users that the cheapest is checked with.
const CHECKS: u32 = 3;
/// So many of the cheapest are checked at most.
const MOST_CHECKED: usize = 5;

/// A search, to be fed with the runs of its jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySearch {
    axes: Vec<Axis>,
    most_trials: usize,
    window_s: f64,
    phase: Phase,
    trials: Vec<Trial>,
    checked: Vec<Trial>,
    best: Option<usize>,
    asked: Vec<PolicyJob>,
}

impl PolicySearch {
    /// A search along these axes with about so many trials at most; runs have windows of `window_s`.
    #[must_use]
    pub fn new(axes: Vec<Axis>, most_trials: usize, window_s: f64) -> Self {
        Self {
            axes,
            most_trials,
            window_s,
            phase: Phase::Searching { halvings: 0 },
            trials: Vec::new(),
            checked: Vec::new(),
            best: None,
            asked: Vec::new(),
        }
    }

    /// The next runs, all independent; none when it is over.
    pub fn next_jobs(&mut self) -> Vec<PolicyJob> {
        while self.asked.is_empty() {
            match &self.phase {
                Phase::Done { .. } => break,
                Phase::Checking { candidates, at } => {
                    let candidates = candidates.clone();
                    let Some(&place) = candidates.get(*at).filter(|_| *at < MOST_CHECKED) else {
                        self.phase = Phase::Done { best: None };
                        continue;
                    };
                    let settings = &self.trials[place].settings;
                    let check = |replication| PolicyJob { settings: settings.clone(), replication };
                    self.asked = (1..=CHECKS).map(check).collect();
                }
                &Phase::Searching { halvings } => {
                    let room = self.most_trials.saturating_sub(self.trials.len());
                    self.asked = self.neighbours(halvings);
                    self.asked.truncate(room);
                    if self.asked.is_empty() {
                        let is_over = halvings == HALVINGS || room == 0;
                        self.phase = if is_over {
                            Phase::Checking { candidates: self.candidates(), at: 0 }
                        } else {
                            Phase::Searching { halvings: halvings + 1 }
                        };
                    }
                }
            }
        }
        self.asked.clone()
    }

    /// Settings one step from the best that were not tried; at first where to begin.
    fn neighbours(&self, halvings: u32) -> Vec<PolicyJob> {
        let Some(best) = self.best.map(|place| &self.trials[place]) else {
            let settings = self.axes.iter().map(|axis| axis.within(axis.first));
            return vec![PolicyJob { settings: settings.collect(), replication: 0 }];
        };
        let mut jobs: Vec<PolicyJob> = Vec::new();
        for (at, axis) in self.axes.iter().enumerate() {
            for up in [false, true] {
                let mut settings = best.settings.clone();
                settings[at] = axis.stepped(settings[at], up, halvings);
                let is_known = self.trials.iter().any(|trial| trial.settings == settings)
                    || jobs.iter().any(|job| job.settings == settings);
                if !is_known {
                    jobs.push(PolicyJob { settings, replication: 0 });
                }
            }
        }
        jobs
    }

    /// Places of those that hold the target, the cheapest first.
    fn candidates(&self) -> Vec<usize> {
        let mut places: Vec<usize> =
            (0..self.trials.len()).filter(|&place| self.trials[place].holds).collect();
        places.sort_by(|&a, &b| self.trials[a].gpu_hours.total_cmp(&self.trials[b].gpu_hours));
        places
    }

    /// Take the runs of the last jobs, in their order.
    pub fn accept(&mut self, runs: &[LiveRun]) {
        let asked = std::mem::take(&mut self.asked);
        let pairs = asked.into_iter().zip(runs);
        let window_s = self.window_s;
        let of_runs = pairs.map(|(job, run)| {
            let slo_share = run.total.slo_share();
            Trial {
                settings: job.settings,
                slo_share,
                gpu_hours: run.held_gpu_hours(),
                violation_min: run.violation_min(window_s),
                holds: slo_share >= run.total.slo.share,
            }
        });
        let trials: Vec<Trial> = of_runs.collect();
        match &mut self.phase {
            Phase::Done { .. } => {}
            Phase::Checking { candidates, at } => {
                let target = runs.first().map_or(1.0, |run| run.total.slo.share);
                let shares: f64 = trials.iter().map(|trial| trial.slo_share).sum();
                let holds = shares >= target * trials.len() as f64;
                let place = candidates.get(*at).copied();
                *at += 1;
                if holds {
                    self.phase = Phase::Done { best: place };
                }
                self.checked = trials;
            }
            Phase::Searching { halvings } => {
                let before = self.best;
                self.trials.extend(trials);
                let better = |&a: &usize, &b: &usize| self.trials[a].rank(&self.trials[b]);
                self.best = (0..self.trials.len()).min_by(better);
                if self.best == before && *halvings <= HALVINGS {
                    let halvings = *halvings + 1;
                    self.phase = if halvings > HALVINGS {
                        Phase::Checking { candidates: self.candidates(), at: 0 }
                    } else {
                        Phase::Searching { halvings }
                    };
                }
            }
        }
    }

    /// What was found, once there are no more jobs.
    #[must_use]
    pub fn answer(&self) -> Option<PolicySearchAnswer> {
        let Phase::Done { best } = self.phase else { return None };
        Some(PolicySearchAnswer {
            names: self.axes.iter().map(|axis| axis.name).collect(),
            best: best.map(|place| self.trials[place].clone()),
            checked: self.checked.clone(),
            trials: self.trials.clone(),
        })
    }
}

impl Axis {
    /// One step up or down, within the range.
    fn stepped(&self, value: f64, up: bool, halvings: u32) -> f64 {
        let halved = f64::from(1_u32 << halvings);
        let moved = match self.steps {
            Steps::Counts => {
                let step = greater(((self.most - self.least) / 4.0 / halved).round(), 1.0);
                if up { value + step } else { value - step }
            }
            Steps::Factors => {
                let factor = libm::exp2(2.0 / halved);
                readable(if up { value * factor } else { value / factor })
            }
        };
        self.within(moved)
    }

    fn within(&self, value: f64) -> f64 {
        lesser(greater(value, self.least), self.most)
    }
}

/// Three digits of a number above 0: more than a policy can tell apart, and not more than one types.
fn readable(value: f64) -> f64 {
    let scale = libm::exp10(2.0 - libm::log10(value).floor());
    (value * scale).round() / scale
}

impl Trial {
    /// The better one first.
    fn rank(&self, other: &Self) -> std::cmp::Ordering {
        let by_share = || other.slo_share.total_cmp(&self.slo_share);
        let by_cost = || self.gpu_hours.total_cmp(&other.gpu_hours);
        match (self.holds, other.holds) {
            (true, true) => by_cost().then_with(by_share),
            (false, false) => by_share().then_with(by_cost),
            (mine, others) => others.cmp(&mine),
        }
    }
}
