//! One arm per operation of the instruction set; the families are in the files beside `step.rs`.
//!
//! In: a frame and its next instruction. Out: the frame's new stack and variables, and where control goes.
//! Must not know: how a trace begins or ends.
pub(crate) mod assertions;
pub(crate) mod asynchronous;
pub(crate) mod attributes;
pub(crate) mod calls;
pub(crate) mod classes;
pub(crate) mod containers;
pub(crate) mod control;
pub(crate) mod eval_exec;
pub(crate) mod exception_groups;
pub(crate) mod exceptions;
pub(crate) mod functions;
pub(crate) mod generators;
mod guesses;
pub(crate) mod intrinsics;
pub(crate) mod matching;
pub(crate) mod names;
pub(crate) mod open_loops;
pub(crate) mod operators;
pub(crate) mod results;
pub(crate) mod stack;
pub(crate) mod step;
mod strings;
