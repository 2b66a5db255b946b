//! Calls of a `CompiledFunction`: what its dispatcher chooses, then the continuations that follow.
use super::argument_binder::Binder;
use super::compiled_function::{CompiledFunction, State};
use super::dispatch::{Choice, Dispatch};
use super::heap_type::{Call, Vectorcalled, vectorcall};
use super::{frame_packet, native_call, slots};
use crate::ffi::{Args, generator_survivors, other_compiler, program_frames, surviving_frames, traceback};
use crate::internal_error::InternalError;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A callable that behaves like `function` and runs what `dispatch` chooses.
///
/// `continuation`: whether packets name it, that is, whether a tuple that starts with it is a frame packet.
pub fn new<'py>(
    function: &Bound<'py, PyAny>,
    dispatch: Box<dyn Dispatch>,
    continuation: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    // SAFETY: only the type of a live object is read.
    if unsafe { ffi::PyFunction_Check(function.as_ptr()) } == 0 {
        return Err(PyTypeError::new_err("slotrt compiles Python functions only"));
    }
    let binder = Binder::new(function)?;
    let state = Box::new(State { dispatch, binder, continuation });
    let class = slots::class(py)?.as_type_ptr();
    // SAFETY: the type is ours, its instances have the layout of `CompiledFunction`; `PyType_GenericAlloc` zeroes the
    // memory, so that a collection in between sees NULLs, and tracks the object.
    unsafe {
        let object = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class, 0))?;
        let this = object.as_ptr().cast::<CompiledFunction>();
        (*this).vectorcall = vectorcall::<CompiledFunction>;
        (*this).function = function.clone().into_ptr();
        (*this).state = Box::into_raw(state);
        Ok(object)
    }
}

/// Whether the object is a `CompiledFunction`.
#[must_use]
pub fn is_compiled(object: &Bound<'_, PyAny>) -> bool {
    slots::class(object.py()).is_ok_and(|class| object.get_type().is(class))
}

/// The original function of a `CompiledFunction`.
#[must_use]
pub fn wrapped<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if !is_compiled(object) {
        return None;
    }
    // SAFETY: the type is checked; the field is NULL or a valid object.
    unsafe {
        let function = (*object.as_ptr().cast::<CompiledFunction>()).function;
        Bound::from_borrowed_ptr_or_opt(object.py(), function)
    }
}

impl Vectorcalled for CompiledFunction {
    unsafe fn called<'py>(this: &Bound<'py, PyAny>, call: Call<'_>) -> PyResult<Bound<'py, PyAny>> {
        let _active = Active::new();
        let _suspended = other_compiler::suspend(this.py())?;
        // SAFETY: the type is ours.
        let state = unsafe { parts(this)?.1 };
        if state.dispatch.is_forwarder() {
            // SAFETY: as the caller promises.
            let result = unsafe { once(this, call) }.and_then(follow);
            return result.map_err(|error| traceback::without_callers(this, error));
        }
        // SAFETY: as the caller promises.
        let (result, continuation) = unsafe { (once(this, call), state.continuation) };
        let result = result.map_err(|error| program_frames::restored(this.py(), error))?;
        if is_packet(&result) {
            return follow(result);
        }
        if continuation && let Some(function) = wrapped(this) {
            generator_survivors::mark_finalised(&function, &result);
        }
        Ok(result)
    }
}

thread_local! {
    /// Compiled functions that run on this thread.
    static ACTIVE: Cell<usize> = const { Cell::new(0) };
}

/// Whether a compiled function runs on this thread, and what it calls may be compiled.
#[must_use]
pub fn active() -> bool {
    ACTIVE.get() > 0 && !native_call::is_running()
}

/// Does something as a compiled function does it: what is called meanwhile may be compiled.
pub fn as_compiled<'py>(
    py: Python<'py>,
    work: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let _active = Active::new();
    let _suspended = other_compiler::suspend(py)?;
    work().and_then(follow)
}

struct Active;

impl Active {
    fn new() -> Self {
        ACTIVE.set(ACTIVE.get() + 1);
        Self
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.set(ACTIVE.get() - 1);
    }
}

/// Runs continuations for as long as the result is a packet.
pub fn follow<'py>(mut result: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    while let Some(continuation) = packet(&result) {
        let values = frame_packet::unpack(result)?;
        // SAFETY: `packet` found an instance of our type.
        let resumed = unsafe { resume(&continuation, values) };
        result = resumed.map_err(|error| program_frames::restored(continuation.py(), error))?;
    }
    Ok(result)
}

