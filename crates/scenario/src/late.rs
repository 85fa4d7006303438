//! Whether the part of the program is there that few scenarios need: a page loads it apart.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_ABSENT: AtomicBool = AtomicBool::new(false);

pub(crate) fn is_here() -> bool {
    !IS_ABSENT.load(Ordering::Relaxed)
}

/// Tells that the late part is still to come, or has come: for a program that loads it apart. Until it
/// is there, names beyond the short list are unknown, no deployment resolves, and an impossible scenario
/// is offered nothing.
pub fn set_late_part_absent(is_absent: bool) {
    IS_ABSENT.store(is_absent, Ordering::Relaxed);
}

/// Whether the late part is there, as it is in every program that does not load it apart.
#[must_use]
pub fn late_part_is_here() -> bool {
    is_here()
}
