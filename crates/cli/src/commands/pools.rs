//! `headroom simulate` with prefill and decode pools.

use scenario::Scenario;
use sim_core::{
    Keep, Precision, Setup, StepTimeSpec,
    engine::Attendance,
    fleet::{Disaggregated, FleetRun, Link, RoundRobin},
    simulate, simulate_by_oracle,
};

use crate::{args::SimulateArgs, failure::Failure, output, pool};

/// Bytes per second of a Gbit/s.
const GBIT: f64 = 1e9 / 8.0;

/// Simulate both pools, and as many replicas that do both; what there is to print.
pub(crate) fn run(
    args: &SimulateArgs,
    scenario: &Scenario,
    (setup, attendance): (&Setup, &Attendance),
    classes: &[String],
) -> Result<String, Failure> {
    if !attendance.is_open() {
        return Err(Failure::input(
            "disagg.prefill and disagg.decode have no queue limits, deadlines or clients that react; \
             leave them out, or the settings of overload.*, client.*, sessions and a closed loop."
                .to_owned(),
        ));
    }
    let precision = if args.exact { Precision::Exact } else { Precision::Bounded };
    let keep =
        Keep { precision, requests: args.requests_out.is_some() || args.csv, intervals: false };
    let disagg = &scenario.disagg;
    let pooled =
        Disaggregated::new(setup, (disagg.prefill, disagg.decode), link(args, scenario, setup)?)?;
    let pools = if args.oracle { pooled.simulate_by_oracle(keep) } else { pooled.simulate(keep) };
    let run = &pools.total;
    let requests = || report::requests_csv(run.requests.as_deref().unwrap_or_default());
    if let Some(path) = &args.requests_out {
        output::write_file(path, &requests())?;
    }
    if args.csv {
        return Ok(requests());
    }
    if args.windows && !args.json {
        return Ok(report::windows_csv(&run.windows));
    }
    let together = together(args, setup, disagg.prefill + disagg.decode, precision)?;
    Ok(if args.json {
        report::pools_json(&pools, &together, scenario, classes, args.windows)
    } else {
        report::pools_text(&pools, &together, scenario, args.trace.is_some())
    })
}

/// The link, where it is known how much is sent.
fn link(args: &SimulateArgs, scenario: &Scenario, setup: &Setup) -> Result<Link, Failure> {
    if args.gpus.get() > 1 || args.replicas.get() > 1 {
        return Err(Failure::input(
            "disagg.prefill and disagg.decode say how many replicas there are; leave --gpus and \
             --replicas out."
                .to_owned(),
        ));
    }
    let StepTimeSpec::Roofline { kv_bytes_per_token, .. } = setup.step_time else {
        return Err(Failure::input(format!(
            "step.kind={}: how many bytes of KV cache a replica sends is not known. Give \
             step.kind=roofline, or leave disagg.prefill and disagg.decode out.",
            scenario.get("step.kind").unwrap_or_default()
        )));
    };
    let disagg = &scenario.disagg;
    let bytes_per_s = disagg.link_gbps * GBIT;
    Ok(Link { bytes_per_s, latency_s: disagg.latency_s, kv_bytes_per_token })
}

/// The same load on replicas that do both.
fn together(
    args: &SimulateArgs,
    setup: &Setup,
    replicas: u64,
    precision: Precision,
) -> Result<FleetRun, Failure> {
    let keep = Keep { precision, requests: false, intervals: false };
    let engine = if args.oracle { simulate_by_oracle } else { simulate };
    let fleet = RoundRobin::new(setup, replicas)?;
    let shares: Vec<Setup> = (0..replicas).map(|k| fleet.setup_of(k)).collect();
    let runs = pool::map(&shares, args.threads.count(), |share| engine(share, keep))
        .into_iter()
        .collect::<Result<_, _>>()?;
    fleet.merge(runs).ok_or_else(|| Failure::input("a replica has no run".to_owned()))
}
