//! Memory that translated functions read without a C function: heads of strings, digits, fields of types; and allocation.
use super::world::{Live, Stop};
use crate::ffi::{exported, header_fields, types};
use generated::calls::{CallArgument, Gives, Value};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

type Object<'py> = Bound<'py, PyAny>;
type Answer<'py> = Option<Result<Value<Object<'py>>, Stop>>;

/// C functions that allocate an object of a type; all objects come zeroed and known to the collector.
pub(super) const ALLOCATORS: &[&str] =
    &["_PyObject_GC_New", "_PyObject_New", "_PyObject_GC_NewVar", "_PyObject_NewVar", "_PyType_AllocNoTrack"];

impl<'py> Live<'py> {
    /// What memory says, by the name of the macro, inline function or member that reads it; nothing for other names.
    pub(super) fn memory(&mut self, name: &'static str, args: &mut [CallArgument<'_, Object<'py>>]) -> Answer<'py> {
        if let Some(number) = number(name, args) {
            return Some(Ok(Value::Int(number)));
        }
        match (name, args) {
            ("_PyLong_BothAreCompact", [CallArgument::Object(Some(a)), CallArgument::Object(Some(b))]) => {
                let both = header_fields::long("_PyLong_IsCompact", a)? & header_fields::long("_PyLong_IsCompact", b)?;
                Some(Ok(Value::Int(both)))
            }
            ("_PyLong_SameSign", [CallArgument::Object(Some(a)), CallArgument::Object(Some(b))]) => {
                let sign = |number| header_fields::long("_PyLong_NonCompactSign", number);
                Some(Ok(Value::Int(i128::from(sign(a)? == sign(b)?))))
            }
            (
                "PyTupleObject_ob_item_at" | "PyListObject_ob_item_at",
                [CallArgument::Object(Some(of)), CallArgument::Int(index)],
            ) => header_fields::item(of, isize::try_from(*index).ok()?).map(|item| Ok(item.into())),
            (
                "PyTuple_SET_ITEM" | "PyList_SET_ITEM",
                [CallArgument::Object(Some(of)), CallArgument::Int(index), CallArgument::Object(value)],
            ) => header_fields::set_item(of, isize::try_from(*index).ok()?, *value).map(|()| Ok(Value::Nothing)),
            ("_PyTuple_Resize", [CallArgument::Out(variable), CallArgument::Int(size)]) => {
                // C resizes what nobody else holds; here the world holds it, too.
                let made = header_fields::resized(variable.as_ref()?, isize::try_from(*size).ok()?);
                Some(made.map_err(Stop::from).map(|made| {
                    **variable = Some(made);
                    Value::Int(0)
                }))
            }
            ("_PyTuple_FromArray", [CallArgument::Objects(items), CallArgument::Int(count)]) => {
                let items = items.get(..usize::try_from(*count).ok()?)?;
                Some(PyTuple::new(self.py, items).map(|tuple| Value::Object(tuple.into_any())).map_err(Stop::from))
            }
            ("_Py_dict_lookup", [dict, key, hash, CallArgument::Out(found)]) => {
                self.dict_lookup([dict, key, hash], found)
            }
            (_, [CallArgument::Object(Some(class)), rest @ ..]) if ALLOCATORS.contains(&name) => {
                let items = match rest {
                    [CallArgument::Int(items)] => isize::try_from(*items).ok()?,
                    _ => 0,
                };
                self.note("native", "PyType_GenericAlloc");
                Some(self.allocate(class.cast().ok()?, None, items).map(Value::Object))
            }
            (_, [CallArgument::Object(Some(class))]) => {
                header_fields::type_object(name, class.cast::<PyType>().ok()?).map(|found| Ok(found.into()))
            }
            _ => None,
        }
    }

    /// An object of a type, by its `tp_alloc` or the common one.
    pub(super) fn allocate(
        &mut self,
        class: &Bound<'py, PyType>,
        pointer: Option<usize>,
        items: isize,
    ) -> Result<Object<'py>, Stop> {
        // What cannot be filled must not be made.
        if crate::semantics::FIELDS.is_empty() {
            return Err(Stop::Unsupported("PyType_GenericAlloc"));
        }
        let object = header_fields::allocate(class, pointer, items)?;
        self.made.push(object.clone());
        Ok(object)
    }

    /// The value of a key whose hash is known. The index is 0 for whatever is found, as where it lies is the dictionary's own matter.
    fn dict_lookup(
        &mut self,
        [dict, key, hash]: [&CallArgument<'_, Object<'py>>; 3],
        found: &mut Option<Object<'py>>,
    ) -> Answer<'py> {
        const DKIX_EMPTY: i128 = -1;
        let (CallArgument::Object(dict), CallArgument::Object(key), CallArgument::Int(hash)) = (dict, key, hash) else {
            return None;
        };
        let mut args = [CallArgument::Object(*dict), CallArgument::Object(*key), CallArgument::Int(*hash)];
        let answer = exported::call(self.py, "_PyDict_GetItem_KnownHash", &mut args, Gives::Optional)?;
        self.note("native", "_PyDict_GetItem_KnownHash");
        Some(answer.map_err(Stop::from).map(|value| match value {
            Value::Object(value) => {
                *found = Some(value);
                Value::Int(0)
            }
            _ => {
                *found = None;
                Value::Int(DKIX_EMPTY)
            }
        }))
    }

    /// A type or an exception class by its name in C.
    pub(super) fn class(&self, name: &'static str) -> Option<Object<'py>> {
        super::globals::class(self.py, name)
    }

    /// `PyWeakref_Check…`.
    pub(super) fn weakref_check(&self, name: &str, object: &Object<'py>) -> Option<bool> {
        let kind = object.get_type();
        let reference = exported::global(self.py, "_PyWeakref_RefType")?;
        let is = |name| exported::global(self.py, name).is_some_and(|wanted| kind.is(&wanted));
        let proxy = is("_PyWeakref_ProxyType") || is("_PyWeakref_CallableProxyType");
        let subtype = types::is_subtype(&kind, reference.cast().ok()?);
        Some(match name {
            "PyWeakref_CheckRef" => subtype,
            "PyWeakref_CheckRefExact" => kind.is(&reference),
            "PyWeakref_CheckProxy" => proxy,
            "PyWeakref_Check" => subtype || proxy,
            _ => return None,
        })
    }
}

/// A number that is read.
fn number<'py>(name: &str, args: &[CallArgument<'_, Object<'py>>]) -> Option<i128> {
    let [CallArgument::Object(Some(object))] = args else { return None };
    match name {
        "Py_REFCNT" => return Some(header_fields::references(object) as i128),
        "_PyObject_IsUniquelyReferenced" => return Some(i128::from(header_fields::references(object) == 1)),
        _ => {}
    }
    if let Some(number) = header_fields::unicode(name, object).or_else(|| header_fields::long(name, object)) {
        return Some(number);
    }
    header_fields::type_number(name, object.cast::<PyType>().ok()?)
}
