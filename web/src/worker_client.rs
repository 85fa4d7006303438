//! The page's side of the worker: one question under way, at most one waiting, and a fresh worker
//! when one dies.

mod asides;
mod link;

use std::{cell::RefCell, rc::Rc, time::Duration};

use js_sys::Uint8Array;
use leptos::prelude::{IntervalHandle, set_interval_with_handle, set_timeout};
use planner::{PlanAnswer, ProofAnswer};
use protocol::{BUILD_ID, FromWorker, PROTOCOL, PoolsAsked, Question, ToWorker};
use sim_worker::late;
use wasm_bindgen::{JsCast, JsValue, prelude::Closure};
use web_sys::{Blob, Event, File, MessageEvent};

pub(crate) use link::{Link, script};

use crate::{answered::Resolution, browser::now_ms};

/// Silence after which a busy worker counts as dead, in milliseconds.
const SILENCE_MS: f64 = 10_000.0;
/// The same while it reads a file, which it does in one go.
const READING_MS: f64 = 120_000.0;
/// How often the watchdog looks, in milliseconds.
const LOOK_MS: u64 = 1_000;
/// Rest before a fresh worker, in milliseconds.
pub(crate) const RESPAWN_MS: u64 = 400;
/// Two deaths within this time, and the person decides.
const PATIENCE_MS: f64 = 60_000.0;

/// What the page asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    /// The settings.
    pub(crate) resolution: Resolution,
    /// Their numbers.
    pub(crate) question: Question,
    /// One replication only.
    pub(crate) quick: bool,
    /// When the person made the change, for measuring.
    pub(crate) input_ms: f64,
}

/// What comes of it.
#[derive(Clone, Debug)]
pub(crate) enum News {
    /// Jobs done of jobs in all.
    Progress(u32, u32),
    /// An answer to this question; `complete` is false while it will still narrow.
    Answer { asked: Asked, answer: Box<PlanAnswer>, complete: bool },
    /// What a proof has found so far.
    Proof(Box<ProofAnswer>),
    /// What came of the pools that were asked for last.
    Pools(Vec<u8>),
    /// How far the long question is that was asked last, or what came of it; whether that was all.
    Long(Vec<u8>, bool),
    /// What is told of the calibration that was asked for last, and whether that was all; nothing where the
    /// worker died of it.
    Calibration(Option<Vec<u8>>, bool),
    /// What became of the last file that was given: whether it is a recording, and what is told of it.
    FileRead(bool, Vec<u8>),
    /// The worker died of it.
    FileTooMuch,
    /// The recording as a file to keep.
    File(Blob),
    /// The scenario cannot be simulated.
    Refused { asked: Asked, message: String },
    /// The worker died. `waits` means that only [`Client::start_again`] brings a new one.
    Died { message: String, waits: bool },
    /// A fresh worker took over by itself, so long after the last sign of the old one.
    Revived { silent_ms: f64 },
}

/// The client. Clones share one worker.
#[derive(Clone)]
pub(crate) struct Client {
    inner: Rc<RefCell<Inner>>,
    tell: Rc<dyn Fn(News)>,
}

#[derive(Default)]
struct Inner {
    link: Option<Link>,
    ready: bool,
    generation: u64,
    flight: Option<(u64, Asked)>,
    waiting: Option<Asked>,
    /// Generation and seed of the proof under way; a fresh worker is asked for it again.
    proof: Option<(u64, u64)>,
    /// Generation of the pools under way, and what was asked; a fresh worker is asked again.
    pools: Option<(u64, Box<Question>, PoolsAsked)>,
    /// The same of a fleet over time, or of another long question.
    long: Option<(u64, Vec<u8>)>,
    /// Generation of the calibration under way; what it is asked with, until it is asked.
    calibration: Option<(u64, Option<Vec<u8>>)>,
    /// The file of the recording; a fresh worker gets it again.
    file: Option<File>,
    /// A file that is to become the recording.
    candidate: Option<File>,
    /// The files that the worker is to be heard of, and whether each is the candidate.
    unheard: Vec<bool>,
    /// The late part of the module, compiled, once it is there.
    late: Option<JsValue>,
    last_sign_ms: f64,
    last_look_ms: f64,
    /// When the worker was last heard of that a fresh one is to replace.
    lost_ms: Option<f64>,
    deaths_ms: Vec<f64>,
    halted: bool,
    watchdog: Option<IntervalHandle>,
}

