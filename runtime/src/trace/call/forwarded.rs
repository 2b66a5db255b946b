//! C functions that hand their work to a function of Python: the trace goes through that.
use super::Arguments;
use crate::trace::signal::{Signal, Traced, unsupported};
use crate::trace::state::Tracer;
use crate::trace::value::ValueId;
use pyo3::prelude::*;

/// Module and name in C; module and name in Python; which argument is handed on. CPython: `_PyErr_Display`.
const FORWARDED: &[(&str, &str, &str, &str, usize)] = &[
    ("sys", "excepthook", "traceback", "_print_exception_bltin", 1),
    ("sys", "__excepthook__", "traceback", "_print_exception_bltin", 1),
    ("_testcapi", "exception_print", "traceback", "_print_exception_bltin", 0),
];

impl<'py> Tracer<'py> {
    /// The result of such a function; `None`: it is another, or this release does it in C.
    pub(super) fn call_forwarded(&mut self, module: &str, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        let row = FORWARDED.iter().find(|row| row.0 == module && row.1 == name);
        let Some((_, _, module, function, index)) = row else { return Ok(None) };
        let (Some(value), true) = (args.positional.get(*index).copied(), args.keywords.is_empty()) else {
            return Ok(None);
        };
        if !self.is_own_exception(value) || !self.has_own_traceback(args, *index)? {
            return Ok(None);
        }
        let Ok(function) = self.py.import(*module).and_then(|module| module.getattr(*function)) else {
            return Ok(None);
        };
        let function = self.constant(function);
        match self.call(function, Arguments::positional(vec![value])) {
            Ok(_) => Ok(Some(self.none())),
            Err(Signal::Raised(_)) => unsupported("display of an exception that fails", name),
            Err(other) => Err(other),
        }
    }

    /// Whether the arguments after the exception say nothing but what it says itself.
    fn has_own_traceback(&mut self, args: &Arguments, index: usize) -> Traced<bool> {
        let Some(value) = args.positional.get(index).copied() else { return Ok(false) };
        match args.positional.get(index + 1..) {
            Some([]) => Ok(true),
            // Whether the exception is given in three parts, which are its own.
            Some([parts]) if index == 0 => Ok(self.known(*parts).is_some()),
            Some([given]) if index > 0 => {
                let own = self.traceback_of(value)?;
                Ok(own == *given || self.is_none(*given)?)
            }
            _ => Ok(false),
        }
    }
}
