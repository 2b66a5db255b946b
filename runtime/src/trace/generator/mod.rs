//! Generators, coroutines and asynchronous generators that the trace made: frames that are set aside, and the objects that drive them.
//!
//! In: a call of code with a generator's flags, and the methods of what it gives. Out: values, and frames that wait.
//! Must not know: instructions. CPython: `Objects/genobject.c`.
pub(crate) mod asynchronous;
pub(crate) mod awaitable;
mod closing;
pub(crate) mod materialise;
pub(crate) mod methods;
pub(crate) mod objects;
pub(crate) mod resume;
