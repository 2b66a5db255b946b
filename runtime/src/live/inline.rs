//! Macros, inline functions and members of structs by name: the headers have them, no library exports them.
use super::checks;
use super::world::{Live, Stop};
use crate::ffi::{exported, flag, types};
use generated::calls::{CallArgument, Gives, Value};
use pyo3::prelude::*;
use pyo3::types::PyType;

type Object<'py> = Bound<'py, PyAny>;
type Args<'a, 'b, 'py> = &'a mut [CallArgument<'b, Object<'py>>];

/// Macros and hidden functions that are exported ones without a check, or with the thread left out; of files whose memory is the world's.
const ALIASES: &[(&str, &str)] = &[
    ("PyByteArray_GET_SIZE", "PyByteArray_Size"),
    ("PyBytes_GET_SIZE", "PyBytes_Size"),
    ("PyDict_GET_SIZE", "PyDict_Size"),
    ("PyList_GET_ITEM", "PyList_GetItem"),
    ("PyList_GET_SIZE", "PyList_Size"),
    ("PySet_GET_SIZE", "PySet_Size"),
    ("PyTuple_GET_ITEM", "PyTuple_GetItem"),
    ("PyTuple_GET_SIZE", "PyTuple_Size"),
    ("PyUnicode_GET_LENGTH", "PyUnicode_GetLength"),
    ("_PyList_AppendTakeRef", "PyList_Append"),
    ("_PyObject_HashFast", "PyObject_Hash"),
    ("PyCFunction_GET_FLAGS", "PyCFunction_GetFlags"),
    ("PyDictObject_ma_used", "PyDict_Size"),
    ("PySetObject_used", "PySet_Size"),
    ("list_extend", "_PyList_Extend"),
    ("list_slice", "PyList_GetSlice"),
    ("list_slice_lock_held", "PyList_GetSlice"),
    ("tupleslice", "PyTuple_GetSlice"),
];

/// Members that an attribute of the C type shows: member, type, attribute. None stands for NULL where the flag says so.
const MEMBERS: &[(&str, &str, &str, bool)] = &[
    ("PyFunctionObject_func_closure", "PyFunction_Type", "__closure__", true),
    ("PyFunctionObject_func_code", "PyFunction_Type", "__code__", false),
    ("PyFunctionObject_func_defaults", "PyFunction_Type", "__defaults__", true),
    ("PyFunctionObject_func_globals", "PyFunction_Type", "__globals__", false),
    ("PyFunctionObject_func_kwdefaults", "PyFunction_Type", "__kwdefaults__", true),
    ("PyFunctionObject_func_name", "PyFunction_Type", "__name__", false),
    ("PyFunctionObject_func_qualname", "PyFunction_Type", "__qualname__", false),
    ("PyFunction_GET_CODE", "PyFunction_Type", "__code__", false),
    ("PyMethodObject_im_func", "PyMethod_Type", "__func__", false),
    ("PyMethodObject_im_self", "PyMethod_Type", "__self__", false),
    ("PyMethod_GET_FUNCTION", "PyMethod_Type", "__func__", false),
    ("PyMethod_GET_SELF", "PyMethod_Type", "__self__", false),
    ("PySliceObject_start", "PySlice_Type", "start", false),
    ("PySliceObject_step", "PySlice_Type", "step", false),
    ("PySliceObject_stop", "PySlice_Type", "stop", false),
    ("classmethod_cm_callable", "PyClassMethod_Type", "__func__", true),
    ("gaobject_args", "Py_GenericAliasType", "__args__", false),
    ("gaobject_origin", "Py_GenericAliasType", "__origin__", false),
    ("propertyobject_prop_del", "PyProperty_Type", "fdel", true),
    ("propertyobject_prop_get", "PyProperty_Type", "fget", true),
    ("propertyobject_prop_set", "PyProperty_Type", "fset", true),
    ("rangeobject_start", "PyRange_Type", "start", false),
    ("rangeobject_step", "PyRange_Type", "step", false),
    ("rangeobject_stop", "PyRange_Type", "stop", false),
    ("staticmethod_sm_callable", "PyStaticMethod_Type", "__func__", true),
    ("superobject_obj", "PySuper_Type", "__self__", true),
    ("superobject_obj_type", "PySuper_Type", "__self_class__", true),
    ("superobject_type", "PySuper_Type", "__thisclass__", true),
    ("type_module", "PyType_Type", "__module__", false),
    ("unionobject_args", "_PyUnion_Type", "__args__", false),
    ("_Py_union_args", "_PyUnion_Type", "__args__", false),
];

fn class<'a, 'py>(object: &'a Object<'py>) -> PyResult<&'a Bound<'py, PyType>> {
    object.cast::<PyType>().map_err(Into::into)
}

