//! The two published tables, to every printed digit.

use super::reference::{Reference, percentile, run, summary, with_rate};

/// Rate, TTFT P50 and P99 (ms), TPOT P50 and P99 (ms), output tokens per second, goodput, share
/// within the target (%): as printed, for 2,000 requests of 1,024 in and 256 out.
pub(crate) const BY_RATE: [(f64, [&str; 7]); 8] = [
    (1.0, ["34", "60", "5.2", "5.6", "252", "1.0", "100"]),
    (5.0, ["35", "90", "6.0", "6.9", "1256", "4.9", "100"]),
    (10.0, ["37", "121", "7.5", "8.9", "2504", "9.8", "100"]),
    (15.0, ["39", "166", "10.0", "12.8", "3742", "14.6", "100"]),
    (20.0, ["65", "242", "15.5", "22.9", "4966", "19.4", "100"]),
    (25.0, ["756", "2012", "40.1", "40.7", "6122", "8.2", "34"]),
    (30.0, ["7342", "13321", "40.3", "40.9", "6178", "1.8", "8"]),
    (40.0, ["14677", "29698", "40.3", "41.2", "6187", "0.4", "1"]),
];

#[test]
fn latency_and_goodput_by_rate() {
    let setup = Reference::named("rate1").setup(1.0);
    for (rate, printed) in BY_RATE {
        let figures = summary(&run(&with_rate(setup.clone(), rate)));
        let ours = [
            format!("{:.0}", figures.ttft_p50 * 1e3),
            format!("{:.0}", figures.ttft_p99 * 1e3),
            format!("{:.1}", figures.tpot_p50 * 1e3),
            format!("{:.1}", figures.tpot_p99 * 1e3),
            format!("{:.0}", figures.output_tps),
            format!("{:.1}", figures.goodput),
            format!("{:.0}", figures.slo_ok * 100.0),
        ];
        assert_eq!(ours, printed, "at {rate} requests per second");
    }
}

#[test]
fn stalls_by_token_budget() {
    // Budget, TTFT P50 and P99, TPOT P99, ITL P99, longest ITL, in milliseconds.
    let published = [
        (512, "budget512", ["152", "612", "12.6", "16.2", "16.2"]),
        (2048, "budget512", ["194", "611", "19.0", "63.5", "63.5"]),
        (8192, "budget8192", ["133", "725", "20.7", "127.3", "252.3"]),
    ];
    for (budget, arrivals, printed) in published {
        let mut setup = Reference::named(arrivals).setup(1.0);
        setup.engine.max_num_batched_tokens = budget;
        let run = run(&setup);
        let ours = [
            format!("{:.0}", percentile(&run.ttft, 50.0) * 1e3),
            format!("{:.0}", percentile(&run.ttft, 99.0) * 1e3),
            format!("{:.1}", percentile(&run.tpot, 99.0) * 1e3),
            format!("{:.1}", percentile(&run.itl, 99.0) * 1e3),
            format!("{:.1}", percentile(&run.itl, 100.0) * 1e3),
        ];
        assert_eq!(ours, printed, "with a budget of {budget} tokens");
    }
}
