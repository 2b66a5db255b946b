//! Objects of `super` that the trace made: a class and a receiver.
//!
//! CPython: `super_init_impl`, `super_init_without_args`, `super_getattro` in `Objects/typeobject.c`.
use crate::bytecode::LocalKind;
use crate::ffi::types;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::Frame;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PySuper, PyType};

/// As the type is called.
const NAME: &str = "super";

impl<'py> Tracer<'py> {
    /// `super()` or `super(class, receiver)`; `None` where something else is called.
    pub(crate) fn call_super(&mut self, frame: &Frame, callable: ValueId, args: &Arguments) -> Traced<Option<ValueId>> {
        let plain = self.py.get_type::<PySuper>();
        if !args.keywords.is_empty() || !self.real(callable).is_some_and(|callable| callable.is(&plain)) {
            return Ok(None);
        }
        self.known(callable);
        let (class, receiver) = match args.positional.as_slice() {
            [] => self.context_of_super(frame)?,
            [class, receiver] => match self.known(*class).and_then(|class| class.cast_into::<PyType>().ok()) {
                Some(class) => (class, *receiver),
                None => return unsupported("super() without a known class", frame.code.qualname.clone()),
            },
            _ => return Ok(None),
        };
        self.check_super(&class, receiver)?;
        Ok(Some(self.make_super(class, receiver)))
    }

    /// A new object of `super`.
    pub(crate) fn make_super(&mut self, class: Bound<'py, PyType>, receiver: ValueId) -> ValueId {
        let made = self.push(Value::New(New::Opaque(NAME)));
        self.state.supers.insert(made, (class.unbind(), receiver));
        made
    }

    /// What `super()` without arguments reads from its caller's frame.
    fn context_of_super(&mut self, frame: &Frame) -> Traced<(Bound<'py, PyType>, ValueId)> {
        if frame.code.argcount == 0 {
            return self.raise("RuntimeError", "super(): no arguments");
        }
        let boxed = frame.code.locals.first().is_some_and(|local| local.kind.contains(LocalKind::CELL));
        let first = match frame.locals.first().copied().flatten() {
            Some(cell) if boxed => self.cell_contents(cell)?,
            first => first,
        };
        let Some(receiver) = first else { return self.raise("RuntimeError", "super(): arg[0] deleted") };
        let is_class =
            |local: &crate::bytecode::Local| local.kind.contains(LocalKind::FREE) && local.name == "__class__";
        let Some(slot) = frame.code.locals.iter().position(is_class) else {
            return self.raise("RuntimeError", "super(): __class__ cell not found");
        };
        let Some(cell) = frame.locals.get(slot).copied().flatten() else {
            return self.raise("RuntimeError", "super(): bad __class__ cell");
        };
        let Some(class) = self.cell_contents(cell)? else {
            return self.raise("RuntimeError", "super(): empty __class__ cell");
        };
        match self.known(class).and_then(|class| class.cast_into::<PyType>().ok()) {
            Some(class) => Ok((class, receiver)),
            None => unsupported("super() without a known class", frame.code.qualname.clone()),
        }
    }

    /// `supercheck`, where the receiver's `__class__` is not asked.
    fn check_super(&mut self, class: &Bound<'py, PyType>, receiver: ValueId) -> Traced<()> {
        let as_class = self.known(receiver).and_then(|object| object.cast_into::<PyType>().ok());
        if as_class.is_some_and(|object| types::is_subtype(&object, class)) {
            return Ok(());
        }
        if types::is_subtype(&self.class_of(receiver)?, class) {
            return Ok(());
        }
        unsupported("super() of an object that is no instance of the class", types::name(class))
    }

    /// Class and receiver of an object of `super`.
    pub(crate) fn super_of(&self, value: ValueId) -> Option<(Bound<'py, PyType>, ValueId)> {
        let (class, receiver) = self.state.supers.get(&value)?;
        Some((class.bind(self.py).clone(), *receiver))
    }

    /// An attribute of an object of `super`; `None` for other values, and for what the object itself has.
    pub(crate) fn super_attr(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let Some((class, receiver)) = self.super_of(object) else { return Ok(None) };
        match name {
            "__class__" => return Ok(Some(self.constant(self.py.get_type::<PySuper>().into_any()))),
            "__thisclass__" | "__self__" | "__self_class__" => {
                return self.own_attr_of_super(&class, receiver, name).map(Some);
            }
            _ => {}
        }
        let (found, bound) = self.super_lookup(&class, receiver, name)?;
        Ok(Some(match bound {
            Some(receiver) => self.bound_method(found, receiver),
            None => found,
        }))
    }

    /// What `super_members` holds, where no class has an attribute of that name.
    fn own_attr_of_super(&mut self, class: &Bound<'py, PyType>, receiver: ValueId, name: &str) -> Traced<ValueId> {
        let as_class = self.known(receiver).and_then(|object| object.cast_into::<PyType>().ok());
        let start = match as_class.filter(|object| types::is_subtype(object, class)) {
            Some(object) => object,
            None => self.class_of(receiver)?,
        };
        if self.lookup(&start, name).is_some() {
            return unsupported("attribute of an object of super", name);
        }
        Ok(match name {
            "__self__" => receiver,
            "__thisclass__" => self.constant(class.clone().into_any()),
            _ => self.constant(start.into_any()),
        })
    }

    /// How emitted code makes an object of `super` again; `None` for other values.
    pub(crate) fn describe_super(&mut self, id: ValueId) -> Option<Materialised<Vec<ValueId>>> {
        let (class, receiver) = self.super_of(id)?;
        let callable = self.constant(self.py.get_type::<PySuper>().into_any());
        let class = self.constant(class.into_any());
        let args = vec![class, receiver];
        let children = vec![callable, class, receiver];
        Some(self.set(id, New::Call { callable, args, state: None }, children))
    }
}
