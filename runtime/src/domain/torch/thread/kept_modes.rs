//! Modes of the thread that are put back: what a backend runs while it compiles a graph may set some, as the graph does.
use super::modes::own_setters;
use crate::names::interned;
use pyo3::prelude::*;

/// Puts modes back as they were when it was made, as soon as it ends.
#[derive(Debug)]
pub(in crate::domain::torch) struct KeptModes(Vec<Kept>);

#[derive(Debug)]
struct Kept {
    set: Py<PyAny>,
    ask: Py<PyAny>,
    then: Py<PyAny>,
}

impl KeptModes {
    /// As they are now. What this PyTorch does not have is no mode.
    pub(in crate::domain::torch) fn now(module: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (py, native) = (module.py(), module.getattr(crate::names::name!("_C"))?);
        let found = |name: &str| {
            let name = interned(py, name);
            native.getattr_opt(&name).transpose().or_else(|| module.getattr_opt(&name).transpose()).transpose()
        };
        let mut kept = Vec::new();
        for (setter, question) in own_setters() {
            let (Some(set), Some(ask)) = (found(setter)?, found(question)?) else { continue };
            let then = ask.call0()?.unbind();
            kept.push(Kept { set: set.unbind(), ask: ask.unbind(), then });
        }
        Ok(Self(kept))
    }
}

impl Kept {
    fn put_back(&self, py: Python<'_>) -> PyResult<()> {
        if self.ask.bind(py).call0()?.eq(&self.then)? {
            return Ok(());
        }
        self.set.call1(py, (&self.then,)).map(drop)
    }
}

impl Drop for KeptModes {
    fn drop(&mut self) {
        Python::attach(|py| {
            // It refuses nothing that was so before.
            self.0.iter().for_each(|kept| drop(kept.put_back(py)));
        });
    }
}
