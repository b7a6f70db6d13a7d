//! The atomics of the standard library, or those with which loom runs a model.

#[cfg(all(test, loom))]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(all(test, loom)))]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};
