//! What the tracer knows of a Python object.
use crate::bytecode::Position;
use crate::graph::NodeId;
pub use crate::graph::ValueId;
use crate::guard::source::Source;
use crate::trace::state::computed_number::ComputedNumber;
use pyo3::prelude::*;
use std::sync::Arc;

/// A value.
#[derive(Debug)]
pub enum Value {
    /// A real object that exists before the trace (argument, global, attribute of one) or is a constant of the code.
    Real {
        /// The object, as found while tracing.
        object: Py<PyAny>,
        /// How the compiled frame gets it again; `None` for constants, which are loaded as they are.
        source: Option<Source>,
    },
    /// A graph node's result: computed only when the compiled graph runs.
    Node {
        /// The node.
        node: NodeId,
        /// Its exact Python type.
        kind: Py<PyAny>,
        /// What the domain keeps about it (an example object whose metadata is right).
        example: Py<PyAny>,
    },
    /// An object made during the trace, rebuilt by emitted code only where it escapes.
    New(New),
}

/// Where an object made during the trace holds a part of its state.
#[derive(Debug)]
pub enum StateSlot {
    /// Set as `object.__setattr__` sets it; no descriptor of the class is in the way.
    Attribute(String),
    /// An entry of `__dict__`, with its key, that a descriptor of the class hides.
    Entry(Py<PyAny>),
    /// A slot or member of C: this descriptor sets it.
    Descriptor(Py<PyAny>),
}

/// Where an inlined frame stands.
#[derive(Clone, Debug)]
pub struct InlinedFrame {
    /// Its code object.
    pub code: Arc<Py<PyAny>>,
    /// Its globals.
    pub globals: Arc<Py<PyAny>>,
    /// `tb_lasti`.
    pub lasti: i32,
    /// The same of the instruction where the frame ended.
    pub rest: i32,
    /// Its variables that have values, by slot.
    pub variables: Vec<(usize, ValueId)>,
    /// The names of a class body.
    pub namespace: Option<ValueId>,
}

impl InlinedFrame {
    /// What its frame holds: the variables in their order, then the namespace.
    pub fn held(&self) -> impl Iterator<Item = ValueId> {
        self.variables.iter().map(|(_, value)| *value).chain(self.namespace)
    }
}

/// A frame in a traceback.
#[derive(Clone, Debug)]
pub struct TracebackFrame {
    /// Of an inlined frame; `None` for the frame that is traced.
    pub inlined: Option<InlinedFrame>,
    /// Where it was.
    pub position: Position,
    /// Tells traceback objects apart: exceptions share them.
    pub node: usize,
}

