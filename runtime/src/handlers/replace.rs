//! A frame handler that runs every frame from another code object with the same meaning.
use super::counters::Counters;
use crate::bytecode::Code;
use crate::ffi::extra::{self, Place};
use crate::ffi::frame::{Frame, ReplaceRefusal};
use crate::ffi::hook::{Action, FrameHandler};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How the other code object is made.
#[derive(Clone, Copy, Debug)]
pub enum CodeCopy {
    /// It is decoded and assembled again.
    Reassembled,
    /// `code.replace()` makes it: what that changes, no replaced code object can keep.
    Copied,
}

impl CodeCopy {
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
pub struct Replace {
    /// What happened.
    pub counters: Arc<Counters>,
    /// The other code object.
    pub copy: CodeCopy,
}

impl Replace {
    /// The other code object, made once.
    fn made(&self, code: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let py = code.py();
        let code = code.cast::<PyCode>()?;
        let found = match extra::get(code, Place::Replacement)? {
            Some(found) => found,
            None => {
                let made = self.copy.of(code).unwrap_or_else(|| py.None().into_bound(py));
                extra::set(code, Place::Replacement, made.clone())?;
                made
            }
        };
        Ok((!found.is_none()).then(|| found.unbind()))
    }
}

impl FrameHandler for Replace {
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

    fn declined(&self, _reason: ReplaceRefusal) {
        self.counters.replaced.fetch_sub(1, Ordering::Relaxed);
        self.counters.declined.fetch_add(1, Ordering::Relaxed);
    }
}
