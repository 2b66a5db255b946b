//! Hand-written: what a release says about opcodes.

use super::Op;

/// What a function says of each opcode, in the order of [`Op::ALL`].
macro_rules! tabulated {
    ($of:ident) => {{
        let (mut all, mut index) = ([$of(Op::ALL[0]); Op::ALL.len()], 0);
        while index < all.len() {
            all[index] = $of(Op::ALL[index]);
            index += 1;
        }
        all
    }};
}

/// What a release's metadata says about an opcode: `OPCODE_HAS_ARG` and its companions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct OpFlags(u32);

impl OpFlags {
    /// Flags from their bits.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The union of flags.
    pub(crate) const fn all_of(flags: &[OpFlags]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < flags.len() {
            bits |= flags[i].0;
            i += 1;
        }
        Self(bits)
    }

    /// Whether every flag of `other` is set.
    pub const fn contains(self, other: OpFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The opcode tables of one release.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Major and minor version.
    pub release: (u8, u8),
    /// The unspecialised opcode with this number.
    pub decode: fn(u8) -> Option<Op>,
    /// The number of an opcode in this release.
    pub encode: fn(Op) -> Option<u8>,
    /// The opcode that a number stands for, specialised and instrumented ones included.
    pub base: fn(u8) -> Option<Op>,
    /// Inline cache entries, in code units, in the order of [`Op::ALL`].
    pub caches: [u8; Op::ALL.len()],
    /// Stack entries taken, by `oparg`; `None` also where a release says only the net effect.
    pub popped: fn(Op, i32) -> Option<i32>,
    /// Stack entries left, by `oparg`; `None` also where a release says only the net effect.
    pub pushed: fn(Op, i32) -> Option<i32>,
    /// Net effect on the stack, by `oparg` and whether the jump is taken (1 or 0).
    pub effect: fn(Op, i32, i32) -> Option<i32>,
    /// The metadata flags, in the order of [`Op::ALL`].
    pub flags: [OpFlags; Op::ALL.len()],
}

impl Table {
    /// The net effect on the stack, as `dis.stack_effect(…, jump=False)` gives it; `None` if the release does not have the opcode.
    pub fn stack_effect(&self, op: Op, oparg: i32) -> Option<i32> {
        (self.effect)(op, oparg, 0)
    }
}
