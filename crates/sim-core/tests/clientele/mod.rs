//! Random clients that react, and lines with a policy.

use proptest::prelude::*;

use super::settings::think_times;
use sim_core::{
    RequestSource, Setup,
    clients::{
        Awaited, ClientSpec, ClientTime, GivenUpWork, Pacing, Patience, PatienceTime, Population,
        Retries, RetryWait, Throttle,
    },
    engine::{AttendedSetup, Codel, OverloadPolicy, ServiceOrder},
    workload::Deal,
};

fn policies() -> impl Strategy<Value = OverloadPolicy> {
    let order = prop_oneof![
        Just(ServiceOrder::OldestFirst),
        Just(ServiceOrder::NewestFirst),
        Just(ServiceOrder::ByPriority),
    ];
    let codel = (0.001_f64..0.5, 0.01_f64..1.0)
        .prop_map(|(target_s, interval_s)| Codel { target_s, interval_s });
    (
        prop::option::of(0_u64..20),
        prop::option::of(0.001_f64..3.0),
        order,
        prop::option::of(codel),
        prop_oneof![Just(0.0), 0.0_f64..0.05],
        prop::option::of(0.01_f64..1.0),
    )
        .prop_map(
            |(queue_limit, max_wait_s, order, codel, rejection_cost_s, retry_after_s)| {
                OverloadPolicy {
                    queue_limit,
                    max_wait_s,
                    order,
                    codel,
                    rejection_cost_s,
                    retry_after_s,
                }
            },
        )
}

fn populations() -> impl Strategy<Value = Population> {
    let pacing = prop_oneof![Just(Pacing::AfterAnswer), Just(Pacing::OnSchedule)];
    prop_oneof![
        2 => Just(Population::Open),
        2 => Just(Population::Sessions),
        1 => (1_u64..80, think_times(), pacing)
            .prop_map(|(users, think, pacing)| Population::Closed { users, think, pacing }),
    ]
}

fn waits() -> impl Strategy<Value = ClientTime> {
    let mean = || prop_oneof![0.001_f64..0.5, 0.1_f64..30.0];
    prop_oneof![
        mean().prop_map(|mean_s| ClientTime::Fixed { mean_s }),
        mean().prop_map(|mean_s| ClientTime::Exponential { mean_s }),
        (mean(), 0.0_f64..2.0).prop_map(|(mean_s, sigma)| ClientTime::LogNormal { mean_s, sigma }),
    ]
}

fn clients() -> impl Strategy<Value = ClientSpec> {
    let awaits = prop_oneof![Just(Awaited::FirstToken), Just(Awaited::Answer)];
    let work = prop_oneof![Just(GivenUpWork::Abandoned), Just(GivenUpWork::StillDone)];
    let patience = (
        prop_oneof![3 => waits().prop_map(PatienceTime::Same), 1 => Just(PatienceTime::OfClass)],
        awaits,
        work,
    )
        .prop_map(|(time, awaits, work)| Patience { time, awaits, work });
    let wait = prop_oneof![
        Just(RetryWait::Immediate),
        (0.001_f64..1.0, 0.01_f64..5.0)
            .prop_map(|(base_s, cap_s)| RetryWait::Backoff { base_s, cap_s }),
    ];
    let retries = (1_u32..6, wait, any::<bool>(), prop::option::of(0.0_f64..1.0)).prop_map(
        |(max_attempts, wait, honours_retry_after, budget)| Retries {
            max_attempts,
            wait,
            honours_retry_after,
            budget,
        },
    );
    let throttle = (1.0_f64..3.0, 0.1_f64..20.0).prop_map(|(k, window_s)| Throttle { k, window_s });
    (
        populations(),
        prop::option::of(patience),
        prop::option::of(retries),
        prop::option::of(throttle),
    )
        .prop_map(|(population, patience, retries, throttle)| ClientSpec {
            population,
            patience,
            retries,
            throttle,
        })
}

/// Any of the set-ups, with clients and a line.
pub(crate) fn attended(
    setups: impl Strategy<Value = Setup>,
) -> impl Strategy<Value = AttendedSetup> {
    let deals = prop_oneof![3 => Just((1, 0)), 1 => (1_u64..5).prop_flat_map(|n| (Just(n), 0..n))];
    (setups, clients(), policies(), deals).prop_map(|(mut setup, mut clients, overload, deal)| {
        // Only classes come in sessions.
        if clients.population == Population::Sessions
            && !matches!(setup.workload.source.whole(), RequestSource::Mixed(_))
        {
            clients.population = Population::Open;
        }
        let (replicas, replica) = deal;
        let is_whole = !matches!(setup.workload.source, RequestSource::Dealt(_));
        if replicas > 1 && is_whole && !matches!(clients.population, Population::Closed { .. }) {
            let source = Box::new(setup.workload.source);
            setup.workload.source = RequestSource::Dealt(Deal { source, replicas, replica });
        }
        AttendedSetup { setup, clients, overload }
    })
}
