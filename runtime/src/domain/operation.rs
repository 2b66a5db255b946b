//! An operation as a domain gets it, and how a domain answers.
use super::recorded::GraphOfSizes;
use crate::ffi::callee;
use crate::graph::ValueId;
use crate::symbol::{ExpressionId, SymbolicLayout};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::sync::Arc;

/// What is called.
#[derive(Debug)]
pub enum Callee<'py> {
    /// The C function in this slot of a claimed type (`nb_add`, `nb_inplace_add`, `mp_subscript`, `mp_ass_subscript`, `nb_bool`,
    /// `mp_length`, `tp_iter`, `tp_richcompare` with the operation as a known last argument), called with the slot's own arguments.
    Slot(&'static str),
    /// A callable that the domain claims.
    Function(Bound<'py, PyAny>),
    /// A method of the first argument, which is a value of the domain.
    Method(String),
    /// Reading an attribute of the only argument, which is a value of the domain; a method is not read but called.
    GetAttr(String),
}

impl Callee<'_> {
    /// Its name, for reports.
    #[must_use]
    pub fn name(&self) -> Arc<str> {
        match self {
            Self::Slot(name) => Arc::from(*name),
            Self::Function(function) => callee::qualname_of(function).to_string().into(),
            Self::Method(name) | Self::GetAttr(name) => Arc::from(name.as_str()),
        }
    }
}

/// A callable, and what it is called with by name.
pub type CallWithNames<'py> = (Bound<'py, PyAny>, Vec<(String, Bound<'py, PyAny>)>);

/// What an operation does with numbers among its operands that differ from call to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberUse {
    /// It may depend on them.
    Other,
    /// What it gives does not depend on them, but for its contents.
    Contents,
    /// The same: of one alone it makes an array without dimensions.
    Array,
    /// What it gives does not depend on floats, but for its contents.
    Floats,
    /// It looks at their classes alone.
    Classes,
}

