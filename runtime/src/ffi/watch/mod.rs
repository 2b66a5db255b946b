//! Watches: what CPython says of changes to dicts, classes and functions while they are made (3.12 and later).
//!
//! A watch breaks when something that it was set on may be about to change; it never tells more, and it may break for nothing. On 3.11,
//! and where no watcher is free, no watch can be made, and who wanted one looks for itself.
mod table;
#[cfg(Py_3_12)]
mod watchers;

use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Broken as soon as anything that it was set on may be about to change.
#[derive(Debug)]
pub struct Watch {
    bell: Arc<Bell>,
    /// Where its bell hangs.
    hung: Vec<table::Place>,
    /// Classes are kept alive while they are watched: nothing says when one dies. Shared with whoever wanted the watch and shows them to
    /// the garbage collector.
    classes: Vec<Arc<Py<PyType>>>,
}

/// Rings once: 0 while all is quiet, else the mark of what changed, plus one.
#[derive(Debug, Default)]
struct Bell(AtomicU32);

impl Bell {
    fn ring(&self, mark: u32) {
        // The first cause counts.
        let _ = self.0.compare_exchange(0, mark.saturating_add(1), Ordering::AcqRel, Ordering::Relaxed);
    }
}

impl Watch {
    /// A watch that is set on nothing yet; `None` where CPython does not tell.
    #[must_use]
    pub fn new(py: Python<'_>) -> Option<Self> {
        available(py).then(|| Self { bell: Arc::default(), hung: Vec::new(), classes: Vec::new() })
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

#[cfg(not(Py_3_12))]
mod unheard {
    use super::*;

    pub(super) fn available(_py: Python<'_>) -> bool {
        false
    }

    /// Nothing is watched here.
    #[must_use]
    pub fn counts() -> [Option<usize>; 3] {
        [None; 3]
    }

    impl Watch {
        /// Nothing is told of dicts here.
        pub fn entry(&mut self, _dict: &Bound<'_, PyAny>, _key: &Bound<'_, PyAny>, _mark: u32) -> bool {
            false
        }

        /// Nothing is told of dicts here.
        pub fn names(&mut self, _dict: &Bound<'_, PyAny>, _mark: u32) -> bool {
            false
        }

        /// Nothing is told of dicts here.
        pub fn whole(&mut self, _dict: &Bound<'_, PyAny>, _mark: u32) -> bool {
            false
        }

        /// Nothing is told of classes here.
        pub fn class(&mut self, _py: Python<'_>, _class: &Arc<Py<PyType>>, _mark: u32) -> bool {
            false
        }

        /// Nothing is told of functions here.
        pub fn function(&mut self, _function: &Bound<'_, PyAny>, _mark: u32) -> bool {
            false
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {}
    }
}

#[cfg(not(Py_3_12))]
use unheard::available;
#[cfg(not(Py_3_12))]
pub use unheard::counts;
#[cfg(Py_3_12)]
use watchers::available;
#[cfg(Py_3_12)]
pub use watchers::counts;
