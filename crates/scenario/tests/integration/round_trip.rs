//! Whatever is written, nothing panics; whatever is kept, comes back to the bit.

use proptest::prelude::*;
use scenario::{
    ClassSpec, Clients, ClosedLoop, Deploy, Direction, Disagg, ENGINES, FIELDS, FLEET_FAULTS,
    FLEET_POLICIES, FLEET_ROUTERS, FLEET_SIGNALS, FleetSpec, KV_DTYPES, LinePolicy, Overload,
    Profile, Scenario, Sched, SchedRules, Sim, Spec, Spread, Step, StepKind, StepOverrides,
    VllmOptions, WEIGHTS, field,
};
use sim_core::{
    ArrivalProcess, LengthSpec, Slo,
    clients::ClientTime,
    workload::{OnOff, Quantiles, RatePoint, Turns},
};

fn length(min: u64, max: u64) -> impl Strategy<Value = LengthSpec> {
    prop_oneof![
        (min..=max).prop_map(|tokens| LengthSpec::Fixed { tokens }),
        (min..=max, min..=max)
            .prop_map(|(a, b)| LengthSpec::Uniform { min_tokens: a.min(b), max_tokens: a.max(b) }),
        (1.0..max as f64, 0.0..5.0, min..=max, min..=max).prop_map(|(median, sigma, a, b)| {
            LengthSpec::LogNormal {
                median_tokens: median,
                sigma,
                min_tokens: a.min(b),
                max_tokens: a.max(b),
            }
        }),
        quantiles(min, max),
    ]
}

/// Rising lengths at rising shares of any number of digits.
fn quantiles(min: u64, max: u64) -> impl Strategy<Value = LengthSpec> {
    let inner = prop::collection::btree_map(1u32..99_999, 1e-9..9e-6, 0..11);
    let tokens = prop::collection::vec(min..=max, 12);
    (inner, tokens).prop_map(|(inner, mut tokens)| {
        tokens.sort_unstable();
        let shares = inner.into_iter().map(|(share, more)| f64::from(share) / 1e5 + more);
        let shares: Vec<f64> = [0.0].into_iter().chain(shares).chain([1.0]).collect();
        let apart = shares.windows(2).all(|pair| pair[1] - pair[0] >= 1e-5);
        let shares = if apart { shares } else { vec![0.0, 1.0] };
        let points: Vec<(f64, u64)> = shares.into_iter().zip(tokens).collect();
        LengthSpec::Empirical(Quantiles::new(&points).expect("they rise"))
    })
}

fn bursts() -> impl Strategy<Value = Option<OnOff>> {
    let of = |(on_s, off_s, lull_share)| OnOff { on_s, off_s, lull_share };
    prop::option::of((0.1..86_400.0, 0.1..86_400.0, 0.0..1.0).prop_map(of))
}

fn profile() -> impl Strategy<Value = Profile> {
    let time = || 0.0..2_678_400.0;
    let factor = || 0.001..100.0;
    let points = prop::collection::vec((time(), factor()), 1..48).prop_map(|mut points| {
        points.sort_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
        points.into_iter().map(|(time_s, factor)| RatePoint { time_s, factor }).collect()
    });
    let cycle = (prop::collection::vec((0.0..6000.0, 0.01..100.0), 1..20), 6000.0..100_000.0);
    prop_oneof![
        3 => Just(Profile::Constant),
        1 => (time(), factor()).prop_map(|(at_s, factor)| Profile::Step { at_s, factor }),
        1 => (time(), time(), factor()).prop_map(|(a, b, factor)| {
            let (from_s, to_s) = if a < b { (a, b) } else { (b, a) };
            Profile::Ramp { from_s, to_s, factor }
        }),
        1 => (time(), time(), 0.0..100.0)
            .prop_map(|(at_s, length_s, factor)| Profile::Spike { at_s, length_s, factor }),
        1 => (0.01..1.0, 0u8..24).prop_map(|(trough, hour)| Profile::Day {
            trough,
            peak_hour: f64::from(hour),
        }),
        1 => prop::collection::vec(0.01..100.0, 24).prop_map(|factors| Profile::Hours {
            factors: factors.try_into().expect("24 hours"),
        }),
        1 => points.prop_map(|points| Profile::Points { points, every_s: None }),
        1 => cycle.prop_map(|(mut points, every_s)| {
            points.sort_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
            points[0].0 = 0.0;
            let points =
                points.into_iter().map(|(time_s, factor)| RatePoint { time_s, factor }).collect();
            Profile::Points { points, every_s: Some(every_s) }
        }),
    ]
}

