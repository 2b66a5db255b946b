//! Helpers among the constants of split code. They are called by subscription, after which the interpreter handles no signals:
//! `follower[packet]`.
use super::metadata::own_unit;
use super::rest::Rest;
use crate::ffi::{callable, delegation, frame, surviving_frames, units};
use crate::names::name;
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyTraceback, PyTuple};

/// Gives a tuple of the running frame's surviving frames, or `None`.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Survivors;

#[pymethods]
impl Survivors {
    fn __getitem__<'py>(&self, nothing: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        surviving_frames::of_running(nothing.py())
    }
}

/// Copies the running frame's variables to its surviving frames.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Sharer;

#[pymethods]
impl Sharer {
    fn __getitem__(&self, nothing: &Bound<'_, PyAny>) {
        surviving_frames::share(nothing.py());
    }
}

/// Makes objects of what is none on the running frame's stack: iterators of the sequences whose indices lie at the places given, integers
/// of the rest.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct UnitReader;

#[pymethods]
impl UnitReader {
    fn __getitem__(&self, py: Python<'_>, indices: Vec<usize>) -> PyResult<()> {
        units::make_iterators(py, &indices)?;
        units::make_objects(py)
    }
}

/// Makes places in code of the objects at these places of the running frame's stack.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(crate) struct UnitWriter;

#[pymethods]
impl UnitWriter {
    fn __getitem__(&self, py: Python<'_>, places: Vec<usize>) -> PyResult<()> {
        units::make_integers(py, &places)
    }
}

/// Gives the place in the running continuation's code that stands on the line of a place in its root's; where there is none, the latter.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct UnitPlacer;

#[pymethods]
impl UnitPlacer {
    fn __getitem__<'py>(&self, unit: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some(code) = frame::running_code(unit.py()) else { return Ok(unit) };
        match own_unit(&code, unit.extract()?)? {
            Some(own) => Ok(own.into_pyobject(unit.py())?.into_any()),
            None => Ok(unit),
        }
    }
}

/// An exception that leaves the running frame from a handler of its own has passed through the frame once.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct PassedOnce;

#[pymethods]
impl PassedOnce {
    fn __getitem__<'py>(&self, raised: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, error) = (raised.py(), PyErr::from_value(raised.clone()));
        let frame_of = |entry: &Bound<'py, PyTraceback>| entry.getattr(name!("tb_frame"));
        let Some(entry) = error.traceback(py) else { return Ok(raised) };
        let next = entry.getattr(name!("tb_next"))?.cast_into::<PyTraceback>().ok();
        if let Some(next) =
            next.filter(|next| frame_of(next).is_ok_and(|of| frame_of(&entry).is_ok_and(|own| own.is(&of))))
        {
            error.set_traceback(py, Some(next));
        }
        Ok(raised)
    }
}

/// Runs what follows a frame packet, and gives what to delegate to of the generator that this makes; `None` for any other object.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Follower;

#[pymethods]
impl Follower {
    fn __getitem__(&self, result: Bound<'_, PyAny>) -> PyResult<Option<Rest>> {
        if !callable::is_packet(&result) {
            return Ok(None);
        }
        let made = delegation::uncounted(result.py(), move || callable::follow(result));
        made.map(|made| Some(Rest::new(made)))
    }
}

/// Calls what makes a generator that continues the running one, and gives what to delegate to: `delegator[function, *arguments]`.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Delegator;

#[pymethods]
impl Delegator {
    fn __getitem__(&self, call: &Bound<'_, PyTuple>) -> PyResult<Rest> {
        let (function, arguments) = (call.get_item(0)?, call.get_slice(1, call.len()));
        let made = delegation::uncounted(call.py(), || function.call1(arguments));
        made.map(Rest::new)
    }
}

/// Gives a callable that goes on with a packet, once, whatever it is called with.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Suspender;

#[pymethods]
impl Suspender {
    fn __getitem__<'py>(&self, packet: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        callable::suspended(packet)
    }
}

/// The function that gives the exception to raise in place of one that reached the end of an asynchronous generator.
pub(super) fn stop_error(py: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    PyCFunction::new_closure(py, None, None, |args, _| -> PyResult<Py<PyAny>> {
        let (py, raised) = (args.py(), args.get_item(0)?);
        let message = if raised.is_instance_of::<PyStopIteration>() {
            "async generator raised StopIteration"
        } else if raised.is_instance_of::<PyStopAsyncIteration>() {
            "async generator raised StopAsyncIteration"
        } else {
            return Ok(raised.unbind());
        };
        let error = PyRuntimeError::new_err(message).into_value(py);
        error.setattr(py, "__cause__", &raised)?;
        error.setattr(py, "__context__", &raised)?;
        Ok(error.into_any())
    })
}

/// The function that gives the running frame's namespace, as it is: `locals()` would bring cells into it.
pub(super) fn namespace(py: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    PyCFunction::new_closure(py, None, None, |args, _| -> PyResult<Py<PyAny>> {
        let found = frame::namespace(args.py());
        found.map(Bound::unbind).ok_or_else(|| PyRuntimeError::new_err("this frame has no namespace"))
    })
}
