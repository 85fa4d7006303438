//! What people write, and what becomes of it.

mod json;
mod links;
mod messages;
mod resolving;
mod round_trip;
mod table;
