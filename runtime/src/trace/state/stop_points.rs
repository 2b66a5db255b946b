//! Where a trace can stop in a frame, and how a call came about.
use crate::bytecode::{Code, Op, flag};

/// How a call comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOrigin {
    /// Within an instruction, C code in between perhaps.
    Within,
    /// By a call instruction of a frame where the trace can stop, and nothing else; `exposed` as in [`StopPoints`].
    Instruction { exposed: bool },
}

/// Whether and where the trace can stop in a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StopPoints {
    /// Whether it can.
    pub(crate) possible: bool,
    /// Index of the first instruction before which it can.
    pub(crate) first: usize,
    /// Whether no handler of a caller is in force.
    pub(crate) exposed: bool,
}

impl StopPoints {
    pub(crate) fn outermost(first: usize) -> Self {
        Self { possible: true, first, exposed: true }
    }

    /// In a frame entered so.
    pub(crate) fn of(origin: CallOrigin, code: &Code) -> Self {
        let CallOrigin::Instruction { exposed } = origin else { return Self::default() };
        let first = code.instrs.iter().position(|instr| instr.op == Op::RESUME);
        match first {
            Some(resume) if code.flags & (flag::OPTIMIZED | flag::GENERATOR_LIKE) == flag::OPTIMIZED => {
                Self { possible: true, first: resume + 1, exposed }
            }
            _ => Self::default(),
        }
    }
}
