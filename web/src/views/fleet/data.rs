//! From an answer to what is drawn of it.

use charts::{FleetBin, FleetData, FleetEvent, FleetRowKind};
use protocol::{FleetAnswer, FleetSlice};
use quantity::{about, count, duration, whole_percent};
use scenario::{Profile, Scenario};

use super::card;
use crate::strings;

/// Windows with fewer answers have no 99th percentile to stand behind.
const FEWEST_SERVED: u64 = 100;

/// What a drawing is of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn {
    pub(super) data: FleetData,
    /// The window that is read where there is no cursor: the worst.
    pub(super) worst: usize,
    /// Whether it is of an older scenario.
    pub(super) is_stale: bool,
}

pub(super) fn drawn(of: &Scenario, answer: &FleetAnswer, is_stale: bool) -> Drawn {
    let width_s = answer.window_s;
    // The last window ends with the run.
    let end_of = |slice: &FleetSlice| {
        let end_s = slice.start_s + width_s;
        if end_s < answer.end_s { end_s } else { answer.end_s }
    };
    let bins = answer.slices.iter().filter(|slice| end_of(slice) > slice.start_s);
    let bins: Vec<FleetBin> =
        bins.map(|slice| bin(slice, end_of(slice), answer.gpus_per_replica)).collect();
    let start = first_start(of, &bins);
    let surge = match of.profile {
        Profile::Spike { at_s, length_s, .. } => Some((at_s, at_s + length_s)),
        _ => None,
    };
    let worst = card::worst(answer)
        .map_or(0, |worst| bins.iter().position(|bin| bin.start_s == worst.start_s).unwrap_or(0));
    let data = FleetData {
        asked_rate: of
            .rate_corners(answer.end_s)
            .iter()
            .map(|point| (point.time_s, point.factor * of.rate_per_s))
            .collect(),
        end_s: answer.end_s,
        ttft_target_s: of.slo.ttft_s,
        events: events(of, answer.end_s, &bins, start.as_ref()),
        bins,
        surge,
        start,
    };
    Drawn { data, worst, is_stale }
}

fn bin(slice: &FleetSlice, end_s: f64, gpus: u64) -> FleetBin {
    let length_s = end_s - slice.start_s;
    let [pending, starting, ready, draining] = slice.replicas;
    FleetBin {
        start_s: slice.start_s,
        end_s,
        arrived_per_s: slice.offered as f64 / length_s,
        rejected_per_s: slice.rejected as f64 / length_s,
        ready,
        starting: pending + starting,
        draining,
        asked: slice.asked,
        waiting: slice.waiting,
        kv: slice.kv,
        ttft_p99_s: slice.ttft_s.1,
        served: slice.served,
        gpus: u64::from(starting + ready + draining) * gpus,
    }
}

/// The first start of a replica that the windows show from its decision to its being ready.
fn first_start(of: &Scenario, bins: &[FleetBin]) -> Option<(f64, f64, String)> {
    let decided = bins.iter().position(|bin| bin.starting > 0)?;
    let before = bins.get(decided.checked_sub(1)?).map_or(0, |bin| bin.ready);
    let ready = bins.iter().skip(decided).find(|bin| bin.ready > before)?;
    let start_s = of.fleet.start_s;
    // What is shorter than a window or two cannot be seen.
    let width_s = ready.end_s - ready.start_s;
    let begins_s = ready.end_s - start_s;
    (start_s >= 2.0 * width_s).then(|| {
        let begins_s = if begins_s > 0.0 { begins_s } else { 0.0 };
        (begins_s, ready.end_s, duration(start_s))
    })
}

