//! The graph that a trace records: FX-like nodes in the order in which they run, each with the Python object to call.
//!
//! In: nodes from the tracer. Out: the graph as data, as a program that runs it, and as `slotrt.Graph` for Python.
//! It must not know how a trace came about.
mod node;
mod program;
mod py_graph;
mod py_node;
mod stored;
mod stored_nodes;
mod table;
pub(crate) mod text;

pub use node::{Argument, CalledModule, ForBackend, Graph, InputSize, Name, Node, NodeId, NodeOp, Origin, ValueId};
pub use program::Program;
pub use py_graph::{GraphCondition, PyGraph};
pub use py_node::PyNode;
