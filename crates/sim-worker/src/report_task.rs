//! Reports of one scenario under way. They begin behind the door of `fleet_task`.
//!
//! The plan is made again, since a report wants the set-up as it resolves by name; then what binds is
//! asked, which only reports tell, and the one run under a profile.

use std::{collections::VecDeque, hint::black_box};

use planner::{Cost, Job, Plan, PlanAnswer, Verdict, Why};
use protocol::{FromWorker, ReportNews, ReportTexts};
use report::{Deployment, Price, ReportParts};
use scenario::{Resolved, Scenario};
use sim_core::{Progress, Run, Simulation};

use crate::{aside::Aside, recording_task::sentence};

/// Simulation events between two looks at the clock.
const EVENTS_PER_LOOK: u64 = 512;
/// Looks after which a long run gives a sign of life.
const LOOKS_PER_SIGN: u32 = 200;

/// Begins the reports that the page calls `generation`, of the scenario of a link.
pub(crate) fn begin(generation: u64, link: String) -> Box<dyn Aside> {
    let (jobs, runs, stage) = (VecDeque::new(), Vec::new(), Stage::Asked(link));
    black_box(Box::new(ReportTask { generation, stage, jobs, running: None, runs, looks: 0 }))
}

struct ReportTask {
    generation: u64,
    stage: Stage,
    jobs: VecDeque<Job>,
    running: Option<Simulation>,
    runs: Vec<Run>,
    looks: u32,
}

enum Stage {
    /// Nothing is looked up yet.
    Asked(String),
    /// The runs go on.
    Running(Box<Work>),
}

/// What the runs are for.
struct Work {
    scenario: Scenario,
    resolved: Resolved,
    plan: Plan,
    why: Option<Why>,
    /// The engine under the profile, where the rate changes; asked for once.
    over_time: Option<Run>,
    step: Step,
    done: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Plan,
    OverTime,
    Why,
}

impl Work {
    fn begin(link: &str) -> Result<Self, String> {
        let scenario = Scenario::from_link(link).scenario;
        let resolved = scenario.resolve().map_err(|error| sentence(&error.to_string()))?;
        let plan = Plan::new(&resolved);
        Ok(Self { scenario, resolved, plan, why: None, over_time: None, step: Step::Plan, done: 0 })
    }

    /// Takes a round of runs and tells the next one; none when all is known.
    fn next_jobs(&mut self, runs: &mut Vec<Run>) -> Vec<Job> {
        self.done += runs.len() as u32;
        match self.step {
            Step::Plan => {
                if !runs.is_empty() {
                    self.plan.accept(runs);
                }
                let jobs = self.plan.next_jobs();
                if !jobs.is_empty() {
                    return jobs;
                }
                self.step = Step::OverTime;
                let answer = self.plan.answer();
                let job = answer.and_then(|answer| planner::over_time(&self.resolved, answer));
                let is_sized = answer.is_some_and(|it| matches!(it.verdict, Verdict::Sized(_)));
                self.why = is_sized.then(|| Why::new(&self.resolved));
                match job {
                    Some(job) => vec![job],
                    None => self.next_jobs(&mut Vec::new()),
                }
            }
            Step::OverTime => {
                self.over_time = runs.pop();
                self.step = Step::Why;
                self.why.as_mut().map_or_else(Vec::new, Why::next_jobs)
            }
            Step::Why => {
                let Some(why) = &mut self.why else { return Vec::new() };
                why.accept(runs);
                why.next_jobs()
            }
        }
    }

    fn progress(&self) -> (u32, u32) {
        let why = self.why.as_ref().map_or(self.plan.progress().1 * 4, |why| why.progress().1);
        (self.done, (self.plan.progress().1 + why).max(self.done))
    }

