//! Random set-ups under every policy, and what each must satisfy.

use quantity::plain;
use sim_core::{
    ArrivalProcess, Distribution, EngineSpec, Keep, LengthSpec, Outcome, Precision, RequestRecord,
    RequestSource, Rules, Run, Setup, Slo, StepTimeSpec, Workload,
    engine::{
        Codel, OverloadPolicy, ServiceNoise, ServiceOrder, ServiceTime, SlotsRun, SlotsSetup,
        VllmRules, simulate_slots, vllm::Version,
    },
    float::{greater, lesser},
    random::{Purpose, Stream, split_mix},
    simulate,
};

use super::{
    answer::TruthKind,
    check::{Finding, Reading},
    records::{bits_of_run, bits_of_slots, outcomes, slot_outcomes, work_s},
};

/// How many policies there are: see [`policy`].
pub(super) const POLICIES: u32 = ENGINES + 5;
const ENGINES: u32 = 6;
const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };
/// Relative difference that rounding explains: sums of some thousand terms in another order.
const ROUNDING: f64 = 1e-9;
/// Windows that a run is cut into.
const WINDOWS: usize = 8;

/// Draws the numbers of one set-up.
struct Draw(Stream);

impl Draw {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.uniform()
    }

    /// Alike on a logarithmic scale.
    fn spread(&mut self, low: f64, high: f64) -> f64 {
        low * libm::exp(self.0.uniform() * libm::log(high / low))
    }

    fn whole(&mut self, low: f64, high: f64) -> u64 {
        self.spread(low, high) as u64
    }

    fn one_in(&mut self, n: f64) -> bool {
        self.0.uniform() * n <= 1.0
    }
}

/// Check every truth on one random set-up; the policy goes round with the index.
pub(super) fn check(seed: u64, index: u32) -> Result<Finding, String> {
    let seed = split_mix(seed ^ (u64::from(index) << 20));
    let mut draw = Draw(Stream::new(seed, Purpose::Class));
    let policy = index % POLICIES;
    let found = if policy < ENGINES {
        check_engine(&engine(&mut draw, policy, seed))
    } else {
        check_slots(&slots(&mut draw, policy - ENGINES, seed))
    };
    found.map_err(|problem| format!("set-up {index}: {problem}"))
}

fn rules(draw: &mut Draw, policy: u32) -> Rules {
    let vllm = |asynchronous| VllmRules { asynchronous, ..VllmRules::plain(Version::V0_33) };
    match policy {
        0 => Rules::Reference,
        1 => Rules::VllmV1(vllm(false)),
        2 => Rules::VllmV1(vllm(true)),
        // Static, dynamic, and one request at a time.
        3 => Rules::WholeBatches { max_delay_s: 0.0, noise: ServiceNoise::None },
        4 => Rules::WholeBatches {
            max_delay_s: draw.spread(0.001, 1.0),
            noise: ServiceNoise::LogNormal { sigma: draw.between(0.0, 0.8) },
        },
        _ => Rules::WholeBatches {
            max_delay_s: 0.0,
            noise: ServiceNoise::LogNormal { sigma: draw.between(0.0, 0.8) },
        },
    }
}

fn arrivals(draw: &mut Draw) -> ArrivalProcess {
    if draw.one_in(3.0) {
        ArrivalProcess::Gamma { shape: draw.spread(0.1, 4.0) }
    } else if draw.one_in(6.0) {
        ArrivalProcess::Even
    } else {
        ArrivalProcess::Poisson
    }
}

fn lengths(draw: &mut Draw, least: u64) -> LengthSpec {
    if draw.one_in(3.0) {
        LengthSpec::Fixed { tokens: least + draw.whole(1.0, 600.0) }
    } else {
        LengthSpec::LogNormal {
            median_tokens: draw.spread(2.0, 300.0),
            sigma: draw.between(0.1, 1.3),
            min_tokens: least,
            max_tokens: 3_000,
        }
    }
}

