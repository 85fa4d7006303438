//! Units and the one number formatter.
