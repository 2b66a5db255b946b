//! Functions that break at a given instruction and go on in continuations: splitting proven without a tracer.
use super::coverage::ReachedNote;
use crate::bytecode::Code;
use crate::bytecode::shape::State;
use crate::ffi::callable::{self, Choice, Dispatch};
use crate::ffi::{Args, function};
use crate::split::{Continuation, Key, Refusal, TransferConstants, split_any};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// One function, split at one instruction, with its continuations.
pub(super) struct SplitFunction {
    /// Byte offset of the instruction in the function's code.
    pub offset: u32,
    /// Whether continuations break there again.
    pub every: bool,
    pub function: Py<PyAny>,
    pub constants: TransferConstants,
    pub continuations: Mutex<FxHashMap<Key, Py<PyAny>>>,
    /// What notes that a continuation was entered.
    pub reached: Option<ReachedNote>,
}

struct SplitDispatch {
    split_function: Arc<SplitFunction>,
    /// Whether this is the function itself: the one that shows all objects to the collector.
    root: bool,
    code: Mutex<Option<Code>>,
    entry: OnceLock<Py<PyAny>>,
}

impl Dispatch for SplitDispatch {
    fn choose<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Choice> {
        let py = args.py();
        if let Some(reached) = self.split_function.reached.as_ref().filter(|_| !self.root) {
            reached.note();
        }
        if let Some(entry) = self.entry.get() {
            return Ok(Choice::Run(entry.clone_ref(py)));
        }
        let code = self.code.lock().ok().and_then(|mut code| code.take());
        let code = code.ok_or_else(|| PyRuntimeError::new_err("a continuation was entered while it was being made"))?;
        let made = self.split_function.install(py, &code, function)?;
        let entry = self.entry.get_or_init(|| made.unbind());
        Ok(Choice::Run(entry.clone_ref(py)))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if self.root {
            visit(&self.split_function.function);
            // Held only while the table is changed, never while Python code runs.
            if let Ok(known) = self.split_function.continuations.try_lock() {
                known.values().for_each(&mut *visit);
            }
        }
        if let Some(entry) = self.entry.get() {
            visit(entry);
        }
    }

    fn clear(&self) {
        let taken = self.split_function.continuations.lock().map(|mut known| std::mem::take(&mut *known));
        drop(taken);
    }
}

impl SplitFunction {
    /// `code` with a transfer after the instruction; `None` where that is unreachable.
    fn split_code(self: &Arc<Self>, py: Python<'_>, code: &Code) -> PyResult<Option<Code>> {
        let Some(at) = code.index_at(self.offset) else { return Ok(None) };
        let Some(state) = code.states()?.into_iter().nth(at).flatten() else { return Ok(None) };
        self.split_at(py, code, at, &state).map(Some)
    }

    /// `code`, in this state before the instruction, with a transfer after it.
    pub fn split_at(self: &Arc<Self>, py: Python<'_>, code: &Code, at: usize, state: &State) -> PyResult<Code> {
        let mut split = split_any(py, code, at, state, &self.constants).map_err(refused)?;
        for continuation in &split.continuations {
            let callable = self.continuation(py, continuation)?;
            split.code.consts[continuation.constant] = callable;
        }
        Ok(split.code)
    }

    /// The function that runs `code` up to the instruction and transfers the frame; all of it where the instruction is unreachable.
    fn install<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        code: &Code,
        like: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(mut code) = self.split_code(py, code)? else {
            return function::from_code(&code.assemble(py)?, like);
        };
        code.flatten();
        let assembled = code.assemble(py)?;
        let root = self.function.bind(py);
        if like.is(root) { with_closure(&assembled, root) } else { function::from_code(&assembled, like) }
    }

    fn continuation(self: &Arc<Self>, py: Python<'_>, wanted: &Continuation) -> PyResult<Py<PyAny>> {
        let poisoned = || PyRuntimeError::new_err("the table of continuations is poisoned");
        if let Some(known) = self.continuations.lock().map_err(|_| poisoned())?.get(&wanted.key) {
            return Ok(known.clone_ref(py));
        }
        let code = wanted.build(py, &self.constants).map_err(refused)?;
        let plain = function::from_code(&code.assemble(py)?, self.function.bind(py))?;
        let again = self.every && !wanted.is_rebuilt();
        let code = Mutex::new(again.then_some(code));
        let entry = OnceLock::new();
        if !again {
            let _ = entry.set(plain.clone().unbind());
        }
        let made = callable::new(
            &plain,
            Box::new(SplitDispatch { split_function: Arc::clone(self), root: false, code, entry }),
            true,
        )?
        .unbind();
        let mut known = self.continuations.lock().map_err(|_| poisoned())?;
        Ok(known.entry(wanted.key.clone()).or_insert(made).clone_ref(py))
    }
}

/// A function with the code and everything else as in `like`; slots of a transfer may look like free variables.
pub(super) fn with_closure<'py>(code: &Bound<'py, PyAny>, like: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let made = function::from_code(code, like)?;
    if let Ok(cells) = like.getattr("__closure__")?.cast_into::<PyTuple>() {
        function::set_closure(&made, Some(&cells))?;
    }
    made.setattr("__name__", like.getattr("__name__")?)?;
    made.setattr("__qualname__", like.getattr("__qualname__")?)?;
    Ok(made)
}

fn refused(refusal: Refusal) -> PyErr {
    match refusal {
        Refusal::Damaged(error) => error.into(),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// A callable like `function` that runs natively up to and with the instruction at byte offset `offset`, transfers its
/// frame there, and goes on in a continuation; with `every`, again each time it reaches the instruction.
#[pyfunction]
#[pyo3(signature = (function, offset, every = true))]
pub(crate) fn break_at<'py>(function: &Bound<'py, PyAny>, offset: u32, every: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let code = Code::decode(&function.getattr("__code__")?)?;
    let at = code.index_at(offset);
    let at = at.ok_or_else(|| PyValueError::new_err(format!("no instruction at offset {offset}")))?;
    let state = code.state_at(at).map_err(refused)?;
    let constants = TransferConstants::new(py)?;
    split_any(py, &code, at, &state, &constants).map_err(refused)?;
    let continuations = Mutex::new(FxHashMap::default());
    let function_of = function.clone().unbind();
    let split_function =
        Arc::new(SplitFunction { offset, every, function: function_of, constants, continuations, reached: None });
    let broken = SplitDispatch { split_function, root: true, code: Mutex::new(Some(code)), entry: OnceLock::new() };
    callable::new(function, Box::new(broken), false)
}
