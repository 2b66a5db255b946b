//! Loads values: from their homes, from sources, from results of the graph.
use super::failure::{Failure, fault};
use super::forks;
use super::liveness::LiveValues;
use super::prologue::Arg;
use super::writer::Writer;
use crate::bytecode::{Instr, Op};
use crate::ffi::held::is_mortal;
use crate::ffi::{
    containers, contexts, iterators, key_hashes, modules, random_numbers, referents, snapshot, thread_locals,
    weak_references,
};
use crate::guard::source::{Side, Source};
use crate::names::name;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;

impl<'a, 'py> Writer<'a, 'py> {
    /// Loads what lies behind attributes, items, cells and globals first: later effects may change what stands there.
    pub fn load_sources(&mut self, needed: &LiveValues) -> Result<(), Failure> {
        let inputs = self.outcome.inputs.iter().map(|(_, value)| *value);
        let mut paths = Vec::new();
        for id in needed.values.iter().copied().chain(inputs) {
            let Value::Real { object, source } = self.value(id)? else { continue };
            let object = object.bind(self.py);
            let path = match source {
                Some(Source::Local(_)) => continue,
                None | Some(Source::Constant(_)) if is_mortal(object) => Source::constant(object),
                None | Some(Source::Constant(_)) => continue,
                Some(path) => path.clone(),
            };
            if !self.has_home(id) {
                paths.push((id, path));
            }
        }
        self.forks = forks::of(paths.iter().map(|(_, source)| source));
        for (id, source) in paths {
            if !self.has_home(id) {
                self.source(&source)?;
                self.store_home(id);
            }
        }
        self.leave_forks();
        Ok(())
    }

    /// Empties what holds the paths at which sources part: the frame must not keep alive what the original would drop.
    fn leave_forks(&mut self) {
        let mut held: Vec<usize> = std::mem::take(&mut self.forks).into_values().flatten().collect();
        held.sort_unstable();
        for temporary in held {
            self.plain(Op::PUSH_NULL, 0);
            self.op(Op::STORE_FAST, Arg::Temporary(temporary));
            self.free_temporary(temporary);
        }
    }

    /// Pushes a value.
    pub(super) fn load(&mut self, id: ValueId) -> Result<(), Failure> {
        if let Some(home) = self.homes.get(&id) {
            self.op(Op::LOAD_FAST, Arg::Temporary(*home));
            return Ok(());
        }
        match self.value(id)? {
            Value::Real { object, source: None } => {
                self.constant(object.bind(self.py).clone());
                Ok(())
            }
            Value::Real { source: Some(source), .. } => {
                let source = source.clone();
                self.source(&source)
            }
            Value::Node { node, .. } => self.load_node(node.0),
            Value::New(_) => Err(fault(format!("value {} was not built before its use", id.0))),
        }
    }

    fn load_node(&mut self, node: u32) -> Result<(), Failure> {
        if let Some(result) = self.results.get(&node) {
            self.op(Op::LOAD_FAST, Arg::Temporary(*result));
            return Ok(());
        }
        let input = self.placeholders.get(&node).copied();
        let input = input.ok_or_else(|| fault(format!("node {node} is neither an input nor a result of the graph")))?;
        match self.value(input)? {
            Value::Node { .. } => Err(fault(format!("the graph's input {node} has no source"))),
            Value::Real { .. } | Value::New(_) => self.load(input),
        }
    }

    /// Pushes what is found at a source.
    fn source(&mut self, source: &Source) -> Result<(), Failure> {
        let held = self.forks.get(source).copied();
        if let Some(Some(temporary)) = held {
            self.op(Op::LOAD_FAST, Arg::Temporary(temporary));
            return Ok(());
        }
        self.follow(source)?;
        if held.is_some() {
            let temporary = self.temporary();
            self.plain(Op::COPY, 1);
            self.op(Op::STORE_FAST, Arg::Temporary(temporary));
            self.forks.insert(source.clone(), Some(temporary));
        }
        Ok(())
    }

    /// An attribute, read as `object` reads it, whatever the class has for reading attributes.
    fn follow_plainly(&mut self, base: &Source, name: &str) -> Result<(), Failure> {
        self.callee(self.py.get_type::<PyAny>().getattr(name!("__getattribute__"))?);
        self.source(base)?;
        self.constant(pyo3::types::PyString::intern(self.py, name).into_any());
        self.call(2);
        Ok(())
    }

    /// What a method without arguments gives.
    fn call_method(&mut self, base: &Source, name: &str) -> Result<(), Failure> {
        let method = modules::import(self.py, "operator")?.getattr(name!("methodcaller"))?.call1((name,))?;
        self.callee(method);
        self.source(base)?;
        self.call(1);
        Ok(())
    }

