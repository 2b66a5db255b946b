//! What a frame packet carries.
use crate::bytecode::shape::{Bound, Entry, Shape, State};
use crate::bytecode::{Code, flag};

/// What a frame packet carries, in the order of the continuation's parameters.
#[derive(Clone, Debug)]
pub(super) struct PacketLayout {
    /// Plain locals that become parameters in their own slots: `0..prefix`.
    pub prefix: usize,
    /// Later slots (cells, free variables) that hold something.
    pub slots: Vec<(usize, Bound)>,
    /// The value stack.
    pub stack: Shape,
    /// All slots.
    pub bound: Vec<Bound>,
    /// Whether the frame's variables lie in a namespace, which then is the packet's last value.
    pub namespace: bool,
    /// Whether the frame stays and delegates.
    pub delegates: bool,
}

impl PacketLayout {
    /// For a frame of this code in this state.
    pub fn new(code: &Code, state: &State) -> Self {
        let nlocals = code.nlocals();
        let prefix = state.bound[..nlocals].iter().rposition(|bound| *bound != Bound::No).map_or(0, |last| last + 1);
        let later = (nlocals..code.locals.len()).filter(|slot| state.bound[*slot] != Bound::No);
        let slots = later.map(|slot| (slot, state.bound[slot])).collect();
        Self {
            prefix,
            slots,
            stack: state.stack.clone(),
            bound: state.bound.clone(),
            namespace: code.flags & flag::OPTIMIZED == 0,
            delegates: code.flags & flag::GENERATOR_LIKE != 0,
        }
    }

    /// Stack entries that travel: objects as themselves, a handled exception for each previous one.
    fn carried(&self) -> usize {
        self.stack.iter().filter(|entry| **entry != Entry::Null).count()
    }

    /// Parameters beyond the plain locals.
    pub fn extras(&self) -> usize {
        self.slots.len() + self.carried()
    }
}
