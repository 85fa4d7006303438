//! Prefill and decode on GPUs of their own.

use sim_core::{
    Keep, SetupError,
    fleet::{Disaggregated, Link},
    workload::RateProfile,
};

use super::{
    Check, Experiment, Findings, Table, Unit,
    lab::{CHAT, Kind, SLO, fixed, fleet, run, traffic},
};

pub(super) const EXPERIMENTS: [Experiment; 1] = [Experiment {
    name: "pools-as-one",
    claim: "Prefill and decode saturate on different things: scaled as one, one of them is always too large.",
    setting: "The fewest replicas that hold the target for prompts of 3,000 with answers of 50 tokens, and for prompts of 200 with answers of 800: two pools of any sizes, two pools of one size, and the same GPUs used together; a link of 50 GB/s per prefill replica.",
    run: pools_as_one,
}];

/// More replicas of a kind are not tried.
const MOST: u64 = 12;

fn link() -> Link {
    Link { bytes_per_s: 50e9, latency_s: 0.001, kv_bytes_per_token: 131_072.0 }
}

fn in_time(kind: Kind, rate_per_s: f64, pools: (u64, u64)) -> Result<bool, SetupError> {
    let setup = traffic(&[kind], (rate_per_s, 6000), RateProfile::Constant);
    let run = Disaggregated::new(&setup, pools, link())?.simulate(Keep::default());
    Ok(run.total.slo_share() >= SLO.share)
}

fn together(kind: Kind, rate_per_s: f64) -> Result<Option<u64>, SetupError> {
    for replicas in 1..=2 * MOST {
        let setup = traffic(&[kind], (rate_per_s, 6000), RateProfile::Constant);
        let mut fleet = fleet(setup, fixed(replicas as i32), 0.0);
        fleet.initial_replicas = replicas as u32;
        if run(&fleet)?.total.slo_share() >= SLO.share {
            return Ok(Some(replicas));
        }
    }
    Ok(None)
}

/// The fewest replicas in two pools of any sizes: for each number of prefill replicas the fewest for
/// decode, since more of either never hurts.
fn apart(kind: Kind, rate_per_s: f64) -> Result<Option<(u64, u64)>, SetupError> {
    let mut best: Option<(u64, u64)> = None;
    for prefill in 1..=MOST {
        for decode in 1..=MOST {
            if best.is_some_and(|(p, d)| prefill + decode >= p + d) {
                break;
            }
            if in_time(kind, rate_per_s, (prefill, decode))? {
                best = Some((prefill, decode));
                break;
            }
        }
    }
    Ok(best)
}

fn as_one(kind: Kind, rate_per_s: f64) -> Result<Option<u64>, SetupError> {
    for pairs in 1..=MOST {
        if in_time(kind, rate_per_s, (pairs, pairs))? {
            return Ok(Some(pairs));
        }
    }
    Ok(None)
}

fn pools_as_one() -> Result<Findings, SetupError> {
    let columns = [
        ("prefill", Unit::Count),
        ("decode", Unit::Count),
        ("GPUs apart", Unit::Count),
        ("GPUs as one", Unit::Count),
        ("GPUs together", Unit::Count),
    ];
    let mut table = Table::new("traffic", &columns);
    let prompts = Kind { input_tokens: 3000, output_tokens: 50, ..CHAT };
    let answers = Kind { input_tokens: 200, output_tokens: 800, ..CHAT };
    for (case, kind, rate_per_s) in [
        ("long prompts, 30 requests/s", prompts, 30.0),
        ("long answers, 30 requests/s", answers, 30.0),
    ] {
        let (prefill, decode) = apart(kind, rate_per_s)?.unwrap_or((0, 0));
        let known = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64);
        let pairs = known(as_one(kind, rate_per_s)?);
        let all = known(together(kind, rate_per_s)?);
        let values = [prefill as f64, decode as f64, (prefill + decode) as f64, 2.0 * pairs, all];
        table.row(case, &values);
    }
    let value = |row: usize, column: usize| table.rows[row].values[column];
    let checks = vec![
        Check::new(
            "Long prompts need more prefill replicas than decode replicas, long answers the other way about.",
            value(0, 0) > value(0, 1) && value(1, 0) < value(1, 1),
        ),
        Check::new(
            "Scaled as one, each traffic pays at least a quarter more GPUs.",
            (0..2).all(|row| value(row, 3) >= 1.25 * value(row, 2)),
        ),
    ];
    Ok(Findings { tables: vec![table], checks, remark: "" })
}
