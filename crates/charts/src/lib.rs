//! Plotters drawings, generic over the drawing backend.
//!
//! Sizes are in CSS px, values in SI units. A drawing is a pure function of its data, theme and
//! style: the same bytes on every machine. Text is never measured by the backend.

mod axis;
mod clip;
mod curve;
mod data;
mod error;
mod fleet;
mod geometry;
mod ground;
mod knee;
mod labels;
mod layout;
mod metrics;
mod naming;
mod paint;
mod queues;
mod scale;
mod series;
mod style;
#[cfg(feature = "svg")]
mod svg;
pub mod theme;
mod traces;

pub use data::{Interval, KneeData, KneePoint, Readout};
pub use error::ChartError;
pub use fleet::{FleetData, FleetPoint, draw_fleet, windows_per_point};
pub use geometry::{KneeGeometry, Panel, Rect};
pub use knee::{draw_cursor, draw_knee, knee_geometry};
pub use queues::{QueueDot, QueuePanel, draw_queues};
pub use scale::{Scale, Spread};
pub use series::readout;
pub use style::Style;
#[cfg(feature = "svg")]
pub use svg::{fleet_svg, knee_svg, queues_svg};
pub use theme::Theme;
