//! What happened: distributions, counters and the bookkeeping that proves them.
