//! Writes instructions with slots still by name, so that temporaries can be added while writing.
use super::inputs::Finished;
use super::need::Needed;
use super::rescue::{Begun, Rescue};
use super::{Failure, Host};
use crate::bytecode::{Code, Instr, Op};
use crate::ffi::snapshot;
use crate::graph::{Graph, Node, NodeOp};
use crate::guard::source::Source;
use crate::internal_error::InternalError;
use crate::names::name;
use crate::trace::outcome::Outcome;
use crate::trace::value::{Value, ValueId};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

/// An argument whose number is known only when everything is written.
#[derive(Debug)]
pub enum Arg {
    /// As it is.
    Plain(u32),
    /// A slot of the traced code.
    Slot(usize),
    /// A temporary.
    Temporary(usize),
    /// An object, loaded as a constant.
    Constant(Py<PyAny>),
    /// A name.
    Name(String),
}

/// An instruction of the prologue.
#[derive(Debug)]
pub struct Written {
    /// What it does.
    pub op: Op,
    /// To what.
    pub arg: Arg,
    /// The line it belongs to, where that is not the line the frame goes on at.
    pub line: Option<i32>,
}

/// What runs before the frame goes on.
#[derive(Debug)]
pub struct Prologue {
    /// In order.
    pub written: Vec<Written>,
    /// How many temporaries it uses.
    pub temporaries: usize,
    /// What handles exceptions of the graph.
    pub rescue: Option<Rescue>,
}

/// Writes a prologue.
pub struct Writer<'a, 'py> {
    pub(super) py: Python<'py>,
    pub(super) outcome: &'a Outcome,
    pub(super) code: &'a Code,
    /// What everything is called through.
    caller: Bound<'py, PyAny>,
    written: Vec<Written>,
    /// Temporaries that hold values.
    homes: FxHashMap<ValueId, usize>,
    /// Temporaries that hold results of the graph, by node.
    results: FxHashMap<u32, usize>,
    /// Values passed into the graph, by placeholder.
    placeholders: FxHashMap<u32, ValueId>,
    temporaries: usize,
    /// Temporaries that hold nothing any more.
    free: Vec<usize>,
    /// The line of what is written.
    line: Option<i32>,
    /// What handles exceptions of the graph.
    rescue: Option<Rescue>,
}

/// A graph that is called, as `explain` shows it.
pub struct Called {
    /// The graph.
    pub graph: Graph,
    /// Calls in it.
    pub ops: usize,
}

impl<'a, 'py> Writer<'a, 'py> {
    /// Nothing written yet.
    pub fn new(py: Python<'py>, outcome: &'a Outcome, code: &'a Code, host: &dyn Host) -> Self {
        let placeholders = outcome.inputs.iter().map(|(node, value)| (node.0, *value)).collect();
        let (homes, results) = (FxHashMap::default(), FxHashMap::default());
        let caller = host.constants().caller(py);
        let (free, line) = (Vec::new(), None);
        Self {
            py,
            outcome,
            code,
            caller,
            written: Vec::new(),
            homes,
            results,
            placeholders,
            temporaries: 0,
            free,
            line,
            rescue: None,
        }
    }

    /// The finished prologue.
    pub fn into_prologue(self) -> Prologue {
        Prologue { written: self.written, temporaries: self.temporaries, rescue: self.rescue }
    }

    /// Goes on writing after these instructions; gives those written so far.
    pub(super) fn put_aside(&mut self, instead: Vec<Written>) -> Vec<Written> {
        std::mem::replace(&mut self.written, instead)
    }

    pub(super) fn op(&mut self, op: Op, arg: Arg) {
        self.written.push(Written { op, arg, line: self.line });
    }

    pub(super) fn plain(&mut self, op: Op, arg: u32) {
        self.op(op, Arg::Plain(arg));
    }

    pub(super) fn constant(&mut self, object: Bound<'_, PyAny>) {
        self.op(Op::LOAD_CONST, Arg::Constant(object.unbind()));
    }

    /// Begins a call of this.
    pub(super) fn callee(&mut self, object: Bound<'_, PyAny>) {
        self.begin_callee();
        self.constant(object);
    }

    /// Before a callable is pushed. What it is called through handles no signals, as instructions for calls do: no handler of the
    /// program is in force here, and half of the effects may be done.
    pub(super) fn begin_callee(&mut self) {
        self.constant(self.caller.clone());
    }

    /// Calls with this many positional arguments.
    pub(super) fn call(&mut self, count: u32) {
        self.plain(Op::BUILD_TUPLE, count + 1);
        let (op, arg) = self.code.isa().subscription();
        self.plain(op, arg);
    }

    /// Pops the top into a new temporary that is the value's home from now on.
    pub(super) fn keep(&mut self, value: ValueId) {
        let temporary = self.temporary();
        self.op(Op::STORE_FAST, Arg::Temporary(temporary));
        self.homes.insert(value, temporary);
    }

    /// Empties all temporaries: the frame that goes on must not keep alive what the original would let go.
    pub(super) fn forget_temporaries(&mut self) {
        for temporary in 0..self.temporaries {
            self.plain(Op::PUSH_NULL, 0);
            self.op(Op::STORE_FAST, Arg::Temporary(temporary));
        }
    }

    pub(super) fn has_home(&self, value: ValueId) -> bool {
        self.homes.contains_key(&value)
    }

