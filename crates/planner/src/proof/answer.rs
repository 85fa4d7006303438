//! What a proof answers: plain data, serializable, told by `report`.

use serde::{Deserialize, Serialize};
use sim_core::random::split_mix;

use super::{
    check::{Finding, Reading},
    queues,
};

/// A truth that every run must satisfy, or a comparison that must come out. The figures that a
/// [`Truth`] holds stand beside each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TruthKind {
    /// Requests sent = answered + turned away + dropped + in flight; the right side is counted from
    /// the requests. Figures: these five, summed.
    Conservation,
    /// Little's law, L = λ W. Figures: the integral of the number in the system (request-seconds,
    /// from the server's state), the sum of the times in the system (request-seconds, from the
    /// requests), requests, seconds, largest relative difference on one set-up.
    LittlesLaw,
    /// Requests running at once ≤ slots. Figures: both, where they came closest.
    Slots,
    /// KV tokens in use ≤ capacity. Figures: both, where they came closest.
    Memory,
    /// Throughput ≤ what the arithmetic allows. Figures: the largest share of it reached, 0 to 1.
    Ceiling,
    /// Time at work ≤ time. Figures: the largest share, 0 to 1.
    Utilisation,
    /// No server idles while somebody waits, where the policy promises it. Figures: server-seconds
    /// at work, server-seconds with work to do (from the requests), summed.
    WorkConservation,
    /// Late and unanswered requests count as misses. Figures: requests that met the target by the
    /// run's books, the same by the requests, requests sent; summed.
    Misses,
    /// A percentile comes from all values. Figures where windows mislead most: P99 of the merged
    /// windows, P99 of all, mean of the windows' P99, all in seconds.
    Percentiles,
    /// Nothing is answered before it was asked. Figures: requests looked at, and the shortest time
    /// from a request to its first token, in seconds.
    Causality,
    /// The fast engines decide as the obvious ones do. Figures: requests compared, largest relative
    /// difference of a time.
    TwoEngines,
    /// The same set-up gives the same bits. Figures: runs repeated.
    SameBits,
    /// Theory lies in the simulation's own 99 % interval, but for what chance explains. Figures:
    /// comparisons inside, comparisons.
    Queues,
    /// Engines under overload finish what closed forms say. Figures: plateaus that fit, plateaus,
    /// largest relative deviation.
    Plateaus,
    /// Printed figures lie within sampling error of ours. Figures: cells within, cells.
    Published,
}

impl TruthKind {
    /// Every truth, in the order of the list. The obvious engines stay at home: a browser would
    /// have to load them for this alone, so that [`Self::TwoEngines`] is told beside the list.
    pub const ALL: &[Self] = &[
        Self::Conservation,
        Self::LittlesLaw,
        Self::Slots,
        Self::Memory,
        Self::Ceiling,
        Self::Utilisation,
        Self::WorkConservation,
        Self::Misses,
        Self::Percentiles,
        Self::Causality,
        #[cfg(feature = "oracle")]
        Self::TwoEngines,
        Self::SameBits,
        Self::Queues,
        Self::Plateaus,
        Self::Published,
    ];
}

/// Whether a truth holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Not looked at yet, or not to its end.
    Open,
    /// It does.
    Holds,
    /// It does not.
    Fails,
}

/// One truth with what was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Which.
    pub kind: TruthKind,
    /// Whether it holds.
    pub state: State,
    /// Set-ups, or comparisons, that it was checked on.
    pub checks: u64,
    /// As [`TruthKind`] documents them.
    pub figures: [f64; 5],
    /// The first case in which it did not hold, in words.
    pub problem: Option<String>,
}

/// A queue that theory solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Queue {
    /// M/M/1.
    Exponential,
    /// M/D/1.
    Constant,
    /// M/G/1 with lognormal service, sigma 0.5.
    Lognormal,
    /// M/M/4.
    FourServers,
}

