//! Loops that break the graph: how often their continuations are traced again, and how often they run what was traced.
//!
//! A loop whose steps each need a trace of their own is not worth the traces: it runs as it is, until what was traced has run more often.
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// So many runs of what was traced pay for one trace more.
const RUNS: u64 = 64;

/// What the loops of one function have cost and brought.
#[derive(Debug, Default)]
pub(super) struct Loops {
    /// Traces of continuations in loops beside their first.
    traces: AtomicU64,
    /// Runs of what was traced of continuations.
    runs: AtomicU64,
    /// How often all was forgotten before.
    generation: AtomicU64,
}

impl Loops {
    /// What was traced has run.
    pub(super) fn note_run(&self) {
        self.runs.fetch_add(1, Relaxed);
    }

    /// Whether a continuation may be traced once more, where `limit` traces are free: that counts as one.
    pub(super) fn may_trace(&self, limit: usize) -> bool {
        let may = self.traces.load(Relaxed) < limit as u64 + self.runs.load(Relaxed) / RUNS;
        if may {
            self.traces.fetch_add(1, Relaxed);
        }
        may
    }

    /// Forgets what is of an earlier generation.
    pub(super) fn begin(&self, generation: u64) {
        if self.generation.swap(generation, Relaxed) == generation {
            return;
        }
        self.traces.store(0, Relaxed);
        self.runs.store(0, Relaxed);
    }
}
