//! Attributes, `super()` and imports.
use crate::bytecode::Op;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use pyo3::prelude::*;
use pyo3::types::PyType;

impl<'py> Tracer<'py> {
    pub(crate) fn load_attr(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let shift = frame.code.isa().name_shift(Op::LOAD_ATTR);
        if shift == 1 && arg & 1 == 1 {
            return self.load_method(frame, arg >> shift);
        }
        let name = frame.name(arg >> shift)?.to_owned();
        let object = frame.pop()?;
        let value = self.get_attr(object, &name)?;
        frame.push(value);
        Ok(Flow::Next)
    }

    /// An attribute to be called: the method and its receiver where that is possible.
    pub(crate) fn load_method(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let name = frame.name(index)?.to_owned();
        let object = frame.pop()?;
        let (function, receiver) = self.get_method(object, &name)?;
        frame.push_callable(function, receiver);
        Ok(Flow::Next)
    }

    pub(crate) fn store_attr(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let name = frame.name(index)?.to_owned();
        let object = frame.pop()?;
        let value = frame.pop()?;
        self.set_attr(object, &name, Some(value))?;
        Ok(Flow::Next)
    }

    pub(crate) fn delete_attr(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let name = frame.name(index)?.to_owned();
        let object = frame.pop()?;
        self.set_attr(object, &name, None)?;
        Ok(Flow::Next)
    }

    /// `[super, class, self]`. CPython: `_PySuper_Lookup`.
    pub(crate) fn load_super_attr(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let name = frame.name(arg >> 2)?.to_owned();
        let receiver = frame.pop()?;
        let class = frame.pop()?;
        let called = frame.pop()?;
        let plain = self.import("builtins", "super")?;
        if !self.known(called).is_some_and(|called| called.is(&plain)) {
            return unsupported("super is another object", name);
        }
        let Some(class) = self.known(class).and_then(|class| class.cast_into::<PyType>().ok()) else {
            return unsupported("super() without a known class", name);
        };
        let (function, bound) = self.super_lookup(&class, receiver, &name)?;
        if arg & 1 == 1 {
            frame.push_callable(function, bound);
        } else {
            let value = match bound {
                Some(receiver) => self.bound_method(function, receiver),
                None => function,
            };
            frame.push(value);
        }
        Ok(Flow::Next)
    }

    pub(crate) fn import_from(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let name = frame.name(index)?.to_owned();
        let module = frame.peek(1)?;
        let Some(value) = self.optional_attr(module, &name)? else {
            return unsupported("import of a name that the module does not have", name);
        };
        frame.push(value);
        Ok(Flow::Next)
    }
}
