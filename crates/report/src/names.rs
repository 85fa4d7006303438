//! What catalogue entries are called in sentences.

pub(crate) use scenario::{gpu_name as gpu, model_name as model};
