//! What an impossible scenario is offered.

use serde::{Deserialize, Serialize};

use crate::{late, schema::Scenario};

use super::{Resolved, changes, error::ResolveError};

/// A change that makes the scenario possible: of one setting, or of several together where none
/// alone does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// Key of the setting to change, for example `gpu`.
    pub key: String,
    /// Its new value, as links write it.
    pub value: String,
    /// What it does, in a few words.
    pub effect: String,
    /// Further settings to change with it, as a link writes them: `tpot=6.4ms&share=95`. Empty where
    /// one change does.
    pub also: String,
    /// Whether the target was found to be met with it; else it only makes the scenario possible.
    pub meets_target: bool,
    /// How many GPUs then hold the target at the asked load; `None` where nobody has asked, or none do.
    pub gpus: Option<u64>,
    /// From how few to how many that may be, by the 95 % interval of the capacity; `None` as above.
    pub gpus_range: Option<(u64, u64)>,
}

impl Remedy {
    /// A change of one setting.
    #[must_use]
    pub fn new(key: &str, value: String, effect: String) -> Self {
        let (key, also) = (key.to_owned(), String::new());
        Self { key, value, effect, also, meets_target: false, gpus: None, gpus_range: None }
    }

    /// The same, with which the target was found to be met.
    #[must_use]
    pub fn meeting_target(self) -> Self {
        Self { meets_target: true, ..self }
    }

    /// The same with another setting changed with it.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        if !self.also.is_empty() {
            self.also.push('&');
        }
        self.also.push_str(&[key, "=", value].concat());
        self
    }

    /// Every setting to change, with its new value.
    pub fn changes(&self) -> impl Iterator<Item = (&str, &str)> {
        let also = self.also.split('&').filter_map(|setting| setting.split_once('='));
        std::iter::once((self.key.as_str(), self.value.as_str())).chain(also)
    }

    /// As one would type it: `ttft=40ms tpot=6.4ms`.
    #[must_use]
    pub fn typed(&self) -> String {
        let mut text = [&self.key, "=", &self.value].concat();
        if !self.also.is_empty() {
            text.push(' ');
            text.push_str(&self.also.replace('&', " "));
        }
        text
    }
}

impl Scenario {
    /// The smallest changes with which the scenario resolves, where `error` says why it does not, and
    /// the numbers suit; none where none is known, and while the part of the program that looks for
    /// them is still to come.
    #[must_use]
    pub fn remedies_that(
        &self,
        error: &ResolveError,
        suits: &dyn Fn(&Resolved) -> bool,
    ) -> Vec<Remedy> {
        if late::is_here() { changes::door().that_help(self, error, suits) } else { Vec::new() }
    }
}

/// Fill the remedies of an error in.
pub(crate) fn suggest(scenario: &Scenario, mut error: ResolveError) -> ResolveError {
    let found = scenario.remedies_that(&error, &|_| true);
    if let Some(remedies) = error.remedies_mut() {
        *remedies = found;
    }
    error
}
