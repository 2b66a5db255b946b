//! Members of C structs by the names of the vocabulary's methods, on real objects.
use super::function::Function;
use super::world::{Live, Stop};
use crate::ffi::struct_members;
use crate::semantics::struct_member as field;
use generated::calls::{CallArgument, Value};
use generated::members::{self, Field};
use pyo3::prelude::*;

type Object<'py> = Bound<'py, PyAny>;

/// Structs whose pointers are not followed: hash tables are the interpreter's, which changes them in steps that belong together.
const TABLES: &[&str] = &["PyDictObject_ma_", "PyDictKeysObject_", "PyHeapTypeObject_ht_cached_keys", "PySetObject_"];

/// Pointers to structs of slots, which the tables take for objects.
const SUITES: &[&str] = &[
    "PyTypeObject_tp_as_async",
    "PyTypeObject_tp_as_buffer",
    "PyTypeObject_tp_as_mapping",
    "PyTypeObject_tp_as_number",
    "PyTypeObject_tp_as_sequence",
];

impl<'py> Live<'py> {
    /// Reads or sets a member; nothing if the name is none, or this world cannot.
    pub(super) fn field(
        &mut self,
        name: &'static str,
        args: &[CallArgument<'_, Object<'py>>],
    ) -> Option<Result<Value<Object<'py>>, Stop>> {
        match args {
            _ if in_table(name) => None,
            [CallArgument::Object(Some(object))] => match name.strip_suffix("_is_set") {
                Some(member) => {
                    struct_members::is_set(object, field(member)?).map(|is_set| Ok(Value::Int(i128::from(is_set))))
                }
                None if SUITES.contains(&name) => {
                    struct_members::get(object, &Field { kind: members::Kind::Pointer, ..*field(name)? }).map(Ok)
                }
                None => struct_members::get(object, field(name)?).map(Ok),
            },
            [CallArgument::Object(Some(object)), value] => {
                struct_members::set(object, field(name.strip_prefix("set_")?)?, value).map(|()| Ok(Value::Nothing))
            }
            _ => None,
        }
    }

    /// Reads a member that is a `double`.
    pub(super) fn double(&self, name: &'static str, object: &Object<'py>) -> Result<f64, Stop> {
        match field(name).and_then(|field| struct_members::get(object, field)) {
            Some(Value::Double(double)) => Ok(double),
            _ => Err(Stop::Unsupported(name)),
        }
    }

    /// Sets a member that is a `double`; `name` is the method's.
    pub(super) fn set_double(&self, name: &'static str, object: &Object<'py>, value: f64) -> Result<(), Stop> {
        let field = name.strip_prefix("set_").and_then(field);
        field.and_then(|field| struct_members::set_double(object, field, value)).ok_or(Stop::Unsupported(name))
    }

    /// Reads a member that holds a function.
    pub(super) fn function_member(&self, name: &'static str, object: &Object<'py>) -> Result<Option<Function>, Stop> {
        let pointer =
            field(name).and_then(|field| struct_members::function(object, field)).ok_or(Stop::Unsupported(name))?;
        Ok(Function::at(pointer))
    }

    /// Sets a member that holds a function.
    pub(super) fn set_function_member(
        &self,
        name: &'static str,
        object: &Object<'py>,
        function: Option<&Function>,
    ) -> Result<(), Stop> {
        let pointer = Function::pointer(function).ok_or(Stop::Unsupported(name))?;
        let set = field(name).and_then(|field| struct_members::set_function(object, field, pointer));
        set.ok_or(Stop::Unsupported(name))
    }

    /// Reads a member that is a C string.
    pub(super) fn text_member(&self, name: &'static str, object: &Object<'py>) -> Result<String, Stop> {
        field(name).and_then(|field| struct_members::text(object, field)).ok_or(Stop::Unsupported(name))
    }

    /// Gives up what was allocated and, as the translation stopped, not finished.
    pub(super) fn abandon(&mut self) {
        self.made.drain(..).for_each(struct_members::abandon);
    }
}

/// Whether a member is a pointer of a hash table, or lies behind one.
fn in_table(name: &str) -> bool {
    let member = name.strip_prefix("set_").unwrap_or(name);
    let plain = field(member).is_some_and(|field| {
        field.path.len() == 1 && matches!(field.kind, members::Kind::I32 | members::Kind::I64 | members::Kind::U64)
    });
    !plain && TABLES.iter().any(|table| member.starts_with(table))
}
