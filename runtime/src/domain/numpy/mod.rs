//! The domain of numpy.
//!
//! In: operations on arrays and scalars. Out: what running them on examples gives: type, dtype and shape of the result.
//! It must not know the tracer.
mod calls;
mod changes;
mod check;
mod errors;
mod example;
mod graph_break;
mod indices;
mod library;
mod names;
mod numbers;
mod operators;
mod scalars;

pub use calls::new;
pub use library::Numpy;
