//! Queues that theory solves exactly, simulated.

use sim_core::{
    ArrivalProcess, LengthSpec, RequestSource, Workload,
    engine::{OverloadPolicy, ServiceTime, SlotsSetup, simulate_slots},
    quantile::student_t_quantile,
    random::split_mix,
    theory::{Md1, Mg1, Mmc, Service, TheoryError},
};

use super::{
    answer::{Compared, Queue, QueuePoint},
    check::Finding,
    records::bits_of_slots,
};

/// Arrival rate × service time / servers.
pub(super) const LOADS: [f64; 6] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95];
/// Requests measured at each: a queue forgets the more slowly the fuller its servers.
const REQUESTS: [u64; 6] = [16_000, 16_000, 32_000, 50_000, 100_000, 260_000];
/// One more than this many are simulated; that part, at the start, fills the queue and is left out.
const WARM_UP_PART: u64 = 5;
/// Parts of a run, long against what a queue remembers.
const PARTS: usize = 10;
/// Half of what a 99 % interval leaves out, from above.
const ONE_SIDED: f64 = 0.995;
/// Standard deviation of the logarithm of lognormal service.
const SIGMA: f64 = 0.5;
const SERVERS: u64 = 4;
/// As many comparisons of queues outside their intervals as chance explains. The three numbers of one
/// run lean the same way: three times as many as independent comparisons would have, and three
/// standard deviations more.
pub const MOST_QUEUES_OUTSIDE: u64 = 6;

/// Simulate a queue at one of the loads, beside its closed form.
pub(super) fn check(seed: u64, queue: Queue, load: usize) -> Result<Finding, String> {
    let (rate, requests) = (LOADS[load], REQUESTS[load]);
    let theory = theory(queue, rate).map_err(|error| error.to_string())?;
    let run = simulate_slots(&setup(seed, queue, load)).map_err(|error| error.to_string())?;
    let warm_up = (requests / WARM_UP_PART) as usize;
    let times: Vec<f64> =
        run.requests.iter().skip(warm_up).map(|record| record.done_s - record.arrival_s).collect();
    let point = QueuePoint {
        queue,
        load: rate,
        requests,
        mean: compared(theory[0], &times, &mut mean),
        p90: compared(theory[1], &times, &mut |part| percentile(part, 0.9)),
        p99: compared(theory[2], &times, &mut |part| percentile(part, 0.99)),
    };
    Ok(Finding {
        requests: run.counts.offered,
        bits: bits_of_slots(&run),
        queue: Some(point),
        ..Finding::default()
    })
}

/// A number of all times with its 99 % interval: Student's t on the same number of each part of the
/// run, around that of the whole. The logarithm makes the few long spells of a full queue less lopsided.
fn compared(theory: f64, times: &[f64], of: &mut dyn FnMut(&mut [f64]) -> f64) -> Compared {
    let mut scratch = times.to_vec();
    let value = of(&mut scratch);
    scratch.copy_from_slice(times);
    let centre = libm::log(value);
    let squares: f64 = scratch
        .chunks_exact_mut(times.len() / PARTS)
        .map(|part| libm::log(of(part)) - centre)
        .map(|away| away * away)
        .sum();
    let parts = PARTS as f64;
    let t = student_t_quantile(ONE_SIDED, parts - 1.0).unwrap_or(f64::INFINITY);
    let half = t * (squares / (parts * (parts - 1.0))).sqrt();
    Compared { theory, value, low: value * libm::exp(-half), high: value * libm::exp(half) }
}

fn mean(times: &mut [f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// By nearest rank.
fn percentile(times: &mut [f64], share: f64) -> f64 {
    let rank = (share * times.len() as f64).ceil() as usize;
    sim_core::sort::floats(times);
    times[rank.max(1) - 1]
}

fn setup(seed: u64, queue: Queue, load: usize) -> SlotsSetup {
    let mean_s = 1.0;
    let (slots, service) = match queue {
        Queue::Exponential => (1, ServiceTime::Exponential { mean_s }),
        Queue::Constant => (1, ServiceTime::Constant { mean_s }),
        Queue::Lognormal => (1, ServiceTime::LogNormal { mean_s, sigma: SIGMA }),
        Queue::FourServers => (SERVERS, ServiceTime::Exponential { mean_s }),
    };
    let unit = LengthSpec::Fixed { tokens: 1 };
    let source = RequestSource::Generated {
        process: ArrivalProcess::Poisson,
        rate_per_s: LOADS[load] * slots as f64,
        input: unit,
        output: unit,
    };
    let requests = REQUESTS[load] + REQUESTS[load] / WARM_UP_PART;
    SlotsSetup {
        workload: Workload { source, requests },
        slots,
        service,
        overload: OverloadPolicy::UNBOUNDED,
        useful_within_s: 1e9,
        horizon_s: None,
        seed: split_mix(seed ^ (((queue as u64) << 40) | ((load as u64 + 1) << 32))),
    }
}

/// Mean, P90 and P99 of the time in the system.
fn theory(queue: Queue, load: f64) -> Result<[f64; 3], TheoryError> {
    match queue {
        Queue::Exponential | Queue::FourServers => {
            let servers = if queue == Queue::FourServers { SERVERS } else { 1 };
            let mmc = Mmc::new(load * servers as f64, 1.0, servers)?;
            Ok([
                mmc.mean_response_s(),
                mmc.response_exceeded_s(0.1)?,
                mmc.response_exceeded_s(0.01)?,
            ])
        }
        Queue::Constant => {
            let md1 = Md1::new(load, 1.0)?;
            Ok([
                1.0 + md1.mean_wait_s(),
                md1.response_exceeded_s(0.1)?,
                md1.response_exceeded_s(0.01)?,
            ])
        }
        Queue::Lognormal => {
            let mg1 = Mg1::new(load, Service::lognormal(1.0, libm::expm1(SIGMA * SIGMA))?)?;
            Ok([
                mg1.mean_response_s(),
                mg1.response_exceeded_s(0.1)?,
                mg1.response_exceeded_s(0.01)?,
            ])
        }
    }
}

/// Comparisons in which theory is inside, of how many.
pub(super) fn inside(points: &[QueuePoint]) -> (u64, u64) {
    let all = || points.iter().flat_map(|point| [point.mean, point.p90, point.p99]);
    (all().filter(Compared::is_inside).count() as u64, all().count() as u64)
}

/// Whether chance explains the comparisons outside.
pub(super) const fn is_chance(inside: u64, compared: u64) -> bool {
    compared - inside <= MOST_QUEUES_OUTSIDE
}