fn first<'py>(args: &[CallArgument<'_, Object<'py>>]) -> Option<Object<'py>> {
    match args.first() {
        Some(CallArgument::Object(Some(object))) => Some((*object).clone()),
        _ => None,
    }
}

impl<'py> Live<'py> {
    /// What a name of the headers that is no exported function gives; nothing if this world does not know it.
    pub(super) fn inline(
        &mut self,
        name: &'static str,
        args: Args<'_, '_, 'py>,
        gives: Gives,
    ) -> Option<Result<Value<Object<'py>>, Stop>> {
        let own = |exported: &str| self.root.is_some_and(|root| root.name() == exported);
        if let Some((_, exported)) = ALIASES.iter().find(|(alias, target)| *alias == name && !own(target)) {
            return Some(self.call_c(exported, args, gives));
        }
        if let Some(answer) = self.size_read(name, args).or_else(|| self.internals(name, args, gives)) {
            return Some(answer);
        }
        if let Some(answer) = self.within(name, args, gives) {
            return Some(answer);
        }
        if let Some(answer) = self.by_hand(name, args) {
            return Some(answer);
        }
        let cached = match &*args {
            [CallArgument::Object(Some(_))] => self.cache(name, None),
            [CallArgument::Object(Some(_)), CallArgument::Object(value)] => self.cache(name, Some(*value)),
            _ => None,
        };
        if let Some(answer) = cached {
            return Some(answer.map(Value::from));
        }
        if let Some(answer) = self.memory(name, args).or_else(|| self.field(name, args)) {
            return Some(answer);
        }
        let object = first(args)?;
        if let Some(truth) = self.weakref_check(name, &object) {
            return Some(Ok(Value::Int(i128::from(truth))));
        }
        if let Some((stem, exact)) = checks::checked(name) {
            self.stood_in.test(name, &object.get_type());
            return self.check(stem, exact, &object).map(|truth| Ok(Value::Int(i128::from(truth))));
        }
        if let Some((_, owner, attribute, none_is_null)) = MEMBERS.iter().find(|row| row.0 == name) {
            return self.member(&object, owner, attribute, *none_is_null).transpose().map(|value| Ok(value?));
        }
        of_type(name, &object).transpose().map(|value| Ok(value?))
    }

    /// What takes more than one step.
    fn by_hand(&mut self, name: &'static str, args: Args<'_, '_, 'py>) -> Option<Result<Value<Object<'py>>, Stop>> {
        match (name, args) {
            ("PyObject_CallMethodNoArgs", [CallArgument::Object(Some(of)), CallArgument::Object(Some(method))]) => {
                Some(self.method(of, method, &[]))
            }
            (
                "PyObject_CallMethodOneArg",
                [CallArgument::Object(Some(of)), CallArgument::Object(Some(method)), CallArgument::Object(Some(arg))],
            ) => Some(self.method(of, method, &[(*arg).clone()])),
            ("is_dunder_name", [CallArgument::Object(Some(name))]) => {
                let name = name.cast::<pyo3::types::PyString>().ok()?.to_str().ok()?;
                let dunder = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
                Some(Ok(Value::Int(i128::from(dunder && name.chars().all(|c| c as u32 <= 0xff)))))
            }
            ("_PyWeakref_GET_REF", [CallArgument::Object(Some(reference))]) => {
                let reference = reference.cast::<pyo3::types::PyWeakrefReference>().ok()?;
                Some(Ok(pyo3::types::PyWeakrefMethods::upgrade(reference).into()))
            }
            ("PyWeakref_GET_OBJECT", [CallArgument::Object(Some(reference))]) => {
                let reference = reference.cast::<pyo3::types::PyWeakrefReference>().ok()?;
                let object = pyo3::types::PyWeakrefMethods::upgrade(reference);
                Some(Ok(Value::Object(object.unwrap_or_else(|| self.py.None().into_bound(self.py)))))
            }
            ("_Py_XNewRef", [CallArgument::Object(object)]) => Some(Ok(object.cloned().into())),
            ("_PyLong_GetZero", []) => Some(Ok(Value::Object(pyo3::types::PyInt::new(self.py, 0).into_any()))),
            ("_PyLong_GetOne", []) => Some(Ok(Value::Object(pyo3::types::PyInt::new(self.py, 1).into_any()))),
            ("Py_SIZE" | "PySequence_Fast_GET_SIZE", [CallArgument::Object(Some(object))]) => {
                exported::size(object).map(|size| Ok(Value::number(size)))
            }
            ("PySequence_Fast_GET_ITEM", [CallArgument::Object(Some(object)), CallArgument::Int(index)]) => {
                let list = object.is_instance_of::<pyo3::types::PyList>();
                let mut asked = [CallArgument::Object(Some(*object)), CallArgument::Int(*index)];
                Some(self.call_c(if list { "PyList_GetItem" } else { "PyTuple_GetItem" }, &mut asked, Gives::Object))
            }
            ("_PyDictViewObject_dv_dict" | "mappingproxyobject_mapping", [CallArgument::Object(Some(object))]) => {
                exported::viewed(object).map(|dict| Ok(Value::Object(dict)))
            }
            (
                "_PyObject_TryGetInstanceAttribute",
                [CallArgument::Object(Some(object)), CallArgument::Object(Some(name)), CallArgument::Out(found)],
            ) => Some(self.instance_attribute(object, name, found)),
            ("PyDescrObject_d_name", [CallArgument::Object(Some(descriptor))]) => {
                let name = types::lookup(&descriptor.get_type(), &pyo3::types::PyString::intern(self.py, "__name__"))?;
                Some(name.call_method1("__get__", (*descriptor,)).map(Value::Object).map_err(Stop::from))
            }
            ("PyDescrObject_d_type", [CallArgument::Object(Some(descriptor))]) => {
                let owner =
                    types::lookup(&descriptor.get_type(), &pyo3::types::PyString::intern(self.py, "__objclass__"))?;
                Some(owner.call_method1("__get__", (*descriptor,)).map(Value::Object).map_err(Stop::from))
            }
            _ => None,
        }
    }

    /// The attribute that an instance keeps: asked of its dictionary, which comes to be for it.
    fn instance_attribute(
        &mut self,
        object: &Object<'py>,
        name: &Object<'py>,
        found: &mut Option<Object<'py>>,
    ) -> Result<Value<Object<'py>>, Stop> {
        self.note("native", "_PyObject_TryGetInstanceAttribute");
        let mut of = [CallArgument::Object(Some(object)), CallArgument::Object(None)];
        let Some(Value::Object(dict)) =
            exported::call(self.py, "PyObject_GenericGetDict", &mut of, Gives::Object).transpose()?
        else {
            return Err(Stop::Unsupported("_PyObject_TryGetInstanceAttribute"));
        };
        let mut item = [CallArgument::Object(Some(&dict)), CallArgument::Object(Some(name)), CallArgument::Out(found)];
        match exported::call(self.py, "PyDict_GetItemRef", &mut item, Gives::Int).transpose()? {
            Some(_) => Ok(Value::Int(1)),
            None => Err(Stop::Unsupported("_PyObject_TryGetInstanceAttribute")),
        }
    }

    /// Calls a method as `PyObject_VectorcallMethod` does.
    fn method(
        &mut self,
        of: &Object<'py>,
        name: &Object<'py>,
        args: &[Object<'py>],
    ) -> Result<Value<Object<'py>>, Stop> {
        let all: Vec<_> = std::iter::once(of.clone()).chain(args.iter().cloned()).collect();
        let mut asked = [
            CallArgument::Object(Some(name)),
            CallArgument::Objects(&all),
            CallArgument::Int(all.len() as i64),
            CallArgument::Object(None),
        ];
        self.call_c("PyObject_VectorcallMethod", &mut asked, Gives::Object)
    }

    /// A member of a struct, read by the descriptor that shows it; nothing if the object is of another type.
    pub(super) fn member(
        &self,
        object: &Object<'py>,
        owner: &'static str,
        attribute: &str,
        none_is_null: bool,
    ) -> PyResult<Option<Value<Object<'py>>>> {
        let Some(owner) = self.class(owner) else { return Ok(None) };
        if !types::is_subtype(&object.get_type(), class(&owner)?) {
            return Ok(None);
        }
        self.note("native", "PyMember_GetOne");
        let descriptor = types::lookup(class(&owner)?, &pyo3::types::PyString::intern(self.py, attribute));
        let Some(descriptor) = descriptor else { return Ok(None) };
        let value = descriptor.call_method1("__get__", (object,))?;
        Ok(Some(if none_is_null && value.is_none() { Value::Null } else { Value::Object(value) }))
    }

    /// `PyX_Check` and `PyX_CheckExact`.
    fn check(&self, stem: &str, exact: bool, object: &Object<'py>) -> Option<bool> {
        let kind = object.get_type();
        let mut found = false;
        for name in checks::types(stem)? {
            let wanted = self.class(name)?;
            found |= if exact { kind.is(&wanted) } else { types::is_subtype(&kind, class(&wanted).ok()?) };
        }
        Some(found)
    }
}

/// Members of type objects.
fn of_type<'py>(name: &str, object: &Object<'py>) -> PyResult<Option<Value<Object<'py>>>> {
    let Ok(class) = class(object) else { return Ok(None) };
    Ok(Some(match name {
        "_PyType_IsReady" => Value::Int(i128::from(types::has(class, flag::READY))),
        "PyTypeObject_tp_mro" => types::mro(class).map(Bound::into_any).into(),
        "PyTypeObject_tp_base" => types::base(class).map(Bound::into_any).into(),
        "PyTypeObject_tp_dictoffset" => Value::number(types::dictoffset(class)),
        _ => return Ok(None),
    }))
}
