//! What the interpreter's own files ask of the headers: characters and bytes, tables of sets, items of lists, free lists, weak references.
use super::world::{Live, Stop};
use crate::ffi::{exported, header_fields, object_data, pointer, types};
use generated::calls::{CallArgument, Gives, Value};
use generated::capi::{Argument, CApi};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString, PyTuple, PyType};

type Object<'py> = Bound<'py, PyAny>;
type Answer<'py> = Option<Result<Value<Object<'py>>, Stop>>;

/// Functions that are asked for with other arguments, or for another kind of result, than translated functions say.
pub(super) const ADAPTED: &[&str] = &["dict_setdefault_ref_lock_held", "set_lookkey"];

/// Macros that read a size where other names of this world ask a function for it.
const SIZES: &[&str] = &["PyByteArray_GET_SIZE", "PyBytes_GET_SIZE", "PyList_GET_SIZE", "PyTuple_GET_SIZE"];
/// Macros that read a member, which a function is asked for else.
const COUNTS: &[(&str, &str)] = &[
    ("PyDict_GET_SIZE", "PyDictObject_ma_used"),
    ("PyDictObject_ma_used", "PyDictObject_ma_used"),
    ("PySet_GET_SIZE", "PySetObject_used"),
    ("PySetObject_used", "PySetObject_used"),
];
/// Texts that the interpreter keeps: `_Py_STR`.
const TEXTS: &[(&str, &str)] = &[("comma_sep", ", "), ("empty", ""), ("list_err", "list index out of range")];