fn step_time(draw: &mut Draw) -> StepTimeSpec {
    if draw.one_in(2.0) {
        return StepTimeSpec::Affine {
            fixed_s: draw.spread(1e-3, 0.05),
            per_item_s: draw.spread(1e-5, 5e-3),
        };
    }
    StepTimeSpec::Roofline {
        params: draw.spread(1e9, 7e10),
        weight_bytes: draw.spread(1e9, 1.4e11),
        kv_bytes_per_token: draw.spread(1e4, 1e6),
        peak_flops: 989e12,
        bandwidth_bytes_per_s: 3.35e12,
        mfu: draw.between(0.3, 0.7),
        overhead_s: draw.between(0.0, 2e-3),
    }
}

/// Limits from a handful of tokens, where rules bite, to more than the load ever takes.
fn engine(draw: &mut Draw, policy: u32, seed: u64) -> Setup {
    let alone = policy == ENGINES - 1;
    let engine = EngineSpec {
        max_num_batched_tokens: draw.whole(8.0, 10_000.0),
        max_num_seqs: if alone { 1 } else { draw.whole(1.0, 300.0) },
        kv_capacity_tokens: draw.whole(200.0, 300_000.0),
    };
    let source = RequestSource::Generated {
        process: arrivals(draw),
        rate_per_s: draw.spread(0.3, 100.0),
        input: lengths(draw, 0),
        output: lengths(draw, 1),
    };
    Setup {
        workload: Workload { source, requests: draw.whole(50.0, 400.0) },
        engine,
        rules: rules(draw, policy),
        step_time: step_time(draw),
        slo: Slo { ttft_s: draw.spread(0.05, 10.0), tpot_s: draw.spread(0.005, 0.2), share: 0.99 },
        seed,
    }
}

fn slots(draw: &mut Draw, policy: u32, seed: u64) -> SlotsSetup {
    let slots = draw.whole(1.0, 12.0);
    let mean_s = draw.spread(0.01, 2.0);
    let rate_per_s = draw.between(0.5, 1.6) * slots as f64 / mean_s;
    let requests = draw.whole(200.0, 2_000.0);
    let none = OverloadPolicy::UNBOUNDED;
    let overload = match policy {
        0 => none,
        1 => OverloadPolicy { queue_limit: Some(draw.whole(1.0, 40.0)), ..none },
        2 => OverloadPolicy { order: ServiceOrder::NewestFirst, ..none },
        3 => OverloadPolicy { max_wait_s: Some(mean_s * draw.spread(0.5, 10.0)), ..none },
        _ => {
            let target_s = mean_s * draw.spread(0.2, 2.0);
            OverloadPolicy { codel: Some(Codel { target_s, interval_s: 10.0 * target_s }), ..none }
        }
    };
    let service = if draw.one_in(2.0) {
        ServiceTime::Exponential { mean_s }
    } else {
        ServiceTime::LogNormal { mean_s, sigma: draw.between(0.1, 1.0) }
    };
    let unit = LengthSpec::Fixed { tokens: 1 };
    let source =
        RequestSource::Generated { process: arrivals(draw), rate_per_s, input: unit, output: unit };
    SlotsSetup {
        workload: Workload { source, requests },
        slots,
        service,
        overload,
        useful_within_s: mean_s * draw.spread(1.0, 20.0),
        // Often before the last request is done, so that some are in flight at the end.
        horizon_s: Some(draw.between(0.6, 1.2) * requests as f64 / rate_per_s),
        seed,
    }
}

/// Collects readings.
#[derive(Default)]
struct Readings(Vec<Reading>);

impl Readings {
    /// `holds` is what the figures must satisfy.
    fn add(
        &mut self,
        kind: TruthKind,
        figures: [f64; 5],
        holds: bool,
        problem: &dyn Fn() -> String,
    ) {
        self.0.push(Reading { kind, figures, problem: (!holds).then(problem) });
    }

    /// Two numbers that must be the same but for rounding.
    fn same(&mut self, kind: TruthKind, figures: [f64; 5], (ours, theirs): (f64, f64)) {
        let holds = difference(ours, theirs) <= ROUNDING;
        self.add(kind, figures, holds, &|| {
            [&plain(ours, 0), " against ", &plain(theirs, 0)].concat()
        });
    }
}

fn difference(a: f64, b: f64) -> f64 {
    (a - b).abs() / greater(greater(a.abs(), b.abs()), 1e-3)
}

