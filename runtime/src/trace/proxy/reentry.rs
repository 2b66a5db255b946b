//! Leaves the tracer for C and enters it again: the state is set aside while C runs, and taken up where C asks a proxy or begins a Python frame.
use crate::ffi::modules;
use crate::trace::state::journal::changed;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::{SpareState, State, Tracer};
use crate::trace::state::unwind::{Traced, Unwind};
use pyo3::exceptions::{PyBaseException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyModule;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// C frames between Python frames in one trace: bounds the C stack that a trace needs.
pub(crate) const MAX_NESTING: u32 = 40;

thread_local! {
    /// The state of the trace that called into C, while C runs. Empty while the tracer itself runs.
    static SET_ASIDE: RefCell<Option<Box<State>>> = const { RefCell::new(None) };
}

pyo3::create_exception!(
    slotrt,
    Interrupted,
    PyBaseException,
    "Leaves C code when a trace must stop; never seen by programs."
);

/// Sets the state aside before C runs; gives what was set aside before.
pub(crate) fn enter(state: Box<State>) -> Option<Box<State>> {
    SET_ASIDE.with(|cell| cell.borrow_mut().replace(state))
}

/// Takes the state back after C has run.
pub(crate) fn leave(outer: Option<Box<State>>) -> Box<State> {
    SET_ASIDE.with(|cell| std::mem::replace(&mut *cell.borrow_mut(), outer)).unwrap_or_default()
}

/// The number of a new trace: proxies carry it, so that one that outlives its trace is never taken for a value of another.
pub(crate) fn next_trace() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Runs part of a trace from inside C.
pub(crate) fn traced<'py, T>(
    py: Python<'py>,
    proxy: &Proxy,
    run: impl FnOnce(&mut Tracer<'py>) -> Traced<T>,
) -> PyResult<T> {
    match SET_ASIDE.with(|cell| cell.borrow_mut().take_if(|state| state.trace == proxy.trace)) {
        Some(state) => inside(py, state, |tracer| {
            tracer.check_alive(proxy.value)?;
            run(tracer)
        }),
        None => Err(PyRuntimeError::new_err("a slotrt proxy outlived its trace")),
    }
}

/// Whether the trace that made the proxy has called into C, and waits.
pub(crate) fn is_of_running_trace(proxy: &Proxy) -> bool {
    SET_ASIDE.with(|cell| cell.borrow().as_ref().is_some_and(|state| state.trace == proxy.trace))
}

/// Runs part of the trace that called into C; `None`: no trace did.
pub(crate) fn running<'py, T>(py: Python<'py>, run: impl FnOnce(&mut Tracer<'py>) -> Traced<T>) -> Option<PyResult<T>> {
    let state = SET_ASIDE.with(|cell| cell.borrow_mut().take())?;
    Some(inside(py, state, run))
}

/// Whether the frame runs a part of `int` that is written in Python: it runs as C does. C counts on having what it gives for itself, and
/// changes the number's sign in place.
fn is_part_of_c(py: Python<'_>, frame: crate::ffi::frame::Frame<'_>) -> bool {
    let module = modules::imported(pyo3::intern!(py, "_pylong"));
    let namespace = module.and_then(|module| module.cast_into::<PyModule>().ok()).map(|module| module.dict());
    namespace.is_some_and(|namespace| namespace.as_ptr() as usize == frame.globals_address())
}

/// Whether the library whose operation runs has begun a frame of its own code.
fn is_part_of_operation(py: Python<'_>, frame: crate::ffi::frame::Frame<'_>) -> bool {
    SET_ASIDE.with(|cell| {
        let aside = cell.borrow();
        let Some(state) = aside.as_ref().filter(|state| state.dispatched.runs(state.nesting)) else { return false };
        let mut dispatching = state.domains.iter().filter_map(|domain| domain.dispatching());
        dispatching.any(|dispatching| dispatching.is_own(&frame.function(py)))
    })
}

/// Stands in for a Python frame that C began on behalf of the trace: the trace goes through it.
pub(crate) fn answer(py: Python<'_>, frame: crate::ffi::frame::Frame<'_>) -> Option<PyResult<Py<PyAny>>> {
    if is_part_of_c(py, frame) || is_part_of_operation(py, frame) {
        return None;
    }
    let entered = running(py, |tracer| match tracer.signal_of(frame) {
        Some(number) => Err(tracer.postpone(number)),
        None => tracer.refuse_frame_of_operation(frame).and_then(|()| tracer.enter_frame(frame)),
    })?;
    Some(entered.map(Bound::unbind))
}

/// Takes the trace up while C waits, and sets it aside again.
pub(crate) fn inside<'py, T>(
    py: Python<'py>,
    state: Box<State>,
    run: impl FnOnce(&mut Tracer<'py>) -> Traced<T>,
) -> PyResult<T> {
    let mut tracer = Tracer { py, state, spare: SpareState::default() };
    tracer.state.nesting += 1;
    tracer.remove_warning_filter();
    let result = match tracer.state.pending {
        Some(_) => Err(Unwind::Stopped),
        None if tracer.state.nesting > MAX_NESTING => {
            crate::trace::state::unwind::unsupported("C and Python call each other too deeply", "proxy")
        }
        None => run(&mut tracer),
    };
    tracer.state.nesting -= 1;
    let result = result.map_err(|signal| tracer.as_exception(signal));
    tracer.install_warning_filter();
    SET_ASIDE.with(|cell| *cell.borrow_mut() = Some(tracer.state));
    result
}

impl<'py> Tracer<'py> {
    /// Runs C code; what it asks of proxies, and Python frames that it begins, lead back into the trace.
    pub(crate) fn with_callbacks<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let result = self.with_callbacks_on_scalars(run);
        changed();
        result
    }

    /// The same where C gets nothing that it could change.
    pub(crate) fn with_callbacks_on_scalars<T>(&mut self, run: impl FnOnce() -> T) -> T {
        self.enter_context();
        let handlers = self.put_handlers();
        self.install_warning_filter();
        let by_slots = std::mem::take(&mut self.state.numbers.will_ask_by_slots);
        let by_slots = std::mem::replace(&mut self.state.numbers.asked_by_slots, by_slots);
        let passes_on = std::mem::take(&mut self.state.numbers.will_pass_on);
        let passes_on = std::mem::replace(&mut self.state.numbers.passes_on, passes_on);
        let spare = self.spare.take();
        let outer = enter(std::mem::replace(&mut self.state, spare));
        let result = crate::ffi::hook::intercept(self.py, answer, run);
        self.spare = SpareState(Some(std::mem::replace(&mut self.state, leave(outer))));
        self.state.numbers.asked_by_slots = by_slots;
        self.state.numbers.passes_on = passes_on;
        self.remove_warning_filter();
        self.take_handlers(handlers);
        self.leave_context();
        result
    }

    /// What C sees of a signal: the exception, or an interruption that no C code handles.
    pub(crate) fn as_exception(&mut self, signal: Unwind) -> PyErr {
        if let Unwind::Raised(value) = &signal
            && let Some(object) = self.at_hand(*value)
        {
            return PyErr::from_value(object);
        }
        self.state.pending.get_or_insert(signal);
        Interrupted::new_err(())
    }
}
