//! The one table of settings, from which parsing, validation, sliders and help are driven.

mod calibrated;
mod deploy;
mod fleet;
mod overload;
mod pools;
mod slider;
mod table;

use quantity::Unit;
use sim_core::LengthSpec;

use crate::schema::Scenario;

pub(crate) use deploy::word_at;
pub use deploy::{ENGINES, KV_DTYPES, WEIGHTS};
pub use slider::{Direction, Scale, Slider, Snap, Step, StepSizes};
pub use table::FIELDS;

/// One setting of a scenario.
#[derive(Debug)]
pub struct Field {
    /// Key in links, JSON files and on the command line.
    pub key: &'static str,
    /// Name that people read.
    pub label: &'static str,
    /// Unit in which the range and the slider are given; empty for words and plain numbers.
    pub unit: &'static str,
    /// The same for the number formatter, and for reading what is typed.
    pub quantity: Unit,
    /// One sentence of help.
    pub help: &'static str,
    /// What one may write, for messages and help.
    pub example: &'static str,
    /// Where it stands in the panel of controls.
    pub group: Group,
    /// Least that is simulated, in `unit`.
    pub min: f64,
    /// Most that is simulated, in `unit`.
    pub max: f64,
    /// Values offered as a choice, as links write them.
    pub choices: &'static [&'static str],
    /// The slider, where there is one.
    pub slider: Option<Slider>,
    /// What a zero means where that is not what it says, so that links write `none` for it: “no limit:
    /// any number of requests may wait”.
    pub none: Option<&'static str>,
    /// Default of link version 1 as links write it; empty where the catalogue decides.
    pub default: &'static str,
    pub(crate) access: Access,
}

/// Groups of the panel of controls, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// “Model and GPU”.
    ModelAndGpu,
    /// “Traffic at peak”.
    Traffic,
    /// “Service target”.
    Target,
    /// “Arrivals”, folded.
    Arrivals,
    /// “Engine”, folded.
    Engine,
    /// “Overload and retries”, folded.
    Overload,
    /// “Memory”, folded.
    Memory,
    /// “Accuracy”, folded.
    Accuracy,
    /// “Fleet”, on the view of that name.
    Fleet,
}

/// How a setting is read from and written to a scenario.
#[derive(Debug)]
pub(crate) enum Access {
    /// Slug of a model.
    Model,
    /// Slug of a GPU.
    Gpu,
    /// Arrival pattern.
    Arrivals,
    /// Rate over time.
    Profile,
    /// Turns of a session.
    Turns,
    /// Time between them.
    Think,
    /// Scheduling rules.
    Rules,
    /// Step-time model.
    StepKind,
    /// One of the words that are offered as choices.
    Word { get: fn(&Scenario) -> &'static str, put: fn(&mut Scenario, &'static str) },
    /// Number of tokens with its spread.
    Length { get: fn(&Scenario) -> LengthSpec, put: fn(&mut Scenario, LengthSpec) },
    /// A real number.
    Real { get: fn(&Scenario) -> f64, put: fn(&mut Scenario, f64) },
    /// A whole number.
    Whole { get: fn(&Scenario) -> u64, put: fn(&mut Scenario, u64) },
    /// A real number that the catalogue gives where it is absent.
    OptionalReal { get: fn(&Scenario) -> Option<f64>, put: fn(&mut Scenario, Option<f64>) },
    /// A whole number that is computed where it is absent.
    OptionalWhole { get: fn(&Scenario) -> Option<u64>, put: fn(&mut Scenario, Option<u64>) },
}

impl Group {
    /// Heading of the group.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::ModelAndGpu => "Model and GPU",
            Self::Traffic => "Traffic at peak",
            Self::Target => "Service target",
            Self::Arrivals => "Arrivals",
            Self::Engine => "Engine",
            Self::Overload => "Overload and retries",
            Self::Memory => "Memory",
            Self::Accuracy => "Accuracy",
            Self::Fleet => "Fleet",
        }
    }

    /// Whether the group is folded until a person opens it.
    #[must_use]
    pub const fn is_folded(self) -> bool {
        !matches!(self, Self::ModelAndGpu | Self::Traffic | Self::Target)
    }
}

