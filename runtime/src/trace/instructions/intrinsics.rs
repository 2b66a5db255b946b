//! `CALL_INTRINSIC_1` and `CALL_INTRINSIC_2`. CPython: `Python/intrinsics.c`.
use crate::bytecode::Op;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::generator::GeneratorKind;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyTuple};

impl<'py> Tracer<'py> {
    pub(crate) fn call_intrinsic_1(&mut self, frame: &mut Frame, which: u32) -> Traced<Flow> {
        let value = frame.pop()?;
        let result = match which {
            1 => self.display(value)?,
            3 => self.stop_iteration_error(GeneratorKind::of_flags(frame.code.flags), value)?,
            4 => self.async_gen_wrap(value),
            5 => self.operator("pos", &[value])?,
            6 => self.tuple_from_list(value)?,
            // TYPEVAR, PARAMSPEC, TYPEVARTUPLE.
            7..=9 => self.perform(Op::CALL_INTRINSIC_1, which, &[value])?,
            10 => self.subscript_generic(value)?,
            11 => self.type_alias(value)?,
            _ => return unsupported("CALL_INTRINSIC_1", format!("intrinsic {which}")),
        };
        frame.push(result);
        Ok(Flow::Next)
    }

    /// C makes the object, from objects of the trace.
    fn perform(&mut self, op: Op, which: u32, values: &[ValueId]) -> Traced<ValueId> {
        let mut natives = Vec::with_capacity(values.len());
        for value in values {
            natives.push(self.native(*value)?);
        }
        let py = self.py;
        let made = self.with_callbacks(|| crate::ffi::instruction::perform(py, op, which as u8, &natives));
        self.after_native(made, &natives)
    }

    /// `_Py_make_typealias` of a name, type parameters and the function that says the value, into which C looks.
    fn type_alias(&mut self, parts: ValueId) -> Traced<ValueId> {
        let mut natives = Vec::new();
        for part in self.list_of(parts, None)? {
            let function = self.owned(part).filter(|object| object.is_exact_instance_of::<PyFunction>());
            natives.push(function.map_or_else(|| self.native(part), Ok)?);
        }
        let tuple = PyTuple::new(self.py, natives).or_else(|error| internal(error.to_string()))?;
        let tuple = self.own(tuple.into_any());
        self.perform(Op::CALL_INTRINSIC_1, 11, &[tuple])
    }

    /// `_Py_set_function_type_params`.
    fn set_type_params(&mut self, function: ValueId, params: ValueId) -> Traced<ValueId> {
        let Some(object) = self.owned(function) else {
            return unsupported("type parameters of a function", "the function was made before the trace began");
        };
        let params = self.native(params)?;
        crate::trace::state::journal::changed();
        object.setattr(name!("__type_params__"), params).or_else(|error| internal(error.to_string()))?;
        Ok(function)
    }

    /// `_Py_set_typeparam_default`, which changes the parameter.
    fn set_typeparam_default(&mut self, which: u32, param: ValueId, default: ValueId) -> Traced<ValueId> {
        if self.owned(param).is_none() {
            return unsupported("default of a type parameter", "the parameter was made before the trace began");
        }
        crate::trace::state::journal::changed();
        self.perform(Op::CALL_INTRINSIC_2, which, &[param, default])
    }

    /// `_Py_subscript_generic`: `Generic` with the type parameters of a class.
    fn subscript_generic(&mut self, params: ValueId) -> Traced<ValueId> {
        for param in self.list_of(params, None)? {
            let class = self.class_of(param)?;
            if crate::ffi::types::is_c_class(&class, "typing.TypeVarTuple") {
                return unsupported("generic class with a type variable tuple", "INTRINSIC_SUBSCRIPT_GENERIC");
            }
        }
        let (alias, generic) = (self.import("typing", "_GenericAlias")?, self.import("typing", "Generic")?);
        let (alias, generic) = (self.constant(alias), self.constant(generic));
        self.call(alias, Arguments::positional(vec![generic, params]))
    }

    fn tuple_from_list(&mut self, list: ValueId) -> Traced<ValueId> {
        let items = self.list_of(list, None)?;
        self.tuple(&items)
    }

    /// Up to 3.11 an operation of its own.
    pub(crate) fn list_to_tuple(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let list = frame.pop()?;
        let tuple = self.tuple_from_list(list)?;
        frame.push(tuple);
        Ok(Flow::Next)
    }

    /// Up to 3.11 an operation of its own.
    pub(crate) fn async_gen_wrap_op(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let value = frame.pop()?;
        let wrapped = self.async_gen_wrap(value);
        frame.push(wrapped);
        Ok(Flow::Next)
    }

    /// Up to 3.11 an operation of its own.
    pub(crate) fn prep_reraise_star_op(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let (raised, original) = (frame.pop()?, frame.pop()?);
        let left = self.prep_reraise_star(Op::PREP_RERAISE_STAR, 0, [original, raised])?;
        frame.push(left);
        Ok(Flow::Next)
    }

    pub(crate) fn call_intrinsic_2(&mut self, frame: &mut Frame, which: u32) -> Traced<Flow> {
        let second = frame.pop()?;
        let first = frame.pop()?;
        let result = match which {
            1 => self.prep_reraise_star(Op::CALL_INTRINSIC_2, 1, [first, second])?,
            // TYPEVAR_WITH_BOUND, TYPEVAR_WITH_CONSTRAINTS.
            2 | 3 => self.perform(Op::CALL_INTRINSIC_2, which, &[first, second])?,
            4 => self.set_type_params(first, second)?,
            5 => self.set_typeparam_default(which, first, second)?,
            _ => return unsupported("CALL_INTRINSIC_2", format!("intrinsic {which}")),
        };
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `stopiteration_error`: what ends an iteration must not leave a generator by itself.
    pub(crate) fn stop_iteration_error(&mut self, kind: Option<GeneratorKind>, exception: ValueId) -> Traced<ValueId> {
        let raised = Unwind::Raised(exception);
        let noun = kind.map_or("generator", GeneratorKind::noun);
        let message = if self.raised_is(&raised, "StopIteration")? {
            format!("{noun} raised StopIteration")
        } else if kind == Some(GeneratorKind::AsyncGenerator) && self.raised_is(&raised, "StopAsyncIteration")? {
            format!("{noun} raised StopAsyncIteration")
        } else {
            return Ok(exception);
        };
        let error = self.import("builtins", "RuntimeError")?;
        let error = error.call1((message,)).or_else(|error| self.raise_error(error))?;
        let error = self.own(error);
        self.set_cause_and_context(error, exception)?;
        Ok(error)
    }
}