fn turns() -> impl Strategy<Value = Turns> {
    prop_oneof![
        (1_u64..=1_000).prop_map(|turns| Turns::Fixed { turns }),
        (1_u64..=1_000, 1_u64..=1_000)
            .prop_map(|(a, b)| Turns::Uniform { least: a.min(b), most: a.max(b) }),
        (1.0..1_000.0).prop_map(|mean| Turns::Geometric { mean }),
    ]
}

fn think() -> impl Strategy<Value = ClientTime> {
    prop_oneof![
        (0.0..1800.0).prop_map(|mean_s| ClientTime::Fixed { mean_s }),
        (0.0..1800.0).prop_map(|mean_s| ClientTime::Exponential { mean_s }),
        (0.0..1800.0, 0.0..5.0).prop_map(|(mean_s, sigma)| ClientTime::LogNormal { mean_s, sigma }),
    ]
}

/// Up to sixteen classes, in the order of their names.
fn classes() -> impl Strategy<Value = Vec<ClassSpec>> {
    use prop::option::of;
    let class = (
        0.0001..1.0,
        of(length(0, 131_072)),
        of(length(1, 131_072)),
        of(0.001..600.0),
        of(0.0001..60.0),
        of(-1000..=1000),
        (of(0_u64..=10_000_000), of(seconds()), of(turns()), of(think())),
    );
    prop::collection::btree_map("[a-z][a-z0-9_-]{0,23}", class, 0..=16).prop_map(|classes| {
        let number = classes.len() as f64;
        let spec = |(name, (share, input, output, ttft_s, tpot_s, priority, others))| {
            let (prefix_tokens, patience_s, turns, think) = others;
            // Half of them leave something over; a share stays above the least that is simulated.
            let share: f64 = share / number;
            let share = if share < 0.0001 { 0.0001 } else { share };
            ClassSpec {
                name,
                share,
                input,
                output,
                ttft_s,
                tpot_s,
                priority,
                prefix_tokens,
                turns,
                think,
                patience_s,
            }
        };
        classes.into_iter().filter(|(name, _)| name != "rest").map(spec).collect()
    })
}

fn arrivals() -> impl Strategy<Value = ArrivalProcess> {
    prop_oneof![
        Just(ArrivalProcess::Poisson),
        Just(ArrivalProcess::Even),
        (0.01..100.0).prop_map(|shape| ArrivalProcess::Gamma { shape }),
    ]
}

fn closed() -> impl Strategy<Value = Option<ClosedLoop>> {
    let of = |(users, think_s, on_schedule)| {
        // A schedule needs time between its requests.
        ClosedLoop { users, think_s, on_schedule: on_schedule && think_s > 0.0 }
    };
    prop::option::weighted(0.2, (1u64..=1_000_000, 0.0..86_400.0, any::<bool>()).prop_map(of))
}

fn overload() -> impl Strategy<Value = Overload> {
    let policy = prop_oneof![
        2 => Just(LinePolicy::Fifo),
        1 => Just(LinePolicy::Lifo),
        1 => Just(LinePolicy::Priority),
        1 => Just(LinePolicy::Codel),
    ];
    (policy, 0u64..=1_000_000, seconds(), 0.0001..3600.0, 0.0001..3600.0, 0.0..10.0, seconds())
        .prop_map(|(policy, queue_limit, deadline_s, target_s, interval_s, cost_s, after_s)| {
            Overload {
                policy,
                queue_limit,
                deadline_s,
                codel_target_s: target_s,
                codel_interval_s: interval_s,
                rejection_cost_s: cost_s,
                retry_after_s: after_s,
            }
        })
}

