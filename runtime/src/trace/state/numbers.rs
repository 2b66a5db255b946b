//! The symbolic numbers of a trace: which sources they have, and what the trace knows of them.
use crate::graph::NodeId;
use crate::guard::source::{Source, identity_key, size_key};
use crate::symbol::{ExpressionId, Expressions, Formula, Number, Relation, Symbol, SymbolicLayout};
use crate::trace::state::journal::{OrderedSet, Tracked};
use crate::trace::state::value::ValueId;
use pyo3::{Py, PyAny};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Which numbers from outside are symbolic.
#[derive(Clone, Debug, Default)]
pub struct ChangingSources {
    /// Those at sources where earlier calls found other numbers, by [`Source::key`].
    pub keys: FxHashSet<u64>,
    /// Those that callers give, from the first trace on.
    pub arguments: bool,
    /// Slots of a continuation's frame whose values are others each time that its loop comes there.
    pub loop_slots: FxHashSet<u32>,
    /// Whether a number that could have been symbolic has differed once more.
    pub again: bool,
}

/// Sources whose numbers must be known, by [`Source::key`], and the operations that want it.
pub(crate) type FixedNumbers = FxHashMap<u64, Option<Arc<str>>>;

/// Symbolic numbers.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) changing: Arc<ChangingSources>,
    /// Sources whose numbers must be known after all.
    pub(crate) fixed: FixedNumbers,
    /// Whether all numbers must be, whatever is marked.
    pub(crate) all_known: bool,
    /// Those that are others at every call, whatever earlier calls found, by [`Source::key`].
    pub(crate) drawn: FxHashSet<u64>,
    /// The same of those that a library sets anew between calls.
    pub(crate) scheduled: FxHashSet<u64>,
    /// Those that an attempt found to be such.
    pub(crate) to_fix: Vec<u64>,
    /// The operation that wants them, if it is one.
    pub(crate) fixing: Option<Arc<str>>,
    pub(crate) expressions: Expressions,
    /// By symbol: where the number comes from, and what it is in this call.
    pub(crate) inputs: Vec<(Source, Number)>,
    pub(crate) symbols: FxHashMap<Source, Symbol>,
    /// Relations that guards check.
    pub(crate) relations: OrderedSet<Relation>,
    /// The nodes that compute numbers in the graph.
    pub(crate) nodes: Tracked<FxHashMap<ValueId, NodeId>>,
    /// The same by expression.
    pub(crate) nodes_of: Tracked<FxHashMap<ExpressionId, NodeId>>,
    /// Sizes and strides of arrays of which some are symbolic.
    pub(crate) layouts: FxHashMap<ValueId, Arc<SymbolicLayout>>,
    /// What the domain keeps of the graph so far, with symbols for sizes.
    pub(crate) graph: Option<Py<PyAny>>,
    /// How many nodes that is.
    pub(crate) graph_nodes: usize,
    /// Nodes that set modes.
    pub(crate) modes: FxHashSet<NodeId>,
    /// Nodes that give what contents decide, and those that work on it: sizes may not fit.
    pub(crate) open: FxHashSet<NodeId>,
    /// Those of them that are floats: they are no sizes.
    pub(crate) open_floats: FxHashSet<NodeId>,
    /// The numbers that arrays hold so far, by the nodes that give them; `None`: nobody knows. An input that is not here holds what it held.
    pub(crate) held: Tracked<FxHashMap<NodeId, Option<ExpressionId>>>,
    /// Of numbers that the graph gives: what they will be, by numbers from outside.
    pub(crate) expected: Tracked<FxHashMap<NodeId, ExpressionId>>,
    /// Of truths that the graph gives, in the same way.
    pub(crate) expected_truths: Tracked<FxHashMap<NodeId, Relation>>,
    /// Numbers that the graph gives, of which an extreme is known that is not zero.
    pub(crate) nonzero: Tracked<FxHashSet<NodeId>>,
    /// The inputs whose contents guards look at.
    pub(crate) looked_at: Tracked<FxHashSet<NodeId>>,
    /// How many nodes were searched for calls that may change contents behind the back of the trace.
    pub(crate) searched: usize,
    /// Whether one was found.
    pub(crate) may_change_unseen: bool,
    /// How many frames the trace was in where it recorded the first of them, or the outermost.
    pub(crate) open_depth: Option<usize>,
    /// Whether one holds a text that contents decide.
    pub(crate) texts_in_containers: bool,
    /// Texts of symbolic numbers, which become parts of others, and the numbers.
    pub(crate) texts: Tracked<FxHashMap<ValueId, ValueId>>,
    /// Whether the trace went on as if all of some choice were chosen.
    pub(crate) whole_choices: bool,
    /// Whether C makes an object, and gets what is passed to its class.
    pub(crate) makes_object: bool,
    /// Whether a float becomes a tensor, which a backend takes.
    pub(crate) becomes_tensor: bool,
    /// Those where contents begin to decide something.
    pub(crate) open_roots: Vec<NodeId>,
    /// How many operations leave open what contents decide; `None`: all. The next one breaks.
    pub(crate) left_open: Option<usize>,
    /// The same, for the trace that is to be made again so.
    pub(crate) closing: Option<usize>,
    /// Whether a container of the trace's own holds one.
    pub(crate) in_containers: bool,
    /// Whether the C function that runs, if one does, asks what it goes through by slots alone.
    pub(crate) asked_by_slots: bool,
    /// The same of the one that is about to run.
    pub(crate) will_ask_by_slots: bool,
    /// Whether the C function that runs keeps what it goes through, or passes it on, and the same of the one that is about to run.
    pub(crate) passes_on: bool,
    pub(crate) will_pass_on: bool,
}

