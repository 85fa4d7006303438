//! Lengths against the longest context of the model.

use sim_core::LengthSpec;

use crate::{
    class::{CLASS_PREFIX, ClassSpec},
    field::field,
    notice::{Notice, NoticeKind},
    schema::{Scenario, StepKind},
    wide::wide,
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

/// A length is cut to no less than one part in so many, as long as the other one can be cut instead.
const LEAST_LEFT: u64 = 8;

/// The way out where no single number is one.
const SHORTEN: &str = "Shorten prompts or answers, or choose a model with a longer context.";

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
            notices.push(Notice::new(&long.key, &value, NoticeKind::Shortened, message));
        }
        notices
    }

    /// Prompts and answers that alone exceed the longest context of the model. Where the model is
    /// given by numbers, there is no such limit.
    pub(crate) fn too_long(&self) -> Vec<TooLong> {
        let Some(context_tokens) = self.context_tokens() else { return Vec::new() };
        self.lengths()
            .into_iter()
            .filter(|typed| typed.length.longest_tokens() > context_tokens)
            .map(|TypedLength { key, label, length }| {
                let asked_tokens = length.longest_tokens();
                TooLong { key, label, asked_tokens, context_tokens }
            })
            .collect()
    }

    /// The longest context of the model, tokens; none where the model is given by numbers.
    #[must_use]
    pub fn context_tokens(&self) -> Option<u64> {
        if !self.knows_memory() || self.step.params.is_some() {
            return None;
        }
        match catalog::builtin().ok()?.model(&self.model) {
            Ok(model) => Some(model.context_tokens.value as u64),
            Err(_) => wide()?.context_tokens(&self.model),
        }
    }

    /// Whether the step time is that of a model on a GPU, whose memory limits the KV cache, rather
    /// than one given by constants alone.
    #[must_use]
    pub const fn knows_memory(&self) -> bool {
        matches!(self.step.kind, None | Some(StepKind::Roofline | StepKind::Kernel))
    }

    /// Whether the KV cache has a limit: that of the GPU, or one that a person gave.
    #[must_use]
    pub const fn limits_memory(&self) -> bool {
        self.knows_memory() || self.kv_capacity_tokens.is_some()
    }

    /// What keeps requests within the context, as a sentence.
    pub(crate) fn way_within_context(&self, beyond: &BeyondContext) -> String {
        let (LengthSpec::Fixed { tokens: input }, LengthSpec::Fixed { tokens: output }, []) =
            (self.input, self.output, &self.classes[..])
        else {
            return SHORTEN.to_owned();
        };
        let context_tokens = beyond.context_tokens;
        let [room_for_answer, room_for_prompt] =
            [input, output].map(|other| context_tokens.saturating_sub(other));
        // What is left of a length should still be something of its kind.
        let set = if room_for_answer > output / LEAST_LEFT {
            format!("out={room_for_answer}")
        } else if room_for_prompt > input / LEAST_LEFT {
            format!("in={room_for_prompt}")
        } else {
            let part = input as f64 / (input as f64 + output as f64);
            let prompt = ((context_tokens as f64 * part) as u64).clamp(1, context_tokens - 1);
            let answer = context_tokens - prompt;
            return format!(
                "Set in={prompt} out={answer} to stay within it, or choose a model with a longer context."
            );
        };
        format!("Set {set} to stay within it.")
    }

    /// The class whose longest request is longer than that of all other traffic; `None` where that is
    /// the scenario's own.
    #[must_use]
    pub fn class_of_longest(&self) -> Option<&str> {
        let mut longest = self.input.longest_tokens().saturating_add(self.output.longest_tokens());
        let mut found = None;
        for class in &self.classes {
            let input = class.input.unwrap_or(self.input).longest_tokens();
            let output = class.output.unwrap_or(self.output).longest_tokens();
            let tokens = input.saturating_add(output);
            if tokens > longest {
                (longest, found) = (tokens, Some(class.name.as_str()));
            }
        }
        found
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

/// Requests that are longer than the model takes, prompt and answer together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeyondContext {
    /// How many are.
    pub requests: u64,
    /// Of how many.
    pub of: u64,
    /// The longest of them, tokens.
    pub longest_tokens: u64,
    /// The longest that the model takes, tokens.
    pub context_tokens: u64,
}

impl BeyondContext {
    /// Before any request has been looked at.
    #[must_use]
    pub const fn none_yet(context_tokens: u64) -> Self {
        Self { requests: 0, of: 0, longest_tokens: 0, context_tokens }
    }

    /// Look at one request.
    pub fn count(&mut self, input_tokens: u64, output_tokens: u64) {
        let tokens = input_tokens.saturating_add(output_tokens);
        self.of += 1;
        self.requests += u64::from(tokens > self.context_tokens);
        self.longest_tokens = self.longest_tokens.max(tokens);
    }

    /// How many requests are too long, what becomes of them, and the way out, which is a sentence.
    #[must_use]
    pub fn sentence(&self, way_out: &str) -> String {
        let longest = quantity::count(self.longest_tokens);
        let subject = if self.requests == self.of {
            "Every request exceeds".to_owned()
        } else {
            let verb = if self.requests == 1 { "exceeds" } else { "exceed" };
            let (n, of) = (quantity::count(self.requests), quantity::count(self.of));
            format!("{n} of {of} requests {verb}")
        };
        format!(
            "{subject} this model’s context of {} tokens, prompt and answer together; the longest \
             has {longest}. Engines refuse such a prompt or cut its answer off there; here it is \
             simulated whole. {way_out}",
            quantity::count(self.context_tokens)
        )
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
