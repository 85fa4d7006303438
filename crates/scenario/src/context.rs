//! Lengths against the longest context of the model.

use sim_core::LengthSpec;

use crate::{
    field::{Field, field},
    notice::{Notice, NoticeKind},
    schema::{Scenario, StepKind},
};

/// A length that the model cannot take.
#[derive(Clone, Debug)]
pub(crate) struct TooLong {
    /// The setting.
    pub(crate) field: &'static Field,
    /// The longest that is asked for.
    pub(crate) asked_tokens: u64,
    /// The longest that the model takes.
    pub(crate) context_tokens: u64,
}

impl Scenario {
    /// Shorten prompts and answers to the longest context of the model, with a notice for each.
    /// Reading a link or a file does this by itself; after [`Scenario::set`] it is for the caller to
    /// choose when, as the model may be set after the lengths.
    pub fn limit_to_context(&mut self) -> Vec<Notice> {
        let mut notices = Vec::new();
        for long in self.too_long() {
            let value = self.text(long.field).unwrap_or_default();
            let length = if long.field.key == "in" { &mut self.input } else { &mut self.output };
            *length = shortened(*length, long.context_tokens);
            let message = format!(
                "{} Using {}.",
                long.sentence(),
                quantity::editable(long.context_tokens as f64)
            );
            notices.push(Notice::new(long.field.key, &value, NoticeKind::Clamped, message));
        }
        notices
    }

    /// Prompts and answers that alone exceed the longest context of the model. Where the model is
    /// given by numbers, there is no such limit.
    pub(crate) fn too_long(&self) -> Vec<TooLong> {
        if self.step.kind == Some(StepKind::Affine) || self.step.params.is_some() {
            return Vec::new();
        }
        let Ok(catalog) = catalog::builtin() else { return Vec::new() };
        let Ok(model) = catalog.model(&self.model) else { return Vec::new() };
        let context_tokens = model.context_tokens.value as u64;
        [("in", self.input), ("out", self.output)]
            .into_iter()
            .filter(|(_, length)| length.longest_tokens() > context_tokens)
            .filter_map(|(key, length)| {
                let asked_tokens = length.longest_tokens();
                field(key).map(|field| TooLong { field, asked_tokens, context_tokens })
            })
            .collect()
    }
}

impl TooLong {
    /// “Prompt 200,000 is longer than this model’s 131,072 tokens.”
    pub(crate) fn sentence(&self) -> String {
        format!(
            "{} {} is longer than this model’s {} tokens.",
            self.field.label,
            quantity::editable(self.asked_tokens as f64),
            quantity::editable(self.context_tokens as f64)
        )
    }
}

/// The same length, none longer than `longest`.
pub(crate) fn shortened(length: LengthSpec, longest: u64) -> LengthSpec {
    match length {
        LengthSpec::Fixed { tokens } => LengthSpec::Fixed { tokens: tokens.min(longest) },
        LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
            LengthSpec::LogNormal {
                median_tokens,
                sigma,
                min_tokens: min_tokens.min(longest),
                max_tokens: max_tokens.min(longest),
            }
        }
    }
}
