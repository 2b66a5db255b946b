//! Calls whose arguments go over to the new frame, where CPython exports no function for that: an evaluator of our own
//! catches the frame as it begins, and lets go of what the frame now has.
use super::{
    _PyInterpreterFrame, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc, Evaluator,
};
use crate::ffi::layout;
use pyo3::ffi;
use std::cell::Cell;
use std::ffi::c_int;
use std::mem::offset_of;

/// What the frame that begins next takes over.
#[derive(Clone, Copy)]
struct Handed {
    values: *const *mut ffi::PyObject,
    count: usize,
    locals: *mut ffi::PyObject,
    previous: Evaluator,
}

thread_local! {
    /// Set for the time between the call and its frame's first instruction, in which no other code runs.
    static HANDED: Cell<Option<Handed>> = const { Cell::new(None) };
}

/// Calls a function with values that go over to its frame, also where that fails.
///
/// # Safety
/// `function` must be a Python function; `locals`, NULL or its namespace, and the values are owned references.
pub unsafe fn call_handing_over(
    function: *mut ffi::PyObject,
    locals: *mut ffi::PyObject,
    values: &[*mut ffi::PyObject],
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises. All arguments are positional and fill all parameters: nothing runs, and no other
    // thread, before the frame is evaluated.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        HANDED.set(Some(Handed { values: values.as_ptr(), count: values.len(), locals, previous }));
        _PyInterpreterState_SetEvalFrameFunc(interpreter, begin);
        let result = ffi::PyObject_Vectorcall(function, values.as_ptr(), values.len(), std::ptr::null_mut());
        if let Some(handed) = HANDED.take() {
            _PyInterpreterState_SetEvalFrameFunc(interpreter, handed.previous);
            values.iter().for_each(|value| ffi::Py_XDECREF(*value));
            ffi::Py_XDECREF(locals);
        }
        result
    }
}

unsafe extern "C" fn begin(state: *mut ffi::PyThreadState, frame: *mut u8, throw: c_int) -> *mut ffi::PyObject {
    let Some(handed) = HANDED.take() else {
        // SAFETY: the interpreter's own arguments, passed on. (Installed only together with what it hands over.)
        return unsafe { super::_PyEval_EvalFrameDefault(state, frame, throw) };
    };
    // SAFETY: the frame holds references of its own to the values, whose array lives as long as the call; it owns its
    // namespace, for which a function call gives it the globals.
    unsafe {
        _PyInterpreterState_SetEvalFrameFunc(ffi::PyInterpreterState_Get(), handed.previous);
        std::slice::from_raw_parts(handed.values, handed.count).iter().for_each(|value| ffi::Py_DECREF(*value));
        if !handed.locals.is_null() {
            let offset = offset_of!(_PyInterpreterFrame, f_locals);
            let old: *mut ffi::PyObject = layout::read(frame, offset);
            layout::write(frame, offset, handed.locals);
            ffi::Py_XDECREF(old);
        }
        crate::ffi::heirs::begin(frame);
        (handed.previous)(state, frame, throw)
    }
}
