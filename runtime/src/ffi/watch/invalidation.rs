//! The invalidation of a watch: whether something that it was set on has changed, and what.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Changes that are remembered beside the first.
const REMEMBERED: usize = 32;

/// Happens once; what changes later, while somebody still holds the watch, is remembered.
#[derive(Debug, Default)]
pub(super) struct Invalidation {
    /// 0 while nothing has changed, else the mark of what changed first, plus one.
    first: AtomicU32,
    later: Mutex<Vec<u32>>,
}

impl Invalidation {
    /// The mark of what changed first; `None` where nothing has changed.
    #[inline]
    pub fn cause(&self) -> Option<u32> {
        self.first.load(Ordering::Acquire).checked_sub(1)
    }

    /// The marks of what has changed.
    pub fn causes(&self) -> Vec<u32> {
        let later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        self.cause().into_iter().chain(later.iter().copied()).collect()
    }

    /// Says that something changes.
    pub fn invalidate(&self, mark: u32) {
        let first = self.first.compare_exchange(0, mark.saturating_add(1), Ordering::AcqRel, Ordering::Acquire);
        if first.is_ok() || first == Err(mark.saturating_add(1)) {
            return;
        }
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        if later.len() < REMEMBERED && !later.contains(&mark) {
            later.push(mark);
        }
    }
}
