//! Graphs as data: FX-like nodes in the order in which they run.
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple, PyType};
use std::borrow::Cow;
use std::sync::Arc;

/// The name of a function on the way through C.
pub type Name = Cow<'static, str>;

/// Index of a node in its [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Handle of a value in the trace that records the graph. Handles that differ may still be one object, where the
/// caller chose both paths to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeOp {
    /// A value that the caller passes in, in the order of the placeholders.
    Placeholder,
    /// `target(*args, **kwargs)`.
    CallFunction,
    /// The last node: its one argument is the tuple of results.
    Output,
}

/// An argument of a node.
#[derive(Debug)]
pub enum Argument {
    /// The result of another node.
    Node(NodeId),
    /// A Python object known when the graph was recorded.
    Constant(Py<PyAny>),
    /// A tuple built from arguments.
    Tuple(Vec<Argument>),
    /// A list built from arguments.
    List(Vec<Argument>),
    /// `slice(start, stop, step)`, where not all of them are constants.
    Slice(Vec<Argument>),
}

impl Argument {
    /// A slice of three arguments.
    pub fn slice(py: Python<'_>, parts: Vec<Self>) -> PyResult<Self> {
        let constant = |part: &Self| match part {
            Self::Constant(object) => Some(object.clone_ref(py)),
            _ => None,
        };
        match parts.iter().map(constant).collect::<Option<Vec<_>>>() {
            Some(objects) => {
                let slice = py.get_type::<PySlice>().call1(PyTuple::new(py, objects)?)?;
                Ok(Self::Constant(slice.unbind()))
            }
            None => Ok(Self::Slice(parts)),
        }
    }

    /// Adds the nodes that it names.
    pub fn nodes(&self, found: &mut Vec<NodeId>) {
        match self {
            Self::Node(node) => found.push(*node),
            Self::Constant(_) => {}
            Self::Tuple(parts) | Self::List(parts) | Self::Slice(parts) => {
                parts.iter().for_each(|part| part.nodes(found))
            }
        }
    }
}

/// A module of the program that is being called.
#[derive(Debug)]
pub struct CalledModule {
    /// How the program names it: `L['self'].layers.0`.
    pub path: String,
    /// Its class.
    pub class: Py<PyType>,
    /// Where it lies: tells modules of one class apart.
    pub address: usize,
}

/// Where in the user's program a node comes from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// File name and line of the instruction, innermost inlined frame.
    pub file: Arc<str>,
    /// One-based line; 0 where the code object has none.
    pub line: u32,
    /// The line of the frame that is compiled; 0 where there is none.
    pub outer: u32,
    /// The C functions that the operation went through, outermost first: `PyNumber_Or`, `slot_nb_or`, `dict_or`…
    pub route: Vec<Name>,
    /// The modules that are being called, outermost first; only where a backend gets the graph.
    pub modules: Vec<Arc<CalledModule>>,
}

/// A size of an input, or a number that is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputSize {
    /// The same at each call.
    Known(i64),
    /// Another one at another call: the symbol's name.
    Symbol(String),
}

/// What a backend does with a call of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForBackend {
    /// It compiles the call.
    #[default]
    Compiles,
    /// It compiles the call, which sets a mode, where it gets all of the graph and the graph leaves the mode as it was; else the call runs
    /// as it was recorded.
    Mode,
    /// The same where the graph leaves another mode, too: so does what the backend makes of it.
    KeptMode,
    /// It compiles the call, and nothing after it together with it: what comes later goes on with the object that it gives.
    EndsPart,
    /// The call runs as it was recorded: what the backend would make of it does less.
    LeavesAlone,
}

/// One node.
#[derive(Debug)]
pub struct Node {
    /// Unique name, FX style: `or_`, `or__1`, `add`…
    pub name: String,
    /// What the node does.
    pub op: NodeOp,
    /// The callable of a [`NodeOp::CallFunction`]; `None` otherwise.
    pub target: Option<Py<PyAny>>,
    /// Positional arguments.
    pub args: Vec<Argument>,
    /// Keyword arguments.
    pub kwargs: Vec<(String, Argument)>,
    /// The type of the result and what the domain knows of it, for people and backends (`"ndarray[int64, (2, 3)]"`).
    pub meta: String,
    /// The domain of the operation or of the input; empty for the output.
    pub domain: &'static str,
    /// Of an input: its sizes where some differ from call to call, or the name of the number that it is.
    pub sizes: Option<Box<[InputSize]>>,
    /// Where the node comes from.
    pub origin: Origin,
    /// What a backend does with it.
    pub backend: ForBackend,
}

impl Node {
    /// All arguments: positional ones, then those of keywords.
    pub fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.args.iter().chain(self.kwargs.iter().map(|(_, argument)| argument))
    }
}

impl Argument {
    /// Shows every object that it owns to the garbage collector.
    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Self::Node(_) => {}
            Self::Constant(object) => visit(object),
            Self::Tuple(items) | Self::List(items) | Self::Slice(items) => {
                items.iter().for_each(|item| item.traverse(visit));
            }
        }
    }

    /// Shows every node that it names, each as often as it does.
    pub fn each_node(&self, found: &mut dyn FnMut(NodeId)) {
        match self {
            Self::Node(id) => found(*id),
            Self::Constant(_) => {}
            Self::Tuple(items) | Self::List(items) | Self::Slice(items) => {
                items.iter().for_each(|item| item.each_node(found));
            }
        }
    }
}

/// Nodes in the order in which they run.
#[derive(Debug, Default)]
pub struct Graph {
    /// All nodes; a node's arguments precede it.
    pub nodes: Vec<Node>,
}

impl Graph {
    /// Shows every object that it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for node in &self.nodes {
            node.target.iter().for_each(&mut *visit);
            node.arguments().for_each(|argument| argument.traverse(visit));
        }
    }
}
