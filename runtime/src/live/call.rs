//! Calls of Python objects, and messages of exceptions.
use super::exception::exception;
use super::world::{Live, Stop};
use crate::ffi::{c_calls, types};
use crate::semantics::Message;
use generated::capi::{Argument, CApi, Global};
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

type Object<'py> = Bound<'py, PyAny>;
type Answer<T> = Result<T, Stop>;

impl<'py> Live<'py> {
    /// A call with a tuple and a dictionary: by vectorcall, or with these very objects by `tp_call`.
    pub(super) fn call_with(
        &mut self,
        callable: &Object<'py>,
        first: Option<&Object<'py>>,
        args: &Object<'py>,
        kwargs: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        let args = args.cast::<PyTuple>().map_err(PyErr::from)?;
        if !c_calls::has_vectorcall(callable) {
            let Some(call) = self.slot(callable.get_type().as_any(), Slot::tp_call)? else {
                let exc = self.global(Global::PyExc_TypeError)?;
                let name = types::name(&callable.get_type());
                return Err(self.PyErr_Format(&exc, "'%.200s' object is not callable", &[Argument::Str(name)]));
            };
            let args = match first {
                Some(first) => {
                    PyTuple::new(self.py, std::iter::once(first.clone()).chain(args.iter()).collect::<Vec<_>>())?
                }
                None => args.clone(),
            };
            self._Py_EnterRecursiveCall(" while calling a Python object")?;
            let result = self.call_ternaryfunc(&call, callable, args.as_any(), kwargs);
            self._Py_LeaveRecursiveCall()?;
            return result;
        }
        let mut all: Vec<Object<'py>> = first.into_iter().cloned().chain(args.iter()).collect();
        let count = all.len();
        let mut names = Vec::new();
        for (name, value) in kwargs.and_then(|kwargs| kwargs.cast::<PyDict>().ok()).into_iter().flatten() {
            if !name.is_instance_of::<PyString>() {
                return Err(pyo3::exceptions::PyTypeError::new_err("keywords must be strings").into());
            }
            names.push(name);
            all.push(value);
        }
        let names = if names.is_empty() { None } else { Some(PyTuple::new(self.py, names)?.into_any()) };
        self._PyObject_VectorcallTstate(callable, &all, count, names.as_ref())
    }

    /// Leaves what was entered and not left; how much that was.
    pub(super) fn leave_all(&mut self) -> usize {
        let left = std::mem::take(&mut self.depth);
        (0..left).for_each(|_| c_calls::leave());
        left
    }

    /// A call with an array and a dictionary of keywords.
    pub(super) fn call_dict(
        &mut self,
        callable: &Object<'py>,
        args: &[Object<'py>],
        nargsf: usize,
        kwargs: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        let args = args.get(..nargsf & (usize::MAX >> 1)).unwrap_or(args);
        self.call_with(callable, None, PyTuple::new(self.py, args)?.as_any(), kwargs)
    }

    pub(super) fn message(&self, exc: &Object<'py>, text: &str) -> Stop {
        match self.own_words(text) {
            Ok(text) => exception(exc, Ok(PyString::new(self.py, text).into_any())),
            Err(stop) => stop,
        }
    }

    /// This release's words for a message of another release's; where they are not known, it is unsupported.
    pub(super) fn own_words<'a>(&self, format: &'a str) -> Answer<&'a str> {
        Message::own_words(format).map_err(|message| Stop::Unsupported(message.format))
    }
}