    /// The reports, once all runs are in.
    fn texts(&self) -> Result<ReportTexts, String> {
        let (scenario, resolved) = (&self.scenario, &self.resolved);
        let answer = self.plan.answer().ok_or("No run of this scenario could be finished.")?;
        let price = catalog::device(&scenario.gpu).ok().and_then(|it| Price::of_catalogue(&it));
        let cost = price.as_ref().and_then(|price| cost(answer, scenario, resolved, price));
        let cost = cost.as_ref().zip(price.as_ref());
        let deployment = Deployment::of(answer, scenario, resolved);
        let parts = ReportParts {
            scenario,
            answer,
            cost,
            why: self.why.as_ref().and_then(|why| why.answer().flatten()),
            ledger: Some(&resolved.ledger),
            deployment: deployment.as_ref(),
            closed_form: planner::closed_form(resolved).curve,
        };
        let more = cost.map(|(cost, price)| ("cost", report::cost_value(cost, price)));
        let sides = (Some(&resolved.ledger), self.over_time.as_ref());
        let html = report::report_html(&parts).map_err(|error| sentence(&error.to_string()))?;
        Ok(ReportTexts {
            markdown: report::report_markdown(&parts),
            html,
            json: report::plan_json_with(answer, scenario, sides, more.into_iter().collect()),
        })
    }
}

fn cost(
    answer: &PlanAnswer,
    scenario: &Scenario,
    resolved: &Resolved,
    price: &Price,
) -> Option<Cost> {
    Cost::of(answer, resolved, scenario.gpus_per_engine(), price.per_hour, None)
}

impl ReportTask {
    fn tell(&self, news: &ReportNews, post: &mut dyn FnMut(FromWorker)) {
        let complete = !matches!(news, ReportNews::Progress(..));
        let packed = protocol::pack(news);
        post(FromWorker::Long { generation: self.generation, packed, complete });
    }

    /// A piece of work; what there is to tell at its end, if it was the last one.
    fn piece(&mut self, post: &mut dyn FnMut(FromWorker)) -> Option<ReportNews> {
        self.looks += 1;
        if let Some(simulation) = &mut self.running {
            if simulation.advance(EVENTS_PER_LOOK) == Progress::Done
                && let Some(simulation) = self.running.take()
            {
                self.runs.push(simulation.finish());
            }
            if self.looks.is_multiple_of(LOOKS_PER_SIGN)
                && let Stage::Running(work) = &self.stage
            {
                let (done, about) = work.progress();
                let done = done + self.runs.len() as u32;
                self.tell(&ReportNews::Progress(done, about.max(done)), post);
            }
            return None;
        }
        if let Some(job) = self.jobs.pop_front() {
            match job.start() {
                Ok(simulation) => self.running = Some(simulation),
                Err(error) => return Some(ReportNews::Refused(sentence(&error.to_string()))),
            }
            return None;
        }
        let work = match &mut self.stage {
            Stage::Asked(link) => match Work::begin(link) {
                Ok(work) => {
                    self.stage = Stage::Running(Box::new(work));
                    return None;
                }
                Err(why) => return Some(ReportNews::Refused(why)),
            },
            Stage::Running(work) => work,
        };
        let mut runs = std::mem::take(&mut self.runs);
        self.jobs = work.next_jobs(&mut runs).into();
        if !self.jobs.is_empty() {
            let (done, about) = work.progress();
            self.tell(&ReportNews::Progress(done, about), post);
            return None;
        }
        Some(match work.texts() {
            Ok(texts) => ReportNews::Texts(Box::new(texts)),
            Err(why) => ReportNews::Refused(why),
        })
    }
}

impl Aside for ReportTask {
    /// A stretch of one run, or the end of a round.
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        let Some(news) = self.piece(post) else { return false };
        self.tell(&news, post);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(link: &str) -> ReportNews {
        let mut task = begin(2, link.to_owned());
        let mut last = None;
        let mut post = |message: FromWorker| match message {
            FromWorker::Long { generation: 2, packed, .. } => {
                last = protocol::unpack::<ReportNews>(&packed);
            }
            other => panic!("{other:?}"),
        };
        while !task.advance(&mut post) {}
        last.unwrap()
    }

    #[test]
    fn reports_tell_what_binds_and_what_to_run() {
        let link = "v=1&sim.requests=300&sim.replications=2&profile=daily(0.3)";
        let ReportNews::Texts(texts) = told(link) else { panic!("no texts") };
        assert!(texts.markdown.contains("vllm serve"), "{}", texts.markdown);
        assert!(texts.html.starts_with("<!DOCTYPE html>") && texts.html.contains("<svg"));
        assert!(texts.json.contains("\"over_time\": {"), "{}", texts.json);
        assert!(texts.json.contains("\"cost\": {"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_reason() {
        let news = told("v=1&model=llama-3.1-70b&gpu=h100-sxm");
        assert!(matches!(&news, ReportNews::Refused(why) if why.contains("70")), "{news:?}");
    }
}
