//! One setting at a time: reading it, changing it, and saying why a change was not taken as written.

use crate::{
    field::{Access, FIELDS, Field, Measure, field},
    lengths,
    notice::{Notice, NoticeKind, quoted},
    reading::{self, Whole},
    schema::{Scenario, StepKind},
    writing,
};

/// Word that returns an optional setting to what the catalogue gives.
const AUTO: &str = "auto";

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
        let key = key.trim();
        let Some(field) = field(key) else { return Err(unknown_key(key, value)) };
        let text = value.trim();
        if text.is_empty() {
            return Err(self.invalid(field, value, "has no value"));
        }
        if field.is_optional() && text.eq_ignore_ascii_case(AUTO) {
            self.clear(field);
            return Ok(Vec::new());
        }
        let sentences = self.put(field, text).map_err(|problem| match problem {
            Problem::Value(problem) => self.invalid(field, value, &problem),
            Problem::Name(message) => Notice::new(
                field.key,
                value,
                NoticeKind::Invalid,
                format!("{message} Still using {}.", self.spoken(field)),
            ),
        })?;
        let clamped = |message| Notice::new(field.key, value, NoticeKind::Clamped, message);
        Ok(sentences.into_iter().map(clamped).collect())
    }

    /// One setting as links write it; `None` if no setting has that key, or if it is an optional one
    /// that the catalogue decides.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        field(key).and_then(|field| self.text(field))
    }

    /// One numeric setting in the unit of its [`Field`], for its slider. Of a length with a spread
    /// it is the median.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        let field = field(key)?;
        let shown = |value: f64, measure: Measure| match measure.shift() {
            0 => Some(value),
            shift => writing::decimal(value, shift).parse().ok(),
        };
        match &field.access {
            Access::Real { measure, get, .. } => shown(get(self)?, *measure),
            Access::OptionalReal { measure, member } => {
                shown((*member(&mut self.clone()))?, *measure)
            }
            Access::Whole { get, .. } => get(self).map(|value| value as f64),
            Access::OptionalWhole { member } => {
                (*member(&mut self.clone())).map(|value| value as f64)
            }
            Access::Length { get, .. } => Some(match get(self) {
                sim_core::LengthSpec::Fixed { tokens } => tokens as f64,
                sim_core::LengthSpec::LogNormal { median_tokens, .. } => median_tokens,
            }),
            Access::Model | Access::Gpu | Access::Arrivals | Access::StepKind => None,
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
        match field(key) {
            Some(field) if value.is_finite() => match &field.access {
                Access::Length { get, .. } => {
                    let length = lengths::with_median(field, get(self), value);
                    self.set(key, &lengths::write_length(field, length))
                }
                Access::Real { measure: Measure::Percent, .. } => {
                    self.set(key, &format!("{text}%"))
                }
                _ => self.set(key, &text),
            },
            _ => self.set(key, &text),
        }
    }

    pub(crate) fn text(&self, field: &Field) -> Option<String> {
        match &field.access {
            Access::Model => Some(self.model.clone()),
            Access::Gpu => Some(self.gpu.clone()),
            Access::Arrivals => Some(lengths::write_arrivals(self.arrivals)),
            Access::StepKind => self.step.kind.map(|kind| {
                match kind {
                    StepKind::Roofline => "roofline",
                    StepKind::Affine => "affine",
                }
                .to_owned()
            }),
            Access::Length { get, .. } => Some(lengths::write_length(field, get(self))),
            Access::Real { measure, get, .. } => get(self).map(|value| write_real(value, *measure)),
            Access::OptionalReal { measure, member } => {
                member(&mut self.clone()).map(|value| write_real(value, *measure))
            }
            Access::Whole { get, .. } => get(self).map(|value| value.to_string()),
            Access::OptionalWhole { member } => {
                member(&mut self.clone()).map(|value| value.to_string())
            }
        }
    }

    fn clear(&mut self, field: &Field) {
        match &field.access {
            Access::StepKind => self.step.kind = None,
            Access::OptionalReal { member, .. } => *member(self) = None,
            Access::OptionalWhole { member } => *member(self) = None,
            _ => {}
        }
    }

    /// Take a value in; returns the sentences about what was moved into range.
    fn put(&mut self, field: &Field, text: &str) -> Result<Vec<String>, Problem> {
        match &field.access {
            Access::Model => {
                self.model = slug(text, |catalog, name| {
                    catalog.model(name).map(|model| model.slug.clone())
                })?;
            }
            Access::Gpu => {
                self.gpu =
                    slug(text, |catalog, name| catalog.gpu(name).map(|gpu| gpu.slug.clone()))?;
            }
            Access::Arrivals => {
                let (arrivals, said) = lengths::read_arrivals(field, text)?;
                self.arrivals = arrivals;
                return Ok(said);
            }
            Access::StepKind => {
                self.step.kind = Some(match text.to_lowercase().as_str() {
                    "roofline" => StepKind::Roofline,
                    "affine" => StepKind::Affine,
                    _ => return Err("is not a model of the step time".to_owned().into()),
                });
            }
            Access::Length { put, .. } => {
                let (length, said) = lengths::read_length(field, text)?;
                put(self, length);
                return Ok(said);
            }
            Access::Real { measure, put, .. } => {
                let (value, said) = real_within(field, *measure, text)?;
                put(self, value);
                return Ok(said);
            }
            Access::OptionalReal { measure, member } => {
                let (value, said) = real_within(field, *measure, text)?;
                *member(self) = Some(value);
                return Ok(said);
            }
            Access::Whole { put, .. } => {
                let (value, said) = whole_within(field, text)?;
                put(self, value);
                return Ok(said);
            }
            Access::OptionalWhole { member } => {
                let (value, said) = whole_within(field, text)?;
                *member(self) = Some(value);
                return Ok(said);
            }
        }
        Ok(Vec::new())
    }

    fn invalid(&self, field: &Field, value: &str, problem: &str) -> Notice {
        let message = format!(
            "{}: {} {problem}. Give for example {}. Still using {}.",
            field.label,
            quoted(value),
            field.example,
            self.spoken(field)
        );
        Notice::new(field.key, value, NoticeKind::Invalid, message)
    }

    fn spoken(&self, field: &Field) -> String {
        self.text(field).unwrap_or_else(|| "the catalogue’s figure".to_owned())
    }
}

