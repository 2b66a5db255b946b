//! `CApi` on symbolic values: one method per C function or macro that generated functions use.
//!
//! Long: one implementation of a trait cannot be split.
use crate::ffi::types;
use crate::names::name;
use crate::trace::operator::capi::SlotFunction;
use crate::trace::operator::capi::call::Operands;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, hints};
use crate::trace::state::value::ValueId;
use generated::calls::{CallArgument, Gives, Value};
use generated::capi::{Argument, CApi, FunctionId, Global};
use generated::slots::{Slot, Suite};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString, PyTuple, PyType};

#[allow(non_snake_case)]
impl CApi for Tracer<'_> {
    type Release = crate::semantics::Release;
    type Object = ValueId;
    type Function = SlotFunction;
    type Error = Unwind;

    fn unsupported(&mut self, name: &'static str) -> Unwind {
        Unwind::Break(Box::new(crate::trace::state::outcome::Break {
            kind: "C function outside the vocabulary".into(),
            context: name.into(),
            explanation: format!("generated code calls {name}, which the symbolic world does not know"),
            hints: vec![hints::COVERAGE.into()],
        }))
    }

    fn ask(
        &mut self,
        name: &'static str,
        args: &mut [CallArgument<'_, ValueId>],
        _gives: Gives,
    ) -> Traced<Value<ValueId>> {
        match args {
            [CallArgument::Object(Some(object))] => match self.told_by_name(name, **object)? {
                Some(value) => Ok(value),
                None => Err(self.unsupported(name)),
            },
            _ => Err(self.unsupported(name)),
        }
    }

    fn is_exception(&self, error: &Unwind) -> bool {
        matches!(error, Unwind::Raised(_))
    }

    fn enter(&mut self, function: FunctionId) {
        self.state.shared_caches.entered.add(function);
        self.state.stood_in.enter(function);
        if self.state.route.last().is_none_or(|last| last != function.name()) {
            self.state.route.push(function.name().into());
        }
    }

    fn global(&mut self, name: Global) -> Traced<ValueId> {
        match name.name() {
            "Py_None" => Ok(self.none()),
            "Py_True" => Ok(self.boolean(true)),
            "Py_False" => Ok(self.boolean(false)),
            "Py_NotImplemented" => Ok(self.constant(self.py.NotImplemented().into_bound(self.py))),
            other => self.global_class(other),
        }
    }

    fn variable(&mut self, name: &'static str) -> Traced<ValueId> {
        let class = match name {
            "_PyWeakref_ProxyType" => "ProxyType",
            "_PyWeakref_CallableProxyType" => "CallableProxyType",
            _ => return Err(self.unsupported(name)),
        };
        let class = self.import("_weakref", class)?;
        Ok(self.constant(class))
    }

    fn _PyWeakref_GET_REF(&mut self, reference: &ValueId) -> Traced<Option<ValueId>> {
        self.followed_proxy(*reference)
    }

    fn PyWeakref_GET_OBJECT(&mut self, reference: &ValueId) -> Traced<ValueId> {
        let referent = self.followed_proxy(*reference)?;
        Ok(referent.unwrap_or_else(|| self.none()))
    }

    fn Py_Is(&mut self, x: &ValueId, y: &ValueId) -> Traced<bool> {
        Tracer::is(self, *x, *y)
    }

    fn is(&mut self, object: &ValueId, name: Global) -> Traced<bool> {
        if name == Global::Py_NotImplemented {
            return Ok(self.is_not_implemented(*object));
        }
        let global = self.global(name)?;
        Tracer::is(self, *object, global)
    }

    /// The number is one of the stable ABI.
    fn Py_GetConstant(&mut self, constant_id: u32) -> Traced<ValueId> {
        Ok(match constant_id {
            0 => self.none(),
            1 | 2 => self.boolean(constant_id == 2),
            3 => self.constant(self.py.Ellipsis().into_bound(self.py)),
            4 => self.constant(self.py.NotImplemented().into_bound(self.py)),
            5 | 6 => self.integer(isize::from(constant_id == 6)),
            7 => self.string(""),
            8 => self.constant(PyBytes::new(self.py, b"").into_any()),
            9 => self.constant(PyTuple::empty(self.py).into_any()),
            _ => return Err(self.unsupported("Py_GetConstant")),
        })
    }

    fn _Py_ID(&mut self, name: &'static str) -> Traced<ValueId> {
        self.state.stood_in.ask(name);
        Ok(self.string(name))
    }

    fn Py_TYPE(&mut self, object: &ValueId) -> Traced<ValueId> {
        let class = self.class_of(*object)?;
        Ok(self.constant(class.into_any()))
    }

    fn Py_IS_TYPE(&mut self, object: &ValueId, class: &ValueId) -> Traced<bool> {
        let of = self.class_of(*object)?;
        Ok(self.known(*class).is_some_and(|class| of.is(&class)))
    }

    fn PyType_CheckExact(&mut self, object: &ValueId) -> Traced<bool> {
        Ok(self.class_of(*object)?.is(self.py.get_type::<PyType>()))
    }

    fn PyTuple_Check(&mut self, object: &ValueId) -> Traced<bool> {
        self.is_instance::<PyTuple>(*object)
    }

    fn PyTuple_GET_SIZE(&mut self, tuple: &ValueId) -> Traced<isize> {
        match self.unread_length(*tuple)? {
            Some(length) => Ok(length as isize),
            None => self.real_tuple(*tuple).map(|tuple| tuple.len() as isize),
        }
    }

    fn PyTuple_GET_ITEM(&mut self, tuple: &ValueId, index: isize) -> Traced<ValueId> {
        if let Some(items) = self.unread_items(*tuple, Some(index.unsigned_abs() + 1))?
            && let Some(item) = items.last()
        {
            return Ok(*item);
        }
        let item = self.real_tuple(*tuple)?.iter().nth(index.unsigned_abs());
        item.map_or_else(|| crate::trace::state::unwind::internal("item of a tuple"), |item| Ok(self.absorb(item)))
    }

    fn PyObject_TypeCheck(&mut self, object: &ValueId, class: &ValueId) -> Traced<i32> {
        let of = self.class_of(*object)?;
        Ok(i32::from(types::is_subtype(&of, &self.type_object(*class)?)))
    }

    fn _PyUnion_Check(&mut self, object: &ValueId) -> Traced<bool> {
        let class = self.class_of(*object)?;
        Ok(matches!(&*types::c_name(&class), "types.UnionType" | "typing.Union"))
    }

    fn _Py_union_args(&mut self, union: &ValueId) -> Traced<ValueId> {
        self.get_attr(*union, "__args__")
    }

    fn slot(&mut self, class: &ValueId, slot: Slot) -> Traced<Option<SlotFunction>> {
        let class = self.type_object(*class)?;
        self.slot_function(&class, slot)
    }

    fn has_suite(&mut self, class: &ValueId, suite: Suite) -> Traced<bool> {
        let class = self.type_object(*class)?;
        Ok(self.has_suite_of(&class, suite))
    }

    fn function(&mut self, id: FunctionId) -> Traced<SlotFunction> {
        Ok(SlotFunction { pointer: 0, slot: None, name: id.name(), id: Some(id) })
    }

    fn is_function(&mut self, function: Option<&SlotFunction>, id: FunctionId) -> Traced<bool> {
        Ok(function.is_some_and(|function| function.id == Some(id)))
    }

    fn call_unaryfunc(&mut self, function: &SlotFunction, v: &ValueId) -> Traced<ValueId> {
        self.call_slot(function, Operands::Unary(*v))
    }

    fn call_reprfunc(&mut self, function: &SlotFunction, v: &ValueId) -> Traced<ValueId> {
        self.call_slot(function, Operands::Unary(*v))
    }

    fn call_binaryfunc(&mut self, function: &SlotFunction, v: &ValueId, w: &ValueId) -> Traced<ValueId> {
        self.call_slot(function, Operands::Binary(*v, *w))
    }

    fn call_ternaryfunc(
        &mut self,
        function: &SlotFunction,
        v: &ValueId,
        w: &ValueId,
        z: Option<&ValueId>,
    ) -> Traced<ValueId> {
        self.call_slot(function, Operands::Ternary(*v, *w, z.copied()))
    }

    fn call_ssizeargfunc(&mut self, function: &SlotFunction, v: &ValueId, n: isize) -> Traced<ValueId> {
        self.call_slot(function, Operands::Index(*v, n))
    }

    fn call_richcmpfunc(&mut self, function: &SlotFunction, v: &ValueId, w: &ValueId, op: i32) -> Traced<ValueId> {
        self.call_slot(function, Operands::Compare(*v, *w, op))
    }

    fn call_lenfunc(&mut self, function: &SlotFunction, v: &ValueId) -> Traced<isize> {
        self.slot_length(function, *v)
    }

    fn call_hashfunc(&mut self, function: &SlotFunction, v: &ValueId) -> Traced<isize> {
        self.slot_hash(function, *v)
    }

    fn call_objobjproc(&mut self, function: &SlotFunction, v: &ValueId, w: &ValueId) -> Traced<i32> {
        self.slot_contains(function, *v, *w)
    }

    fn call_objobjargproc(
        &mut self,
        function: &SlotFunction,
        v: &ValueId,
        key: &ValueId,
        value: Option<&ValueId>,
    ) -> Traced<i32> {
        self.slot_store(function, *v, *key, value.copied())
    }

    fn call_getiterfunc(&mut self, function: &SlotFunction, v: &ValueId) -> Traced<ValueId> {
        self.slot_iter(function, *v)
    }

    fn call_iternextfunc(&mut self, function: &SlotFunction, v: &ValueId) -> Traced<Option<ValueId>> {
        self.slot_next(function, *v)
    }

    fn call_inquiry(&mut self, function: &SlotFunction, v: &ValueId) -> Traced<i32> {
        self.slot_truth(function, *v)
    }

    fn call_descrgetfunc(
        &mut self,
        function: &SlotFunction,
        descriptor: &ValueId,
        object: Option<&ValueId>,
        class: Option<&ValueId>,
    ) -> Traced<ValueId> {
        let Some(of) = class else { return Err(self.unsupported(function.name)) };
        let class = self.type_object(*of)?;
        match object {
            Some(object) => match self.bound_slot_wrapper(*descriptor, *object) {
                Some(bound) => Ok(self.constant(bound)),
                None => self.bind(*descriptor, *object, &class),
            },
            // CPython: Objects/funcobject.c. A function that is got from a class is itself.
            None if function.name == "func_descr_get" => Ok(*descriptor),
            None => match self.known(*descriptor) {
                Some(found) => self.bind_to_class(found, *of, &class, function.name),
                None => Err(self.unsupported(function.name)),
            },
        }
    }

    fn _PyObject_VectorcallTstate(
        &mut self,
        function: &ValueId,
        args: &[ValueId],
        count: usize,
        names: Option<&ValueId>,
    ) -> Traced<ValueId> {
        /// CPython: Include/cpython/abstract.h, `PY_VECTORCALL_ARGUMENTS_OFFSET`.
        const OFFSET: usize = 1 << (usize::BITS - 1);
        match (names, args.get(..count & !OFFSET)) {
            (None, Some(args)) => self.call(*function, Arguments::positional(args.to_vec())),
            _ => Err(self.unsupported("_PyObject_VectorcallTstate")),
        }
    }

    fn PyObject_CallOneArg(&mut self, function: &ValueId, arg: &ValueId) -> Traced<ValueId> {
        self.call(*function, Arguments::positional(vec![*arg]))
    }

    fn Py_GenericAlias(&mut self, origin: &ValueId, args: &ValueId) -> Traced<ValueId> {
        let class = self.global_class("Py_GenericAliasType")?;
        self.call(class, Arguments::positional(vec![*origin, *args]))
    }

    fn _PyObject_CallNoArgs(&mut self, function: &ValueId) -> Traced<ValueId> {
        self.call(*function, Arguments::default())
    }

    fn PyType_IsSubtype(&mut self, class: &ValueId, of: &ValueId) -> Traced<i32> {
        let (class, of) = (self.type_object(*class)?, self.type_object(*of)?);
        self.rely_on_slots(&class);
        Ok(i32::from(types::is_subtype(&class, &of)))
    }

    fn _PyType_HasFeature(&mut self, class: &ValueId, feature: u64) -> Traced<i32> {
        let class = self.type_object(*class)?;
        Ok(i32::from(types::has(&class, feature)))
    }

    fn PyType_HasFeature(&mut self, class: &ValueId, feature: u64) -> Traced<i32> {
        self._PyType_HasFeature(class, feature)
    }

    fn _PyType_Lookup(&mut self, class: &ValueId, name: &ValueId) -> Traced<Option<ValueId>> {
        self._PyType_LookupRef(class, name)
    }

    fn _PyType_LookupRef(&mut self, class: &ValueId, name: &ValueId) -> Traced<Option<ValueId>> {
        let class = self.type_object(*class)?;
        let Some(name) = self.known_str(*name) else { return Err(self.unsupported("_PyType_LookupRef")) };
        let found = self.lookup(&class, &name);
        if let Some(found) = &found {
            self.state.stood_in.find(&name, found);
        }
        Ok(found.map(|found| self.absorb_static(found)))
    }

    fn PyTypeObject_tp_name(&mut self, class: &ValueId) -> Traced<String> {
        let class = self.type_object(*class)?;
        self.rely_on_name(&class, "__name__")?;
        Ok(types::name(&class))
    }

    fn _PyType_Name(&mut self, class: &ValueId) -> Traced<String> {
        let class = self.type_object(*class)?;
        self.rely_on_name(&class, "__name__")?;
        Ok(types::last_name(&class).into_owned())
    }

    fn PyCFunction_CheckExact(&mut self, object: &ValueId) -> Traced<bool> {
        let class = self.class_of(*object)?;
        Ok(types::is_c_class(&class, "builtin_function_or_method"))
    }

    fn PyCFunctionObject_m_ml_ml_name(&mut self, object: &ValueId) -> Traced<String> {
        Ok(self.known(*object).map_or_else(String::new, |object| crate::ffi::callee::name_of(&object).into_owned()))
    }

    fn _PyType_IsReady(&mut self, class: &ValueId) -> Traced<i32> {
        self._PyType_HasFeature(class, crate::ffi::flag::READY)
    }

    fn PyUnicode_Check(&mut self, object: &ValueId) -> Traced<bool> {
        self.is_instance::<PyString>(*object)
    }

    fn PyBool_Check(&mut self, object: &ValueId) -> Traced<bool> {
        self.is_instance::<PyBool>(*object)
    }

    fn PyDict_Check(&mut self, object: &ValueId) -> Traced<bool> {
        let class = self.class_of(*object)?;
        self.state.stood_in.test("PyDict_Check", &class);
        Ok(types::is_subtype(&class, &self.py.get_type::<PyDict>()))
    }

    fn PyLong_Check(&mut self, object: &ValueId) -> Traced<bool> {
        self.is_instance::<PyInt>(*object)
    }

    fn PyLong_CheckExact(&mut self, object: &ValueId) -> Traced<bool> {
        Ok(self.class_of(*object)?.is(self.py.get_type::<PyInt>()))
    }

    fn PyType_Check(&mut self, object: &ValueId) -> Traced<bool> {
        self.is_instance::<PyType>(*object)
    }

    fn _PyIndex_Check(&mut self, object: &ValueId) -> Traced<bool> {
        let class = self.class_of(*object)?;
        Ok(self.slot_function(&class, Slot::nb_index)?.is_some())
    }

    fn PySeqIter_New(&mut self, sequence: &ValueId) -> Traced<ValueId> {
        self.sequence_iterator(*sequence)
    }

    fn _PyLong_IsNegative(&mut self, object: &ValueId) -> Traced<i32> {
        let known = self.known(*object).or_else(|| self.owned(*object));
        match known.map(|number| number.lt(0)) {
            Some(Ok(negative)) => Ok(i32::from(negative)),
            _ => Err(self.unsupported("_PyLong_IsNegative")),
        }
    }

    /// Of an integer: how many digits it has, negative if it is.
    fn Py_SIZE(&mut self, object: &ValueId) -> Traced<isize> {
        const SHIFT: usize = 30;
        let known = self.known(*object).or_else(|| self.owned(*object));
        let Some(number) = known.filter(|number| number.is_instance_of::<PyInt>()) else {
            return Err(self.unsupported("Py_SIZE"));
        };
        let bits = number.call_method0(name!("bit_length")).and_then(|bits| bits.extract::<usize>());
        match (bits, number.lt(0)) {
            (Ok(bits), Ok(negative)) => {
                let digits = bits.div_ceil(SHIFT) as isize;
                Ok(if negative { -digits } else { digits })
            }
            _ => Err(self.unsupported("Py_SIZE")),
        }
    }

    fn PyLong_AsSsize_t(&mut self, object: &ValueId) -> Traced<isize> {
        let known = self.known(*object).or_else(|| self.owned(*object));
        match known.map(|number| number.extract::<isize>()) {
            Some(Ok(number)) => Ok(number),
            Some(Err(error)) => self.raise_error(error),
            None => Err(self.unsupported("PyLong_AsSsize_t")),
        }
    }

    fn call_getattrofunc(&mut self, _function: &SlotFunction, v: &ValueId, name: &ValueId) -> Traced<ValueId> {
        match self.known_str(*name) {
            Some(name) => self.getattro(*v, &name),
            None => Err(self.unsupported("call_getattrofunc")),
        }
    }

    fn PyFunctionObject_func_qualname(&mut self, function: &ValueId) -> Traced<Option<ValueId>> {
        self.get_attr(*function, "__qualname__").map(Some)
    }

    fn PyCFunctionObject_m_self(&mut self, function: &ValueId) -> Traced<Option<ValueId>> {
        self.get_attr(*function, "__self__").map(Some)
    }

    fn classmethod_cm_callable(&mut self, method: &ValueId) -> Traced<Option<ValueId>> {
        self.get_attr(*method, "__func__").map(Some)
    }

    fn staticmethod_sm_callable(&mut self, method: &ValueId) -> Traced<Option<ValueId>> {
        self.get_attr(*method, "__func__").map(Some)
    }

    fn PyCFunction_Check(&mut self, object: &ValueId) -> Traced<bool> {
        let class = self.class_of(*object)?;
        Ok(types::is_subtype(&class, &self.py.get_type::<pyo3::types::PyCFunction>()))
    }

    fn PyUnicode_FromFormat(&mut self, format: &str, args: &[Argument<ValueId>]) -> Traced<ValueId> {
        let text = self.format(format, args)?;
        Ok(self.string(&text))
    }

    fn PyMethod_New(&mut self, function: &ValueId, receiver: &ValueId) -> Traced<ValueId> {
        Ok(self.bound_method(*function, *receiver))
    }

    fn PyMethodObject_im_func(&mut self, method: &ValueId) -> Traced<Option<ValueId>> {
        self.parts_of_method(*method).map(|(function, _)| Some(function))
    }

    fn PyMethodObject_im_self(&mut self, method: &ValueId) -> Traced<Option<ValueId>> {
        self.parts_of_method(*method).map(|(_, receiver)| Some(receiver))
    }

    fn PyMethod_Check(&mut self, object: &ValueId) -> Traced<bool> {
        Ok(types::is_c_class(&self.class_of(*object)?, "method"))
    }

    fn _PyObject_SetAttributeErrorContext(&mut self, error: &Unwind, v: &ValueId, name: &ValueId) -> Traced<i32> {
        let Unwind::Raised(exception) = error else { return Ok(0) };
        match self.known_str(*name) {
            Some(name) => self.set_attribute_error_context_of(*exception, *v, &name).map(|()| 0),
            None => Err(self.unsupported("_PyObject_SetAttributeErrorContext")),
        }
    }

    fn set_attribute_error_context(&mut self, error: &Unwind, v: &ValueId, name: &ValueId) -> Traced<i32> {
        self._PyObject_SetAttributeErrorContext(error, v, name)
    }

    fn PyErr_WarnFormat(
        &mut self,
        category: &ValueId,
        _stack_level: isize,
        format: &str,
        args: &[Argument<ValueId>],
    ) -> Traced<i32> {
        if let Some(row) = self.state.stood_in.difference(true) {
            return Err(self.unsupported(row.name()));
        }
        let text = self.format(format, args)?;
        let text = self.string(&text);
        self.warn(*category, text)
    }

    fn PyLong_FromSsize_t(&mut self, value: isize) -> Traced<ValueId> {
        Ok(self.integer(value))
    }

    fn PyNumber_AsSsize_t(&mut self, object: &ValueId, overflow: Option<&ValueId>) -> Traced<isize> {
        let index = self.operator("index", &[*object])?;
        let known = self.known(index);
        match known.map(|index| index.extract::<isize>()) {
            Some(Ok(index)) => Ok(index),
            Some(Err(_)) => {
                // Without an exception to raise, C gives the nearest number.
                let Some(overflow) = overflow else { return Err(self.unsupported("PyNumber_AsSsize_t")) };
                let class = self.class_of(*object)?;
                let text = format!("cannot fit '{}' into an index-sized integer", types::name(&class));
                let text = self.string(&text);
                Err(self.exception(*overflow, vec![text]))
            }
            None => Err(self.unsupported("PyNumber_AsSsize_t")),
        }
    }

    fn PyUnicode_FromString(&mut self, text: Option<&str>) -> Traced<ValueId> {
        Ok(self.string(text.unwrap_or_default()))
    }

    fn PyErr_Format(&mut self, class: &ValueId, format: &str, args: &[Argument<ValueId>]) -> Unwind {
        match self.format(format, args) {
            Ok(text) => {
                let text = self.string(&text);
                self.exception(*class, vec![text])
            }
            Err(signal) => signal,
        }
    }

    fn _PyErr_Format(&mut self, class: &ValueId, format: &str, args: &[Argument<ValueId>]) -> Unwind {
        self.PyErr_Format(class, format, args)
    }

    fn PyOS_snprintf(&mut self, str: &mut [i8], size: usize, format: &str, args: &[Argument<ValueId>]) -> Traced<i32> {
        Ok(generated::buffers::print(str, size, &self.format(format, args)?))
    }

    fn PyErr_SetString(&mut self, class: &ValueId, text: &str) -> Unwind {
        match self.own_words(text) {
            Ok(text) => {
                let text = self.string(text);
                self.exception(*class, vec![text])
            }
            Err(signal) => signal,
        }
    }

    fn _PyErr_SetString(&mut self, class: &ValueId, text: &str) -> Unwind {
        self.PyErr_SetString(class, text)
    }

    fn PyErr_SetObject(&mut self, class: &ValueId, object: &ValueId) -> Unwind {
        self.exception(*class, vec![*object])
    }

    fn PyErr_ExceptionMatches(&mut self, error: &Unwind, class: &ValueId) -> Traced<bool> {
        let Unwind::Raised(raised) = error else { return Ok(false) };
        let (raised, class) = (self.class_of(*raised)?, self.type_object(*class)?);
        Ok(types::is_subtype(&raised, &class))
    }

    /// A handler of a signal runs at the next instruction that asks for one.
    fn PyErr_CheckSignals(&mut self) -> Traced<i32> {
        Ok(0)
    }

    fn _Py_EnterRecursiveCallTstate(&mut self, _where: &str) -> Traced<i32> {
        Ok(0)
    }

    fn _Py_LeaveRecursiveCallTstate(&mut self) -> Traced<()> {
        Ok(())
    }
}
