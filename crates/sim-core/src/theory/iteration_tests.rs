//! The chain against values printed by the autoscaler's own analyzer (which computes in 32-bit
//! floats, hence the tolerance), and the closed form against its definition.

use super::*;
use proptest::prelude::*;

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected.abs(), "{value} against {expected}");
}

fn model(alpha_ms: f64, beta_ms: f64, gamma_ms: f64, input: f64, output: f64) -> IterationModel {
    IterationModel::new(alpha_ms * 1e-3, beta_ms * 1e-3, gamma_ms * 1e-3, input, output).unwrap()
}

#[test]
fn service_times_match_the_analyzers_tests() {
    for (batch, expected_ms) in [(1.0, 1.23), (4.0, 1.575), (8.0, 2.035)] {
        close(model(1.0, 0.1, 0.01, 1.0, 1.0).decode_s(batch), expected_ms * 1e-3, 1e-12);
    }
    assert_eq!(model(10.0, 0.01, 0.001, 0.0, 1.0).prefill_s(4.0), 0.0);
}

/// One printed row: model, limits, rate; then throughput per second, response, wait, number in
/// service, prefill, token and first-token times in milliseconds.
struct Row {
    model: IterationModel,
    limits: (u64, u64),
    rate_per_s: f64,
    printed: [f64; 7],
}

fn rows() -> Vec<Row> {
    let small = model(1.0, 0.01, 0.001, 100.0, 10.0);
    let large = model(5.0, 0.05, 5e-5, 512.0, 256.0);
    let long = model(8.0, 0.02, 1e-4, 4096.0, 128.0);
    let empty = model(2.0, 0.05, 0.001, 0.0, 20.0);
    let row = |model, limits, rate_per_s, printed| Row { model, limits, rate_per_s, printed };
    vec![
        row(
            small,
            (8, 16),
            50.0,
            [50.0, 17.475_435, 1.888e-4, 0.873_762_4, 2.279_121_4, 1.519_612_6, 3.798_922_8],
        ),
        row(
            small,
            (8, 16),
            150.0,
            [149.999_22, 23.825_518, 0.618_303_3, 3.481_063_8, 2.813_618_2, 2.039_359_6, 5.471_281],
        ),
        row(
            small,
            (8, 16),
            229.368_59,
            [226.540_63, 42.995_47, 13.998_28, 6.569_041_7, 3.446_653_4, 2.555_053_5, 19.999_987],
        ),
        row(
            large,
            (256, 100),
            5.0,
            [5.0, 1797.2063, 0.0, 8.986_032, 32.255_814, 6.894_337_7, 39.150_15],
        ),
        row(
            large,
            (256, 100),
            12.0,
            [12.0, 3128.7263, 0.0, 37.544_716, 37.436_825, 12.075_35, 49.512_177],
        ),
        row(
            large,
            (256, 100),
            18.587_425,
            [18.586_35, 10388.695, 83.328_125, 191.539_15, 65.373_93, 39.999_973, 188.702_03],
        ),
        row(
            long,
            (64, 100),
            2.0,
            [2.0, 1807.7382, 0.0, 3.615_476_4, 94.201_355, 13.387_007, 107.588_36],
        ),
        row(
            empty,
            (16, 32),
            30.0,
            [30.0, 43.868_99, 0.0, 1.316_069_7, 0.0, 2.193_449_5, 2.193_449_5],
        ),
    ]
}

#[test]
fn the_chain_matches_the_printed_analysis() {
    for Row { model, limits, rate_per_s, printed } in rows() {
        let chain = IterationChain::new(model, limits.0, limits.1).unwrap();
        let point = chain.at(rate_per_s).unwrap();
        close(point.throughput_per_s, printed[0], 2e-5);
        close(point.response_s * 1e3, printed[1], 2e-4);
        // A wait is a difference of two large single-precision times there.
        assert!((point.wait_s * 1e3 - printed[2]).abs() < 1e-5 * printed[1] + 2e-4 * printed[2]);
        close(point.in_service, printed[3], 2e-4);
        close(point.prefill_s * 1e3, printed[4], 2e-4);
        close(point.token_s * 1e3, printed[5], 2e-4);
        close(point.ttft_s * 1e3, printed[6], 5e-4);
    }
}

#[test]
fn sizing_matches_the_printed_rates() {
    let small = IterationChain::new(model(1.0, 0.01, 0.001, 100.0, 10.0), 8, 16).unwrap();
    close(0.999 * small.capacity_per_s(), 255.417_08, 1e-6);
    let rate = small.largest_rate_per_s(0.020, f64::INFINITY).unwrap().unwrap();
    close(rate, 229.368_59, 1e-4);
    let large = IterationChain::new(model(5.0, 0.05, 5e-5, 512.0, 256.0), 256, 100).unwrap();
    let rate = large.largest_rate_per_s(f64::INFINITY, 0.025).unwrap().unwrap();
    close(rate, 16.865_37, 1e-4);
    assert_eq!(large.largest_rate_per_s(0.001, 0.001), Ok(None));
    assert!(large.largest_rate_per_s(f64::NAN, 1.0).is_err());
}

#[test]
fn the_closed_form_is_the_fixed_point() {
    let engine = model(5.0, 0.05, 5e-5, 512.0, 256.0);
    for share in [0.1, 0.5, 0.9] {
        let rate = share / (257.0 * engine.per_request_s());
        close(engine.load(rate).unwrap(), share, 1e-12);
        let iteration_s = engine.mean_iteration_s(rate).unwrap();
        close(iteration_s, 0.005 / (1.0 - share), 1e-12);
        close(engine.iteration_s(engine.mean_in_engine(rate).unwrap()), iteration_s, 1e-12);
    }
    // A multiple of 3 holds the load at 2/3.
    let rate = engine.rate_at_multiple(3.0).unwrap().unwrap();
    close(engine.load(rate).unwrap(), 2.0 / 3.0, 1e-12);
    assert!(engine.rate_at_multiple(1.0).is_err() && engine.mean_iteration_s(1e3).is_err());
}

proptest! {
    #[test]
    fn no_rate_gives_nan(
        rate in prop_oneof![1e-15_f64..1e15, 1e-3_f64..1e3], batch in 1_u64..100, queue in 0_u64..100,
    ) {
        let chain = IterationChain::new(model(5.0, 0.05, 5e-5, 512.0, 256.0), batch, queue).unwrap();
        let point = chain.at(rate).unwrap();
        prop_assert!(point.ttft_s.is_finite() && point.wait_s >= 0.0);
        prop_assert!(point.throughput_per_s <= chain.capacity_per_s() * (1.0 + 1e-9));
    }
}
