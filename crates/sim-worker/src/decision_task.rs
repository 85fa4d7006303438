//! Questions about a plan under way: what holds it back, what else would do, how far it moves, what a
//! job takes. They begin behind the door of `fleet_task`.
//!
//! A question hands out rounds of runs. Each run is simulated in slices, and after each round the page
//! hears what is known by then.

use std::{collections::VecDeque, hint::black_box};

use catalog::Device;
use planner::{Alternatives, BatchPlan, Dollars, Job, Lookup, Sensitivity, Uncertain, Why};
use protocol::{Decision, DecisionAsked, DecisionNews, FromWorker};
use scenario::{Resolved, Scenario, StepKind};
use sim_core::{Progress, Run, Simulation};

use crate::{aside::Aside, recording_task::sentence};

/// Simulation events between two looks at the clock.
const EVENTS_PER_LOOK: u64 = 512;
/// Looks after which a long run gives a sign of life.
const LOOKS_PER_SIGN: u32 = 200;
/// Rows that are simulated at least.
const WANTED_ROWS: usize = 8;

/// Begins the question that the page calls `generation`.
pub(crate) fn begin(generation: u64, asked: DecisionAsked) -> Box<dyn Aside> {
    black_box(Box::new(DecisionTask {
        generation,
        stage: Stage::Asked(Box::new(asked)),
        jobs: VecDeque::new(),
        running: None,
        runs: Vec::new(),
        looks: 0,
    }))
}

struct DecisionTask {
    generation: u64,
    stage: Stage,
    jobs: VecDeque<Job>,
    running: Option<Simulation>,
    runs: Vec<Run>,
    looks: u32,
}

enum Stage {
    /// Nothing is looked up yet.
    Asked(Box<DecisionAsked>),
    /// What could serve the model is being looked up.
    LookingUp(Box<Lookup>),
    Running(Box<dyn Question>),
}

/// A state machine of the planner.
trait Question {
    fn next_jobs(&mut self) -> Vec<Job>;
    fn accept(&mut self, runs: &[Run]);
    /// Runs made, and about how many there will be.
    fn progress(&self) -> (u32, u32);
    /// What is known; nothing while that is not worth telling.
    fn news(&self) -> Option<DecisionNews>;
}

impl Question for Why {
    fn next_jobs(&mut self) -> Vec<Job> {
        self.next_jobs()
    }

    fn accept(&mut self, runs: &[Run]) {
        self.accept(runs);
    }

    fn progress(&self) -> (u32, u32) {
        self.progress()
    }

    fn news(&self) -> Option<DecisionNews> {
        self.answer().map(|answer| DecisionNews::Why(answer.cloned().map(Box::new)))
    }
}

impl Question for Alternatives {
    fn next_jobs(&mut self) -> Vec<Job> {
        self.next_jobs()
    }

    fn accept(&mut self, runs: &[Run]) {
        self.accept(runs);
    }

    fn progress(&self) -> (u32, u32) {
        self.progress()
    }

    fn news(&self) -> Option<DecisionNews> {
        Some(DecisionNews::Alternatives(Box::new(self.answer())))
    }
}

impl Question for Sensitivity {
    fn next_jobs(&mut self) -> Vec<Job> {
        self.next_jobs()
    }

    fn accept(&mut self, runs: &[Run]) {
        self.accept(runs);
    }

    fn progress(&self) -> (u32, u32) {
        self.progress()
    }

    fn news(&self) -> Option<DecisionNews> {
        let so_far = self.so_far().map(Box::new);
        let is_told = so_far.is_some() || self.answer().is_some();
        is_told.then_some(DecisionNews::Sensitivity(so_far))
    }
}

impl Question for BatchPlan {
    fn next_jobs(&mut self) -> Vec<Job> {
        Self::next_jobs(self)
    }

    fn accept(&mut self, runs: &[Run]) {
        self.accept(runs);
    }

    /// How many numbers of engines will be tried nobody knows.
    fn progress(&self) -> (u32, u32) {
        (0, 0)
    }

    fn news(&self) -> Option<DecisionNews> {
        self.answer().map(|answer| DecisionNews::Job(Box::new(*answer)))
    }
}

