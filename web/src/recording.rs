//! A recording in the place of the scenario's own requests: a file that the person gives, read by the
//! worker, which keeps what is in it.

use std::{sync::Arc, time::Duration};

use leptos::prelude::*;
use protocol::Recording;
use scenario::Scenario;
use wasm_bindgen::JsCast;
use web_sys::{Blob, FileList, HtmlElement, Url};

use crate::{
    browser,
    state::{Sheet, State},
    strings,
    worker_client::Client,
};

/// How long the browser may take to begin with a file that it is to keep, in milliseconds.
const KEEP_MS: u64 = 10_000;

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reading {
    /// There is none, or it has become the recording.
    Nothing,
    /// It is being read; its name.
    Under(String),
    /// It cannot be used; why.
    Refused(String),
}

impl State {
    /// Reads the first of some files as a recording.
    pub(crate) fn open_file(self, files: Option<FileList>) {
        let Some(file) = files.and_then(|files| files.get(0)) else { return };
        self.reading.set(Reading::Under(file.name()));
        self.show_recording();
        self.late.want();
        self.with_client(|client| client.record(file));
    }

    /// Opens the group that tells of it.
    fn show_recording(self) {
        self.last_control.set("recording");
        if self.sheet.get_untracked() == Sheet::Peek {
            self.sheet.set(Sheet::Half);
        }
        let closed = "[aria-controls=fold-recording][aria-expanded=false]";
        let button = document().query_selector(closed).ok().flatten();
        if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
            button.click();
        }
    }

    /// A file was understood: its requests take the place of the scenario's own. One that a page
    /// saved brings its scenario with it.
    pub(crate) fn take_recording(self, recording: Recording) {
        self.reading.set(Reading::Nothing);
        let mut recorded_per_s = recording.mean_rate_per_s;
        if let Some(saved) = &recording.saved {
            let parsed = Scenario::from_link(&saved.link);
            recorded_per_s = saved.recorded_per_s;
            self.notices.set(parsed.notices);
            self.scenario.set(parsed.scenario);
        }
        self.recorded_per_s.set(recorded_per_s);
        self.toast.set(Some(strings::recording_taken(&recording.name, recording.requests)));
        self.replace_recording(Some(Arc::new(recording)));
    }

    /// Back to the scenario's own requests.
    pub(crate) fn forget_recording(self) {
        self.with_client(Client::forget_recording);
        self.replace_recording(None);
    }

    /// Takes the recording as made at another rate, requests per second.
    pub(crate) fn record_at(self, recorded_per_s: f64) {
        self.recorded_per_s.set(recorded_per_s);
        self.answered.set(None);
        self.ask(false);
    }

    /// An answer about other requests is none, however alike the settings are.
    fn replace_recording(self, recording: Option<Arc<Recording>>) {
        self.answered.set(None);
        self.recording.set(recording);
        self.ask(false);
    }

    /// A file cannot be used. An earlier recording stays.
    pub(crate) fn refuse_file(self, message: String) {
        self.reading.set(Reading::Refused(message));
    }

    /// What reads files did not come.
    pub(crate) fn reader_failed(self) {
        if matches!(self.reading.get_untracked(), Reading::Under(_)) {
            self.reading.set(Reading::Refused(strings::READER_NOT_LOADED.to_owned()));
        }
    }

    /// Lets the person keep the recording, with the scenario and the rate it counts as made at.
    pub(crate) fn save_recording(self) {
        let rate = quantity::editable(self.recorded_per_s.get_untracked());
        let link = self.scenario.with_untracked(Scenario::to_link);
        self.with_client(|client| client.write_recording([&rate, "&", &link].concat()));
    }

    /// The recording came as a file.
    pub(crate) fn keep_file(self, file: &Blob) {
        let Ok(address) = Url::create_object_url_with_blob(file) else { return };
        let name = self.recording.with_untracked(|recording| {
            let name = recording.as_ref().map_or("", |recording| &recording.name);
            [name.split('.').next().unwrap_or_default(), ".headroom.csv"].concat()
        });
        browser::save(&address, &name);
        self.toast.set(Some(strings::saved_as(&name)));
        let revoke = move || drop(Url::revoke_object_url(&address));
        set_timeout(revoke, Duration::from_millis(KEEP_MS));
    }
}
