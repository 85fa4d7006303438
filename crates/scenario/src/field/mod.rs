//! The one table of settings, from which parsing, validation, sliders and help are driven.

mod slider;
mod table;

use sim_core::LengthSpec;

use crate::schema::Scenario;

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
    /// “Memory”, folded.
    Memory,
    /// “Accuracy”, folded.
    Accuracy,
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
    /// Step-time model.
    StepKind,
    /// Number of tokens with its spread.
    Length { get: fn(&Scenario) -> LengthSpec, put: fn(&mut Scenario, LengthSpec) },
    /// A real number.
    Real { measure: Measure, get: fn(&Scenario) -> Option<f64>, put: fn(&mut Scenario, f64) },
    /// A whole number.
    Whole { get: fn(&Scenario) -> Option<u64>, put: fn(&mut Scenario, u64) },
    /// A real number that the catalogue gives where it is absent.
    OptionalReal { measure: Measure, member: fn(&mut Scenario) -> &mut Option<f64> },
    /// A whole number that is computed where it is absent.
    OptionalWhole { member: fn(&mut Scenario) -> &mut Option<u64> },
}

/// What a real number measures, which decides the units that may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Requests per second.
    Rate,
    /// Kept in seconds, written in milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Kept as a share of one, written in percent.
    Percent,
    /// A share of one, written so.
    Share,
    /// A number of parameters.
    Parameters,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// FLOP per second.
    FlopsPerSecond,
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
            Self::Memory => "Memory",
            Self::Accuracy => "Accuracy",
        }
    }

    /// Whether the group is folded until a person opens it.
    #[must_use]
    pub const fn is_folded(self) -> bool {
        matches!(self, Self::Arrivals | Self::Engine | Self::Memory | Self::Accuracy)
    }
}

impl Measure {
    /// Powers of ten from the kept unit to the written one.
    pub(crate) const fn shift(self) -> i32 {
        match self {
            Self::Milliseconds => 3,
            Self::Percent => 2,
            _ => 0,
        }
    }
}

/// Find a setting by its exact key.
#[must_use]
pub fn field(key: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.key == key)
}

impl Field {
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
        !matches!(self.access, Access::Model | Access::Gpu | Access::Arrivals | Access::StepKind)
    }
}
