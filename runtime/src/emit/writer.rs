//! Writes the instructions of a prologue: slots are still named, so that temporaries can be added.
use super::failure::{Failure, fault};
use super::forks::Forks;
use super::host::Host;
use super::prologue::{Arg, Deoptimisation, Prologue, PrologueInstr};
use crate::bytecode::{Code, Op, Position};
use crate::ffi::held::is_mortal;
use crate::ffi::weak_references;
use crate::graph::Node;
use crate::guard::source::Source;
use crate::guard::{Check, Guard, Reason};
use crate::trace::state::outcome::Outcome;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes a prologue.
pub struct Writer<'a, 'py> {
    pub(super) py: Python<'py>,
    pub(super) outcome: &'a Outcome,
    pub(super) code: &'a Code,
    /// What everything is called through.
    pub(super) caller: Bound<'py, PyAny>,
    /// What follows weak references.
    referent: Bound<'py, PyAny>,
    /// What makes places in code of the objects that stand for them.
    pub(super) unit_writer: Bound<'py, PyAny>,
    /// An exception that is handled for the length of one instruction.
    pub(super) exception: Bound<'py, PyAny>,
    pub(super) written: Vec<PrologueInstr>,
    /// Temporaries that hold values.
    pub(super) homes: FxHashMap<ValueId, usize>,
    /// Temporaries that hold results of the graph, by node.
    pub(super) results: FxHashMap<u32, usize>,
    /// Values passed into the graph, by placeholder.
    pub(super) placeholders: FxHashMap<u32, ValueId>,
    /// Temporaries that hold what iterators give next.
    pub(super) ahead: FxHashMap<Source, usize>,
    /// Iterators that have been made, and the index of what each gives next.
    pub(super) iterators: Vec<(ValueId, usize)>,
    /// Exceptions that have their tracebacks, by the first node of these.
    pub(super) tracebacks: FxHashMap<usize, ValueId>,
    /// Paths that several sources begin with, while sources are loaded.
    pub(super) forks: Forks,
    pub(super) temporaries: usize,
    /// Temporaries that hold nothing any more.
    pub(super) free: Vec<usize>,
    /// The place in the source of what is written.
    pub(super) position: Option<Position>,
    /// The handler of exceptions of the graph.
    pub(super) deoptimisation: Option<Deoptimisation>,
    /// Classes and functions that weak references lead to.
    mortal: Vec<Py<PyAny>>,
}

impl<'a, 'py> Writer<'a, 'py> {
    /// Nothing written yet.
    pub fn new(py: Python<'py>, outcome: &'a Outcome, code: &'a Code, host: &dyn Host) -> Self {
        let placeholders = outcome.inputs.iter().map(|(node, value)| (node.0, *value)).collect();
        let (homes, results) = (FxHashMap::default(), FxHashMap::default());
        let (caller, unit_writer) = (host.constants().caller(py), host.constants().unit_writer(py));
        let (free, position, referent) = (Vec::new(), None, host.constants().referent(py));
        let exception = host.constants().exception.bind(py).clone();
        Self {
            py,
            outcome,
            code,
            caller,
            referent,
            unit_writer,
            exception,
            written: Vec::new(),
            homes,
            results,
            placeholders,
            ahead: FxHashMap::default(),
            iterators: Vec::new(),
            tracebacks: FxHashMap::default(),
            forks: Forks::default(),
            temporaries: 0,
            free,
            position,
            deoptimisation: None,
            mortal: Vec::new(),
        }
    }

    /// The finished prologue.
    pub fn into_prologue(self) -> Prologue {
        Prologue { written: self.written, temporaries: self.temporaries, deoptimisation: self.deoptimisation }
    }

    /// Goes on writing after these instructions; gives those written so far.
    pub(super) fn replace_written(&mut self, instead: Vec<PrologueInstr>) -> Vec<PrologueInstr> {
        std::mem::replace(&mut self.written, instead)
    }

    pub(super) fn op(&mut self, op: Op, arg: Arg) {
        self.written.push(PrologueInstr { op, arg, position: self.position });
    }

    pub(super) fn plain(&mut self, op: Op, arg: u32) {
        self.op(op, Arg::Plain(arg));
    }

    /// Pushes an object. Compiled code must not keep alive a class or a function that the program drops: it follows a weak reference, and a
    /// guard asks that there still is one.
    pub(super) fn constant(&mut self, object: Bound<'_, PyAny>) {
        let reference = if is_mortal(&object) { weak_references::refer(&object).ok() } else { None };
        let Some(reference) = reference else { return self.kept_constant(object) };
        self.mortal.push(object.unbind());
        self.kept_constant(self.referent.clone());
        self.kept_constant(reference);
        let (op, arg) = self.code.isa().subscription();
        self.plain(op, arg);
    }

    /// Pushes an object that stays anyway, or that compiled code keeps.
    pub(super) fn kept_constant(&mut self, object: Bound<'_, PyAny>) {
        self.op(Op::LOAD_CONST, Arg::Constant(object.unbind()));
    }

    /// Guards that the classes and functions still live that the code leads to.
    pub(super) fn mortal_guards(&mut self) -> Vec<Guard> {
        let mut seen = FxHashSet::default();
        let mut mortal = std::mem::take(&mut self.mortal);
        mortal.retain(|object| seen.insert(object.as_ptr() as usize));
        let guard = |object: Py<PyAny>| Guard {
            source: Source::constant(object.bind(self.py)),
            check: Check::Exists,
            reason: Reason { why: "compiled code leads to it", operation: None, place: None },
        };
        mortal.into_iter().map(guard).collect()
    }

    /// Begins a call of this.
    pub(super) fn callee(&mut self, object: Bound<'_, PyAny>) {
        self.begin_callee();
        self.kept_constant(object);
    }

    /// Before a callable is pushed. What it is called through handles no signals, as instructions for calls do: no handler of the
    /// program is in force here, and half of the effects may be done.
    pub(super) fn begin_callee(&mut self) {
        self.kept_constant(self.caller.clone());
    }

    /// Calls with this many positional arguments.
    pub(super) fn call(&mut self, count: u32) {
        self.plain(Op::BUILD_TUPLE, count + 1);
        let (op, arg) = self.code.isa().subscription();
        self.plain(op, arg);
    }

    /// Pops the top into a new temporary that is the value's home from now on.
    pub(super) fn store_home(&mut self, value: ValueId) {
        let temporary = self.temporary();
        self.op(Op::STORE_FAST, Arg::Temporary(temporary));
        self.homes.insert(value, temporary);
    }

    /// Empties all temporaries: the frame that goes on must not keep alive what the original would drop.
    pub(super) fn clear_temporaries(&mut self) {
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
    pub(super) fn free_temporary(&mut self, temporary: usize) {
        self.free.push(temporary);
    }

    /// What is written from here on belongs to the line at which the frame is while the node's call runs.
    pub(super) fn at_line_of(&mut self, node: &Node) {
        self.at_line(node.origin.outer as i32);
    }

    /// What is written from here on belongs to this line of the frame's own code.
    pub(super) fn at_line(&mut self, line: i32) {
        self.position = (line > 0).then(|| Position::line(line));
    }

    /// What is written from here on has no line of its own.
    pub(super) fn at_no_line(&mut self) {
        self.position = None;
    }

    pub(super) fn value(&self, id: ValueId) -> Result<&'a Value, Failure> {
        self.outcome.values.get(id.0 as usize).ok_or_else(|| fault(format!("value {} does not exist", id.0)))
    }
}
