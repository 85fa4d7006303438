//! Prefill and decode on replicas of their own, with the KV cache sent from one to the other.
//!
//! 1. Requests go to the prefill replicas in turn. Each computes prompts by the reference rules and
//!    produces first tokens; a request that wants one token only is done.
//! 2. The keys and values of a prompt go over the link of its prefill replica, which sends one cache
//!    after the other in the order of first tokens: `bytes / bandwidth`, and then the latency, in
//!    which the next one is sent already.
//! 3. Decode replicas get the requests in turn, in the order in which their caches are there. Each
//!    decodes from the second token on; KV memory is reserved for the final length.
//!
//! A request that no decode replica could hold is turned away on arrival. What a prefill replica
//! holds of a cache that waits to be sent is not counted against its memory. Speculative decoding is
//! the decode replicas' affair.

use crate::{
    engine::{EngineBounds, Job, Jobs, Keep, Rules, Speculation, Stepwise},
    float::{from_count, greater},
    measure::{Distribution, Finished, Precision, Recorder, RequestRecord, Run},
    setup::{Setup, SetupError},
    sort,
    step_time::StepModel,
    workload::{MAX_REPLICAS, Request, Requests},
};

/// What prefill and decode replicas are connected by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Bytes per second that one prefill replica can send; infinite if it need not wait.
    pub bytes_per_s: f64,
    /// Time in seconds from the last byte sent to the cache being usable.
    pub latency_s: f64,
    /// Bytes of keys and values per token of a prompt.
    pub kv_bytes_per_token: f64,
}

/// Two pools of replicas under one workload.
#[derive(Clone, Debug)]
pub struct Disaggregated {
    whole: Setup,
    speculation: Speculation,
    prefill: u64,
    decode: u64,
    link: Link,
}

/// What became of the transfers.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfers {
    /// Bytes sent.
    pub bytes: f64,
    /// Time in which links were sending, over all of them, in seconds.
    pub busy_s: f64,
    /// From each first token to the cache being usable on the other side, in seconds; as many as
    /// there were transfers.
    pub times: Distribution,
    /// The part of it in which the cache waited for its link.
    pub waits: Distribution,
}

/// What happened in two pools.
#[derive(Clone, Debug, PartialEq)]
pub struct DisaggregatedRun {
    /// Each prefill replica: requests that want one token.
    pub prefill: Vec<Run>,
    /// Each decode replica: requests that come with a cache, and want what is left of their output.
    pub decode: Vec<Run>,
    /// What went from the one to the other.
    pub transfers: Transfers,
    /// All of it, as the users saw it. Its limits are those of one replica, its peaks those of the
    /// replica that came closest; steps and busy times are sums over both pools.
    pub total: Run,
}

/// What becomes of one request on its way.
#[derive(Clone, Copy, Debug)]
struct Journey {
    request: Request,
    first_token_s: f64,
    /// When its cache is usable on the other side.
    ready_s: f64,
    finish_s: f64,
    second_token_s: f64,
}

impl Disaggregated {
    /// Pools of so many replicas, each with the engine of `whole`.
    ///
    /// # Errors
    /// A number outside its domain, fewer requests than prefill replicas, or rules other than the
    /// reference with or without speculation.
    pub fn new(whole: &Setup, pools: (u64, u64), link: Link) -> Result<Self, SetupError> {
        whole.check()?;
        let speculation = match whole.rules {
            Rules::Reference => Speculation::NONE,
            Rules::Speculative(speculation) => speculation,
            Rules::VllmV1(_) | Rules::WholeBatches { .. } => return Err(SetupError::NoPooledRules),
        };
        let (prefill, decode) = pools;
        for (field, replicas) in [("disagg.prefill", prefill), ("disagg.decode", decode)] {
            if !(1..=MAX_REPLICAS).contains(&replicas) {
                let requirement = "between 1 and 100,000";
                let value = from_count(replicas);
                return Err(SetupError::OutOfDomain { field, value, requirement });
            }
        }
        for (field, value, is_good) in [
            ("disagg.link_gbps", link.bytes_per_s, link.bytes_per_s > 0.0),
            ("disagg.latency", link.latency_s, (0.0..f64::INFINITY).contains(&link.latency_s)),
            (
                "step.kv_bytes_per_token",
                link.kv_bytes_per_token,
                (0.0..f64::INFINITY).contains(&link.kv_bytes_per_token),
            ),
        ] {
            if !is_good {
                let requirement = "finite and 0 or more, a bandwidth above 0";
                return Err(SetupError::OutOfDomain { field, value, requirement });
            }
        }
        Ok(Self { whole: whole.clone(), speculation, prefill, decode, link })
    }

