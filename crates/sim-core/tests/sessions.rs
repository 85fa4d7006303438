//! Sessions of several turns against closed forms.
#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Precision, RequestSource, Rules, Setup,
    SetupError, Slo, StepTimeSpec, Workload,
    clients::{ClientSpec, ClientTime, Population, SessionCounts},
    engine::{
        AttendedRun, AttendedSetup, OverloadPolicy, VllmRules, simulate_attended,
        simulate_attended_by_oracle, vllm::Version,
    },
    fleet::RoundRobin,
    workload::{
        Arrivals, LengthPair, Mix, RateProfile, RequestClass, RequestLengths, Requests, Sessions,
        Turns,
    },
};

const KEEP: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

fn fixed(input: u64, output: u64) -> RequestLengths {
    let of = |tokens| LengthSpec::Fixed { tokens };
    RequestLengths::Independent { input: of(input), output: of(output) }
}

fn class(weight: f64, lengths: RequestLengths, turns: Turns, think: ClientTime) -> RequestClass {
    RequestClass {
        weight,
        lengths,
        slo: Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 },
        priority: 0,
        shared_prefix: None,
        sessions: Some(Sessions { turns, think, most_tokens: u64::MAX }),
        patience: None,
    }
}

/// Steps of one millisecond whatever they hold, and as many slots as are asked for.
fn attended(
    rate_per_s: f64,
    requests: u64,
    slots: u64,
    classes: Vec<RequestClass>,
) -> AttendedSetup {
    let mix = Mix {
        arrivals: Arrivals {
            process: ArrivalProcess::Poisson,
            rate_per_s,
            bursts: None,
            profile: RateProfile::Constant,
        },
        classes,
    };
    AttendedSetup {
        setup: Setup {
            workload: Workload { source: RequestSource::Mixed(Arc::new(mix)), requests },
            engine: EngineSpec {
                max_num_batched_tokens: 1_000_000_000,
                max_num_seqs: slots,
                kv_capacity_tokens: 1_000_000_000_000,
            },
            rules: Rules::Reference,
            step_time: StepTimeSpec::Affine { fixed_s: 1e-3, per_item_s: 0.0 },
            slo: Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 },
            seed: 0,
        },
        clients: ClientSpec { population: Population::Sessions, ..ClientSpec::OPEN },
        overload: OverloadPolicy::UNBOUNDED,
    }
}

fn run(setup: &AttendedSetup, seed: u64) -> (AttendedRun, SessionCounts) {
    let mut setup = setup.clone();
    setup.setup.seed = seed;
    let run = simulate_attended(&setup, KEEP).expect("a sound set-up");
    let sessions = run.sessions.expect("it has sessions");
    assert_eq!(sessions.verify(run.run.offered), Ok(()));
    (run, sessions)
}

/// That a mean over seeds lies within four standard errors of what theory says.
fn assert_mean(what: &str, values: &[f64], truth: f64) {
    let number = values.len() as f64;
    let mean = values.iter().sum::<f64>() / number;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let error = (squares / (number - 1.0) / number).sqrt();
    assert!((mean - truth).abs() <= 4.0 * error, "{what}: {mean} ± {error}, theory says {truth}");
    // What is that uncertain would agree with anything.
    assert!(error < 0.05 * truth, "{what}: {mean} ± {error}");
}

/// A queue to which users come back after thinking is a Jackson network: with exponential service it is
/// M/M/1 at the rate of all turns, whatever the times to think (Jackson, "Networks of Waiting Lines",
/// 1957; Baskett et al., "Open, Closed, and Mixed Networks of Queues", 1975).
#[test]
fn users_who_come_back_to_one_server_are_a_jackson_network() {
    const POINTS: u64 = 4_000;
    // Exponential service of mean 0.2 s, in steps of a millisecond.
    let pair = |point: u64| {
        let share = (point as f64 + 0.5) / POINTS as f64;
        let steps = libm::round(-200.0 * libm::log1p(-share));
        LengthPair { input_tokens: 0, output_tokens: (steps as u64).max(1) }
    };
    let pairs: Arc<[LengthPair]> = (0..POINTS).map(pair).collect();
    let service_s =
        pairs.iter().map(|pair| pair.output_tokens as f64).sum::<f64>() * 1e-3 / POINTS as f64;
    let rate_per_s = 3.0;
    for think in
        [ClientTime::Fixed { mean_s: 7.0 }, ClientTime::LogNormal { mean_s: 3.0, sigma: 1.2 }]
    {
        let turns = Turns::Geometric { mean: 5.0 };
        let class = class(1.0, RequestLengths::Pairs(Arc::clone(&pairs)), turns, think);
        let setup = attended(rate_per_s, 12_000, 1, vec![class]);
        let (mut e2e_s, mut beyond, mut at_once) = (Vec::new(), Vec::new(), Vec::new());
        let truth_s = 1.0 / (1.0 / service_s - rate_per_s);
        for seed in 0..24 {
            let run = run(&setup, seed).0.run;
            e2e_s.push(run.e2e.mean().expect("requests ended"));
            let records = run.requests.as_ref().expect("they were kept");
            let is_late = |r: &&sim_core::RequestRecord| r.finish_s - r.arrival_s > 2.0 * truth_s;
            beyond.push(records.iter().filter(is_late).count() as f64 / records.len() as f64);
            at_once.push(run.in_system_request_s / run.duration_s());
        }
        let load = rate_per_s * service_s;
        assert_mean("mean response", &e2e_s, truth_s);
        assert_mean("response beyond twice its mean", &beyond, libm::exp(-2.0));
        assert_mean("requests at once", &at_once, load / (1.0 - load));
    }
}

