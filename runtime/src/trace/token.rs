//! Objects that stand for symbolic values while real C code works: every slot leads back into the tracer.
use super::signal::{Signal, Traced};
use super::state::{State, Tracer};
use super::value::ValueId;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyBaseException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::cell::RefCell;

/// C frames between Python frames in one trace: bounds the C stack that a trace needs.
const MAX_NESTING: u32 = 40;

thread_local! {
    /// The state of the trace that called into C, while C runs. Empty while the tracer itself runs.
    static SET_ASIDE: RefCell<Option<State>> = const { RefCell::new(None) };
}

pyo3::create_exception!(
    slotrt,
    Interrupted,
    PyBaseException,
    "Leaves C code when a trace must stop; never seen by programs."
);

/// Sets the state aside before C runs; gives what was set aside before.
pub(super) fn enter(state: State) -> Option<State> {
    SET_ASIDE.with(|cell| cell.borrow_mut().replace(state))
}

/// Takes the state back after C has run.
pub(super) fn leave(outer: Option<State>) -> State {
    SET_ASIDE.with(|cell| std::mem::replace(&mut *cell.borrow_mut(), outer)).unwrap_or_default()
}

/// Stands for a value of the running trace.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub struct Token {
    pub(super) value: ValueId,
}

/// Runs part of a trace from inside C.
fn traced<'py, T>(py: Python<'py>, run: impl FnOnce(&mut Tracer<'py>) -> Traced<T>) -> PyResult<T> {
    let Some(state) = SET_ASIDE.with(|cell| cell.borrow_mut().take()) else {
        return Err(PyRuntimeError::new_err("a slotrt token outlived its trace"));
    };
    let mut tracer = Tracer { py, state };
    tracer.state.nesting += 1;
    let result = match tracer.state.pending {
        Some(_) => Err(Signal::Stopped),
        None if tracer.state.nesting > MAX_NESTING => {
            super::signal::unsupported("C and Python call each other too deeply", "token")
        }
        None => run(&mut tracer),
    };
    tracer.state.nesting -= 1;
    let result = result.map_err(|signal| tracer.as_exception(signal));
    SET_ASIDE.with(|cell| *cell.borrow_mut() = Some(tracer.state));
    result
}

impl<'py> Tracer<'py> {
    /// What C sees of a signal: the exception, or an interruption that no C code handles.
    fn as_exception(&mut self, signal: Signal) -> PyErr {
        if let Signal::Raised(value) = &signal
            && let Some(object) = self.owned(*value).or_else(|| self.real(*value))
        {
            return PyErr::from_value(object);
        }
        self.state.pending.get_or_insert(signal);
        Interrupted::new_err(())
    }

    /// The token of a value: one per value, so that C's identity tests are right.
    pub(super) fn token(&mut self, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        if let Some(token) = self.state.tokens.get(&value) {
            return Ok(token.bind(self.py).clone().into_any());
        }
        match Bound::new(self.py, Token { value }) {
            Ok(token) => {
                self.state.tokens.insert(value, token.clone().unbind());
                Ok(token.into_any())
            }
            Err(error) => super::signal::internal(error.to_string()),
        }
    }

    /// An operation of the module `operator` on values, as a token's slot performs it.
    fn operate(&mut self, name: &str, args: &[Bound<'py, PyAny>]) -> Traced<Bound<'py, PyAny>> {
        let ids: Vec<ValueId> = args.iter().map(|arg| self.absorb(arg.clone())).collect();
        let result = self.operator(name, &ids)?;
        self.native(result)
    }
}

impl Token {
    fn operate<'py>(&self, py: Python<'py>, name: &str, others: &[&Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| {
            let mut args = vec![tracer.token(self.value)?];
            args.extend(others.iter().map(|other| (*other).clone()));
            tracer.operate(name, &args)
        })
    }

    /// A special method that C looks up on the type: it must be there.
    fn special<'py>(&self, py: Python<'py>, name: &str, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| {
            let Some(bound) = tracer.special(self.value, name)? else {
                return super::signal::unsupported(
                    "C code asks a symbolic value for a method that it does not have",
                    name,
                );
            };
            let args = args.iter().map(|arg| tracer.absorb(arg)).collect();
            let result = tracer.call(bound, super::call::Arguments::positional(args))?;
            tracer.native(result)
        })
    }

    fn builtin<'py>(&self, py: Python<'py>, name: &str, others: &[&Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| {
            let mut args = vec![self.value];
            args.extend(others.iter().map(|other| tracer.absorb((*other).clone())));
            let result = tracer.call_builtin(name, &args)?;
            tracer.native(result)
        })
    }

    fn reflected<'py>(&self, py: Python<'py>, name: &str, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| {
            let args = [other.clone(), tracer.token(self.value)?];
            tracer.operate(name, &args)
        })
    }
}

