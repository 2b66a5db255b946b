//! The symbolic world of the generated functions: `CApi` over the tracer's values.
mod call;
mod functions;
mod slots;
mod vocabulary;

pub use functions::SlotFunction;
