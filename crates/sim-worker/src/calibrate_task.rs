//! A calibration under way, behind one door: files are read, then constants are fitted to their points.
//!
//! A page loads what [`begin`] leads to only when somebody brings a file; see `proof_task`.

use std::{collections::VecDeque, hint::black_box};

use import::bench::{Benchmark, MeasuredPoint};
use measured::{FitOn, MeasuredFiles, Seen};
use planner::{Calibration, CalibrationAnswer, Job, Measured, PointAnswer, Predicted};
use protocol::{
    CalibratedPoint, CalibratedTime, CalibrationAsked, CalibrationNews, CalibrationOutcome,
    FittedConstant, FromWorker, GivenFile, Understood, UnderstoodFile, UnderstoodPoint,
};
use scenario::Scenario;
use sim_core::{Progress, Run, Simulation};

use crate::{aside::Aside, recording_task::sentence};

/// Events between two looks at the clock.
const EVENTS_PER_LOOK: u64 = 512;
/// Looks between two signs of life in one run.
const LOOKS_PER_SIGN: u32 = 200;
/// Rounds of a search, about; for telling how far it has come.
const ROUNDS: u32 = 30;
/// What is said where a message cannot be read.
const NOT_READ: &str =
    "The files did not reach the part of the page that reads them. Give them again.";
/// What is said of a search that came to nothing.
const NO_ANSWER: &str = "No constants could be found for these points. Give fewer of them.";

/// Begins the calibration that the page calls `generation`.
#[inline(never)]
pub(crate) fn begin(generation: u64, packed: &[u8]) -> Box<dyn Aside> {
    begin_late(generation, packed)
}

/// A door stays with the first part itself, so it is as thin as can be.
#[inline(never)]
fn begin_late(generation: u64, packed: &[u8]) -> Box<dyn Aside> {
    let stage = match protocol::unpack(packed) {
        Some(asked) => Stage::Given(asked),
        None => Stage::Refused(NOT_READ.to_owned()),
    };
    black_box(Box::new(CalibrateTask { generation, stage }))
}

struct CalibrateTask {
    generation: u64,
    stage: Stage,
}

enum Stage {
    /// Nothing is read yet.
    Given(CalibrationAsked),
    /// Constants are being fitted.
    Fit(Box<Fit>),
    /// There is nothing to fit; why.
    Refused(String),
    /// All is told.
    Over,
}

/// A fit under way.
struct Fit {
    calibration: Calibration,
    jobs: VecDeque<Job>,
    running: Option<Simulation>,
    runs: Vec<Run>,
    done: u32,
    expected: u32,
    looks: u32,
}

impl Aside for CalibrateTask {
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        let generation = self.generation;
        let mut tell = |news: &CalibrationNews, complete: bool| {
            post(FromWorker::Calibration { generation, packed: protocol::pack(news), complete });
        };
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Given(asked) => self.stage = read(&asked, &mut tell),
            Stage::Fit(mut fit) => match fit.advance(&mut tell) {
                Ok(None) => self.stage = Stage::Fit(fit),
                Ok(Some(outcome)) => tell(&CalibrationNews::Answer(Box::new(outcome)), true),
                Err(message) => tell(&CalibrationNews::Refused(message), true),
            },
            Stage::Refused(message) => tell(&CalibrationNews::Refused(message), true),
            Stage::Over => {}
        }
        matches!(self.stage, Stage::Over)
    }
}

/// Reads all files, tells what was understood, and begins the fit.
fn read(asked: &CalibrationAsked, tell: &mut dyn FnMut(&CalibrationNews, bool)) -> Stage {
    let deployment = measured::deployment_of(&Scenario::from_link(&asked.link).scenario);
    let mut files = MeasuredFiles::new(deployment, Vec::new());
    let seen: Vec<UnderstoodFile> =
        asked.files.iter().map(|file| understood(&mut files, file)).collect();
    let completed = files.complete();
    let understood = Understood {
        files: seen,
        points: files.points.iter().map(point).collect(),
        taken: files.taken.clone(),
        notes: files.notes.iter().map(|note| sentence(note)).collect(),
    };
    let has_nothing = understood.points.is_empty();
    tell(&CalibrationNews::Understood(Box::new(understood)), has_nothing);
    if has_nothing {
        // Each file has its reason; a log alone is good for its settings.
        return Stage::Over;
    }
    let begun = completed
        .and_then(|()| files.observations(FitOn::All))
        .map_err(|error| error.to_string())
        .and_then(|points| {
            let count = points.len() as u32;
            let calibration = Calibration::new(points).map_err(|error| error.to_string())?;
            Ok(Fit::new(calibration, count))
        });
    match begun {
        Ok(fit) => Stage::Fit(Box::new(fit)),
        Err(message) => Stage::Refused(sentence(&message)),
    }
}