/// With a slot for everybody nobody waits: sessions at once are as Little's law says, from the first
/// moment to the last, although a run is shorter than one of them.
#[test]
fn a_run_begins_as_sessions_are_found_at_a_random_moment() {
    let (rate_per_s, think_s) = (40.0, 60.0);
    for turns in [
        Turns::Fixed { turns: 4 },
        Turns::Uniform { least: 1, most: 8 },
        Turns::Geometric { mean: 3.0 },
    ] {
        for think in [
            ClientTime::Fixed { mean_s: think_s },
            ClientTime::Exponential { mean_s: think_s },
            ClientTime::LogNormal { mean_s: think_s, sigma: 0.8 },
        ] {
            let setup =
                attended(rate_per_s, 2_000, 100_000, vec![class(1.0, fixed(10, 20), turns, think)]);
            let sessions_per_s = rate_per_s / turns.mean();
            let thinking = sessions_per_s * (turns.mean() - 1.0) * think_s;
            let (mut under_way, mut first_s, mut last_s, mut new) =
                (vec![], vec![], vec![], vec![]);
            for seed in 0..20 {
                let (run, counts) = run(&setup, seed);
                assert_eq!(counts.found, libm::round(thinking) as u64);
                under_way.push(counts.under_way as f64);
                let records = run.run.requests.expect("they were kept");
                first_s.push(records[499].arrival_s);
                last_s.push(records[1_999].arrival_s - records[1_499].arrival_s);
                new.push(counts.begun as f64 / records[1_999].arrival_s);
            }
            // Turns come at the asked rate as the run begins and as it ends.
            assert_mean("first quarter", &first_s, 500.0 / rate_per_s);
            assert_mean("last quarter", &last_s, 500.0 / rate_per_s);
            assert_mean("new sessions", &new, sessions_per_s);
            assert_mean("under way at the end", &under_way, thinking);
        }
    }
}

/// Fixed lengths: of the prompt of turn k, `(k − 1) (in + out)` tokens are history.
#[test]
fn history_is_what_the_turns_before_added() {
    let think = ClientTime::Exponential { mean_s: 0.5 };
    for (turns, squares) in [
        (Turns::Fixed { turns: 6 }, 36.0),
        // Of uniform numbers from 1 to 7: (1 + 4 + … + 49) / 7.
        (Turns::Uniform { least: 1, most: 7 }, 20.0),
        // p = 1/4: (2 − p) / p².
        (Turns::Geometric { mean: 4.0 }, 28.0),
    ] {
        let class = class(1.0, fixed(30, 10), turns, think);
        let mean_history = class.mean_history_tokens();
        let setup = attended(200.0, 20_000, 10_000, vec![class]);
        // Over all turns the mean of k − 1 is (E[n²] − E[n]) / (2 E[n]).
        let before = (squares - turns.mean()) / (2.0 * turns.mean());
        assert!((mean_history - 40.0 * before).abs() < 1e-6, "{turns:?}: {mean_history}");
        let shares: Vec<f64> = (0..12).map(|seed| run(&setup, seed).1.history_share()).collect();
        assert_mean("share of history", &shares, 40.0 * before / (40.0 * before + 30.0));
    }
}

