//! Runs bytecode symbolically with the generated code as its object model.
pub mod outcome;
pub mod value;
