//! Two scenarios under the same users, under way. They begin behind the door of `fleet_task`.

use std::{collections::VecDeque, hint::black_box};

use planner::{Compare, Job, Pair};
use protocol::{CompareNews, FromWorker, Question, Traffic};
use sim_core::{Progress, Run, Simulation};

use crate::{aside::Aside, recording_task::sentence};

/// Simulation events between two looks at the clock.
const EVENTS_PER_LOOK: u64 = 512;
/// Looks after which a long run gives a sign of life.
const LOOKS_PER_SIGN: u32 = 200;
/// Why a recording is not compared.
const RECORDED: &str =
    "A comparison draws its requests, which a recording does not. Remove the recording first.";

/// Begins the comparison that the page calls `generation`.
pub(crate) fn begin(generation: u64, both: &[Question; 2]) -> Box<dyn Aside> {
    let is_recorded = |question: &Question| matches!(question.traffic, Traffic::Recorded { .. });
    let [first, second] = both;
    let stage = if is_recorded(first) || is_recorded(second) {
        Stage::Refused(RECORDED.to_owned())
    } else {
        Stage::Planning(Box::new(Compare::new(&first.resolved(), &second.resolved())))
    };
    let (jobs, runs) = (VecDeque::new(), Vec::new());
    black_box(Box::new(CompareTask { generation, stage, jobs, running: None, runs, looks: 0 }))
}

struct CompareTask {
    generation: u64,
    stage: Stage,
    jobs: VecDeque<Job>,
    running: Option<Simulation>,
    runs: Vec<Run>,
    looks: u32,
}

enum Stage {
    /// Both are planned.
    Planning(Box<Compare>),
    /// Both get the same requests.
    Pairing(Box<(Compare, Option<Pair>)>),
    /// There is nothing to compare; why.
    Refused(String),
}

impl CompareTask {
    fn tell(&self, news: &CompareNews, post: &mut dyn FnMut(FromWorker)) {
        let complete = !matches!(news, CompareNews::Progress(..));
        let packed = protocol::pack(news);
        post(FromWorker::Long { generation: self.generation, packed, complete });
    }

    /// A stretch of the run under way.
    fn simulate(&mut self) {
        let Some(simulation) = &mut self.running else { return };
        if simulation.advance(EVENTS_PER_LOOK) == Progress::Done
            && let Some(simulation) = self.running.take()
        {
            self.runs.push(simulation.finish());
        }
    }

    /// Hands the finished round back and fetches the next one.
    fn next_round(&mut self, post: &mut dyn FnMut(FromWorker)) {
        let Stage::Planning(compare) = &mut self.stage else { return };
        if !self.runs.is_empty() {
            compare.accept(&std::mem::take(&mut self.runs));
        }
        self.jobs = compare.next_jobs().into();
        let (done, about) = compare.progress();
        if self.jobs.is_empty() {
            let pair = compare.pair();
            let stage = std::mem::replace(&mut self.stage, Stage::Refused(String::new()));
            self.stage = match (stage, pair) {
                (Stage::Planning(compare), Ok(pair)) => Stage::Pairing(Box::new((*compare, pair))),
                (_, Err(error)) => Stage::Refused(sentence(&error.to_string())),
                (other, _) => other,
            };
        }
        self.tell(&CompareNews::Progress(done, about), post);
    }
}

impl Aside for CompareTask {
    /// A stretch of one run, or the end of a round.
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        self.looks += 1;
        let news = match &mut self.stage {
            Stage::Refused(message) => CompareNews::Refused(std::mem::take(message)),
            Stage::Pairing(both) => {
                if let Some(pair) = &mut both.1
                    && pair.advance(EVENTS_PER_LOOK) != Progress::Done
                {
                    return false;
                }
                let pair = both.1.take();
                match both.0.finish_with(pair) {
                    Some(answer) => CompareNews::Answer(Box::new(answer)),
                    None => CompareNews::Refused(
                        "No run of these scenarios could be finished.".to_owned(),
                    ),
                }
            }
            Stage::Planning(compare) => {
                if self.running.is_some() {
                    let (done, about) = compare.progress();
                    self.simulate();
                    if self.looks.is_multiple_of(LOOKS_PER_SIGN) {
                        let done = done + self.runs.len() as u32;
                        self.tell(&CompareNews::Progress(done, about), post);
                    }
                    return false;
                }
                let Some(job) = self.jobs.pop_front() else {
                    self.next_round(post);
                    return false;
                };
                match job.start() {
                    Ok(simulation) => {
                        self.running = Some(simulation);
                        return false;
                    }
                    Err(error) => CompareNews::Refused(sentence(&error.to_string())),
                }
            }
        };
        self.tell(&news, post);
        true
    }
}

#[cfg(test)]
mod tests {
    use protocol::LongAsked;
    use scenario::Scenario;

    use super::*;

    fn question(settings: &[(&str, &str)]) -> Question {
        let mut scenario = Scenario::preset();
        for (key, value) in
            [("sim.requests", "300"), ("sim.replications", "3")].iter().chain(settings)
        {
            scenario.set(key, value).unwrap();
        }
        Question::of(&scenario.resolve().unwrap()).unwrap()
    }

    fn told(both: [Question; 2]) -> Vec<(CompareNews, bool)> {
        let packed = protocol::pack(&LongAsked::Compare(Box::new(both)));
        let mut task = crate::fleet_task::begin(4, &packed, None);
        let (mut told, mut pieces) = (Vec::new(), 0);
        let mut post = |message: FromWorker| match message {
            FromWorker::Long { generation: 4, packed, complete } => {
                told.push((protocol::unpack(&packed).unwrap(), complete));
            }
            other => panic!("{other:?}"),
        };
        while !task.advance(&mut post) {
            pieces += 1;
        }
        assert!(pieces > 100, "{pieces} pieces: others get a word in");
        told
    }

    /// In slices it is what the planner says in one go, and progress comes before it.
    #[test]
    fn slices_change_nothing() {
        let both = || [question(&[]), question(&[("gpu", "h200-sxm")])];
        let told = told(both());
        let [first, second] = both().map(|question| question.resolved());
        let mut compare = Compare::new(&first, &second);
        loop {
            let jobs = compare.next_jobs();
            if jobs.is_empty() {
                break;
            }
            let runs: Vec<Run> = jobs.iter().map(|job| job.run().unwrap()).collect();
            compare.accept(&runs);
        }
        let expected = compare.finish().unwrap().unwrap();
        assert!(expected.requests.is_some() && expected.capacity_change.is_some());
        let (last, before) = told.split_last().unwrap();
        assert_eq!(last, &(CompareNews::Answer(Box::new(expected)), true));
        assert!(before.len() > 3);
        for (news, complete) in before {
            assert!(
                matches!(news, CompareNews::Progress(done, about) if done <= about) && !complete
            );
        }
    }

    #[test]
    fn a_recording_is_refused_with_what_to_do() {
        let mut recorded = question(&[]);
        recorded.ask_of_recording(1.0);
        let mut task = begin(4, &[question(&[]), recorded]);
        let mut told = Vec::new();
        assert!(task.advance(&mut |message| told.push(message)));
        let [FromWorker::Long { packed, complete: true, .. }] = &told[..] else {
            panic!("{told:?}")
        };
        let news: CompareNews = protocol::unpack(packed).unwrap();
        assert!(matches!(&news, CompareNews::Refused(why) if why.contains("Remove the recording")));
    }
}
