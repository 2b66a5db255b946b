//! Calls that go back through the graph to leaves, which get gradients: nothing takes that back.
use crate::graph::NodeId;
use crate::trace::state::journal::Tracked;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;

/// What each node gives, without contents.
pub(crate) type Replayed = Vec<Option<Py<PyAny>>>;

/// Those of a trace.
#[derive(Debug, Default)]
pub(crate) struct BackwardCalls {
    /// Their nodes.
    pub(crate) nodes: Tracked<Vec<NodeId>>,
    /// The graph as it was run again for the call that is being recorded.
    pub(crate) rehearsed: Option<Replayed>,
    /// The same after the last of the nodes: its leaves have their gradients.
    pub(crate) replayed: Tracked<Option<(NodeId, Replayed)>>,
    /// Leaves whose gradients the trace has read since, and these.
    pub(crate) read: Tracked<Vec<(ValueId, ValueId)>>,
    /// Leaves whose gradients the trace has taken away since.
    pub(crate) taken: Tracked<Vec<ValueId>>,
    /// How many tensors that the graph makes keep their gradients.
    pub(crate) retained: Tracked<usize>,
    /// Those of them that a further call which comes there would put others in the place of.
    pub(crate) replaced: Tracked<Vec<(ValueId, ValueId)>>,
    /// Whether they run natively.
    pub(crate) are_native: bool,
    /// Whether the trace is to be made again so.
    pub(crate) giving_up: bool,
}

impl BackwardCalls {
    /// How many nodes are about gradients.
    pub(crate) fn count(&self) -> usize {
        self.nodes.len() + *self.retained
    }
}
