//! Fills the native module with what there is for the interpreter's release.
use pyo3::prelude::*;

/// An interpreter that there are no tables for: the module builds, and refuses in words.
#[cfg(not(slotrt_bytecode))]
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let version = module.py().version_info();
    let text = format!(
        "slotrt traces CPython 3.11 to 3.15; this interpreter is {}.{}.{}. Install slotrt into an environment of one of these.",
        version.major, version.minor, version.patch
    );
    Err(pyo3::exceptions::PyImportError::new_err(text))
}

/// Fills the native module, level by level.
#[cfg(slotrt_bytecode)]
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    #[cfg(slotrt_traces)]
    crate::python::owner::claim(module)?;
    module.add("HOOKS", cfg!(slotrt_hooks))?;
    module.add("TRACES", cfg!(slotrt_traces))?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    submodule(module, "bytecode", crate::python::bytecode::module(module.py())?)?;
    #[cfg(slotrt_hooks)]
    hooks(module)?;
    #[cfg(slotrt_live)]
    submodule(module, "protocol", crate::live::protocol::module(module.py())?)?;
    #[cfg(slotrt_traces)]
    crate::python::fill(module)?;
    Ok(())
}

#[cfg(slotrt_hooks)]
fn hooks(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    crate::ffi::hook::check(py)?;
    crate::ffi::snapshot::take(py)?;
    module.add("InternalError", py.get_type::<crate::internal_error::InternalError>())?;
    submodule(module, "hook", crate::python::hook::module(py)?)
}

/// Adds a submodule that `import slotrt.NAME` finds.
#[cfg(slotrt_bytecode)]
fn submodule<'py>(module: &Bound<'py, PyModule>, name: &str, made: Bound<'py, PyModule>) -> PyResult<()> {
    let modules = crate::ffi::modules::import(module.py(), "sys")?.getattr("modules")?;
    modules.set_item(format!("slotrt.{name}"), &made)?;
    module.add(name, made)
}