/// Where an operation may get an array in the place of a float.
#[derive(Clone, Copy, Debug)]
pub struct ScalarPlace {
    /// The operand with whose numbers it computes.
    pub array: usize,
    /// The operand that is the float.
    pub number: usize,
    /// Whether the operation refuses floats that are too large for the numbers of the array.
    pub checks_size: bool,
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Operand<'py> {
    /// A value of the domain: `example` has its metadata (never its contents, which the trace must not look at).
    Graph {
        /// The tracer's name for it.
        value: ValueId,
        /// An object of the same type and metadata.
        example: Bound<'py, PyAny>,
        /// Sizes and strides, where some differ from call to call.
        layout: Option<Arc<SymbolicLayout>>,
    },
    /// An object that is known and guarded.
    Known(Bound<'py, PyAny>),
    /// An `int` or `float` that may be another one at another call.
    Number {
        /// The tracer's name for it.
        value: ValueId,
        /// The number in this call.
        hint: Bound<'py, PyAny>,
        /// As an expression, where there is one.
        expression: Option<ExpressionId>,
    },
    /// A tuple.
    Tuple(Vec<Operand<'py>>),
    /// A list.
    List(Vec<Operand<'py>>),
    /// `slice(start, stop, step)`.
    Slice(Box<[Operand<'py>; 3]>),
    /// Something else, of this class: the domain breaks, or answers `NotImplemented` where its C code would without looking further.
    Foreign(Bound<'py, PyType>),
}

impl Operand<'_> {
    /// Adds the values of the graph, and the numbers, that it names.
    pub fn values(&self, found: &mut Vec<ValueId>) {
        match self {
            Self::Graph { value, .. } | Self::Number { value, .. } => found.push(*value),
            Self::Tuple(items) | Self::List(items) => items.iter().for_each(|item| item.values(found)),
            Self::Slice(parts) => parts.iter().for_each(|part| part.values(found)),
            Self::Known(_) | Self::Foreign(_) => {}
        }
    }

    /// Whether it is, or holds, a value of the graph of whose example this holds.
    pub fn any_example(&self, holds: &dyn Fn(&Bound<'_, PyAny>) -> bool) -> bool {
        match self {
            Self::Graph { example, .. } => holds(example),
            Self::Tuple(items) | Self::List(items) => items.iter().any(|item| item.any_example(holds)),
            Self::Slice(parts) => parts.iter().any(|part| part.any_example(holds)),
            Self::Number { .. } | Self::Known(_) | Self::Foreign(_) => false,
        }
    }

    /// Whether it is, or holds, an array of symbolic sizes.
    #[must_use]
    pub fn has_symbolic_sizes(&self) -> bool {
        match self {
            Self::Graph { layout, .. } => layout.is_some(),
            Self::Tuple(items) | Self::List(items) => items.iter().any(Self::has_symbolic_sizes),
            Self::Slice(_) | Self::Number { .. } | Self::Known(_) | Self::Foreign(_) => false,
        }
    }

    /// Whether it is, or holds, a symbolic number.
    #[must_use]
    pub fn has_numbers(&self) -> bool {
        match self {
            Self::Number { .. } => true,
            Self::Tuple(items) | Self::List(items) => items.iter().any(Self::has_numbers),
            Self::Slice(parts) => parts.iter().any(Self::has_numbers),
            Self::Graph { .. } | Self::Known(_) | Self::Foreign(_) => false,
        }
    }
}

/// An operation, and how its domain has answered it.
#[allow(missing_debug_implementations)]
pub struct AnsweredOperation<'a, 'py> {
    /// The interpreter.
    pub py: Python<'py>,
    /// What was called.
    pub callee: &'a Callee<'py>,
    /// Its operands.
    pub args: &'a [Operand<'py>],
    /// Its keyword arguments.
    pub kwargs: &'a [(String, Operand<'py>)],
    /// The answer.
    pub answer: &'a Answer<'py>,
    /// Whether it is worth a long time to know what comes of symbolic sizes: without, the call is traced for each size.
    pub is_worthwhile: bool,
    /// The graph so far, where that tells more.
    pub graph: Option<GraphOfSizes<'py>>,
}

impl AnsweredOperation<'_, '_> {
    /// Whether an operand is, or holds, a symbolic number.
    #[must_use]
    pub fn has_numbers(&self) -> bool {
        self.args.iter().chain(self.kwargs.iter().map(|(_, value)| value)).any(Operand::has_numbers)
    }
}

/// How a domain answers an operation.
#[derive(Debug)]
pub enum Answer<'py> {
    /// Record `target(*args, **kwargs)`; the result is as `example`.
    Node {
        /// The Python callable that the graph calls.
        target: Bound<'py, PyAny>,
        /// Positional arguments.
        args: Vec<Operand<'py>>,
        /// Keyword arguments.
        kwargs: Vec<(String, Operand<'py>)>,
        /// An object with the result's type and metadata.
        example: Bound<'py, PyAny>,
    },
    /// Record `target(*args, **kwargs)`, which gives a sequence, and what picks its items.
    Parts {
        /// The Python callable that the graph calls.
        target: Bound<'py, PyAny>,
        /// Positional arguments.
        args: Vec<Operand<'py>>,
        /// Keyword arguments.
        kwargs: Vec<(String, Operand<'py>)>,
        /// `list`, `tuple` or a named tuple of C, full of objects with the items' types and metadata.
        example: Bound<'py, PyAny>,
        /// `operator.getitem`.
        getitem: Bound<'py, PyAny>,
        /// Which items are operands themselves; may be shorter.
        itself: Vec<Option<ValueId>>,
    },
    /// Record `target(*args, **kwargs)`, which changes operands and gives one of them, or `None`; or that has another effect, and gives
    /// `None`.
    Change {
        /// The Python callable that the graph calls.
        target: Bound<'py, PyAny>,
        /// Positional arguments.
        args: Vec<Operand<'py>>,
        /// Keyword arguments.
        kwargs: Vec<(String, Operand<'py>)>,
        /// An object with the type and metadata of the operand that it gives, after the change.
        example: Bound<'py, PyAny>,
        /// What it changes.
        changes: Vec<ValueId>,
        /// What it gives.
        gives: Gives,
    },
    /// Record a call that changes operands and gives something else: a change that gives nothing, and the node or the parts of the same call.
    Both(Box<Answer<'py>>, Box<Answer<'py>>),
    /// Record `target(*args, **kwargs)`, which gives leaves their gradients, and gives `None`. It does not raise.
    Backward {
        /// The Python callable that the graph calls.
        target: Bound<'py, PyAny>,
        /// Positional arguments.
        args: Vec<Operand<'py>>,
        /// Keyword arguments.
        kwargs: Vec<(String, Operand<'py>)>,
    },
    /// A call that sets a mode of the thread, in the graph or after it. It is in force for the rest of the trace, too, and put back when
    /// that has ended.
    ModeChange(Box<ModeChange<'py>>),
    /// The operand itself, where the operation has nothing to do.
    Same(ValueId),
    /// Known from the metadata alone: `x.shape`, `x.dtype`, `len(x)`.
    Constant(Bound<'py, PyAny>),
    /// The result of this function on plain arguments: state of the library or the thread. A guard calls the function again.
    Guarded(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>),
    /// `NotImplemented`: the other operand is asked.
    NotImplemented,
    /// The operation raises, whatever the contents.
    Raised(PyErr),
}

/// What a change gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// `None`.
    Nothing,
    /// An operand.
    Operand(ValueId),
    /// An operand, for which the example of the change stands from now on: nothing was written, and what is no contents is another.
    Became(ValueId),
    /// The same, of a change that may have given the operand another layout.
    Relaid(ValueId),
    /// The positional argument at this place, whatever it consists of.
    Argument(usize),
}

/// A callable, and what it is called with.
pub type Call<'py> = (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>);

/// A change of a mode of the thread.
#[derive(Debug)]
pub struct ModeChange<'py> {
    /// What sets it.
    pub set: Call<'py>,
    /// Keyword arguments of that call.
    pub named: Vec<(String, Bound<'py, PyAny>)>,
    /// The call that restores what is in force now; `None` where nothing is to be restored.
    pub undo: Option<Call<'py>>,
    /// The call that restores what was in force when the trace began, wherever a graph stops that runs it and raises; it may raise
    /// where there is nothing to restore.
    pub restore: Option<Call<'py>>,
    /// Whether no call of the graph depends on it: it is set after the graph, not in it.
    pub follows: bool,
    /// The calls that read the mode: once the trace has set it, their results are no state from outside.
    pub questions: Vec<Call<'py>>,
    /// Arguments of the call that are symbolic numbers, by place.
    pub numbers: Vec<(usize, Operand<'py>)>,
}

impl<'py> ModeChange<'py> {
    /// A change in the graph that nothing undoes, and of which nobody asks.
    pub fn new(set: Call<'py>) -> ModeChange<'py> {
        ModeChange {
            set,
            named: Vec::new(),
            undo: None,
            restore: None,
            follows: false,
            questions: Vec::new(),
            numbers: Vec::new(),
        }
    }
}

/// A call that a library hands to a method of the class of an argument.
#[derive(Debug)]
pub struct HandedOver<'py> {
    /// The function that is called, as the library names it.
    pub function: Bound<'py, PyAny>,
    /// Its arguments.
    pub args: Bound<'py, PyTuple>,
    /// Its keyword arguments, if the method is given some.
    pub named: Option<Bound<'py, PyDict>>,
    /// The classes that the library names: where none of them takes over, those of plain arguments.
    pub types: Bound<'py, PyTuple>,
    /// The method: called with the function, the classes that take over, the arguments and the keyword arguments.
    pub method: &'static str,
}
