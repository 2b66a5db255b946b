//! Members of C structs by the names of the vocabulary's methods, on real objects.
use super::{Live, Stop};
use crate::ffi::fields;
use crate::semantics::members::FIELDS;
use generated::calls::{Asked, Value};
use generated::members::{self, Field};
use pyo3::prelude::*;

type Object<'py> = Bound<'py, PyAny>;

/// Pointers to what is no object, though the vocabulary has them as such.
const NO_OBJECTS: &[&str] = &[
    "PySetObject_table",
    "PyTypeObject_tp_as_async",
    "PyTypeObject_tp_as_buffer",
    "PyTypeObject_tp_as_mapping",
    "PyTypeObject_tp_as_number",
    "PyTypeObject_tp_as_sequence",
];

/// Where the running release has a member.
#[cfg(not(all(Py_3_12, not(Py_3_13))))]
pub(super) fn field(name: &str) -> Option<&'static Field> {
    members::field(FIELDS, name)
}

/// No sources say it of 3.12: what lies at one place both in 3.11 and in 3.13 lies there in between.
#[cfg(all(Py_3_12, not(Py_3_13)))]
pub(super) fn field(name: &str) -> Option<&'static Field> {
    let after = members::field(FIELDS, name)?;
    let before = members::field(generated::v3_11::members::FIELDS, name)?;
    (before == after).then_some(after)
}

impl<'py> Live<'py> {
    /// Reads or sets a member; nothing if the name is none, or this world cannot.
    pub(super) fn field(
        &mut self,
        name: &'static str,
        args: &[Asked<'_, Object<'py>>],
    ) -> Option<Result<Value<Object<'py>>, Stop>> {
        match args {
            _ if NO_OBJECTS.contains(&name.strip_prefix("set_").unwrap_or(name)) => None,
            [Asked::Object(Some(object))] => fields::get(object, field(name)?).map(Ok),
            [Asked::Object(Some(object)), value] => {
                fields::set(object, field(name.strip_prefix("set_")?)?, value).map(|()| Ok(Value::Nothing))
            }
            _ => None,
        }
    }

    /// Reads a member that is a `double`.
    pub(super) fn double(&self, name: &'static str, object: &Object<'py>) -> Result<f64, Stop> {
        match field(name).and_then(|field| fields::get(object, field)) {
            Some(Value::Double(double)) => Ok(double),
            _ => Err(Stop::Unsupported(name)),
        }
    }

    /// Sets a member that is a `double`; `name` is the method's.
    pub(super) fn set_double(&self, name: &'static str, object: &Object<'py>, value: f64) -> Result<(), Stop> {
        let field = name.strip_prefix("set_").and_then(field);
        field.and_then(|field| fields::set_double(object, field, value)).ok_or(Stop::Unsupported(name))
    }

    /// Gives up what was allocated and, as the translation stopped, not finished.
    pub(super) fn abandon(&mut self) {
        self.made.drain(..).for_each(fields::abandon);
    }
}
