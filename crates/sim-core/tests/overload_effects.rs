//! What is known about overload, seen in the engine with clients that react.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Outcome, Precision, RequestSource, Rules, Setup,
    Slo, StepTimeSpec, Trace, TraceRow, Workload,
    clients::{
        Awaited, ClientSpec, ClientTime, GivenUpWork, Pacing, Patience, PatienceTime, Population,
        Retries, RetryWait, Throttle,
    },
    engine::{AttendedRun, AttendedSetup, OverloadPolicy, ServiceOrder, simulate_attended},
    random::{Purpose, Stream},
};

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

/// Requests that an engine of [`setup`] can finish per second: 10 at a time, 20 steps of 10 ms each.
const CAPACITY_PER_S: f64 = 50.0;

fn setup(source: RequestSource, requests: u64) -> Setup {
    Setup {
        workload: Workload { source, requests },
        engine: EngineSpec {
            max_num_batched_tokens: 1_000,
            max_num_seqs: 10,
            kv_capacity_tokens: 1_000_000,
        },
        rules: Rules::Reference,
        step_time: StepTimeSpec::Affine { fixed_s: 0.01, per_item_s: 0.0 },
        slo: Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 },
        seed: 1,
    }
}

fn poisson(rate_per_s: f64) -> RequestSource {
    RequestSource::Generated {
        process: ArrivalProcess::Poisson,
        rate_per_s,
        input: LengthSpec::Fixed { tokens: 10 },
        output: LengthSpec::Fixed { tokens: 20 },
    }
}

fn run(setup: Setup, clients: ClientSpec, overload: OverloadPolicy) -> AttendedRun {
    simulate_attended(&AttendedSetup { setup, clients, overload }, KEEP_ALL).unwrap()
}

#[test]
fn newest_first_and_a_deadline_beat_oldest_first_at_130_percent() {
    let share = |overload| {
        let setup = setup(poisson(1.3 * CAPACITY_PER_S), 6_000);
        run(setup, ClientSpec::OPEN, overload).run.slo_share()
    };
    let unbounded = OverloadPolicy::UNBOUNDED;
    let oldest = share(unbounded);
    let newest = share(OverloadPolicy { order: ServiceOrder::NewestFirst, ..unbounded });
    let deadline = share(OverloadPolicy { max_wait_s: Some(0.9), ..unbounded });
    // No policy can serve more than 1 / 1.3 = 77 % in time.
    assert!(oldest < 0.15, "{oldest}");
    assert!(newest > 0.65 && newest < 0.78, "{newest}");
    assert!(deadline > 0.65 && deadline < 0.78, "{deadline}");
}

/// 80 % load for 100 s, and three times the capacity from the 10th second for as long as told.
fn surge(surge_s: f64) -> Setup {
    let mut rows = Vec::new();
    let mut arrival_s = 0.0;
    while arrival_s < 100.0 {
        rows.push(TraceRow { arrival_s, input_tokens: 10, output_tokens: 20 });
        let in_surge = arrival_s >= 10.0 && arrival_s < 10.0 + surge_s;
        arrival_s += 1.0 / (CAPACITY_PER_S * if in_surge { 3.0 } else { 0.8 });
    }
    let requests = rows.len() as u64;
    let trace = Arc::new(Trace::new(rows).unwrap());
    setup(RequestSource::Replay { trace, speed: 1.0 }, requests)
}

/// Of the requests sent in the last 40 s, the share that was answered.
fn answered_at_last(run: &AttendedRun) -> f64 {
    let requests = run.run.requests.as_ref().unwrap();
    let late: Vec<_> = requests.iter().filter(|request| request.arrival_s >= 60.0).collect();
    let answered = late.iter().filter(|request| request.outcome == Outcome::Completed).count();
    answered as f64 / late.len() as f64
}

#[test]
fn a_retry_storm_outlives_its_surge_and_a_budget_ends_it() {
    let clients = |budget| ClientSpec {
        patience: Some(Patience {
            time: PatienceTime::Same(ClientTime::Fixed { mean_s: 1.0 }),
            awaits: Awaited::FirstToken,
            work: GivenUpWork::StillDone,
        }),
        retries: Some(Retries {
            max_attempts: 10,
            wait: RetryWait::Backoff { base_s: 0.1, cap_s: 1.0 },
            honours_retry_after: false,
            budget,
        }),
        ..ClientSpec::OPEN
    };
    let last = |surge_s, budget| {
        answered_at_last(&run(surge(surge_s), clients(budget), OverloadPolicy::UNBOUNDED))
    };
    assert_eq!(last(0.0, None), 1.0, "nothing is wrong without the surge");
    let storm = last(2.0, None);
    assert!(storm < 0.05, "48 s after the surge {storm} were answered");
    let cured = last(2.0, Some(0.1));
    assert!(cured > 0.99, "{cured}");
}