/// Looks up what a question is about.
fn begun(asked: &DecisionAsked) -> Result<Stage, String> {
    let scenario = Scenario::from_link(&asked.link).scenario;
    let resolved = || -> Result<Resolved, String> {
        scenario.resolve().map_err(|error| sentence(&error.without_remedies()))
    };
    let question: Box<dyn Question> = match asked.about {
        Decision::Why => Box::new(Why::new(&resolved()?)),
        Decision::Alternatives => {
            return Ok(Stage::LookingUp(Box::new(lookup(&scenario, asked.price)?)));
        }
        Decision::Sensitivity => {
            let resolved = resolved()?;
            let known = || Dollars::of_catalogue(&catalog::device(&scenario.gpu).ok()?);
            let price = asked.price.or_else(known);
            let inputs = Uncertain::all(&scenario, &resolved, price.as_ref());
            Box::new(Sensitivity::new(&scenario, &resolved, inputs, price))
        }
        Decision::Job { requests, within_s } => {
            Box::new(BatchPlan::new(&resolved()?, requests, within_s))
        }
    };
    Ok(Stage::Running(question))
}

fn lookup(scenario: &Scenario, typed: Option<Dollars>) -> Result<Lookup, String> {
    if matches!(scenario.step.kind, Some(StepKind::Affine | StepKind::QueueModel)) {
        return Err(OF_ONE_MACHINE.to_owned());
    }
    let refused = |error: catalog::LookUpError| sentence(&error.to_string());
    let checkpoint = catalog::checkpoint(&scenario.model).map_err(refused)?;
    let own = catalog::device(&scenario.gpu).map(|device| device.slug).unwrap_or_default();
    let mut devices = catalog::search_devices("").map_err(refused)?;
    let mut seen: Vec<String> = Vec::new();
    devices.retain(|device| {
        let is_new = !seen.contains(&device.slug);
        seen.push(device.slug.clone());
        is_new
    });
    let price = |device: &Device| -> Option<Dollars> {
        let typed = typed.filter(|_| device.slug == own);
        typed.or_else(|| Dollars::of_catalogue(device))
    };
    Ok(Lookup::new(scenario, (&devices, &checkpoint), &price))
}

/// Why a step time that is no machine's has no alternatives.
const OF_ONE_MACHINE: &str = "This step time is of one machine, whatever the GPU, so that there is \
     nothing to compare. Use the roofline to see alternatives.";

impl DecisionTask {
    fn tell(&self, news: &DecisionNews, complete: bool, post: &mut dyn FnMut(FromWorker)) {
        let (generation, packed) = (self.generation, protocol::pack(news));
        post(FromWorker::Long { generation, packed, complete });
    }

    fn tell_progress(&self, post: &mut dyn FnMut(FromWorker)) {
        let Stage::Running(question) = &self.stage else { return };
        let (taken, about) = question.progress();
        let done = taken.saturating_add(self.runs.len() as u32);
        self.tell(&DecisionNews::Progress(if about == 0 { 0 } else { done }, about), false, post);
    }

    /// Hands the finished round back and fetches the next one; true once the question is answered.
    fn next_round(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        let runs = std::mem::take(&mut self.runs);
        let Stage::Running(question) = &mut self.stage else { return true };
        if !runs.is_empty() {
            question.accept(&runs);
        }
        self.jobs = question.next_jobs().into();
        let is_done = self.jobs.is_empty();
        if let Some(news) = question.news() {
            self.tell(&news, is_done, post);
        }
        is_done
    }
}

impl Aside for DecisionTask {
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        match &mut self.stage {
            Stage::Asked(asked) => match begun(asked) {
                Ok(stage) => self.stage = stage,
                Err(message) => {
                    self.tell(&DecisionNews::Refused(message), true, post);
                    return true;
                }
            },
            Stage::LookingUp(lookup) => {
                if lookup.step() {
                    return false;
                }
                let asked = Alternatives::among(Lookup::clone(lookup), WANTED_ROWS, None);
                self.stage = Stage::Running(Box::new(asked));
            }
            Stage::Running(_) => return self.run(post),
        }
        false
    }
}

impl DecisionTask {
    /// One piece of a run, or what comes between two.
    fn run(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        if let Some(simulation) = &mut self.running {
            self.looks += 1;
            let is_over = simulation.advance(EVENTS_PER_LOOK) == Progress::Done;
            if is_over && let Some(simulation) = self.running.take() {
                self.runs.push(simulation.finish());
            }
            if self.looks >= LOOKS_PER_SIGN {
                self.looks = 0;
                self.tell_progress(post);
            }
            return false;
        }
        if let Some(job) = self.jobs.pop_front() {
            match job.start() {
                Ok(simulation) => self.running = Some(simulation),
                Err(error) => {
                    let message = sentence(&error.to_string());
                    self.tell(&DecisionNews::Refused(message), true, post);
                    return true;
                }
            }
            return false;
        }
        self.next_round(post)
    }
}

#[cfg(test)]
mod tests {
    use planner::{Basis, WhyAnswer};

    use super::*;

