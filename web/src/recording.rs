//! A recording in the place of the scenario's own requests: a file that the person gives, read by the
//! worker, which keeps what is in it.

use std::{any::Any, sync::Arc, time::Duration};

use leptos::prelude::*;
use protocol::Recording;
use scenario::{Notice, NoticeKind, Scenario};
use wasm_bindgen::JsCast;
use web_sys::{Blob, FileList, HtmlElement, Url};

use crate::{
    browser,
    kept::RECORDING,
    state::{Sheet, State},
    strings,
    worker_client::Client,
};

/// How long the browser may take to begin with a file that it is to keep, in milliseconds.
const KEEP_MS: u64 = 10_000;

/// What few visitors get, of one type: signals of as many types as there are such things would be
/// copies of the same code.
pub(crate) type Seldom = Arc<dyn Any + Send + Sync>;

/// The recording that is kept, if it is one.
pub(crate) fn recording_in(kept: &Option<Seldom>) -> Option<&Recording> {
    kept.as_ref()?.downcast_ref()
}

/// What became of a file: a recording, or the reason why it is none. A door, as thin as can be: the
/// page loads what is behind it when somebody brings a file.
#[inline(never)]
fn unpacked(is_recording: bool, packed: &[u8]) -> Result<Arc<Recording>, String> {
    unpacked_late(is_recording, packed)
}

#[inline(never)]
fn unpacked_late(is_recording: bool, packed: &[u8]) -> Result<Arc<Recording>, String> {
    if is_recording {
        return protocol::unpack(packed).map(Arc::new).ok_or_else(String::new);
    }
    Err(protocol::unpack(packed).unwrap_or_default())
}

impl State {
    /// Reads the first of some files as a recording, and shows what becomes of it.
    pub(crate) fn open_file(self, files: Option<FileList>) {
        let Some(file) = files.and_then(|files| files.get(0)) else { return };
        self.file_is_refused.set(false);
        self.file_said.set(Some(strings::reading(&file.name())));
        self.show_recording();
        self.late.want();
        self.with_client(|client| client.record(file));
    }

    /// Opens the group that tells of it where it is closed: there a file was dropped.
    fn show_recording(self) {
        let closed = "[aria-controls=fold-recording][aria-expanded=false]";
        let button = document().query_selector(closed).ok().flatten();
        let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) else {
            return;
        };
        if self.sheet.get_untracked() == Sheet::Peek {
            self.sheet.set(Sheet::Half);
        }
        button.click();
        button.scroll_into_view();
    }

    /// What the worker made of the last file.
    pub(crate) fn hear_of_file(self, is_recording: bool, packed: &[u8]) {
        match unpacked(is_recording, packed) {
            Ok(recording) => self.take_recording(recording),
            Err(message) => self.refuse_file(message),
        }
    }

    /// A file was understood: its requests take the place of the scenario's own. One that a page
    /// saved brings its scenario with it.
    fn take_recording(self, recording: Arc<Recording>) {
        self.file_said.set(None);
        let mut recorded_per_s = recording.mean_rate_per_s;
        if let Some(saved) = &recording.saved {
            let parsed = Scenario::from_link(&saved.link);
            recorded_per_s = saved.recorded_per_s;
            self.notices.set(parsed.notices);
            self.scenario.set(parsed.scenario);
        }
        self.toast.set(Some(strings::recording_taken(&recording.name, recording.requests)));
        self.replace_recording(Some(recording), Some(recorded_per_s));
    }

    /// Back to the scenario's own requests.
    pub(crate) fn forget_recording(self) {
        self.with_client(Client::forget_recording);
        self.replace_recording(None, None);
    }

    /// That the recording has to be chosen again: a page that was loaded anew has only its name.
    pub(crate) fn lost_recording(self) -> Option<Notice> {
        self.kept.track();
        let name = self.lost_name()?;
        let message = strings::choose_again(&name);
        Some(Notice { key: String::new(), value: name, kind: NoticeKind::NoEffect, message })
    }

    /// The name of a recording that is not there.
    pub(crate) fn lost_name(self) -> Option<String> {
        let is_there = self.recording.with(Option::is_some);
        self.kept.get(RECORDING).filter(|_| !is_there)
    }

    /// The person has read that a recording has to be chosen again.
    pub(crate) fn forget_lost_recording(self) {
        if untrack(|| self.lost_name()).is_some() {
            self.kept.keep(RECORDING, None);
        }
    }

    /// Another entry of the browser's history is shown; the recording stays.
    pub(crate) fn keep_recording_name(self) {
        self.recording.with_untracked(|kept| {
            if let Some(recording) = recording_in(kept) {
                self.kept.keep(RECORDING, Some(&recording.name));
            }
        });
    }

    /// Takes the recording as made at another rate, requests per second.
    pub(crate) fn record_at(self, recorded_per_s: f64) {
        self.recorded_per_s.set(Some(recorded_per_s));
        self.forget_answers();
        self.ask(false);
    }

    /// An answer about other requests is none, however alike the settings are.
    fn forget_answers(self) {
        self.answered.set(None);
        self.fleet.set(None);
    }

    fn replace_recording(self, recording: Option<Arc<Recording>>, recorded_per_s: Option<f64>) {
        self.kept.keep(RECORDING, recording.as_ref().map(|recording| &*recording.name));
        self.forget_answers();
        self.recorded_per_s.set(recorded_per_s);
        self.recording.set(recording.map(|recording| recording as Seldom));
        self.ask(false);
    }

    /// A file cannot be used. An earlier recording stays.
    pub(crate) fn refuse_file(self, message: String) {
        self.file_is_refused.set(true);
        self.file_said.set(Some(message));
    }

    /// What reads files did not come.
    pub(crate) fn reader_failed(self) {
        let is_read = self.file_said.with_untracked(Option::is_some);
        if is_read && !self.file_is_refused.get_untracked() {
            self.refuse_file(strings::READER_NOT_LOADED.to_owned());
        }
    }

    /// Lets the person keep the recording, with the scenario and the rate it counts as made at.
    pub(crate) fn save_recording(self) {
        let rate = quantity::editable(self.recorded_per_s.get_untracked().unwrap_or(1.0));
        let link = self.scenario.with_untracked(Scenario::to_link);
        self.with_client(|client| client.write_recording([&rate, "&", &link].concat()));
    }

    /// The recording came as a file.
    pub(crate) fn keep_file(self, file: &Blob) {
        let Ok(address) = Url::create_object_url_with_blob(file) else { return };
        let name = self.recording.with_untracked(|recording| {
            let name = recording_in(recording).map_or("", |recording| &recording.name);
            [name.split('.').next().unwrap_or_default(), ".headroom.csv"].concat()
        });
        browser::save(&address, &name);
        self.toast.set(Some(strings::saved_as(&name)));
        let revoke = move || drop(Url::revoke_object_url(&address));
        set_timeout(revoke, Duration::from_millis(KEEP_MS));
    }
}
