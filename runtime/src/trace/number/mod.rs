//! Symbolic numbers: what they are computed from, what the trace asks of them, and how the graph gets them.
mod compute;
mod conditions;
mod contents;
mod extremes;
mod graph_nodes;
mod graph_so_far;
mod inputs;
mod of_contents;
mod operations;
mod scalar_tensors;
mod size_tuples;
mod sizes;
mod storage;
mod text_operations;
mod texts;
pub(crate) mod unread;
mod unread_operations;