    fn follow(&mut self, source: &Source) -> Result<(), Failure> {
        match source {
            Source::Local(slot) => {
                let slot = self.place_of_argument(*slot as usize);
                let op = if self.is_boxed(slot) { Op::LOAD_DEREF } else { Op::LOAD_FAST };
                self.op(op, Arg::Slot(slot));
            }
            Source::FreeCell(index) => self.op(Op::LOAD_FAST, Arg::Slot(self.code.first_free() + *index as usize)),
            Source::Free(index) => self.op(Op::LOAD_DEREF, Arg::Slot(self.code.first_free() + *index as usize)),
            Source::Cell(base) => {
                self.source(base)?;
                self.op(Op::LOAD_ATTR, Arg::Name("cell_contents".into()));
            }
            Source::Global(name) => self.op(Op::LOAD_GLOBAL, Arg::Name(name.to_string())),
            Source::Builtin(name) => {
                // Read at each call: programs change what builtins hold.
                self.constant(snapshot::builtins(self.py)?.dict().into_any());
                self.constant(pyo3::types::PyString::intern(self.py, name).into_any());
                let (op, arg) = self.code.isa().subscription();
                self.plain(op, arg);
            }
            Source::DictItem(base, key) => {
                self.source(base)?;
                self.constant(key.0.bind(self.py).clone());
                let (op, arg) = self.code.isa().subscription();
                self.plain(op, arg);
            }
            Source::Attr(base, name) => {
                self.source(base)?;
                self.op(Op::LOAD_ATTR, Arg::Name(name.to_string()));
            }
            Source::OwnAttr(base, name) => self.follow_plainly(base, name)?,
            Source::ContextValue(base) => {
                self.callee(contexts::variable_class(self.py).getattr(name!("get"))?);
                self.source(base)?;
                self.call(1);
            }
            Source::Dict(base) => self.follow_plainly(base, "__dict__")?,
            Source::Contents(base) => self.call_method(base, "item")?,
            Source::Address(base) => self.call_method(base, "data_ptr")?,
            Source::Size(base, index) => {
                self.source(base)?;
                self.op(Op::LOAD_ATTR, Arg::Name("shape".into()));
                self.constant(index.into_pyobject(self.py).map_err(PyErr::from)?.into_any());
                let (op, arg) = self.code.isa().subscription();
                self.plain(op, arg);
            }
            Source::Item(base, index) => {
                self.source(base)?;
                self.constant(index.into_pyobject(self.py).map_err(PyErr::from)?.into_any());
                let (op, arg) = self.code.isa().subscription();
                self.plain(op, arg);
            }
            Source::ItemFromEnd(base, index) => {
                self.source(base)?;
                self.constant((-(*index as isize)).into_pyobject(self.py).map_err(PyErr::from)?.into_any());
                let (op, arg) = self.code.isa().subscription();
                self.plain(op, arg);
            }
            Source::Length(base) => {
                self.callee(snapshot::original(self.py, "builtins", "len")?);
                self.source(base)?;
                self.call(1);
            }
            Source::OwnItem(base, method, index) => {
                self.callee(method.0.bind(self.py).clone());
                self.source(base)?;
                self.constant(index.into_pyobject(self.py).map_err(PyErr::from)?.into_any());
                self.call(2);
            }
            Source::OwnEntry(base, key) => {
                self.callee(self.py.get_type::<pyo3::types::PyDict>().getattr(name!("__getitem__"))?);
                self.source(base)?;
                self.constant(key.0.bind(self.py).clone());
                self.call(2);
            }
            Source::EntryFor(base, key) => {
                self.callee(self.py.get_type::<pyo3::types::PyDict>().getattr(name!("__getitem__"))?);
                self.source(base)?;
                self.source(key)?;
                self.call(2);
            }
            Source::HasKey(base, method, key) => {
                self.callee(method.0.bind(self.py).clone());
                self.source(base)?;
                self.source(key)?;
                self.call(2);
            }
            Source::Referent(base) => {
                self.callee(pyo3::wrap_pyfunction!(referents::first, self.py)?.into_any());
                self.source(base)?;
                self.call(1);
            }
            Source::WeakReferent(base) => {
                self.callee(pyo3::wrap_pyfunction!(weak_references::follow, self.py)?.into_any());
                self.source(base)?;
                self.call(1);
            }
            Source::WeakReference(base) => {
                self.callee(pyo3::wrap_pyfunction!(weak_references::refer, self.py)?.into_any());
                self.source(base)?;
                self.call(1);
            }
            Source::ThreadDict(base) => {
                self.callee(pyo3::wrap_pyfunction!(thread_locals::thread_dict, self.py)?.into_any());
                self.source(base)?;
                self.call(1);
            }
            Source::Values(base) => {
                self.callee(pyo3::wrap_pyfunction!(containers::values, self.py)?.into_any());
                self.source(base)?;
                self.call(1);
            }
            Source::Keys(base) => {
                self.callee(pyo3::wrap_pyfunction!(containers::keys, self.py)?.into_any());
                self.source(base)?;
                self.call(1);
            }
            Source::WithHash(base, hash, side) => {
                self.callee(match side {
                    Side::Keys => pyo3::wrap_pyfunction!(key_hashes::keys_with_hash, self.py)?.into_any(),
                    Side::Values => pyo3::wrap_pyfunction!(key_hashes::values_with_hash, self.py)?.into_any(),
                });
                self.source(base)?;
                self.constant(hash.into_pyobject(self.py).map_err(PyErr::from)?.into_any());
                self.call(2);
            }
            Source::Ahead(base, count) => {
                let function = pyo3::wrap_pyfunction!(iterators::look_ahead, self.py)?;
                let count = count.into_pyobject(self.py).map_err(PyErr::from)?.into_any();
                self.ahead(source, base, function.into_any(), [count])?;
            }
            Source::Drawn(base, draw) => {
                let function = pyo3::wrap_pyfunction!(random_numbers::look_ahead, self.py)?;
                let (kind, number) = draw.parts();
                let kind = kind.into_pyobject(self.py).map_err(PyErr::from)?.into_any();
                let number = number.into_pyobject(self.py).map_err(PyErr::from)?.into_any();
                self.ahead(source, base, function.into_any(), [kind, number])?;
            }
            Source::TypeOf(base) => {
                self.callee(self.py.get_type::<pyo3::types::PyType>().into_any());
                self.source(base)?;
                self.call(1);
            }
            Source::Together(parts) => {
                parts.iter().try_for_each(|part| self.source(part))?;
                self.plain(Op::BUILD_TUPLE, parts.len() as u32);
            }
            Source::Constant(object) => self.constant(object.0.bind(self.py).clone()),
        }
        Ok(())
    }

