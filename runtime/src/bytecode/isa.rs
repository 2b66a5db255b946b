//! The instruction set of a release, from the generated tables.
use generated::opcodes::{Op, OpFlags, Table};

/// Numbers, caches, flags and stack effects of one release's instructions.
#[derive(Clone, Copy, Debug)]
pub struct Isa {
    table: &'static Table,
}

impl Isa {
    /// The instruction set of the interpreter that this runtime is built for.
    #[must_use]
    pub fn running() -> Self {
        Self { table: &generated::opcodes::V3_13 }
    }

    /// The operation with this number; `None` for numbers that stand in no code object's `co_code`.
    #[must_use]
    pub fn op(self, number: u8) -> Option<Op> {
        let op = (self.table.decode)(number)?;
        (!matches!(op, Op::CACHE | Op::RESERVED | Op::ENTER_EXECUTOR)).then_some(op)
    }

    /// The number of an operation.
    #[must_use]
    pub fn number(self, op: Op) -> Option<u8> {
        (self.table.encode)(op)
    }

    /// Code units of inline cache after the operation.
    #[must_use]
    pub fn caches(self, op: Op) -> usize {
        usize::from((self.table.caches)(op))
    }

    /// Whether the operation has one of CPython's `OPCODE_HAS_*` properties.
    #[must_use]
    pub fn has(self, op: Op, flag: OpFlags) -> bool {
        (self.table.flags)(op).contains(flag)
    }

    /// Whether the argument is a jump distance.
    #[must_use]
    pub fn jumps(self, op: Op) -> bool {
        self.has(op, OpFlags::JUMP)
    }

    /// Whether the jump goes backwards.
    #[must_use]
    pub fn jumps_backward(self, op: Op) -> bool {
        matches!(op, Op::JUMP_BACKWARD | Op::JUMP_BACKWARD_NO_INTERRUPT)
    }

    /// Whether control never reaches the next instruction.
    #[must_use]
    pub fn ends_block(self, op: Op) -> bool {
        matches!(
            op,
            Op::RETURN_VALUE
                | Op::RETURN_CONST
                | Op::RAISE_VARARGS
                | Op::RERAISE
                | Op::JUMP_FORWARD
                | Op::JUMP_BACKWARD
                | Op::JUMP_BACKWARD_NO_INTERRUPT
                | Op::INTERPRETER_EXIT
        )
    }

    /// Values taken from the stack; `None` where the argument has no meaning for the operation.
    #[must_use]
    pub fn popped(self, op: Op, arg: u32) -> Option<usize> {
        let popped = (self.table.popped)(op, i32::try_from(arg).ok().filter(|arg| *arg < 1 << 29)?)?;
        usize::try_from(popped).ok()
    }

    /// Values put on the stack; `None` where the argument has no meaning for the operation.
    #[must_use]
    pub fn pushed(self, op: Op, arg: u32) -> Option<usize> {
        let pushed = (self.table.pushed)(op, i32::try_from(arg).ok().filter(|arg| *arg < 1 << 29)?)?;
        usize::try_from(pushed).ok()
    }
}
