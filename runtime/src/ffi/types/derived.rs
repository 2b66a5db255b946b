//! Classes derived at run time from others.
use crate::names::name;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

/// A class that has the slots of its bases and nothing of its own. With one base these are the base's, taken over; with more, only `type()`
/// finds for each special method the first class along the MRO that has it, which costs several times as much. (Taken over from several, a slot
/// that the first base has from `object` would hide the method of the second.)
///
/// # Errors
/// What CPython raises where no class can derive from these.
pub fn derived<'py>(name: &Bound<'py, PyString>, bases: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyType>> {
    if bases.len() == 1 { derived_from_one(name, bases) } else { derived_from_many(name, bases) }
}

fn derived_from_one<'py>(name: &Bound<'py, PyString>, bases: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyType>> {
    let mut slots = [ffi::PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() }];
    let mut spec = ffi::PyType_Spec {
        // A name with a module, or CPython warns; the right one follows.
        name: c"slotrt.derived".as_ptr(),
        basicsize: 0,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the name lives for ever, the rest is copied; sizes of 0 are those of the base.
    let class = unsafe {
        Bound::from_owned_ptr_or_err(bases.py(), ffi::PyType_FromSpecWithBases(&raw mut spec, bases.as_ptr()))?
    };
    class.setattr(name!("__name__"), name)?;
    Ok(class.cast_into()?)
}

fn derived_from_many<'py>(name: &Bound<'py, PyString>, bases: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyType>> {
    derived_by(&bases.py().get_type::<PyType>(), name, bases)
}

/// The same, made by a class of classes.
///
/// # Errors
/// What CPython raises where no class can derive from these.
pub fn derived_by<'py>(
    meta: &Bound<'py, PyType>,
    name: &Bound<'py, PyString>,
    bases: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyType>> {
    let py = bases.py();
    let namespace = PyDict::new(py);
    // No `__dict__` of its own.
    namespace.set_item(name!("__slots__"), PyTuple::empty(py))?;
    let class = meta.call1((name, bases, namespace))?;
    class.delattr(name!("__slots__"))?;
    Ok(class.cast_into()?)
}
