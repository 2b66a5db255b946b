//! Classes that are called: instances and classes are made; what they are instances of.
//!
//! In: a class and arguments. Out: an object of the trace, or an answer. It must not know how functions are inlined.
pub(crate) mod abstract_class;
pub(crate) mod class;
pub(crate) mod instance_checks;
pub(crate) mod new_alias;
mod new_function;
pub(crate) mod new_type;
