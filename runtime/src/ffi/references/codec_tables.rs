//! The tables of codecs that only C names. CPython: `Python/codecs.c`, `codec_search_path` and `codec_error_registry` of the interpreter's state.
use crate::names::name;
use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::OnceLock;

/// The tables, found once: C keeps them as long as it runs.
#[derive(Debug, Default)]
pub struct CodecTables {
    search_path: OnceLock<Py<PyList>>,
    error_handlers: OnceLock<Py<PyDict>>,
}

impl CodecTables {
    /// Looks for both early: after `gc.freeze()`, objects from before cannot be found.
    ///
    /// # Errors
    /// What the collector's functions raise.
    pub fn new(py: Python<'_>) -> PyResult<Self> {
        let tables = Self::default();
        tables.find(py)?;
        Ok(tables)
    }

    /// The list of functions that find codecs; it begins with the library's.
    ///
    /// # Errors
    /// What the collector's functions raise.
    pub fn search_path<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        if self.search_path.get().is_none() {
            self.find(py)?;
        }
        Ok(self.search_path.get().map(|path| path.bind(py).clone()))
    }

    /// The error handlers by their names.
    ///
    /// # Errors
    /// What the collector's functions raise.
    pub fn error_handlers<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.error_handlers.get().is_none() {
            self.find(py)?;
        }
        Ok(self.error_handlers.get().map(|handlers| handlers.bind(py).clone()))
    }

    /// Looks at all that the collector follows, in one pass.
    fn find(&self, py: Python<'_>) -> PyResult<()> {
        let search = crate::ffi::modules::import(py, "encodings")?.getattr(name!("search_function"))?;
        let lookup_error = crate::ffi::modules::import(py, "_codecs")?.getattr(name!("lookup_error"))?;
        let strict = lookup_error.call1((name!("strict"),))?;
        let followed = crate::ffi::modules::import(py, "gc")?.call_method0(name!("get_objects"))?;
        let (mut paths, mut handlers) = (Vec::new(), None);
        for object in followed.cast_into::<PyList>()? {
            if let Ok(list) = object.cast_exact::<PyList>() {
                if list.get_item(0).is_ok_and(|first| first.is(&search)) {
                    paths.push(list.clone());
                }
            } else if let Ok(dict) = object.cast_exact::<PyDict>()
                && handlers.is_none()
                && dict.get_item(name!("strict")).is_ok_and(|held| held.is_some_and(|held| held.is(&strict)))
                && is_registry(dict, &lookup_error, &strict)?
            {
                handlers = Some(dict.clone());
            }
        }
        // Another list like it may be the program's own.
        if let [path] = paths.as_slice() {
            let _ = self.search_path.set(path.clone().unbind());
        }
        if let Some(handlers) = handlers {
            let _ = self.error_handlers.set(handlers.unbind());
        }
        Ok(())
    }
}

/// Whether C finds in the dictionary what stands there.
fn is_registry(dict: &Bound<'_, PyDict>, lookup_error: &Bound<'_, PyAny>, strict: &Bound<'_, PyAny>) -> PyResult<bool> {
    const TRIED: &str = "slotrt.tried";
    let has_all = ["ignore", "replace", "surrogatepass"].iter().all(|name| dict.contains(name).unwrap_or(false));
    if !has_all || lookup_error.call1((TRIED,)).is_ok() || dict.contains(TRIED)? {
        return Ok(false);
    }
    dict.set_item(TRIED, strict)?;
    let found = lookup_error.call1((TRIED,));
    dict.del_item(TRIED)?;
    match found {
        Ok(found) => Ok(found.is(strict)),
        Err(error) if error.is_instance_of::<PyLookupError>(dict.py()) => Ok(false),
        Err(error) => Err(error),
    }
}
