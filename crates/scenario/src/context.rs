//! Lengths against the longest context of the model.

use sim_core::LengthSpec;

use crate::{
    class::{CLASS_PREFIX, ClassSpec},
    field::field,
    notice::{Notice, NoticeKind},
    schema::{Scenario, StepKind},
};

/// A length that the model cannot take.
#[derive(Clone, Debug)]
pub(crate) struct TooLong {
    /// The key of the setting: `in`, `out`, or one of a class.
    pub(crate) key: String,
    /// What people call it.
    pub(crate) label: String,
    /// The longest that is asked for.
    pub(crate) asked_tokens: u64,
    /// The longest that the model takes.
    pub(crate) context_tokens: u64,
}

/// A length that a person set.
#[derive(Clone, Debug)]
pub(crate) struct TypedLength {
    /// Its key.
    pub(crate) key: String,
    /// What people call it.
    pub(crate) label: String,
    /// How long.
    pub(crate) length: LengthSpec,
}

impl Scenario {
    /// Shorten prompts and answers to the longest context of the model, with a notice for each.
    /// Reading a link or a file does this by itself; after [`Scenario::set`] it is for the caller to
    /// choose when, as the model may be set after the lengths.
    pub fn limit_to_context(&mut self) -> Vec<Notice> {
        let mut notices = Vec::new();
        for long in self.too_long() {
            let value = self.get(&long.key).unwrap_or_default();
            self.shorten(&long.key, long.context_tokens);
            let message = format!(
                "{} Using {}.",
                long.sentence(),
                quantity::editable(long.context_tokens as f64)
            );
            notices.push(Notice::new(&long.key, &value, NoticeKind::Clamped, message));
        }
        notices
    }

    /// Prompts and answers that alone exceed the longest context of the model. Where the model is
    /// given by numbers, there is no such limit.
    pub(crate) fn too_long(&self) -> Vec<TooLong> {
        let has_model = matches!(self.step.kind, None | Some(StepKind::Roofline));
        if !has_model || self.step.params.is_some() {
            return Vec::new();
        }
        let Ok(catalog) = catalog::builtin() else { return Vec::new() };
        let Ok(model) = catalog.model(&self.model) else { return Vec::new() };
        let context_tokens = model.context_tokens.value as u64;
        self.lengths()
            .into_iter()
            .filter(|typed| typed.length.longest_tokens() > context_tokens)
            .map(|TypedLength { key, label, length }| {
                let asked_tokens = length.longest_tokens();
                TooLong { key, label, asked_tokens, context_tokens }
            })
            .collect()
    }

    /// Every length that is set: that of all requests, and those of classes that have their own.
    pub(crate) fn lengths(&self) -> Vec<TypedLength> {
        let named = |key: &'static str, class: Option<&str>, length| {
            let label = field(key).map_or(key, |field| field.label);
            match class {
                None => TypedLength { key: key.to_owned(), label: label.to_owned(), length },
                Some(class) => TypedLength {
                    key: format!("{CLASS_PREFIX}{class}.{key}"),
                    label: format!("{label} of class {class}"),
                    length,
                },
            }
        };
        let mut lengths = vec![named("in", None, self.input), named("out", None, self.output)];
        for class in &self.classes {
            lengths.extend(class.input.map(|length| named("in", Some(&class.name), length)));
            lengths.extend(class.output.map(|length| named("out", Some(&class.name), length)));
        }
        lengths
    }

    fn shorten(&mut self, key: &str, longest: u64) {
        let of_class = |class: &mut ClassSpec| {
            for (part, length) in [("in", &mut class.input), ("out", &mut class.output)] {
                if key == format!("{CLASS_PREFIX}{}.{part}", class.name) {
                    *length = length.map(|length| shortened(length, longest));
                }
            }
        };
        match key {
            "in" => self.input = shortened(self.input, longest),
            "out" => self.output = shortened(self.output, longest),
            _ => self.classes.iter_mut().for_each(of_class),
        }
    }
}

impl TooLong {
    /// “Prompt 200,000 is longer than this model’s 131,072 tokens.”
    pub(crate) fn sentence(&self) -> String {
        format!(
            "{} {} is longer than this model’s {} tokens.",
            self.label,
            quantity::editable(self.asked_tokens as f64),
            quantity::editable(self.context_tokens as f64)
        )
    }
}

/// The same length, none longer than `longest`.
pub(crate) fn shortened(length: LengthSpec, longest: u64) -> LengthSpec {
    match length {
        LengthSpec::Fixed { tokens } => LengthSpec::Fixed { tokens: tokens.min(longest) },
        LengthSpec::Uniform { min_tokens, max_tokens } => LengthSpec::Uniform {
            min_tokens: min_tokens.min(longest),
            max_tokens: max_tokens.min(longest),
        },
        LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
            LengthSpec::LogNormal {
                median_tokens,
                sigma,
                min_tokens: min_tokens.min(longest),
                max_tokens: max_tokens.min(longest),
            }
        }
        LengthSpec::Empirical(quantiles) => {
            quantiles.map_tokens(|tokens| tokens.min(longest)).map_or(length, LengthSpec::Empirical)
        }
    }
}