impl Queue {
    /// Every queue, in the order of the list.
    pub const ALL: [Self; 4] =
        [Self::Exponential, Self::Constant, Self::Lognormal, Self::FourServers];
}

/// A number of theory and the same number simulated, with its 99 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// What theory says.
    pub theory: f64,
    /// What the simulation says.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

impl Compared {
    /// Whether theory lies in the interval.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        (self.low..=self.high).contains(&self.theory)
    }
}

/// A queue at one load: times in the system, in mean service times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuePoint {
    /// Which queue.
    pub queue: Queue,
    /// Arrival rate × mean service time / servers.
    pub load: f64,
    /// Requests that were measured.
    pub requests: u64,
    /// The mean time from arrival to answer.
    pub mean: Compared,
    /// Its 90th percentile.
    pub p90: Compared,
    /// Its 99th percentile.
    pub p99: Compared,
}

/// An engine that never runs out of work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// Which engine and formula.
    pub kind: PlateauKind,
    /// What the formula says, requests per second.
    pub theory_per_s: f64,
    /// What the engine finishes, requests per second.
    pub simulated_per_s: f64,
    /// How far above the formula counting can bring it, relative.
    pub above: f64,
    /// How far below it may lie, relative.
    pub below: f64,
}

impl Plateau {
    /// How far the engine is from the formula, relative; below it is negative.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.simulated_per_s / self.theory_per_s - 1.0
    }

    /// Whether the engine is as near as it has to be.
    #[must_use]
    pub fn fits(&self) -> bool {
        (-self.below..=self.above).contains(&self.deviation())
    }
}

/// Which engine, and which formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlateauKind {
    /// Whole batches of `batch` requests in 40 ms + 5 ms each: `b / (a + c b)`.
    WholeBatches {
        /// Requests in a batch.
        batch: u64,
    },
    /// Continuous batching with `batch` slots, 20 ms + 0.5 ms each a step: the same curve, in tokens.
    Continuous {
        /// Slots.
        batch: u64,
    },
    /// A 7B model on one H100 by the published roofline: the fluid ceiling of mean lengths.
    Roofline {
        /// Prompt length, tokens.
        input_tokens: u64,
        /// Output length, tokens.
        output_tokens: u64,
    },
}

/// A figure that somebody else printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Printed {
    /// Median time to first token, seconds.
    TtftP50,
    /// 99th percentile of the time to first token, seconds.
    TtftP99,
    /// 99th percentile of the time per output token, seconds.
    TpotP99,
    /// Output tokens per second.
    OutputTokens,
    /// Share of requests within the target, 0 to 1.
    WithinTarget,
    /// Median latency, seconds.
    LatencyP50,
    /// 99th percentile of the latency, seconds.
    LatencyP99,
    /// Mean requests in a batch.
    MeanBatch,
}

/// A printed figure beside ours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedCell {
    /// Which setting: an index into what `report` says of it.
    pub setting: u32,
    /// Which figure.
    pub figure: Printed,
    /// As printed, in the figure's unit.
    pub printed: f64,
    /// Mean over our runs.
    pub ours: f64,
    /// Half of the width within which a further run falls 999 times in 1,000, the rounding of the
    /// print added.
    pub half: f64,
}

impl PublishedCell {
    /// Whether sampling explains the difference.
    #[must_use]
    pub fn is_within(&self) -> bool {
        (self.printed - self.ours).abs() <= self.half
    }
}

/// What a proof has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProofAnswer {
    /// Root of every random number.
    pub seed: u64,
    /// Checks made.
    pub done: u32,
    /// Checks that there are.
    pub total: u32,
    /// Random set-ups that were run.
    pub setups: u64,
    /// Requests simulated, all checks together.
    pub requests: u64,
    /// Mixes the bits of every outcome: the same on every machine that tells the truth.
    pub fingerprint: u64,
    /// One for each kind, in the order of [`TruthKind::ALL`].
    pub truths: Vec<Truth>,
    /// Queues against theory, load by load.
    pub queues: Vec<QueuePoint>,
    /// Engines under overload against closed forms.
    pub plateaus: Vec<Plateau>,
    /// Printed figures against ours.
    pub cells: Vec<PublishedCell>,
}

