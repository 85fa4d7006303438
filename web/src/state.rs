//! All that the page knows, as signals.
//!
//! One scenario is the truth. Everything else follows from it: the resolved numbers and the closed
//! form at once, the simulated answer when the worker has it.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use leptos::prelude::*;
use planner::{PlanAnswer, ProofAnswer, Remedy};
use protocol::Question;
use scenario::{Notice, Scenario};
use wasm_bindgen::{JsCast, prelude::Closure};

pub(crate) use crate::view::View;
use crate::{
    answered::{Answered, Resolution, Stand},
    browser::{self, Debounce, now_ms},
    controls::TYPING_MS,
    kept::Kept,
    late::{LatePart, Stage},
    memo::{effect, memo, on_change},
    recording::{Seldom, recording_in},
    steps::Steps,
    strings,
    views::{
        calibrate, fleet,
        plan::{decisions, pools_card},
    },
    worker_client::{Asked, Client, News},
};

/// Mover of what undo and redo bring back: many in a row are one entry of the browser's history.
const STEPPING: &str = "undo";
/// Changes closer together than this count as one drag, in milliseconds.
const BURST_MS: f64 = 250.0;
/// Rest after a burst before the full run, in milliseconds.
const REST_MS: u64 = 300;

/// Whether something is being simulated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Activity {
    /// Nothing to do.
    Idle,
    /// Jobs done of jobs in all.
    Running(u32, u32),
    /// The person stopped it.
    Cancelled,
    /// The scenario cannot be simulated; why.
    Refused(String),
    /// The worker died.
    Stopped {
        /// What it said.
        message: String,
        /// Whether it waits for the person.
        waits: bool,
    },
    /// The part of the page that this scenario needs did not come.
    NotLoaded,
}

/// The page's signals. Copies share them.
#[derive(Clone, Copy)]
pub(crate) struct State {
    /// What the person says: always the last good value of every setting.
    pub(crate) scenario: RwSignal<Scenario>,
    /// The same, told only when it differs; under a recording, with the recording's traffic.
    pub(crate) current: Memo<Scenario>,
    /// What the requests come from, if not from the scenario.
    pub(crate) recording: RwSignal<Option<Seldom>>,
    /// The rate at which the recording counts as made, requests per second.
    pub(crate) recorded_per_s: RwSignal<Option<f64>>,
    /// What is said of the file that was given last: that it is being read, or why it cannot be used.
    pub(crate) file_said: RwSignal<Option<String>>,
    /// Whether that file cannot be used.
    pub(crate) file_is_refused: RwSignal<bool>,
    /// What came of prefill and decode pools, and whether that is of an older scenario.
    pub(crate) pools: RwSignal<Option<Seldom>>,
    pub(crate) pools_are_stale: RwSignal<bool>,
    /// What is known of the calibration that was asked for last.
    pub(crate) calibration: RwSignal<Option<Seldom>>,
    /// What is known of the fleet over time.
    pub(crate) fleet: RwSignal<Option<Seldom>>,
    /// What the live region says of it.
    pub(crate) fleet_said: RwSignal<String>,
    /// What is asked beside the plan.
    pub(crate) decisions: RwSignal<Option<Seldom>>,
    /// What is known of two scenarios that are compared.
    pub(crate) compared: RwSignal<Option<Seldom>>,
    /// What the link says beside the scenario, each word with its `&`.
    pub(crate) words: RwSignal<String>,
    /// The toast beside which the recording is offered as a file.
    pub(crate) offer: RwSignal<Option<String>>,
    /// What the scenario resolves to.
    pub(crate) resolution: Memo<Resolution>,
    /// The last simulated answer, of whichever scenario.
    pub(crate) answered: RwSignal<Option<Arc<Answered>>>,
    /// Whether something is being simulated.
    pub(crate) activity: RwSignal<Activity>,
    /// Which view is shown.
    pub(crate) view: RwSignal<View>,
    /// What the proof of "How we know" has found; none before it is first looked at.
    pub(crate) proved: RwSignal<Option<Arc<ProofAnswer>>>,
    /// How long the proof took, in milliseconds; none while it is under way.
    pub(crate) proof_ms: RwSignal<Option<f64>>,
    /// What the opened link held that is not as written.
    pub(crate) notices: RwSignal<Vec<Notice>>,
    /// What has to be said of settings that were taken as written, or that another one shortened.
    pub(crate) cautions: RwSignal<Vec<Notice>>,
    /// Whether a pointer holds a slider.
    pub(crate) dragging: RwSignal<bool>,
    /// One line that goes away by itself.
    pub(crate) toast: RwSignal<Option<String>>,
    /// Settled scenarios, for undo and redo.
    pub(crate) steps: RwSignal<Steps>,
    /// Id of the control used last, for the phone's sheet.
    pub(crate) last_control: RwSignal<&'static str>,
    /// How far the phone's sheet is open, or the drawer.
    pub(crate) sheet: RwSignal<Sheet>,
    /// Whether the knee is shown as a table.
    pub(crate) knee_as_table: RwSignal<bool>,
    /// Texts that are in a field though not in force, and a link that was not taken as written.
    pub(crate) kept: Kept,
    /// Waits until typing rests, to keep what was typed.
    pub(crate) typing: Debounce,
    /// Which control made the last change by moving: its moves are one step until they rest.
    pub(crate) mover: StoredValue<&'static str>,
    /// Lengths that the last change cut, until they have been told.
    shortened: RwSignal<Vec<Notice>>,
    /// The part of the page that comes when it is needed.
    pub(crate) late: LatePart,
    client: StoredValue<Option<Client>, LocalStorage>,
    asked: StoredValue<LastAsked>,
    /// When the proof was asked for.
    proof_began_ms: StoredValue<f64>,
}