fn clients() -> impl Strategy<Value = Clients> {
    let spread = prop_oneof![
        2 => Just(Spread::Fixed),
        1 => Just(Spread::Exponential),
        1 => Just(Spread::LogNormal),
    ];
    (
        ((seconds(), spread, 0.0..10.0), any::<bool>(), any::<bool>(), 0u64..=100),
        (seconds(), 0.001..3600.0, prop_oneof![Just(0.0), 0.0..1.0]),
        (any::<bool>(), 1.0..100.0, 0.001..3600.0),
    )
        .prop_map(
            |((patience, await_answer, work_is_finished, retries), waits, throttling)| {
                let (patience_s, patience_spread, patience_sigma) = patience;
                let (backoff_s, backoff_cap_s, retry_budget) = waits;
                let (throttle, throttle_k, throttle_window_s) = throttling;
                Clients {
                    patience_s,
                    patience_spread,
                    patience_sigma,
                    await_answer,
                    work_is_finished,
                    retries,
                    backoff_s,
                    backoff_cap_s,
                    retry_budget,
                    throttle,
                    throttle_k,
                    throttle_window_s,
                }
            },
        )
}

/// A time that may ask for nothing.
fn seconds() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..3600.0]
}

fn overrides() -> impl Strategy<Value = StepOverrides> {
    let some = |range: std::ops::Range<f64>| prop::option::of(range);
    let kind = prop::option::of(prop_oneof![
        Just(StepKind::Roofline),
        Just(StepKind::Affine),
        Just(StepKind::QueueModel),
    ]);
    (
        (kind, some(1e3..1e15), some(1e3..1e15), some(1.0..1e9), some(1e9..1e18)),
        (some(1e6..1e16), some(0.01..1.0), some(0.0..10.0), some(0.0..60.0), some(0.0..60.0)),
        (some(1e-6..60.0), some(0.0..1.0), some(0.0..1.0)),
        (prop::option::of(1_u64..1_000_000), (some(0.05..20.0), some(0.05..20.0), some(0.0..10.0))),
    )
        .prop_map(
            |(
                (kind, params, weight_bytes, kv_bytes_per_token, peak_flops),
                rest,
                queue,
                (points, factors),
            )| {
                let (alpha_s, beta_s, gamma_s) = queue;
                let (bandwidth, mfu, overhead_s, fixed_s, per_item_s) = rest;
                StepOverrides {
                    kind,
                    params,
                    weight_bytes,
                    kv_bytes_per_token,
                    peak_flops,
                    bandwidth,
                    mfu,
                    overhead_s,
                    fixed_s,
                    per_item_s,
                    alpha_s,
                    beta_s,
                    gamma_s,
                    calibrated_on: points,
                    memory_factor: factors.0,
                    compute_factor: factors.1,
                    api_s: factors.2,
                }
            },
        )
}

fn rules() -> impl Strategy<Value = SchedRules> {
    prop_oneof![
        Just(SchedRules::Reference),
        any::<bool>().prop_map(|old| SchedRules::Vllm { old }),
        Just(SchedRules::Static),
        Just(SchedRules::Sequential),
        (0.0..60.0).prop_map(|max_delay_s| SchedRules::Dynamic { max_delay_s }),
    ]
}

fn vllm() -> impl Strategy<Value = VllmOptions> {
    (any::<bool>(), any::<bool>(), any::<bool>(), 0_u64..=1_048_576, 0.0..0.9).prop_map(
        |(asynchronous, by_priority, prefix_caching, threshold, watermark)| VllmOptions {
            asynchronous,
            by_priority,
            prefix_caching,
            long_prefill_token_threshold: threshold,
            watermark,
        },
    )
}

fn pools() -> impl Strategy<Value = (Spec, Disagg)> {
    let spec = (0_u64..=64, 0.0..1.0, 0.0..1.0).prop_map(|(tokens, acceptance, draft_cost)| Spec {
        tokens,
        acceptance,
        draft_cost,
    });
    let disagg = (0_u64..=1000, 0_u64..=1000, 0.01..1e6, 0.0..60.0).prop_map(
        |(prefill, decode, link_gbps, latency_s)| Disagg { prefill, decode, link_gbps, latency_s },
    );
    (spec, disagg)
}