fn events(
    of: &Scenario,
    end_s: f64,
    bins: &[FleetBin],
    start: Option<&(f64, f64, String)>,
) -> Vec<FleetEvent> {
    let mut events: Vec<(f64, &str)> = Vec::new();
    match of.profile {
        Profile::Step { at_s, factor } => {
            let word = if factor < 1.0 { strings::RATE_FALLS } else { strings::RATE_RISES };
            events.push((at_s, word));
        }
        Profile::Spike { at_s, length_s, .. } => {
            events.push((at_s, strings::SURGE_STARTS));
            events.push((at_s + length_s, strings::SURGE_ENDS));
        }
        Profile::Ramp { from_s, to_s, .. } => {
            events.push((from_s, strings::RAMP_STARTS));
            events.push((to_s, strings::RAMP_ENDS));
        }
        _ => {}
    }
    let fault = match of.fleet.fault_word() {
        "replica" => strings::REPLICA_LOST,
        "node" => strings::NODE_LOST,
        "metrics" => strings::NO_METRICS,
        _ => "",
    };
    if !fault.is_empty() {
        events.push((of.fleet.fault_at_s, fault));
    }
    if let Some((_, ready_s, _)) = start {
        events.push((*ready_s, strings::NEW_READY));
    }
    // The first time that fewer are ready by the autoscaler's will.
    let pairs = bins.windows(2);
    let down = pairs
        .into_iter()
        .find(|pair| pair[1].asked < pair[0].asked && pair[1].asked < pair[0].ready);
    if let Some(pair) = down {
        events.push((pair[1].end_s, strings::SCALED_DOWN));
    }
    events.retain(|(at_s, _)| *at_s > 0.0 && *at_s < end_s);
    let mut order: Vec<(f64, f64)> =
        events.iter().enumerate().map(|(index, event)| (event.0, index as f64)).collect();
    sim_core::sort::by_first(&mut order);
    let named = |&(at_s, index): &(f64, f64)| {
        let (_, name) = events.get(index as usize)?;
        Some(FleetEvent { at_s, name: (*name).to_owned() })
    };
    order.iter().filter_map(named).collect()
}

/// What stands beside a row: a value, and a line about it.
pub(super) fn reading(kind: FleetRowKind, data: &FleetData, index: usize) -> (String, String) {
    let Some(bin) = data.bins.get(index) else {
        return (strings::UNKNOWN.to_owned(), String::new());
    };
    match kind {
        FleetRowKind::Arrivals => {
            (quantity::rate(bin.arrived_per_s), strings::asked_rate(asked_at(data, bin.end_s)))
        }
        FleetRowKind::Replicas if bin.starting > 0 => {
            let [ready, starting] = [bin.ready, bin.starting].map(|n| count(u64::from(n)));
            ([&ready, " + ", &starting].concat(), strings::READY_STARTING.to_owned())
        }
        FleetRowKind::Replicas => {
            (count(u64::from(bin.ready)), strings::ready_asked(u64::from(bin.asked)))
        }
        FleetRowKind::Queue => (count(bin.waiting), strings::NO_LIMIT.to_owned()),
        FleetRowKind::Kv => (whole_percent(bin.kv.0), strings::fullest(bin.kv.1)),
        FleetRowKind::Ttft => {
            let value = bin.ttft_p99_s.map_or_else(|| strings::UNKNOWN.to_owned(), duration);
            let line = if bin.served < FEWEST_SERVED {
                strings::of_answers(bin.served)
            } else {
                strings::target_is(data.ttft_target_s)
            };
            (value, line)
        }
        FleetRowKind::Gpus => {
            let so_far: f64 = data
                .bins
                .iter()
                .take(index + 1)
                .map(|bin| bin.gpus as f64 * (bin.end_s - bin.start_s) / 3600.0)
                .sum();
            (count(bin.gpus), strings::hours_so_far(&about(&quantity::number(so_far))))
        }
    }
}

/// The requested rate at a time, requests per second.
fn asked_at(data: &FleetData, at_s: f64) -> f64 {
    let corners = &data.asked_rate;
    let after = corners.iter().position(|corner| corner.0 > at_s).unwrap_or(corners.len());
    let before = after.checked_sub(1).and_then(|at| corners.get(at)).copied();
    match (before, corners.get(after).copied()) {
        (Some((from_s, from)), Some((to_s, to))) => {
            from + (to - from) * (at_s - from_s) / (to_s - from_s)
        }
        (Some((_, rate)), None) | (None, Some((_, rate))) => rate,
        (None, None) => 0.0,
    }
}
