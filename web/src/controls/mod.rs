//! The controls of the side panel.

mod choice;
mod class_list;
mod entry;
mod fold;
mod number_field;
mod picker;
mod slider;

pub(crate) use choice::{Choice, Look};
pub(crate) use class_list::class_list;
pub(crate) use entry::TYPING_MS;
pub(crate) use fold::Fold;
pub(crate) use picker::{gpu_picker, model_picker};
pub(crate) use slider::control;
