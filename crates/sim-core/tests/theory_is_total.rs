//! Whatever numbers theory is given, it answers with a finite number or says what to change.

use proptest::prelude::*;
use sim_core::theory::{
    BatchCurve, ErlangA, GgcTraffic, IterationChain, IterationModel, Mg1, Mmc, Service,
    TheoryError, erlang_b, erlang_c, little,
};

/// Plausible, extreme and impossible numbers.
fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 1e-3_f64..10.0,
        1 => 1e-15_f64..1e-9,
        1 => 1e9_f64..1e15,
        1 => prop::sample::select(vec![
            0.0, -0.0, -1.0, 1.0, 0.5, 1e-15, 1e15, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, f64::MAX,
        ]),
    ]
}

fn finite(answer: Result<f64, TheoryError>) -> bool {
    answer.is_ok_and(f64::is_finite)
}

/// Finite, or refused in words.
fn total(answer: Result<f64, TheoryError>) -> bool {
    match answer {
        Ok(number) => number.is_finite(),
        Err(refusal) => !refusal.to_string().is_empty(),
    }
}

fn services(mean: f64, scv: f64) -> Vec<Service> {
    [
        Service::constant(mean),
        Service::exponential(mean),
        Service::lognormal(mean, scv),
        Service::observed(&[mean, scv, 0.0]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn one_server(rate in numbers(), mean in numbers(), scv in numbers(), tail in numbers()) {
        prop_assert!(total(Mg1::mean_wait_of_moments_s(rate, mean, scv)));
        for service in services(mean, scv) {
            if let Ok(queue) = Mg1::new(rate, service) {
                prop_assert!(queue.mean_response_s().is_finite());
                prop_assert!(total(queue.wait_exceeded_s(tail)));
                prop_assert!(total(queue.response_exceeded_s(tail)));
            }
        }
    }

    #[test]
    fn several_servers(
        rate in numbers(), mean in numbers(), arrival in numbers(), service in numbers(),
        servers in prop_oneof![0_u64..50, 900_000_u64..1_100_000],
    ) {
        prop_assert!(total(erlang_b(rate, servers)) && total(erlang_c(rate, servers)));
        if let Ok(queue) = Mmc::new(rate, mean, servers) {
            prop_assert!(queue.mean_response_s().is_finite());
            prop_assert!(finite(queue.response_exceeded_s(0.01)));
            prop_assert!(total(queue.share_waiting_beyond(arrival)));
            if let Ok(share) = queue.share_responding_beyond(arrival) {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&share), "{share}");
            }
        }
        if let Ok(traffic) = GgcTraffic::new(rate, mean, servers, arrival, service) {
            prop_assert!(traffic.allen_cunneen_mean_wait_s().is_finite());
            prop_assert!(total(traffic.kimura_mean_wait_s()));
        }
        prop_assert!(total(little::in_system(rate, mean)) && total(little::rate_per_s(rate, mean)));
        prop_assert!(total(little::replicas(rate, mean, servers, arrival)));
    }

    #[test]
    fn impatience(
        rate in numbers(), mean in numbers(), patience in numbers(), servers in 0_u64..200,
        wait in numbers(), tail in numbers(),
    ) {
        if let Ok(queue) = ErlangA::new(rate, mean, patience, servers) {
            prop_assert!((0.0..=1.0 + 1e-9).contains(&queue.share_abandoning()));
            prop_assert!(queue.mean_wait_s().is_finite() && queue.utilisation() <= 1.0 + 1e-9);
            if let Ok(share) = queue.share_of_served_waiting_beyond(wait) {
                prop_assert!((0.0..=1.0 + 1e-9).contains(&share), "{share}");
            }
            prop_assert!(total(queue.wait_of_served_exceeded_s(tail)));
        }
    }

    #[test]
    fn batches(fixed in numbers(), per_item in numbers(), rate in numbers(), batch in 0_u64..2_000) {
        if let Ok(curve) = BatchCurve::new(fixed, per_item) {
            prop_assert!(total(curve.capacity_per_s(batch)) && total(curve.load(rate, batch)));
            prop_assert!(total(curve.smallest_batch(rate).map(|batch| batch as f64)));
        }
    }

    #[test]
    fn iterations(
        costs in (numbers(), numbers(), numbers()), lengths in (numbers(), numbers()),
        rate in numbers(), batch in 0_u64..100, queue in 0_u64..100,
    ) {
        let Ok(model) = IterationModel::new(costs.0, costs.1, costs.2, lengths.0, lengths.1) else {
            return Ok(());
        };
        prop_assert!(total(model.mean_iteration_s(rate)) && total(model.mean_in_engine(rate)));
        if let Ok(point) = IterationChain::new(model, batch, queue).and_then(|chain| chain.at(rate)) {
            for number in [point.throughput_per_s, point.response_s, point.token_s, point.ttft_s] {
                prop_assert!(number.is_finite(), "{point:?}");
            }
        }
    }
}
