//! The result of a finished trace; the emitter reads nothing else of the tracer.
use crate::bytecode::{Code, Op};
use crate::domain::{Domain, SavedParts};
use crate::graph::{Graph, Name, NodeId};
pub use crate::graph_break::Break;
use crate::guard::Guard;
use crate::guard::source::Source;
use crate::stored::Seen;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use std::sync::Arc;

/// A finished trace of one frame, from its first instruction up to `end`.
#[derive(Debug)]
pub struct Outcome {
    /// All values met, indexed by [`ValueId`].
    pub values: Vec<Value>,
    /// What was recorded; without an output node, which the emitter adds from what it needs.
    pub graph: Graph,
    /// For each placeholder of the graph, in order, the value that is passed in.
    pub inputs: Vec<(NodeId, ValueId)>,
    /// Restore the modes of libraries that the graph sets, where it raises; the last first.
    pub modes: Vec<(Py<PyAny>, Py<pyo3::types::PyTuple>)>,
    /// What is saved before the graph runs, and put back where it raises.
    pub undo: Undo,
    /// Where the symbols come from that sizes and numbers are named by.
    pub symbols: Vec<Source>,
    /// Conditions, in the order in which the trace came to rely on them.
    pub guards: Vec<Guard>,
    /// Locks that nobody holds when the trace begins, and that it acquires.
    pub acquired_first: Vec<LockHold>,
    /// Side effects on objects that existed before the trace, in the order of their happening.
    pub effects: Vec<Effect>,
    /// How the trace ended.
    pub end: End,
    /// Whether the program says that a graph break where the trace ends is an error.
    pub breaks_are_errors: bool,
    /// Every operation that went through generated code, for reports.
    pub routes: Vec<Route>,
    /// Bytecode instructions executed symbolically.
    pub steps: u64,
    /// How far what it has seen is so in other processes.
    pub seen: Seen,
    /// Those that earlier attempts executed and that were executed again.
    pub repeated: u64,
    /// Code objects of the inlined frames that the break at the end lies under, innermost first: the native call reaches
    /// them, and they are compiled in their own right.
    pub inside: Vec<Py<PyAny>>,
    /// Signals that arrived meanwhile: set off where the frame goes on natively, just before the break.
    pub signals: Vec<i32>,
}

/// What a graph that raises has to take back, so that the frame can run its original code from the start.
#[derive(Debug, Default)]
pub struct Undo {
    /// Inputs that the graph changes: their contents are saved.
    pub inputs: Vec<ValueId>,
    /// How many of them are saved each time. The others are not once the graph has run: then no contents make it raise after that change.
    pub always: usize,
    /// Whether contents can make the graph raise before it changes others of them: versions tell whether it has changed these.
    pub raises_before: bool,
    /// What else is saved each time.
    pub parts_always: SavedParts,
    /// Generators of random numbers whose states are saved.
    pub generators: Vec<Py<PyAny>>,
    /// What else is saved before the graph has run.
    pub parts: SavedParts,
    /// Inputs that the graph may give gradients where it goes back through itself: these are saved until the graph has run, for no contents
    /// make it raise on the way back.
    pub leaves: Vec<ValueId>,
    /// What saves it.
    pub domain: Option<Arc<dyn Domain>>,
}

impl Undo {
    /// Whether anything is saved.
    #[must_use]
    pub fn saves(&self) -> bool {
        !self.inputs.is_empty() || self.parts.random || self.parts.nesting || !self.leaves.is_empty()
    }
}

/// A node that changes what another one gives.
#[derive(Clone, Copy, Debug)]
pub struct GraphChange {
    /// What is changed.
    pub operand: NodeId,
    /// By this node.
    pub by: NodeId,
}

/// A change to an object from before the trace; replayed by emitted code before the frame goes on.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Effect {
    /// `object.name = value`, stored as `object.__dict__`/slot would (no user `__setattr__` runs).
    SetAttr { object: ValueId, name: String, value: ValueId },
    /// `del object.name`.
    DelAttr { object: ValueId, name: String },
    /// `object[key] = value` on an exact dict or list.
    SetItem { object: ValueId, key: ValueId, value: ValueId },
    /// `del object[key]` on an exact dict or list.
    DelItem { object: ValueId, key: ValueId },
    /// `list[:] = values`: an exact list from before the trace gets this content.
    ReplaceList { list: ValueId, values: Vec<ValueId> },
    /// A global of the given globals dict (a value).
    SetGlobal { globals: ValueId, name: String, value: ValueId },
    /// Deletes a global.
    DelGlobal { globals: ValueId, name: String },
    /// `callable(*args)`: any other change, by a callable that runs no code of the user.
    Call { callable: ValueId, args: Vec<ValueId> },
    /// The content of a cell from before the trace.
    SetCell { cell: ValueId, value: Option<ValueId> },
}

/// A lock that compiled code acquires before it calls the graph, so that nobody changes meanwhile what the lock protects.
#[derive(Clone, Copy, Debug)]
pub struct LockHold {
    /// A callable that acquires it.
    pub acquire: ValueId,
    /// A callable that releases it.
    pub release: ValueId,
    /// What they are called with; `None`: nothing.
    pub lock: Option<ValueId>,
}

