//! What a trace keeps: plain data, its small operations, and the [`Tracer`](tracer::Tracer) that holds all of it.
//!
//! In: nothing of the tracer. Out: the types that every other room reads and changes.
//! Must not know: what an operation means, when a guard is needed, how a trace begins or ends.
//! Rooms above add their operations as methods of `Tracer`; that is how they call each other.
pub mod aliases;
pub mod arguments;
pub mod backward;
pub mod caches;
pub mod class_numbers;
pub mod computed_number;
pub mod context_variables;
pub mod entered;
pub mod frame;
pub mod generator;
pub mod guard_requests;
pub(crate) mod id_dicts;
pub mod iterators;
pub mod journal;
pub mod lifetime;
pub mod lru_caches;
pub(crate) mod made_classes;
pub mod materialised;
pub mod namespaces;
pub mod numbers;
pub mod open_loops;
pub mod options;
pub mod outcome;
pub mod private_copies;
pub mod process;
pub mod proxy;
pub mod reasons;
pub(crate) mod small_sets;
pub mod stop_points;
pub mod tracebacks;
pub mod tracer;
pub mod unwind;
pub mod value;
pub mod warnings;
pub mod wholes;
