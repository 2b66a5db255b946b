//! The instruction set of a release, from the generated tables.
use generated::opcodes::{Op, OpFlags, Table};

// The table of the release that the crate is built for.
include!(concat!(env!("OUT_DIR"), "/opcodes.rs"));

static RUNNING: &Table = &TABLE;

/// Numbers, caches, flags and stack effects of one release's instructions.
#[derive(Clone, Copy, Debug)]
pub struct Isa {
    table: &'static Table,
}

impl Isa {
    /// The instruction set of the interpreter that this runtime is built for.
    #[must_use]
    pub fn running() -> Self {
        Self { table: RUNNING }
    }

    /// Whether the NULL of a call without a receiver lies below the callable, not above it.
    #[must_use]
    pub fn null_comes_first(self) -> bool {
        self.minor() < 13
    }

    /// The minor version of the release.
    #[must_use]
    pub fn minor(self) -> u8 {
        self.table.release.1
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
        self.table.caches.get(op as usize).map_or(0, |caches| usize::from(*caches))
    }

    /// Whether the operation has one of CPython's `OPCODE_HAS_*` properties.
    #[must_use]
    pub fn has(self, op: Op, flag: OpFlags) -> bool {
        self.table.flags.get(op as usize).is_some_and(|flags| flags.contains(flag))
    }

    /// Whether the argument is the distance to another instruction.
    #[must_use]
    pub fn jumps(self, op: Op) -> bool {
        self.has(op, OpFlags::JUMP)
    }

    /// Whether control can go where the argument points: not for 3.14's `END_ASYNC_FOR`, which names its loop for monitors.
    #[must_use]
    pub fn branches(self, op: Op) -> bool {
        self.jumps(op) && op != Op::END_ASYNC_FOR
    }

    /// Whether the distance goes backwards.
    #[must_use]
    pub fn jumps_backward(self, op: Op) -> bool {
        matches!(
            op,
            Op::JUMP_BACKWARD
                | Op::JUMP_BACKWARD_NO_INTERRUPT
                | Op::POP_JUMP_BACKWARD_IF_FALSE
                | Op::POP_JUMP_BACKWARD_IF_TRUE
                | Op::POP_JUMP_BACKWARD_IF_NONE
                | Op::POP_JUMP_BACKWARD_IF_NOT_NONE
                | Op::END_ASYNC_FOR
        )
    }

    /// The operation that does what `op` does with a target ahead (or behind), if the release has one.
    #[must_use]
    pub fn directed(self, op: Op, forward: bool) -> Option<Op> {
        if self.jumps_backward(op) != forward {
            return Some(op);
        }
        match op {
            Op::JUMP_FORWARD => Some(Op::JUMP_BACKWARD),
            Op::JUMP_BACKWARD | Op::JUMP_BACKWARD_NO_INTERRUPT => Some(Op::JUMP_FORWARD),
            Op::POP_JUMP_FORWARD_IF_FALSE => Some(Op::POP_JUMP_BACKWARD_IF_FALSE),
            Op::POP_JUMP_FORWARD_IF_TRUE => Some(Op::POP_JUMP_BACKWARD_IF_TRUE),
            Op::POP_JUMP_FORWARD_IF_NONE => Some(Op::POP_JUMP_BACKWARD_IF_NONE),
            Op::POP_JUMP_FORWARD_IF_NOT_NONE => Some(Op::POP_JUMP_BACKWARD_IF_NOT_NONE),
            Op::POP_JUMP_BACKWARD_IF_FALSE => Some(Op::POP_JUMP_FORWARD_IF_FALSE),
            Op::POP_JUMP_BACKWARD_IF_TRUE => Some(Op::POP_JUMP_FORWARD_IF_TRUE),
            Op::POP_JUMP_BACKWARD_IF_NONE => Some(Op::POP_JUMP_FORWARD_IF_NONE),
            Op::POP_JUMP_BACKWARD_IF_NOT_NONE => Some(Op::POP_JUMP_FORWARD_IF_NOT_NONE),
            _ => None,
        }
    }

    /// How far the index into `co_names` is shifted in the argument.
    #[must_use]
    pub fn name_shift(self, op: Op) -> u32 {
        match (op, self.table.release.1) {
            (Op::LOAD_GLOBAL, _) | (Op::LOAD_ATTR, 12..) => 1,
            (Op::LOAD_SUPER_ATTR, _) | (Op::IMPORT_NAME, 15..) => 2,
            _ => 0,
        }
    }

    /// Net effect on the stack, on the way to the jump target or to the next instruction.
    #[must_use]
    pub fn effect(self, op: Op, arg: u32, jump: bool) -> Option<i64> {
        let arg = i32::try_from(arg).ok().filter(|arg| *arg < 1 << 29)?;
        (self.table.effect)(op, arg, i32::from(jump)).map(i64::from)
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

    /// The instructions that end a `for` loop; where its iterator is exhausted the interpreter skips them.
    #[must_use]
    pub fn loop_end(self) -> &'static [Op] {
        match self.table.release.1 {
            ..=11 => &[],
            12 => &[Op::END_FOR],
            _ => &[Op::END_FOR, Op::POP_TOP],
        }
    }

    /// Whether handlers get the place where the exception came from as something that is no object.
    #[must_use]
    pub fn tags_units(self) -> bool {
        self.minor() > 13
    }

    /// Whether an iterator takes two places of the stack, the second of which is empty or holds an integer that is no object.
    #[must_use]
    pub fn pairs_iterators(self) -> bool {
        self.minor() > 14
    }

    /// The instruction, with its argument, that subscribes what lies below with the value on top.
    #[must_use]
    pub fn subscription(self) -> (Op, u32) {
        /// Among the operators of `BINARY_OP`.
        const NB_SUBSCR: u32 = 26;
        if self.number(Op::BINARY_SUBSCR).is_some() { (Op::BINARY_SUBSCR, 0) } else { (Op::BINARY_OP, NB_SUBSCR) }
    }

    /// Whether an instruction after `SEND` takes off what had been delegated to; else `SEND` itself does.
    #[must_use]
    pub fn ends_sends(self) -> bool {
        self.number(Op::END_SEND).is_some()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_often_stands_at_its_opcode() {
        assert!(Op::ALL.iter().enumerate().all(|(index, op)| *op as usize == index));
    }
}