/// How far the controls are open where they don't stand beside the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sheet {
    /// One control; a closed drawer.
    Peek,
    /// Half the screen; an open drawer.
    Half,
    /// All of it.
    Full,
}

/// What was asked last, and when.
#[derive(Clone, Copy, Debug, Default)]
struct LastAsked {
    quick: bool,
    input_ms: f64,
}

impl State {
    /// Begins with a scenario and the notices of its link.
    pub(crate) fn new(
        first: Scenario,
        (view, words): (View, String),
        notices: Vec<Notice>,
        kept: Kept,
        late: LatePart,
    ) -> Self {
        let scenario = RwSignal::new(first.clone());
        let recording = RwSignal::new(None::<Seldom>);
        let current = memo(move |_| {
            let means = recording.with(|kept| {
                recording_in(kept).map(|recording| (recording.input.mean, recording.output.mean))
            });
            scenario.with(|scenario| match means {
                Some(means) => scenario.under_recording(means),
                None => scenario.clone(),
            })
        });
        let resolution = memo(move |_| late.resolution(current.get()));
        Self {
            scenario,
            current,
            recording,
            recorded_per_s: RwSignal::new(None),
            file_said: RwSignal::new(None),
            file_is_refused: RwSignal::new(false),
            pools: RwSignal::new(None),
            pools_are_stale: RwSignal::new(false),
            calibration: RwSignal::new(None),
            fleet: RwSignal::new(None),
            compared: RwSignal::new(None),
            decisions: RwSignal::new(None),
            words: RwSignal::new(words.clone()),
            fleet_said: RwSignal::new(String::new()),
            offer: RwSignal::new(None),
            resolution,
            answered: RwSignal::new(None),
            activity: RwSignal::new(Activity::Idle),
            view: RwSignal::new(view),
            proved: RwSignal::new(None),
            proof_ms: RwSignal::new(None),
            notices: RwSignal::new(notices),
            cautions: RwSignal::new(Vec::new()),
            dragging: RwSignal::new(false),
            toast: RwSignal::new(None),
            steps: RwSignal::new(Steps::new((first, words))),
            last_control: RwSignal::new("rate"),
            sheet: RwSignal::new(Sheet::Peek),
            knee_as_table: RwSignal::new(false),
            kept,
            typing: Debounce::new(TYPING_MS),
            mover: StoredValue::new(""),
            shortened: RwSignal::new(Vec::new()),
            late,
            client: StoredValue::new_local(None),
            asked: StoredValue::new(LastAsked::default()),
            proof_began_ms: StoredValue::new(0.0),
        }
    }

    /// Takes a changed scenario in as its link would be read: lengths beyond the context of the model
    /// are cut, and that is told. In one copy: every control calls it.
    pub(crate) fn change(self, scenario: Scenario) {
        self.change_by("", scenario);
    }