    /// Simulate both pools to the last token.
    #[must_use]
    pub fn simulate(&self, keep: Keep) -> DisaggregatedRun {
        self.simulate_with(fast, keep)
    }

    /// The same with the obvious engine for each replica.
    #[cfg(any(test, feature = "oracle"))]
    #[must_use]
    pub fn simulate_by_oracle(&self, keep: Keep) -> DisaggregatedRun {
        self.simulate_with(crate::engine::jobs_by_oracle, keep)
    }

    fn simulate_with(&self, engine: Engine, keep: Keep) -> DisaggregatedRun {
        let requests: Vec<Request> = Requests::new(&self.whole.workload, self.whole.seed).collect();
        let mut journeys: Vec<Journey> = requests
            .iter()
            .filter(|request| self.can_be_decoded(request))
            .map(|&request| Journey {
                request,
                first_token_s: f64::NAN,
                ready_s: f64::NAN,
                finish_s: f64::NAN,
                second_token_s: f64::NAN,
            })
            .collect();
        let prefill = self.prefill(engine, &mut journeys, keep.precision);
        let transfers = self.send(&mut journeys, keep.precision);
        let decode = self.decode(engine, &mut journeys, keep.precision);
        let total = self.total(&requests, &journeys, keep);
        let mut run = DisaggregatedRun { prefill, decode, transfers, total };
        run.add_work(keep.precision);
        run
    }

    fn can_be_decoded(&self, request: &Request) -> bool {
        request.final_tokens() + self.speculation.tokens <= self.whole.engine.kv_capacity_tokens
    }

    /// Let each prefill replica compute every so many-th prompt.
    fn prefill(&self, engine: Engine, journeys: &mut [Journey], precision: Precision) -> Vec<Run> {
        let keep = Keep { precision, requests: true, intervals: false };
        let mut runs = Vec::new();
        for replica in 0..self.prefill as usize {
            let mine = || (replica..journeys.len()).step_by(self.prefill as usize);
            let jobs: Vec<Job> = mine()
                .zip(0..)
                .map(|(place, index)| Job {
                    request: Request { index, output_tokens: 1, ..journeys[place].request },
                    held_tokens: 0,
                    key: journeys[place].request.index,
                })
                .collect();
            let places: Vec<usize> = mine().collect();
            let run = engine(&self.whole, Speculation::NONE, jobs, keep);
            for (place, record) in places.into_iter().zip(records(&run)) {
                let journey = &mut journeys[place];
                journey.first_token_s = record.first_token_s;
                journey.finish_s = record.first_token_s;
            }
            runs.push(run);
        }
        runs
    }

    /// Send the caches, first token by first token.
    fn send(&self, journeys: &mut [Journey], precision: Precision) -> Transfers {
        let mut transfers = Transfers {
            bytes: 0.0,
            busy_s: 0.0,
            times: Distribution::new(precision),
            waits: Distribution::new(precision),
        };
        let mut free_s = vec![0.0; self.prefill as usize];
        // The reference rules complete prompts in order of arrival.
        for (place, journey) in journeys.iter_mut().enumerate() {
            if journey.request.output_tokens == 1 {
                continue;
            }
            let free_s = &mut free_s[place % self.prefill as usize];
            let bytes = self.link.kv_bytes_per_token * from_count(journey.request.input_tokens);
            let begin_s = greater(*free_s, journey.first_token_s);
            let sending_s = bytes / self.link.bytes_per_s;
            *free_s = begin_s + sending_s;
            journey.ready_s = *free_s + self.link.latency_s;
            transfers.bytes += bytes;
            transfers.busy_s += sending_s;
            transfers.waits.record(begin_s - journey.first_token_s);
            transfers.times.record(journey.ready_s - journey.first_token_s);
        }
        transfers
    }