/// Scenarios within the documented ranges and within the context of their model.
fn valid() -> impl Strategy<Value = Scenario> {
    let models = ["qwen2.5-7b", "llama-3.1-70b", "qwen2.5-14b-int4"];
    let gpus = ["h100-sxm", "l4", "mi300x"];
    (
        (0usize..3, 0usize..3, 0.1..10_000.0, length(0, 131_072), length(1, 131_072), arrivals()),
        (0.001..600.0, 0.0001..60.0, 0.5..0.9999, 0.0..1.0),
        (1u64..=1_048_576, 1u64..=65_536, prop::option::of(1u64..=1_000_000_000_000), rules()),
        overrides(),
        (10u64..=1_000_000, 1u32..=64, any::<u64>()),
        (bursts(), profile(), classes(), turns(), think()),
        (vllm(), 0_u64..=10_000_000, pools()),
        (closed(), overload(), clients(), deploy(), fleet()),
    )
        .prop_map(move |(traffic, target, engine, step, sim, over_time, cache, reaction)| {
            let (closed, overload, clients, deploy, fleet) = reaction;
            let (vllm, shared_prefix_tokens, (spec, disagg)) = cache;
            let (bursts, profile, classes, turns, think) = over_time;
            let (model, gpu, rate_per_s, input, output, arrivals) = traffic;
            let (ttft_s, tpot_s, share, headroom) = target;
            let (max_num_batched_tokens, max_num_seqs, kv_capacity_tokens, rules) = engine;
            let (requests, replications, seed) = sim;
            Scenario {
                model: models[model].to_owned(),
                gpu: gpus[gpu].to_owned(),
                rate_per_s,
                input,
                output,
                // Users are in the place of a pattern.
                arrivals: if closed.is_some() { ArrivalProcess::Poisson } else { arrivals },
                bursts: bursts.filter(|_| closed.is_none()),
                closed,
                profile,
                turns,
                think,
                shared_prefix_tokens,
                classes,
                slo: Slo { ttft_s, tpot_s, share },
                headroom,
                sched: Sched { max_num_batched_tokens, max_num_seqs },
                rules,
                vllm,
                spec,
                disagg,
                overload,
                clients,
                step,
                kv_capacity_tokens,
                deploy,
                sim: Sim { requests, replications, seed },
                fleet,
            }
        })
}

fn fleet() -> impl Strategy<Value = FleetSpec> {
    let place = |words: &[&str]| 0..words.len() as u8;
    let time = || 0.0..86_400.0;
    (
        (place(FLEET_POLICIES), place(FLEET_SIGNALS), place(FLEET_ROUTERS), place(FLEET_FAULTS)),
        (0_u64..=10_000, 1_u64..=10_000, prop::option::of(0_u64..=10_000)),
        (prop::option::of(0.001..1e9), 0.0..3600.0, time(), 0.0..604_800.0, 10.0..604_800.0),
        prop::option::of(0.1..86_400.0),
    )
        .prop_map(|((policy, signal, router, fault), (min, max, initial), times, window_s)| {
            let (target, scale_down_window_s, start_s, fault_at_s, duration_s) = times;
            FleetSpec {
                policy,
                signal,
                target,
                min,
                max,
                initial,
                scale_down_window_s,
                start_s,
                router,
                fault,
                fault_at_s,
                duration_s,
                window_s,
            }
        })
}

fn deploy() -> impl Strategy<Value = Deploy> {
    let place = |words: &[&str]| 0..words.len() as u8;
    (
        prop::option::of(1_u64..=64),
        place(ENGINES),
        place(WEIGHTS),
        place(KV_DTYPES),
        prop::option::of(1_u64..=1_000_000_000),
    )
        .prop_map(|(tp, engine, weights, kv_dtype, num_gpu_blocks)| Deploy {
            tp,
            engine,
            weights,
            kv_dtype,
            num_gpu_blocks,
        })
}

/// Texts that look like settings, for a fair chance of reaching the deeper branches.
fn almost() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        4 => (0..FIELDS.len()).prop_map(|index| FIELDS[index].key.to_owned()),
        1 => "class\\.[a-c]{0,2}(\\.(share|in|out|ttft|tpot|priority|prefix|turns|think|x))?",
    ];
    let value = prop_oneof![
        any::<String>(),
        "[-+]?[0-9.,eE]{0,9} ?(ms|s|%|k|M|GB|tokens|req/s)?",
        "(lognormal|uniform|gamma|dynamic|fixed|geometric)\\([-0-9.,eE ]{0,20}\\)?",
        "(quantiles|onoff|closed|step|ramp|spike|daily|points)\\(([0-9.]{1,4}(s|min|h)?[:,]){0,6}[0-9]{1,3}\\)?",
        "((share|in|out|ttft|tpot|priority):[-0-9a-z.(:%]{0,12}[,)]?){0,4}",
        any::<f64>().prop_map(|value| value.to_string()),
    ];
    (key, value).prop_map(|(key, value)| format!("{key}={value}"))
}

