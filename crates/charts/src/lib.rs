//! Plotters drawings, generic over the drawing backend.
//!
//! Sizes are in CSS px, values in SI units. A drawing is a pure function of its data, theme and
//! style: the same bytes on every machine. Text is never measured by the backend.

mod accuracy;
mod axis;
mod calibration;
mod clip;
mod cost;
mod curve;
mod data;
mod error;
mod fleet;
mod geometry;
mod ground;
mod knee;
mod labels;
mod layout;
mod memory_bar;
mod metrics;
mod naming;
mod paint;
mod pair;
mod queues;
mod scale;
mod series;
mod style;
#[cfg(feature = "svg")]
mod svg;
pub mod theme;
mod tornado;
mod traces;

pub use accuracy::{AccuracyDot, draw_accuracy};
pub use calibration::{CalibrationDot, draw_calibration};
pub use cost::{CostDot, cost_places, draw_costs};
pub use data::{Interval, KneeData, KneePoint, Readout};
pub use error::ChartError;
pub use fleet::{
    FleetBin, FleetData, FleetEvent, FleetGeometry, FleetRowKind, PolicyDot, PolicyKind,
    draw_fleet, draw_fleet_cursor, draw_policies, fleet_geometry,
};
pub use geometry::{KneeGeometry, Panel, Rect};
pub use knee::{draw_cursor, draw_knee, knee_geometry};
pub use memory_bar::{MemoryPart, draw_memory_bar};
pub use pair::{PairData, draw_pair, draw_pair_cursor};
pub use queues::{QueueDot, QueuePanel, draw_queues};
pub use scale::{Scale, Spread};
pub use series::readout;
pub use style::Style;
#[cfg(feature = "svg")]
pub use svg::{
    accuracy_svg, calibration_svg, costs_svg, fleet_svg, knee_svg, memory_bar_svg, pair_svg,
    queues_svg, tornado_svg,
};
pub use theme::Theme;
pub use tornado::{TornadoBar, TornadoData, draw_tornado};
