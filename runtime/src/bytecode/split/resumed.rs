//! A frame that goes on in a continuation from its first moment: what its packet carries, in order.
use super::super::code::Code;
use super::super::shape::{Bound, Entry, State};
use super::{Cargo, Continuation, Key, Refusal, Way, lineage, supported};
use generated::opcodes::Op;
use pyo3::prelude::*;
use std::sync::Arc;

/// A value of a packet, in terms of the frame's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What a slot holds: an object, or a cell as such.
    Slot(usize),
    /// Nothing: the variable is unbound.
    Unbound,
    /// An entry of the value stack.
    Stack(usize),
    /// The exception that was pushed where this entry of the stack holds the one handled before.
    Handled(usize),
}

/// How a frame goes on in a continuation.
#[derive(Debug)]
pub struct Resumed {
    /// The continuation; its constant is none of any code.
    pub continuation: Continuation,
    /// The packet's values.
    pub parts: Vec<Part>,
}

/// The continuation that runs `code` from instruction `at` on, before which the frame is in `state`: every slot of it holds something
/// for certain, or nothing.
pub fn resumed(py: Python<'_>, code: &Code, at: usize, state: &State) -> Result<Resumed, Refusal> {
    supported(py, code)?;
    let start = code.instrs.iter().position(|instr| instr.op == Op::RESUME).ok_or(Refusal::Unreachable(at))?;
    let origin = lineage::Origin::of(py, code, start);
    let key = Key { resume: origin.instr(at)?, state: origin.state(state) };
    let cargo = Cargo::new(&origin.root, &key.state);
    let plain = (0..cargo.prefix).map(|slot| match cargo.bound[slot] {
        Bound::No => Part::Unbound,
        Bound::Yes | Bound::Maybe => Part::Slot(origin.slot(slot)),
    });
    let later = cargo.slots.iter().map(|(slot, _)| Part::Slot(origin.slot(*slot)));
    let stack = cargo.stack.iter().enumerate().filter_map(|(index, entry)| match entry {
        Entry::Null => None,
        Entry::PreviousException => Some(Part::Handled(index)),
        Entry::Object | Entry::ObjectOrNull => Some(Part::Stack(index)),
    });
    let parts = plain.chain(later).chain(stack).collect();
    let root = Arc::clone(&origin.root);
    Ok(Resumed { continuation: Continuation { key, constant: usize::MAX, way: Way::Next, root }, parts })
}
