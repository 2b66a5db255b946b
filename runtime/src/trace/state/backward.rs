//! Calls that go back through the graph to leaves, which get gradients: nothing takes that back.
use crate::graph::NodeId;
use crate::trace::state::journal::Tracked;

/// Those of a trace.
#[derive(Debug, Default)]
pub(crate) struct BackwardCalls {
    /// Their nodes.
    pub(crate) nodes: Tracked<Vec<NodeId>>,
    /// Whether they run natively.
    pub(crate) are_native: bool,
    /// Whether the trace is to be made again so.
    pub(crate) giving_up: bool,
}
