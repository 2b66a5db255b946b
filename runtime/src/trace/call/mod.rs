//! Calls: Python functions are inlined, classes instantiated, C functions run by tier, caches looked up.
//!
//! In: a callable value and its arguments. Out: a value, CPython's exception, or a graph break that names the C function.
//! Must not know: the stack of the frame that calls.
pub(crate) mod after_graph;
pub(crate) mod assumed;
pub(crate) mod bind;
pub(crate) mod builtins;
pub(crate) mod c;
pub(crate) mod called_modules;
pub(crate) mod classes;
pub(crate) mod compiler_queries;
pub(crate) mod dispatch;
pub(crate) mod effects;
pub(crate) mod folded;
pub(crate) mod forwarded;
pub(crate) mod function;
pub(crate) mod getting_ready;
pub(crate) mod gradients;
mod kinds;
pub(crate) mod lru_cache;
pub(crate) mod models;
mod not_callable;
pub(crate) mod rehearsal;
mod subgraph_bodies;
pub(crate) mod subgraphs;
pub(crate) mod taken;
