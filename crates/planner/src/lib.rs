//! Questions: sweep, knee, capacity and fleet size, each a state machine that hands out runs.
