//! `NativeCall`: calls another callable, and while that runs nothing on this thread is compiled, nor run compiled.
use super::heap_type::{Call, FLAGS, HeapType, Vectorcalled, member, vectorcall};
use crate::internal_error::InternalError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::offset_of;

/// Memory layout of an instance.
#[repr(C)]
struct NativeCall {
    ob_base: ffi::PyObject,
    vectorcall: ffi::vectorcallfunc,
    /// What it calls; NULL only after `tp_clear`.
    target: *mut ffi::PyObject,
}

thread_local! {
    /// Native calls that run on this thread.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

/// Whether a native call runs on this thread.
pub fn is_running() -> bool {
    RUNNING.get() > 0
}

/// Does something while nothing on this thread is compiled, nor run compiled.
pub fn natively<R>(work: impl FnOnce() -> R) -> R {
    let _running = Running::new();
    work()
}

/// A callable that calls `target` natively.
pub fn native_call<'py>(target: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = target.py();
    let class = class(py)?.as_type_ptr();
    // SAFETY: the type is ours, its instances have the layout of `NativeCall`; the memory comes zeroed.
    unsafe {
        let made = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class, 0))?;
        let this = made.as_ptr().cast::<NativeCall>();
        (*this).vectorcall = vectorcall::<NativeCall>;
        (*this).target = target.clone().into_ptr();
        Ok(made)
    }
}

/// What a `NativeCall` calls; `None` for any other object.
pub fn called_natively<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if !CLASS.get(object.py()).is_some_and(|class| object.get_type().is(class)) {
        return None;
    }
    // SAFETY: the type is checked; the field is NULL or a valid object.
    unsafe { Bound::from_borrowed_ptr_or_opt(object.py(), (*object.as_ptr().cast::<NativeCall>()).target) }
}

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    Ok(CLASS.get_or_try_init(py, || make(py))?.bind(py))
}

fn make(py: Python<'_>) -> PyResult<Py<PyType>> {
    let class = HeapType::<NativeCall> {
        name: c"slotrt.NativeCall",
        flags: FLAGS,
        members: vec![
            member(c"__vectorcalloffset__", ffi::Py_T_PYSSIZET, offset_of!(NativeCall, vectorcall)),
            member(c"__wrapped__", ffi::Py_T_OBJECT_EX, offset_of!(NativeCall, target)),
        ],
        methods: Vec::new(),
        slots: vec![
            (ffi::Py_tp_traverse, traverse as *mut c_void),
            (ffi::Py_tp_clear, clear as *mut c_void),
            (ffi::Py_tp_dealloc, dealloc as *mut c_void),
        ],
        layout: PhantomData,
    };
    // SAFETY: members and slots are those of `NativeCall`.
    unsafe { class.make(py) }
}

/// Counts one call for as long as it lives.
struct Running;

impl Running {
    fn new() -> Self {
        RUNNING.set(RUNNING.get() + 1);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(RUNNING.get() - 1);
    }
}

impl Vectorcalled for NativeCall {
    unsafe fn called<'py>(this: &Bound<'py, PyAny>, call: Call<'_>) -> PyResult<Bound<'py, PyAny>> {
        let target = called_natively(this).ok_or_else(|| InternalError::new_err("call of a cleared NativeCall"))?;
        let _running = Running::new();
        // SAFETY: the same call, as the caller promises.
        unsafe { call.run(&target) }
    }
}

unsafe extern "C" fn traverse(object: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector with an instance of our type; nothing is run but `visit`, on borrowed pointers.
    unsafe {
        let target = (*object.cast::<NativeCall>()).target;
        let stop = visit(ffi::Py_TYPE(object).cast(), arg);
        if stop != 0 || target.is_null() { stop } else { visit(target, arg) }
    }
}

unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: called by the collector with an instance of our type; the target is dropped after the field is NULL.
    unsafe {
        let target = std::mem::replace(&mut (*object.cast::<NativeCall>()).target, std::ptr::null_mut());
        ffi::Py_XDECREF(target);
    }
    0
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: called once, with the last reference gone; the type of a heap type's instance is released last.
    unsafe {
        let class = ffi::Py_TYPE(object);
        ffi::PyObject_GC_UnTrack(object.cast());
        clear(object);
        ffi::PyObject_GC_Del(object.cast());
        ffi::Py_DECREF(class.cast());
    }
}
