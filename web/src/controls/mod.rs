//! The controls of the side panel.

mod choice;
mod entry;
mod fold;
mod number_field;
mod picker;
mod slider;

pub(crate) use choice::Choice;
pub(crate) use fold::Fold;
pub(crate) use picker::{gpu_picker, model_picker};
pub(crate) use slider::control;