fn check_engine(setup: &Setup) -> Result<Finding, String> {
    let run = simulate(setup, KEEP_ALL).map_err(|error| error.to_string())?;
    let records = run.requests.as_deref().unwrap_or_default();
    let mut readings = Readings::default();
    let given_up = run.dropped + run.abandoned + run.throttled;
    let books = [run.completed, run.rejected, given_up, run.in_flight];
    conserved(&mut readings, run.offered, books, outcomes(records));
    let done = || records.iter().filter(|record| record.outcome == Outcome::Completed);
    let sojourn_s: f64 = done().map(|record| record.finish_s - record.arrival_s).sum();
    little(&mut readings, run.in_system_request_s, sojourn_s, run.offered, run.duration_s());
    limits(&mut readings, setup, &run);
    let promises =
        !matches!(setup.rules, Rules::WholeBatches { max_delay_s, .. } if max_delay_s > 0.0);
    if promises {
        let present: Vec<(f64, f64)> = done().map(|r| (r.arrival_s, r.finish_s)).collect();
        let (at_work_s, to_do_s) = (run.step_times.busy_s, work_s(&present, 1.0));
        let figures = [at_work_s, to_do_s, 0.0, 0.0, 0.0];
        readings.same(TruthKind::WorkConservation, figures, (at_work_s, to_do_s));
    }
    misses(&mut readings, setup, &run, records);
    percentiles(&mut readings, &run, records);
    causality(&mut readings, records);
    #[cfg(feature = "oracle")]
    if matches!(
        setup.rules,
        Rules::Reference | Rules::VllmV1(VllmRules { asynchronous: false, .. })
    ) {
        two_engines(&mut readings, setup, &run)?;
    }
    let again = simulate(setup, KEEP_ALL).map_err(|error| error.to_string())?;
    let bits = bits_of_run(&run);
    same_bits(&mut readings, bits, bits_of_run(&again));
    Ok(Finding { requests: 2 * run.offered, bits, readings: readings.0, ..Finding::default() })
}

/// `books` and `counted`: answered, turned away, dropped, in flight.
fn conserved(readings: &mut Readings, offered: u64, books: [u64; 4], counted: [u64; 4]) {
    let [answered, rejected, dropped, in_flight] = counted.map(|count| count as f64);
    let figures = [offered as f64, answered, rejected, dropped, in_flight];
    let holds = books == counted && offered == counted.iter().sum::<u64>();
    readings.add(TruthKind::Conservation, figures, holds, &|| {
        format!("{offered} sent, {books:?} in the books, {counted:?} by the requests")
    });
}

fn little(readings: &mut Readings, integral: f64, sojourns: f64, offered: u64, duration_s: f64) {
    let figures = [integral, sojourns, offered as f64, duration_s, difference(integral, sojourns)];
    readings.same(TruthKind::LittlesLaw, figures, (integral, sojourns));
}

fn limits(readings: &mut Readings, setup: &Setup, run: &Run) {
    let mut limit = |kind, used: u64, allowed: u64| {
        let figures = [used as f64, allowed as f64, 0.0, 0.0, 0.0];
        readings.add(kind, figures, used <= allowed, &|| format!("{used} of {allowed}"));
    };
    limit(TruthKind::Slots, run.peak_running, setup.engine.max_num_seqs);
    // Whole batches have no cache to run out of.
    if run.peak_kv_tokens > 0 {
        limit(TruthKind::Memory, run.peak_kv_tokens, setup.engine.kv_capacity_tokens);
    }
    let mut share = |kind, share: f64| {
        let figures = [share, 0.0, 0.0, 0.0, 0.0];
        readings.add(kind, figures, share <= 1.0 + ROUNDING, &|| {
            ["a share of ", &plain(share, 0)].concat()
        });
    };
    // Where everybody is turned away at once, no time passes.
    if run.completed > 0 {
        share(TruthKind::Utilisation, run.step_times.busy_s / run.duration_s());
    }
    let tokens = run.input_tokens + run.output_tokens - run.completed;
    let least_s = run.bounds.least_s_per_token * tokens as f64;
    if least_s > 0.0 {
        share(TruthKind::Ceiling, least_s / run.step_times.busy_s);
    }
}