/// The same for a frame that was entered by a call instruction.
pub(super) fn continue_frame(packet: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let _active = Active::new();
    follow(packet)
}

/// Runs a continuation with the values of a packet.
///
/// # Safety
/// `object` must be an instance of our type.
unsafe fn resume<'py>(object: &Bound<'py, PyAny>, values: frame_packet::Values<'py>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the type is ours.
    let (function, state) = unsafe { parts(object)? };
    if !state.binder.is_for(&function) || native_call::is_running() {
        return values.call(&function);
    }
    let args = Args::new(object.py(), values.pointers());
    match surviving_frames::choosing(values.survivors.is_some(), || guarded(state, &function, args))? {
        Choice::Done(result) => Ok(result.into_bound(object.py())),
        Choice::Original => values.call(&function),
        Choice::Run(entry) => values.call(entry.bind(object.py())),
    }
}

/// Whether it is a frame packet.
pub fn is_packet(result: &Bound<'_, PyAny>) -> bool {
    packet(result).is_some()
}

/// The continuation that a frame packet names; `None` for any other object.
fn packet<'py>(result: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let first = frame_packet::head(result)?;
    let compiled = is_compiled(&first);
    // SAFETY: the type is checked; `state` is set for every object that Python code has seen.
    (compiled && unsafe { (*(*first.as_ptr().cast::<CompiledFunction>()).state).continuation }).then_some(first)
}

/// The function and the state of an instance.
///
/// # Safety
/// `object` must be an instance of our type.
unsafe fn parts<'a, 'py>(object: &'a Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, &'a State)> {
    let this = object.as_ptr().cast::<CompiledFunction>();
    // SAFETY: the function is NULL only after the collector cleared the object.
    let function = unsafe { Bound::from_borrowed_ptr_or_opt(object.py(), (*this).function) };
    let function = function.ok_or_else(|| InternalError::new_err("call of a cleared CompiledFunction"))?;
    // SAFETY: set at construction, freed at deallocation only; the caller holds the object.
    Ok((function, unsafe { &*(*this).state }))
}

fn guarded<'py>(state: &State, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Choice> {
    let chosen = catch_unwind(AssertUnwindSafe(|| state.dispatch.choose(function, args)));
    chosen.unwrap_or_else(|panic| Err(InternalError::new_err(text(&*panic))))
}

/// Chooses and runs one function, without following a packet.
///
/// # Safety
/// `object` must be an instance of our type and `call` follow the vectorcall protocol.
unsafe fn once<'py>(object: &Bound<'py, PyAny>, call: Call<'_>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the type is ours.
    let (function, state) = unsafe { parts(object)? };
    // SAFETY: pure arithmetic on the flag word.
    let count = unsafe { ffi::PyVectorcall_NARGS(call.nargsf) }.cast_unsigned();
    if !state.binder.is_for(&function) || native_call::is_running() {
        // SAFETY: the same call.
        return unsafe { call.run(&function) };
    }
    if call.kwnames.is_null() && state.binder.exact() == Some(count) {
        // SAFETY: a vectorcall has `count` positional arguments, which the caller keeps alive.
        let values = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(call.args, count) } };
        // SAFETY: the same call, for the original.
        return unsafe { run(state, &function, values, call) };
    }
    // SAFETY: the binder has the same signature.
    let bound = unsafe { call.run(state.binder.function(&function)?)? }.cast_into::<pyo3::types::PyTuple>()?;
    let values: smallvec::SmallVec<[*mut ffi::PyObject; 8]> =
        bound.iter_borrowed().map(|value| value.as_ptr()).collect();
    // SAFETY: the same call, for the original; `bound` keeps the values alive.
    unsafe { run(state, &function, &values, call) }
}

/// # Safety
/// `values` must be live objects and `call` follow the vectorcall protocol.
unsafe fn run<'py>(
    state: &State,
    function: &Bound<'py, PyAny>,
    values: &[*mut ffi::PyObject],
    call: Call<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    match guarded(state, function, Args::new(py, values))? {
        Choice::Done(result) => Ok(result.into_bound(py)),
        // SAFETY: as the caller promises.
        Choice::Original => unsafe { call.run(function) },
        Choice::Run(entry) => {
            let call =
                Call { args: values.as_ptr(), nargsf: values.len(), kwnames: std::ptr::null_mut(), alive: PhantomData };
            // SAFETY: `values` are live objects.
            unsafe { call.run(entry.bind(py)) }
        }
    }
}

fn text(panic: &(dyn std::any::Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panic in slotrt: {}", message.unwrap_or_else(|| "no message".to_owned()))
}
