//! The symbolic world of the generated functions: `CApi` over the tracer's values.
//!
//! In: calls that generated bodies make. Out: values, or the signal that ends the operation.
//! Must not know: which operation is under way.
mod call;
mod fields;
mod functions;
mod slots;
mod vocabulary;

pub(crate) use call::Operands;
pub use functions::SlotFunction;
pub(crate) mod messages;
