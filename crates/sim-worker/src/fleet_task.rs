//! A fleet over time under way, behind one door: the one that was asked for, and then other policies on
//! the same traffic.
//!
//! A page loads what [`begin`] leads to only when somebody asks for a fleet; see `proof_task`.

use std::{hint::black_box, sync::Arc};

use protocol::{
    FleetAnswer, FleetAsked, FleetNews, FleetRow, FleetSlice, FleetSums, FromWorker, LongAsked,
    Traffic,
};
use scenario::{FLEET_POLICIES, FleetSpec};
use sim_core::{
    Keep, RequestSource, Setup, Trace,
    fleet::{
        live::FleetSimulation,
        outcome::{FleetWindow, LiveRun},
        start_up::StartUp,
    },
};

use crate::{aside::Aside, compare_task, decision_task, recording_task::sentence, report_task};

/// Events between two looks at the clock.
const EVENTS_PER_LOOK: u64 = 512;
/// Signs of life in one run.
const SIGNS: u64 = 100;
/// Other policies are tried where a run has no more requests than this: they take a few times as long.
const MOST_TO_COMPARE: u64 = 600_000;
/// A start that is over at once, seconds.
const QUICK_START_S: f64 = 5.0;

/// Begins the fleet, or another long question, that the page calls `generation`. Requests are those of
/// `trace` where the question is about a recording.
#[inline(never)]
pub(crate) fn begin(generation: u64, packed: &[u8], trace: Option<&Arc<Trace>>) -> Box<dyn Aside> {
    begin_late(generation, packed, trace)
}

/// A door stays with the first part itself, so it is as thin as can be.
#[inline(never)]
fn begin_late(generation: u64, packed: &[u8], trace: Option<&Arc<Trace>>) -> Box<dyn Aside> {
    let stage = match protocol::unpack::<LongAsked>(packed) {
        Some(LongAsked::Decision(asked)) => return decision_task::begin(generation, *asked),
        Some(LongAsked::Compare(both)) => return compare_task::begin(generation, &both),
        Some(LongAsked::Report(link)) => return report_task::begin(generation, link),
        Some(LongAsked::Fleet(asked)) => Stage::begin(&asked, trace),
        None => Err("The page and its worker do not understand each other. Reload it.".into()),
    };
    let stage = stage.unwrap_or_else(Stage::Refused);
    black_box(Box::new(FleetTask { generation, stage }))
}

struct FleetTask {
    generation: u64,
    stage: Stage,
}

enum Stage {
    /// The fleet that was asked for.
    Asked(Box<Running>),
    /// Others on the same traffic, and what is still to be tried.
    Others(Box<Running>, Search),
    /// There is nothing to simulate; why.
    Refused(String),
}

/// What all fleets on one traffic have in common.
#[derive(Clone, Copy)]
struct Tried {
    compares: bool,
    gpus_per_replica: u64,
}

/// A fleet being simulated.
struct Running {
    setup: Setup,
    spec: FleetSpec,
    tried: Tried,
    simulation: FleetSimulation,
    signs: u64,
}

impl Running {
    fn begin(setup: Setup, spec: FleetSpec, tried: Tried) -> Result<Self, String> {
        let start_up = StartUp::fixed(spec.start_s);
        let fleet = spec.fleet(setup.clone(), tried.gpus_per_replica, start_up);
        let fleet = fleet.map_err(|error| error.to_string())?;
        let simulation = FleetSimulation::new(fleet, Keep::default());
        let simulation = simulation.map_err(|error| sentence(&error.to_string()))?;
        Ok(Self { setup, spec, tried, simulation, signs: 0 })
    }
}

impl Stage {
    fn begin(asked: &FleetAsked, trace: Option<&Arc<Trace>>) -> Result<Self, String> {
        let mut setup = asked.question.resolved().setup;
        match (&asked.question.traffic, trace) {
            (Traffic::Recorded { rate_per_s, recorded_per_s }, Some(trace)) => {
                let speed = rate_per_s / recorded_per_s;
                setup.workload.requests = trace.rows().len() as u64;
                setup.workload.source = RequestSource::Replay { trace: Arc::clone(trace), speed };
                setup.step_time = setup.step_time.for_workload(&setup.workload.source);
            }
            (Traffic::Recorded { .. }, None) => {
                return Err("The recording cannot be read any more. Choose its file again.".into());
            }
            _ => {
                let requests = asked.spec.requests(&setup.workload.source);
                setup.workload.requests = requests.map_err(|error| error.to_string())?;
            }
        }
        let tried = Tried { compares: asked.compares, gpus_per_replica: asked.gpus_per_replica };
        Ok(Self::Asked(Box::new(Running::begin(setup, asked.spec, tried)?)))
    }
}

