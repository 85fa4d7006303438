//! Fleets beside the division, and servers with slots, in words and as JSON.

use planner::{FleetPoint, ReplicasAnswer, SlotReplicas, SlotSizing};
use quantity::{count, counted, duration, number, share};
use scenario::Scenario;
use serde_json::{Value, json};
use sim_core::fleet::router::Router;

use crate::{
    json::{SCHEMA, document, estimate},
    table, words,
};

const fn router_name(router: Router) -> &'static str {
    match router {
        Router::SharedQueue => "one queue for all",
        Router::RoundRobin => "in turn",
        Router::Random => "by chance",
        Router::LeastInFlight => "fewest in flight",
        Router::PowerOfTwo => "better of two",
        Router::LeastKv => "fewest KV tokens",
        Router::PrefixAffinity => "prefix affinity",
    }
}

/// What fleets do at the asked rate, as sentences and tables.
#[must_use]
pub fn replicas_text(answer: &ReplicasAnswer, scenario: &Scenario) -> String {
    let (without, with) = answer.by_division;
    let each = scenario.gpus_per_engine();
    let server = |number: u64| counted(number, "replica", "replicas");
    let mut text = format!("By division {} do, {} with headroom", server(without), count(with));
    if each > 1 {
        text.push_str(&format!(" (of {} GPUs each)", count(each)));
    }
    text.push_str(". Whole fleets, simulated at the asked rate without headroom:\n\n");
    let rows: Vec<[String; 2]> = answer
        .fewest
        .iter()
        .map(|(router, least)| {
            let least = least.map_or_else(|| "more than were tried".to_owned(), count);
            [router_name(*router).to_owned(), least]
        })
        .collect();
    text.push_str(&table::ragged(&["router", "fewest replicas that hold the target"], &rows));
    if let Some(n) = answer.n_plus_one {
        text.push_str(&format!(
            "\nSo that one may be lost or updated at a time, {} are needed (N + 1).\n",
            server(n)
        ));
    }
    text.push('\n');
    let row = |name: String, point: &FleetPoint| {
        let tail = |value: f64| {
            if point.is_stable { duration(value) } else { words::WITHHELD.to_owned() }
        };
        let holds = if point.holds { "yes" } else { "no" };
        let met = share(point.slo_share.value);
        [name, met, tail(point.ttft_p99_s), tail(point.tpot_p99_s), holds.to_owned()]
    };
    let mut rows: Vec<[String; 5]> = answer
        .out
        .iter()
        .map(|(out, point)| {
            let name = match out {
                0 => format!("all {}", server(point.replicas)),
                out => format!("{} of {} out", count(*out), count(with)),
            };
            row(name, point)
        })
        .collect();
    if let Some((restart_s, point)) = &answer.lost {
        let name = format!("one lost, back after {}", duration(*restart_s));
        rows.push(row(name, point));
    }
    let header = ["behind the first router", "in target", "TTFT P99", "TPOT P99", "holds"];
    text.push_str(&table::ragged(&header, &rows));
    text
}

/// The same for machines.
#[must_use]
pub fn replicas_json(answer: &ReplicasAnswer, scenario: &Scenario) -> String {
    let point = |point: &FleetPoint| -> Value {
        json!({
            "router": router_name(point.router),
            "replicas": point.replicas,
            "slo_share": estimate(point.slo_share),
            "ttft_p99_s": point.is_stable.then_some(point.ttft_p99_s),
            "tpot_p99_s": point.is_stable.then_some(point.tpot_p99_s),
            "stable": point.is_stable,
            "holds": point.holds,
        })
    };
    let fewest: Vec<Value> = answer
        .fewest
        .iter()
        .map(|(router, least)| json!({ "router": router_name(*router), "replicas": least }))
        .collect();
    let out: Vec<Value> =
        answer.out.iter().map(|(out, at)| json!({ "out": out, "point": point(at) })).collect();
    document(&json!({
        "schema": SCHEMA,
        "kind": "replicas",
        "link": scenario.to_link(),
        "gpus_per_replica": scenario.gpus_per_engine(),
        "by_division": { "without_headroom": answer.by_division.0, "with_headroom": answer.by_division.1 },
        "fewest": fewest,
        "n_plus_one": answer.n_plus_one,
        "out": out,
        "lost": answer.lost.as_ref().map(|(restart_s, at)| json!({ "restart_s": restart_s, "point": point(at) })),
        "points": answer.points.iter().map(point).collect::<Vec<_>>(),
    }))
}

/// Little's law and the queue beside it.
#[must_use]
pub fn slots_text(sizing: &SlotSizing) -> String {
    let demand = &sizing.demand;
    let mut text = format!(
        "{} × {} = {} slots busy on average (Little’s law).\n",
        quantity::rate(demand.rate_per_s),
        duration(demand.service_s),
        number(sizing.busy_slots)
    );
    for (at, load) in [(&sizing.at_full_load, 1.0), (&sizing.at_load, demand.load)] {
        text.push_str(&format!(
            "÷ ({} slots × {}) = {}, so {}.\n",
            count(demand.slots),
            share(load),
            number(sizing.busy_slots / (demand.slots as f64 * load)),
            counted(at.replicas, "replica", "replicas")
        ));
    }
    text.push('\n');
    let row = |at: &SlotReplicas| {
        let wait = |(mean_s, p99_s): (f64, f64)| {
            if at.is_stable {
                format!("{} mean, {} P99", duration(mean_s), duration(p99_s))
            } else {
                "grows without end".to_owned()
            }
        };
        [count(at.replicas), share(at.busy_share), wait(at.split_wait_s), wait(at.pooled_wait_s)]
    };
    let rows = [row(&sizing.at_full_load), row(&sizing.at_load)];
    let header = ["replicas", "busy", "wait, a queue each", "wait, one queue for all"];
    text.push_str(&table::ragged(&header, &rows));
    text.push_str(
        "The law counts busy slots and knows no waiting: where all of them are to be busy, whoever comes waits \
         for chance to free one, and the queue grows for as long as the load lasts.\n",
    );
    text
}

/// The same for machines.
#[must_use]
pub fn slots_json(sizing: &SlotSizing) -> String {
    document(&json!({ "schema": SCHEMA, "kind": "slots", "sizing": sizing }))
}