    /// Let each decode replica have every so many-th of the requests whose cache is there.
    fn decode(&self, engine: Engine, journeys: &mut [Journey], precision: Precision) -> Vec<Run> {
        let mut ready: Vec<(f64, f64)> = journeys
            .iter()
            .enumerate()
            .filter(|(_, journey)| journey.request.output_tokens > 1)
            .map(|(place, journey)| (journey.ready_s, from_count(place as u64)))
            .collect();
        sort::by_first(&mut ready);
        let keep = Keep { precision, requests: true, intervals: false };
        let mut runs = Vec::new();
        for replica in 0..self.decode as usize {
            let mine = ready.iter().skip(replica).step_by(self.decode as usize);
            let places: Vec<usize> = mine.map(|&(_, place)| place as usize).collect();
            let jobs = places.iter().zip(0..).map(|(&place, index)| {
                let Journey { request, ready_s, .. } = journeys[place];
                Job {
                    request: Request {
                        index,
                        arrival_s: ready_s,
                        input_tokens: 0,
                        output_tokens: request.output_tokens - 1,
                        ..request
                    },
                    // The prompt, and the token that came of it.
                    held_tokens: request.input_tokens + 1,
                    key: request.index,
                }
            });
            let run = engine(&self.whole, self.speculation, jobs.collect(), keep);
            for (place, record) in places.into_iter().zip(records(&run)) {
                journeys[place].second_token_s = record.first_token_s;
                journeys[place].finish_s = record.finish_s;
            }
            runs.push(run);
        }
        runs
    }

    /// What users saw, event by event.
    fn total(&self, requests: &[Request], journeys: &[Journey], keep: Keep) -> Run {
        let bounds = EngineBounds::new(&self.whole.engine, &StepModel::new(&self.whole.step_time));
        let total = requests.len() as u64;
        let slo = self.whole.slo;
        let mut recorder = Recorder::new(slo, bounds, total, keep).judging(&self.whole.workload);
        let mut ends: Vec<(f64, f64)> = journeys
            .iter()
            .enumerate()
            .map(|(place, journey)| (journey.finish_s, from_count(place as u64)))
            .collect();
        sort::by_first(&mut ends);
        let mut coming = requests.iter().peekable();
        let mut arrive = |recorder: &mut Recorder, until_s: f64| {
            while let Some(request) = coming.next_if(|request| request.arrival_s <= until_s) {
                recorder.arrived(request);
                if !self.can_be_decoded(request) {
                    recorder.rejected(request);
                }
            }
        };
        for (finish_s, place) in ends {
            let journey = &journeys[place as usize];
            // A step may begin a rounding error before an arrival that it sees.
            arrive(&mut recorder, greater(finish_s, journey.request.arrival_s));
            if journey.request.output_tokens > 1 {
                recorder.gap(journey.second_token_s - journey.first_token_s);
            }
            recorder.finished(&Finished {
                request: journey.request,
                // Waits are those of the prefill replicas, added later.
                start_s: journey.request.arrival_s,
                first_token_s: journey.first_token_s,
                finish_s,
            });
        }
        arrive(&mut recorder, f64::INFINITY);
        recorder.finish(0)
    }
}

/// One replica with its requests.
type Engine = fn(&Setup, Speculation, Vec<Job>, Keep) -> Run;

fn fast(setup: &Setup, speculation: Speculation, jobs: Vec<Job>, keep: Keep) -> Run {
    let total = jobs.len() as u64;
    let open = |_: &mut Recorder| Jobs::given(jobs, &setup.engine, speculation);
    Stepwise::new(setup, speculation, keep, total, open).run()
}

fn records(run: &Run) -> &[RequestRecord] {
    run.requests.as_deref().unwrap_or_default()
}

impl DisaggregatedRun {
    /// Add what the replicas did to what the users saw.
    fn add_work(&mut self, precision: Precision) {
        let total = &mut self.total;
        total.queue_wait = Distribution::new(precision);
        for run in &self.prefill {
            total.queue_wait.merge(&run.queue_wait);
        }
        for run in self.prefill.iter().chain(&self.decode) {
            total.steps += run.steps;
            total.slot_steps += run.slot_steps;
            total.step_times.busy_s += run.step_times.busy_s;
            total.step_times.compute_bound_s += run.step_times.compute_bound_s;
            total.in_system_request_s += run.in_system_request_s;
            total.running_request_s += run.running_request_s;
            total.peak_running = total.peak_running.max(run.peak_running);
            total.summed_peak_running += run.peak_running;
            total.peak_kv_tokens = total.peak_kv_tokens.max(run.peak_kv_tokens);
            total.itl.merge(&run.itl);
        }
        // A cache on its way is in the system, too.
        let transfers = &self.transfers.times;
        total.in_system_request_s +=
            transfers.mean().unwrap_or(0.0) * from_count(transfers.count());
    }
}