impl ProofAnswer {
    pub(super) fn new(seed: u64, total: u32) -> Self {
        let open =
            |kind| Truth { kind, state: State::Open, checks: 0, figures: [0.0; 5], problem: None };
        Self {
            seed,
            done: 0,
            total,
            setups: 0,
            requests: 0,
            fingerprint: 0,
            truths: TruthKind::ALL.iter().copied().map(open).collect(),
            queues: Vec::new(),
            plateaus: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// Whether every check has been made.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.done == self.total
    }

    /// Truths in this state.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.truths.iter().filter(|truth| truth.state == state).count()
    }

    /// Whether every truth holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.count(State::Holds) == self.truths.len()
    }
}

/// Take one finding in.
pub(super) fn merge(answer: &mut ProofAnswer, finding: Finding) {
    answer.done += 1;
    answer.requests += finding.requests;
    answer.fingerprint = split_mix(answer.fingerprint ^ finding.bits);
    // A set-up is whatever was looked at for conservation.
    for reading in finding.readings {
        answer.setups += u64::from(reading.kind == TruthKind::Conservation);
        if let Some(truth) = answer.truths.iter_mut().find(|truth| truth.kind == reading.kind) {
            learn(truth, reading);
        }
    }
    answer.queues.extend(finding.queue);
    answer.plateaus.extend(finding.plateau);
    answer.cells.extend(finding.cells);
}

fn learn(truth: &mut Truth, reading: Reading) {
    let (all, one) = (&mut truth.figures, reading.figures);
    match reading.kind {
        TruthKind::LittlesLaw => {
            add(&mut all[..4], &one);
            all[4] = sim_core::float::greater(all[4], one[4]);
        }
        TruthKind::Slots | TruthKind::Memory => {
            // The closest call; of equal ones the largest.
            let nearness =
                |figures: &[f64; 5]| if figures[1] > 0.0 { figures[0] / figures[1] } else { -1.0 };
            let (ours, theirs) = (nearness(all), nearness(&one));
            if theirs > ours || (theirs == ours && one[1] > all[1]) {
                *all = one;
            }
        }
        TruthKind::Ceiling | TruthKind::Utilisation => {
            all[0] = sim_core::float::greater(all[0], one[0]);
        }
        TruthKind::Percentiles => {
            let misleads = |figures: &[f64; 5]| {
                if figures[1] > 0.0 { (figures[2] / figures[1] - 1.0).abs() } else { -1.0 }
            };
            if misleads(&one) > misleads(all) {
                *all = one;
            }
        }
        TruthKind::Causality => {
            all[1] = if all[0] > 0.0 { sim_core::float::lesser(all[1], one[1]) } else { one[1] };
            all[0] += one[0];
        }
        TruthKind::TwoEngines => {
            all[0] += one[0];
            all[1] = sim_core::float::greater(all[1], one[1]);
        }
        _ => add(all, &one),
    }
    truth.checks += 1;
    if truth.problem.is_none() {
        truth.problem = reading.problem;
    }
    truth.state = if truth.problem.is_some() { State::Fails } else { State::Holds };
}

fn add(all: &mut [f64], one: &[f64; 5]) {
    for (all, one) in all.iter_mut().zip(one) {
        *all += one;
    }
}

