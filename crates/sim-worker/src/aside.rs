//! What a worker does beside answering plans.

use protocol::FromWorker;

/// Work in progress that waits while there is a plan to answer.
pub(crate) trait Aside {
    /// One piece of it; true once all is done.
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool;
}
