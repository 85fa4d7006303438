//! Golden references, parity and links that must never break.
