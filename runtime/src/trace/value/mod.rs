//! From Python objects to values and back: constants, sources, copies of state, graph nodes, and the guards that go with them.
//!
//! In: objects that the program, C or the trace has. Out: [`ValueId`](super::state::value::ValueId)s, guards, nodes of the graph.
//! Must not know: operators, attributes, calls.
mod addresses;
pub(crate) mod aliases;
pub(crate) mod c_values;
mod class_names;
pub(crate) mod examples;
pub(crate) mod existence;
pub(crate) mod finalisable;
pub(crate) mod gone_through;
pub(crate) mod graph_nodes;
pub(crate) mod ids;
pub(crate) mod inputs_in_memory;
pub(crate) mod kinds;
pub(crate) mod message_names;
pub(crate) mod nans;
pub(crate) mod objects;
mod recorded_changes;
pub(crate) mod recorded_nodes;
mod scheduled;
pub(crate) mod state_copies;