fn understood(files: &mut MeasuredFiles, file: &GivenFile) -> UnderstoodFile {
    let name = file.name.clone();
    match files.add(&file.name, &file.bytes) {
        Ok(Seen::Log(log)) => {
            let version = log.version.as_deref().unwrap_or("of unknown version");
            let what = ["start-up log of vLLM ", version].concat();
            UnderstoodFile { name, what, ..UnderstoodFile::default() }
        }
        Ok(Seen::Benchmark(found)) => of_benchmark(name, &found),
        Ok(Seen::Model(config)) => {
            let what = ["config.json of ", &config.family, ", in ", &config.precision].concat();
            UnderstoodFile { name, what, ..UnderstoodFile::default() }
        }
        Err(error) => UnderstoodFile {
            name,
            what: sentence(&error.to_string()),
            is_refused: true,
            ..UnderstoodFile::default()
        },
    }
}

fn of_benchmark(name: String, found: &Benchmark) -> UnderstoodFile {
    let points = quantity::counted(found.points.len() as u64, "point", "points");
    UnderstoodFile {
        name,
        what: [found.format.name(), ", ", &points].concat(),
        is_refused: false,
        skipped: found
            .skipped
            .iter()
            .map(|it| format!("Line {}: {}", it.line, sentence(&it.reason)))
            .collect(),
        skipped_total: found.skipped_total as u64,
    }
}

fn point(point: &MeasuredPoint) -> UnderstoodPoint {
    UnderstoodPoint {
        name: point.name.clone(),
        input_tokens: point.input_tokens,
        output_tokens: point.output_tokens,
        ttft_s: point.ttft.typical_s(),
        tpot_s: point.tpot.typical_s(),
        requests_per_s: measured::rate_of(point),
        is_overloaded: point.is_overloaded(),
    }
}

impl Fit {
    fn new(calibration: Calibration, points: u32) -> Self {
        Self {
            calibration,
            jobs: VecDeque::new(),
            running: None,
            runs: Vec::new(),
            done: 0,
            expected: ROUNDS * points,
            looks: 0,
        }
    }

    /// One small piece of it; what came out, once it is over.
    fn advance(
        &mut self,
        tell: &mut dyn FnMut(&CalibrationNews, bool),
    ) -> Result<Option<CalibrationOutcome>, String> {
        if let Some(simulation) = &mut self.running {
            self.looks += 1;
            let is_over = simulation.advance(EVENTS_PER_LOOK) == Progress::Done;
            if is_over && let Some(simulation) = self.running.take() {
                self.runs.push(simulation.finish());
                self.done += 1;
            }
            if is_over || self.looks.is_multiple_of(LOOKS_PER_SIGN) {
                let expected =
                    if self.expected > self.done { self.expected } else { self.done + 1 };
                tell(&CalibrationNews::Progress(self.done, expected), false);
            }
            return Ok(None);
        }
        if let Some(job) = self.jobs.pop_front() {
            self.running = Some(job.start().map_err(|error| sentence(&error.to_string()))?);
            return Ok(None);
        }
        if !self.runs.is_empty() {
            self.calibration.accept(&std::mem::take(&mut self.runs));
        }
        self.jobs = self.calibration.next_jobs().into();
        if !self.jobs.is_empty() {
            return Ok(None);
        }
        match self.calibration.answer() {
            Some(answer) => Ok(Some(outcome(answer))),
            None => Err(NO_ANSWER.to_owned()),
        }
    }
}

fn outcome(answer: &CalibrationAnswer) -> CalibrationOutcome {
    let constants = answer.constants.iter().map(|it| FittedConstant {
        key: it.key.to_owned(),
        before: it.before,
        after: it.after,
    });
    CalibrationOutcome {
        constants: constants.collect(),
        points: answer.points.iter().map(calibrated).collect(),
        fitted: answer.fitted,
    }
}

