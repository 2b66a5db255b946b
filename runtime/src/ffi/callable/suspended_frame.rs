//! A suspended frame: a call instruction has entered it. When it is called, it continues from its frame packet.
//!
//! The call uses the vectorcall protocol: as with a Python function, nothing between the two frames counts for the recursion limit.
use super::call;
use super::heap_type::{Call, FLAGS, HeapType, Vectorcalled, member, vectorcall};
use crate::internal_error::InternalError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::offset_of;

/// Memory layout of an instance.
#[repr(C)]
struct Suspended {
    ob_base: ffi::PyObject,
    vectorcall: ffi::vectorcallfunc,
    /// NULL once it goes on.
    packet: *mut ffi::PyObject,
}

/// A callable that continues from the packet, once, whatever it is called with.
pub fn suspended(packet: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = packet.py();
    let class = class(py)?.as_type_ptr();
    // SAFETY: the type is ours, its instances have the layout of `Suspended`; the memory comes zeroed.
    unsafe {
        let made = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class, 0))?;
        let this = made.as_ptr().cast::<Suspended>();
        (*this).vectorcall = vectorcall::<Suspended>;
        (*this).packet = packet.into_ptr();
        Ok(made)
    }
}

/// Whether the object is such a callable.
pub fn is_suspended(object: &Bound<'_, PyAny>) -> bool {
    CLASS.get(object.py()).is_some_and(|class| object.get_type().is(class))
}

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    Ok(CLASS.get_or_try_init(py, || make(py))?.bind(py))
}

fn make(py: Python<'_>) -> PyResult<Py<PyType>> {
    let class = HeapType::<Suspended> {
        name: c"slotrt.SuspendedFrame",
        flags: FLAGS,
        members: vec![member(c"__vectorcalloffset__", ffi::Py_T_PYSSIZET, offset_of!(Suspended, vectorcall))],
        methods: Vec::new(),
        slots: vec![
            (ffi::Py_tp_traverse, traverse as *mut c_void),
            (ffi::Py_tp_clear, clear as *mut c_void),
            (ffi::Py_tp_dealloc, dealloc as *mut c_void),
        ],
        layout: PhantomData,
    };
    // SAFETY: member and slots are those of `Suspended`.
    unsafe { class.make(py) }
}

impl Vectorcalled for Suspended {
    unsafe fn called<'py>(this: &Bound<'py, PyAny>, _: Call<'_>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: an instance of our type; the field is NULL or owned.
        let packet = unsafe {
            let packet = std::mem::replace(&mut (*this.as_ptr().cast::<Self>()).packet, std::ptr::null_mut());
            Bound::from_owned_ptr_or_opt(this.py(), packet)
        };
        call::continue_frame(
            packet.ok_or_else(|| InternalError::new_err("a frame that has gone on already is called"))?,
        )
    }
}

unsafe extern "C" fn traverse(object: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector with an instance of our type; nothing is run but `visit`, on borrowed pointers.
    unsafe {
        let packet = (*object.cast::<Suspended>()).packet;
        let stop = visit(ffi::Py_TYPE(object).cast(), arg);
        if stop != 0 || packet.is_null() { stop } else { visit(packet, arg) }
    }
}

unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: called by the collector with an instance of our type; the packet is dropped after the field is NULL.
    unsafe {
        let packet = std::mem::replace(&mut (*object.cast::<Suspended>()).packet, std::ptr::null_mut());
        ffi::Py_XDECREF(packet);
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
