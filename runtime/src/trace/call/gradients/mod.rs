//! Gradients: calls that go back through the graph, what they leave at leaves, and what they look at on the way.
//!
//! In: such a call, or an attribute that is read after one. Out: a node of the graph, or another trace in which the call runs natively.
//! Must not know: the stack of the frame that calls.
pub(crate) mod backward;
pub(crate) mod cleared;
pub(crate) mod history;
pub(crate) mod read;
