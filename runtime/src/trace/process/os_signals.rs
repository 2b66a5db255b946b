//! Operating system signals that C code handles during a trace: they wait until the program runs the interrupted instruction.
//!
//! A handler is no part of the instruction and may raise anything. So the trace ends before the instruction, and the signal is sent again
//! afterwards. CPython: `Modules/signalmodule.c`, `_PyErr_CheckSignalsTstate`.
use crate::bytecode::flag;
use crate::ffi::frame::Frame;
use crate::names::name;
use crate::trace::state::outcome::{Break, INTERRUPTED};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Unwind;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

/// `SIGINT`, the one signal that has a handler in C.
pub const SIGINT: i32 = 2;

impl<'py> Tracer<'py> {
    /// The signal that a frame handles: its last two arguments are a signal and a frame or `None`, and it is that signal's handler.
    pub(crate) fn signal_of(&self, frame: Frame<'_>) -> Option<i32> {
        let given = self.positional(frame)?;
        let [.., number, interrupted] = given.as_slice() else { return None };
        // Not of any object: that would run an `__index__` of the program.
        let number = number.cast_exact::<PyInt>().ok()?;
        let number: i32 = number.extract().ok().filter(|number| *number > 0)?;
        if !interrupted.is_none() && crate::ffi::types::c_name(&interrupted.get_type()) != "frame" {
            return None;
        }
        let handler = self.handler(number)?;
        let function = frame.function(self.py);
        let ours = handler.is(&function) || handler.getattr(name!("__func__")).is_ok_and(|under| under.is(&function));
        ours.then_some(number)
    }

    /// The positional arguments of a fresh frame, those for `*args` too; `None` where there are others.
    fn positional(&self, frame: Frame<'_>) -> Option<Vec<Bound<'py, PyAny>>> {
        let code = frame.code(self.py);
        let number = |name: &str| code.getattr(name).and_then(|count| count.extract::<usize>()).ok();
        let (named, only, flags) = (number("co_argcount")?, number("co_kwonlyargcount")?, number("co_flags")?);
        let mut given = (0..named).map(|slot| frame.slot(self.py, slot)).collect::<Option<Vec<_>>>()?;
        if flags & flag::VARARGS as usize != 0 {
            given.extend(frame.slot(self.py, named + only)?.cast::<PyTuple>().ok()?.iter());
        }
        Some(given)
    }

    /// The signal that an exception of C comes from: one that Python's own handler of `SIGINT` raised.
    pub(crate) fn signal_behind(&self, error: &PyErr) -> Option<i32> {
        let known = self.state.identity.contains_key(&(error.value(self.py).as_ptr() as usize));
        (!known && is_default(self.py, error)).then_some(SIGINT)
    }

    fn handler(&self, number: i32) -> Option<Bound<'py, PyAny>> {
        handler(self.py, number)
    }

    /// Ends the trace before the instruction that was interrupted.
    pub(crate) fn postpone(&mut self, number: i32) -> Unwind {
        self.state.signals.push(number);
        Unwind::Break(Box::new(Break {
            kind: INTERRUPTED.into(),
            context: format!("signal {number}"),
            explanation: "the instruction runs natively this once, and the program handles the signal there".into(),
            hints: Vec::new(),
        }))
    }
}

fn handler(py: Python<'_>, number: i32) -> Option<Bound<'_, PyAny>> {
    crate::ffi::modules::import(py, "_signal")
        .and_then(|module| module.call_method1(name!("getsignal"), (number,)))
        .ok()
}

/// Whether the exception looks like one that Python's own handler of `SIGINT` raised, and that is its handler.
pub fn is_default(py: Python<'_>, error: &PyErr) -> bool {
    let looks = error.get_type(py).is(py.get_type::<PyKeyboardInterrupt>())
        && error.value(py).getattr(name!("args")).and_then(|args| args.len()).is_ok_and(|count| count == 0);
    let default = || {
        crate::ffi::modules::import(py, "_signal").and_then(|module| module.getattr(name!("default_int_handler"))).ok()
    };
    looks && handler(py, SIGINT).zip(default()).is_some_and(|(handler, default)| handler.is(&default))
}

/// Each signal once, in the order in which the interpreter handles them.
pub(crate) fn each(mut signals: Vec<i32>) -> Vec<i32> {
    signals.sort_unstable();
    signals.dedup();
    signals
}

/// Sets signals off again: the interpreter handles them where it next looks.
pub fn set_off(py: Python<'_>, signals: &[i32]) -> PyResult<()> {
    let module = crate::ffi::modules::import(py, "_thread")?;
    signals.iter().try_for_each(|number| module.call_method1(name!("interrupt_main"), (*number,)).map(drop))
}

/// Sets a signal off when it is stored in: no instruction for that looks for signals itself.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub struct PendingSignal;

#[pymethods]
impl PendingSignal {
    fn __setitem__(&self, py: Python<'_>, number: i32, _value: Bound<'_, PyAny>) -> PyResult<()> {
        set_off(py, &[number])
    }
}
