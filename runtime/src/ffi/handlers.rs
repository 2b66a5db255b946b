//! Two frame handlers that change nothing: one looks, one runs every frame from a re-assembled code object.
use super::frame::{Declined, Frame};
use super::hook::{Action, FrameHandler};
use crate::bytecode::Code;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What a handler has seen.
#[derive(Debug, Default)]
pub struct Counters {
    /// Frames begun.
    pub frames: AtomicU64,
    /// Frames that ran a replaced code object.
    pub replaced: AtomicU64,
    /// Frames that could not.
    pub declined: AtomicU64,
}

/// Counts frames, leaves all alone.
#[derive(Debug)]
pub struct Observe(pub Arc<Counters>);

impl FrameHandler for Observe {
    fn observe(&self, _frame: Frame<'_>) -> bool {
        self.0.frames.store(self.0.frames.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        false
    }

    fn enter(&self, _py: Python<'_>, _frame: Frame<'_>) -> PyResult<Action> {
        Ok(Action::Run)
    }

    fn declined(&self, _reason: Declined) {}
}

/// Runs each frame from a code object that was decoded and assembled again.
#[derive(Debug, Default)]
pub struct Reassemble {
    /// What happened.
    pub counters: Arc<Counters>,
    /// By address of the original, which is kept alive.
    codes: Mutex<FxHashMap<usize, (Py<PyAny>, Option<Py<PyAny>>)>>,
}

impl Reassemble {
    /// With counters to watch.
    #[must_use]
    pub fn new(counters: Arc<Counters>) -> Self {
        Self { counters, codes: Mutex::default() }
    }
}

impl FrameHandler for Reassemble {
    fn observe(&self, _frame: Frame<'_>) -> bool {
        self.counters.frames.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn enter(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Action> {
        let key = frame.code_address();
        let known = |codes: &FxHashMap<usize, (Py<PyAny>, Option<Py<PyAny>>)>| {
            codes.get(&key).map(|(_, made)| made.as_ref().map(|made| made.clone_ref(py)))
        };
        let found = self.codes.lock().ok().and_then(|codes| known(&codes));
        let made = match found {
            Some(made) => made,
            None => {
                let original = frame.code(py);
                let made = Code::decode(&original).and_then(|code| code.assemble(py)).ok().map(Bound::unbind);
                let copy = made.as_ref().map(|made| made.clone_ref(py));
                if let Ok(mut codes) = self.codes.lock() {
                    codes.insert(key, (original.unbind(), copy));
                }
                made
            }
        };
        match made {
            Some(code) => {
                self.counters.replaced.fetch_add(1, Ordering::Relaxed);
                Ok(Action::Replace(code))
            }
            None => {
                self.counters.declined.fetch_add(1, Ordering::Relaxed);
                Ok(Action::Run)
            }
        }
    }

    fn declined(&self, _reason: Declined) {
        self.counters.replaced.fetch_sub(1, Ordering::Relaxed);
        self.counters.declined.fetch_add(1, Ordering::Relaxed);
    }
}
