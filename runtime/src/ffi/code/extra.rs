//! Objects kept with a code object: they live as long as that, and the collector does not see them.
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

type Free = unsafe extern "C" fn(*mut c_void);

unsafe extern "C" {
    #[cfg_attr(not(Py_3_12), link_name = "_PyEval_RequestCodeExtraIndex")]
    fn PyUnstable_Eval_RequestCodeExtraIndex(free: Free) -> isize;
    #[cfg_attr(not(Py_3_12), link_name = "_PyCode_GetExtra")]
    fn PyUnstable_Code_GetExtra(code: *mut ffi::PyObject, index: isize, extra: *mut *mut c_void) -> c_int;
    #[cfg_attr(not(Py_3_12), link_name = "_PyCode_SetExtra")]
    fn PyUnstable_Code_SetExtra(code: *mut ffi::PyObject, index: isize, extra: *mut c_void) -> c_int;
}

unsafe extern "C" fn free(object: *mut c_void) {
    // SAFETY: the interpreter, attached, gives back the reference that `set` gave it, or NULL.
    unsafe { ffi::Py_XDECREF(object.cast()) };
}

/// A place for an object of ours in every code object.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// What a frame handler runs in its place.
    Replacement,
    /// The code that the program knows in its place.
    Root,
}

/// The number of the place.
fn index(place: Place) -> PyResult<isize> {
    static INDICES: [OnceLock<isize>; 2] = [const { OnceLock::new() }; 2];
    // SAFETY: callers are attached; the function follows the callback's signature.
    let index = *INDICES[place as usize].get_or_init(|| unsafe { PyUnstable_Eval_RequestCodeExtraIndex(free) });
    if index < 0 {
        return Err(PyRuntimeError::new_err("code objects have no room left for what slotrt keeps with them"));
    }
    Ok(index)
}

/// What [`set`] put there.
pub fn get<'py>(code: &Bound<'py, PyCode>, place: Place) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut object = std::ptr::null_mut();
    // SAFETY: `code` is a code object; what is stored at our index is NULL or a live object.
    unsafe {
        if PyUnstable_Code_GetExtra(code.as_ptr(), index(place)?, &mut object) != 0 {
            return Err(PyErr::fetch(code.py()));
        }
        Ok(Bound::from_borrowed_ptr_or_opt(code.py(), object.cast()))
    }
}

/// Keeps `object` for as long as the code object lives. The collector does not see it: it must not lead back to `code`.
pub fn set(code: &Bound<'_, PyCode>, place: Place, object: Bound<'_, PyAny>) -> PyResult<()> {
    let raw = object.into_ptr();
    // SAFETY: `code` is a code object; the reference goes over, and comes back to `free`.
    match unsafe { PyUnstable_Code_SetExtra(code.as_ptr(), index(place)?, raw.cast()) } {
        0 => Ok(()),
        _ => {
            // SAFETY: not taken over.
            unsafe { ffi::Py_DECREF(raw) };
            Err(PyErr::fetch(code.py()))
        }
    }
}
