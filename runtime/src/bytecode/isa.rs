//! The instruction set of a release, from the generated tables.
use super::op::{self, Op, OpFlags};

/// Numbers, caches, flags and stack effects of one release's instructions.
#[derive(Clone, Copy, Debug)]
pub struct Isa {
    ops: &'static [Option<Op>; 256],
}

static OPS: [Option<Op>; 256] = {
    let mut table = [None; 256];
    let mut i = 0;
    while i < op::TABLE.len() {
        table[op::TABLE[i].2 as usize] = Some(op::TABLE[i].0);
        i += 1;
    }
    table
};

impl Isa {
    /// The instruction set of the interpreter that this runtime is built for.
    #[must_use]
    pub fn running() -> Self {
        Self { ops: &OPS }
    }

    /// The operation with this number.
    #[must_use]
    pub fn op(self, number: u8) -> Option<Op> {
        self.ops[usize::from(number)]
    }

    fn row(op: Op) -> Option<&'static (Op, &'static str, u8, u8, u16)> {
        op::TABLE.iter().find(|row| row.0 == op)
    }

    /// The number of an operation.
    #[must_use]
    pub fn number(self, op: Op) -> Option<u8> {
        Self::row(op).map(|row| row.2)
    }

    /// Code units of inline cache after the operation.
    #[must_use]
    pub fn caches(self, op: Op) -> usize {
        Self::row(op).map_or(0, |row| usize::from(row.3))
    }

    /// CPython's `OPCODE_HAS_*` flags ([`OpFlags`]).
    #[must_use]
    pub fn has(self, op: Op, flag: u16) -> bool {
        Self::row(op).is_some_and(|row| row.4 & flag != 0)
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

    /// Values taken from the stack.
    #[must_use]
    pub fn popped(self, op: Op, arg: u32) -> i64 {
        i64::from(op::popped(op, i32::try_from(arg).unwrap_or(i32::MAX / 4)))
    }

    /// Values put on the stack.
    #[must_use]
    pub fn pushed(self, op: Op, arg: u32) -> i64 {
        i64::from(op::pushed(op, i32::try_from(arg).unwrap_or(i32::MAX / 4)))
    }
}