impl Inner {
    /// Whether the worker has what this question needs.
    fn can_answer(&self, asked: &Asked) -> bool {
        !asked.question.wants_late_part() || self.is_whole()
    }

    /// Whether the worker has the late part, or will have it before whatever is asked now.
    fn is_whole(&self) -> bool {
        self.late.is_some() || !late::is_apart()
    }
}

impl Client {
    /// Starts a worker. `tell` hears all news.
    pub(crate) fn start(tell: impl Fn(News) + 'static) -> Self {
        let client = Self { inner: Rc::default(), tell: Rc::new(tell) };
        client.spawn();
        let watched = client.clone();
        let look = move || watched.look();
        let watchdog = set_interval_with_handle(look, Duration::from_millis(LOOK_MS)).ok();
        client.inner.borrow_mut().watchdog = watchdog;
        client
    }

    /// Asks. While a quick question is under way another quick one waits for it, so that a drag
    /// always shows something and the worker is never more than one question behind; everything
    /// else is replaced at once.
    pub(crate) fn ask(&self, asked: Asked) {
        let waits = {
            let inner = self.inner.borrow();
            let behind = inner.flight.as_ref().is_some_and(|(_, flying)| flying.quick);
            !inner.ready || !inner.can_answer(&asked) || (asked.quick && behind)
        };
        if waits {
            self.inner.borrow_mut().waiting = Some(asked);
        } else {
            self.send(asked);
        }
    }

    /// Takes the late part of the module, with which every question can be answered. It reaches a
    /// worker before whatever needs it.
    pub(crate) fn take_late_part(&self, module: JsValue) {
        let waiting = {
            let mut inner = self.inner.borrow_mut();
            inner.late = Some(module);
            if !inner.ready {
                return;
            }
            inner.waiting.take()
        };
        self.post_late_part();
        self.post_proof();
        self.post_files();
        self.post_pools();
        self.post_long();
        self.post_calibration();
        if let Some(asked) = waiting {
            self.ask(asked);
        }
    }

    /// Drops whatever is under way or waiting.
    pub(crate) fn cancel(&self) {
        let running = {
            let mut inner = self.inner.borrow_mut();
            inner.waiting = None;
            let flight = inner.flight.take().map(|(generation, _)| generation);
            [flight, inner.long.take().map(|(generation, _)| generation)]
        };
        for generation in running.into_iter().flatten() {
            self.post(&ToWorker::Cancel { generation });
        }
    }

    /// Has a file read, which takes the place of the recording if it is one.
    pub(crate) fn record(&self, file: File) {
        self.inner.borrow_mut().candidate = Some(file);
        self.post_candidate();
    }

    /// Gives a fresh worker the files that the last one had.
    fn post_files(&self) {
        let file = self.inner.borrow().file.clone();
        if let Some(file) = file {
            self.post_file(&file, false);
        }
        self.post_candidate();
    }

    fn post_candidate(&self) {
        let candidate = self.inner.borrow().candidate.clone();
        if let Some(file) = candidate {
            self.post_file(&file, true);
        }
    }

    /// Gives the worker a file, if it is there and can read it.
    fn post_file(&self, file: &File, is_candidate: bool) {
        {
            let mut inner = self.inner.borrow_mut();
            if !inner.ready || !inner.is_whole() {
                return;
            }
            if is_candidate {
                inner.unheard.fill(false);
            }
            inner.unheard.push(is_candidate);
            inner.last_sign_ms = now_ms();
        }
        self.pass(file);
    }

    /// There is no recording any more.
    pub(crate) fn forget_recording(&self) {
        if self.inner.borrow_mut().file.take().is_some() {
            self.post(&ToWorker::ForgetRecording);
        }
    }

    /// Asks for the recording as a file, under a line that ends in this link.
    pub(crate) fn write_recording(&self, link: String) {
        self.post(&ToWorker::WriteRecording { link });
    }

    /// What became of a file. Only the candidate is told of, and once.
    fn hear_of_file(&self, is_recording: bool, packed: Vec<u8>) {
        let is_candidate = {
            let mut inner = self.inner.borrow_mut();
            let is_candidate = !inner.unheard.is_empty() && inner.unheard.remove(0);
            if is_candidate {
                let candidate = inner.candidate.take();
                if is_recording {
                    inner.file = candidate;
                }
            }
            is_candidate
        };
        if is_candidate {
            (self.tell)(News::FileRead(is_recording, packed));
        }
    }

