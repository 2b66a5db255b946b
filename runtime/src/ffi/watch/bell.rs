//! A watch, and the bell by which it hears of changes.
use super::{table::Place, watchers};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Broken as soon as anything that it was set on may be about to change.
#[derive(Debug)]
pub struct Watch {
    pub(super) bell: Arc<Bell>,
    /// Where its bell hangs.
    pub(super) hung: Vec<Place>,
    /// Addresses of dicts whose keys are known to be plain.
    pub(super) plain: Vec<usize>,
    /// Classes are kept alive while they are watched: nothing says when one dies. Shared with whoever wanted the watch and shows them to
    /// the garbage collector.
    pub(super) classes: Vec<Arc<Py<PyType>>>,
}

/// Rings once: 0 while all is quiet, else the mark of what changed, plus one.
#[derive(Debug, Default)]
pub(super) struct Bell(AtomicU32);

impl Bell {
    pub fn ring(&self, mark: u32) {
        // The first cause counts.
        let _ = self.0.compare_exchange(0, mark.saturating_add(1), Ordering::AcqRel, Ordering::Relaxed);
    }
}

impl Watch {
    /// A watch that is set on nothing yet; `None` where CPython does not tell.
    #[must_use]
    pub fn new(py: Python<'_>) -> Option<Self> {
        watchers::available(py).then(|| Self {
            bell: Arc::default(),
            hung: Vec::new(),
            plain: Vec::new(),
            classes: Vec::new(),
        })
    }

    /// Whether nothing that it was set on has changed.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.bell.0.load(Ordering::Acquire) == 0
    }

    /// The mark of what changed first; `None` while it holds.
    #[must_use]
    pub fn cause(&self) -> Option<u32> {
        self.bell.0.load(Ordering::Acquire).checked_sub(1)
    }
}
