//! `CApi` on real objects.
//!
//! Long: one implementation of a trait cannot be split.
#![allow(non_snake_case)]
use super::exception::exception;
use super::function::Function;
use super::internal_methods::internal_methods;
use super::world::{Live, Stop};
use super::{format, identity, slots};
use crate::ffi::{argument_parser, c_calls, header_fields, keyword_parser, object_data, pointer, types};
use crate::semantics::{calls, dispatch};
use generated::calls::{CallArgument, Gives, Value};
use generated::capi::{Argument, CApi, FunctionId, Global, Parsed};
use generated::slots::{Slot, Suite};
use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::*;

type Object<'py> = Bound<'py, PyAny>;
type Answer<T> = Result<T, Stop>;

/// The translation of the function in a slot, or the function itself.
macro_rules! run {
    ($live:ident, $f:ident, $typedef:ident($($arg:expr),*), $call:ident($($given:expr),*)) => {{
        if let Some(answer) = $live.generated($f).and_then(|id| dispatch::$typedef($live, id, $($arg),*)) {
            return answer;
        }
        $live.note_slot($f);
        Ok(c_calls::$call($live.py, $f.pointer, $($given),*)?)
    }};
}

fn class<'a, 'py>(object: &'a Object<'py>) -> PyResult<&'a Bound<'py, PyType>> {
    object.cast::<PyType>().map_err(Into::into)
}

impl<'py> CApi for Live<'py> {
    type Release = crate::semantics::Release;
    type Object = Object<'py>;
    type Function = Function;
    type Error = Stop;

