//! Runtimes by handle: a handle that was closed, or never was one, is told from the others.
use super::error::{Failure, Outcome};
use super::status::slotrt_status::{SLOTRT_CLOSED, SLOTRT_NOT_FOUND};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// What a host has opened.
#[derive(Debug)]
pub(super) struct Runtime {
    /// The interpreter's number.
    pub interpreter: i64,
    /// `slotrt._host.Host`.
    pub host: Py<PyAny>,
    /// Callables by the names that they were registered under.
    pub backends: Mutex<BTreeMap<String, Py<PyAny>>>,
    /// Whether the hook asks this runtime's host.
    pub hooked: AtomicBool,
}

static OPEN: Mutex<BTreeMap<u64, Arc<Runtime>>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Keeps a runtime; gives its handle.
pub(super) fn keep(runtime: Runtime) -> u64 {
    let handle = NEXT.fetch_add(1, Relaxed);
    if let Ok(mut open) = OPEN.lock() {
        open.insert(handle, Arc::new(runtime));
    }
    handle
}

/// The runtime of a handle.
pub(super) fn of(handle: u64) -> Outcome<Arc<Runtime>> {
    let found = OPEN.lock().ok().and_then(|open| open.get(&handle).cloned());
    found.ok_or_else(|| Failure::new(SLOTRT_CLOSED, format!("runtime {handle} is not open")))
}

/// Forgets a handle.
pub(super) fn forget(handle: u64) {
    let gone = OPEN.lock().ok().and_then(|mut open| open.remove(&handle));
    drop(gone);
}

/// Forgets all of them.
pub(super) fn forget_all() {
    let gone = OPEN.lock().map(|mut open| std::mem::take(&mut *open)).unwrap_or_default();
    drop(gone);
}

impl Runtime {
    /// The backend of this name; `None` for `eager`, the graph itself.
    pub fn backend(&self, py: Python<'_>, name: Option<&str>) -> Outcome<Option<Py<PyAny>>> {
        let Some(name) = name.filter(|name| *name != "eager") else { return Ok(None) };
        let backends = self.backends.lock().ok();
        let found = backends.and_then(|known| known.get(name).map(|backend| backend.clone_ref(py)));
        let text = || format!("no backend `{name}`: register it with slotrt_backend_register, or name `eager`");
        found.map(Some).ok_or_else(|| Failure::new(SLOTRT_NOT_FOUND, text()))
    }
}
