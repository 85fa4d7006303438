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
    each(jobs, Job::run, threads, progress)
        .into_iter()
        .map(|run| run.map_err(Failure::from))
        .collect()
}

/// Do `make` with every job on up to `threads` threads, and count the jobs as they end.
pub(crate) fn each<J: Sync, R: Send>(
    jobs: &[J],
    make: impl Fn(&J) -> R + Sync,
    threads: NonZeroUsize,
    progress: &Progress,
) -> Vec<R> {
    let make = |job: &J| {
        let made = make(job);
        progress.one_done();
        made
    };
    map(jobs, threads, make)
}

/// Work on every item on up to `threads` threads.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    threads: NonZeroUsize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
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