/// A cache without limits finds all that the conversation held, but for the last token of an answer,
/// which is never computed, and for parts of blocks of 16.
#[test]
fn a_cache_without_limits_finds_the_conversation() {
    let block = 16;
    let (input, output) = (50, 30);
    for turns in [Turns::Fixed { turns: 6 }, Turns::Geometric { mean: 4.0 }] {
        let think = ClientTime::Exponential { mean_s: 0.5 };
        let class = class(1.0, fixed(input, output), turns, think);
        let mut setup = attended(30.0, 3_000, 500, vec![class]);
        setup.setup.engine.kv_capacity_tokens = 16_000_000;
        setup.setup.engine.max_num_batched_tokens = 100_000;
        setup.setup.rules =
            Rules::VllmV1(VllmRules { prefix_caching: true, ..VllmRules::plain(Version::V0_33) });
        let (done, counts) = run(&setup, 3);
        assert_eq!(done.run.preemptions, 0);
        // Turn k finds (k − 1) · 80 tokens but one, in whole blocks. Turns of sessions that were
        // found under way find what they left in this run.
        let records = done.run.requests.as_ref().expect("they were kept");
        let found = |prompt: u64| (prompt - input).saturating_sub(1) / block * block;
        let most: u64 = records.iter().map(|record| found(record.input_tokens)).sum();
        let cached = done.run.cached_tokens;
        assert!(cached <= most, "{cached} {most}");
        // What the first turns of sessions found under way asked for in vain.
        let vain = counts.found * found(input + 80 * 40);
        assert!(cached + vain >= most && cached as f64 > 0.9 * most as f64, "{cached} {most}");
        assert!(counts.history_tokens >= most && most > counts.history_tokens * 8 / 10);
    }
}

/// Without a prefix cache, and by rules that have none, nothing is found.
#[test]
fn without_a_cache_every_prompt_is_computed_whole() {
    let think = ClientTime::Exponential { mean_s: 0.5 };
    let class = class(1.0, fixed(50, 30), Turns::Fixed { turns: 5 }, think);
    let mut setup = attended(30.0, 1_000, 500, vec![class]);
    setup.setup.engine.kv_capacity_tokens = 16_000_000;
    assert_eq!(run(&setup, 3).0.run.cached_tokens, 0);
    setup.setup.rules = Rules::VllmV1(VllmRules::plain(Version::V0_33));
    assert_eq!(run(&setup, 3).0.run.cached_tokens, 0);
}

/// To clients that do not wait, turns are requests with the lengths that turns have.
#[test]
fn turns_without_sessions_have_the_same_lengths() {
    let think = ClientTime::Exponential { mean_s: 2.0 };
    let turns = Turns::Geometric { mean: 4.0 };
    let lengths = RequestLengths::Independent {
        input: LengthSpec::Uniform { min_tokens: 0, max_tokens: 80 },
        output: LengthSpec::Fixed { tokens: 10 },
    };
    let mut class = class(1.0, lengths, turns, think);
    if let Some(sessions) = &mut class.sessions {
        sessions.most_tokens = 300;
    }
    let setup = attended(200.0, 20_000, 10_000, vec![class]);
    let open: Vec<f64> = (0..12)
        .map(|seed| {
            let requests = Requests::new(&setup.setup.workload, seed);
            requests.map(|request| request.input_tokens as f64).sum::<f64>() / 20_000.0
        })
        .collect();
    let waiting: Vec<f64> =
        (0..12).map(|seed| run(&setup, seed).1.input_tokens as f64 / 20_000.0).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert_mean("open loop", &open, mean(&waiting));
    assert_mean("sessions", &waiting, mean(&open));
}

/// The shares of classes are shares of all requests, whatever the turns of each.
#[test]
fn shares_are_shares_of_turns() {
    let think = ClientTime::Exponential { mean_s: 5.0 };
    let chat = class(0.6, fixed(30, 10), Turns::Geometric { mean: 6.0 }, think);
    let agents = class(0.3, fixed(30, 10), Turns::Fixed { turns: 12 }, think);
    let single = RequestClass { sessions: None, weight: 0.1, ..chat.clone() };
    let setup = attended(100.0, 5_000, 10_000, vec![chat, agents, single]);
    for (index, share) in [0.6, 0.3, 0.1].into_iter().enumerate() {
        let shares: Vec<f64> = (0..16)
            .map(|seed| {
                let run = run(&setup, seed).0.run;
                run.classes[index].offered as f64 / run.offered as f64
            })
            .collect();
        assert_mean("share", &shares, share);
    }
}

