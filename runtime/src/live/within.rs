//! Hidden functions that the compiler put into others, so that the library has no symbol of theirs: what they are part of runs, or the exported
//! function that does the same with these arguments.
use super::world::{Live, Stop};
use crate::ffi::{c_calls, exported, types};
use generated::calls::{CallArgument, Gives, Value};
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};

type Object<'py> = Bound<'py, PyAny>;
type Args<'a, 'b, 'py> = &'a mut [CallArgument<'b, Object<'py>>];
type Answer<'py> = Option<Result<Value<Object<'py>>, Stop>>;

/// Hidden functions, and the exported ones that they are part of, with the same parameters.
const WITHIN_FUNCTIONS: &[(&str, &str)] = &[
    ("PyCFunction_GET_SELF", "PyCFunction_GetSelf"),
    ("list_extend_fast", "PyList_Extend"),
    ("list_extend_iter_lock_held", "PyList_Extend"),
    ("list_extend_set", "PyList_Extend"),
    ("lookup_tp_dict", "PyType_GetDict"),
    ("type_modified_unlocked", "PyType_Modified"),
    ("unicode_char", "PyUnicode_FromOrdinal"),
];

/// Hidden functions, and the slots whose functions they are part of, with the same parameters.
const WITHIN_SLOTS: &[(&str, &str, Slot)] = &[
    ("list_ass_subscript_lock_held", "PyList_Type", Slot::mp_ass_subscript),
    ("list_concat_lock_held", "PyList_Type", Slot::sq_concat),
    ("list_inplace_repeat_lock_held", "PyList_Type", Slot::sq_inplace_repeat),
    ("list_repeat_lock_held", "PyList_Type", Slot::sq_repeat),
];

/// The names of error handlers by their numbers in C, `_Py_error_handler`; none has 0, and what no name fits.
const ERROR_HANDLERS: &[&str] = &[
    "",
    "strict",
    "surrogateescape",
    "replace",
    "ignore",
    "backslashreplace",
    "surrogatepass",
    "xmlcharrefreplace",
    "another handler",
];

impl<'py> Live<'py> {
    /// What a function gives that is part of another; nothing for other names.
    pub(super) fn within(&mut self, name: &'static str, args: Args<'_, '_, 'py>, gives: Gives) -> Answer<'py> {
        if let Some((_, whole)) = WITHIN_FUNCTIONS.iter().find(|row| row.0 == name) {
            return self.exported(whole, args, gives);
        }
        if let Some((_, class, slot)) = WITHIN_SLOTS.iter().find(|row| row.0 == name) {
            return self.of_slot(class, *slot, args, gives);
        }
        match (name, args) {
            ("list_clear_impl", [list, _]) => self.exported("PyList_Clear", &mut [place(list)?], Gives::Int),
            ("list_new_prealloc", [CallArgument::Int(size)]) => {
                let list = PyList::new(self.py, vec![self.py.None().bind(self.py); usize::try_from(*size).ok()?]);
                Some(list.map(|list| Value::Object(list.into_any())).map_err(Stop::from))
            }
            ("unicode_encode_locale", [text, CallArgument::Int(handler), CallArgument::Int(1)]) => {
                let errors = CallArgument::Str(Some(error_handler(*handler)?));
                self.exported("PyUnicode_EncodeLocale", &mut [place(text)?, errors], gives)
            }
            (
                "unicode_decode_locale",
                [CallArgument::Str(text), CallArgument::Int(size), CallArgument::Int(handler), CallArgument::Int(1)],
            ) => {
                let errors = CallArgument::Str(Some(error_handler(*handler)?));
                let mut args = [CallArgument::Str(*text), CallArgument::Int(*size), errors];
                self.exported("PyUnicode_DecodeLocaleAndSize", &mut args, gives)
            }
            (
                "get_or_create_weakref",
                [CallArgument::Object(Some(class)), CallArgument::Object(Some(of)), CallArgument::Object(callback)],
            ) => self.weakref(class, of, *callback),
            _ => None,
        }
    }

    /// An exported function, which runs even where its translation asks.
    fn exported(&mut self, name: &'static str, args: Args<'_, '_, 'py>, gives: Gives) -> Answer<'py> {
        self.note("native", name);
        exported::call(self.py, name, args, gives).map(|value| Ok(value?))
    }

    /// The function in a slot of a type of C.
    fn of_slot(&mut self, class: &'static str, slot: Slot, args: Args<'_, '_, 'py>, gives: Gives) -> Answer<'py> {
        let class = self.class(class)?;
        let pointer = types::slot(class.cast::<PyType>().ok()?, slot)?;
        self.note("native", slot.name());
        let result = match (args, gives) {
            ([CallArgument::Object(Some(of)), CallArgument::Int(count)], _) => {
                let result = c_calls::call_ssizearg(self.py, pointer, of, isize::try_from(*count).ok()?);
                // One that changes its argument gives it back, where the part of it says 0.
                result.map(|object| if gives == Gives::Object { Value::Object(object) } else { Value::Int(0) })
            }
            ([CallArgument::Object(of), CallArgument::Object(other)], Gives::Object) => {
                c_calls::call_objects(self.py, pointer, &[*of, *other]).map(Value::Object)
            }
            ([CallArgument::Object(of), CallArgument::Object(key), CallArgument::Object(value)], Gives::Int) => {
                c_calls::call_int(self.py, pointer, &[*of, *key, *value]).map(|result| Value::Int(result.into()))
            }
            _ => return None,
        };
        Some(result.map_err(Stop::from))
    }

    /// A weak reference of a class, or a proxy; C looks for one that is there as well. The object says which class of proxies it is.
    fn weakref(&mut self, class: &Object<'py>, of: &Object<'py>, callback: Option<&Object<'py>>) -> Answer<'py> {
        const PROXIES: [&str; 2] = ["_PyWeakref_ProxyType", "_PyWeakref_CallableProxyType"];
        if PROXIES.iter().any(|name| self.class(name).is_some_and(|proxy| proxy.is(class))) {
            let mut args = [CallArgument::Object(Some(of)), CallArgument::Object(callback)];
            return self.exported("PyWeakref_NewProxy", &mut args, Gives::Object);
        }
        let reference = exported::global(self.py, "_PyWeakref_RefType")?;
        if !types::is_subtype(class.cast::<PyType>().ok()?, reference.cast().ok()?) {
            return None;
        }
        self.note("native", "weakref___new__");
        let args: Vec<_> = [Some(class), Some(of), callback].into_iter().flatten().collect();
        let made = reference.getattr("__new__").and_then(|new| new.call1(pyo3::types::PyTuple::new(self.py, args)?));
        Some(made.map(Value::Object).map_err(Stop::from))
    }
}

/// An argument that is an object, again.
fn place<'a, 'py>(arg: &CallArgument<'a, Object<'py>>) -> Option<CallArgument<'a, Object<'py>>> {
    match arg {
        CallArgument::Object(object) => Some(CallArgument::Object(*object)),
        _ => None,
    }
}

/// The name of an error handler.
fn error_handler(number: i64) -> Option<&'static str> {
    ERROR_HANDLERS.get(usize::try_from(number).ok()?).copied().filter(|name| !name.is_empty())
}
