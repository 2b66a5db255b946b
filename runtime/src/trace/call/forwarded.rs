//! C functions that call a Python function to do their work: the trace follows that function.
use crate::guard::source::Source;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Module and name in C; module and name in Python; which argument is handed on. CPython: `_PyErr_Display`.
const FORWARDED: &[(&str, &str, &str, &str, usize)] = &[
    ("sys", "excepthook", "traceback", "_print_exception_bltin", 1),
    ("sys", "__excepthook__", "traceback", "_print_exception_bltin", 1),
    ("_testcapi", "exception_print", "traceback", "_print_exception_bltin", 0),
];

/// Functions of C that the library has in Python too, for interpreters without the C: module, name; module and name of the twin (PEP 399).
const TWINS: &[(&str, &str, &str, &str)] = &[
    ("_pickle", "dumps", "pickle", "_dumps"),
    ("_pickle", "dump", "pickle", "_dump"),
    ("_pickle", "loads", "pickle", "_loads"),
    ("_pickle", "load", "pickle", "_load"),
];

/// The same of this project, for numbers that differ from call to call.
const OF_NUMBERS: &[(&str, &str, &str, &str)] = &[
    ("_bisect", "bisect_left", "slotrt._bisections", "bisect_left"),
    ("_bisect", "bisect_right", "slotrt._bisections", "bisect_right"),
];

/// Functions of C that call one of Python with their arguments, and do nothing else: module, name; module and name in Python.
const HANDED_ON: &[(&str, &str, &str, &str)] = &[("time", "strptime", "_strptime", "_strptime_time")];

impl<'py> Tracer<'py> {
    /// The result of a function that hands all on; `None`: it is another one. CPython: `time_strptime`.
    pub(crate) fn call_handed_on(&mut self, module: &str, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        let row = HANDED_ON.iter().find(|row| row.0 == module && row.1 == name);
        let (Some((_, _, module, function)), true) = (row, args.keywords.is_empty()) else { return Ok(None) };
        let modules = crate::ffi::modules::import(self.py, "sys").and_then(|sys| sys.getattr("modules"));
        let modules = modules.or_else(|error| self.raise_error(error))?;
        // Importing it is left to C.
        let Ok(place) = modules.get_item(module) else { return Ok(None) };
        let source = Source::constant(&modules).entry(self.py, module);
        let place = self.sourced(place, source);
        let function = self.get_attr(place, function)?;
        self.call(function, args.clone()).map(Some)
    }

    /// The result of a function that has a twin in Python; what it raises says other words than C.
    fn call_twin(&mut self, module: &str, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        let is_it = |row: &&(&str, &str, &str, &str)| row.0 == module && row.1 == name;
        let mut row = TWINS.iter().find(is_it);
        if row.is_none() {
            row = OF_NUMBERS.iter().find(is_it);
            if row.is_some() && !self.are_items_and_number(args)? {
                return Ok(None);
            }
        }
        let Some((_, _, module, twin)) = row else { return Ok(None) };
        let twin = self.import(module, twin)?;
        let twin = self.constant(twin);
        match self.call(twin, args.clone()) {
            Ok(result) => Ok(Some(result)),
            Err(Unwind::Raised(_)) => {
                unsupported("C function that may raise in other words than its twin in Python", name)
            }
            Err(other) => Err(other),
        }
    }

    /// Whether the arguments are a list or tuple and such a number.
    fn are_items_and_number(&mut self, args: &Arguments) -> Traced<bool> {
        let (&[items, number], true) = (args.positional.as_slice(), args.keywords.is_empty()) else { return Ok(false) };
        if !self.is_symbolic(number) {
            return Ok(false);
        }
        let class = self.class_of(items)?;
        Ok(class.is(self.py.get_type::<PyList>()) || class.is(self.py.get_type::<PyTuple>()))
    }

    /// The result of such a function; `None`: it is another, or this release does it in C.
    pub(crate) fn call_forwarded(&mut self, module: &str, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        let row = FORWARDED.iter().find(|row| row.0 == module && row.1 == name);
        let Some((_, _, module, function, index)) = row else { return self.call_twin(module, name, args) };
        let (Some(value), true) = (args.positional.get(*index).copied(), args.keywords.is_empty()) else {
            return Ok(None);
        };
        if !self.is_own_exception(value) || !self.has_own_traceback(args, *index)? {
            return Ok(None);
        }
        let Ok(function) = crate::ffi::modules::import(self.py, *module).and_then(|module| module.getattr(*function))
        else {
            return Ok(None);
        };
        let function = self.constant(function);
        match self.call(function, Arguments::positional(vec![value])) {
            Ok(_) => Ok(Some(self.none())),
            Err(Unwind::Raised(_)) => unsupported("display of an exception that fails", name),
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
