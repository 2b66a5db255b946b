//! Constants, fast locals, cells and the names of class bodies.
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::{interned, name};
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::{Effect, StackEntry};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::sync::Arc;

fn store(frame: &mut Frame, slot: u32) -> Traced<()> {
    let value = frame.pop_entry()?;
    match frame.locals.get_mut(slot as usize) {
        Some(local) => *local = value,
        None => return internal("local slot"),
    }
    Ok(())
}

pub(crate) fn store_fast(frame: &mut Frame, slot: u32) -> Traced<Flow> {
    store(frame, slot).map(|()| Flow::Next)
}

pub(crate) fn store_fast_store_fast(frame: &mut Frame, arg: u32) -> Traced<Flow> {
    store(frame, arg >> 4)?;
    store(frame, arg & 15)?;
    Ok(Flow::Next)
}

pub(crate) fn load_fast_and_clear(frame: &mut Frame, slot: u32) -> Traced<Flow> {
    let Some(local) = frame.locals.get_mut(slot as usize) else { return internal("local slot") };
    let entry = local.take().map_or(StackEntry::Null, StackEntry::Object);
    frame.stack.push(entry);
    Ok(Flow::Next)
}

pub(crate) fn copy_free_vars(frame: &mut Frame, count: u32) -> Traced<Flow> {
    let Some(first) = frame.locals.len().checked_sub(count as usize) else { return internal("COPY_FREE_VARS") };
    if frame.closure.len() != count as usize {
        return internal("closure of another size than the code's free variables");
    }
    for (slot, cell) in frame.locals[first..].iter_mut().zip(&frame.closure) {
        *slot = Some(*cell);
    }
    Ok(Flow::Next)
}

impl<'py> Tracer<'py> {
    pub(crate) fn code_const(&mut self, frame: &Frame, index: u32) -> Traced<ValueId> {
        let Some(constant) = frame.code.consts.get(index as usize) else { return internal("constant index") };
        Ok(self.constant(constant.bind(self.py).clone()))
    }

    pub(crate) fn load_const(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let value = self.code_const(frame, index)?;
        frame.push(value);
        Ok(Flow::Next)
    }

    pub(crate) fn load_small_int(&mut self, frame: &mut Frame, number: u32) -> Traced<Flow> {
        let number = self.number(number as i32);
        frame.push(number);
        Ok(Flow::Next)
    }

    /// What the compiler knows without asking the program's names. CPython: `_common_constants` in `Lib/opcode.py`.
    pub(crate) fn load_common_constant(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        const NAMES: [&str; 7] = ["AssertionError", "NotImplementedError", "tuple", "all", "any", "list", "set"];
        let value = match (NAMES.get(index as usize), index) {
            (Some(name), _) => {
                let object = self.import("builtins", name)?;
                self.constant(object)
            }
            (None, 7) => self.none(),
            (None, 8) => self.string(""),
            (None, 9 | 10) => self.constant(PyBool::new(self.py, index == 9).to_owned().into_any()),
            (None, 11) => self.number(-1),
            _ => return unsupported("common constant", index.to_string()),
        };
        frame.push(value);
        Ok(Flow::Next)
    }

    pub(crate) fn return_const(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        self.code_const(frame, index).map(Flow::Return)
    }

    fn local(&mut self, frame: &Frame, slot: u32) -> Traced<ValueId> {
        match frame.locals.get(slot as usize) {
            Some(Some(value)) => Ok(*value),
            Some(None) => {
                let name = frame.local_name(slot);
                self.raise(
                    "UnboundLocalError",
                    format!("cannot access local variable '{name}' where it is not associated with a value"),
                )
            }
            None => internal("local slot"),
        }
    }

    pub(crate) fn load_fast(&mut self, frame: &mut Frame, slot: u32) -> Traced<Flow> {
        let value = self.local(frame, slot)?;
        frame.push(value);
        Ok(Flow::Next)
    }

    pub(crate) fn load_fast_load_fast(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        self.load_fast(frame, arg >> 4)?;
        self.load_fast(frame, arg & 15)
    }

    pub(crate) fn store_fast_load_fast(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        store(frame, arg >> 4)?;
        self.load_fast(frame, arg & 15)
    }

    pub(crate) fn delete_fast(&mut self, frame: &mut Frame, slot: u32) -> Traced<Flow> {
        self.local(frame, slot)?;
        frame.locals[slot as usize] = None;
        Ok(Flow::Next)
    }