impl Aside for FleetTask {
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        let generation = self.generation;
        let mut tell = |news: &FleetNews, complete| {
            post(FromWorker::Long { generation, packed: protocol::pack(news), complete });
        };
        let running = match &mut self.stage {
            Stage::Refused(message) => {
                tell(&FleetNews::Refused(std::mem::take(message)), true);
                return true;
            }
            Stage::Asked(running) | Stage::Others(running, _) => running,
        };
        let goes_on = running.simulation.advance(EVENTS_PER_LOOK);
        let (done, all) = running.simulation.offered_of();
        let signs = done.saturating_mul(SIGNS) / all.max(1);
        if goes_on {
            if signs != running.signs {
                running.signs = signs;
                tell(&FleetNews::Progress(done, all), false);
            }
            return false;
        }
        let stage = std::mem::replace(&mut self.stage, Stage::Refused(String::new()));
        let (running, mut search) = match stage {
            Stage::Asked(running) => (running, None),
            Stage::Others(running, search) => (running, Some(search)),
            Stage::Refused(_) => return true,
        };
        let Running { setup, spec, tried, simulation, .. } = *running;
        let run = simulation.finish();
        let sums = sums(&run);
        let is_small = setup.workload.requests <= MOST_TO_COMPARE;
        let first = search.is_none();
        let search = search.get_or_insert_with(|| Search::new(&spec, tried.compares && is_small));
        search.heard(&spec, &sums, setup.slo.share);
        let next = search.next().and_then(|spec| Running::begin(setup, spec, tried).ok());
        let complete = next.is_none();
        if first {
            let answer = answer(&run, &spec, tried.gpus_per_replica);
            tell(&FleetNews::Answer(Box::new(answer)), complete);
        } else {
            tell(&FleetNews::Row(Box::new(FleetRow { spec, sums })), complete);
        }
        if let Some(next) = next {
            self.stage = Stage::Others(Box::new(next), std::mem::take(search));
        }
        complete
    }
}

/// What else is tried on the same traffic: the same with a quick start, other products with the same
/// bounds, and how few fixed replicas would do.
#[derive(Debug, Default)]
struct Search {
    /// To be tried, the next one last.
    others: Vec<FleetSpec>,
    /// Fixed numbers that are known to fail, and to hold.
    fails: u64,
    holds: Option<u64>,
    most: u64,
    fixed: Option<FleetSpec>,
}

impl Search {
    fn new(asked: &FleetSpec, compares: bool) -> Self {
        if !compares {
            return Self::default();
        }
        let spec = *asked;
        let with = |policy: &str| {
            let place = FLEET_POLICIES.iter().position(|known| *known == policy);
            FleetSpec { policy: place.unwrap_or(0) as u8, ..spec }
        };
        let fixed = FleetSpec { initial: None, ..with("fixed") };
        let mut others: Vec<FleetSpec> = ["wva-v2", "knative", "keda", "hpa"].map(with).into();
        others.retain(|other| other.policy != spec.policy && other.policy != fixed.policy);
        if spec.policy != fixed.policy && spec.start_s > QUICK_START_S {
            others.push(FleetSpec { start_s: QUICK_START_S, ..spec });
        }
        Self { others, fails: 0, holds: None, most: spec.max * 2, fixed: Some(fixed) }
    }

    /// A run came to this.
    fn heard(&mut self, spec: &FleetSpec, sums: &FleetSums, share: f64) {
        let Some(fixed) = self.fixed else { return };
        if spec.policy != fixed.policy {
            return;
        }
        if sums.met_share() >= share {
            self.holds = Some(self.holds.map_or(spec.min, |holds| holds.min(spec.min)));
        } else {
            self.fails = self.fails.max(spec.min);
        }
    }

    /// What to try next; none at the end.
    fn next(&mut self) -> Option<FleetSpec> {
        if let Some(other) = self.others.pop() {
            return Some(other);
        }
        let fixed = self.fixed?;
        let replicas = match self.holds {
            Some(holds) if holds <= self.fails + 1 => return None,
            Some(holds) => self.fails + (holds - self.fails) / 2,
            None if self.fails >= self.most => return None,
            // From below: an overloaded run takes longest.
            None => self.fails.saturating_mul(2).max(fixed.max.div_ceil(2)).min(self.most),
        };
        Some(FleetSpec { min: replicas, max: replicas, ..fixed })
    }
}

fn answer(run: &LiveRun, spec: &FleetSpec, gpus_per_replica: u64) -> FleetAnswer {
    FleetAnswer {
        sums: sums(run),
        window_s: spec.window_or_usual_s(),
        end_s: run.end_s,
        gpus_per_replica,
        slices: run.windows.iter().map(slice).collect(),
    }
}

fn sums(run: &LiveRun) -> FleetSums {
    let total = &run.total;
    let busy_s = total.step_times.busy_s;
    FleetSums {
        offered: total.offered,
        completed: total.completed,
        rejected: total.rejected,
        in_flight: total.in_flight,
        slo_met: total.slo_met,
        ttft_s: (total.ttft.percentile(50.0), total.ttft.percentile(99.0)),
        tpot_p99_s: total.tpot.percentile(99.0),
        gpu_hours: run.held_gpu_hours(),
        busy: if run.replica_s > 0.0 { busy_s / run.replica_s } else { 0.0 },
        peak_ready: run.peak_ready,
        started: run.decided,
        restarted: run.restarted,
    }
}