    fn unsupported(&mut self, name: &'static str) -> Stop {
        Stop::Unsupported(name)
    }
    fn is_exception(&self, error: &Stop) -> bool {
        matches!(error, Stop::Exception(_))
    }
    fn enter(&mut self, function: FunctionId) {
        self.note("enter", function.name());
        self.stood_in.enter(function);
    }
    fn global(&mut self, name: Global) -> Answer<Object<'py>> {
        let text = name.name();
        match text {
            "Py_None" => Ok(self.py.None().into_bound(self.py)),
            "Py_NotImplemented" => Ok(self.py.NotImplemented().into_bound(self.py)),
            "Py_Ellipsis" => Ok(self.py.Ellipsis().into_bound(self.py)),
            "Py_True" => Ok(PyBool::new(self.py, true).to_owned().into_any()),
            "Py_False" => Ok(PyBool::new(self.py, false).to_owned().into_any()),
            _ => self.class(text).ok_or(Stop::Unsupported(text)),
        }
    }
    fn ask(
        &mut self,
        name: &'static str,
        args: &mut [CallArgument<'_, Object<'py>>],
        gives: Gives,
    ) -> Answer<Value<Object<'py>>> {
        self.call_c(name, args, gives)
    }
    fn Py_Is(&mut self, x: &Object<'py>, y: &Object<'py>) -> Answer<bool> {
        Ok(pointer::address(x) == pointer::address(y))
    }
    fn step(&mut self, from: &Object<'py>, by: isize, structure: &'static str) -> Answer<Object<'py>> {
        self.stepped(from, by, structure)
    }
    fn read(&mut self, place: &Object<'py>) -> Answer<Option<Object<'py>>> {
        pointer::object(place).ok_or(Stop::Unsupported("PyObject **"))
    }
    fn write(&mut self, place: &Object<'py>, value: Option<&Object<'py>>) -> Answer<()> {
        pointer::set_object(place, value).ok_or(Stop::Unsupported("PyObject **"))
    }
    fn read_pointer(&mut self, place: &Object<'py>) -> Answer<Option<Object<'py>>> {
        self.pointer_in(place)
    }
    fn write_pointer(&mut self, place: &Object<'py>, value: Option<&Object<'py>>) -> Answer<()> {
        let word = value.map_or(0, pointer::address);
        pointer::set_word(place, word).ok_or(Stop::Unsupported("pointer to a pointer"))
    }
    fn read_function(&mut self, place: &Object<'py>) -> Answer<Option<Function>> {
        self.function_in(place)
    }
    fn write_function(&mut self, place: &Object<'py>, function: Option<&Function>) -> Answer<()> {
        self.fill(place, function)
    }
    fn slot_address(&mut self, tp: &Object<'py>, slot: Slot) -> Answer<Object<'py>> {
        self.slot_place(class(tp)?, slot)
    }
    fn set_slot(&mut self, tp: &Object<'py>, slot: Slot, function: Option<&Function>) -> Answer<()> {
        let place = self.slot_place(class(tp)?, slot)?;
        self.fill(&place, function)
    }
    fn address(&mut self, of: Option<&Object<'py>>) -> Answer<usize> {
        Ok(of.map_or(0, pointer::address))
    }
    fn new_array(&mut self, _: &'static str, count: usize) -> Answer<Object<'py>> {
        self.array(count)
    }
    fn static_variable(&mut self, name: &'static str, count: usize) -> Answer<Object<'py>> {
        self.static_variable_at(name, count)
    }
    fn function_at(&mut self, name: &'static str, object: &Object<'py>) -> Answer<Option<Function>> {
        self.function_member(name, object)
    }
    fn set_function_at(&mut self, name: &'static str, of: &Object<'py>, function: Option<&Function>) -> Answer<()> {
        self.set_function_member(name, of, function)
    }
    fn text_at(&mut self, name: &'static str, object: &Object<'py>) -> Answer<String> {
        self.text_member(name, object)
    }
    fn _Py_ID(&mut self, name: &'static str) -> Answer<Object<'py>> {
        self.stood_in.ask(name);
        Ok(PyString::intern(self.py, name).into_any())
    }
    fn slot(&mut self, tp: &Object<'py>, slot: Slot) -> Answer<Option<Function>> {
        Ok(slots::function(class(tp)?, slot)?)
    }
    fn has_suite(&mut self, tp: &Object<'py>, suite: Suite) -> Answer<bool> {
        Ok(types::suite(class(tp)?, suite).is_some())
    }
    fn function(&mut self, id: FunctionId) -> Answer<Function> {
        Ok(Function { pointer: identity::address(id).unwrap_or(0), id: Some(id) })
    }
    fn PyErr_ExceptionMatches(&mut self, error: &Stop, exc: &Object<'py>) -> Answer<bool> {
        match error {
            Stop::Exception(error) => Ok(error.get_type(self.py).is_subclass(exc)?),
            Stop::Unsupported(_) => Ok(false),
        }
    }
    fn Py_TYPE(&mut self, op: &Object<'py>) -> Answer<Object<'py>> {
        Ok(op.get_type().into_any())
    }
    fn Py_IS_TYPE(&mut self, op: &Object<'py>, tp: &Object<'py>) -> Answer<bool> {
        Ok(op.get_type().is(tp))
    }
    fn PyObject_TypeCheck(&mut self, op: &Object<'py>, tp: &Object<'py>) -> Answer<i32> {
        Ok(i32::from(types::is_subtype(&op.get_type(), class(tp)?)))
    }
    fn PyType_HasFeature(&mut self, tp: &Object<'py>, feature: u64) -> Answer<i32> {
        Ok(i32::from(types::has(class(tp)?, feature)))
    }
    fn _PyType_HasFeature(&mut self, tp: &Object<'py>, feature: u64) -> Answer<i32> {
        self.PyType_HasFeature(tp, feature)
    }
    fn PyTypeObject_tp_name(&mut self, tp: &Object<'py>) -> Answer<String> {
        Ok(types::name(class(tp)?))
    }
    fn PyTypeObject_tp_flags(&mut self, tp: &Object<'py>) -> Answer<u64> {
        Ok(types::flags(class(tp)?))
    }
    fn PyCFunctionObject_m_ml_ml_name(&mut self, op: &Object<'py>) -> Answer<String> {
        match self.member(op, "PyCFunction_Type", "__name__", false)? {
            Some(Value::Object(name)) => Ok(name.extract()?),
            _ => Err(Stop::Unsupported("PyCFunctionObject_m_ml_ml_name")),
        }
    }
    fn _PyIndex_Check(&mut self, op: &Object<'py>) -> Answer<bool> {
        Ok(types::slot(&op.get_type(), Slot::nb_index).is_some())
    }
    fn _PyType_LookupRef(&mut self, tp: &Object<'py>, name: &Object<'py>) -> Answer<Option<Object<'py>>> {
        self.look_up(class(tp)?, name.cast::<PyString>().map_err(PyErr::from)?)
    }
    fn _PyObject_VectorcallTstate(
        &mut self,
        f: &Object<'py>,
        args: &[Object<'py>],
        nargsf: usize,
        kwnames: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        let nargs = nargsf & (usize::MAX >> 1);
        if nargs > args.len() {
            return Err(PySystemError::new_err("call with fewer arguments than it says").into());
        }
        self.note("native", "vectorcallfunc");
        if let Some(answer) = c_calls::vectorcall(self.py, f, args, nargsf, kwnames) {
            return Ok(answer?);
        }
        // No vectorcall: C makes a tuple and a dictionary for `tp_call`.
        let names = kwnames.map_or(Value::Null, |names| Value::Object(names.clone()));
        let count = Value::number(nargs);
        let values = [Value::Nothing, Value::Object(f.clone()), Value::Objects(args.to_vec()), count, names];
        match calls::call(self, FunctionId::_PyObject_MakeTpCall, &values)? {
            Value::Object(object) => Ok(object),
            _ => Err(Stop::Unsupported("_PyObject_MakeTpCall")),
        }
    }
    fn _PyObject_CallNoArgs(&mut self, f: &Object<'py>) -> Answer<Object<'py>> {
        self._PyObject_VectorcallTstate(f, &[], 0, None)
    }
    fn _PyObject_Call(
        &mut self,
        callable: &Object<'py>,
        args: &Object<'py>,
        kwargs: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        self.call_with(callable, None, args, kwargs)
    }
    fn _PyObject_Call_Prepend(
        &mut self,
        callable: &Object<'py>,
        obj: &Object<'py>,
        args: &Object<'py>,
        kwargs: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        self.call_with(callable, Some(obj), args, kwargs)
    }
    fn variable(&mut self, name: &'static str) -> Answer<Object<'py>> {
        self.variable_at(name)
    }
    fn PyFloat_AsDouble(&mut self, op: &Object<'py>) -> Answer<f64> {
        self.note("native", "PyFloat_AsDouble");
        Ok(c_calls::float_as_double(op)?)
    }
    fn _PyType_Name(&mut self, tp: &Object<'py>) -> Answer<String> {
        let name = types::name(class(tp)?);
        Ok(name.rsplit_once('.').map_or(name.clone(), |(_, last)| last.to_owned()))
    }
    fn PyErr_Format(&mut self, exc: &Object<'py>, format: &str, args: &[Argument<Object<'py>>]) -> Stop {
        match format::text(self, format, args) {
            Ok(text) => exception(exc, Ok(text.into_any())),
            Err(stop) => stop,
        }
    }
    fn _PyErr_Format(&mut self, exc: &Object<'py>, format: &str, args: &[Argument<Object<'py>>]) -> Stop {
        self.PyErr_Format(exc, format, args)
    }
    fn PyErr_SetString(&mut self, exc: &Object<'py>, text: &str) -> Stop {
        self.message(exc, text)
    }
    fn _PyErr_SetString(&mut self, exc: &Object<'py>, text: &str) -> Stop {
        self.message(exc, text)
    }
    fn _PyObject_SetAttributeErrorContext(&mut self, error: &Stop, v: &Object<'py>, name: &Object<'py>) -> Answer<i32> {
        let Stop::Exception(error) = error else { return Ok(0) };
        let value = error.value(self.py);
        if value.is_instance_of::<pyo3::exceptions::PyAttributeError>()
            && value.getattr("name")?.is_none()
            && value.getattr("obj")?.is_none()
        {
            value.setattr("name", name)?;
            value.setattr("obj", v)?;
        }
        Ok(0)
    }
    fn set_attribute_error_context(&mut self, error: &Stop, v: &Object<'py>, name: &Object<'py>) -> Answer<i32> {
        self._PyObject_SetAttributeErrorContext(error, v, name)
    }
    fn PyErr_SetObject(&mut self, exc: &Object<'py>, value: &Object<'py>) -> Stop {
        exception(exc, Ok(value.clone()))
    }
    fn PyErr_WarnFormat(
        &mut self,
        category: &Object<'py>,
        level: isize,
        format: &str,
        args: &[Argument<Object<'py>>],
    ) -> Answer<i32> {
        let text = format::text(self, format, args)?;
        self.PyErr_WarnEx(category, text.to_str()?, level)
    }
    fn PyErr_WarnEx(&mut self, category: &Object<'py>, text: &str, level: isize) -> Answer<i32> {
        if let Some(row) = self.stood_in.difference(true) {
            return Err(self.unsupported(row.name()));
        }
        let text = self.own_words(text)?;
        let text = std::ffi::CString::new(text).map_err(PyErr::from)?;
        Ok(c_calls::warn(self.py, category, &text, level)?)
    }
    fn PyUnicode_FromFormat(&mut self, format: &str, args: &[Argument<Object<'py>>]) -> Answer<Object<'py>> {
        Ok(format::text(self, format, args)?.into_any())
    }
    fn PyOS_snprintf(
        &mut self,
        str: &mut [i8],
        size: usize,
        format: &str,
        args: &[Argument<Object<'py>>],
    ) -> Answer<i32> {
        let text = format::text(self, format, args)?;
        Ok(generated::buffers::print(str, size, text.to_str()?))
    }
    fn _PyLong_IsNegative(&mut self, op: &Object<'py>) -> Answer<i32> {
        let sign = self.ask("_PyLong_Sign", &mut [CallArgument::Object(Some(op))], Gives::Int)?;
        Ok(i32::from(matches!(sign, Value::Int(sign) if sign < 0)))
    }
    fn PyFloat_FromDouble(&mut self, number: f64) -> Answer<Object<'py>> {
        Ok(PyFloat::new(self.py, number).into_any())
    }
    fn set_PyFloatObject_ob_fval(&mut self, op: &Object<'py>, value: f64) -> Answer<()> {
        self.set_double("set_PyFloatObject_ob_fval", op, value)
    }
    fn PyComplexObject_cval_real(&mut self, op: &Object<'py>) -> Answer<f64> {
        self.double("PyComplexObject_cval_real", op)
    }
    fn PyComplexObject_cval_imag(&mut self, op: &Object<'py>) -> Answer<f64> {
        self.double("PyComplexObject_cval_imag", op)
    }
    fn PyTuple_Pack(&mut self, count: isize, args: &[Argument<Object<'py>>]) -> Answer<Object<'py>> {
        let objects = args.iter().take(usize::try_from(count).unwrap_or(0)).map(|arg| match arg {
            Argument::Object(object) => Ok(object.clone()),
            _ => Err(Stop::Unsupported("PyTuple_Pack")),
        });
        Ok(PyTuple::new(self.py, objects.collect::<Answer<Vec<_>>>()?)?.into_any())
    }
    fn PyFloatObject_ob_fval(&mut self, op: &Object<'py>) -> Answer<f64> {
        self.PyFloat_AS_DOUBLE(op)
    }
    fn PyTupleObject_ob_item_all(&mut self, op: &Object<'py>) -> Answer<Vec<Object<'py>>> {
        header_fields::items(op).ok_or(Stop::Unsupported("PyTupleObject_ob_item_all"))
    }
    fn PyListObject_ob_item_all(&mut self, op: &Object<'py>) -> Answer<Vec<Object<'py>>> {
        header_fields::items(op).ok_or(Stop::Unsupported("PyListObject_ob_item_all"))
    }
    fn PyErr_BadInternalCall(&mut self) -> Stop {
        PySystemError::new_err("bad argument to internal function").into()
    }
    fn _PyUnicode_InternMortal(&mut self, string: &mut Option<Object<'py>>) -> Answer<()> {
        self.PyUnicode_InternInPlace(string)
    }
    fn _PyUnicode_InternImmortal(&mut self, string: &mut Option<Object<'py>>) -> Answer<()> {
        self.PyUnicode_InternInPlace(string)
    }
    fn PyObject_CallFunctionObjArgs(
        &mut self,
        callable: &Object<'py>,
        args: &[Argument<Object<'py>>],
    ) -> Answer<Object<'py>> {
        let objects = args.iter().map_while(|arg| match arg {
            Argument::Object(object) => Some(object.clone()),
            _ => None,
        });
        let objects: Vec<_> = objects.collect();
        self._PyObject_VectorcallTstate(callable, &objects, objects.len(), None)
    }
    fn _PyObject_CallNoArgsTstate(&mut self, f: &Object<'py>) -> Answer<Object<'py>> {
        self._PyObject_VectorcallTstate(f, &[], 0, None)
    }
    fn _PyObject_FastCallDictTstate(
        &mut self,
        callable: &Object<'py>,
        args: &[Object<'py>],
        nargsf: usize,
        kwargs: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        self.call_dict(callable, args, nargsf, kwargs)
    }
    fn _PyObject_VectorcallDictTstate(
        &mut self,
        callable: &Object<'py>,
        args: &[Object<'py>],
        nargsf: usize,
        kwargs: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        self.call_dict(callable, args, nargsf, kwargs)
    }
    fn PyArg_ParseTuple(
        &mut self,
        args: &Object<'py>,
        format: &str,
        variables: &mut [Parsed<'_, Object<'py>>],
    ) -> Answer<i32> {
        let parsed = argument_parser::arguments(args, "PyArg_ParseTuple", Some(format), &[], variables);
        Ok(parsed.ok_or(Stop::Unsupported("PyArg_ParseTuple"))??)
    }
    fn PyArg_UnpackTuple(
        &mut self,
        args: &Object<'py>,
        name: &str,
        min: isize,
        max: isize,
        variables: &mut [Parsed<'_, Object<'py>>],
    ) -> Answer<i32> {
        let parsed = argument_parser::arguments(args, "PyArg_UnpackTuple", Some(name), &[min, max], variables);
        Ok(parsed.ok_or(Stop::Unsupported("PyArg_UnpackTuple"))??)
    }
    fn call_allocfunc(&mut self, f: &Function, v: &Object<'py>, items: isize) -> Answer<Object<'py>> {
        self.note_slot(f);
        self.allocate(class(v)?, Some(f.pointer), items)
    }
    fn call_sendfunc(
        &mut self,
        f: &Function,
        iterator: &Object<'py>,
        value: &Object<'py>,
        result: &mut Option<Object<'py>>,
    ) -> Answer<i32> {
        self.note_slot(f);
        let (answer, given) = header_fields::send(f.pointer, iterator, value)?;
        *result = given;
        Ok(answer)
    }
    fn PyFloat_AS_DOUBLE(&mut self, op: &Object<'py>) -> Answer<f64> {
        Ok(c_calls::float_value(op))
    }
    fn PyLong_AsDouble(&mut self, op: &Object<'py>) -> Answer<f64> {
        Ok(c_calls::long_as_double(op)?)
    }
    fn _Py_EnterRecursiveCallTstate(&mut self, place: &str) -> Answer<i32> {
        let place = std::ffi::CString::new(place).map_err(PyErr::from)?;
        let answer = c_calls::enter(self.py, &place)?;
        self.depth += 1;
        Ok(answer)
    }
    fn _Py_LeaveRecursiveCallTstate(&mut self) -> Answer<()> {
        self.depth =
            self.depth.checked_sub(1).ok_or(Stop::Unsupported("Py_LeaveRecursiveCall without its beginning"))?;
        c_calls::leave();
        Ok(())
    }
    fn _Py_EnterRecursiveCall(&mut self, place: &str) -> Answer<i32> {
        self._Py_EnterRecursiveCallTstate(place)
    }
    fn _Py_LeaveRecursiveCall(&mut self) -> Answer<()> {
        self._Py_LeaveRecursiveCallTstate()
    }
    fn call_unaryfunc(&mut self, f: &Function, v: &Object<'py>) -> Answer<Object<'py>> {
        run!(self, f, unaryfunc(v), call_objects(&[Some(v)]))
    }
    fn call_reprfunc(&mut self, f: &Function, v: &Object<'py>) -> Answer<Object<'py>> {
        run!(self, f, reprfunc(v), call_objects(&[Some(v)]))
    }
    fn call_getiterfunc(&mut self, f: &Function, v: &Object<'py>) -> Answer<Object<'py>> {
        run!(self, f, getiterfunc(v), call_objects(&[Some(v)]))
    }
    fn call_binaryfunc(&mut self, f: &Function, v: &Object<'py>, w: &Object<'py>) -> Answer<Object<'py>> {
        run!(self, f, binaryfunc(v, w), call_objects(&[Some(v), Some(w)]))
    }
    fn call_getattrofunc(&mut self, f: &Function, v: &Object<'py>, w: &Object<'py>) -> Answer<Object<'py>> {
        run!(self, f, getattrofunc(v, w), call_objects(&[Some(v), Some(w)]))
    }
    fn call_inquiry(&mut self, f: &Function, v: &Object<'py>) -> Answer<i32> {
        run!(self, f, inquiry(v), call_int(&[Some(v)]))
    }
    fn call_objobjproc(&mut self, f: &Function, v: &Object<'py>, w: &Object<'py>) -> Answer<i32> {
        run!(self, f, objobjproc(v, w), call_int(&[Some(v), Some(w)]))
    }
    fn call_ternaryfunc(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        w: &Object<'py>,
        z: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        run!(self, f, ternaryfunc(v, w, z), call_objects(&[Some(v), Some(w), z]))
    }
    fn call_PyCFunctionWithKeywords(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        w: &Object<'py>,
        z: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        self.call_ternaryfunc(f, v, w, z)
    }
    fn call_descrgetfunc(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        w: Option<&Object<'py>>,
        z: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        run!(self, f, descrgetfunc(v, w, z), call_objects(&[Some(v), w, z]))
    }
    fn call_objobjargproc(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        w: &Object<'py>,
        z: Option<&Object<'py>>,
    ) -> Answer<i32> {
        run!(self, f, objobjargproc(v, w, z), call_int(&[Some(v), Some(w), z]))
    }
    fn call_setattrofunc(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        w: &Object<'py>,
        z: Option<&Object<'py>>,
    ) -> Answer<i32> {
        run!(self, f, setattrofunc(v, w, z), call_int(&[Some(v), Some(w), z]))
    }
    fn call_lenfunc(&mut self, f: &Function, v: &Object<'py>) -> Answer<isize> {
        run!(self, f, lenfunc(v), call_size(v))
    }
    fn call_hashfunc(&mut self, f: &Function, v: &Object<'py>) -> Answer<isize> {
        run!(self, f, hashfunc(v), call_size(v))
    }
    fn call_ssizeargfunc(&mut self, f: &Function, v: &Object<'py>, i: isize) -> Answer<Object<'py>> {
        run!(self, f, ssizeargfunc(v, i), call_ssizearg(v, i))
    }
    fn call_ssizeobjargproc(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        i: isize,
        w: Option<&Object<'py>>,
    ) -> Answer<i32> {
        run!(self, f, ssizeobjargproc(v, i, w), call_ssizeobjarg(v, i, w))
    }
    fn call_richcmpfunc(&mut self, f: &Function, v: &Object<'py>, w: &Object<'py>, op: i32) -> Answer<Object<'py>> {
        run!(self, f, richcmpfunc(v, w, op), call_richcmp(v, w, op))
    }
    fn call_iternextfunc(&mut self, f: &Function, v: &Object<'py>) -> Answer<Option<Object<'py>>> {
        run!(self, f, iternextfunc(v), call_iternext(v))
    }
    fn call_newfunc(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        w: &Object<'py>,
        z: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        run!(self, f, newfunc(v, w, z), call_objects(&[Some(v), Some(w), z]))
    }
    fn call_initproc(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        w: &Object<'py>,
        z: Option<&Object<'py>>,
    ) -> Answer<i32> {
        run!(self, f, initproc(v, w, z), call_int(&[Some(v), Some(w), z]))
    }
    fn call_wrapperfunc(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        args: &Object<'py>,
        wrapped: &Function,
    ) -> Answer<Object<'py>> {
        if let Some(answer) = self.generated(f).and_then(|id| dispatch::wrapperfunc(self, id, v, args, wrapped)) {
            return answer;
        }
        self.wrapper(f, v, args, wrapped, None)
    }
    fn call_wrapperfunc_kwds(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        args: &Object<'py>,
        wrapped: &Function,
        kwds: Option<&Object<'py>>,
    ) -> Answer<Object<'py>> {
        let own = self.generated(f);
        if let Some(answer) = own.and_then(|id| dispatch::wrapperfunc_kwds(self, id, v, args, wrapped, kwds)) {
            return answer;
        }
        self.wrapper(f, v, args, wrapped, Some(kwds))
    }
    fn call_getter(&mut self, f: &Function, v: &Object<'py>, closure: Option<&Object<'py>>) -> Answer<Object<'py>> {
        self.note_slot(f);
        let closure = closure.map_or(0, pointer::address);
        Ok(pointer::call_getter(f.pointer, v, closure)?)
    }
    fn call_setter(
        &mut self,
        f: &Function,
        v: &Object<'py>,
        value: &Object<'py>,
        closure: Option<&Object<'py>>,
    ) -> Answer<i32> {
        self.note_slot(f);
        let closure = closure.map_or(0, pointer::address);
        Ok(pointer::call_setter(f.pointer, v, Some(value), closure)?)
    }
    fn managed_static_type_state_get(&mut self, of: &Object<'py>) -> Answer<Object<'py>> {
        self.static_state(class(of)?)
    }
    fn PyCFunction_GET_FUNCTION(&mut self, func: &Object<'py>) -> Answer<Option<Function>> {
        match func.cast::<PyCFunction>() {
            Ok(func) => Ok(Function::at(pointer::method(func))),
            Err(_) => Err(Stop::Unsupported("PyCFunction_GET_FUNCTION")),
        }
    }
    fn PyObject_GenericGetDict(&mut self, of: &Object<'py>, context: Option<&Object<'py>>) -> Answer<Object<'py>> {
        let mut args = [CallArgument::Object(Some(of)), CallArgument::Object(context)];
        match self.call_c("PyObject_GenericGetDict", &mut args, Gives::Object)? {
            Value::Object(dict) => Ok(dict),
            _ => Err(Stop::Unsupported("PyObject_GenericGetDict")),
        }
    }
    internal_methods!();
    fn PyUnicode_AsUTF8(&mut self, unicode: Option<&Object<'py>>) -> Answer<String> {
        match unicode.and_then(|unicode| unicode.cast::<PyString>().ok()) {
            Some(text) => Ok(text.to_str()?.to_owned()),
            None => Err(Stop::Unsupported("PyUnicode_AsUTF8")),
        }
    }
}