fn calibrated(point: &PointAnswer) -> CalibratedPoint {
    let time = |measured: fn(&Measured) -> Option<f64>,
                predicted: fn(&Predicted) -> Option<f64>| {
        CalibratedTime {
            measured_s: measured(&point.measured),
            before_s: predicted(&point.before),
            after_s: predicted(&point.after),
        }
    };
    CalibratedPoint {
        name: point.name.clone(),
        is_fitted: point.is_fitted,
        ttft: time(|it| it.ttft_s, |it| it.ttft_s),
        tpot: time(|it| it.tpot_s, |it| it.tpot_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &[u8])]) -> Vec<(CalibrationNews, bool)> {
        let files = files
            .iter()
            .map(|(name, bytes)| GivenFile { name: (*name).to_owned(), bytes: bytes.to_vec() })
            .collect();
        let asked = CalibrationAsked { link: Scenario::preset().to_link(), files };
        let mut task = begin(7, &protocol::pack(&asked));
        let mut news = Vec::new();
        let mut post = |message: FromWorker| match message {
            FromWorker::Calibration { generation: 7, packed, complete } => {
                news.push((protocol::unpack(&packed).unwrap(), complete));
            }
            other => panic!("{other:?}"),
        };
        while !task.advance(&mut post) {}
        news
    }

    fn understood(news: &[(CalibrationNews, bool)]) -> Understood {
        let CalibrationNews::Understood(found) = &news[0].0 else { panic!("{:?}", news[0]) };
        (**found).clone()
    }

    #[test]
    fn the_sample_is_read_and_fitted() {
        let news = told(&[("a.csv", measured::SAMPLE.as_bytes())]);
        let found = understood(&news);
        assert_eq!(found.points.len(), 6);
        assert_eq!(found.files[0].what, "table, 6 points");
        assert!(
            news.iter().any(|it| matches!(it.0, CalibrationNews::Progress(1, all) if all > 100))
        );
        let Some((CalibrationNews::Answer(answer), true)) = news.last() else { panic!("{news:?}") };
        let error = |is_after| answer.median_error(false, is_after).unwrap();
        assert!(error(false) > 0.2 && error(true) < 0.02, "{} {}", error(false), error(true));
        assert_eq!(answer.fitted, 6);
        assert_eq!(news.iter().filter(|it| it.1).count(), 1);
    }

    #[test]
    fn a_log_alone_gives_its_settings_and_no_fit() {
        let log = b"INFO Initializing a V1 LLM engine (v0.19.0) with config: model='Qwen/Qwen2.5-7B-Instruct', \
            tensor_parallel_size=2\nINFO GPU KV cache size: 400,000 tokens\nINFO # GPU blocks: 25000, # CPU blocks: 0\n";
        let news = told(&[("server.log", log)]);
        let found = understood(&news);
        assert_eq!(found.files[0].what, "start-up log of vLLM 0.19.0");
        for (key, value) in
            [("engine", "vllm@0.19"), ("deploy.tp", "2"), ("kv.num_gpu_blocks", "25000")]
        {
            assert!(found.taken.iter().any(|it| it.0 == key && it.1 == value), "{:?}", found.taken);
        }
        assert!(news.last().unwrap().1 && news.len() == 1);
    }

    #[test]
    fn hostile_files_are_refused_and_the_others_are_used() {
        let binary: Vec<u8> =
            (0..4_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let deep = "[".repeat(200_000);
        for bytes in [
            b"".as_slice(),
            b"{\"mean_ttft_ms\": 12, \"total_inp",
            &binary,
            b"PK\x03\x04rest",
            b"\x1f\x8b\x08\0\0\0\0\0cut",
            b"\xff\xfe{\0",
            deep.as_bytes(),
            b"a,b\n1,2\n",
        ] {
            let news = told(&[("bad.json", bytes)]);
            let file = understood(&news).files.swap_remove(0);
            assert!(
                file.is_refused && file.what.ends_with('.') && file.what.len() > 40,
                "{file:?}"
            );
            assert!(news.len() == 1 && news[0].1, "{news:?}");
        }
        let news = told(&[("bad", b"\0\x01"), ("good.csv", measured::SAMPLE.as_bytes())]);
        let found = understood(&news);
        assert!(found.files[0].is_refused && !found.files[1].is_refused);
        assert!(matches!(news.last(), Some((CalibrationNews::Answer(_), true))));
    }

    #[test]
    fn points_of_several_deployments_are_refused_after_they_are_told() {
        let text = b"model,concurrency,input_tokens,output_tokens,tpot_ms\nqwen2.5-7b,1,100,10,9\nllama-3.1-8b,2,100,10,9\n";
        let news = told(&[("two.csv", text)]);
        let Some((CalibrationNews::Refused(message), true)) = news.last() else {
            panic!("{news:?}")
        };
        assert!(message.contains("several deployments"), "{message}");
        assert_eq!(understood(&news).points.len(), 2);
    }
}
