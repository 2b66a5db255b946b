//! Two frame handlers that change nothing: one looks, one runs every frame from a re-assembled code object.
use super::frame::{Declined, Frame};
use super::hook::{Action, FrameHandler};
use crate::bytecode::Code;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
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
    /// Distinct (function, instruction) pairs that were split and run.
    pub pairs: AtomicU64,
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

/// Code objects made from others, by the others' addresses; keeps only what is made alive.
#[derive(Debug, Default)]
struct Table {
    made: FxHashMap<usize, (Py<PyAny>, Option<Py<PyAny>>)>,
    purge_at: usize,
}

impl Table {
    /// What was made of the code object, if it is still the one at that address.
    fn find(&self, code: &Bound<'_, PyAny>) -> Option<Option<Py<PyAny>>> {
        let py = code.py();
        let (reference, made) = self.made.get(&(code.as_ptr() as usize))?;
        let alive = reference.bind(py).cast::<PyWeakrefReference>().ok()?.upgrade()?;
        alive.is(code).then(|| made.as_ref().map(|made| made.clone_ref(py)))
    }

    /// Adds an entry; gives what fell out, to be dropped without the lock.
    fn insert(&mut self, code: &Bound<'_, PyAny>, made: Option<Py<PyAny>>) -> PyResult<Vec<Option<Py<PyAny>>>> {
        let py = code.py();
        let mut dropped = Vec::new();
        if self.made.len() >= self.purge_at.max(1024) {
            let dead = |entry: &Py<PyAny>| {
                entry.bind(py).cast::<PyWeakrefReference>().is_ok_and(|reference| reference.upgrade().is_none())
            };
            let keys: Vec<usize> = self.made.iter().filter(|(_, entry)| dead(&entry.0)).map(|(key, _)| *key).collect();
            dropped.extend(keys.iter().filter_map(|key| self.made.remove(key)).map(|entry| entry.1));
            self.purge_at = 2 * self.made.len();
        }
        let reference = PyWeakrefReference::new(code)?.into_any().unbind();
        dropped.extend(self.made.insert(code.as_ptr() as usize, (reference, made)).map(|entry| entry.1));
        Ok(dropped)
    }
}

/// Runs each frame from a code object that was decoded and assembled again.
#[derive(Debug, Default)]
pub struct Reassemble {
    /// What happened.
    pub counters: Arc<Counters>,
    codes: Mutex<Table>,
}

impl Reassemble {
    /// With counters to watch.
    #[must_use]
    pub fn new(counters: Arc<Counters>) -> Self {
        Self { counters, codes: Mutex::default() }
    }

    fn made(&self, code: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        if let Some(made) = self.codes.lock().ok().and_then(|codes| codes.find(code)) {
            return Ok(made);
        }
        let py = code.py();
        let made = Code::decode(code).and_then(|decoded| decoded.assemble(py)).ok().map(Bound::unbind);
        let copy = made.as_ref().map(|made| made.clone_ref(py));
        let dropped = self.codes.lock().map(|mut codes| codes.insert(code, copy));
        drop(dropped);
        Ok(made)
    }
}

impl FrameHandler for Reassemble {
    fn observe(&self, _frame: Frame<'_>) -> bool {
        self.counters.frames.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn enter(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Action> {
        match self.made(&frame.code(py))? {
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
