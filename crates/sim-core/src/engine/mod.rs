//! One engine: continuous batching, iteration by iteration.
