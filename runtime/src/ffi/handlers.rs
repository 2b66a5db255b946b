//! Frame handlers that change nothing: one looks, one runs every frame from another code object that says the same.
use super::extra;
use super::frame::{Declined, Frame};
use super::hook::{Action, FrameHandler};
use crate::bytecode::Code;
use crate::bytecode::split::ledger::Ledger;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyCode;
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
    /// Which pairs those are.
    pub ledger: Arc<Ledger>,
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

/// Where the other code object comes from.
#[derive(Clone, Copy, Debug)]
pub enum Twin {
    /// It is decoded and assembled again.
    Reassembled,
    /// `code.replace()` makes it: what that changes, no replaced code object can keep.
    Copied,
}

impl Twin {
    /// `None` where the code object cannot be decoded.
    fn of<'py>(self, code: &Bound<'py, PyCode>) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::Reassembled => Code::decode(code).and_then(|decoded| decoded.assemble(code.py())).ok(),
            Self::Copied => code.call_method0(name!("replace")).ok(),
        }
    }
}

/// Runs each frame from a code object like its own, which is kept with the original.
#[derive(Debug)]
pub struct Replaced {
    /// What happened.
    pub counters: Arc<Counters>,
    /// The other code object.
    pub twin: Twin,
}

impl Replaced {
    /// The other code object, made once.
    fn made(&self, code: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let py = code.py();
        let code = code.cast::<PyCode>()?;
        let found = match extra::get(code)? {
            Some(found) => found,
            None => {
                let made = self.twin.of(code).unwrap_or_else(|| py.None().into_bound(py));
                extra::set(code, made.clone())?;
                made
            }
        };
        Ok((!found.is_none()).then(|| found.unbind()))
    }
}

impl FrameHandler for Replaced {
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
