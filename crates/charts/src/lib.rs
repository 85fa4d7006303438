//! Plotters drawings, generic over the drawing backend.
//!
//! Sizes are in CSS px, values in SI units. A drawing is a pure function of its data, theme and
//! style: the same bytes on every machine. Text is never measured by the backend.

mod axis;
mod curve;
mod data;
mod geometry;
mod metrics;
mod scale;
mod series;
mod style;
pub mod theme;

pub use data::{Interval, KneeData, KneePoint, Readout};
pub use geometry::{KneeGeometry, Panel, Rect};
pub use scale::{Scale, Spread};
pub use series::readout;
pub use style::Style;
pub use theme::Theme;
