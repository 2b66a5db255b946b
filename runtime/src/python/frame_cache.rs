//! The cache of one frame: its table of entries, and how often it was traced.
use super::cache::Table;
use super::patience::Patience;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The entries of one frame.
#[derive(Debug, Default)]
pub struct Cache {
    pub generation: u64,
    /// Whether it was reported that no entry can be added.
    pub full: bool,
    /// How often the frame was traced, also for entries that are gone.
    pub traced: usize,
    /// How long it has waited for another chance.
    pub patience: Patience,
    pub table: Arc<Table>,
    /// Which traces from disk it got.
    pub loaded: FxHashSet<u64>,
    /// Where calls have found other numbers than guards asked for.
    pub changing: FxHashSet<u64>,
    /// Whether it is that of a continuation that goes on in a loop.
    pub in_loop: bool,
    /// Whether one of these has differed once more: some trace had to know it.
    pub changed_again: bool,
}

impl Cache {
    /// Takes all entries out; the caller drops them after it has released the lock.
    pub fn take(&mut self) -> Option<Arc<Table>> {
        (!self.table.is_empty()).then(|| std::mem::take(&mut self.table))
    }
}
