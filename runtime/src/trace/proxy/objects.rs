//! Proxies: real objects that stand for symbolic values while C code works. Every slot leads back into the tracer.
//!
//! The class of a proxy is a proxy class ([`crate::trace::proxy::classes`]), so that C finds exactly the slots that the value's class fills.
use crate::trace::proxy::reentry::{is_of_running_trace, traced};
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::PyBool;
use std::sync::atomic::{AtomicBool, Ordering};

impl<'py> Tracer<'py> {
    /// The proxy of a value, for C: one per value, so that C's identity tests are right.
    pub(crate) fn proxy(&mut self, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        let proxy = self.proxy_for_cell(value)?;
        if let Ok(proxy) = proxy.cast::<Proxy>() {
            proxy.get().given.store(true, Ordering::Relaxed);
        }
        Ok(proxy)
    }

    /// The same for a cell: functions read it, C hardly ever does.
    pub(crate) fn proxy_for_cell(&mut self, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        if let Some(proxy) = self.state.proxies.get(&value) {
            return Ok(proxy.bind(self.py).clone().into_any());
        }
        let class = self.class_of(value)?;
        let proxy =
            self.proxy_class(&class)?.call1((value.0, self.state.trace)).and_then(|proxy| Ok(proxy.cast_into()?));
        match proxy {
            Ok(proxy) => {
                let proxy: Bound<'py, Proxy> = proxy;
                self.state.proxies.insert(value, proxy.clone().unbind());
                Ok(proxy.into_any())
            }
            Err(error) => crate::trace::state::unwind::internal(error.to_string()),
        }
    }

    /// Whether an object that C has is the one of a value, which it may know as a proxy, too.
    fn is_object_of(&mut self, value: ValueId, object: &Bound<'py, PyAny>) -> bool {
        let same = self.at_hand(value).is_some_and(|own| own.is(object));
        same && (self.owned(value).is_some() || self.known(value).is_some() || self.same_object(value).is_some())
    }

    /// The value that a proxy of this trace stands for.
    pub(crate) fn value_of_proxy(&self, object: &Bound<'py, PyAny>) -> Option<ValueId> {
        if self.state.proxies.is_empty() {
            return None;
        }
        let proxy = object.cast::<Proxy>().ok()?;
        (proxy.get().trace == self.state.trace).then_some(proxy.get().value)
    }
}

impl Proxy {
    fn builtin<'py>(&self, py: Python<'py>, name: &str, others: &[&Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        traced(py, self, |tracer| {
            let mut args = vec![self.value];
            args.extend(others.iter().map(|other| tracer.absorb((*other).clone())));
            let result = tracer.call_builtin(name, &args)?;
            tracer.native(result)
        })
    }
}

/// What every object has; the rest comes from the class that it stands for.
#[pymethods]
impl Proxy {
    #[new]
    fn new(value: u32, trace: u64) -> Self {
        Self { value: ValueId(value), trace, given: AtomicBool::new(false) }
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        traced(py, self, |tracer| {
            let value = tracer.get_attr(self.value, name)?;
            tracer.native(value)
        })
    }

    fn __setattr__<'py>(&self, py: Python<'py>, name: &str, value: Bound<'py, PyAny>) -> PyResult<()> {
        traced(py, self, |tracer| {
            let value = tracer.absorb(value);
            tracer.set_attr(self.value, name, Some(value))
        })
    }

    fn __delattr__(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        traced(py, self, |tracer| tracer.set_attr(self.value, name, None))
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.builtin(py, "repr", &[])
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        traced(py, self, |tracer| {
            let class = tracer.constant(py.get_type::<pyo3::types::PyString>().into_any());
            let text = tracer.call(class, crate::trace::state::arguments::Arguments::positional(vec![self.value]))?;
            tracer.native(text)
        })
    }

    fn __format__<'py>(&self, py: Python<'py>, spec: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.builtin(py, "format", &[spec])
    }

    /// The class of what it stands for; its own after the trace: programs find it among `gc.get_objects()` until the collector has come by.
    #[getter(__class__)]
    fn class<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, proxy) = (slf.py(), slf.get());
        if !is_of_running_trace(proxy) {
            return Ok(slf.get_type().into_any());
        }
        traced(py, proxy, |tracer| tracer.class_of(proxy.value).map(Bound::into_any))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        traced(py, self, |tracer| tracer.hash(self.value))
    }

    /// As `object` compares: a proxy is what it stands for, which some natives hold and others stand a proxy for.
    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, proxy) = (slf.py(), slf.get());
        if let (CompareOp::Eq | CompareOp::Ne, Ok(other)) = (op, other.cast::<Self>()) {
            let other = other.get().value;
            traced(py, proxy, |tracer| {
                tracer.rely_on_difference(proxy.value, other);
                Ok(())
            })?;
        }
        match op {
            CompareOp::Eq if other.is_instance_of::<Self>() => {}
            CompareOp::Eq if traced(py, proxy, |tracer| Ok(tracer.is_object_of(proxy.value, other)))? => {
                return Ok(PyBool::new(py, true).to_owned().into_any());
            }
            CompareOp::Ne => {
                let equal = slf.get_type().getattr(intern!(py, "__eq__"))?.call1((slf, other))?;
                if !equal.is(py.NotImplemented()) {
                    return Ok(PyBool::new(py, !equal.is_truthy()?).to_owned().into_any());
                }
            }
            _ => {}
        }
        Ok(py.NotImplemented().into_bound(py))
    }
}