    pub(crate) fn make_cell(&mut self, frame: &mut Frame, slot: u32) -> Traced<Flow> {
        let Some(content) = frame.locals.get(slot as usize).copied() else { return internal("cell slot") };
        let cell = self.new_cell(content)?;
        frame.locals[slot as usize] = Some(cell);
        Ok(Flow::Next)
    }

    pub(crate) fn new_cell(&mut self, content: Option<ValueId>) -> Traced<ValueId> {
        let class = self.import("types", "CellType")?;
        let cell = match content {
            Some(content) => {
                let proxy = self.proxy_for_cell(content)?;
                class.call1((proxy,))
            }
            None => class.call0(),
        };
        match cell {
            Ok(cell) => Ok(self.own(cell)),
            Err(error) => internal(error.to_string()),
        }
    }

    /// What a cell holds.
    pub(crate) fn cell_contents(&mut self, cell: ValueId) -> Traced<Option<ValueId>> {
        if let Some(object) = self.owned(cell) {
            return Ok(object.getattr(name!("cell_contents")).ok().map(|content| self.absorb(content)));
        }
        if let Some(content) = self.state.cells.get(&cell) {
            return Ok(*content);
        }
        let (Some(object), Some(source)) = (self.real(cell), self.source(cell)) else { return internal("no cell") };
        let content = match object.getattr(name!("cell_contents")) {
            Ok(content) => {
                let path = match source {
                    Source::FreeCell(index) => Source::Free(index),
                    other => Source::Cell(Arc::new(other)),
                };
                Some(self.sourced(content, path))
            }
            Err(_) => {
                self.guard_once(cell, GuardRequest::EMPTY, source, Check::CellEmpty, "a variable had no value");
                None
            }
        };
        self.state.cells.see(cell, content);
        Ok(content)
    }

    pub(crate) fn set_cell(&mut self, cell: ValueId, content: Option<ValueId>) -> Traced<()> {
        if let Some(object) = self.owned(cell) {
            crate::trace::state::journal::changed();
            let result = match content {
                Some(content) => object.setattr(name!("cell_contents"), self.proxy_for_cell(content)?),
                None => object.delattr(name!("cell_contents")),
            };
            return result.or_else(|error| internal(error.to_string()));
        }
        let held = self.cell_contents(cell)?;
        self.before_overwriting(held)?;
        self.state.cells.change(cell, content);
        self.state.effects.push(Effect::SetCell { cell, value: content });
        Ok(())
    }

    fn cell(&mut self, frame: &Frame, slot: u32) -> Traced<ValueId> {
        match frame.locals.get(slot as usize) {
            Some(Some(cell)) => Ok(*cell),
            _ => internal("no cell in the slot"),
        }
    }

    fn unbound_cell<T>(&mut self, frame: &Frame, slot: u32) -> Traced<T> {
        let name = frame.local_name(slot);
        let free = frame
            .code
            .locals
            .get(slot as usize)
            .is_some_and(|local| local.kind.contains(crate::bytecode::LocalKind::FREE));
        if free {
            return self.raise(
                "NameError",
                format!(
                    "cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
                ),
            );
        }
        self.raise(
            "UnboundLocalError",
            format!("cannot access local variable '{name}' where it is not associated with a value"),
        )
    }

    pub(crate) fn load_deref(&mut self, frame: &mut Frame, slot: u32) -> Traced<Flow> {
        let cell = self.cell(frame, slot)?;
        match self.cell_contents(cell)? {
            Some(value) => frame.push(value),
            None => return self.unbound_cell(frame, slot),
        }
        Ok(Flow::Next)
    }

    pub(crate) fn store_deref(&mut self, frame: &mut Frame, slot: u32) -> Traced<Flow> {
        let cell = self.cell(frame, slot)?;
        let value = frame.pop()?;
        self.set_cell(cell, Some(value))?;
        Ok(Flow::Next)
    }

    pub(crate) fn delete_deref(&mut self, frame: &mut Frame, slot: u32) -> Traced<Flow> {
        let cell = self.cell(frame, slot)?;
        if self.cell_contents(cell)?.is_none() {
            return self.unbound_cell(frame, slot);
        }
        self.set_cell(cell, None)?;
        Ok(Flow::Next)
    }

    fn namespace(&mut self, frame: &Frame) -> Traced<ValueId> {
        frame
            .namespace
            .map_or_else(|| unsupported("names of a class or module body", "the frame has a namespace of its own"), Ok)
    }