/// Why a value was not taken.
enum Problem {
    /// The end of a sentence that begins with the value.
    Value(String),
    /// A whole sentence about a name that the catalogue does not have.
    Name(String),
}

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Self::Value(problem)
    }
}

fn slug(
    text: &str,
    find: impl Fn(&catalog::Catalog, &str) -> Result<String, catalog::NotFound>,
) -> Result<String, Problem> {
    let catalog = catalog::builtin().map_err(|error| Problem::Name(format!("{error}.")))?;
    find(catalog, text).map_err(|error| {
        let shown = catalog::NotFound {
            name: quoted(text).trim_matches(['“', '”']).to_owned(),
            ..error
        };
        let end = if shown.suggestions.is_empty() { "." } else { "" };
        let mut message = format!("{shown}{end}");
        if let Some(first) = message.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Problem::Name(message)
    })
}

fn write_real(value: f64, measure: Measure) -> String {
    match measure {
        Measure::Milliseconds => format!("{}ms", writing::decimal(value, 3)),
        // A bare number up to one is read as a share, so that up to one per cent is written as one.
        Measure::Percent if value > 0.01 => writing::decimal(value, 2),
        _ => writing::decimal(value, 0),
    }
}

fn real_within(field: &Field, measure: Measure, text: &str) -> Result<(f64, Vec<String>), String> {
    let value = reading::real(text, measure)?;
    let kept = |end: f64| writing::decimal(end, -measure.shift()).parse().unwrap_or(end);
    for (end, is_beyond) in
        [(field.min, value < kept(field.min)), (field.max, value > kept(field.max))]
    {
        if is_beyond {
            return Ok((kept(end), vec![lengths::beyond(field, end)]));
        }
    }
    // Zero has no sign here.
    Ok((value + 0.0, Vec::new()))
}

fn whole_within(field: &Field, text: &str) -> Result<(u64, Vec<String>), String> {
    let value = match reading::whole(text)? {
        Whole::Exact(value) if value > field.max as u64 => f64::INFINITY,
        Whole::Exact(value) if value < field.min as u64 => f64::NEG_INFINITY,
        Whole::Exact(value) => return Ok((value, Vec::new())),
        Whole::Other(value) => value,
    };
    if value > field.max {
        return Ok((field.max as u64, vec![lengths::beyond(field, field.max)]));
    }
    if value < field.min {
        return Ok((field.min as u64, vec![lengths::beyond(field, field.min)]));
    }
    let rounded = libm::round(value);
    let said = format!("{} is a whole number. Using {}.", field.label, writing::spoken(rounded));
    Ok((rounded as u64, vec![said]))
}

/// The notice about a key that no setting has.
pub(crate) fn unknown_key(key: &str, value: &str) -> Notice {
    let keys = FIELDS.iter().map(|field| field.key);
    let message = match catalog::nearest(key, keys, 1).first() {
        Some(near) => format!("Unknown key {}; did you mean “{near}”?", quoted(key)),
        None if key.is_empty() => {
            format!("The value {} has no key. Write for example rate=100.", quoted(value))
        }
        None => format!("Unknown key {}. It is not used.", quoted(key)),
    };
    Notice::new(key, value, NoticeKind::Unknown, message)
}
