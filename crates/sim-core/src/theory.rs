//! Closed forms, drawn beside the simulation.
