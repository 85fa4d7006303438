//! Progress of a long run, on a terminal only.
#![allow(
    clippy::disallowed_methods,
    reason = "tells a person how long it takes; no result sees it"
)]

use std::{
    io::{self, IsTerminal},
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::output::to_stderr;

/// A run that ends sooner needs no progress.
const QUIET: Duration = Duration::from_millis(400);
const TICK_MS: u64 = 100;

/// Counts runs, and shows the count while standard error is a terminal.
pub(crate) struct Progress {
    start: Instant,
    is_shown: bool,
    done: AtomicU32,
    total: AtomicU32,
    last_ms: AtomicU64,
}

impl Progress {
    /// Start to count.
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
            is_shown: io::stderr().is_terminal(),
            done: AtomicU32::new(0),
            total: AtomicU32::new(0),
            last_ms: AtomicU64::new(0),
        }
    }

    /// About how many runs there will be.
    pub(crate) fn expect(&self, total: u32) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// One more run is done.
    pub(crate) fn one_done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let elapsed = self.start.elapsed();
        if !self.is_shown || elapsed < QUIET {
            return;
        }
        let now_ms = elapsed.as_millis() as u64;
        if now_ms < self.last_ms.load(Ordering::Relaxed) + TICK_MS {
            return;
        }
        self.last_ms.store(now_ms, Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed).max(done);
        to_stderr(&format!("\r{done} of about {total} runs "));
    }
}

impl Drop for Progress {
    /// Clear the line, so that the answer stands alone.
    fn drop(&mut self) {
        if self.last_ms.load(Ordering::Relaxed) > 0 {
            to_stderr("\r\u{1b}[K");
        }
    }
}
