//! `Caller` and `KeywordCaller`: subscription calls what it is given. `Referent`: it follows a weak reference. Nothing of Rust runs on the
//! way, so that it costs little more than the call.
use super::heap_type::{HeapType, PLAIN};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_void};
use std::marker::PhantomData;

type Subscript = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;

/// What calls the first item with the others: `caller[function, *arguments]`. A `TypeError` for anything but a tuple with items.
pub fn caller(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    make(py, c"slotrt.Caller", call)
}

/// The same with keywords: `caller[names, function, *arguments, *values]`. A `TypeError` where the first item is no tuple of names for that
/// many others.
pub fn keyword_caller(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    make(py, c"slotrt.KeywordCaller", call_named)
}

/// What gives the object that a weak reference refers to: `referent[reference]`. A `ReferenceError` where that is gone.
pub fn referent(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    make(py, c"slotrt.Referent", refer)
}

fn make<'py>(py: Python<'py>, name: &'static CStr, subscript: Subscript) -> PyResult<Bound<'py, PyAny>> {
    let class = HeapType::<ffi::PyObject> {
        name,
        flags: PLAIN,
        members: Vec::new(),
        methods: Vec::new(),
        slots: vec![(ffi::Py_mp_subscript, subscript as *mut c_void)],
        layout: PhantomData,
    };
    // SAFETY: the slot is a function of that kind, and instances have nothing but what all objects have.
    unsafe {
        let class = class.make(py)?;
        Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class.bind(py).as_type_ptr(), 0))
    }
}

unsafe extern "C" fn refer(_: *mut ffi::PyObject, reference: *mut ffi::PyObject) -> *mut ffi::PyObject {
    let mut object = std::ptr::null_mut();
    // SAFETY: called by the interpreter, attached, with live objects; the result is a new reference, or NULL.
    unsafe {
        let found = ffi::compat::PyWeakref_GetRef(reference, &raw mut object);
        if found == 0 {
            ffi::PyErr_SetString(ffi::PyExc_ReferenceError, c"weakly-referenced object no longer exists".as_ptr());
        }
    }
    object
}

/// The items of a tuple, and how many; NULL for anything else, with an exception set.
///
/// # Safety
/// `object` must be live, and stay so for as long as the items are used.
unsafe fn items(object: *mut ffi::PyObject) -> (*const *mut ffi::PyObject, usize) {
    // SAFETY: the type is checked before the tuple is read.
    unsafe {
        if ffi::PyTuple_Check(object) == 0 {
            ffi::PyErr_SetString(ffi::PyExc_TypeError, c"nothing to call".as_ptr());
            return (std::ptr::null(), 0);
        }
        let raw = object.cast::<ffi::PyTupleObject>();
        ((&raw const (*raw).ob_item).cast(), ffi::PyTuple_GET_SIZE(object).cast_unsigned())
    }
}

unsafe extern "C" fn call(_: *mut ffi::PyObject, call: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, attached, with live objects; the tuple has that many items, which it keeps alive.
    unsafe {
        let (first, count) = items(call);
        if first.is_null() {
            return std::ptr::null_mut();
        }
        if count == 0 {
            ffi::PyErr_SetString(ffi::PyExc_TypeError, c"nothing to call".as_ptr());
            return std::ptr::null_mut();
        }
        ffi::PyObject_Vectorcall(*first, first.add(1), count - 1, std::ptr::null_mut())
    }
}

unsafe extern "C" fn call_named(_: *mut ffi::PyObject, call: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as above; there is a value for each name.
    unsafe {
        let (first, count) = items(call);
        if first.is_null() {
            return std::ptr::null_mut();
        }
        let names = if count == 0 { std::ptr::null_mut() } else { *first };
        if names.is_null() || ffi::PyTuple_CheckExact(names) == 0 {
            ffi::PyErr_SetString(ffi::PyExc_TypeError, c"no names".as_ptr());
            return std::ptr::null_mut();
        }
        let Some(count) = count.checked_sub(ffi::PyTuple_GET_SIZE(names).cast_unsigned() + 2) else {
            ffi::PyErr_SetString(ffi::PyExc_TypeError, c"fewer values than names".as_ptr());
            return std::ptr::null_mut();
        };
        ffi::PyObject_Vectorcall(*first.add(1), first.add(2), count, names)
    }
}
