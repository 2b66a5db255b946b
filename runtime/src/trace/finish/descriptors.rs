//! Descriptors of classes, and the attributes that materialised objects get through them.
use crate::ffi::types;
use crate::names::name;
use crate::trace::state::value::{Held, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

/// Parts of an exception that are rebuilt by themselves or by raising.
pub(crate) const LINKS: &[&str] =
    &["__class__", "args", "__traceback__", "__context__", "__cause__", "__suppress_context__", "__dict__"];

pub(crate) type Attributes = Vec<(Held, ValueId)>;

/// The resolution order.
pub(crate) fn bases<'py>(class: &Bound<'py, PyType>) -> Vec<Bound<'py, PyType>> {
    types::mro(class).iter().flatten().filter_map(|base| base.cast_into::<PyType>().ok()).collect()
}

/// What the class itself defines.
pub(crate) fn descriptors<'py>(class: &Bound<'py, PyType>) -> Vec<(String, Bound<'py, PyAny>)> {
    let items = class.getattr(name!("__dict__")).and_then(|dict| dict.call_method0(name!("items")));
    let items = items.and_then(|items| items.try_iter());
    items
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|item| {
            let (name, found) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>().ok()?;
            Some((name.cast_into::<PyString>().ok()?.to_string_lossy().into_owned(), found))
        })
        .collect()
}

/// `member_descriptor` and `getset_descriptor` by name, if C defines the class of the object.
pub(crate) fn kind(object: &Bound<'_, PyAny>) -> &'static str {
    match &*types::c_name(&object.get_type()) {
        "member_descriptor" => "member_descriptor",
        "getset_descriptor" => "getset_descriptor",
        _ => "",
    }
}

/// Whether setting the attribute meets a descriptor of the class instead of `__dict__`.
pub(crate) fn is_hidden(class: &Bound<'_, PyType>, name: &Bound<'_, PyString>) -> bool {
    let Some(found) = types::lookup(class, name) else { return false };
    let class = found.get_type();
    let setters = [pyo3::intern!(found.py(), "__set__"), pyo3::intern!(found.py(), "__delete__")];
    setters.iter().any(|name| types::lookup(&class, name).is_some())
}

/// The same object, equal plain values, or tuples of these.
pub(crate) fn same(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    if one.is(other) {
        return true;
    }
    if let (Ok(one), Ok(other)) = (one.cast_exact::<PyTuple>(), other.cast_exact::<PyTuple>()) {
        return one.len() == other.len() && one.iter().zip(other.iter()).all(|(one, other)| same(&one, &other));
    }
    one.get_type().is(other.get_type()) && crate::trace::value::kinds::is_scalar(one) && one.eq(other).unwrap_or(false)
}
