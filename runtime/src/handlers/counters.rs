//! What a frame handler has counted.
use super::coverage::Coverage;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// What a handler has seen.
#[derive(Debug, Default)]
pub struct Counters {
    /// Frames begun.
    pub frames: AtomicU64,
    /// Frames that ran a replaced code object.
    pub replaced: AtomicU64,
    /// Distinct (function, instruction) pairs that were split and run.
    pub pairs: AtomicU64,
    /// Which pairs those are.
    pub coverage: Arc<Coverage>,
    /// Frames that could not.
    pub declined: AtomicU64,
    /// (function, instruction) pairs that were not split, by reason.
    refused: Mutex<BTreeMap<String, u64>>,
}

impl Counters {
    /// Counts pairs that are refused for this reason.
    pub fn refuse(&self, reason: &str, pairs: u64) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry(reason.to_owned()).or_default() += pairs;
    }

    /// Pairs refused, by reason.
    #[must_use]
    pub fn refused(&self) -> BTreeMap<String, u64> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
