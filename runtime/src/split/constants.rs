//! The constants that the code of a transfer uses.
use super::helpers;
use crate::ffi::callable;
use pyo3::exceptions::{PyBaseException, PyStopIteration};
use pyo3::prelude::*;

/// The constants that transfers use: helpers, and objects that stand for what no object is.
#[derive(Debug)]
pub struct TransferConstants {
    /// Stands for an unbound variable in a packet; never visible to programs.
    pub unbound: Py<PyAny>,
    /// Stands behind the continuation in a packet.
    pub(super) packet: Py<PyAny>,
    /// An exception instance that `PUSH_EXC_INFO` may set for the length of one instruction.
    pub exception: Py<PyAny>,
    /// What the rest of an asynchronous generator, a coroutine then, calls in place of `INTRINSIC_STOPITERATION_ERROR`.
    pub(super) stop_error: Py<PyAny>,
    /// `StopIteration`, for releases without `CLEANUP_THROW`.
    pub(super) stop_iteration: Py<PyAny>,
    /// Calls what it is subscribed with.
    pub(super) caller: Py<PyAny>,
    /// The same with keywords.
    pub(super) keyword_caller: Py<PyAny>,
    /// Gives what the weak reference refers to that it is subscribed with.
    pub(super) referent: Py<PyAny>,
    /// Runs what follows a frame packet.
    pub(super) follower: Py<helpers::Follower>,
    /// Makes what a generator delegates to.
    pub(super) delegator: Py<helpers::Delegator>,
    /// Makes what goes on with a packet when it is called.
    pub(super) suspender: Py<helpers::Suspender>,
    /// Gives the running frame's surviving frames.
    pub(super) survivors: Py<helpers::Survivors>,
    /// Copies the variables to those while the frame runs.
    pub(super) sharer: Py<helpers::Sharer>,
    /// Makes objects of places in code.
    pub(super) unit_reader: Py<helpers::UnitReader>,
    /// Makes places in code of objects.
    pub(super) unit_writer: Py<helpers::UnitWriter>,
    /// Takes away what a handler of a prologue adds to the traceback of an exception.
    pub(super) passed_once: Py<PyAny>,
    /// Gives the places in a continuation's code for those of its root.
    pub(super) unit_placer: Py<helpers::UnitPlacer>,
    /// Gives the running frame's namespace, for releases without `LOAD_LOCALS`.
    pub(super) namespace: Py<PyAny>,
}

impl TransferConstants {
    /// What prologues call through, so that no signal is handled there.
    pub(crate) fn caller<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.caller.bind(py).clone()
    }

    /// The same with keywords.
    pub(crate) fn keyword_caller<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.keyword_caller.bind(py).clone()
    }

    /// `referent[reference]` gives what a weak reference refers to.
    pub(crate) fn referent<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.referent.bind(py).clone()
    }

    /// `passed_once[exception]` gives the exception, its traceback with one entry for the frame.
    pub(crate) fn passed_once<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.passed_once.bind(py).clone()
    }

    /// `suspender[packet]` gives a callable that goes on with the packet, whatever it is called with.
    pub(crate) fn suspender<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.suspender.bind(py).as_any().clone()
    }

    /// `writer[places]` makes places in code of the objects there on the running frame's stack.
    pub(crate) fn unit_writer<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.unit_writer.bind(py).as_any().clone()
    }

    /// All of them, in an order that does not change.
    pub(crate) fn all<'py>(&self, py: Python<'py>) -> [pyo3::Bound<'py, PyAny>; 18] {
        let helper = |object: &Py<PyAny>| object.bind(py).clone();
        [
            helper(&self.unbound),
            helper(&self.packet),
            helper(&self.exception),
            helper(&self.stop_error),
            helper(&self.stop_iteration),
            helper(&self.caller),
            helper(&self.keyword_caller),
            helper(self.follower.as_any()),
            helper(self.suspender.as_any()),
            helper(self.survivors.as_any()),
            helper(self.sharer.as_any()),
            helper(self.unit_reader.as_any()),
            helper(self.unit_writer.as_any()),
            helper(&self.namespace),
            helper(self.unit_placer.as_any()),
            helper(&self.referent),
            helper(self.delegator.as_any()),
            helper(&self.passed_once),
        ]
    }

    /// New constants; one set per module is enough.
    pub fn new(py: Python<'_>) -> PyResult<Self> {
        // Not by an import: that would ask the globals and the modules of the program.
        Ok(Self {
            unbound: py.get_type::<PyAny>().call0()?.unbind(),
            packet: callable::mark(py)?.clone().unbind(),
            exception: py.get_type::<PyBaseException>().call0()?.unbind(),
            stop_error: helpers::stop_error(py)?.into_any().unbind(),
            stop_iteration: py.get_type::<PyStopIteration>().into_any().unbind(),
            caller: callable::caller(py)?.unbind(),
            keyword_caller: callable::keyword_caller(py)?.unbind(),
            referent: callable::referent(py)?.unbind(),
            follower: Py::new(py, helpers::Follower)?,
            delegator: Py::new(py, helpers::Delegator)?,
            suspender: Py::new(py, helpers::Suspender)?,
            survivors: Py::new(py, helpers::Survivors)?,
            sharer: Py::new(py, helpers::Sharer)?,
            unit_reader: Py::new(py, helpers::UnitReader)?,
            unit_writer: Py::new(py, helpers::UnitWriter)?,
            passed_once: Py::new(py, helpers::PassedOnce)?.into_any(),
            unit_placer: Py::new(py, helpers::UnitPlacer)?,
            namespace: helpers::namespace(py)?.into_any().unbind(),
        })
    }
}