/// A faster rate is the same sessions, compressed: the k-th new session says the same.
#[test]
fn draws_belong_to_session_and_turn() {
    let lengths = RequestLengths::Independent {
        input: LengthSpec::Uniform { min_tokens: 1, max_tokens: 1_000 },
        output: LengthSpec::Uniform { min_tokens: 1, max_tokens: 50 },
    };
    let think = ClientTime::Exponential { mean_s: 0.0 };
    let class = class(1.0, lengths, Turns::Geometric { mean: 3.0 }, think);
    let sent = |rate_per_s, slots| {
        let setup = attended(rate_per_s, 3_000, slots, vec![class.clone()]);
        let records = run(&setup, 7).0.run.requests.expect("they were kept");
        // First turns are the prompts without a conversation: those of at most 1,000 tokens that are
        // first among equals do; the order of the rest depends on the engine.
        let mut lengths: Vec<_> =
            records.iter().map(|r| (r.input_tokens, r.output_tokens)).collect();
        lengths.truncate(2_000);
        lengths.sort_unstable();
        lengths
    };
    let (slow, fast) = (sent(1.0, 1_000), sent(2.0, 1_000));
    // Nobody thinks and nobody waits: sessions are over before the next one begins, nearly always.
    let same = slow.iter().filter(|lengths| fast.binary_search(lengths).is_ok()).count();
    assert!(same >= 1_990, "{same} of 2,000");
    // Another engine serves the same users, in another order.
    let narrow = sent(1.0, 1);
    let same = slow.iter().filter(|lengths| narrow.binary_search(lengths).is_ok()).count();
    assert!(same >= 1_990, "{same} of 2,000");
}

#[test]
fn sessions_that_cannot_be_are_refused() {
    let think = ClientTime::Fixed { mean_s: 1e6 };
    let sound = class(1.0, fixed(10, 10), Turns::Fixed { turns: 5 }, think);
    let too_many = attended(1_000.0, 10, 10, vec![sound]);
    assert!(matches!(
        simulate_attended(&too_many, KEEP),
        Err(SetupError::OutOfDomain { field: "workload.sessions.under_way", .. })
    ));
    let mut plain = too_many;
    let length = LengthSpec::Fixed { tokens: 5 };
    plain.setup.workload.source = RequestSource::Generated {
        process: ArrivalProcess::Poisson,
        rate_per_s: 1.0,
        input: length,
        output: length,
    };
    assert_eq!(simulate_attended(&plain, KEEP).err(), Some(SetupError::NoSessions));
}

/// Replicas among which sessions are dealt out have, together, the sessions of the whole: none twice and
/// none not at all. Each is the engine alone that has every so many-th of them.
#[test]
fn replicas_have_the_sessions_of_the_whole() {
    let chat = class(
        1.0,
        fixed(40, 20),
        Turns::Geometric { mean: 4.0 },
        ClientTime::Exponential { mean_s: 2.0 },
    );
    let whole = attended(8.0, 900, 64, vec![chat]);
    let fleet = RoundRobin::new(&whole.setup, 3).expect("a fleet");
    let mut sum = SessionCounts::default();
    let mut runs = Vec::new();
    for replica in 0..3 {
        let own = AttendedSetup { setup: fleet.setup_of(replica), ..whole.clone() };
        let (run, sessions) = run(&own, 0);
        let slow = simulate_attended_by_oracle(&own, KEEP).expect("a sound set-up");
        assert_eq!(slow.sessions, Some(sessions));
        assert_eq!((sessions.turns, run.run.in_flight), (300, 0));
        sum.add(&sessions);
        runs.push(run.run);
    }
    let (alone, of_alone) = run(&whole, 0);
    assert_eq!(sum.found, of_alone.found);
    assert_eq!(sum.verify(900), Ok(()));
    // Of a stream that all replicas share each sees a third, so that all of them together see as many.
    assert!(sum.begun.abs_diff(of_alone.begun) <= of_alone.begun / 10, "{sum:?} {of_alone:?}");
    let total = fleet.merge(runs).expect("one run of each").total;
    assert_eq!(total.verify(), Ok(()));
    assert_eq!((total.offered, total.completed), (900, 900));
    let records = total.requests.expect("they were kept");
    assert!(records.windows(2).all(|pair| pair[0].arrival_s <= pair[1].arrival_s));
    let firsts = |records: &[sim_core::RequestRecord]| {
        records.iter().take(40).map(|record| record.arrival_s).collect::<Vec<_>>()
    };
    // Before answers make a difference the same turns come at the same times.
    let of_whole = firsts(alone.run.requests.as_deref().expect("they were kept"));
    let same = firsts(&records).iter().zip(&of_whole).filter(|(a, b)| a == b).count();
    assert!(same >= 10, "{same}");
}
