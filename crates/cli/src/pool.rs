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

/// Do `make` with every job on up to `threads` threads.
pub(crate) fn each<J: Sync, R: Send>(
    jobs: &[J],
    make: impl Fn(&J) -> R + Sync,
    threads: NonZeroUsize,
    progress: &Progress,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some((index, job)) = take(jobs, &next) {
            let run = make(job);
            progress.one_done();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, run));
        }
    };
    thread::scope(|scope| {
        // This thread works, too.
        for _ in 1..threads.get().min(jobs.len()) {
            scope.spawn(&work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, made)| made).collect()
}

fn take<'a, J>(jobs: &'a [J], next: &AtomicUsize) -> Option<(usize, &'a J)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(index).map(|job| (index, job))
}