    pub(super) fn temporary(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.temporaries += 1;
            self.temporaries - 1
        })
    }

    /// An empty temporary may serve again.
    pub(super) fn give_back(&mut self, temporary: usize) {
        self.free.push(temporary);
    }

    /// What is written from here on belongs to the node's line, if that is a line of this code.
    pub(super) fn at_line_of(&mut self, node: &Node) {
        let here = node.origin.line != 0 && node.origin.file == self.code.file;
        self.line = here.then_some(node.origin.line as i32);
    }

    /// What is written from here on belongs to this line of the frame's own code.
    pub(super) fn at_line(&mut self, line: i32) {
        self.line = (line > 0).then_some(line);
    }

    /// What is written from here on has no line of its own.
    pub(super) fn at_no_line(&mut self) {
        self.line = None;
    }

    /// Loads what lies behind attributes, items, cells and globals first: later effects may change what stands there.
    pub fn load_sources(&mut self, needed: &Needed) -> Result<(), Failure> {
        let inputs = self.outcome.inputs.iter().map(|(_, value)| *value);
        let all: Vec<ValueId> = needed.values.iter().copied().chain(inputs).collect();
        for id in all {
            let Value::Real { source: Some(source), .. } = self.value(id)? else { continue };
            if !matches!(source, Source::Local(_) | Source::Constant(_)) && !self.has_home(id) {
                let source = source.clone();
                self.source(&source)?;
                self.keep(id);
            }
        }
        Ok(())
    }

    /// Acquires the locks that come first, and calls what the backend made of the graph, or else all that the graph calls; keeps the results.
    pub fn call_graph(
        &mut self,
        finished: Option<Finished>,
        begun: Begun<'_, 'py>,
        host: &dyn Host,
    ) -> Result<Option<Called>, Failure> {
        let start = self.written.len();
        self.hold()?;
        let Some(finished) = finished else {
            if !self.outcome.held_first.is_empty() {
                let watched = start..self.written.len();
                self.rescue = Some(self.rescued(watched, &Graph::default(), &[], begun, host)?);
            }
            return Ok(None);
        };
        let temporaries = match host.backend(self.py, &finished.graph, &finished.examples)? {
            Some(compiled) => self.call_compiled(compiled.into_bound(self.py), &finished)?,
            None => self.write_calls(&finished, host)?,
        };
        let watched = start..self.written.len();
        self.rescue = Some(self.rescued(watched, &finished.graph, &finished.inputs, begun, host)?);
        self.results.extend(finished.results.iter().map(|node| node.0).zip(temporaries));
        let ops = finished.graph.nodes.iter().filter(|node| node.op == NodeOp::CallFunction).count();
        Ok(Some(Called { graph: finished.graph, ops }))
    }

    fn call_compiled(&mut self, compiled: Bound<'_, PyAny>, finished: &Finished) -> Result<Vec<usize>, Failure> {
        self.callee(compiled);
        finished.inputs.iter().try_for_each(|value| self.load(*value))?;
        self.call(finished.inputs.len() as u32);
        self.plain(Op::UNPACK_SEQUENCE, finished.results.len() as u32);
        let mut keep = |_| {
            let temporary = self.temporary();
            self.op(Op::STORE_FAST, Arg::Temporary(temporary));
            temporary
        };
        Ok(finished.results.iter().map(&mut keep).collect())
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
            Value::Proxy { node, .. } => self.load_node(node.0),
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
            Value::Proxy { .. } => Err(fault(format!("the graph's input {node} has no source"))),
            Value::Real { .. } | Value::New(_) => self.load(input),
        }
    }

    pub(super) fn value(&self, id: ValueId) -> Result<&'a Value, Failure> {
        self.outcome.values.get(id.0 as usize).ok_or_else(|| fault(format!("value {} does not exist", id.0)))
    }

    /// Pushes what is found at a source.
    fn source(&mut self, source: &Source) -> Result<(), Failure> {
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
                self.constant(snapshot::builtins(self.py)?.getattr(&**name)?);
            }
            Source::DictItem(base, key) => {
                self.source(base)?;
                self.constant(key.0.bind(self.py).clone());
                self.plain(Op::BINARY_SUBSCR, 0);
            }
            Source::Attr(base, name) => {
                self.source(base)?;
                self.op(Op::LOAD_ATTR, Arg::Name(name.to_string()));
            }
            Source::OwnAttr(base, name) => {
                self.callee(self.py.get_type::<PyAny>().getattr(name!("__getattribute__"))?);
                self.source(base)?;
                self.constant(pyo3::types::PyString::intern(self.py, name).into_any());
                self.call(2);
            }
            Source::Dict(base) => {
                self.source(base)?;
                self.op(Op::LOAD_ATTR, Arg::Name("__dict__".into()));
            }
            Source::Item(base, index) => {
                self.source(base)?;
                self.constant(index.into_pyobject(self.py).map_err(PyErr::from)?.into_any());
                self.plain(Op::BINARY_SUBSCR, 0);
            }
            Source::TypeOf(base) => {
                self.callee(self.py.get_type::<pyo3::types::PyType>().into_any());
                self.source(base)?;
                self.call(1);
            }
            Source::Constant(object) => self.constant(object.0.bind(self.py).clone()),
        }
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

    /// Whether the frame's start puts the argument of this slot into a cell.
    pub(super) fn is_boxed(&self, slot: usize) -> bool {
        self.start().iter().any(|instr| instr.op == Op::MAKE_CELL && instr.arg as usize == slot)
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

/// A fault of ours.
pub(super) fn fault(text: String) -> Failure {
    Failure::Python(InternalError::new_err(text))
}
