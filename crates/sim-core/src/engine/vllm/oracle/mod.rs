//! The rules as their users know them: a scheduler that loops over every running request in every
//! step, block by block. Slow on purpose; the counting engine is tested against it.
//!
//! ```text
//!   Scheduler ──▶ WaitingQueue   who comes next
//!       │
//!       └───────▶ KvCache ──▶ BlockPool ──▶ FreeList     which block is reused first
//!                 tables      sharing  └──▶ PrefixCache  which block holds what
//! ```

mod block_pool;
mod completion;
mod counted;
mod decision;
mod driver;
mod free_list;
mod kv_cache;
mod prefix_cache;
mod queue;
mod request;
mod running;
mod scheduler;
mod truths;

pub use counted::CountedScheduler;
pub use decision::{Completion, Decision, Scheduled};
pub use driver::simulate_vllm_by_oracle;
pub use request::{Request, RequestId};
pub(in crate::engine) use scheduler::Line;
pub use scheduler::Scheduler;
