//! What `object` does for every class: attributes, namespaces, new instances, descriptors.
use crate::names::name;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

/// `object.__getattribute__`. CPython: `PyObject_GenericGetAttr`.
///
/// # Errors
/// What it raises.
pub fn generic_get<'py>(object: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: both are live; the result is a new reference, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(object.py(), ffi::PyObject_GenericGetAttr(object.as_ptr(), name.as_ptr())) }
}

/// `object.__setattr__`; `None`: `object.__delattr__`. CPython: `PyObject_GenericSetAttr`.
///
/// # Errors
/// What it raises.
pub fn generic_set<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    value: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    let value = value.map_or(std::ptr::null_mut(), Bound::as_ptr);
    // SAFETY: all are live, NULL deletes; where the result is not 0, an exception is set.
    match unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

/// The object's own `__dict__`, where its class has a place for one. CPython: `PyObject_GenericGetDict`.
///
/// The collector sees into it from now on. 3.13 makes one that it does not see into where there is nothing to see yet, and does not look again
/// when attributes are set: what later leads back to the object would never end.
#[must_use]
pub fn generic_dict<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: the object is live; the result is a new reference, or NULL with an exception set.
    let dict = unsafe {
        let dict = ffi::PyObject_GenericGetDict(object.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(object.py(), dict)
    };
    let dict: Bound<'py, PyDict> = dict.ok()?.cast_into().ok()?;
    // SAFETY: a live dict, whole, which the collector may see.
    unsafe {
        if ffi::PyObject_GC_IsTracked(dict.as_ptr()) == 0 {
            ffi::PyObject_GC_Track(dict.as_ptr().cast());
        }
    }
    Some(dict)
}

unsafe extern "C" {
    /// Where an instance keeps its `__dict__`; NULL where its class has no place for one.
    fn _PyObject_GetDictPtr(object: *mut ffi::PyObject) -> *mut *mut ffi::PyObject;
}

/// The same, if there is one yet: objects of C classes (exceptions, functions) are given theirs when something is stored there, and pickles
/// tell whether they have one.
#[must_use]
pub fn held_dict<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    if super::dictoffset(&object.get_type()) > 0 {
        // SAFETY: the object is live; where its class has a place of its own, this is that place, and nothing is made.
        let place = unsafe { _PyObject_GetDictPtr(object.as_ptr()) };
        // SAFETY: a place in a live object, which holds a dict or NULL.
        if place.is_null() || unsafe { (*place).is_null() } {
            return None;
        }
    }
    generic_dict(object)
}

/// The same where nothing is made: an instance may keep its attributes elsewhere until somebody asks for the dict.
#[must_use]
pub fn dict_at_hand<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    const WORDS_BEFORE: usize = 3;
    let class = object.get_type();
    // SAFETY: the object is live. Where its class says so, what lies three words before it is a dict or NULL, in 3.12 with another pointer's mark
    // in the lowest bit; else its class has a place of its own, or none.
    unsafe {
        let dict = if super::flags(&class) & MANAGED_DICT != 0 {
            *object.as_ptr().cast::<*mut ffi::PyObject>().sub(WORDS_BEFORE)
        } else if super::dictoffset(&class) == 0 {
            return None;
        } else {
            let place = _PyObject_GetDictPtr(object.as_ptr());
            if place.is_null() { return None } else { *place }
        };
        let dict = if dict as usize & 1 == 0 { dict } else { std::ptr::null_mut() };
        Bound::<PyAny>::from_borrowed_ptr_or_opt(object.py(), dict)?.cast_into().ok()
    }
}

/// CPython: `Py_TPFLAGS_MANAGED_DICT`.
const MANAGED_DICT: u64 = 1 << 4;

/// Instances of the class may keep attributes without a dict. CPython: `Py_TPFLAGS_INLINE_VALUES`; before, all that have such a place.
const INLINE_VALUES: u64 = if cfg!(Py_3_13) { 1 << 2 } else { MANAGED_DICT };

/// Whether an instance has attributes of its own in a `__dict__`; none is made to find out, as far as that can be.
#[must_use]
pub fn has_attributes(object: &Bound<'_, PyAny>) -> bool {
    if let Some(dict) = dict_at_hand(object) {
        return !dict.is_empty();
    }
    let keeps_values = super::flags(&object.get_type()) & INLINE_VALUES != 0;
    keeps_values && !has_no_values(object) && held_dict(object).is_some_and(|dict| !dict.is_empty())
}

/// Whether an instance of a class that says so keeps no attribute within itself. CPython: `struct _dictvalues`, behind the instance.
#[cfg(all(Py_3_13, not(Py_3_15)))]
fn has_no_values(object: &Bound<'_, PyAny>) -> bool {
    const SIZE: usize = 1;
    const VALID: usize = 3;
    // SAFETY: the object is live, and its class says that values lie behind it, which begin with four numbers of a byte each.
    unsafe {
        let values = object.as_ptr().cast::<u8>().add((*object.get_type().as_type_ptr()).tp_basicsize.cast_unsigned());
        *values.add(VALID) == 1 && *values.add(SIZE) == 0
    }
}