    /// The same, as one of the moves of a control. A deployment waits for what it is computed from.
    #[inline(never)]
    pub(crate) fn change_by(self, mover: &'static str, scenario: Scenario) {
        if scenario.deploy.is_asked_for() {
            self.late.before(Box::new(move || self.take_change(mover, scenario)));
        } else {
            self.take_change(mover, scenario);
        }
    }

    fn take_change(self, mover: &'static str, mut scenario: Scenario) {
        let shortened = scenario.limit_to_context();
        if !shortened.is_empty() {
            self.shortened.set(shortened);
        }
        self.put_in_force(mover, scenario);
    }

    /// Puts a scenario in force, as a step of its own or as one of the moves of a control.
    #[inline(never)]
    pub(crate) fn put_in_force(self, mover: &'static str, scenario: Scenario) {
        self.mover.set_value(mover);
        let words = self.words.get_untracked();
        self.steps.update(|steps| steps.take(&scenario, &words, mover));
        self.scenario.set(scenario);
    }

    /// Keeps the cautions those of the present scenario. What a person has dismissed stays away
    /// until there is something else to say.
    pub(crate) fn watch_cautions(self) {
        let told = RefCell::new(Vec::new());
        effect(move || {
            let mut now = self.shortened.get_untracked();
            if !now.is_empty() {
                self.shortened.set(Vec::new());
            }
            now.extend(self.lost_recording());
            now.append(&mut self.current.with(Scenario::cautions));
            if *told.borrow() != now {
                told.replace(now.clone());
                self.cautions.set(now);
            }
        });
    }

    /// Starts the worker and asks it whenever the scenario changes or a drag ends.
    pub(crate) fn simulate(self) {
        let client = Client::start(move |news| self.hear(news));
        self.client.set_value(Some(client));
        let rest = Debounce::new(REST_MS);
        self.ask(false);
        on_change(
            move || self.current.track(),
            move || {
                browser::mark("headroom:input");
                let now = now_ms();
                let last = self.asked.with_value(|asked| asked.input_ms);
                self.asked.update_value(|asked| asked.input_ms = now);
                let quick = self.dragging.get_untracked() || now - last < BURST_MS;
                self.ask(quick);
                if quick {
                    rest.call(move || self.ask_fully());
                }
            },
        );
        on_change(move || self.late.stage.track(), move || self.hear_of_late_part());
        let was_fleet = Cell::new(self.is_fleet());
        on_change(
            move || self.view.track(),
            move || {
                if was_fleet.replace(self.is_fleet()) != self.is_fleet() {
                    self.ask_in_view();
                }
            },
        );
        on_change(
            move || self.dragging.track(),
            move || {
                if !self.dragging.get_untracked() {
                    self.ask_fully();
                }
            },
        );
    }

    /// The full run that follows quick ones, once nothing is held any more.
    fn ask_fully(self) {
        if self.is_quick() && !self.dragging.get_untracked() {
            self.ask(false);
        }
    }

    /// Whether what was asked last was one run only, while a slider moves. Whoever follows the
    /// activity hears of it.
    pub(crate) fn is_quick(self) -> bool {
        self.asked.with_value(|asked| asked.quick)
    }

    pub(crate) fn ask(self, quick: bool) {
        if matches!(self.activity.get_untracked(), Activity::Stopped { waits: true, .. }) {
            return;
        }
        self.asked.update_value(|asked| asked.quick = quick);
        if self.is_fleet() {
            self.ask_fleet();
            return;
        }
        let Some(asked) = self.question(quick) else {
            // The scenario itself says why it has no answer, the late part what would help.
            self.with_client(Client::cancel);
            self.late.want();
            let is_known = self.resolution.with_untracked(|resolution| resolution.is_final);
            self.activity.set(if is_known { Activity::Idle } else { Activity::Running(0, 0) });
            return;
        };
        if asked.question.wants_late_part() {
            self.late.want();
        }
        // A worker that is being replaced keeps its notice; it finds the question when it is ready.
        if !matches!(self.activity.get_untracked(), Activity::Stopped { .. }) {
            self.activity.set(Activity::Running(0, 0));
        }
        self.with_client(|client| client.ask(asked));
    }

    fn is_fleet(self) -> bool {
        self.view.get_untracked() == View::Fleet
    }

    /// The view asks something else of the worker than the last one.
    fn ask_in_view(self) {
        self.with_client(Client::cancel);
        // A control that both have.
        self.last_control.set("rate");
        let is_known = self.answered.with_untracked(|answered| {
            let answered = answered.as_ref().filter(|answered| answered.is_complete());
            answered.is_some_and(|a| self.current.with_untracked(|now| a.is_of(now)))
        });
        if is_known && !self.is_fleet() {
            self.activity.set(Activity::Idle);
        } else {
            self.ask(false);
        }
    }