    /// What a worker dies of while it reads a file is the file.
    fn blame_candidate(&self) {
        let is_read = {
            let mut inner = self.inner.borrow_mut();
            let is_read = inner.unheard.iter().any(|&is_candidate| is_candidate);
            inner.unheard.clear();
            if is_read {
                inner.candidate = None;
            }
            is_read
        };
        if is_read {
            (self.tell)(News::FileTooMuch);
        }
    }

    /// The person asked for a fresh worker.
    pub(crate) fn start_again(&self, asked: Option<Asked>) {
        {
            let mut inner = self.inner.borrow_mut();
            inner.deaths_ms.clear();
            inner.lost_ms = None;
            inner.halted = false;
            inner.flight = None;
            inner.waiting = asked;
        }
        self.spawn();
    }

    fn send(&self, asked: Asked) {
        let generation = {
            let mut inner = self.inner.borrow_mut();
            inner.generation += 1;
            inner.waiting = None;
            inner.last_sign_ms = now_ms();
            inner.flight = Some((inner.generation, asked.clone()));
            inner.generation
        };
        let Asked { question, quick, .. } = asked;
        self.post(&ToWorker::Plan { generation, question: Box::new(question), quick });
    }

    fn post(&self, message: &ToWorker) {
        match protocol::encode(message) {
            Ok(bytes) => self.pass(&Uint8Array::from(&bytes[..])),
            Err(error) => self.die(error.to_string()),
        }
    }

    fn post_late_part(&self) {
        let late = self.inner.borrow().late.clone();
        if let Some(module) = late {
            self.pass(&module);
        }
    }

    fn pass(&self, message: &JsValue) {
        let passed = {
            let inner = self.inner.borrow();
            let Some(link) = &inner.link else { return };
            link.pass(message)
        };
        if !passed {
            self.die("the browser could not pass a message".to_owned());
        }
    }

    fn spawn(&self) {
        match self.connect() {
            Ok(link) => {
                let mut inner = self.inner.borrow_mut();
                inner.ready = false;
                inner.last_sign_ms = now_ms();
                inner.link = Some(link);
            }
            Err(message) => self.die(message),
        }
    }

