//! What is left to check while a watch holds: the plan that leaves out what CPython tells changes of, and the program that remains.
//!
//! In: a program of guards, and what it found in a call that it fits. Out: a residual program with its watch.
//! It must not know how a trace came about.
mod instances;
mod pins;
mod plan;
mod quick;
pub(super) mod residual;
mod tests_kept;
