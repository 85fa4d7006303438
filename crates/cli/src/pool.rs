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
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Run, sim_core::SetupError>)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some((index, job)) = take(jobs, &next) {
            let run = job.run();
            progress.one_done();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, run));
        }
    };
    thread::scope(|scope| {
        // This thread works, too.
        for _ in 1..threads.get().min(jobs.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, run)| run.map_err(Failure::from)).collect()
}

fn take<'a>(jobs: &'a [Job], next: &AtomicUsize) -> Option<(usize, &'a Job)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(index).map(|job| (index, job))
}
