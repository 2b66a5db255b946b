//! A split code object and its continuations, as data.
use crate::bytecode::shape::State;
use crate::bytecode::{Code, Label, flag};
use pyo3::prelude::*;
use std::sync::Arc;

/// A split code object.
#[derive(Debug)]
pub struct Split {
    /// The original with temporaries and transfer blocks: started at its first instruction it behaves like the original
    /// up to `entry`, and transfers the frame after it.
    pub code: Code,
    /// The instruction that runs natively: where a prologue jumps to once locals and stack are as the state says.
    pub entry: Label,
    /// First instruction after the frame's start (`MAKE_CELL`…, `RESUME`): where a prologue is inserted.
    pub body: Label,
    /// One per successor of the instruction.
    pub continuations: Vec<Continuation>,
}

/// What runs after a transfer.
#[derive(Clone, Debug)]
pub struct Continuation {
    /// Names it among the continuations of the same root: equal keys, equal code.
    pub key: Key,
    /// Index in the split code's constants where the continuation's callable belongs.
    pub constant: usize,
    /// How control came here.
    pub way: Exit,
    pub(super) root: Arc<Code>,
}

/// What a continuation depends on, besides the root code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Index of the root's instruction that runs first.
    pub resume: usize,
    /// Stack and slots before it.
    pub state: State,
}

/// A way out of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// To the next instruction.
    Next,
    /// To its jump target.
    Jump,
    /// To its exception handler.
    Raise,
}

impl Continuation {
    /// The line where it goes on; -1 where there is none.
    #[must_use]
    pub fn line(&self) -> i32 {
        self.root.line(self.key.resume)
    }

    /// Whether its code has other instructions than the root's besides the prologue: that of an asynchronous generator has, so
    /// that places in it do not stand for places in the root.
    pub(crate) fn is_rebuilt(&self) -> bool {
        self.root.flags & flag::ASYNC_GENERATOR != 0
    }

    /// The code object that the continuation, and continuations of it, are made from.
    #[must_use]
    pub fn root(&self) -> &Py<PyAny> {
        &self.root.original
    }
}