#[test]
fn work_that_is_abandoned_in_time_is_not_wasted() {
    let clients = |work| ClientSpec {
        patience: Some(Patience {
            time: PatienceTime::Same(ClientTime::Fixed { mean_s: 1.0 }),
            awaits: Awaited::FirstToken,
            work,
        }),
        ..ClientSpec::OPEN
    };
    let overloaded = || setup(poisson(1.3 * CAPACITY_PER_S), 6_000);
    let told = run(overloaded(), clients(GivenUpWork::Abandoned), OverloadPolicy::UNBOUNDED);
    let untold = run(overloaded(), clients(GivenUpWork::StillDone), OverloadPolicy::UNBOUNDED);
    assert!(told.run.slo_share() > 0.65, "{}", told.run.slo_share());
    assert!(untold.run.slo_share() < 0.15, "{}", untold.run.slo_share());
    assert!(told.attempts.wasted_tokens * 20 < untold.attempts.wasted_tokens);
    assert_eq!(untold.attempts.wasted_tokens, 20 * untold.attempts.abandoned);
}

#[test]
fn adaptive_throttling_bounds_the_work_of_rejecting() {
    let overload = OverloadPolicy {
        queue_limit: Some(10),
        rejection_cost_s: 0.004,
        ..OverloadPolicy::UNBOUNDED
    };
    let of = |throttle| {
        let setup = setup(poisson(4.0 * CAPACITY_PER_S), 20_000);
        run(setup, ClientSpec { throttle, ..ClientSpec::OPEN }, overload)
    };
    let (free, held) = (of(None), of(Some(Throttle { k: 2.0, window_s: 10.0 })));
    // In the long run k attempts are sent for each that is accepted.
    let per_answer = |run: &AttendedRun| run.attempts.sent as f64 / run.attempts.completed as f64;
    assert!(per_answer(&free) > 8.0, "{}", per_answer(&free));
    assert!(per_answer(&held) < 2.2, "{}", per_answer(&held));
    assert!(held.run.completed > 2 * free.run.completed);
}

/// Twenty users who mean to send 100 requests a second to an engine that can do 50.
#[test]
fn a_closed_loop_hides_overload_unless_it_counts_from_the_schedule() {
    let of = |pacing| {
        let think = ClientTime::Fixed { mean_s: 0.2 };
        let population = Population::Closed { users: 20, think, pacing };
        let clients = ClientSpec { population, ..ClientSpec::OPEN };
        run(setup(poisson(1.0), 4_000), clients, OverloadPolicy::UNBOUNDED)
    };
    let scheduled = of(Pacing::OnSchedule);
    let seen_s = scheduled.ttft_from_send.percentile(99.0).unwrap();
    let true_s = scheduled.run.ttft.percentile(50.0).unwrap();
    assert!(seen_s < 0.3, "who counts from the real send sees {seen_s} s");
    assert!(true_s > 10.0, "the median user of the schedule waits {true_s} s");
    let polite = of(Pacing::AfterAnswer);
    assert!(polite.run.ttft.percentile(99.0).unwrap() < 0.3);
}

/// The machine repairman's problem, M/M/1//N: with N users who think for Z on average and one server
/// of mean service time S the throughput is (1 − p0) / S, where
/// 1 / p0 = Σ N! / (N − k)! · (S / Z)^k over k = 0 … N.
#[test]
fn a_closed_loop_is_the_machine_repairman() {
    const USERS: u64 = 8;
    const THINK_S: f64 = 1.0;
    const MEAN_STEPS: f64 = 200.0;
    const STEP_S: f64 = 0.001;
    // Rounding exponential services up to whole steps makes them geometric, of this mean.
    let service_s = STEP_S / (1.0 - libm::exp(-1.0 / MEAN_STEPS));
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 0..USERS {
        term *= (USERS - k) as f64 * service_s / THINK_S;
        sum += term;
    }
    let expected_per_s = (1.0 - 1.0 / sum) / service_s;

    let rates: Vec<f64> = (0..60)
        .map(|seed| {
            let mut stream = Stream::new(seed, Purpose::OutputTokens);
            let row = |_| TraceRow {
                arrival_s: 0.0,
                input_tokens: 0,
                output_tokens: (MEAN_STEPS * stream.exponential()).ceil() as u64,
            };
            let trace = Arc::new(Trace::new((0..4_000).map(row).collect()).unwrap());
            let mut setup = setup(RequestSource::Replay { trace, speed: 1.0 }, 4_000);
            setup.engine.max_num_seqs = 1;
            setup.step_time = StepTimeSpec::Affine { fixed_s: STEP_S, per_item_s: 0.0 };
            setup.seed = seed;
            let think = ClientTime::Exponential { mean_s: THINK_S };
            let population =
                Population::Closed { users: USERS, think, pacing: Pacing::AfterAnswer };
            let clients = ClientSpec { population, ..ClientSpec::OPEN };
            let run = run(setup, clients, OverloadPolicy::UNBOUNDED).run;
            // While every user still has requests left: 500 each, one in 1.8 s or so.
            let requests = run.requests.unwrap();
            let settled = |finish_s: f64| (20.0..620.0).contains(&finish_s);
            requests.iter().filter(|request| settled(request.finish_s)).count() as f64 / 600.0
        })
        .collect();
    let number = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / number;
    let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>();
    let standard_error = (variance / (number * (number - 1.0))).sqrt();
    // Student's t with 59 degrees of freedom: outside once in 1,000.
    let tolerance = 3.463 * standard_error;
    assert!(tolerance < 0.01 * expected_per_s, "the test says little: ± {tolerance}");
    assert!((mean - expected_per_s).abs() < tolerance, "{mean} ± {tolerance}, {expected_per_s}");
}