proptest! {
    #[test]
    fn links_give_every_scenario_back(scenario in valid()) {
        let link = scenario.to_link();
        let parsed = Scenario::from_link(&link);
        prop_assert_eq!(&parsed.notices, &[], "{}", link);
        prop_assert_eq!(&parsed.scenario, &scenario, "{}", link);
        let address = format!("https://example.org/headroom/?utm=1#{link}&view=fleet");
        prop_assert_eq!(Scenario::from_link(&address).scenario, scenario);
    }

    #[test]
    fn files_give_every_scenario_back(scenario in valid()) {
        let text = scenario.to_json();
        let parsed = Scenario::from_json(&text).expect("a scenario");
        prop_assert_eq!(&parsed.notices, &[], "{}", text);
        prop_assert_eq!(parsed.scenario, scenario, "{}", text);
    }

    #[test]
    fn single_settings_give_every_scenario_back(scenario in valid()) {
        let mut copy = Scenario::preset();
        for (key, text) in scenario.entries() {
            if let Some(text) = text {
                prop_assert_eq!(scenario.get(&key), Some(text.clone()));
                prop_assert_eq!(copy.set(&key, &text), Ok(vec![]));
            }
        }
        prop_assert_eq!(copy, scenario);
    }

    #[test]
    fn sliders_give_numbers_back(scenario in valid()) {
        let mut copy = scenario.clone();
        for field in FIELDS.iter().filter(|field| field.key != "seed") {
            if let Some(number) = scenario.number(field.key) {
                prop_assert!(copy.set_number(field.key, number).is_ok());
                let again = copy.number(field.key).expect("a number");
                prop_assert!((again - number).abs() <= 1e-12 * number.abs(), "{}", field.key);
            }
        }
    }

    #[test]
    fn no_link_panics_and_its_canonical_form_is_stable(text in any::<String>(), pieces in prop::collection::vec(almost(), 0..4)) {
        for link in [text, pieces.join("&")] {
            let once = Scenario::from_link(&link).scenario;
            let again = Scenario::from_link(&once.to_link());
            prop_assert_eq!(&again.scenario, &once);
            prop_assert_eq!(again.notices, &[]);
            let _ = once.resolve();
        }
    }

    #[test]
    fn no_file_panics(text in any::<String>(), key in any::<String>(), value in any::<String>()) {
        let _ = Scenario::from_json(&text);
        let object = serde_json::json!({ key: value, "rate": text }).to_string();
        let _ = Scenario::from_json(&object);
    }

    #[test]
    fn no_setting_panics_and_a_refusal_changes_nothing(
        index in 0..FIELDS.len(), value in any::<String>(), key in any::<String>(), number in any::<f64>(),
    ) {
        for (key, value) in [(FIELDS[index].key, &value), (key.as_str(), &value)] {
            let mut scenario = Scenario::preset();
            if let Err(notice) = scenario.set(key, value) {
                prop_assert_eq!(&scenario, &Scenario::preset());
                prop_assert!(!notice.message.is_empty());
            }
            let _ = scenario.get(key);
            let _ = scenario.set_number(key, number);
            let _ = scenario.number(key);
            let _ = scenario.resolve();
        }
    }

    #[test]
    fn no_slider_panics(index in 0..FIELDS.len(), value in any::<f64>()) {
        let field = field(FIELDS[index].key).expect("a field");
        for step in [Step::Small, Step::Large, Step::Page] {
            for direction in [Direction::Up, Direction::Down] {
                let _ = field.stepped(value, step, direction);
            }
        }
        if let Some(slider) = field.slider {
            prop_assert!((0.0..=1.0).contains(&slider.position(value)));
            let inside = slider.min..=slider.max;
            prop_assert!(inside.contains(&slider.value_at(value)));
            prop_assert!(inside.contains(&slider.snapped(value)));
        }
    }

    #[test]
    fn what_resolves_can_be_simulated(scenario in valid()) {
        if let Ok(resolved) = scenario.resolve() {
            prop_assert_eq!(resolved.setup.check(), Ok(()));
            prop_assert!(resolved.ledger.0.iter().all(|entry| entry.value.is_finite()));
        }
    }
}
