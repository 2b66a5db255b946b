//! Protocols of libraries that C looks up on the classes of proxies (`__array_ufunc__`, `__array_priority__`…).
use crate::ffi::types;
use crate::names::{interned, name};
use crate::trace::proxy::reentry::{running, traced};
use crate::trace::proxy::special_methods::has_proxy_method;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use generated::slots::Slot;
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyDict, PyString, PyTuple, PyType};

/// Attributes of classes that the compiler and `type()` put there, and that no protocol is made of.
const NO_PROTOCOL: &[&str] =
    &["__slots__", "__weakref__", "__firstlineno__", "__static_attributes__", "__del__", "__getattr__"];

/// Whether an attribute of a class is one of a protocol that CPython itself does not know.
pub(crate) fn is_protocol(py: Python<'_>, name: &str) -> bool {
    if !name.starts_with("__") || !name.ends_with("__") || has_proxy_method(name) || NO_PROTOCOL.contains(&name) {
        return false;
    }
    let name = interned(py, name);
    let known = |class: &Bound<'_, PyType>| types::lookup(class, &name).is_some();
    !known(&py.get_type::<Proxy>()) && !known(&py.get_type::<PyType>())
}

/// Whether the class of a class answers for attributes that the class does not have.
pub(crate) fn answers_for_classes(meta: &Bound<'_, PyType>) -> bool {
    let plain = meta.py().get_type::<PyType>();
    if meta.is(&plain) {
        return false;
    }
    let reads = |class: &Bound<'_, PyType>| types::slot(class, Slot::tp_getattro);
    reads(meta) != reads(&plain) || types::mro(meta).is_none_or(|mro| mro.iter().any(|base| has_protocol(&base)))
}

fn has_protocol(class: &Bound<'_, PyAny>) -> bool {
    let own = class.cast::<PyType>().ok().and_then(types::namespace);
    own.is_some_and(|own| {
        own.keys()
            .iter()
            .any(|name| name.cast::<PyString>().is_ok_and(|name| is_protocol(name.py(), &name.to_string_lossy())))
    })
}

/// The class of the classes of proxies whose originals have a class that answers for them.
///
/// # Errors
/// Where no class can be made.
pub(crate) fn proxy_metaclass(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let namespace = PyDict::new(py);
    namespace.set_item(intern!(py, "__slots__"), PyTuple::empty(py))?;
    namespace.set_item(intern!(py, "__module__"), "slotrt")?;
    namespace.set_item(intern!(py, "__getattr__"), Missing)?;
    let plain = py.get_type::<PyType>();
    Ok(plain.call1(("ProxyClass", (&plain,), namespace))?.cast_into()?)
}

/// Stands in a proxy class for an attribute of the class: also of its instances, which often have another one.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(crate) struct Inherent {
    pub(crate) name: String,
    /// What the class has, where no code needs to be asked.
    pub(crate) of_class: Option<Py<PyAny>>,
}

#[pymethods]
impl Inherent {
    fn __get__<'py>(
        &self,
        py: Python<'py>,
        object: Option<Bound<'py, PyAny>>,
        class: Option<Bound<'py, PyType>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(proxy) = object.and_then(|object| object.cast_into::<Proxy>().ok()) {
            return traced(py, proxy.get(), |tracer| {
                let value = tracer.get_attr(proxy.get().value, &self.name)?;
                tracer.native(value)
            });
        }
        match (&self.of_class, class) {
            (Some(known), _) => Ok(known.bind(py).clone()),
            (None, Some(class)) => ask(&class, &self.name),
            (None, None) => Err(absent("?", &self.name)),
        }
    }
}

/// The same for `__module__`: a text, for messages of C name the class with its module.
pub(crate) fn inherent_module<'py>(module: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = module.py();
    let class = CLASS.get_or_try_init(py, || {
        let get = PyCFunction::new_closure(py, None, None, |args, _| -> PyResult<Py<PyAny>> {
            let (py, itself, object) = (args.py(), args.get_item(0)?, args.get_item(1)?);
            if let Ok(proxy) = object.cast_into::<Proxy>() {
                return traced(py, proxy.get(), |tracer| {
                    let value = tracer.get_attr(proxy.get().value, "__module__")?;
                    tracer.native(value)
                })
                .map(Bound::unbind);
            }
            Ok(itself.str()?.into_any().unbind())
        })?;
        let namespace = PyDict::new(py);
        namespace.set_item(name!("__get__"), get)?;
        let bases = PyTuple::new(py, [py.get_type::<PyString>()])?;
        PyResult::Ok(py.get_type::<PyType>().call1(("module", bases, namespace))?.unbind())
    })?;
    class.bind(py).call1((module,))
}

/// `__getattr__` of the metaclass of proxy classes.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Missing;

#[pymethods]
impl Missing {
    #[expect(clippy::unused_self, reason = "a method of a descriptor")]
    fn __get__<'py>(
        &self,
        py: Python<'py>,
        proxy_class: Bound<'py, PyType>,
        class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, MissingOf>> {
        let _ = class;
        Bound::new(py, MissingOf { proxy_class: proxy_class.unbind() })
    }
}

/// The same of one proxy class.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct MissingOf {
    proxy_class: Py<PyType>,
}

#[pymethods]
impl MissingOf {
    fn __call__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        ask(self.proxy_class.bind(py), name)
    }
}

fn absent(class: &str, name: &str) -> PyErr {
    PyAttributeError::new_err(format!("type object '{class}' has no attribute '{name}'"))
}

/// What the class that a proxy class stands for has under a name.
fn ask<'py>(proxy_class: &Bound<'py, PyType>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = running(proxy_class.py(), |tracer| {
        let Some(class) = tracer.mirrored(proxy_class)? else { return Ok(None) };
        let class = tracer.absorb(class.into_any());
        let value = tracer.get_attr(class, name)?;
        tracer.native(value).map(Some)
    });
    found.transpose()?.flatten().ok_or_else(|| absent(&types::name(proxy_class), name))
}

impl<'py> Tracer<'py> {
    /// The class that the proxies of a class stand for.
    fn mirrored(&mut self, proxy_class: &Bound<'py, PyType>) -> Traced<Option<Bound<'py, PyType>>> {
        let found = self.state.proxies.iter().find(|(_, proxy)| proxy.bind(self.py).get_type().is(proxy_class));
        found.map(|(value, _)| *value).map(|value| self.class_of(value)).transpose()
    }
}
