//! Random set-ups of the `reference` rules.
#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use proptest::prelude::*;
use sim_core::{
    ArrivalProcess, EngineSpec, LengthSpec, RequestSource, Rules, Setup, Slo, StepTimeSpec, Trace,
    TraceRow, Workload,
    clients::ClientTime,
    workload::{
        Arrivals, Mix, OnOff, Quantiles, RateProfile, RequestClass, RequestLengths, Sessions,
        SharedPrefix, Turns,
    },
};

mod kernel;

fn step_times() -> impl Strategy<Value = StepTimeSpec> {
    prop_oneof![
        kernel::kernel_step_times(),
        (0.0_f64..0.05, 1e-5_f64..0.01)
            .prop_map(|(fixed_s, per_item_s)| StepTimeSpec::Affine { fixed_s, per_item_s }),
        (1e8_f64..1e11, 1e8_f64..1e11, 0.0_f64..1e6, 0.0_f64..2e-3).prop_map(
            |(params, weight_bytes, kv_bytes_per_token, overhead_s)| StepTimeSpec::Roofline {
                params,
                weight_bytes,
                kv_bytes_per_token,
                peak_flops: 989e12,
                bandwidth_bytes_per_s: 3.35e12,
                mfu: 0.5,
                overhead_s,
            }
        ),
        (1e-4_f64..0.05, 0.0_f64..1e-4, 0.0_f64..1e-6).prop_map(|(alpha_s, beta_s, gamma_s)| {
            StepTimeSpec::QueueModel {
                alpha_s,
                beta_s,
                gamma_s,
                input_tokens: 300.0,
                output_tokens: 80.0,
            }
        }),
    ]
}

/// From one token to beyond any batch: tiny budgets and caches are where the rules bite.
fn engines() -> impl Strategy<Value = EngineSpec> {
    let budget = prop_oneof![1_u64..8, 8_u64..300, 300_u64..20_000];
    let seqs = prop_oneof![Just(1_u64), 2_u64..6, 6_u64..400];
    let kv = prop_oneof![1_u64..60, 60_u64..2_000, 2_000_u64..2_000_000];
    (budget, seqs, kv).prop_map(|(max_num_batched_tokens, max_num_seqs, kv_capacity_tokens)| {
        EngineSpec { max_num_batched_tokens, max_num_seqs, kv_capacity_tokens }
    })
}

fn lengths(least: u64) -> impl Strategy<Value = u64> {
    prop_oneof![2 => least..least + 3, 4 => least..100, 2 => 100_u64..3_000]
}

/// Gaps are often zero (simultaneous arrivals) and sometimes longer than any request.
fn traces() -> impl Strategy<Value = Trace> {
    let gap = prop_oneof![2 => Just(0.0), 4 => 0.0_f64..0.05, 1 => 0.0_f64..30.0];
    let row = (gap, lengths(0), lengths(1));
    prop::collection::vec(row, 1..60).prop_map(|rows| {
        let mut arrival_s = 0.0;
        let rows = rows
            .into_iter()
            .map(|(gap_s, input_tokens, output_tokens)| {
                arrival_s += gap_s;
                TraceRow { arrival_s, input_tokens, output_tokens }
            })
            .collect();
        Trace::new(rows).expect("rows are in order")
    })
}

fn processes() -> impl Strategy<Value = ArrivalProcess> {
    prop_oneof![
        Just(ArrivalProcess::Poisson),
        Just(ArrivalProcess::Even),
        (0.1_f64..4.0).prop_map(|shape| ArrivalProcess::Gamma { shape }),
    ]
}

fn drawn(least: u64) -> impl Strategy<Value = LengthSpec> {
    prop_oneof![
        lengths(least).prop_map(|tokens| LengthSpec::Fixed { tokens }),
        (1.0_f64..300.0, 0.0_f64..1.5).prop_map(move |(median_tokens, sigma)| {
            LengthSpec::LogNormal { median_tokens, sigma, min_tokens: least, max_tokens: 5_000 }
        }),
        (lengths(least), 0_u64..400, 0_u64..4_000).prop_map(|(shortest, middle, longest)| {
            let median = shortest + middle;
            let points = [(0.0, shortest), (0.5, median), (1.0, median + longest)];
            LengthSpec::Empirical(Quantiles::new(&points).expect("they rise"))
        }),
    ]
}