    /// The dict that a namespace is, where it is the trace's own.
    fn namespace_dict(&mut self, namespace: ValueId) -> Traced<Option<Bound<'py, PyDict>>> {
        if self.is_namespace(namespace) { Ok(None) } else { self.mapping(namespace) }
    }

    pub(super) fn in_namespace(&mut self, namespace: ValueId, name: &str) -> Traced<Option<ValueId>> {
        if let Some(dict) = self.namespace_dict(namespace)? {
            return Ok(dict.get_item(name).ok().flatten().map(|value| self.absorb(value)));
        }
        let key = self.string(name);
        match self.operator("getitem", &[namespace, key]) {
            Ok(value) => Ok(Some(value)),
            Err(signal) if self.raised_is(&signal, "KeyError")? => Ok(None),
            Err(signal) => Err(signal),
        }
    }

    fn push_named(&mut self, frame: &mut Frame, name: &str, value: Option<ValueId>) -> Traced<Flow> {
        let Some(value) = value else { return self.raise_name_error(name) };
        self.refuse_lazy_import(value, name)?;
        frame.push(value);
        Ok(Flow::Next)
    }

    pub(crate) fn load_name(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let namespace = self.namespace(frame)?;
        let name = frame.name(index)?.to_owned();
        let value = match self.in_namespace(namespace, &name)? {
            Some(value) => Some(value),
            None => {
                let interned = interned(self.py, &name);
                self.frame_global(frame, &name, &interned)?
            }
        };
        self.push_named(frame, &name, value)
    }

    pub(crate) fn load_from_dict_or_globals(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let namespace = frame.pop()?;
        let name = frame.name(index)?.to_owned();
        let value = match self.in_namespace(namespace, &name)? {
            Some(value) => Some(value),
            None => {
                let interned = interned(self.py, &name);
                self.global_or_builtin(frame, &name, &interned)?
            }
        };
        self.push_named(frame, &name, value)
    }

    pub(crate) fn load_from_dict_or_deref(&mut self, frame: &mut Frame, slot: u32) -> Traced<Flow> {
        let namespace = frame.pop()?;
        let name = frame.local_name(slot);
        match self.in_namespace(namespace, &name)? {
            Some(value) => {
                frame.push(value);
                Ok(Flow::Next)
            }
            None => self.load_deref(frame, slot),
        }
    }

    /// As 3.12's `LOAD_LOCALS` and `LOAD_FROM_DICT_OR_DEREF`.
    pub(crate) fn load_classderef(&mut self, frame: &mut Frame, slot: u32) -> Traced<Flow> {
        self.load_locals(frame)?;
        self.load_from_dict_or_deref(frame, slot)
    }

    pub(crate) fn store_name(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let namespace = self.namespace(frame)?;
        let name = frame.name(index)?.to_owned();
        let value = frame.pop()?;
        let Some(dict) = self.namespace_dict(namespace)? else {
            let key = self.string(&name);
            return self.operator("setitem", &[namespace, key, value]).map(|_| Flow::Next);
        };
        let value = self.native(value)?;
        crate::trace::state::journal::changed();
        dict.set_item(name, value).or_else(|error| self.raise_error(error))?;
        Ok(Flow::Next)
    }

    pub(crate) fn delete_name(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let namespace = self.namespace(frame)?;
        let name = frame.name(index)?.to_owned();
        crate::trace::state::journal::changed();
        let deleted = match self.namespace_dict(namespace)? {
            Some(dict) => dict.del_item(&name).is_ok(),
            None => {
                let key = self.string(&name);
                match self.operator("delitem", &[namespace, key]) {
                    Ok(_) => true,
                    Err(Unwind::Raised(_)) => false,
                    Err(signal) => return Err(signal),
                }
            }
        };
        if !deleted {
            return self.raise_name_error(&name);
        }
        Ok(Flow::Next)
    }

    /// The namespace gets a dict for annotations, if it has none.
    pub(crate) fn setup_annotations(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let namespace = self.namespace(frame)?;
        if self.in_namespace(namespace, "__annotations__")?.is_none() {
            let key = self.string("__annotations__");
            let dict = self.own(PyDict::new(self.py).into_any());
            self.operator("setitem", &[namespace, key, dict])?;
        }
        Ok(Flow::Next)
    }

    pub(crate) fn load_locals(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let namespace = self.namespace(frame)?;
        frame.push(namespace);
        Ok(Flow::Next)
    }

    /// Whether the value is a cell of the frame (not a plain local).
    pub(crate) fn is_none(&mut self, value: ValueId) -> Traced<bool> {
        if let Value::Real { object, .. } = self.value(value)
            && object.bind(self.py).is_none()
        {
            self.known(value);
            return Ok(true);
        }
        if !self.is_later_attribute(value) {
            self.class_of(value)?;
        }
        Ok(false)
    }
}