    fn link(settings: &[(&str, &str)]) -> String {
        let mut scenario = Scenario::preset();
        for (key, value) in [("sim.requests", "200"), ("sim.replications", "2")] {
            scenario.set(key, value).unwrap();
        }
        for (key, value) in settings {
            scenario.set(key, value).unwrap();
        }
        scenario.to_link()
    }

    /// All that is told, and whether it was the last word.
    fn told(about: Decision, link: String) -> Vec<(DecisionNews, bool)> {
        let price = Some(Dollars::exactly(3.0));
        let mut task = begin(7, DecisionAsked { link, price, about });
        let mut news = Vec::new();
        let mut post = |message: FromWorker| match message {
            FromWorker::Long { generation: 7, packed, complete } => {
                news.push((protocol::unpack(&packed).unwrap(), complete));
            }
            other => panic!("{other:?}"),
        };
        while !task.advance(&mut post) {}
        let ends = news.iter().filter(|(_, complete)| *complete).count();
        assert!(ends == 1 && news.last().is_some_and(|(_, complete)| *complete), "{ends} ends");
        news
    }

    fn inline(resolved: &Resolved) -> WhyAnswer {
        let mut why = Why::new(resolved);
        loop {
            let jobs = why.next_jobs();
            if jobs.is_empty() {
                return why.answer().flatten().unwrap().clone();
            }
            let runs: Vec<Run> = jobs.iter().map(|job| job.run().unwrap()).collect();
            why.accept(&runs);
        }
    }

    #[test]
    fn what_binds_is_what_the_planner_says() {
        let link = link(&[]);
        let expected = inline(&Scenario::from_link(&link).scenario.resolve().unwrap());
        let news = told(Decision::Why, link);
        let Some((DecisionNews::Why(Some(answer)), true)) = news.last() else {
            panic!("{:?}", news.last())
        };
        assert_eq!(**answer, expected);
        assert!(news.iter().any(|(news, _)| matches!(news, DecisionNews::Progress(1.., 2..))));
    }

    /// Rows are there before anything is simulated, and become simulated ones.
    #[test]
    fn alternatives_come_as_rounds_end() {
        let news = told(Decision::Alternatives, link(&[("rate", "20")]));
        let counts: Vec<(usize, usize, bool)> = news
            .iter()
            .filter_map(|(news, complete)| match news {
                DecisionNews::Alternatives(answer) => {
                    let simulated = |row: &&planner::Alternative| row.basis == Basis::Simulated;
                    let simulated = answer.rows.iter().filter(simulated).count();
                    Some((answer.rows.len(), simulated, *complete && answer.is_done))
                }
                _ => None,
            })
            .collect();
        let (first, last) = (counts[0], counts[counts.len() - 1]);
        assert!(first.0 > 50 && first.1 == 0 && !first.2, "{counts:?}");
        assert!(last.1 >= WANTED_ROWS && last.2, "{counts:?}");
        assert!(counts.iter().any(|(_, simulated, done)| *simulated > 0 && !done), "{counts:?}");
        let Some((DecisionNews::Alternatives(answer), _)) = news.last() else { panic!() };
        let own = answer.rows.iter().find(|row| row.gpu == "h100-sxm").unwrap();
        assert_eq!(own.price_per_hour, Dollars::exactly(3.0), "the typed price counts");
        assert!(answer.tuned.is_some());
    }

    #[test]
    fn bars_come_before_the_draws() {
        let news = told(Decision::Sensitivity, link(&[("sim.requests", "100")]));
        let draws: Vec<u32> = news
            .iter()
            .filter_map(|(news, _)| match news {
                DecisionNews::Sensitivity(Some(answer)) => {
                    assert!(answer.bars.len() > 3);
                    Some(answer.draws)
                }
                _ => None,
            })
            .collect();
        assert!(draws[0] == 0 && draws.is_sorted() && draws.last() == Some(&60), "{draws:?}");
    }

    #[test]
    fn a_job_is_answered() {
        let about = Decision::Job { requests: 10_000, within_s: 60.0 };
        let news = told(about, link(&[]));
        let Some((DecisionNews::Job(answer), true)) = news.last() else { panic!("{news:?}") };
        assert!(answer.engines.is_some_and(|engines| engines > 1) && answer.takes_s <= 60.0);
    }

    #[test]
    fn what_cannot_be_asked_is_said() {
        for (about, settings, word) in [
            (Decision::Alternatives, [("step.kind", "affine")], "one machine"),
            (Decision::Why, [("model", "llama-3.1-70b")], "131"),
        ] {
            let news = told(about, link(&settings));
            let Some((DecisionNews::Refused(message), true)) = news.last() else {
                panic!("{news:?}")
            };
            assert!(message.contains(word) && message.ends_with('.'), "{message}");
        }
    }
}
