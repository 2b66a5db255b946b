//! Beside TorchDynamo, which has an evaluation hook of its own: a frame belongs to the compiler through whose compiled callable it was
//! entered last.
//!
//! A call of a compiled function suspends TorchDynamo on its thread for as long as it runs; frames below a function that TorchDynamo compiled,
//! and those of its compiler, are left alone.
use crate::ffi::modules;
use crate::ffi::release::{
    _PyEval_EvalFrameDefault, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc, Evaluator,
};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Our evaluator, while it is to be in; 0 otherwise.
static OURS: AtomicUsize = AtomicUsize::new(0);

/// The same, where it stands on the interpreter's.
static ALONE: AtomicUsize = AtomicUsize::new(0);

/// Tells TorchDynamo not to take instances of a class apart.
///
/// # Safety
/// Nobody else may have seen the class yet.
pub(super) unsafe fn refuse_inlining(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    // SAFETY: as the caller promises, the dict is the class's own and in nobody's cache.
    let dict = unsafe { Bound::from_borrowed_ptr(py, (*class.as_type_ptr()).tp_dict) };
    dict.set_item(intern!(py, "_torchdynamo_disable"), true)?;
    dict.set_item(intern!(py, "_torchdynamo_disable_msg"), "slotrt compiles it")
}

/// What TorchDynamo's native module offers.
struct Dynamo {
    /// Sets what compiles the frames of this thread, and gives what did: `None` where nothing does.
    set: Py<PyAny>,
    get: Py<PyAny>,
    /// What the compiler works for on this thread, or `None`.
    compiling: Py<PyAny>,
}

/// Notes our evaluator, with the one that it passes frames on to.
pub(super) fn note(ours: Evaluator, previous: Evaluator) {
    OURS.store(ours as usize, Relaxed);
    ALONE.store(if previous as usize == plain() { ours as usize } else { 0 }, Relaxed);
}

/// Our evaluator is not to be in any longer.
pub(super) fn forget() {
    OURS.store(0, Relaxed);
    ALONE.store(0, Relaxed);
}

/// The interpreter's own evaluator.
fn plain() -> usize {
    _PyEval_EvalFrameDefault as *const () as usize
}

/// Whether an evaluator may be in that is neither the interpreter's nor ours. One that was in before ours takes ours out when it leaves: then
/// ours is put in again.
fn is_beside() -> bool {
    // SAFETY: attached; the interpreter is alive.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: as above.
    let current = unsafe { _PyInterpreterState_GetEvalFrameFunc(interpreter) } as usize;
    if current == plain() {
        let ours = OURS.load(Relaxed);
        if ours != 0 {
            // SAFETY: only an evaluator is stored.
            let ours = unsafe { std::mem::transmute::<usize, Evaluator>(ours) };
            // SAFETY: as above.
            unsafe { _PyInterpreterState_SetEvalFrameFunc(interpreter, ours) };
        }
        return false;
    }
    current != ALONE.load(Relaxed)
}

/// TorchDynamo, if the program has imported it.
fn dynamo(py: Python<'_>) -> Option<&Dynamo> {
    static FOUND: PyOnceLock<Dynamo> = PyOnceLock::new();
    if let Some(found) = FOUND.get(py) {
        return Some(found);
    }
    let native = modules::imported(intern!(py, "torch._C._dynamo.eval_frame"))?;
    let guards = modules::imported(intern!(py, "torch._guards"))?;
    let found = Dynamo {
        set: native.getattr(intern!(py, "set_eval_frame")).ok()?.unbind(),
        get: native.getattr(intern!(py, "get_eval_frame_callback")).ok()?.unbind(),
        compiling: guards.getattr(intern!(py, "CompileContext")).ok()?.getattr(intern!(py, "try_get")).ok()?.unbind(),
    };
    Some(FOUND.get_or_init(py, || found))
}

/// Whether this thread runs code of TorchDynamo's: what it compiled, or its compiler.
pub fn runs(py: Python<'_>) -> bool {
    let Some(dynamo) = dynamo(py) else { return false };
    (is_beside() && is_set(py, &dynamo.get)) || is_set(py, &dynamo.compiling)
}

fn is_set(py: Python<'_>, question: &Py<PyAny>) -> bool {
    question.bind(py).call0().is_ok_and(|answer| !answer.is_none())
}

/// What evaluates our own frames: not TorchDynamo, which does not expect continuations.
pub(super) fn evaluator(py: Python<'_>) -> Evaluator {
    let works = is_beside() && dynamo(py).is_some_and(|dynamo| is_set(py, &dynamo.get));
    // SAFETY: attached; the interpreter is alive.
    let current = unsafe { _PyInterpreterState_GetEvalFrameFunc(ffi::PyInterpreterState_Get()) };
    if works { _PyEval_EvalFrameDefault } else { current }
}

/// TorchDynamo does nothing on this thread until this is dropped.
pub(super) struct Suspended<'py> {
    dynamo: &'py Dynamo,
    callback: Bound<'py, PyAny>,
}

/// Suspends TorchDynamo on this thread, if it works here.
pub(super) fn suspend(py: Python<'_>) -> PyResult<Option<Suspended<'_>>> {
    if !is_beside() {
        return Ok(None);
    }
    let Some(dynamo) = dynamo(py) else { return Ok(None) };
    let callback = dynamo.get.bind(py).call0()?;
    if callback.is_none() {
        return Ok(None);
    }
    dynamo.set.bind(py).call1((py.None(),))?;
    Ok(Some(Suspended { dynamo, callback }))
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        let py = self.callback.py();
        if let Err(error) = self.dynamo.set.bind(py).call1((&self.callback,)) {
            error.write_unraisable(py, Some(&self.callback));
        }
    }
}