fn misses(readings: &mut Readings, setup: &Setup, run: &Run, records: &[RequestRecord]) {
    let meets = |record: &&RequestRecord| {
        let gaps = record.output_tokens.saturating_sub(1);
        // The time per output token of a one-token answer is undefined and meets its target.
        let tpot_s =
            if gaps == 0 { 0.0 } else { (record.finish_s - record.first_token_s) / gaps as f64 };
        record.outcome == Outcome::Completed
            && setup.slo.is_met(record.first_token_s - record.arrival_s, tpot_s)
    };
    let met = records.iter().filter(meets).count() as u64;
    met_by(readings, run.slo_met, met, run.offered);
}

fn met_by(readings: &mut Readings, books: u64, requests: u64, offered: u64) {
    let figures = [books as f64, requests as f64, offered as f64, 0.0, 0.0];
    readings.add(TruthKind::Misses, figures, books == requests, &|| {
        format!("{books} met the target by the books, {requests} by the requests")
    });
}

/// The run cut into windows: merged they must give what all values give.
fn percentiles(readings: &mut Readings, run: &Run, records: &[RequestRecord]) {
    let latencies_s: Vec<f64> = records
        .iter()
        .filter(|record| record.outcome == Outcome::Completed)
        .map(|record| record.finish_s - record.arrival_s)
        .collect();
    let Some(all_s) = run.e2e.percentile(99.0) else { return };
    let mut merged = Distribution::new(Precision::Exact);
    let (mut sum_s, mut windows) = (0.0, 0.0);
    for part in latencies_s.chunks(latencies_s.len().div_ceil(WINDOWS).max(1)) {
        let mut window = Distribution::new(Precision::Exact);
        part.iter().for_each(|&latency_s| window.record(latency_s));
        sum_s += window.percentile(99.0).unwrap_or(0.0);
        windows += 1.0;
        merged.merge(&window);
    }
    let merged_s = merged.percentile(99.0).unwrap_or(0.0);
    let figures = [merged_s, all_s, sum_s / greater(windows, 1.0), 0.0, 0.0];
    readings.same(TruthKind::Percentiles, figures, (merged_s, all_s));
}

fn causality(readings: &mut Readings, records: &[RequestRecord]) {
    let (mut looked_at, mut soonest_s, mut holds) = (0, f64::INFINITY, true);
    let mut last_s = 0.0;
    for record in records {
        holds &= record.arrival_s >= last_s;
        last_s = record.arrival_s;
        if record.outcome != Outcome::Completed {
            continue;
        }
        looked_at += 1;
        soonest_s = lesser(soonest_s, record.first_token_s - record.arrival_s);
        holds &= record.finish_s >= record.first_token_s;
    }
    if looked_at > 0 {
        in_order(readings, looked_at, soonest_s, holds);
    }
}

fn in_order(readings: &mut Readings, looked_at: u64, soonest_s: f64, holds: bool) {
    let figures = [looked_at as f64, soonest_s, 0.0, 0.0, 0.0];
    readings.add(TruthKind::Causality, figures, holds && soonest_s > 0.0, &|| {
        ["an answer ", &plain(soonest_s, 0), " s after its request, or out of order"].concat()
    });
}

#[cfg(feature = "oracle")]
fn two_engines(readings: &mut Readings, setup: &Setup, fast: &Run) -> Result<(), String> {
    let slow = sim_core::simulate_by_oracle(setup, KEEP_ALL).map_err(|error| error.to_string())?;
    let mut worst = 0.0;
    let mut alike = fast.steps == slow.steps && fast.offered == slow.offered;
    for (f, s) in fast.requests.iter().flatten().zip(slow.requests.iter().flatten()) {
        alike &= f.outcome == s.outcome;
        if f.outcome == Outcome::Completed {
            worst = greater(worst, difference(f.first_token_s, s.first_token_s));
            worst = greater(worst, difference(f.finish_s, s.finish_s));
        }
    }
    let figures = [fast.offered as f64, worst, 0.0, 0.0, 0.0];
    readings.add(TruthKind::TwoEngines, figures, alike && worst <= ROUNDING, &|| {
        format!("outcomes alike: {alike}; times differ by {worst}")
    });
    Ok(())
}

