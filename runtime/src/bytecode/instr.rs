//! One decoded instruction.
use super::isa::Isa;
use generated::opcodes::Op;

/// `INTRINSIC_STOPITERATION_ERROR`, the argument of `CALL_INTRINSIC_1` in the handler that the compiler puts around a generator's body.
pub const STOPITERATION_ERROR: u32 = 3;

/// Stable name of an instruction: survives insertion and deletion around it; jumps and handlers refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// Source position of an instruction, as CPython's location table keeps it; -1 where unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// One-based line; -1: the instruction has no location at all.
    pub line: i32,
    /// Line of the end.
    pub end_line: i32,
    /// Zero-based column in UTF-8 bytes.
    pub column: i32,
    /// Column of the end.
    pub end_column: i32,
}

impl Position {
    /// No location.
    pub const NONE: Self = Self { line: -1, end_line: -1, column: -1, end_column: -1 };

    /// A line without columns.
    #[must_use]
    pub fn line(line: i32) -> Self {
        Self { line, end_line: line, column: -1, end_column: -1 }
    }
}

/// The exception-table entry that covers an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handler {
    /// First instruction of the handler.
    pub target: Label,
    /// The stack is cut to this depth before `lasti` (if wanted) and the exception are pushed.
    pub depth: u32,
    /// Whether the offset of the raising instruction is pushed below the exception.
    pub lasti: bool,
}

/// One instruction with its argument complete (`EXTENDED_ARG` folded in) and its jump resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    /// Its name in this [`Code`](super::Code).
    pub id: Label,
    /// Operation, without specialisation and instrumentation.
    pub op: Op,
    /// Argument; without meaning where `target` is set.
    pub arg: u32,
    /// Where it jumps to, for jumps.
    pub target: Option<Label>,
    /// What catches exceptions raised here.
    pub handler: Option<Handler>,
    /// Source position.
    pub position: Position,
    /// Offset in bytes of the operation itself (after its `EXTENDED_ARG`s) in the code object decoded from; `None` for inserted instructions.
    pub offset: Option<u32>,
    /// How many `EXTENDED_ARG`s the original had. A jump back over its own starts from it.
    pub(crate) prefixes: u8,
}

impl Instr {
    /// Where it leads other than to the next instruction: its jump's target, its handler.
    pub(crate) fn leads_to(&self, isa: Isa) -> impl Iterator<Item = Label> {
        let jump = self.target.filter(|_| isa.branches(self.op));
        [jump, self.handler.map(|handler| handler.target)].into_iter().flatten()
    }
}