    /// Has the fleet simulated once no slider moves any more, and once there is what simulates it.
    fn ask_fleet(self) {
        self.with_client(Client::cancel);
        let is_here = self.late.stage.get_untracked() == Stage::Here;
        if is_here && !self.is_quick() {
            fleet::ask(self);
            return;
        }
        if !is_here {
            self.late.want();
        }
        if !matches!(self.activity.get_untracked(), Activity::Stopped { .. }) {
            self.activity.set(Activity::Running(0, 0));
        }
    }

    /// The worker needs the late part, too; whoever waits for it in vain is told.
    fn hear_of_late_part(self) {
        match self.late.stage.get_untracked() {
            Stage::Here => {
                let module = self.late.module.with_value(Clone::clone);
                self.with_client(|client| client.take_late_part(module));
                if self.is_fleet() || self.question(false).is_none() {
                    self.ask(false);
                }
            }
            Stage::Failed => {
                let waits = self.question(false).map(|q| q.question.wants_late_part());
                if waits == Some(true) || self.is_fleet() {
                    self.activity.set(Activity::NotLoaded);
                } else if waits.is_none() {
                    self.activity.set(Activity::Idle);
                }
                self.reader_failed();
            }
            Stage::Absent | Stage::Loading => {}
        }
    }

    /// What to ask the worker; none if the scenario does not resolve to numbers.
    pub(crate) fn question(self, quick: bool) -> Option<Asked> {
        let resolution = self.resolution.get_untracked();
        let mut question = match resolution.outcome.as_ref() {
            Ok((resolved, _)) => Question::of(resolved)?,
            Err(_) => return None,
        };
        if let Some(recorded_per_s) = self.recorded_per_s.get_untracked() {
            question.ask_of_recording(recorded_per_s);
        }
        let input_ms = self.asked.with_value(|asked| asked.input_ms);
        Some(Asked { resolution, question, quick, input_ms })
    }

    pub(crate) fn with_client(self, then: impl FnOnce(&Client)) {
        let client = self.client.with_value(Clone::clone);
        if let Some(client) = client {
            then(&client);
        }
    }

    /// Runs the present scenario again.
    pub(crate) fn run_again(self) {
        self.ask(false);
    }

    /// Shows a view, unless it is the one that is shown.
    pub(crate) fn show(self, view: View) {
        if self.view.get_untracked() != view {
            self.view.set(view);
        }
    }

    /// Proves the simulator's truths: at first with the seed that the command line begins with, then
    /// with the next.
    pub(crate) fn prove(self) {
        let seed = self.proved.with_untracked(|proved| proved.as_ref().map_or(1, |p| p.seed + 1));
        self.proof_began_ms.set_value(now_ms());
        self.proof_ms.set(None);
        self.with_client(|client| client.prove(seed));
    }

    /// Stops the run, leaving the closed form.
    pub(crate) fn stop(self) {
        if matches!(self.activity.get_untracked(), Activity::Running(..)) {
            self.with_client(Client::cancel);
            self.activity.set(Activity::Cancelled);
        }
    }

    /// Whether another scenario is pinned, to compare with.
    pub(crate) fn is_pinned(self) -> bool {
        self.words.with(|words| words.contains("&versus="))
    }

    /// A fresh worker after the last one died twice; once more what did not load.
    pub(crate) fn start_again(self) {
        if self.activity.get_untracked() == Activity::NotLoaded {
            self.ask(false);
            return;
        }
        let asked = self.question(false).filter(|_| !self.is_fleet());
        self.activity.set(if asked.is_some() { Activity::Running(0, 0) } else { Activity::Idle });
        self.with_client(|client| client.start_again(asked));
        if self.is_fleet() {
            self.ask(false);
        }
    }

