//! Imported modules, and imports that ask no `__import__` of the program's.
use pyo3::BoundObject;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// What `sys.modules` has under this name.
#[must_use]
pub fn imported<'py>(name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: attached; the dict belongs to the interpreter, the reference is borrowed.
    let modules = unsafe { Bound::from_borrowed_ptr_or_opt(name.py(), ffi::PyImport_GetModuleDict()) };
    modules?.cast_into::<PyDict>().ok()?.get_item(name).ok()?
}

/// The module of this name, imported if it is not. A program may have replaced `builtins.__import__`, which `PyImport_Import` calls.
///
/// # Errors
/// What the import raises; `ImportError` where `sys.modules` has something else than a module under the name.
pub fn import<'py>(py: Python<'py>, name: impl IntoPyObject<'py, Target = PyString>) -> PyResult<Bound<'py, PyModule>> {
    let name = name.into_pyobject(py).map_err(Into::into)?.into_bound();
    let found = match imported(&name) {
        Some(found) => found,
        None => {
            import_anew(&name)?;
            imported(&name).ok_or_else(|| PyImportError::new_err(format!("{name} is not among sys.modules")))?
        }
    };
    found.cast_into().map_err(|_| PyImportError::new_err(format!("{name} is no module")))
}

fn import_anew(name: &Bound<'_, PyString>) -> PyResult<()> {
    let none = std::ptr::null_mut();
    // SAFETY: the name is a live text; no globals and no names are allowed for an import by its whole name; the result is a new reference,
    // or NULL with an exception set.
    unsafe {
        let module = ffi::PyImport_ImportModuleLevelObject(name.as_ptr(), none, none, none, 0);
        Bound::from_owned_ptr_or_err(name.py(), module).map(|_| ())
    }
}