fn slice(window: &FleetWindow) -> FleetSlice {
    FleetSlice {
        start_s: window.start_s,
        offered: window.offered,
        served: window.served,
        slo_met: window.slo_met,
        rejected: window.rejected,
        ttft_s: (window.ttft.percentile(50.0), window.ttft.percentile(99.0)),
        waiting: window.waiting,
        deferred: window.deferred,
        running: window.running,
        kv: window.kv_usage,
        replicas: window.replicas,
        asked: window.desired.max(0).unsigned_abs(),
    }
}

#[cfg(test)]
mod tests {
    use protocol::Question;
    use scenario::Scenario;
    use sim_core::fleet::live::simulate_live;

    use super::*;

    fn scenario(settings: &[(&str, &str)]) -> Scenario {
        let mut scenario = Scenario::preset();
        let short = [("rate", "40"), ("fleet.duration", "120s"), ("fleet.max", "4")];
        for (key, value) in short.iter().chain(settings) {
            scenario.set(key, value).expect(key);
        }
        scenario
    }

    fn told(scenario: &Scenario, compares: bool) -> Vec<(FleetNews, bool)> {
        let question = Question::of(&scenario.resolve().expect("numbers")).expect("a question");
        let asked = FleetAsked { question, spec: scenario.fleet, gpus_per_replica: 1, compares };
        let asked = LongAsked::Fleet(Box::new(asked));
        let mut task = begin(3, &protocol::pack(&asked), None);
        let (mut told, mut pieces) = (Vec::new(), 0);
        let mut post = |message: FromWorker| match message {
            FromWorker::Long { generation: 3, packed, complete } => {
                told.push((protocol::unpack(&packed).expect("news"), complete));
            }
            other => panic!("{other:?}"),
        };
        while !task.advance(&mut post) {
            pieces += 1;
        }
        assert!(pieces > 10 || told.len() == 1, "{pieces} pieces: others get a word in");
        told
    }

    #[test]
    fn the_answer_is_that_of_the_command_line() {
        let scenario = scenario(&[]);
        let news = told(&scenario, false);
        let Some((FleetNews::Answer(answer), true)) = news.last() else { panic!("{news:?}") };
        assert!(
            news[..news.len() - 1]
                .iter()
                .all(|(news, complete)| { matches!(news, FleetNews::Progress(..)) && !complete })
        );
        let mut setup = scenario.resolve().expect("numbers").setup;
        setup.workload.requests = 4_800;
        let fleet = scenario.fleet.fleet(setup, 1, StartUp::fixed(60.0)).expect("a fleet");
        let run = simulate_live(&fleet, Keep::default()).expect("a run");
        run.verify().expect("no law is broken");
        assert_eq!((answer.sums.offered, answer.sums.slo_met), (4_800, run.total.slo_met));
        assert_eq!(answer.sums.ttft_s.1, run.total.ttft.percentile(99.0));
        assert_eq!(answer.slices.len(), run.windows.len());
        assert_eq!(answer.slices[3], slice(&run.windows[3]));
    }

    #[test]
    fn other_policies_follow_and_the_fewest_fixed_replicas_are_found() {
        let scenario = scenario(&[]);
        let news = told(&scenario, true);
        let rows: Vec<&FleetRow> = news
            .iter()
            .filter_map(
                |(news, _)| if let FleetNews::Row(row) = news { Some(&**row) } else { None },
            )
            .collect();
        assert!(matches!(news.last(), Some((FleetNews::Row(_), true))));
        assert_eq!((rows[0].spec.policy_word(), rows[0].spec.start_s), ("hpa", 5.0));
        let words: Vec<&str> = rows[1..4].iter().map(|row| row.spec.policy_word()).collect();
        assert_eq!(words, ["keda", "knative", "wva-v2"]);
        let fixed: Vec<(u64, bool)> =
            rows[4..].iter().map(|row| (row.spec.min, row.sums.met_share() >= 0.99)).collect();
        let least = fixed.iter().filter(|(_, holds)| *holds).map(|(count, _)| *count).min();
        let least = least.expect("enough of them");
        assert!(least == 1 || fixed.contains(&(least - 1, false)), "{fixed:?}");
        assert!(rows.iter().all(|row| row.sums.offered == 4_800));
    }

    #[test]
    fn what_cannot_be_a_fleet_is_said() {
        for (settings, word) in [
            ([("fleet.initial", "9")], "fleet.initial 9"),
            ([("sched.rules", "vllm-0.33")], "sched.rules=reference"),
        ] {
            let news = told(&scenario(&settings), true);
            let [(FleetNews::Refused(message), true)] = &news[..] else { panic!("{news:?}") };
            assert!(message.contains(word) && message.ends_with('.'), "{message}");
        }
    }
}