    fn hear(self, news: News) {
        match news {
            News::Progress(done, total) => self.activity.set(Activity::Running(done, total)),
            News::Answer { asked, answer, complete } => self.take(asked, *answer, complete),
            News::Proof(answer) => {
                if answer.is_complete() {
                    self.proof_ms.set(Some(now_ms() - self.proof_began_ms.get_value()));
                }
                self.proved.set(Some(Arc::from(answer)));
            }
            News::Pools(packed) => pools_card::take(self, &packed),
            News::Long(packed, complete) => {
                let take = if self.is_fleet() { fleet::take } else { decisions::take };
                take(self, &packed, complete);
            }
            News::Calibration(packed, complete) => {
                calibrate::take(self, packed.as_deref(), complete);
            }
            News::FileRead(is_recording, packed) => self.hear_of_file(is_recording, &packed),
            News::FileTooMuch => self.refuse_file(strings::TOO_MUCH_TO_READ.to_owned()),
            News::File(file) => self.keep_file(&file),
            News::Refused { asked, message } => {
                if asked.resolution.scenario == self.current.get_untracked() {
                    self.activity.set(Activity::Refused(message));
                }
            }
            News::Died { message, waits } => {
                // What was said of the last one no longer holds.
                self.toast.set(None);
                self.activity.set(Activity::Stopped { message, waits });
            }
            News::Revived { silent_ms } => {
                self.toast.set(Some(strings::revived(silent_ms)));
                self.activity.set(Activity::Idle);
                self.ask(false);
            }
        }
    }

    fn take(self, asked: Asked, answer: PlanAnswer, complete: bool) {
        let Asked { resolution, input_ms, quick, .. } = asked;
        let is_current = resolution.scenario == self.current.get_untracked();
        let is_last_word = complete && (!quick || resolution.scenario.sim.replications <= 1);
        let stand = if is_last_word { Stand::Complete } else { Stand::FirstRun };
        self.answered.set(Some(Arc::new(Answered { resolution, answer, stand, input_ms })));
        if complete && is_current {
            self.activity.set(Activity::Idle);
        }
        if is_last_word && is_current {
            self.late.expect();
        }
    }

    /// A pointer took hold of a slider; the window tells when it lets go, wherever that is.
    pub(crate) fn hold(self) {
        if self.dragging.get_untracked() {
            return;
        }
        self.dragging.set(true);
        let let_go = Closure::once_into_js(move || self.dragging.set(false));
        let options = web_sys::AddEventListenerOptions::new();
        options.set_once(true);
        for event in ["pointerup", "pointercancel"] {
            let _ = window().add_event_listener_with_callback_and_add_event_listener_options(
                event,
                let_go.unchecked_ref(),
                &options,
            );
        }
    }

    /// Undoes or does again one change.
    pub(crate) fn step(self, back: bool) {
        let settled = self.steps.try_update(|steps| steps.step(back)).flatten();
        if let Some((scenario, words)) = settled {
            self.words.set(words);
            self.put_in_force(STEPPING, scenario);
        }
    }

    /// Halves the replications, at least to 1, and starts again.
    pub(crate) fn use_fewer_runs(self) {
        let mut scenario = self.scenario.get_untracked();
        let runs = scenario.sim.replications / 2;
        scenario.sim.replications = if runs < 1 { 1 } else { runs };
        self.put_in_force("", scenario);
        self.start_again();
    }

    /// Four times as many requests in each run: intervals half as wide.
    pub(crate) fn run_longer(self) {
        let requests = self.scenario.with_untracked(|scenario| scenario.sim.requests);
        self.apply("sim.requests", &requests.saturating_mul(4).to_string());
    }

    /// Opens the controls where they are folded away, at one of them.
    pub(crate) fn open_at(self, control: &'static str) {
        self.last_control.set(control);
        self.sheet.set(Sheet::Half);
        request_animation_frame(move || {
            let id = format!("control-{control}");
            let Some(element) = document().get_element_by_id(&id) else { return };
            element.scroll_into_view();
            // The slider before the field, which would open a keyboard over half the screen.
            let find = |selector| element.query_selector(selector).ok().flatten();
            let target = find("input[type=range]").or_else(|| find("button, input"));
            if let Some(target) = target {
                browser::focus(&target);
            }
        });
    }

    /// Sets one key of the scenario as a link would.
    pub(crate) fn apply(self, key: &str, value: &str) {
        self.apply_change(&Remedy::new(key, value.to_owned(), String::new()));
    }

    /// Makes all changes of a remedy, or none.
    pub(crate) fn apply_change(self, change: &Remedy) {
        let mut scenario = self.scenario.get_untracked();
        if change.changes().all(|(key, value)| scenario.set(key, value).is_ok()) {
            self.change(scenario);
        }
    }
}
