//! Every claim about fleets holds on the figures of its experiment.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures tell who reads a failure why")]

use planner::experiments::{Experiment, experiments};

fn named(name: &str) -> Experiment {
    experiments().into_iter().find(|experiment| experiment.name == name).expect("an experiment")
}

/// The figures and the checks are printed for who reads a failure.
fn holds(name: &str) {
    let findings = named(name).run().expect("a valid set-up");
    for table in &findings.tables {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        println!("{}: {}", table.rows_are, columns.join(" | "));
        for row in &table.rows {
            println!("  {}: {:?}", row.case, row.values);
        }
    }
    assert!(!findings.checks.is_empty());
    for check in &findings.checks {
        assert!(check.holds, "{name}: {}", check.what);
    }
}

macro_rules! claims {
    ($($test:ident $name:literal)*) => {
        $(
            #[test]
            fn $test() {
                holds($name);
            }
        )*

        #[test]
        fn every_experiment_is_tried() {
            let tried = [$($name),*];
            let names: Vec<&str> = experiments().iter().map(|each| each.name).collect();
            assert_eq!(names, tried);
        }
    };
}

claims! {
    blind_signals "blind-signals"
    request_rate "request-rate"
    queue_lags "queue-lags"
    affinity_blinds_the_mean "affinity-blinds-the-mean"
    warming_scales_down "warming-scales-down"
    deferred_queue "deferred-queue"
    panic_churn "panic-churn"
    short_window_saw "short-window-saw"
    cron_floor "cron-floor"
    cron_floor_day "cron-floor-day"
    activation_beats_threshold "activation-beats-threshold"
    v1_keys_under_v2 "v1-keys-under-v2"
    sla_cliff "sla-cliff"
    recovery "recovery"
    scale_to_zero "scale-to-zero"
    iteration_time "iteration-time"
    pools_as_one "pools-as-one"
    pools_over_time "pools-over-time"
}
