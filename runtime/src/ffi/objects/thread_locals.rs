//! Thread-local data: the dict that an object has for the running thread.
use crate::ffi::types;
use generated::slots::Slot;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

/// The class of C that lays out thread-local data of the class; `None`: its instances are none.
#[must_use]
pub fn base<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    let bases = types::mro(class)?.iter().filter_map(|base| base.cast_into::<PyType>().ok()).collect::<Vec<_>>();
    bases.into_iter().find(|base| types::is_named(base, "_thread._local") && types::is_c_type(base))
}

/// The dict of the running thread; `None`: the thread has none yet, and code of the program would fill it.
#[must_use]
pub fn dict<'py>(local: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    let py = local.py();
    let class = local.get_type();
    let base = base(&class)?;
    let fills = types::slot(&class, Slot::tp_init) != types::slot(&py.get_type::<PyAny>(), Slot::tp_init);
    if fills && !is_there(local, &base) {
        return None;
    }
    let read = base.getattr(intern!(py, "__getattribute__")).ok()?;
    read.call1((local, intern!(py, "__dict__"))).ok()?.cast_into_exact().ok()
}

/// Whether the running thread has a dict for the object: under the key that it has in every such object.
#[cfg(Py_3_13)]
fn is_there(local: &Bound<'_, PyAny>, base: &Bound<'_, PyType>) -> bool {
    fn dicts<'py>(local: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyDict>> {
        let held = crate::ffi::referents::direct(local, 8).into_iter();
        held.filter_map(|held| held.cast_into_exact::<PyDict>().ok()).collect()
    }
    let key = base.call0().ok().and_then(|other| dicts(&other).first()?.keys().get_item(0).ok());
    key.is_some_and(|key| dicts(local).iter().any(|dicts| dicts.contains(&key).unwrap_or(false)))
}

/// Whether the running thread has a dict for the object: it knows it by a text.
#[cfg(not(Py_3_13))]
fn is_there(local: &Bound<'_, PyAny>, _: &Bound<'_, PyType>) -> bool {
    // SAFETY: the thread is attached; the result is borrowed from its state, or NULL.
    let state = unsafe { Bound::from_borrowed_ptr_or_opt(local.py(), pyo3::ffi::PyThreadState_GetDict()) };
    let key = format!("thread.local.{:p}", local.as_ptr());
    state.is_some_and(|state| state.cast::<PyDict>().is_ok_and(|state| state.contains(key).unwrap_or(false)))
}

/// The dict. Called by compiled code.
///
/// # Errors
/// Where there is none.
#[pyfunction]
pub fn thread_dict<'py>(local: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    dict(local).ok_or_else(|| PyTypeError::new_err("the thread has no dict for this object"))
}
