//! Canvases: the backend that charts draw with, the cursor layer, and when to draw.

mod backend;
mod overlay;
mod surface;

pub(crate) use backend::Ink;
pub(crate) use overlay::draw_cursor;
pub(crate) use surface::{Frame, Surface, watch_size};
