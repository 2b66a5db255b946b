//! Types and exception classes by their global names in C.
use crate::ffi::{exported, pointer, symbol_table};
use pyo3::prelude::*;

/// A type or an exception class by its name in C: exported, or, where the library hides it, as a program finds it. `None` if this world does not know it.
pub(crate) fn class<'py>(py: Python<'py>, name: &'static str) -> Option<Bound<'py, PyAny>> {
    if let Some(exported) = exported::global(py, name) {
        return Some(exported);
    }
    let module = crate::ffi::modules::import(py, "types").ok()?;
    let attribute = match name {
        "_PyMethodWrapper_Type" => "MethodWrapperType",
        "_PyNamespace_Type" => "SimpleNamespace",
        "_PyUnion_Type" => "UnionType",
        "_Py_GenericAliasIterType" => {
            let alias = module.getattr("GenericAlias").and_then(|alias| {
                let list = py.get_type::<pyo3::types::PyList>();
                alias.call1((&list, &list))
            });
            return Some(alias.ok()?.try_iter().ok()?.get_type().into_any());
        }
        hidden => return hidden_type(py, hidden),
    };
    module.getattr(attribute).ok()
}

/// A static type that the library does not export, as its symbol table names it.
fn hidden_type<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    let address = symbol_table::variable(name).filter(|_| name.ends_with("_Type"))?;
    pointer::to(py, address).map(pointer::as_object)
}