impl<'py> Live<'py> {
    /// An attribute of a class.
    pub(super) fn look_up(
        &mut self,
        class: &Bound<'py, PyType>,
        name: &Bound<'py, PyString>,
    ) -> Result<Option<Object<'py>>, Stop> {
        let found = types::lookup(class, name);
        if let Some(found) = &found {
            self.stood_in.find(name.to_str().unwrap_or_default(), found);
        }
        Ok(found)
    }

    /// What a name gives that this file knows; nothing for other names.
    pub(super) fn internals(
        &mut self,
        name: &'static str,
        args: &mut [CallArgument<'_, Object<'py>>],
        gives: Gives,
    ) -> Answer<'py> {
        let answer = self.of_lists(name, args).or_else(|| self.of_sets(name, args));
        if let Some(answer) = answer.or_else(|| self.of_free_lists(name, gives)) {
            return Some(answer);
        }
        match (name, args) {
            ("tuple_get_empty", []) => Some(Ok(Value::Object(PyTuple::empty(self.py).into_any()))),
            ("_PyLong_FromSTwoDigits", [CallArgument::Int(number)]) => {
                Some(Ok(Value::Object(number.into_pyobject(self.py).ok()?.into_any())))
            }
            (
                "PyLongObject_long_value_ob_digit_at" | "PyLongObject_ob_digit_at",
                [CallArgument::Object(Some(of)), CallArgument::Int(index)],
            ) => object_data::digit(of, isize::try_from(*index).ok()?).map(|digit| Ok(Value::Int(digit))),
            ("PyCell_SetTakeRef", args @ [CallArgument::Object(Some(_)), CallArgument::Object(_)]) => {
                self.field("set_PyCellObject_ob_ref", args)
            }
            ("_PyObject_GetManagedDict", [CallArgument::Object(Some(of))]) => {
                object_data::managed_dict(of).map(|dict| Ok(dict.into()))
            }
            ("unicode_compare_eq", args @ [CallArgument::Object(Some(_)), CallArgument::Object(Some(_))]) => {
                let order = exported::call(self.py, "PyUnicode_Compare", args, Gives::Int)?;
                Some(order.map_err(Stop::from).map(|order| Value::Int(i128::from(matches!(order, Value::Int(0))))))
            }
            (
                "dict_getitem",
                [CallArgument::Object(Some(dict)), CallArgument::Object(Some(key)), CallArgument::Str(Some(warning))],
            ) => Some(self.item_or_null(dict, key, warning)),
            ("findchar", [CallArgument::Object(Some(data)), rest @ ..]) => found_character(data, rest),
            ("dict_setdefault_ref_lock_held", args) => {
                // The reference that the variable gets is to be its own.
                if let Some(CallArgument::Int(owned)) = args.last_mut() {
                    *owned = 1;
                }
                self.note("native", name);
                exported::call(self.py, name, args, gives).map(|value| Ok(value?))
            }
            // Objects that this world allocates are what C makes of memory.
            ("_PyObject_Init", [CallArgument::Object(Some(made)), CallArgument::Object(Some(class))]) => {
                (self.is_made(made) && made.get_type().is(*class)).then_some(Ok(Value::Nothing))
            }
            _ => None,
        }
    }

    /// Sizes, which are read where the function to ask for them is the one that was called from outside.
    pub(super) fn size_read(&mut self, name: &'static str, args: &[CallArgument<'_, Object<'py>>]) -> Answer<'py> {
        let [CallArgument::Object(Some(object))] = args else { return None };
        if SIZES.contains(&name) {
            return exported::size(object).map(|size| Ok(Value::number(size)));
        }
        if name == "PyUnicode_GET_LENGTH" {
            return header_fields::unicode("PyASCIIObject_length", object).map(|length| Ok(Value::Int(length)));
        }
        let (_, member) = COUNTS.iter().find(|row| row.0 == name)?;
        self.field(member, args)
    }

    fn of_lists(&mut self, name: &'static str, args: &mut [CallArgument<'_, Object<'py>>]) -> Answer<'py> {
        match (name, args) {
            (
                "set_PyListObject_ob_item_at",
                [CallArgument::Object(Some(list)), CallArgument::Int(index), CallArgument::Object(value)],
            ) => object_data::set_list_item(list, isize::try_from(*index).ok()?, *value).map(|()| Ok(Value::Nothing)),
            ("list_resize", [CallArgument::Object(Some(list)), CallArgument::Int(size)]) => {
                let list = list.cast::<PyList>().ok()?;
                Some(resize(list, usize::try_from(*size).ok()?).map(|()| Value::Int(0)).map_err(Stop::from))
            }
            (
                "set_PyTupleObject_ob_item_at",
                [CallArgument::Object(Some(tuple)), CallArgument::Int(index), CallArgument::Object(Some(value))],
            ) => object_data::set_tuple_item(tuple, isize::try_from(*index).ok()?, value).map(|()| Ok(Value::Nothing)),
            // Lists come with their items.
            ("Py_SET_SIZE", [CallArgument::Object(Some(list)), CallArgument::Int(size)]) => {
                let list = list.cast::<PyList>().ok()?;
                (usize::try_from(*size) == Ok(list.len())).then_some(Ok(Value::Nothing))
            }
            ("_PyList_AppendTakeRef", [CallArgument::Object(Some(list)), CallArgument::Object(Some(item))]) => {
                let list = list.cast::<PyList>().ok()?;
                let end = list.len();
                let appended = resize(list, end + 1).map_err(Stop::from);
                Some(appended.and_then(|()| {
                    let set = object_data::set_list_item(list, end.cast_signed(), Some(item));
                    set.map(|()| Value::Int(0)).ok_or(Stop::Unsupported("_PyList_AppendTakeRef"))
                }))
            }
            _ => None,
        }
    }

    fn of_sets(&mut self, name: &'static str, args: &mut [CallArgument<'_, Object<'py>>]) -> Answer<'py> {
        match (name, args) {
            ("PySetObject_smalltable", [CallArgument::Object(Some(set))]) => {
                Some(Ok(Value::Object(pointer::to(self.py, object_data::small_table(set)?)?)))
            }
            ("set_PySetObject_table", [CallArgument::Object(Some(set)), CallArgument::Object(Some(table))]) => {
                object_data::set_table(set, pointer::target(table)?).map(|()| Ok(Value::Nothing))
            }
            // One that was made just now is zeroed.
            ("set_PySetObject_weakreflist", [CallArgument::Object(Some(set)), CallArgument::Object(None)]) => {
                self.is_made(set).then_some(Ok(Value::Nothing))
            }
            ("set_lookkey", args) => {
                self.note("native", name);
                let found = match exported::call(self.py, name, args, Gives::Size)? {
                    Ok(Value::Int(found)) => usize::try_from(found).ok()?,
                    Ok(_) => return None,
                    Err(error) => return Some(Err(error.into())),
                };
                Some(Ok(Value::Object(pointer::to(self.py, found)?)))
            }
            _ => None,
        }
    }

    /// Free lists are the interpreter's. Translated functions find theirs empty, but for a float in the one of floats.
    fn of_free_lists(&mut self, name: &'static str, gives: Gives) -> Answer<'py> {
        match (name, gives) {
            ("_Py_object_freelists_floats" | "PyInterpreterState_float_state", _) => {
                Some(self._Py_object_freelists_GET().map(Value::Object))
            }
            ("_Py_float_freelist_items" | "_Py_float_state_free_list", _) => {
                let float = PyFloat::new(self.py, 0.0).into_any();
                self.made.push(float.clone());
                Some(Ok(Value::Object(float)))
            }
            ("_Py_float_freelist_numfree" | "_Py_float_state_numfree", _) => Some(Ok(Value::Int(1))),
            ("set__Py_float_freelist_items" | "set__Py_float_freelist_numfree", _)
            | ("set__Py_float_state_free_list" | "set__Py_float_state_numfree", _) => Some(Ok(Value::Nothing)),
            ("PyInterpreterState_tuple_free_list_at", _) => Some(Ok(Value::Null)),
            (_, Gives::Optional) if name.starts_with("_Py_object_freelists_") => Some(Ok(Value::Null)),
            (_, Gives::Int | Gives::Size) if name.starts_with("_Py_object_freelists_") => Some(Ok(Value::Int(0))),
            _ => None,
        }
    }

    /// Whether an object was allocated for a translated function.
    pub(super) fn is_made(&self, object: &Object<'py>) -> bool {
        self.made.iter().any(|made| made.is(object))
    }

    /// `PyObject_CallMethod` with a format of objects and numbers.
    pub(super) fn call_method(
        &mut self,
        of: &Object<'py>,
        name: &str,
        format: &str,
        args: &[Argument<Object<'py>>],
    ) -> Result<Object<'py>, Stop> {
        let plain = format.chars().count() == args.len() && format.chars().all(|kind| matches!(kind, 'O' | 'i'));
        let values = args.iter().map(|arg| match arg {
            Argument::Object(object) if plain => Ok(object.clone()),
            Argument::Int(number) if plain => Ok(number.into_pyobject(self.py).map_err(PyErr::from)?.into_any()),
            _ => Err(Stop::Unsupported("PyObject_CallMethod")),
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let method = of.getattr(name)?;
        self._PyObject_VectorcallTstate(&method, &values, values.len(), None)
    }

    /// The bytes of a `Py_buffer` as a text.
    pub(super) fn buffer_text(&mut self, view: &Object<'py>) -> Result<String, Stop> {
        let args = [CallArgument::Object(Some(view))];
        let (place, size) = (self.field("Py_buffer_buf", &args), self.field("Py_buffer_len", &args));
        let text = match (place, size) {
            (Some(Ok(Value::Object(place))), Some(Ok(Value::Int(size)))) => pointer::target(&place)
                .zip(usize::try_from(size).ok())
                .and_then(|(at, size)| object_data::text(at, size)),
            _ => None,
        };
        text.ok_or(Stop::Unsupported("bytes that are no text"))
    }

    /// `dict_getitem`: the value of a key; nothing without one, and for what is no dictionary. Exceptions are reported, not raised.
    fn item_or_null(
        &mut self,
        dict: &Object<'py>,
        key: &Object<'py>,
        warning: &str,
    ) -> Result<Value<Object<'py>>, Stop> {
        const LOOKUP: &str = "_PyDict_GetItem_KnownHash";
        if !dict.is_instance_of::<PyDict>() {
            return Ok(Value::Null);
        }
        let found = key.hash().and_then(|hash| {
            let hash = CallArgument::Int(hash as i64);
            let mut args = [CallArgument::Object(Some(dict)), CallArgument::Object(Some(key)), hash];
            exported::call(self.py, LOOKUP, &mut args, Gives::Optional).transpose()
        });
        match found {
            Ok(value) => value.ok_or(Stop::Unsupported(LOOKUP)),
            Err(error) => {
                let text = PyString::new(self.py, warning);
                object_data::unraisable(error, &text).ok_or(Stop::Unsupported("PyErr_FormatUnraisable"))?;
                Ok(Value::Null)
            }
        }
    }

    /// Whether a watcher of this number is there, as the function that takes its mark off an object says: one that has no mark.
    pub(super) fn watcher(&mut self, unwatch: &'static str, number: i32, unmarked: &Object<'py>) -> Result<i32, Stop> {
        let mut args = [CallArgument::Int(number.into()), CallArgument::Object(Some(unmarked))];
        self.note("native", unwatch);
        match exported::call(self.py, unwatch, &mut args, Gives::Int).transpose()? {
            Some(Value::Int(0)) => Ok(0),
            _ => Err(Stop::Unsupported(unwatch)),
        }
    }

    /// What ended an iteration with: the value of a `StopIteration`, None without an exception; another exception goes on.
    pub(super) fn stopped_with(&self, error: Option<&Stop>) -> Result<Object<'py>, Stop> {
        let error = match error {
            None => return Ok(self.py.None().into_bound(self.py)),
            Some(Stop::Unsupported(name)) => return Err(Stop::Unsupported(name)),
            Some(Stop::Exception(error)) => error,
        };
        let class = self.py.get_type::<pyo3::exceptions::PyStopIteration>();
        if !error.get_type(self.py).is_subclass(&class)? {
            return Err(error.clone_ref(self.py).into());
        }
        let value = types::lookup(&class, &PyString::intern(self.py, "value")).ok_or(Stop::Unsupported("value"))?;
        Ok(value.call_method1("__get__", (error.value(self.py),))?)
    }

    /// `_Py_STR`.
    pub(super) fn kept_text(&self, name: &'static str) -> Result<Object<'py>, Stop> {
        let (_, text) = TEXTS.iter().find(|row| row.0 == name).ok_or(Stop::Unsupported("_Py_STR"))?;
        Ok(PyString::new(self.py, text).into_any())
    }

    /// `Py_HashPointer` of an address.
    pub(super) fn hash_pointer(&mut self, address: usize) -> Result<isize, Stop> {
        const NAMES: [&str; 2] = ["Py_HashPointer", "_Py_HashPointer"];
        let mut args = [CallArgument::Int(address.cast_signed() as i64)];
        match NAMES.iter().find_map(|name| exported::call(self.py, name, &mut args, Gives::Size)).transpose()? {
            Some(Value::Int(hash)) => isize::try_from(hash).map_err(|_| Stop::Unsupported("Py_HashPointer")),
            _ => Err(Stop::Unsupported("Py_HashPointer")),
        }
    }
}

/// Makes a list so long: with None at the end, which its translated function fills, or without its end.
fn resize(list: &Bound<'_, PyList>, size: usize) -> PyResult<()> {
    for _ in list.len()..size {
        list.append(list.py().None())?;
    }
    if list.len() > size { list.del_slice(size, list.len()) } else { Ok(()) }
}

/// `findchar`: where a character is among so many, from the end where the direction is not positive; -1 for nowhere.
fn found_character<'py>(data: &Object<'py>, rest: &[CallArgument<'_, Object<'py>>]) -> Answer<'py> {
    let [CallArgument::Int(kind), CallArgument::Int(size), CallArgument::Int(wanted), CallArgument::Int(direction)] =
        rest
    else {
        return None;
    };
    let (kind, data) = (i32::try_from(*kind).ok()?, pointer::target(data)?);
    let is = |index: &i64| object_data::character(kind, data, *index as isize).is_some_and(|c| i64::from(c) == *wanted);
    let found = if *direction > 0 { (0..*size).find(is) } else { (0..*size).rev().find(is) };
    Some(Ok(Value::Int(found.map_or(-1, i128::from))))
}
