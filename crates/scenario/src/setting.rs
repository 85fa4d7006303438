//! One setting at a time: reading it, changing it, and saying why a change was not taken as written.

use quantity::Unit;
use sim_core::LengthSpec;

use crate::{
    arrivals::{self, Pattern},
    class::CLASS_PREFIX,
    field::{Access, FIELDS, Field, field},
    lengths,
    notice::{Notice, NoticeKind, quoted},
    profile,
    range::{self, Taken},
    reading, rules,
    schema::{Scenario, StepKind},
    sessions,
    wide::wide,
    writing,
};

/// Word that returns an optional setting to what the catalogue gives.
pub(crate) const AUTO: &str = "auto";

impl Scenario {
    /// Change one setting, with units as a person writes them: `rate`, `1.5k`; `ttft`, `0.5 s`.
    /// An optional setting returns to the catalogue's figure with `auto`.
    ///
    /// A value out of range is moved into it; the notices say so.
    ///
    /// # Errors
    ///
    /// If no setting has that key or the value cannot be used. The scenario is then as before; the
    /// notice names the field, the value and the remedy.
    pub fn set(&mut self, key: &str, value: &str) -> Result<Vec<Notice>, Notice> {
        if let Some(class) = key.trim().strip_prefix(CLASS_PREFIX) {
            return self.set_class(class, value);
        }
        let Some(field) = field(key.trim()) else { return Err(unknown_key(key.trim(), value)) };
        let sentences = self
            .put(field, value.trim())
            .map_err(|problem| self.invalid(field, value, &problem))?;
        Ok(sentences.into_iter().map(|said| Notice::taken(field.key, value, said)).collect())
    }

