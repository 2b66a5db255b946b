//! What is saved before a graph that may raise after it has changed something, and put back where it does.
use super::failure::Failure;
use super::prologue::Arg;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::domain::{Domain, SavedParts, SavedState};
use crate::stored::{Damaged, In, Misfit, Out};
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
            raises_before: undo.raises_before,
            parts_always: undo.parts_always,
            leaves: undo.leaves.len(),
            has_run: Arc::default(),
        };
        self.callee(Bound::new(self.py, save)?.into_any());
        undo.inputs.iter().chain(&undo.leaves).try_for_each(|input| self.load(*input))?;
        self.call((undo.inputs.len() + undo.leaves.len()) as u32);
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
    /// Whether versions tell if the graph has changed what is not saved.
    raises_before: bool,
    parts_always: SavedParts,
    /// How many of the last objects are leaves whose gradients are saved.
    leaves: usize,
    /// Whether the graph has run to its end.
    has_run: Arc<AtomicBool>,
}

#[pymethods]
impl Save {
    #[pyo3(signature = (*objects))]
    fn __call__(&self, objects: &Bound<'_, PyTuple>) -> PyResult<Saved> {
        let py = objects.py();
        let everything = !self.has_run.load(Relaxed);
        let changed = objects.len() - self.leaves;
        let (count, parts) = if everything { (changed, self.parts) } else { (self.always, self.parts_always) };
        let generators = self.generators.iter().filter(|_| parts.random).map(|generator| generator.bind(py).clone());
        let saved: Vec<_> = objects.iter().take(count).chain(generators).collect();
        let versions = objects.iter().take(changed).skip(count).map(|object| {
            let version = if self.raises_before { self.domain.version(&object)? } else { return None };
            Some((object.unbind(), version))
        });
        let unsaved = versions.collect();
        let nothing = saved.is_empty() && !parts.random && !parts.nesting;
        let state = if nothing { None } else { self.domain.save(py, &saved, parts)? };
        let gradients = self.save_gradients(objects, everything)?;
        let domain = Arc::clone(&self.domain);
        Ok(Saved {
            domain,
            state,
            gradients,
            unsaved,
            raised: AtomicBool::default(),
            has_run: Arc::clone(&self.has_run),
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.generators.iter().try_for_each(|generator| visit.call(generator))
    }
}

impl Save {
    fn save_gradients(&self, objects: &Bound<'_, PyTuple>, everything: bool) -> PyResult<Option<Box<dyn SavedState>>> {
        if self.leaves == 0 {
            return Ok(None);
        }
        let leaves: Vec<_> = objects.iter().skip(objects.len() - self.leaves).collect();
        self.domain.save_gradients(objects.py(), &leaves, everything)
    }
}

/// What was saved; nothing refers to it but the frame that runs.
#[pyclass(frozen, module = "slotrt")]
pub(super) struct Saved {
    domain: Arc<dyn Domain>,
    state: Option<Box<dyn SavedState>>,
    gradients: Option<Box<dyn SavedState>>,
    /// What the graph changes beside it, with versions; `None`: these cannot be told.
    unsaved: Option<Vec<(Py<PyAny>, u64)>>,
    raised: AtomicBool,
    has_run: Arc<AtomicBool>,
}

impl Saved {
    /// Notes that the graph has raised; whether everything that it has changed can be put back.
    pub(super) fn is_whole(&self, py: Python<'_>) -> bool {
        self.raised.store(true, Relaxed);
        let is_same = |(object, version): &(Py<PyAny>, u64)| self.domain.version(object.bind(py)) == Some(*version);
        self.gradients.as_ref().is_none_or(|gradients| gradients.is_whole(py))
            && self.unsaved.as_ref().is_some_and(|unsaved| unsaved.iter().all(is_same))
    }

    /// Puts everything back.
    pub(super) fn restore(&self, py: Python<'_>) -> PyResult<()> {
        self.state.iter().chain(&self.gradients).try_for_each(|state| state.restore(py))
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        if !self.raised.load(Relaxed) {
            self.has_run.store(true, Relaxed);
        }
    }
}

/// Writes what saves inputs before a graph runs; `false`: the object is another.
///
/// # Errors
/// What of it cannot be written.
pub fn write_save<'py>(object: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<bool, Misfit> {
    let Ok(save) = object.cast_exact::<Save>() else { return Ok(false) };
    let save = save.get();
    out.bytes.text(save.domain.name());
    out.bytes.number(save.generators.len() as u64);
    for generator in &save.generators {
        out.object(generator.bind(object.py()))?;
    }
    out.bytes.number(save.always as u64);
    out.bytes.0.push(u8::from(save.raises_before));
    out.bytes.number(save.leaves as u64);
    for parts in [save.parts, save.parts_always] {
        out.bytes.0.extend([u8::from(parts.random), u8::from(parts.nesting)]);
    }
    Ok(true)
}

/// Reads what [`write_save`] has written; its domain is one of these.
///
/// # Errors
/// What of it is not in this process.
pub fn read_save<'py>(from: &mut In<'_, 'py>, domains: &[Arc<dyn Domain>]) -> Result<Bound<'py, PyAny>, Misfit> {
    let name = from.bytes.text()?;
    let domain = domains.iter().find(|domain| domain.name() == name);
    let domain = Arc::clone(domain.ok_or_else(|| Misfit::new("a library that is not loaded"))?);
    let generators = (0..from.bytes.count()?).map(|_| Ok(from.object()?.unbind())).collect::<Result<_, Misfit>>()?;
    let always = from.bytes.index()?;
    let raises_before = from.bytes.byte()? != 0;
    let leaves = from.bytes.index()?;
    let (parts, parts_always) = (read_parts(from)?, read_parts(from)?);
    let has_run = Arc::default();
    let save = Save { domain, generators, parts, always, raises_before, parts_always, leaves, has_run };
    Ok(Bound::new(from.py(), save)?.into_any())
}

fn read_parts(from: &mut In<'_, '_>) -> Result<SavedParts, Damaged> {
    Ok(SavedParts { random: from.bytes.byte()? != 0, nesting: from.bytes.byte()? != 0 })
}
