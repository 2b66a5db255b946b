//! What C asks the classes of tokens for: other libraries' protocols (`__array_ufunc__`, `__array_priority__`…) are attributes of classes.
use crate::ffi::types;
use crate::names::interned;
use crate::trace::proxy::reentry::{running, traced};
use crate::trace::proxy::special_methods::is_mirrored;
use crate::trace::state::proxy::Token;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use generated::slots::Slot;
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

/// Attributes of classes that the compiler and `type()` put there, and that no protocol is made of.
const NO_PROTOCOL: &[&str] =
    &["__slots__", "__weakref__", "__firstlineno__", "__static_attributes__", "__del__", "__getattr__"];

/// Whether an attribute of a class is one of a protocol that CPython itself does not know.
pub(crate) fn is_protocol(py: Python<'_>, name: &str) -> bool {
    if !name.starts_with("__") || !name.ends_with("__") || is_mirrored(name) || NO_PROTOCOL.contains(&name) {
        return false;
    }
    let name = interned(py, name);
    let known = |class: &Bound<'_, PyType>| types::lookup(class, &name).is_some();
    !known(&py.get_type::<Token>()) && !known(&py.get_type::<PyType>())
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

/// The class of the classes of tokens whose originals have a class that answers for them.
///
/// # Errors
/// Where no class can be made.
pub(crate) fn class_of_mirrors(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let namespace = PyDict::new(py);
    namespace.set_item(intern!(py, "__slots__"), PyTuple::empty(py))?;
    namespace.set_item(intern!(py, "__module__"), "slotrt")?;
    namespace.set_item(intern!(py, "__getattr__"), Missing)?;
    let plain = py.get_type::<PyType>();
    Ok(plain.call1(("Mirror", (&plain,), namespace))?.cast_into()?)
}

/// Stands in a mirror for an attribute of the class: also of its instances, which often have another one.
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
        if let Some(token) = object.and_then(|object| object.cast_into::<Token>().ok()) {
            return traced(py, token.get(), |tracer| {
                let value = tracer.get_attr(token.get().value, &self.name)?;
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

/// `__getattr__` of the class of mirrors.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Missing;

#[pymethods]
impl Missing {
    #[expect(clippy::unused_self, reason = "a method of a descriptor")]
    fn __get__<'py>(
        &self,
        py: Python<'py>,
        mirror: Bound<'py, PyType>,
        class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, MissingOf>> {
        let _ = class;
        Bound::new(py, MissingOf { mirror: mirror.unbind() })
    }
}

/// The same of one mirror.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct MissingOf {
    mirror: Py<PyType>,
}

#[pymethods]
impl MissingOf {
    fn __call__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        ask(self.mirror.bind(py), name)
    }
}

fn absent(class: &str, name: &str) -> PyErr {
    PyAttributeError::new_err(format!("type object '{class}' has no attribute '{name}'"))
}

/// What the class that a mirror stands for has under a name.
fn ask<'py>(mirror: &Bound<'py, PyType>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = running(mirror.py(), |tracer| {
        let Some(class) = tracer.mirrored(mirror)? else { return Ok(None) };
        let class = tracer.absorb(class.into_any());
        let value = tracer.get_attr(class, name)?;
        tracer.native(value).map(Some)
    });
    found.transpose()?.flatten().ok_or_else(|| absent(&types::name(mirror), name))
}

impl<'py> Tracer<'py> {
    /// The class that the tokens of a class stand for.
    fn mirrored(&mut self, mirror: &Bound<'py, PyType>) -> Traced<Option<Bound<'py, PyType>>> {
        let found = self.state.tokens.iter().find(|(_, token)| token.bind(self.py).get_type().is(mirror));
        found.map(|(value, _)| *value).map(|value| self.class_of(value)).transpose()
    }
}
