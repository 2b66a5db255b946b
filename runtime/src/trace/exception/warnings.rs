//! Warnings of C code within a trace: the warning is suppressed and the instruction runs natively.
//!
//! The filters in force, and the places that have warned before, depend on the line of the program; so C warns there, not in the trace.
use crate::domain::is_unheard;
use crate::ffi::traceback;
use crate::names::name;
use crate::trace::proxy::reentry::running;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::unsupported;
use crate::trace::state::warnings::{Heard, InstalledFilter, WARNS, WarningFilters, WarningState};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::cell::{Cell, RefCell};

thread_local! {
    static WARNING: Cell<WarningState> = const { Cell::new(WarningState::Inactive) };
    /// What the warning says whose category is asked next.
    static TEXT: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
    /// What was warned of.
    static HEARD: RefCell<Vec<Heard>> = const { RefCell::new(Vec::new()) };
}

/// The pattern of a filter: matches whatever the thread warns of while it listens.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct FilterPattern;

#[pymethods]
impl FilterPattern {
    /// What the `warnings` of C ask a pattern. CPython: `check_matched`.
    #[pyo3(name = "match")]
    fn matches(&self, text: Bound<'_, PyAny>) -> bool {
        if matches!(WARNING.get(), WarningState::Inactive) {
            return false;
        }
        TEXT.set(Some(text.unbind()));
        true
    }
}

/// The category of a filter: takes every category, after the trace has had a look at the warning.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct FilterCategory;

#[pymethods]
impl FilterCategory {
    /// CPython: `get_filter`, which asks for the category last.
    fn __subclasscheck__(&self, category: Bound<'_, PyAny>) -> PyResult<bool> {
        let py = category.py();
        if matches!(WARNING.get(), WarningState::Inactive) {
            return Ok(false);
        }
        let Some(text) = TEXT.take() else { return Ok(false) };
        let text = text.into_bound(py);
        if running(py, |tracer| tracer.warned_by_c(&text, &category)).transpose()? == Some(true) {
            if matches!(WARNING.get(), WarningState::Nothing) {
                WARNING.set(WarningState::Followed);
            }
            return Ok(true);
        }
        if is_unheard() {
            if matches!(WARNING.get(), WarningState::Nothing) {
                WARNING.set(WarningState::Followed);
            }
            return Ok(true);
        }
        HEARD.with_borrow_mut(|heard| heard.push(Heard { text: text.unbind(), category: category.unbind() }));
        WARNING.set(WarningState::Warning);
        Ok(true)
    }
}

/// What becomes of a warning of C code.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// C goes on: where it cannot raise, it would print an error.
    Ignore,
    /// It is an error: nothing is done after it, and no cache keeps what was made.
    Error,
}

impl WarningFilters {
    fn get<'py>(&self, py: Python<'py>, action: Action) -> PyResult<Bound<'py, PyAny>> {
        let place = &self.0[action as usize];
        let made = match place.get() {
            Some(made) => made,
            None => {
                let action = match action {
                    Action::Ignore => "ignore",
                    Action::Error => "error",
                };
                let category = Bound::new(py, FilterCategory)?;
                let filter = (action, Bound::new(py, FilterPattern)?, category, py.None(), 0);
                let filter = filter.into_pyobject(py)?.unbind();
                place.get_or_init(|| filter)
            }
        };
        Ok(made.bind(py).clone().into_any())
    }
}

impl<'py> Tracer<'py> {
    /// From here on the trace notices what warns, and nobody sees the warning.
    pub(crate) fn install_warning_filter(&mut self) {
        self.install_warning_filter_for(Action::Ignore);
    }

    fn install_warning_filter_for(&mut self, action: Action) {
        let list = match &self.state.filters.list {
            Some(list) => list.bind(self.py).clone(),
            None => {
                let Some(list) = filters(self.py) else { return };
                self.state.filters.list = Some(list.clone().unbind());
                list
            }
        };
        let Ok(own) = self.state.shared_caches.warning_filters.get(self.py, action) else { return };
        let first = list.get_item(0).ok();
        let put = if first.is_some() { list.set_item(0, &own) } else { list.insert(0, &own) };
        if put.is_ok() {
            let (own, first, outer) = (own.unbind(), first.map(Bound::unbind), WARNING.replace(WarningState::Nothing));
            self.state.filters.listening = Some(InstalledFilter { own, first, outer });
        }
    }

