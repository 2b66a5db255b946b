//! Parts of functions, cells and instances, read without running code of the program.
use super::key_hashes::runs_code_for;
use crate::ffi::libtorch::Quiet;
use crate::ffi::types;
use generated::slots::Slot;
use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyString, PyTuple};

unsafe extern "C" {
    /// `object.__getattribute__`; with `suppress`, NULL without an exception for a missing attribute.
    fn _PyObject_GenericGetAttrWithDict(
        object: *mut ffi::PyObject,
        name: *mut ffi::PyObject,
        dict: *mut ffi::PyObject,
        suppress: std::ffi::c_int,
    ) -> *mut ffi::PyObject;
}

/// The exception that is being handled. CPython: `sys.exception()`.
pub fn handled(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: attached; the result is a new reference or NULL, without an exception set.
    let handled = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyErr_GetHandledException()) };
    handled.filter(|handled| !handled.is_none())
}

/// Whether there is one.
pub fn is_handling(py: Python<'_>) -> bool {
    handled(py).is_some()
}

/// A cell of a function's closure.
pub fn closure_cell<'py>(function: &Bound<'py, PyAny>, index: usize) -> Option<Bound<'py, PyAny>> {
    closure(function)?.get_item(index).ok()
}

/// The cells of a function; `None` where it has none.
pub fn closure<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    part(function, ffi::PyFunction_GetClosure)?.cast_into().ok()
}

/// What a cell holds; `None` while it is empty or where the object is no cell.
pub fn cell_content<'py>(cell: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the type is checked first; for a cell the getter returns a new reference or NULL, without an exception.
    unsafe {
        if (&raw mut ffi::PyCell_Type) != cell.get_type_ptr() {
            return None;
        }
        Bound::from_owned_ptr_or_opt(cell.py(), ffi::PyCell_Get(cell.as_ptr()))
    }
}

/// Whether it is a dict, and none of a class derived from it.
pub fn is_exact_dict(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<pyo3::types::PyDict>()
}

/// The globals of a function.
pub fn globals<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    part(function, ffi::PyFunction_GetGlobals)
}

/// The builtins of a function.
pub fn builtins<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let function = function.cast::<PyFunction>().ok()?;
    // SAFETY: `function` is a function, which holds its builtins.
    unsafe {
        let raw = function.as_ptr().cast::<ffi::PyFunctionObject>();
        Bound::from_borrowed_ptr_or_opt(function.py(), (*raw).func_builtins)
    }
}

/// Whether a function has a dict of annotations, which asking for it would make from 3.14 on.
pub fn has_annotations(function: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type is checked; the field is NULL or an object.
    function.cast::<PyFunction>().is_ok_and(|function| unsafe {
        !(*function.as_ptr().cast::<ffi::PyFunctionObject>()).func_annotations.is_null()
    })
}

/// The closure of a function, if it has one.
pub fn function_closure<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    part(function, ffi::PyFunction_GetClosure)
}

/// The code object of a function.
pub fn function_code<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    part(function, ffi::PyFunction_GetCode)
}

/// `__defaults__` of a function, if it has any.
pub fn function_defaults<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    part(function, ffi::PyFunction_GetDefaults)
}

/// `__kwdefaults__` of a function, if it has any.
pub fn function_kwdefaults<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    part(function, ffi::PyFunction_GetKwDefaults)
}

type Getter = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;

fn part<'py>(function: &Bound<'py, PyAny>, getter: Getter) -> Option<Bound<'py, PyAny>> {
    let function = function.cast::<PyFunction>().ok()?;
    // SAFETY: `function` is a function; all these getters return a borrowed object or NULL.
    unsafe { Bound::from_borrowed_ptr_or_opt(function.py(), getter(function.as_ptr())) }
}

/// The object's own `__dict__`; an empty dict where it has none, or none yet.
pub fn own_dict<'py>(object: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    types::held_dict(object).unwrap_or_else(|| pyo3::types::PyDict::new(object.py())).into_any()
}

/// Whether an attribute of a class binds itself where an instance is asked for it, unless the instance has one of the same name.
fn is_bound_on_reading(found: &Bound<'_, PyAny>) -> bool {
    let class = found.get_type();
    types::slot(&class, Slot::tp_descr_get).is_some() && types::slot(&class, Slot::tp_descr_set).is_none()
}

/// Whether C reads an attribute of the object in a way that classes and modes of PyTorch's hear.
fn may_be_heard(object: &Bound<'_, PyAny>, found: &Bound<'_, PyAny>) -> bool {
    let of_c = || types::is_c_class(&found.get_type(), "getset_descriptor");
    types::lookup(&object.get_type(), intern!(object.py(), "__torch_function__")).is_some() && of_c()
}

/// An attribute as `object.__getattribute__` finds it, if no code runs for it: what only the class has is not bound to the object where it binds
/// itself. The type must have been guarded before: then no data descriptor of the user runs.
pub fn own_attribute<'py>(object: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    let py = object.py();
    if types::dict_at_hand(object).is_some_and(|dict| runs_code_for(&dict, name)) {
        return None;
    }
    let of_class = types::lookup(&object.get_type(), name);
    if of_class.as_ref().is_some_and(is_bound_on_reading) {
        return types::held_dict(object)?.get_item(name).ok()?;
    }
    let _quiet = of_class.filter(|found| may_be_heard(object, found)).and_then(|_| Quiet::about([object]));
    // SAFETY: all arguments are live objects, `name` a string; the result is a new reference or NULL.
    let found = unsafe { _PyObject_GenericGetAttrWithDict(object.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 1) };
    // SAFETY: `found` is a new reference or NULL.
    let found = unsafe { Bound::from_owned_ptr_or_opt(py, found) };
    if found.is_none() {
        drop(PyErr::take(py));
    }
    found
}

/// The arguments of an exception, without the attributes that its class makes itself; `None` for other objects.
#[must_use]
pub fn exception_args<'py>(exception: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    let member = exception.py().get_type::<PyBaseException>().getattr(intern!(exception.py(), "args")).ok()?;
    member.call_method1(intern!(exception.py(), "__get__"), (exception,)).ok()?.cast_into().ok()
}