#[pymethods]
impl Token {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| {
            let positional = args.iter().map(|arg| tracer.absorb(arg)).collect();
            let mut keywords = Vec::new();
            for (name, value) in kwargs.into_iter().flatten() {
                keywords.push((name.to_string(), tracer.absorb(value)));
            }
            let result = tracer.call(self.value, super::call::Arguments { positional, keywords })?;
            tracer.native(result)
        })
    }

    fn __get__<'py>(
        &self,
        py: Python<'py>,
        object: Option<&Bound<'py, PyAny>>,
        class: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = class;
        traced(py, |tracer| {
            let Some(object) = object else { return tracer.token(self.value) };
            let object = tracer.absorb(object.clone());
            let class = tracer.class_of(object)?;
            let bound = tracer.bind(self.value, object, &class)?;
            tracer.native(bound)
        })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| {
            let iterator = tracer.get_iter(self.value)?;
            tracer.native(iterator)
        })
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        traced(py, |tracer| match tracer.next(self.value)? {
            Some(item) => tracer.native(item).map(Some),
            None => Ok(None),
        })
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| {
            let value = tracer.get_attr(self.value, name)?;
            tracer.native(value)
        })
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.builtin(py, "repr", &[])
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| {
            let class = tracer.constant(py.get_type::<pyo3::types::PyString>().into_any());
            let text = tracer.call(class, super::call::Arguments::positional(vec![self.value]))?;
            tracer.native(text)
        })
    }

    fn __format__<'py>(&self, py: Python<'py>, spec: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.builtin(py, "format", &[spec])
    }

    #[getter(__class__)]
    fn class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| tracer.class_of(self.value).map(Bound::into_any))
    }

    #[pyo3(signature = (*args))]
    fn __reversed__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.special(py, "__reversed__", args)
    }

    #[pyo3(signature = (*args))]
    fn __round__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.special(py, "__round__", args)
    }

    #[pyo3(signature = (*args))]
    fn __trunc__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.special(py, "__trunc__", args)
    }

    #[pyo3(signature = (*args))]
    fn __floor__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.special(py, "__floor__", args)
    }

    #[pyo3(signature = (*args))]
    fn __ceil__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.special(py, "__ceil__", args)
    }

    #[pyo3(signature = (*args))]
    fn __complex__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.special(py, "__complex__", args)
    }

    #[pyo3(signature = (*args))]
    fn __bytes__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.special(py, "__bytes__", args)
    }

    fn __length_hint__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        traced(py, |tracer| match tracer.special(self.value, "__length_hint__")? {
            Some(bound) => {
                let result = tracer.call(bound, super::call::Arguments::default())?;
                tracer.native(result)
            }
            None => Ok(py.NotImplemented().into_bound(py)),
        })
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        traced(py, |tracer| tracer.hash(self.value))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        traced(py, |tracer| tracer.is_true(self.value))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        traced(py, |tracer| tracer.size(self.value))
    }

    fn __contains__(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.operate(py, "contains", &[item])?.is_truthy()
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let name = match op {
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        self.operate(py, name, &[other])
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operate(py, "getitem", &[key])
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.operate(py, "index", &[])
    }

    fn __neg__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.operate(py, "neg", &[])
    }

    fn __add__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operate(py, "add", &[other])
    }

    fn __radd__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.reflected(py, "add", other)
    }

    fn __sub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operate(py, "sub", &[other])
    }

    fn __rsub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.reflected(py, "sub", other)
    }

    fn __mul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operate(py, "mul", &[other])
    }

    fn __rmul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.reflected(py, "mul", other)
    }
}