    /// The program's filters are in force again. What was warned of since is where the trace ends.
    pub(crate) fn remove_warning_filter(&mut self) {
        if let Some(text) = self.take_warning()
            && let Err(signal) = unsupported::<()>(WARNS, text)
        {
            self.state.pending.get_or_insert(signal);
        }
    }

    fn take_warning(&mut self) -> Option<String> {
        let last = self.take_warnings().pop()?;
        Some(last.text.bind(self.py).to_string())
    }

    fn take_warnings(&mut self) -> Vec<Heard> {
        let Some(InstalledFilter { own, first, outer }) = self.state.filters.listening.take() else {
            return Vec::new();
        };
        if let Some(list) = &self.state.filters.list {
            restore(list.bind(self.py), own.bind(self.py), first.map(|first| first.into_bound(self.py)));
        }
        match WARNING.replace(outer) {
            WarningState::Warning => {
                clear_registries(self.py);
                HEARD.take()
            }
            WarningState::Followed => {
                clear_registries(self.py);
                Vec::new()
            }
            WarningState::Inactive | WarningState::Nothing => Vec::new(),
        }
    }

    /// Runs what asks nothing of the trace; nobody sees what it warns of, which is told.
    pub(crate) fn hearing_warnings<T>(&mut self, run: impl FnOnce() -> T) -> (T, Vec<Heard>) {
        self.install_warning_filter();
        let result = run();
        (result, self.take_warnings())
    }

    /// Runs what asks nothing of the trace, with warnings as errors; whether it warned.
    pub(crate) fn with_warnings_as_errors<T>(&mut self, run: impl FnOnce() -> T) -> (T, bool) {
        self.install_warning_filter_for(Action::Error);
        let result = run();
        (result, self.take_warning().is_some())
    }
}

/// The filters that C asks. CPython: `get_filter`.
pub(crate) fn filters(py: Python<'_>) -> Option<Bound<'_, PyList>> {
    let modules = crate::ffi::modules::import(py, name!("sys")).and_then(|sys| sys.getattr(name!("modules"))).ok()?;
    let module = modules.get_item(name!("warnings")).or_else(|_| modules.get_item(name!("_warnings"))).ok()?;
    module.getattr(name!("filters")).ok()?.cast_into_exact().ok()
}

/// C has looked for the place that warned among frames that run; a registry that it made there, of no warning, is none of the program's.
/// CPython: `setup_context`.
fn clear_registries(py: Python<'_>) {
    let mut frame = traceback::current(py);
    while let Some(running) = frame {
        if let Ok(Ok(globals)) = running.getattr(name!("f_globals")).map(|globals| globals.cast_into::<PyDict>())
            && let Ok(Some(registry)) = globals.get_item(name!("__warningregistry__"))
            && registry.len().is_ok_and(|length| length == 1)
            && registry.contains(name!("version")).unwrap_or_default()
        {
            globals.del_item(name!("__warningregistry__")).unwrap_or_default();
        }
        frame = running.getattr(name!("f_back")).ok().filter(|frame| !frame.is_none());
    }
}

/// Takes the trace's own filter out, wherever another thread has moved it.
fn restore(list: &Bound<'_, PyList>, own: &Bound<'_, PyAny>, first: Option<Bound<'_, PyAny>>) {
    let at_first = list.get_item(0).is_ok_and(|filter| filter.is(own));
    let place = if at_first { Some(0) } else { list.iter().position(|filter| filter.is(own)) };
    let Some(place) = place else { return };
    let restored = match first {
        Some(first) => list.set_item(place, first),
        None => list.del_item(place),
    };
    debug_assert!(restored.is_ok(), "a place of a list");
}
