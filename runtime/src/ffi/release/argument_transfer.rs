//! Calls whose arguments go over to the new frame, where CPython exports no function for that: an evaluator of our own
//! catches the frame as it begins, and drops the references that the frame now has.
use super::evaluator::{
    _PyEval_EvalFrameDefault, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc, Evaluator,
};
use crate::ffi::raw;
#[cfg(not(Py_3_12))]
use generated::layouts::v3_11::_PyInterpreterFrame;
#[cfg(Py_3_12)]
use generated::layouts::v3_12::_PyInterpreterFrame;
use pyo3::ffi;
use std::cell::Cell;
use std::ffi::c_int;
use std::mem::offset_of;

/// The arguments that go over to the frame that begins next.
#[derive(Clone, Copy)]
struct Transfer {
    values: *const *mut ffi::PyObject,
    count: usize,
    locals: *mut ffi::PyObject,
    previous: Evaluator,
    begun: unsafe fn(*mut u8),
    evaluator: Evaluator,
}

thread_local! {
    /// Set for the time between the call and its frame's first instruction, in which no other code runs.
    static TRANSFER: Cell<Option<Transfer>> = const { Cell::new(None) };
}

/// Calls a function with values that go over to its frame, also where that fails. `begun` gets the frame before `evaluator` runs it.
///
/// # Safety
/// `function` must be a Python function; `locals`, NULL or its namespace, and the values are owned references; `begun` must take any
/// fresh frame.
pub unsafe fn call_transferring(
    function: *mut ffi::PyObject,
    locals: *mut ffi::PyObject,
    values: &[*mut ffi::PyObject],
    begun: unsafe fn(*mut u8),
    evaluator: Evaluator,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises. All arguments are positional and fill all parameters: nothing runs, and no other
    // thread, before the frame is evaluated.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        TRANSFER.set(Some(Transfer {
            values: values.as_ptr(),
            count: values.len(),
            locals,
            previous,
            begun,
            evaluator,
        }));
        _PyInterpreterState_SetEvalFrameFunc(interpreter, begin);
        let result = ffi::PyObject_Vectorcall(function, values.as_ptr(), values.len(), std::ptr::null_mut());
        if let Some(transfer) = TRANSFER.take() {
            _PyInterpreterState_SetEvalFrameFunc(interpreter, transfer.previous);
            values.iter().for_each(|value| ffi::Py_XDECREF(*value));
            ffi::Py_XDECREF(locals);
        }
        result
    }
}

unsafe extern "C" fn begin(state: *mut ffi::PyThreadState, frame: *mut u8, throw: c_int) -> *mut ffi::PyObject {
    let Some(transfer) = TRANSFER.take() else {
        // SAFETY: the interpreter's own arguments, passed on. (Installed only together with a transfer.)
        return unsafe { _PyEval_EvalFrameDefault(state, frame, throw) };
    };
    // SAFETY: the frame holds references of its own to the values, whose array lives as long as the call; it owns its
    // namespace, for which a function call gives it the globals.
    unsafe {
        _PyInterpreterState_SetEvalFrameFunc(ffi::PyInterpreterState_Get(), transfer.previous);
        std::slice::from_raw_parts(transfer.values, transfer.count).iter().for_each(|value| ffi::Py_DECREF(*value));
        if !transfer.locals.is_null() {
            let offset = offset_of!(_PyInterpreterFrame, f_locals);
            let old: *mut ffi::PyObject = raw::read(frame, offset);
            raw::write(frame, offset, transfer.locals);
            ffi::Py_XDECREF(old);
        }
        (transfer.begun)(frame);
        (transfer.evaluator)(state, frame, throw)
    }
}