impl LockHold {
    /// Acquires the lock.
    #[must_use]
    pub fn take(&self) -> Effect {
        Effect::Call { callable: self.acquire, args: self.lock.into_iter().collect() }
    }

    /// Releases the lock.
    #[must_use]
    pub fn give_back(&self) -> Effect {
        Effect::Call { callable: self.release, args: self.lock.into_iter().collect() }
    }
}

/// How a trace ended.
#[derive(Debug)]
pub enum End {
    /// The frame returned this value.
    Return {
        /// The value.
        value: ValueId,
        /// What its variables, by slot, were then: where somebody keeps the frame's object, for example a traceback. Else empty.
        kept: Vec<Option<ValueId>>,
        /// The line that it returned from.
        line: i32,
    },
    /// The frame raises this exception value.
    Raise(ValueId),
    /// The instruction at `at` must run natively; state as it is before that instruction.
    Break {
        /// Index of the instruction in the decoded code.
        at: usize,
        /// Value stack, bottom first.
        stack: Vec<StackEntry>,
        /// Fast locals incl. cells and free variables, by slot; `None` where unbound.
        locals: Vec<Option<ValueId>>,
        /// The exception that the innermost handler handles (`sys.exception()`).
        handled: Option<ValueId>,
        /// The frames that the outermost one has entered by calls, one in the other: the last is the one that broke. Where there
        /// are any, the instruction at `at` calls the first, and so on.
        inner: Vec<NestedFrame>,
        /// Why.
        reason: Break,
    },
}

impl End {
    /// The graph break, and the code and the index of the instruction that it is at: the innermost frame's. `code` is the outermost's.
    pub fn graph_break<'a>(&'a self, code: &'a Code) -> Option<(&'a Break, &'a Code, usize)> {
        let Self::Break { at, inner, reason, .. } = self else { return None };
        let (code, at) = inner.last().map_or((code, *at), |entered| (&*entered.code, entered.at));
        (![RAISES, YIELDS, ENTERS].contains(&&*reason.kind)).then_some((reason, code, at))
    }
}

/// A frame that a call instruction has entered, and that goes on in a continuation of its own.
#[derive(Debug)]
pub struct NestedFrame {
    /// What runs; its names and globals are those of the frame.
    pub function: Py<PyAny>,
    /// Its code, decoded.
    pub code: Arc<Code>,
    /// Index of the instruction where it goes on.
    pub at: usize,
    /// Value stack, bottom first.
    pub stack: Vec<StackEntry>,
    /// Fast locals, by slot.
    pub locals: Vec<Option<ValueId>>,
    /// The exception that the innermost handler handles.
    pub handled: Option<ValueId>,
}

impl End {
    /// Every value that the end itself names.
    #[must_use]
    pub fn values(&self) -> Vec<ValueId> {
        match self {
            Self::Return { value, .. } | Self::Raise(value) => vec![*value],
            Self::Break { stack, locals, handled, inner, .. } => {
                let inner = inner.iter().flat_map(|frame| held(&frame.stack, &frame.locals, frame.handled));
                let mut values = Vec::with_capacity(stack.len() + locals.len() + 1);
                values.extend(held(stack, locals, *handled).chain(inner));
                values
            }
        }
    }
}

fn held(stack: &[StackEntry], locals: &[Option<ValueId>], handled: Option<ValueId>) -> impl Iterator<Item = ValueId> {
    let stack = stack.iter().filter_map(|entry| match entry {
        StackEntry::Object(value) => Some(*value),
        StackEntry::Null | StackEntry::Callee => None,
    });
    handled.into_iter().chain(stack).chain(locals.iter().flatten().copied())
}

/// An entry of the value stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackEntry {
    /// An object.
    Object(ValueId),
    /// The NULL that call sequences push.
    Null,
    /// What is called to go on with the frame that this one has entered.
    Callee,
}

/// Kind of the [`Break`] at an instruction that raises out of the traced frame: it runs natively so that the traceback is CPython's; it is no graph break.
pub const RAISES: &str = "exception leaves the frame";

/// Kind of the [`Break`] at an instruction that yields: it runs natively, for the frame is set aside there; it is no graph break.
pub const YIELDS: &str = "the generator yields";

/// Kind of the [`Break`] at a call that goes on with a frame where it stands: what stopped that one is the graph break.
pub const ENTERS: &str = "the called frame goes on";

/// Kind of the [`Break`] at an instruction during which a signal arrived: it runs natively this once, so that the program handles the signal.
pub const INTERRUPTED: &str = "a signal arrived";

/// One operation's way through C.
#[derive(Clone, Debug)]
pub struct Route {
    /// File and line of the instruction.
    pub file: Arc<str>,
    /// One-based line.
    pub line: u32,
    /// The instruction.
    pub op: Op,
    /// The operator, as the module `operator` names it.
    pub operator: String,
    /// Functions of C, outermost first, and Python functions as `V.__or__`.
    pub functions: Vec<Name>,
}
