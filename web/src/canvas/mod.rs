//! Canvases: the backend that charts draw with, and when to draw.

mod backend;
mod surface;

pub(crate) use backend::drawing_area;
pub(crate) use surface::{Frame, Surface, chart_style, watch_size};
