//! What stands in the place of another compiler is asked for that one's settings whenever a frame is about to be traced.
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The one who stands there; nobody, where `slotrt` is used by its own name.
#[derive(Debug, Default)]
pub struct Frontend {
    asked: Mutex<Option<Py<PyAny>>>,
    /// The limit of traces that it named last; 0: none.
    limit: AtomicUsize,
}

/// Its settings: a dict.
#[derive(Clone, Copy, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    /// Nothing is traced.
    pub off: bool,
    /// How many traces a frame may have.
    pub limit: usize,
    /// A frame that has a trace gets no other one: that is an error.
    pub once: bool,
    /// Reaching the limit is an error.
    pub strict: bool,
}

impl Frontend {
    /// Puts somebody there, or nobody.
    pub fn set(&self, asked: Option<Py<PyAny>>) {
        let before = std::mem::replace(&mut *self.lock(), asked);
        self.limit.store(0, Relaxed);
        drop(before);
    }

    /// The limit of traces that it named last.
    pub fn limit(&self) -> Option<usize> {
        Some(self.limit.load(Relaxed)).filter(|limit| *limit != 0)
    }

    /// Asks for the settings, with a limit that holds from now on; `None`: nobody is there.
    pub fn ask<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyAny>, Settings)>> {
        let Some(asked) = self.lock().as_ref().map(|asked| asked.bind(py).clone()) else { return Ok(None) };
        let settings: Settings = asked.call_method0("settings")?.extract()?;
        self.limit.store(settings.limit, Relaxed);
        Ok(Some((asked, settings)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
