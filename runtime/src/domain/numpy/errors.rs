//! numpy's floating point error state, and the filters that turn warnings into errors. A recorded operation runs later: its errors must not
//! be exceptions, for a handler of the program could have caught them.
use crate::ffi::context_variable;
use crate::names::name;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Mutex;

/// Reads the state of `numpy.errstate` and `numpy.seterr`.
#[derive(Debug)]
pub(super) struct Errors {
    /// numpy's context variable (numpy 2); without it every question goes to `geterr`.
    variable: Option<Py<PyAny>>,
    geterr: Py<PyAny>,
    /// The names of the module `warnings`.
    warnings: Py<PyDict>,
    /// A state that is known to raise nothing.
    harmless: Mutex<Option<State>>,
}

/// What decides whether a floating point error raises: objects that are replaced, not changed, when it is decided anew.
#[derive(Debug)]
struct State {
    modes: Py<PyAny>,
    filters: Py<PyAny>,
    first: Option<Py<PyAny>>,
    length: usize,
}

impl State {
    fn is(&self, other: &Self) -> bool {
        self.modes.is(&other.modes)
            && self.filters.is(&other.filters)
            && self.length == other.length
            && match (&self.first, &other.first) {
                (Some(one), Some(other)) => one.is(other),
                (None, None) => true,
                _ => false,
            }
    }
}

impl Errors {
    /// For this numpy.
    pub(super) fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
        let variable = module
            .getattr(name!("_core"))
            .and_then(|core| core.getattr(name!("umath"))?.getattr(name!("_extobj_contextvar")))
            .ok()
            .filter(|variable| context_variable::value(variable).is_some());
        let geterr = module.getattr(name!("geterr"))?.unbind();
        let warnings = crate::ffi::modules::import(module.py(), "warnings")?.dict().unbind();
        Ok(Self { variable: variable.map(Bound::unbind), geterr, warnings, harmless: Mutex::new(None) })
    }

    /// numpy's context variable.
    pub(super) fn variable(&self) -> Option<&Py<PyAny>> {
        self.variable.as_ref()
    }

    /// Whether floating point errors are only warned about, printed or ignored.
    pub(super) fn harmless(&self, py: Python<'_>) -> bool {
        let state = self.state(py);
        let known =
            |state: &State| self.harmless.lock().is_ok_and(|held| held.as_ref().is_some_and(|held| held.is(state)));
        if state.as_ref().is_some_and(known) {
            return true;
        }
        let harmless = self.ask(py).unwrap_or(false);
        if let (true, Some(state)) = (harmless, state) {
            let old = self.harmless.lock().ok().and_then(|mut held| held.replace(state));
            drop(old);
        }
        harmless
    }

    fn state(&self, py: Python<'_>) -> Option<State> {
        let modes = self.variable.as_ref().and_then(|variable| context_variable::value(variable.bind(py)))?.unbind();
        let filters =
            self.warnings.bind(py).get_item(intern!(py, "filters")).ok()??.cast_into_exact::<PyList>().ok()?;
        let first = filters.get_item(0).ok().map(Bound::unbind);
        Some(State { modes, first, length: filters.len(), filters: filters.into_any().unbind() })
    }

    fn ask(&self, py: Python<'_>) -> PyResult<bool> {
        let modes = self.geterr.bind(py).call0()?.call_method0(name!("values"))?;
        for mode in modes.try_iter()? {
            let mode = mode?.extract::<String>()?;
            if ["raise", "call", "log"].contains(&mode.as_str()) || mode == "warn" && self.warning_raises(py)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a filter of the program may make an error of a warning.
    fn warning_raises(&self, py: Python<'_>) -> PyResult<bool> {
        let warnings = self.warnings.bind(py);
        if warnings.as_any().get_item("defaultaction")?.extract::<String>()? == "error" {
            return Ok(true);
        }
        for filter in warnings.as_any().get_item("filters")?.try_iter()? {
            if filter?.get_item(0)?.extract::<String>()? == "error" {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