/// An object made during the trace.
#[derive(Debug)]
pub enum New {
    /// `tuple`.
    Tuple(Vec<ValueId>),
    /// `list`.
    List(Vec<ValueId>),
    /// `dict`, in insertion order; keys are real hashable constants.
    Dict(Vec<(ValueId, ValueId)>),
    /// The same, of keys that hash themselves in Python, with their hashes.
    HashedDict(Vec<(isize, ValueId, ValueId)>),
    /// `set` of values that are real hashable constants.
    Set(Vec<ValueId>),
    /// `slice(start, stop, step)`.
    Slice([ValueId; 3]),
    /// A cell; `None` while empty.
    Cell(Option<ValueId>),
    /// A function made by `MAKE_FUNCTION`.
    Function {
        /// Code object.
        code: Py<PyAny>,
        /// Globals dict of the frame that made it.
        globals: Py<PyAny>,
        /// `__defaults__`, a tuple value.
        defaults: Option<ValueId>,
        /// `__kwdefaults__`, a dict value.
        kwdefaults: Option<ValueId>,
        /// `__closure__`: cells.
        closure: Vec<ValueId>,
        /// What `FunctionType` does not set from these.
        attributes: Vec<(StateSlot, ValueId)>,
    },
    /// A bound method.
    Method {
        /// `__func__`.
        function: ValueId,
        /// `__self__`.
        receiver: ValueId,
    },
    /// An instance of a user class with its attributes, as `object.__new__` leaves it, or that of the builtin class it derives from.
    Instance {
        /// The class, a value that is a real type.
        class: ValueId,
        /// What the `__new__` of the builtin class gets: the tuple, number or text that the instance is, or what it refers to weakly.
        args: Vec<ValueId>,
        /// The items of the list, or keys and values of the dict, that the instance is.
        content: Vec<ValueId>,
        /// The keys of an `OrderedDict` in its order, where its table has another.
        order: Vec<ValueId>,
        /// Entries of its `__dict__` in insertion order, and its slots.
        attributes: Vec<(StateSlot, ValueId)>,
    },
    /// An exception instance: class, `args` tuple, attributes as for an instance.
    Exception {
        /// The class.
        class: ValueId,
        /// `args`, a tuple value.
        args: ValueId,
        /// Entries of its `__dict__`, and members of C that the class's constructor does not set from `args`.
        attributes: Vec<(StateSlot, ValueId)>,
        /// `__context__`.
        context: Option<ValueId>,
        /// `__cause__`; setting it also sets `__suppress_context__`.
        cause: Option<ValueId>,
        /// The frames that it was raised in or passed through, innermost first.
        passed: Vec<TracebackFrame>,
    },
    /// An iterator over a sequence value: what remains starts at `next`.
    SequenceIterator {
        /// The list or tuple value.
        sequence: ValueId,
        /// Index of the next item.
        next: usize,
        /// Whether it goes from the end to the beginning.
        reversed: bool,
    },
    /// `callable(*args)`, then `__setstate__(state)`: how an object of a C type (`enumerate`, `zip`, `deque`…) is made again.
    Call {
        /// The callable.
        callable: ValueId,
        /// Its arguments.
        args: Vec<ValueId>,
        /// What `__setstate__` gets.
        state: Option<ValueId>,
    },
    /// A number that is computed from others, of which one may differ at another call.
    Computed(ComputedNumber),
    /// An object of the tracer's own (a generator, a method of a graph value) that cannot be rebuilt: a trace rolls back to before it was
    /// made rather than let it escape, so emitters never meet it.
    Opaque(&'static str),
    /// A real object of a C type that nobody outside the trace can see (a `range_iterator`, a `zip`…): worked on by C itself.
    Owned(Py<PyAny>),
}

/// What [`New::Opaque`] calls what is given by a call that is made after the graph.
pub(crate) const LATER_HANDLE: &str = "handle of a call after the graph";

/// What it calls an attribute that is known when the graph has run.
pub(crate) const LATER_ATTRIBUTE: &str = "attribute that the graph gives";

impl New {
    /// What a tuple, list or dict holds, and what a number is computed from.
    pub fn items(&self) -> Vec<ValueId> {
        match self {
            Self::Tuple(items) | Self::List(items) => items.clone(),
            Self::Dict(pairs) => pairs.iter().flat_map(|(key, value)| [*key, *value]).collect(),
            Self::HashedDict(entries) => entries.iter().flat_map(|(_, key, value)| [*key, *value]).collect(),
            Self::Computed(number) => number.operands.to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Some of a trace's values, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct ValueSet {
    bits: Vec<u64>,
    order: Vec<ValueId>,
}

impl ValueSet {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Keeps the first ones only.
    pub(crate) fn truncate(&mut self, len: usize) {
        for value in self.order.drain(len.min(self.order.len())..) {
            self.bits[value.0 as usize / 64] &= !(1 << (value.0 % 64));
        }
    }

    /// Whether the value is new.
    pub(crate) fn insert(&mut self, value: ValueId) -> bool {
        let (word, bit) = (value.0 as usize / 64, 1 << (value.0 % 64));
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        let new = self.bits[word] & bit == 0;
        if new {
            self.bits[word] |= bit;
            self.order.push(value);
        }
        new
    }

    pub(crate) fn contains(&self, value: ValueId) -> bool {
        self.bits.get(value.0 as usize / 64).is_some_and(|word| word & (1 << (value.0 % 64)) != 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = ValueId> {
        self.order.iter().copied()
    }
}
