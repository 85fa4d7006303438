//! The model of the world: workload, step time, one engine, measures, theory.
