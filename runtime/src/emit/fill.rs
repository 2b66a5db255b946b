//! Fills objects that were allocated: contents, attributes, tracebacks.
use super::failure::Failure;
use super::prologue::Arg;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::ffi::key_hashes::Change;
use crate::ffi::snapshot::original;
use crate::ffi::traceback;
use crate::names::name;
use crate::trace::state::value::{InlinedFrame, New, StateSlot, TracebackFrame, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

impl Writer<'_, '_> {
    /// Fills an instance of a class derived from `list` or of a kind of dict, past methods of the user.
    fn content(&mut self, id: ValueId, class: ValueId, content: &[ValueId]) -> Result<(), Failure> {
        if content.is_empty() {
            return Ok(());
        }
        let base = self.base_of(class)?;
        let dict = self.py.get_type::<PyDict>();
        let is_dict = base.cast::<PyType>().is_ok_and(|base| base.is_subclass(&dict).unwrap_or(false));
        let (method, size) = if is_dict { ("__setitem__", 2) } else { ("append", 1) };
        let method = base.getattr(method)?;
        for parts in content.chunks(size) {
            self.callee(method.clone());
            self.load(id)?;
            parts.iter().try_for_each(|part| self.load(*part))?;
            self.call(1 + parts.len() as u32);
            self.plain(Op::POP_TOP, 0);
        }
        Ok(())
    }

    /// Moves the keys of an `OrderedDict` to its end, one after the other.
    fn order(&mut self, id: ValueId, class: ValueId, keys: &[ValueId]) -> Result<(), Failure> {
        for key in keys {
            self.callee(self.base_of(class)?.getattr(name!("move_to_end"))?);
            self.load(id)?;
            self.load(*key)?;
            self.call(2);
            self.plain(Op::POP_TOP, 0);
        }
        Ok(())
    }

    /// Fills the object; all that it holds exists.
    pub(super) fn fill(&mut self, id: ValueId, made: &New) -> Result<(), Failure> {
        match made {
            New::List(items) => self.append(id, items, Op::LIST_APPEND),
            New::Set(items) => self.append(id, items, Op::SET_ADD),
            New::HashedDict(entries) => {
                let insert = Change::InsertEntry.function(self.py)?;
                for (hash, key, value) in entries {
                    self.callee(insert.clone());
                    self.load(id)?;
                    self.constant(hash.into_pyobject(self.py).map_err(PyErr::from)?.into_any());
                    self.load(*key)?;
                    self.load(*value)?;
                    self.call(4);
                    self.plain(Op::POP_TOP, 0);
                }
                Ok(())
            }
            New::Dict(entries) => {
                self.load(id)?;
                for (key, value) in entries {
                    self.load(*key)?;
                    self.load(*value)?;
                    self.plain(Op::MAP_ADD, 1);
                }
                self.plain(Op::POP_TOP, 0);
                Ok(())
            }
            New::Cell(Some(content)) => self.store(*content, id, "cell_contents"),
            New::Function { defaults, kwdefaults, attributes, .. } => {
                let parts = [(defaults, "__defaults__"), (kwdefaults, "__kwdefaults__")];
                parts
                    .into_iter()
                    .try_for_each(|(part, name)| part.map_or(Ok(()), |part| self.store(part, id, name)))?;
                self.attributes(id, attributes)
            }
            New::Instance { class, content, order, attributes, .. } => {
                self.content(id, *class, content)?;
                self.order(id, *class, order)?;
                self.attributes(id, attributes)
            }
            New::Exception { attributes, context, cause, passed, .. } => {
                cause.map_or(Ok(()), |cause| self.set_attribute(id, "__cause__", cause))?;
                context.map_or(Ok(()), |context| self.set_attribute(id, "__context__", context))?;
                self.attributes(id, attributes)?;
                self.traceback(id, passed)
            }
            New::Call { state: Some(state), .. } => {
                self.begin_callee();
                self.load(id)?;
                self.op(Op::LOAD_ATTR, Arg::Name("__setstate__".into()));
                self.load(*state)?;
                self.call(1);
                self.plain(Op::POP_TOP, 0);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Gives an exception the traceback that it got while it was traced.
    fn traceback(&mut self, exception: ValueId, passed: &[TracebackFrame]) -> Result<(), Failure> {
        let Some(first) = passed.last() else { return Ok(()) };
        let py = self.py;
        let has = |frame: &TracebackFrame| self.tracebacks.get(&frame.node).filter(|it| self.homes.contains_key(it));
        let shared = passed.iter().enumerate().rev().find_map(|(at, frame)| Some((at, *has(frame)?)));
        let passed = shared.map_or(passed, |(at, _)| &passed[at + 1..]);
        let (entries, mut held) = (PyList::empty(py), Vec::new());
        if let Some((_, other)) = shared {
            entries.append(py.None())?;
            held.push(other);
        }
        self.tracebacks.insert(first.node, exception);
        let here = passed.iter().rposition(|frame| frame.inlined.is_none());
        for (index, TracebackFrame { inlined, position, .. }) in passed.iter().enumerate() {
            let line = position.line;
            match inlined {
                Some(inlined) => {
                    let InlinedFrame { code, globals, lasti, rest, variables, namespace } = inlined;
                    let slots: Vec<usize> = variables.iter().map(|(slot, _)| *slot).collect();
                    held.extend(inlined.held());
                    let slots = (PyTuple::new(py, slots)?, namespace.is_some());
                    entries.append((code.bind(py), globals.bind(py), (lasti, rest), line, slots))?;
                }
                None => entries.append((line, here == Some(index)))?,
            }
        }
        self.callee(pyo3::wrap_pyfunction!(traceback::add_traceback, py)?.into_any());
        self.load(exception)?;
        self.constant(entries.to_tuple().into_any());
        held.iter().try_for_each(|value| self.load(*value))?;
        self.build_tuple(held.len() as u32);
        let before = self.position;
        self.position = here.and_then(|here| passed.get(here)).map_or(before, |frame| Some(frame.position));
        self.call(3);
        self.position = before;
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    fn append(&mut self, id: ValueId, items: &[ValueId], op: Op) -> Result<(), Failure> {
        self.load(id)?;
        for item in items {
            self.load(*item)?;
            self.plain(op, 1);
        }
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    /// `object.name = value` where no code of the user can run.
    pub(super) fn store(&mut self, value: ValueId, object: ValueId, name: &str) -> Result<(), Failure> {
        self.load(value)?;
        self.load(object)?;
        self.op(Op::STORE_ATTR, Arg::Name(name.into()));
        Ok(())
    }

    /// Gives an object the parts of its state that its constructor does not set.
    fn attributes(&mut self, object: ValueId, attributes: &[(StateSlot, ValueId)]) -> Result<(), Failure> {
        for (held, value) in attributes {
            match held {
                StateSlot::Attribute(name) => self.set_attribute(object, name, *value)?,
                StateSlot::Entry(key) => {
                    self.load(*value)?;
                    self.callee(self.py.get_type::<PyAny>().getattr(name!("__getattribute__"))?);
                    self.load(object)?;
                    self.constant(pyo3::types::PyString::intern(self.py, "__dict__").into_any());
                    self.call(2);
                    self.constant(key.bind(self.py).clone());
                    self.plain(Op::STORE_SUBSCR, 0);
                }
                StateSlot::Descriptor(descriptor) => {
                    self.callee(descriptor.bind(self.py).getattr(name!("__set__"))?);
                    self.load(object)?;
                    self.load(*value)?;
                    self.call(2);
                    self.plain(Op::POP_TOP, 0);
                }
            }
        }
        Ok(())
    }

    /// `object.__setattr__(object, name, value)`: past a `__setattr__` of the user.
    fn set_attribute(&mut self, object: ValueId, name: &str, value: ValueId) -> Result<(), Failure> {
        self.callee(original(self.py, "builtins", "object")?.getattr(name!("__setattr__"))?);
        self.load(object)?;
        self.constant(pyo3::types::PyString::intern(self.py, name).into_any());
        self.load(value)?;
        self.call(3);
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }
}
