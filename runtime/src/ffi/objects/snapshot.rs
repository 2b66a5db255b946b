//! A snapshot of `builtins`, `types` and `_weakref` from the import of slotrt: programs replace these modules, and what is in them.
use crate::names::interned;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use rustc_hash::FxHashMap;

const MODULES: [&str; 3] = ["builtins", "types", "_weakref"];

/// A module and a copy of its namespace.
type Snapshot = (Py<PyModule>, FxHashMap<String, Py<PyAny>>);

fn snapshots(py: Python<'_>) -> PyResult<&[Snapshot]> {
    static SNAPSHOTS: PyOnceLock<Vec<Snapshot>> = PyOnceLock::new();
    let copy_of = |name: &str| {
        let module = crate::ffi::modules::import(py, name)?;
        let named = module.dict().iter().filter_map(|(name, object)| {
            Some((name.cast::<PyString>().ok()?.to_str().ok()?.to_owned(), object.unbind()))
        });
        let copy = named.collect();
        PyResult::Ok((module.unbind(), copy))
    };
    SNAPSHOTS.get_or_try_init(py, || MODULES.into_iter().map(copy_of).collect()).map(Vec::as_slice)
}

/// Takes the snapshot, unless it is taken.
///
/// # Errors
/// The interpreter's own.
pub fn take(py: Python<'_>) -> PyResult<()> {
    snapshots(py).map(|_| ())
}

/// The module `builtins`, whatever `sys.modules` says now.
///
/// # Errors
/// The interpreter's own.
pub fn builtins(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    snapshots(py).map(|snapshots| snapshots[0].0.bind(py))
}

/// Whether it is the namespace of the module `builtins`: functions may have others.
pub fn is_builtins(object: &Bound<'_, PyAny>) -> bool {
    builtins(object.py()).is_ok_and(|module| module.dict().is(object))
}

/// What a module held under a name: `builtins`, `types` and `_weakref` as they were, any other as it is now.
///
/// # Errors
/// `AttributeError` if it held nothing by that name; what importing another module raises.
pub fn original<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let Some(index) = MODULES.iter().position(|known| *known == module) else {
        return match crate::ffi::modules::imported(&interned(py, module)) {
            Some(module) if !module.is_none() => module.getattr(interned(py, name)),
            _ => crate::ffi::modules::import(py, module)?.getattr(interned(py, name)),
        };
    };
    let found = snapshots(py)?[index].1.get(name).map(|found| found.bind(py).clone());
    found.ok_or_else(|| PyAttributeError::new_err(format!("module '{module}' had no attribute '{name}'")))
}
