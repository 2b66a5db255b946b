//! A prologue: the instructions that run before a frame goes on.
use crate::bytecode::{Op, Position};
use pyo3::prelude::*;
use std::ops::Range;

/// An argument whose number is known only when everything is written.
#[derive(Debug)]
pub enum Arg {
    /// As it is.
    Plain(u32),
    /// A slot of the traced code.
    Slot(usize),
    /// A temporary.
    Temporary(usize),
    /// An object, loaded as a constant.
    Constant(Py<PyAny>),
    /// A name.
    Name(String),
}

/// An instruction of the prologue.
#[derive(Debug)]
pub struct PrologueInstr {
    /// What it does.
    pub op: Op,
    /// To what.
    pub arg: Arg,
    /// The place in the source it belongs to, where that is not the line the frame goes on at.
    pub position: Option<Position>,
}

/// What runs before the frame goes on.
#[derive(Debug)]
pub struct Prologue {
    /// In order.
    pub written: Vec<PrologueInstr>,
    /// How many temporaries it uses.
    pub temporaries: usize,
    /// The handler of exceptions of the graph.
    pub deoptimisation: Option<Deoptimisation>,
}

/// What the prologue does where its call of the graph raises: the frame runs its original code from the start.
#[derive(Debug)]
pub struct Deoptimisation {
    /// The instructions that call the graph.
    pub watched: Range<usize>,
    /// What handles an exception there.
    pub written: Vec<PrologueInstr>,
    /// The instruction of these that asks whether the original code runs, and raises if it does not.
    pub asks: usize,
    /// What handles an exception there.
    pub leaves: Vec<PrologueInstr>,
}

/// The frame that a prologue is written for.
#[derive(Clone, Copy, Debug)]
pub struct TracedFrame<'a, 'py> {
    /// The function; a continuation's takes its parameters by position.
    pub function: &'a Bound<'py, PyAny>,
    /// The values of its parameters while it was traced.
    pub arguments: &'a [Option<Py<PyAny>>],
}

/// `RESUME_AFTER_YIELD_FROM`: the one at which the interpreter handles no signals.
pub(super) const RESUME_UNINTERRUPTED: u32 = 2;
