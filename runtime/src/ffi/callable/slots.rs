//! The heap type of `CompiledFunction`.
use super::compiled_function::CompiledFunction;
use super::dispatch::Dispatch;
use super::heap_type::{FLAGS, HeapType, member};
use crate::ffi::other_compiler;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::offset_of;

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The type, made on first use.
pub fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    Ok(CLASS.get_or_try_init(py, || make(py))?.bind(py))
}

/// Gives what `look` sees of the dispatcher of a `CompiledFunction`; `None` for any other object.
pub fn with_dispatch<T>(object: &Bound<'_, PyAny>, look: impl FnOnce(&dyn Dispatch) -> T) -> Option<T> {
    let class = class(object.py()).ok()?;
    // SAFETY: the type is checked; `state` is set for every object that Python code has seen, and freed with it.
    object
        .get_type()
        .is(class)
        .then(|| look(unsafe { &*(*(*object.as_ptr().cast::<CompiledFunction>()).state).dispatch }))
}

unsafe extern "C" {
    fn PyMethod_New(function: *mut ffi::PyObject, receiver: *mut ffi::PyObject) -> *mut ffi::PyObject;
}

fn make(py: Python<'_>) -> PyResult<Py<PyType>> {
    let reduce = ffi::PyMethodDef {
        ml_name: c"__reduce__".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: reduce },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: std::ptr::null(),
    };
    let class = HeapType::<CompiledFunction> {
        name: c"slotrt.CompiledFunction",
        flags: FLAGS | ffi::Py_TPFLAGS_METHOD_DESCRIPTOR,
        members: vec![
            member(c"__vectorcalloffset__", ffi::Py_T_PYSSIZET, offset_of!(CompiledFunction, vectorcall)),
            member(c"__weaklistoffset__", ffi::Py_T_PYSSIZET, offset_of!(CompiledFunction, weakrefs)),
            member(c"__wrapped__", ffi::Py_T_OBJECT_EX, offset_of!(CompiledFunction, function)),
        ],
        methods: vec![reduce],
        slots: vec![
            (ffi::Py_tp_descr_get, descr_get as *mut c_void),
            (ffi::Py_tp_getattro, getattro as *mut c_void),
            (ffi::Py_tp_setattro, setattro as *mut c_void),
            (ffi::Py_tp_repr, repr as *mut c_void),
            (ffi::Py_tp_traverse, traverse as *mut c_void),
            (ffi::Py_tp_clear, clear as *mut c_void),
            (ffi::Py_tp_dealloc, dealloc as *mut c_void),
        ],
        layout: PhantomData,
    };
    // SAFETY: members, methods and slots are those of `CompiledFunction`; nobody else has seen the class.
    unsafe {
        let class = class.make(py)?;
        other_compiler::refuse_inlining(class.bind(py))?;
        Ok(class)
    }
}

fn this(object: *mut ffi::PyObject) -> *mut CompiledFunction {
    object.cast()
}

unsafe extern "C" fn descr_get(
    object: *mut ffi::PyObject,
    instance: *mut ffi::PyObject,
    _class: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter with live objects; NULL or None means access through the class.
    unsafe {
        if instance.is_null() || instance == ffi::Py_None() {
            return ffi::Py_NewRef(object);
        }
        PyMethod_New(object, instance)
    }
}

/// Whether functions keep this attribute in the function itself (`__name__`, `__defaults__`, `__dict__`…).
///
/// # Safety
/// `name` must be a live string.
unsafe fn belongs_to_function(name: *mut ffi::PyObject) -> bool {
    // SAFETY: both are live objects; the result is borrowed and only its type is read.
    unsafe {
        let found = crate::ffi::types::lookup_raw(&raw mut ffi::PyFunction_Type, name);
        !found.is_null() && (*ffi::Py_TYPE(found)).tp_descr_set.is_some()
    }
}

unsafe extern "C" fn getattro(object: *mut ffi::PyObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter with an instance of our type and a string.
    unsafe {
        let function = (*this(object)).function;
        if function.is_null() {
            return ffi::PyObject_GenericGetAttr(object, name);
        }
        if belongs_to_function(name) {
            return ffi::PyObject_GetAttr(function, name);
        }
        let own = ffi::PyObject_GenericGetAttr(object, name);
        if !own.is_null() || ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) == 0 {
            return own;
        }
        ffi::PyErr_Clear();
        ffi::PyObject_GetAttr(function, name)
    }
}

unsafe extern "C" fn setattro(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: called by the interpreter with an instance of our type, a string, and an object or NULL.
    unsafe {
        let function = (*this(object)).function;
        let own = crate::ffi::types::lookup_raw(ffi::Py_TYPE(object), name);
        if function.is_null() || (!own.is_null() && !belongs_to_function(name)) {
            return ffi::PyObject_GenericSetAttr(object, name, value);
        }
        ffi::PyObject_SetAttr(function, name, value)
    }
}

unsafe extern "C" fn repr(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, attached, with an instance of our type.
    unsafe { ffi::PyUnicode_FromFormat(c"<compiled %R at %p>".as_ptr(), (*this(object)).function, object) }
}

unsafe extern "C" fn reduce(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter with an instance of our type; pickled by qualified name, as functions are.
    unsafe {
        let py = Python::assume_attached();
        let name = PyString::intern(py, "__qualname__");
        ffi::PyObject_GetAttr(object, name.as_ptr())
    }
}

unsafe extern "C" fn traverse(object: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector with an instance of our type; nothing is run but `visit`, on borrowed pointers.
    unsafe {
        let mut stop = 0;
        let mut show = |pointer: *mut ffi::PyObject| {
            if stop == 0 && !pointer.is_null() {
                stop = visit(pointer, arg);
            }
        };
        show(ffi::Py_TYPE(object).cast());
        show((*this(object)).function);
        if let Some(state) = (*this(object)).state.as_ref() {
            state.binder.traverse(Python::assume_attached(), &mut show);
            state.dispatch.traverse(&mut |owned| show(owned.as_ptr()));
        }
        stop
    }
}

unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: called by the collector with an instance of our type; the function is dropped after the field is NULL.
    unsafe {
        let function = std::mem::replace(&mut (*this(object)).function, std::ptr::null_mut());
        ffi::Py_XDECREF(function);
        if let Some(state) = (*this(object)).state.as_ref() {
            let dispatch = std::panic::AssertUnwindSafe(&state.dispatch);
            let _ = std::panic::catch_unwind(|| Python::try_attach(|_| dispatch.clear()));
        }
    }
    0
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: called once, with the last reference gone; the type of a heap type's instance is released last.
    unsafe {
        let class = ffi::Py_TYPE(object);
        ffi::PyObject_GC_UnTrack(object.cast());
        if !(*this(object)).weakrefs.is_null() {
            ffi::PyObject_ClearWeakRefs(object);
        }
        let function = std::mem::replace(&mut (*this(object)).function, std::ptr::null_mut());
        ffi::Py_XDECREF(function);
        let state = std::mem::replace(&mut (*this(object)).state, std::ptr::null_mut());
        // While the interpreter shuts down nothing can be attached: what is left then is never freed.
        if !state.is_null() {
            let _ = Python::try_attach(|_| drop(Box::from_raw(state)));
        }
        ffi::PyObject_GC_Del(object.cast());
        ffi::Py_DECREF(class.cast());
    }
}
