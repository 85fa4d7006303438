//! Independent jobs on threads. The results come back in job order, so that an answer is the same
//! for any number of threads.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use planner::Job;
use sim_core::Run;

use crate::{failure::Failure, progress::Progress};

/// Threads to use where nobody says.
pub(crate) fn default_threads() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Simulate every job on up to `threads` threads.
pub(crate) fn run_all(
    jobs: &[Job],
    threads: NonZeroUsize,
    progress: &Progress,
) -> Result<Vec<Run>, Failure> {
    let run = |job: &Job| {
        let run = job.run();
        progress.one_done();
        run.map_err(Failure::from)
    };
    map(jobs, threads, run)
}

/// Work on every item on up to `threads` threads; the first failure, in their order, counts.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    threads: NonZeroUsize,
    work: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<R, Failure>)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some((index, item)) = take(items, &next) {
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        // This thread works, too.
        for _ in 1..threads.get().min(items.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    items.get(index).map(|item| (index, item))
}