    /// One setting as links write it; `None` if no setting has that key, or if it is an optional one
    /// that the catalogue decides.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        if let Some(class) = key.strip_prefix(CLASS_PREFIX) {
            return self.class_text(class);
        }
        field(key).and_then(|field| self.text(field))
    }

    /// One numeric setting in the unit of its [`Field`], for its slider. Of a length with a spread
    /// it is the median.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        let field = field(key)?;
        let kept = match &field.access {
            Access::Real { get, .. } => get(self),
            Access::OptionalReal { get, .. } => get(self)?,
            Access::Whole { get, .. } => get(self) as f64,
            Access::OptionalWhole { get, .. } => get(self)? as f64,
            Access::Length { get, .. } => match get(self) {
                LengthSpec::Fixed { tokens } => tokens as f64,
                uniform @ LengthSpec::Uniform { .. } => uniform.mean_tokens(),
                LengthSpec::LogNormal { median_tokens, .. } => median_tokens,
                LengthSpec::Empirical(quantiles) => quantiles.at(0.5),
            },
            Access::Model
            | Access::Gpu
            | Access::Arrivals
            | Access::Profile
            | Access::Turns
            | Access::Think
            | Access::Rules
            | Access::StepKind
            | Access::Word { .. } => return None,
        };
        match reading::shift(field.quantity) {
            0 => Some(kept),
            shift => Some(writing::shifted(kept, shift)),
        }
    }

    /// Change one numeric setting to a value in the unit of its [`Field`]. A length keeps its
    /// spread around the new median.
    ///
    /// # Errors
    ///
    /// As [`Scenario::set`].
    pub fn set_number(&mut self, key: &str, value: f64) -> Result<Vec<Notice>, Notice> {
        let text = writing::decimal(value, 0);
        let Some(field) = field(key).filter(|_| value.is_finite()) else {
            return self.set(key, &text);
        };
        match &field.access {
            Access::Length { get, .. } => {
                let length = lengths::with_median(field, get(self), value);
                self.set(key, &lengths::write_length(field, length))
            }
            _ if value == 0.0 && field.none.is_some() => self.set(key, writing::NONE),
            // A bare number up to one would be read as a share.
            _ if field.quantity == Unit::Percent => self.set(key, &format!("{text}%")),
            _ => self.set(key, &text),
        }
    }

    pub(crate) fn text(&self, field: &Field) -> Option<String> {
        let real = |value| writing::setting(value, field);
        match &field.access {
            Access::Model => Some(self.model.clone()),
            Access::Gpu => Some(self.gpu.clone()),
            Access::Arrivals => Some(arrivals::write(&Pattern::of(self))),
            Access::Profile => Some(self.profile.text()),
            Access::Turns => Some(sessions::write_turns(self.turns)),
            Access::Think => Some(sessions::write_think(self.think)),
            Access::Rules => Some(self.rules.text()),
            Access::StepKind => self.step.kind.map(|kind| kind.word().to_owned()),
            Access::Word { get, .. } => Some(get(self).to_owned()),
            Access::Length { get, .. } => Some(lengths::write_length(field, get(self))),
            Access::Real { get, .. } => Some(real(get(self))),
            Access::OptionalReal { get, .. } => get(self).map(real),
            Access::Whole { get, .. } if get(self) == 0 && field.none.is_some() => {
                Some(writing::NONE.to_owned())
            }
            Access::Whole { get, .. } => Some(get(self).to_string()),
            Access::OptionalWhole { get, .. } => get(self).map(|value| value.to_string()),
        }
    }

    /// Take a value in; returns the sentences about what was moved into range.
    fn put(&mut self, field: &Field, text: &str) -> Result<Vec<String>, Problem> {
        if text.is_empty() {
            return Err(Problem::Value(format!("“{}=” has no value", field.key)));
        }
        let auto = text.eq_ignore_ascii_case(AUTO);
        match &field.access {
            Access::Model => self.model = slug(text, "model")?,
            Access::Gpu => self.gpu = slug(text, "GPU")?,
            Access::StepKind if auto => self.step.kind = None,
            Access::StepKind => self.step.kind = Some(StepKind::read(text)?),
            Access::Word { put, .. } => put(self, chosen(field, text)?),
            Access::OptionalReal { put, .. } if auto => put(self, None),
            Access::OptionalWhole { put, .. } if auto => put(self, None),
            Access::Arrivals => {
                return Ok(self.taken(arrivals::read(field, text)?, |s, pattern| pattern.put(s)));
            }
            Access::Profile => {
                return Ok(self.taken(profile::read(text)?, |s, v| s.profile = v));
            }
            Access::Turns => {
                return Ok(self.taken(sessions::read_turns(text)?, |s, v| s.turns = v));
            }
            Access::Think => {
                return Ok(self.taken(sessions::read_think(text)?, |s, v| s.think = v));
            }
            Access::Rules => return Ok(self.taken(rules::read(text)?, |s, v| s.rules = v)),
            Access::Length { put, .. } => {
                return Ok(self.taken(lengths::read_length(field, text)?, put));
            }
            Access::Real { put, .. } => return Ok(self.taken(range::real(field, text)?, put)),
            Access::Whole { put, .. } => return Ok(self.taken(range::whole(field, text)?, put)),
            Access::OptionalReal { put, .. } => {
                return Ok(self.taken(range::real(field, text)?, |s, v| put(s, Some(v))));
            }
            Access::OptionalWhole { put, .. } => {
                return Ok(self.taken(range::whole(field, text)?, |s, v| put(s, Some(v))));
            }
        }
        Ok(Vec::new())
    }

    fn taken<T>(
        &mut self,
        (value, sentences): Taken<T>,
        put: impl Fn(&mut Self, T),
    ) -> Vec<String> {
        put(self, value);
        sentences
    }

    /// A setting as a sentence shows it: “1,000 ms”, “1,024”, “gamma(0.5)”.
    fn shown(&self, field: &Field) -> Option<String> {
        match &field.access {
            Access::Real { .. } | Access::Whole { .. }
                if field.none.is_some() && self.number(field.key) == Some(0.0) =>
            {
                Some(writing::NONE.to_owned())
            }
            Access::Whole { get, .. } => Some(quantity::count(get(self))),
            Access::OptionalWhole { get, .. } => get(self).map(quantity::count),
            Access::Length { get, .. } => match get(self) {
                LengthSpec::Fixed { tokens } => Some(quantity::count(tokens)),
                _ => self.text(field),
            },
            Access::Real { .. } | Access::OptionalReal { .. } => {
                self.number(field.key).map(|value| match field.quantity {
                    Unit::Milliseconds | Unit::Seconds | Unit::Percent => field.with_unit(value),
                    _ => quantity::editable(value),
                })
            }
            _ => self.text(field),
        }
    }

    /// The notice about a value that cannot be used: field, value and remedy.
    fn invalid(&self, field: &Field, value: &str, problem: &Problem) -> Notice {
        let kept = match self.shown(field) {
            Some(current) => format!("Still using {current}."),
            None => "The setting is as it was.".to_owned(),
        };
        let message = match problem {
            Problem::Name(sentence) => format!("{sentence} {kept}"),
            Problem::Value(clause) => format!(
                "{clause}. For “{}” give for example {}. {kept}",
                field.label, field.example
            ),
        };
        let one_line = quantity::visible(&message);
        Notice::new(field.key, value, NoticeKind::Invalid, one_line)
    }
}

