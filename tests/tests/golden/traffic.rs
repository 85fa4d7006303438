//! Our own arrivals: generators in place of the published stream.

use sim_core::{ArrivalProcess, LengthSpec, RequestSource, Run, Setup, Workload};

use super::reference::{Reference, percentile, run};

/// The published settings under generated arrivals.
pub(crate) fn generated(
    process: ArrivalProcess,
    rate_per_s: f64,
    requests: u64,
    seed: u64,
) -> Setup {
    let source = RequestSource::Generated {
        process,
        rate_per_s,
        input: LengthSpec::Fixed { tokens: 1024 },
        output: LengthSpec::Fixed { tokens: 256 },
    };
    let workload = Workload { source, requests };
    Setup { workload, seed, ..Reference::named("rate1").setup(1.0) }
}

/// Bursts at the same mean rate: the tail of the time to first token grows, the throughput stays.
#[test]
fn bursts_lengthen_the_tail_and_leave_the_throughput() {
    const SEEDS: u64 = 16;
    let mut throughput = [0.0, 0.0];
    for seed in 0..SEEDS {
        let runs: [Run; 2] = [1.0, 0.5]
            .map(|shape| run(&generated(ArrivalProcess::Gamma { shape }, 15.0, 2_000, seed)));
        let [smooth, bursty] = runs.each_ref().map(|run| percentile(&run.ttft, 99.0));
        assert!(bursty > 1.3 * smooth, "seed {seed}: P99 TTFT {smooth} s, with bursts {bursty} s");
        for (sum, run) in throughput.iter_mut().zip(&runs) {
            *sum += run.throughput_per_s() / SEEDS as f64;
        }
    }
    // The duration of a run varies by √(2 / 2,000) = 3 % with bursts; the mean of 16 by 0.8 %.
    let ratio = throughput[1] / throughput[0];
    assert!((ratio - 1.0).abs() < 0.03, "throughput changes by a factor of {ratio}");
}
