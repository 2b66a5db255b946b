//! Two frame handlers that change nothing: one looks, one runs every frame from a re-assembled code object.
use super::frame::{Declined, Frame};
use super::hook::{Action, FrameHandler};
use crate::bytecode::Code;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyWeakrefMethods, PyWeakrefReference};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// Code objects made from others, by the others' addresses; an entry goes when its code object does.
type Table = Arc<Mutex<FxHashMap<usize, (Py<PyAny>, Option<Py<PyAny>>)>>>;

/// What was made of the code object, if it is still the one at that address.
fn find(table: &Table, code: &Bound<'_, PyAny>) -> Option<Option<Py<PyAny>>> {
    let py = code.py();
    let known = table.lock().unwrap_or_else(PoisonError::into_inner);
    let (reference, made) = known.get(&(code.as_ptr() as usize))?;
    let (reference, made) = (reference.clone_ref(py), made.as_ref().map(|made| made.clone_ref(py)));
    drop(known);
    let alive = reference.bind(py).cast::<PyWeakrefReference>().ok()?.upgrade()?;
    alive.is(code).then_some(made)
}

/// Adds an entry, which the code object's death takes out again. What falls out is dropped without the lock.
fn insert(table: &Table, code: &Bound<'_, PyAny>, made: Option<Py<PyAny>>) -> PyResult<()> {
    let py = code.py();
    let (key, weak) = (code.as_ptr() as usize, Arc::downgrade(table));
    let forget = PyCFunction::new_closure(py, None, None, move |args, _| {
        let Some(table) = weak.upgrade() else { return };
        let mut known = table.lock().unwrap_or_else(PoisonError::into_inner);
        // Another code object may live at the address by now.
        let dead = args.get_item(0).is_ok_and(|reference| known.get(&key).is_some_and(|entry| entry.0.is(&reference)));
        let gone = if dead { known.remove(&key) } else { None };
        drop(known);
        drop(gone);
    })?;
    let reference = PyWeakrefReference::new_with(code, forget)?.into_any().unbind();
    let mut known = table.lock().unwrap_or_else(PoisonError::into_inner);
    let replaced = known.insert(key, (reference, made));
    drop(known);
    drop(replaced);
    Ok(())
}

/// Runs each frame from a code object that was decoded and assembled again.
#[derive(Debug, Default)]
pub struct Reassemble {
    /// What happened.
    pub counters: Arc<Counters>,
    codes: Table,
}

impl Reassemble {
    /// With counters to watch.
    #[must_use]
    pub fn new(counters: Arc<Counters>) -> Self {
        Self { counters, codes: Table::default() }
    }

    fn made(&self, code: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        if let Some(made) = find(&self.codes, code) {
            return Ok(made);
        }
        let py = code.py();
        let made = Code::decode(code).and_then(|decoded| decoded.assemble(py)).ok().map(Bound::unbind);
        let copy = made.as_ref().map(|made| made.clone_ref(py));
        insert(&self.codes, code, copy)?;
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