/// Why a value was not taken.
enum Problem {
    /// A clause that names the value.
    Value(String),
    /// A sentence about a name that the catalogue does not have, remedy included.
    Name(String),
}

impl From<String> for Problem {
    fn from(clause: String) -> Self {
        Self::Value(clause)
    }
}

impl StepKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Roofline => "roofline",
            Self::Affine => "affine",
            Self::QueueModel => "queue-model",
            Self::Kernel => "kernel",
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        [Self::Roofline, Self::Affine, Self::QueueModel, Self::Kernel]
            .into_iter()
            .find(|kind| kind.word().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("{} is not a model of the step time", quoted(text)))
    }
}

/// The word of a field that a text names.
fn chosen(field: &Field, text: &str) -> Result<&'static str, String> {
    field
        .choice(text)
        .ok_or_else(|| format!("{} is none of: {}", quoted(text), field.choices.join(", ")))
}

/// The slug of a model or a GPU, from its slug or an alias.
fn slug(text: &str, what: &str) -> Result<String, Problem> {
    let catalog = catalog::builtin().map_err(|error| Problem::Name(format!("{error}.")))?;
    let is_model = what == "model";
    let found = if is_model {
        catalog.model(text).map(|model| model.slug.clone())
    } else {
        catalog.gpu(text).map(|gpu| gpu.slug.clone())
    };
    let beyond = || {
        let wide = wide()?;
        if is_model { wide.model_slug(text) } else { wide.gpu_slug(text) }
    };
    // The short list goes first: what its names mean in links never changes.
    found.or_else(|error| beyond().ok_or(error)).map_err(|error| {
        let name = quoted(text);
        let otherwise = or_choose(what, &error.suggestions);
        Problem::Name(format!("No {what} called {name}{otherwise}"))
    })
}

/// The settings that tell all that is looked up of a model, and of a GPU.
const MODEL_NUMBERS: &str = "step.params, step.weight_bytes and step.kv_bytes_per_token";
const GPU_NUMBERS: &str = "step.peak_flops, step.bandwidth and kv.capacity_tokens";

/// The end of a sentence about a name that the catalogue does not have.
pub(crate) fn or_choose(what: &str, suggestions: &[String]) -> String {
    match suggestions {
        [] => {
            let numbers = if what == "model" { MODEL_NUMBERS } else { GPU_NUMBERS };
            [
                ". Choose one from the catalogue, or give its numbers in place of a name: ",
                numbers,
                ".",
            ]
            .concat()
        }
        [only] => format!("; did you mean “{only}”?"),
        [first, second, ..] => format!("; did you mean “{first}” or “{second}”?"),
    }
}

/// The notice about a key that no setting has.
fn unknown_key(key: &str, value: &str) -> Notice {
    let keys = FIELDS.iter().map(|field| field.key);
    let message = match catalog::nearest(key, keys, 1).first() {
        Some(near) => format!("Unknown key {}; did you mean “{near}”?", quoted(key)),
        None if key == "class" => {
            format!("A class needs a name: class.chat={}.", crate::CLASS_EXAMPLE)
        }
        None if key.is_empty() => {
            format!("The value {} has no key. Write for example rate=100.", quoted(value))
        }
        None => format!("Unknown key {}. It is not used.", quoted(key)),
    };
    Notice::new(key, value, NoticeKind::Unknown, message)
}