/// Prefixes of two groups, and patience of the class.
fn shared() -> impl Strategy<Value = (Option<SharedPrefix>, Option<ClientTime>)> {
    let prefix = (0_u64..2, 0_u64..400).prop_map(|(group, tokens)| SharedPrefix { group, tokens });
    let patience = (0.001_f64..5.0).prop_map(|mean_s| ClientTime::Exponential { mean_s });
    (prop::option::of(prefix), prop::option::of(patience))
}

pub(crate) fn think_times() -> impl Strategy<Value = ClientTime> {
    prop_oneof![
        Just(ClientTime::Fixed { mean_s: 0.0 }),
        (0.0_f64..2.0).prop_map(|mean_s| ClientTime::Fixed { mean_s }),
        (0.0_f64..2.0).prop_map(|mean_s| ClientTime::Exponential { mean_s }),
        (0.0_f64..2.0, 0.0_f64..1.5)
            .prop_map(|(mean_s, sigma)| ClientTime::LogNormal { mean_s, sigma }),
    ]
}

/// Single requests, or sessions, some of which are too long for their limit.
fn sessions() -> impl Strategy<Value = Option<Sessions>> {
    let turns = prop_oneof![
        (1_u64..8).prop_map(|turns| Turns::Fixed { turns }),
        (1_u64..5, 0_u64..6).prop_map(|(least, more)| Turns::Uniform { least, most: least + more }),
        (1.0_f64..6.0).prop_map(|mean| Turns::Geometric { mean }),
    ];
    let limit = prop_oneof![20_u64..1_000, 1_000_u64..1_000_000];
    prop::option::of(
        (turns, think_times(), limit).prop_map(|(turns, think, most_tokens)| Sessions {
            turns,
            think,
            most_tokens,
        }),
    )
}

/// Classes with targets of their own, bursts, and a rate that changes.
fn mixes() -> impl Strategy<Value = Mix> {
    let class = (
        0.1_f64..5.0,
        drawn(0),
        drawn(1),
        0.001_f64..3.0,
        0.001_f64..0.1,
        0..3,
        shared(),
        sessions(),
    )
        .prop_map(|(weight, input, output, ttft_s, tpot_s, priority, shared, sessions)| {
            let (shared_prefix, patience) = shared;
            RequestClass {
                weight,
                lengths: RequestLengths::Independent { input, output },
                slo: Slo { ttft_s, tpot_s, share: 0.99 },
                priority,
                shared_prefix,
                sessions,
                patience,
            }
        });
    let bursts =
        prop::option::of(
            (0.1_f64..5.0, 0.1_f64..5.0, 0.0_f64..1.0)
                .prop_map(|(on_s, off_s, lull_share)| OnOff { on_s, off_s, lull_share }),
        );
    let profile = prop_oneof![
        Just(RateProfile::Constant),
        (0.0_f64..5.0, 0.1_f64..8.0).prop_map(|(at_s, factor)| RateProfile::step(at_s, factor)),
    ];
    let classes = prop::collection::vec(class, 1..4);
    (processes(), 0.1_f64..200.0, bursts, profile, classes).prop_map(
        |(process, rate_per_s, bursts, profile, classes)| Mix {
            arrivals: Arrivals { process, rate_per_s, bursts, profile },
            classes,
        },
    )
}

fn sources() -> impl Strategy<Value = RequestSource> {
    let process = processes();
    prop_oneof![
        2 => mixes().prop_map(|mix| RequestSource::Mixed(Arc::new(mix))),
        3 => traces()
            .prop_map(|trace| RequestSource::Replay { trace: Arc::new(trace), speed: 1.0 }),
        2 => (process, 0.1_f64..200.0, drawn(0), drawn(1)).prop_map(
            |(process, rate_per_s, input, output)| RequestSource::Generated {
                process,
                rate_per_s,
                input,
                output,
            }
        ),
    ]
}

pub(crate) fn setups() -> impl Strategy<Value = Setup> {
    (sources(), engines(), step_times(), any::<u64>()).prop_map(
        |(source, engine, step_time, seed)| Setup {
            workload: Workload { source, requests: 60 },
            engine,
            rules: Rules::Reference,
            step_time,
            slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
            seed,
        },
    )
}
