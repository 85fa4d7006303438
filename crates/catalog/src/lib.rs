//! Names to numbers: models and GPUs, each figure with its source.
