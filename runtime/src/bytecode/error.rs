//! Errors of code objects, with their place.
use generated::opcodes::Op;

/// A code object that cannot be decoded, edited or assembled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("offset {offset}: {problem}")]
pub struct Error {
    /// Offset in bytes into `co_code` as `dis` prints it (into the table named by the problem, for table problems).
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// The kinds of problems.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Problem {
    #[error("co_code has an odd number of bytes")]
    OddLength,
    #[error("opcode {0} does not exist in this release")]
    UnknownOpcode(u8),
    #[error("{0:?} has no number in this release")]
    NotInRelease(Op),
    #[error("code ends inside an instruction ({0})")]
    Truncated(&'static str),
    #[error("the inline caches of {0:?} hold something")]
    FullCache(Op),
    #[error("more than three EXTENDED_ARG before an instruction")]
    TooManyExtendedArgs,
    #[error("{op:?} jumps to offset {target}, which is not the start of an instruction")]
    BadJumpTarget { op: Op, target: i64 },
    #[error("{op:?} has argument {arg}, but there are only {count} {what}")]
    BadArgument { op: Op, arg: u32, count: usize, what: &'static str },
    #[error("{op:?} has argument {arg}, which means nothing")]
    BadStackArgument { op: Op, arg: u32 },
    #[error("exception table: {0}")]
    ExceptionTable(&'static str),
    #[error("exception table entry names offset {0}, which is not the start of an instruction")]
    ExceptionTableOffset(usize),
    #[error("line table: {0}")]
    LineTable(&'static str),
    #[error("{op:?} pops {popped} values from a stack of {depth}")]
    StackUnderflow { op: Op, popped: u32, depth: u32 },
    #[error("stack depth is {first} on one way and {second} on another")]
    StackMismatch { first: u32, second: u32 },
    #[error("the stack is {needed} deep after it, but co_stacksize is {declared}")]
    StackSize { declared: u32, needed: u32 },
    #[error("stack deeper than {0}")]
    StackTooDeep(u32),
    #[error("{0:?} does not lead to the END_FOR (and, in 3.13, POP_TOP) that it skips")]
    LoopEnd(Op),
    #[error("{0:?} is not followed by the CALL that it may run in place of")]
    Parted(Op),
    #[error("control flow runs off the end of the code")]
    FallsOffTheEnd,
    #[error("{0:?} cannot jump in the direction of its target in this release")]
    JumpDirection(Op),
    #[error("label {0} belongs to no instruction")]
    UnknownLabel(u32),
    #[error("code too large")]
    TooLarge,
    #[error("code object: {0}")]
    Object(String),
}

impl Error {
    pub(crate) fn new(offset: usize, problem: Problem) -> Self {
        Self { offset, problem }
    }
}
