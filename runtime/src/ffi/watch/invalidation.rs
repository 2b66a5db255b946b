//! The invalidation of a watch: whether something that it was set on has changed, and what.
use std::sync::atomic::{AtomicU32, Ordering};

/// Happens once: 0 while nothing has changed, else the mark of what changed, plus one.
#[derive(Debug, Default)]
pub(super) struct Invalidation(AtomicU32);

impl Invalidation {
    /// The mark of what changed first; `None` where nothing has changed.
    pub fn cause(&self) -> Option<u32> {
        self.0.load(Ordering::Acquire).checked_sub(1)
    }

    /// Says that something changes.
    pub fn invalidate(&self, mark: u32) {
        // The first cause counts.
        let _ = self.0.compare_exchange(0, mark.saturating_add(1), Ordering::AcqRel, Ordering::Relaxed);
    }
}
