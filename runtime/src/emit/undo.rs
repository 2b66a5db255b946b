//! What is saved before a graph that may raise after it has changed something, and put back where it does.
use super::failure::Failure;
use super::prologue::Arg;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::domain::{Domain, SavedParts, SavedState};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

impl Writer<'_, '_> {
    /// Saves what the graph may have to take back; gives the temporary that holds it.
    pub(super) fn save_inputs(&mut self) -> Result<Option<usize>, Failure> {
        let outcome = self.outcome;
        let undo = &outcome.undo;
        let Some(domain) = undo.domain.as_ref().filter(|_| undo.saves()) else { return Ok(None) };
        let save = Save {
            domain: Arc::clone(domain),
            generators: undo.generators.iter().map(|generator| generator.clone_ref(self.py)).collect(),
            parts: undo.parts,
            always: undo.always,
            parts_always: undo.parts_always,
            has_run: Arc::default(),
        };
        self.callee(Bound::new(self.py, save)?.into_any());
        undo.inputs.iter().try_for_each(|input| self.load(*input))?;
        self.call(undo.inputs.len() as u32);
        let temporary = self.temporary();
        self.op(Op::STORE_FAST, Arg::Temporary(temporary));
        Ok(Some(temporary))
    }
}

/// Saves what it is called with, before a graph runs: everything until the graph has run once, for what meta data do not allow raises each
/// time; then what contents may make necessary.
#[pyclass(frozen, module = "slotrt")]
struct Save {
    domain: Arc<dyn Domain>,
    generators: Vec<Py<PyAny>>,
    parts: SavedParts,
    always: usize,
    parts_always: SavedParts,
    /// Whether the graph has run to its end.
    has_run: Arc<AtomicBool>,
}

#[pymethods]
impl Save {
    #[pyo3(signature = (*objects))]
    fn __call__(&self, objects: &Bound<'_, PyTuple>) -> PyResult<Saved> {
        let py = objects.py();
        let everything = !self.has_run.load(Relaxed);
        let (count, parts) = if everything { (objects.len(), self.parts) } else { (self.always, self.parts_always) };
        let generators = self.generators.iter().filter(|_| parts.random).map(|generator| generator.bind(py).clone());
        let saved: Vec<_> = objects.iter().take(count).chain(generators).collect();
        let is_whole = count == objects.len();
        let nothing = saved.is_empty() && !parts.random && !parts.nesting;
        let state = if nothing { None } else { self.domain.save(py, &saved, parts)? };
        Ok(Saved { state, is_whole, raised: AtomicBool::default(), has_run: Arc::clone(&self.has_run) })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.generators.iter().try_for_each(|generator| visit.call(generator))
    }
}

/// What was saved; nothing refers to it but the frame that runs.
#[pyclass(frozen, module = "slotrt")]
pub(super) struct Saved {
    state: Option<Box<dyn SavedState>>,
    /// Whether it is all that the graph changes.
    is_whole: bool,
    raised: AtomicBool,
    has_run: Arc<AtomicBool>,
}

impl Saved {
    /// Notes that the graph has raised; whether everything can be put back.
    pub(super) fn is_whole(&self) -> bool {
        self.raised.store(true, Relaxed);
        self.is_whole
    }

    /// Puts everything back.
    pub(super) fn restore(&self, py: Python<'_>) -> PyResult<()> {
        self.state.as_ref().map_or(Ok(()), |state| state.restore(py))
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        if !self.raised.load(Relaxed) {
            self.has_run.store(true, Relaxed);
        }
    }
}