    /// What an iterator or generator gives next: asked once, for some make each item anew.
    fn ahead<const N: usize>(
        &mut self,
        source: &Source,
        from: &Source,
        function: Bound<'py, PyAny>,
        args: [Bound<'py, PyAny>; N],
    ) -> Result<(), Failure> {
        if let Some(temporary) = self.ahead.get(source) {
            self.op(Op::LOAD_FAST, Arg::Temporary(*temporary));
            return Ok(());
        }
        self.callee(function);
        self.source(from)?;
        args.into_iter().for_each(|arg| self.constant(arg));
        self.call(1 + N as u32);
        let temporary = self.temporary();
        self.plain(Op::COPY, 1);
        self.op(Op::STORE_FAST, Arg::Temporary(temporary));
        self.ahead.insert(source.clone(), temporary);
        Ok(())
    }

    /// Where an argument is once the frame has started: a continuation's start moves cells from parameters to the slots of
    /// cells and free variables.
    pub(super) fn place_of_argument(&self, slot: usize) -> usize {
        let start = self.start();
        let empties = |instr: &Instr| matches!(instr.op, Op::LOAD_FAST_AND_CLEAR | Op::DELETE_FAST);
        let moved = start
            .windows(2)
            .find(|pair| empties(pair[0]) && pair[0].arg as usize == slot && pair[1].op == Op::STORE_FAST);
        moved.map_or(slot, |pair| pair[1].arg as usize)
    }

    /// Whether the frame's start puts the argument of this slot into a cell, and leaves it there: that of a continuation takes it out again.
    pub(super) fn is_boxed(&self, slot: usize) -> bool {
        let changes =
            |instr: &&&Instr| matches!(instr.op, Op::MAKE_CELL | Op::STORE_FAST) && instr.arg as usize == slot;
        self.start().iter().rev().find(changes).is_some_and(|last| last.op == Op::MAKE_CELL)
    }

    /// What runs before `RESUME`; a continuation's start jumps over the original's.
    fn start(&self) -> Vec<&'a Instr> {
        let mut start = Vec::new();
        let mut index = 0;
        while let Some(instr) = self.code.instrs.get(index).filter(|instr| instr.op != Op::RESUME) {
            start.push(instr);
            let jump = instr.target.filter(|_| instr.op == Op::JUMP_FORWARD).and_then(|target| self.code.index(target));
            index = jump.filter(|target| *target > index).unwrap_or(index + 1);
        }
        start
    }
}
