//! The kernel model's constants from measured runs, and how far the model is off.
//!
//! ```text
//!   rows ──▶ settings ──▶ replay (a measuring client against an engine) ──▶ residuals ──▶ constants
//!   a file   engine, GPU,  step by step, with the kernel's step time
//!            client
//! ```
//!
//! Errors are told for constants that never saw the run's group: all of a group is left out, and the fit
//! begins again from its priors.

mod client;
mod errors;
mod kv;
mod model;
mod networks;
mod replay;
mod rows;
mod setting;
mod solve;
mod two_points;

use std::{collections::BTreeMap, io::Read};

use catalog::kernel::{Constant, KernelDataError, kernel_gpus};

pub use client::Client;
pub use errors::{Error, Errors, Predicted};
pub use model::{Model, Parameter, Terms};
pub use replay::{Pace, Piece, Replayed, Rules, Sent, replay};
pub use rows::{Row, RowError, read_rows};
pub use setting::{Measured, Setting, Settings};
pub use solve::{Held, Weighted, at_priors, fit, for_all};
pub use two_points::{Pair, Spared, two_points};

/// Why runs cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The file cannot be read.
    #[error(transparent)]
    Rows(#[from] RowError),
    /// The compiled-in data are broken.
    #[error(transparent)]
    Data(#[from] KernelDataError),
    /// There is nothing to fit.
    #[error(
        "none of the file’s {rows} rows can be fitted; give runs of vLLM, TensorRT-LLM or SGLang with \
         lengths, load, TTFT and TPOT from the sources that the documentation names"
    )]
    Nothing {
        /// Rows of the file.
        rows: usize,
    },
}

/// What is left out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Network, GPU, ranks, engine and precision.
    Group,
    /// The same whatever the ranks.
    Family,
}

impl Split {
    /// The part of a run by this split.
    #[must_use]
    pub fn part(self, setting: &Setting) -> &str {
        match self {
            Self::Group => &setting.group,
            Self::Family => &setting.family,
        }
    }
}

/// Measured runs, and the constants they are fitted with.
pub struct Study {
    /// The runs.
    pub settings: Settings,
    weights: Vec<f64>,
}

impl Study {
    /// Read a table of measured runs.
    ///
    /// # Errors
    /// If it is broken or holds nothing that can be fitted.
    pub fn read(text: impl Read) -> Result<Self, FitError> {
        let rows = read_rows(text)?;
        let settings = Settings::of(&rows, &kernel_gpus()?);
        if !settings.all.iter().any(|setting| setting.is_fitted) {
            return Err(FitError::Nothing { rows: rows.len() });
        }
        let mut sizes: BTreeMap<&str, f64> = BTreeMap::new();
        for setting in &settings.all {
            *sizes.entry(&setting.group).or_default() += 1.0;
        }
        // A large group says more than a small one, but not as many times more.
        let weight = |setting: &Setting| {
            let size = sizes.get(setting.group.as_str()).copied().unwrap_or(1.0);
            setting.weight / size.sqrt()
        };
        let weights = settings.all.iter().map(weight).collect();
        Ok(Self { settings, weights })
    }

    /// The constants of all runs that are fitted.
    #[must_use]
    pub fn model(&self) -> Model {
        Model::of(self.settings.all.iter().filter(|setting| setting.is_fitted))
    }

    /// What each run comes to at the priors, where every fit begins.
    #[must_use]
    pub fn at_priors(&self, model: &Model) -> Vec<Option<Held>> {
        for_all(&self.settings.all, |setting| {
            if setting.is_fitted { at_priors(model, setting) } else { None }
        })
    }

    /// Fit the constants to all runs but those of one part. Returns their logarithms.
    #[must_use]
    pub fn fit_without(
        &self,
        model: &Model,
        first: &[Option<Held>],
        without: Option<(Split, &str)>,
    ) -> Vec<f64> {
        let is_in = |setting: &Setting| {
            setting.is_fitted && without.is_none_or(|(split, part)| split.part(setting) != part)
        };
        let runs: Vec<Weighted<'_>> = self
            .settings
            .all
            .iter()
            .zip(&self.weights)
            .zip(first)
            .filter(|((setting, _), _)| is_in(setting))
            .map(|((setting, &weight), first)| Weighted { setting, weight, first: first.as_ref() })
            .collect();
        fit(model, &runs)
    }

    /// What constants say of each run; none where its network is not modelled.
    #[must_use]
    pub fn predict(&self, model: &Model, logs: &[f64]) -> Vec<Option<Predicted>> {
        for_all(&self.settings.all, |setting| predict(model, setting, logs))
    }

    /// Parts of runs that count in the errors, in order.
    #[must_use]
    pub fn parts(&self, split: Split) -> Vec<&str> {
        let counted = self.settings.all.iter().filter(|setting| setting.counts);
        let mut parts: Vec<&str> = counted.map(|setting| split.part(setting)).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// What is said of each run by constants of its own, beside its place; nothing of those without.
    #[must_use]
    pub fn predict_by(&self, model: &Model, logs: &[Option<Vec<f64>>]) -> Vec<(usize, Predicted)> {
        let pairs: Vec<(usize, &Setting, &Option<Vec<f64>>)> = self
            .settings
            .all
            .iter()
            .zip(logs)
            .enumerate()
            .map(|(at, (it, logs))| (at, it, logs))
            .collect();
        let found = for_all(&pairs, |(at, setting, logs)| {
            Some((*at, predict(model, setting, logs.as_ref()?)?))
        });
        found.into_iter().flatten().collect()
    }

    /// Constants with their values.
    #[must_use]
    pub fn constants(&self, model: &Model, logs: &[f64]) -> Vec<Constant> {
        let constant = |(parameter, log): (&Parameter, &f64)| Constant {
            name: parameter.name.clone(),
            value: four_digits(libm::exp(*log)),
            prior: parameter.prior,
            spread: parameter.spread,
            rows: parameter.rows,
        };
        model.parameters.iter().zip(logs).map(constant).collect()
    }
}

fn predict(model: &Model, setting: &Setting, logs: &[f64]) -> Option<Predicted> {
    let kernel = model.terms(setting).kernel(setting, logs)?;
    let run = replay(&kernel, setting.rules, setting.client.pace, &setting.client.requests);
    Some(setting.predicted(&run))
}

/// More digits than the data know would only make files differ.
fn four_digits(value: f64) -> f64 {
    let power = 3.0 - libm::floor(libm::log10(value));
    let scale = libm::pow(10.0, power);
    libm::round(value * scale) / scale
}