/// The truths that are judged from all their comparisons together.
pub(super) fn tests_of(answer: &mut ProofAnswer, is_last: bool) {
    let (inside, compared) = queues::inside(&answer.queues);
    let queues_hold = queues::is_chance(inside, compared);
    let fitting = answer.plateaus.iter().filter(|plateau| plateau.fits()).count() as u64;
    let away = answer.plateaus.iter().map(|plateau| plateau.deviation().abs());
    let furthest = away.fold(0.0, sim_core::float::greater);
    let plateaus = answer.plateaus.len() as u64;
    let within = answer.cells.iter().filter(|cell| cell.is_within()).count() as u64;
    let cells = answer.cells.len() as u64;
    let verdicts = [
        (TruthKind::Queues, [inside, compared], 0.0, queues_hold),
        (TruthKind::Plateaus, [fitting, plateaus], furthest, fitting == plateaus),
        // One cell in a thousand is outside by chance.
        (TruthKind::Published, [within, cells], 0.0, within + 1 >= cells),
    ];
    for (kind, [good, all], extra, holds) in verdicts {
        let Some(truth) = answer.truths.iter_mut().find(|truth| truth.kind == kind) else {
            continue;
        };
        truth.checks = all;
        truth.figures = [good as f64, all as f64, extra, 0.0, 0.0];
        // The verdict on chance needs all comparisons.
        let is_open = all == 0 || (kind == TruthKind::Queues && !is_last);
        truth.state = match (truth.problem.is_some() || !holds, is_open) {
            (true, false) => State::Fails,
            (_, true) => State::Open,
            (false, false) => State::Holds,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(findings: Vec<Finding>, is_last: bool) -> ProofAnswer {
        let mut answer = ProofAnswer::new(1, 24);
        for finding in findings {
            merge(&mut answer, finding);
        }
        tests_of(&mut answer, is_last);
        answer
    }

    fn state(answer: &ProofAnswer, kind: TruthKind) -> State {
        answer.truths.iter().find(|truth| truth.kind == kind).map_or(State::Open, |t| t.state)
    }

    #[test]
    fn one_broken_set_up_breaks_its_truth_for_good() {
        let reading = |problem: Option<&str>| Finding {
            readings: vec![Reading {
                kind: TruthKind::LittlesLaw,
                figures: [1.0; 5],
                problem: problem.map(str::to_owned),
            }],
            ..Finding::default()
        };
        let answer = after(vec![reading(Some("1 against 2")), reading(None)], true);
        assert_eq!(state(&answer, TruthKind::LittlesLaw), State::Fails);
        assert_eq!(answer.truths[1].problem.as_deref(), Some("1 against 2"));
        assert!(!answer.holds());
    }

    fn point(theory: f64) -> Finding {
        let compared = Compared { theory, value: 1.0, low: 0.9, high: 1.1 };
        let queue = QueuePoint {
            queue: Queue::Constant,
            load: 0.5,
            requests: 1,
            mean: compared,
            p90: compared,
            p99: compared,
        };
        Finding { queue: Some(queue), ..Finding::default() }
    }

    #[test]
    fn a_wrong_theory_is_more_than_chance() {
        let points = |wrong: usize| {
            (0..24).map(|index| point(if index < wrong { 1.2 } else { 1.0 })).collect::<Vec<_>>()
        };
        assert_eq!(state(&after(points(2), true), TruthKind::Queues), State::Holds);
        assert_eq!(state(&after(points(3), true), TruthKind::Queues), State::Fails);
        assert_eq!(state(&after(points(2), false), TruthKind::Queues), State::Open);
    }

    #[test]
    fn a_plateau_may_be_below_a_fluid_but_not_above() {
        let plateau = |simulated_per_s| {
            let kind = PlateauKind::WholeBatches { batch: 1 };
            let plateau =
                Plateau { kind, theory_per_s: 10.0, simulated_per_s, above: 0.01, below: 0.05 };
            Finding { plateau: Some(plateau), ..Finding::default() }
        };
        for (rate, expected) in
            [(10.0, State::Holds), (9.6, State::Holds), (10.2, State::Fails), (9.4, State::Fails)]
        {
            assert_eq!(state(&after(vec![plateau(rate)], false), TruthKind::Plateaus), expected);
        }
    }
}