    fn connect(&self) -> Result<Link, String> {
        let (listener, faulty) = (self.clone(), self.clone());
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let data = event.data();
            if let Some(file) = data.dyn_ref::<Blob>() {
                return (listener.tell)(News::File(file.clone()));
            }
            let bytes = Uint8Array::new(&data).to_vec();
            match protocol::decode(&bytes) {
                Ok(message) => listener.hear(message),
                Err(error) => listener.die(error.to_string()),
            }
        });
        let on_error = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            event.prevent_default();
            faulty.inner.borrow_mut().last_sign_ms = now_ms();
            let message = event.dyn_ref::<web_sys::ErrorEvent>().map(web_sys::ErrorEvent::message);
            let known = message.filter(|message| !message.is_empty());
            faulty.die(known.unwrap_or_else(|| "the worker could not be loaded".to_owned()));
        });
        Link::open(on_message, on_error)
    }

    fn hear(&self, message: FromWorker) {
        self.inner.borrow_mut().last_sign_ms = now_ms();
        match message {
            FromWorker::Ready { protocol, build_id } => self.greet(protocol, &build_id),
            FromWorker::Panicked { message } => self.die(message),
            FromWorker::Progress { generation, done, total } => {
                if self.flying(generation).is_some() {
                    (self.tell)(News::Progress(done, total));
                }
            }
            FromWorker::Answer { generation, answer, complete } => {
                if let Some(asked) = self.flying(generation) {
                    self.land(complete);
                    (self.tell)(News::Answer { asked, answer, complete });
                }
            }
            FromWorker::Proof { generation, answer } => self.hear_proof(generation, answer),
            FromWorker::Pools { generation, packed } => self.hear_of_pools(generation, packed),
            FromWorker::Long { generation, packed, complete } => {
                self.hear_of_long(generation, packed, complete);
            }
            FromWorker::Calibration { generation, packed, complete } => {
                self.hear_of_calibration(generation, packed, complete);
            }
            FromWorker::FileRead { is_recording, packed } => {
                self.hear_of_file(is_recording, packed);
            }
            FromWorker::Refused { generation, message } => {
                if let Some(asked) = self.flying(generation) {
                    self.land(true);
                    (self.tell)(News::Refused { asked, message });
                }
            }
        }
    }

    fn hear_proof(&self, generation: u64, answer: Box<ProofAnswer>) {
        {
            let mut inner = self.inner.borrow_mut();
            if inner.proof.is_none_or(|(current, _)| current != generation) {
                return;
            }
            if answer.is_complete() {
                inner.proof = None;
            }
        }
        (self.tell)(News::Proof(answer));
    }

    /// The question of this generation, unless it is an old one.
    fn flying(&self, generation: u64) -> Option<Asked> {
        let inner = self.inner.borrow();
        inner.flight.as_ref().filter(|(flying, _)| *flying == generation).map(|(_, q)| q.clone())
    }

    /// The question under way is answered; the next one may go.
    fn land(&self, complete: bool) {
        if !complete {
            return;
        }
        let next = {
            let mut inner = self.inner.borrow_mut();
            inner.flight = None;
            inner.waiting.take()
        };
        if let Some(asked) = next {
            self.ask(asked);
        }
    }

    fn greet(&self, protocol: u32, build_id: &str) {
        if protocol != PROTOCOL || build_id != BUILD_ID {
            let message = format!(
                "the page is build {BUILD_ID} and the worker is build {build_id}; reload the page"
            );
            // A fresh worker would be of the same build: as good as a second death.
            self.inner.borrow_mut().deaths_ms.push(now_ms());
            self.die(message);
            return;
        }
        let (next, lost_ms) = {
            let mut inner = self.inner.borrow_mut();
            inner.ready = true;
            (inner.waiting.take(), inner.lost_ms.take())
        };
        self.post_late_part();
        self.post_proof();
        self.post_files();
        self.post_pools();
        self.post_long();
        self.post_calibration();
        if let Some(lost_ms) = lost_ms {
            (self.tell)(News::Revived { silent_ms: now_ms() - lost_ms });
        }
        if let Some(asked) = next {
            self.ask(asked);
        }
    }

    /// Whether a busy or a starting worker has gone silent. After a sleep of the whole machine the
    /// clock has jumped, and the worker gets its time again.
    fn look(&self) {
        let now = now_ms();
        let silent = {
            let mut inner = self.inner.borrow_mut();
            if now - inner.last_look_ms > 3.0 * LOOK_MS as f64 {
                inner.last_sign_ms = now;
            }
            inner.last_look_ms = now;
            let reads = !inner.unheard.is_empty();
            let reads = reads || inner.calibration.is_some();
            let busy =
                reads || inner.flight.is_some() || inner.proof.is_some() || inner.long.is_some();
            let expects = inner.link.is_some() && (busy || !inner.ready);
            let patience_ms = if reads { READING_MS } else { SILENCE_MS };
            expects && now - inner.last_sign_ms > patience_ms
        };
        if silent {
            self.die("the worker has not answered for 10 seconds".to_owned());
        }
    }

    /// Ends the worker, keeps the question, and starts a fresh one unless that just failed.
    fn die(&self, message: String) {
        self.blame_candidate();
        self.blame_calibration();
        let waits = {
            let mut inner = self.inner.borrow_mut();
            if inner.halted {
                return;
            }
            let now = now_ms();
            let last_sign_ms = inner.last_sign_ms;
            inner.ready = false;
            inner.lost_ms.get_or_insert(last_sign_ms);
            if let Some((_, asked)) = inner.flight.take() {
                inner.waiting.get_or_insert(asked);
            }
            inner.deaths_ms.retain(|then| now - then < PATIENCE_MS);
            inner.deaths_ms.push(now);
            inner.halted = inner.deaths_ms.len() > 1;
            // Dropping the link inside one of its own callbacks would free the running closure.
            if let Some(link) = inner.link.take() {
                link.end();
                set_timeout(move || drop(link), Duration::ZERO);
            }
            inner.halted
        };
        (self.tell)(News::Died { message, waits });
        if !waits {
            let client = self.clone();
            set_timeout(move || client.spawn(), Duration::from_millis(RESPAWN_MS));
        }
    }
}
