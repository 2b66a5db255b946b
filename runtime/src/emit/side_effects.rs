//! Replaying side effects on objects from before the trace, and on what its graph gives.
use super::failure::{Failure, fault};
use super::prologue::Arg;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::ffi::snapshot::original;
use crate::trace::state::outcome::Effect;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString, PyType};

impl Writer<'_, '_> {
    /// Writes all effects, in the order of their happening.
    pub fn replay(&mut self) -> Result<(), Failure> {
        self.outcome.effects.iter().try_for_each(|effect| self.effect(effect))
    }

    fn effect(&mut self, effect: &Effect) -> Result<(), Failure> {
        match effect {
            Effect::SetAttr { object, name, value } => self.attribute("__setattr__", *object, name, Some(*value)),
            Effect::DelAttr { object, name } => self.attribute("__delattr__", *object, name, None),
            Effect::SetItem { object, key, value } => {
                self.load(*value)?;
                self.load(*object)?;
                self.load(*key)?;
                self.plain(Op::STORE_SUBSCR, 0);
                Ok(())
            }
            Effect::DelItem { object, key } => {
                self.load(*object)?;
                self.load(*key)?;
                self.plain(Op::DELETE_SUBSCR, 0);
                Ok(())
            }
            Effect::ReplaceList { list, values } => self.replace_list(*list, values),
            Effect::SetGlobal { globals, name, value } => {
                self.load(*value)?;
                self.load(*globals)?;
                self.name(name);
                self.plain(Op::STORE_SUBSCR, 0);
                Ok(())
            }
            Effect::DelGlobal { globals, name } => {
                self.load(*globals)?;
                self.name(name);
                self.plain(Op::DELETE_SUBSCR, 0);
                Ok(())
            }
            Effect::Call { callable, args } => {
                self.begin_callee();
                self.load(*callable)?;
                args.iter().try_for_each(|arg| self.load(*arg))?;
                self.call(args.len() as u32);
                self.plain(Op::POP_TOP, 0);
                Ok(())
            }
            Effect::SetCell { cell, value: Some(value) } => self.store(*value, *cell, "cell_contents"),
            Effect::SetCell { cell, value: None } => {
                self.load(*cell)?;
                self.op(Op::DELETE_ATTR, Arg::Name("cell_contents".into()));
                Ok(())
            }
        }
    }

    fn name(&mut self, name: &str) {
        self.constant(PyString::intern(self.py, name).into_any());
    }

    /// Through `type.__setattr__` for classes and `object.__setattr__` for all else: past methods of the user.
    fn attribute(&mut self, method: &str, object: ValueId, name: &str, value: Option<ValueId>) -> Result<(), Failure> {
        let owner = match self.value(object)? {
            Value::Real { object: real, .. } if real.bind(self.py).is_instance_of::<PyType>() => "type",
            Value::Real { .. } | Value::Node { .. } => "object",
            _ => return Err(fault(format!("an effect on value {}, which is not from before the trace", object.0))),
        };
        self.callee(original(self.py, "builtins", owner)?.getattr(method)?);
        self.load(object)?;
        self.name(name);
        value.map_or(Ok(()), |value| self.load(value))?;
        self.call(2 + u32::from(value.is_some()));
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    fn replace_list(&mut self, list: ValueId, values: &[ValueId]) -> Result<(), Failure> {
        values.iter().try_for_each(|value| self.load(*value))?;
        self.plain(Op::BUILD_LIST, values.len() as u32);
        self.load(list)?;
        self.constant(PySlice::full(self.py).into_any());
        self.plain(Op::STORE_SUBSCR, 0);
        Ok(())
    }
}