/// What contents decide of what a node gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// Contents alone: sizes are known.
    Contents,
    /// Which float it is.
    Float,
    /// Sizes, or which number it is.
    All,
}

/// What contents decide about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenCall {
    /// Nothing.
    None,
    /// What it gives.
    Begins,
    /// What it works on.
    Works,
}

impl Numbers {
    /// Whether any number from outside is symbolic.
    pub(crate) fn any_changes(&self) -> bool {
        !self.changing.keys.is_empty()
            || self.changing.arguments
            || !self.changing.loop_slots.is_empty()
            || !self.drawn.is_empty()
            || !self.scheduled.is_empty()
    }

    /// What a number is in this call.
    pub(crate) fn hint(&self, expression: ExpressionId) -> Option<Number> {
        let input = |symbol: Symbol| self.inputs.get(symbol.0 as usize).map(|(_, hint)| *hint);
        Formula::new(&self.expressions, expression).evaluate(&input)
    }

    /// The same of an integer.
    pub(crate) fn integer_hint(&self, expression: ExpressionId) -> Option<i64> {
        match self.hint(expression)? {
            Number::Integer(hint) => Some(hint),
            Number::Float(_) => None,
        }
    }

    /// What an attempt found that must be known.
    pub(crate) fn take_to_fix(&mut self) -> FixedNumbers {
        let operation = self.fixing.take();
        std::mem::take(&mut self.to_fix).into_iter().map(|key| (key, operation.clone())).collect()
    }

    /// The operation for which sizes of the array at a source must be known.
    pub(crate) fn fixed_for(&self, source: &Source) -> Option<Arc<str>> {
        const DIMENSIONS: usize = 64;
        if self.fixed.is_empty() {
            return None;
        }
        let base = source.key();
        (0..DIMENSIONS).find_map(|index| self.fixed.get(&size_key(base, index))?.clone())
    }

    /// Whether a size at the source is to be symbolic.
    pub(crate) fn is_changing_size(&self, source: &Source) -> bool {
        let key = source.key();
        (self.changing.keys.contains(&key) || self.changing.arguments && source.is_part_of_argument())
            && !self.fixed.contains_key(&key)
    }

    /// Whether an earlier call found another object at the source than the one that the trace asked for.
    pub(crate) fn is_changing_object(&self, source: &Source) -> bool {
        !self.changing.keys.is_empty() && self.changing.keys.contains(&identity_key(source.key()))
    }

    /// Whether numbers at the source are symbolic.
    pub(crate) fn is_changing(&self, source: &Source) -> bool {
        if matches!(source, Source::Size(..)) {
            return self.symbols.contains_key(source);
        }
        if !self.any_changes() {
            return false;
        }
        let changing = &self.changing;
        let key = source.key();
        // Loops let lists grow that they do not set.
        let is_in_loop = |list: &Source| !changing.loop_slots.is_empty() && list.container_slot().is_some();
        (changing.keys.contains(&key)
            || matches!(source, Source::Length(list) if is_in_loop(list))
            || self.drawn.contains(&key)
            || self.scheduled.contains(&key)
            || changing.arguments && source.is_part_of_argument()
            || source.container_slot().is_some_and(|slot| changing.loop_slots.contains(&slot)))
            && !self.fixed.contains_key(&key)
    }
}

/// Which symbolic numbers an operation takes as operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakenNumbers {
    /// None: they must be known.
    None,
    /// Integers, which may say sizes.
    Integers,
    /// The same, and floats, where something is asked what comes of them.
    Asked,
    /// The same, also those that contents of arrays decide.
    OpenIntegers,
    /// The same, and floats.
    Ruled,
    /// All: they are contents.
    All,
    /// Floats, which are contents.
    Floats,
    /// All: the operation looks at their classes alone, and is no part of the graph.
    Classes,
}