/// Beyond it [`quantity::editable`] rounds.
const MOST_DIGITS: f64 = 1e12;

/// Find a setting by its exact key.
#[must_use]
pub fn field(key: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.key == key)
}

impl Field {
    /// What is simulated, for help: “0.1 to 10,000 req/s”. `None` for words.
    #[must_use]
    pub fn range(&self) -> Option<String> {
        let range = format!("{} to {}", self.end(self.min), self.end(self.max));
        match self.unit {
            _ if !self.is_number() => None,
            "" => Some(range),
            unit => Some(quantity::with_unit(&range, unit)),
        }
    }

    /// A number to be read and typed, to the last digit where it is a whole one.
    pub(crate) fn end(&self, value: f64) -> String {
        if self.is_whole() && value >= MOST_DIGITS {
            // A float beyond the range of u64 saturates, and is the largest seed.
            return (value as u64).to_string();
        }
        quantity::editable(value)
    }

    /// A value given in the field's unit, with the unit: “10,000 req/s”, “1 token”.
    pub(crate) fn with_unit(&self, value: f64) -> String {
        let number = self.end(value);
        let unit = if value == 1.0 { singular(self.unit) } else { self.unit };
        if unit.is_empty() { number } else { quantity::with_unit(&number, unit) }
    }

    /// Whether only whole numbers make sense.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        matches!(
            self.access,
            Access::Whole { .. } | Access::OptionalWhole { .. } | Access::Length { .. }
        )
    }

    /// Whether the setting may be absent, so that the catalogue decides.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        matches!(
            self.access,
            Access::StepKind | Access::OptionalReal { .. } | Access::OptionalWhole { .. }
        )
    }

    /// Whether the setting is a number, perhaps with a spread.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        !matches!(
            self.access,
            Access::Model
                | Access::Gpu
                | Access::Arrivals
                | Access::Profile
                | Access::Turns
                | Access::Think
                | Access::Rules
                | Access::StepKind
                | Access::Word { .. }
        )
    }

    /// The choice that a text names, whatever its capitals; “true” and “false” are on and off.
    pub(crate) fn choice(&self, text: &str) -> Option<&'static str> {
        // “vllm@0.19” is a version, but in a link it would read as an address.
        let text = text.replace('@', "-");
        let meant = match text.to_ascii_lowercase().as_str() {
            "true" => "on",
            "false" => "off",
            _ => &text,
        };
        self.choices.iter().copied().find(|choice| choice.eq_ignore_ascii_case(meant))
    }
}

/// “token” of “tokens”; other units have no plural.
fn singular(unit: &'static str) -> &'static str {
    match unit {
        "tokens" | "sequences" | "requests" | "runs" | "bytes" | "parameters" => {
            unit.trim_end_matches('s')
        }
        _ => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_help() {
        let range = |key| field(key).and_then(Field::range);
        assert_eq!(range("rate").as_deref(), Some("0.1 to 10,000\u{202f}req/s"));
        assert_eq!(range("step.mfu").as_deref(), Some("0.01 to 1"));
        assert_eq!(range("share").as_deref(), Some("50 to 99.99\u{202f}%"));
        assert_eq!(range("model"), None);
    }

    #[test]
    fn groups_stand_in_the_order_of_the_panel() {
        assert!(Group::ModelAndGpu < Group::Traffic && Group::Traffic < Group::Target);
        let visible = FIELDS.iter().filter(|field| !field.group.is_folded());
        let keys: Vec<&str> = visible.map(|field| field.key).collect();
        let expected = ["model", "gpu", "rate", "in", "out", "ttft", "tpot", "share", "headroom"];
        assert_eq!(keys, expected);
        assert!(FIELDS.iter().all(|field| !field.group.label().is_empty()));
    }
}
