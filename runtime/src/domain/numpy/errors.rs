//! numpy's floating point error state: what is recorded runs later, so an error must not become an exception.
use crate::ffi::context;
use pyo3::prelude::*;
use std::sync::Mutex;

/// Reads the state of `numpy.errstate` and `numpy.seterr`.
#[derive(Debug)]
pub(super) struct Errors {
    /// numpy's context variable (numpy 2); without it every question goes to `geterr`.
    variable: Option<Py<PyAny>>,
    geterr: Py<PyAny>,
    /// A value of the variable that is known to raise nothing.
    harmless: Mutex<Option<Py<PyAny>>>,
}

impl Errors {
    /// For this numpy.
    pub(super) fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
        let variable = module
            .getattr("_core")
            .and_then(|core| core.getattr("umath")?.getattr("_extobj_contextvar"))
            .ok()
            .filter(|variable| context::value(variable).is_some());
        let geterr = module.getattr("geterr")?.unbind();
        Ok(Self { variable: variable.map(Bound::unbind), geterr, harmless: Mutex::new(None) })
    }

    /// Whether floating point errors are only warned about, printed or ignored.
    pub(super) fn harmless(&self, py: Python<'_>) -> bool {
        let state = self.variable.as_ref().and_then(|variable| context::value(variable.bind(py)));
        let known = |state: &Bound<'_, PyAny>| {
            self.harmless.lock().is_ok_and(|held| held.as_ref().is_some_and(|held| held.is(state)))
        };
        if state.as_ref().is_some_and(known) {
            return true;
        }
        let harmless = self.ask(py).unwrap_or(false);
        if let (true, Some(state)) = (harmless, state) {
            let old = self.harmless.lock().ok().and_then(|mut held| held.replace(state.unbind()));
            drop(old);
        }
        harmless
    }

    fn ask(&self, py: Python<'_>) -> PyResult<bool> {
        let modes = self.geterr.bind(py).call0()?.call_method0("values")?;
        for mode in modes.try_iter()? {
            if ["raise", "call", "log"].contains(&mode?.extract::<String>()?.as_str()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