/// The same: 3.11 and 3.12 keep the values apart, behind a pointer in front of the instance, and how many there are two bytes before them.
#[cfg(not(Py_3_13))]
fn has_no_values(object: &Bound<'_, PyAny>) -> bool {
    /// In front of the instance: 3.12 has one pointer for dict and values, which is marked in its lowest bit where it is less than theirs by one.
    const WORDS_BEFORE: usize = if cfg!(Py_3_12) { 3 } else { 4 };
    const MARK: usize = if cfg!(Py_3_12) { 1 } else { 0 };
    const SIZE_BEFORE: usize = 2;
    // SAFETY: the object is live, its class says that these words lie before it, and the caller has found no dict there.
    unsafe {
        let held = *object.as_ptr().cast::<*const u8>().sub(WORDS_BEFORE);
        held.is_null() || (held as usize & 1 == MARK && *held.add(MARK).sub(SIZE_BEFORE) == 0)
    }
}

#[cfg(Py_3_15)]
fn has_no_values(_object: &Bound<'_, PyAny>) -> bool {
    false
}

#[cfg(all(Py_3_13, not(Py_3_15)))]
unsafe extern "C" {
    fn _PyObject_SetManagedDict(object: *mut ffi::PyObject, dict: *mut ffi::PyObject) -> std::ffi::c_int;
}

/// The same, which 3.15 does not export, by the way of `object.__dict__ = dict`.
#[cfg(Py_3_15)]
#[expect(non_snake_case, reason = "CPython's name")]
unsafe fn _PyObject_SetManagedDict(object: *mut ffi::PyObject, dict: *mut ffi::PyObject) -> std::ffi::c_int {
    // SAFETY: as the caller promises; such a class keeps nothing else there.
    unsafe { ffi::PyObject_GenericSetDict(object, dict, std::ptr::null_mut()) }
}

/// Has an instance keep its attributes in its `__dict__`, this one, and nowhere else. While they are stored in the object, as from 3.13 on,
/// stores there are not told to watchers of the dict by every release. The program sees no difference. CPython: `_PyDict_DetachFromObject`.
/// False: not done.
#[cfg(Py_3_13)]
#[must_use]
pub fn keep_in_dict(object: &Bound<'_, PyAny>, dict: &Bound<'_, PyAny>) -> bool {
    if super::flags(&object.get_type()) & MANAGED_DICT == 0 {
        return true;
    }
    // SAFETY: both are live, and the class has such a place; where the result is not 0, an exception is set.
    let done = unsafe { _PyObject_SetManagedDict(object.as_ptr(), dict.as_ptr()) } == 0;
    if !done {
        drop(PyErr::take(object.py()));
    }
    done
}

/// Has an instance keep its attributes in its `__dict__`: here it does, as soon as there is one.
#[cfg(not(Py_3_13))]
#[must_use]
pub fn keep_in_dict(_object: &Bound<'_, PyAny>, _dict: &Bound<'_, PyAny>) -> bool {
    true
}

/// `object.__new__(class)`.
///
/// # Errors
/// `TypeError` where the class is abstract, or lays out its instances in its own way.
pub fn new_instance<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let object = py.get_type::<PyAny>();
    // SAFETY: both are live types.
    let (new, plain) = unsafe { ((*class.as_type_ptr()).tp_new, (*object.as_type_ptr()).tp_new) };
    match new {
        // What `object.__new__` checks is whether this is the function that makes the instances.
        Some(new) if plain.is_some_and(|plain| std::ptr::fn_addr_eq(new, plain)) => {
            let none = PyTuple::empty(py);
            // SAFETY: a live type and an empty tuple; the result is a new reference, or NULL with an exception set.
            unsafe { Bound::from_owned_ptr_or_err(py, new(class.as_type_ptr(), none.as_ptr(), std::ptr::null_mut())) }
        }
        _ => object.call_method1(name!("__new__"), (class,)),
    }
}

/// `descriptor.__get__(object, type(object))` of a descriptor of C: some methods get the class.
///
/// # Errors
/// What it raises; `TypeError` where it is no descriptor.
pub fn read<'py>(descriptor: &Bound<'py, PyAny>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: both are live; the slot's result is a new reference, or NULL with an exception set.
    unsafe {
        match (*ffi::Py_TYPE(descriptor.as_ptr())).tp_descr_get {
            Some(get) => {
                let class = ffi::Py_TYPE(object.as_ptr()).cast();
                let found = get(descriptor.as_ptr(), object.as_ptr(), class);
                Bound::from_owned_ptr_or_err(object.py(), found)
            }
            None => Err(PyTypeError::new_err("expected a descriptor")),
        }
    }
}