fn same_bits(readings: &mut Readings, first: u64, again: u64) {
    let figures = [1.0, 0.0, 0.0, 0.0, 0.0];
    readings.add(TruthKind::SameBits, figures, first == again, &|| {
        format!("{first:016x}, then {again:016x}")
    });
}

fn check_slots(setup: &SlotsSetup) -> Result<Finding, String> {
    let run = simulate_slots(setup).map_err(|error| error.to_string())?;
    let counts = run.counts;
    let mut readings = Readings::default();
    let books = [
        counts.in_time + counts.late,
        counts.rejected,
        counts.dropped,
        counts.running + counts.queued,
    ];
    conserved(&mut readings, counts.offered, books, slot_outcomes(&run.requests));
    let (integral, sojourns) = (run.in_system_request_s, run.sojourn_request_s);
    little(&mut readings, integral, sojourns, counts.offered, run.duration_s);
    slots_at_work(&mut readings, setup, &run);
    let answered = || run.requests.iter().filter(|record| record.done_s <= end_s(setup));
    let in_time = answered().filter(|r| r.done_s - r.arrival_s <= setup.useful_within_s).count();
    met_by(&mut readings, counts.in_time, in_time as u64, counts.offered);
    let soonest_s = answered().map(|r| r.done_s - r.arrival_s).fold(f64::INFINITY, lesser);
    let holds = answered().all(|r| r.arrival_s <= r.start_s && r.start_s < r.done_s);
    if soonest_s.is_finite() {
        in_order(&mut readings, answered().count() as u64, soonest_s, holds);
    }
    let again = simulate_slots(setup).map_err(|error| error.to_string())?;
    let bits = bits_of_slots(&run);
    same_bits(&mut readings, bits, bits_of_slots(&again));
    Ok(Finding { requests: 2 * counts.offered, bits, readings: readings.0, ..Finding::default() })
}

fn end_s(setup: &SlotsSetup) -> f64 {
    setup.horizon_s.unwrap_or(f64::INFINITY)
}

/// Slots in use at once, and slots at work while there is work, both from the requests.
fn slots_at_work(readings: &mut Readings, setup: &SlotsSetup, run: &SlotsRun) {
    let end_s = end_s(setup);
    let slots = setup.slots as f64;
    let served: Vec<(f64, f64)> = run
        .requests
        .iter()
        .filter(|record| record.start_s <= end_s)
        .map(|record| (record.start_s, lesser(record.done_s, end_s)))
        .collect();
    let at_work_s: f64 = served.iter().map(|(from_s, to_s)| to_s - from_s).sum();
    let most = most_at_once(&served);
    let figures = [most as f64, slots, 0.0, 0.0, 0.0];
    readings.add(TruthKind::Slots, figures, most <= setup.slots, &|| {
        format!("{most} at once in {} slots", setup.slots)
    });
    // Nobody knows when a dropped request left the line.
    if run.counts.dropped > 0 {
        return;
    }
    let present: Vec<(f64, f64)> = run
        .requests
        .iter()
        .filter(|record| record.outcome != sim_core::engine::SlotOutcome::Rejected)
        .map(|r| (r.arrival_s, if r.done_s.is_nan() { end_s } else { lesser(r.done_s, end_s) }))
        .collect();
    let to_do_s = work_s(&present, slots);
    let figures = [at_work_s, to_do_s, 0.0, 0.0, 0.0];
    readings.same(TruthKind::WorkConservation, figures, (at_work_s, to_do_s));
}

/// Most intervals that overlap; one that ends as another begins does not.
fn most_at_once(served: &[(f64, f64)]) -> u64 {
    let mut starts: Vec<f64> = served.iter().map(|span| span.0).collect();
    let mut ends: Vec<f64> = served.iter().map(|span| span.1).collect();
    sim_core::sort::floats(&mut starts);
    sim_core::sort::floats(&mut ends);
    let (mut over, mut most) = (0, 0);
    for (begun, start_s) in starts.iter().enumerate() {
        while ends.get(over).is_some_and(|end_s| end_s <= start_s) {
            over += 1;
        }
        most = most.max(begun + 1 - over);
    }
    most as u64
}
