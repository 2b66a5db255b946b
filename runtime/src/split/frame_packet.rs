//! The frame packet of a frame that goes on in a continuation without having run natively: what it carries, in order.
use super::continuation::{Continuation, Exit, Key};
use super::metadata::RootCode;
use super::packet_layout::PacketLayout;
use super::refusal::{Refusal, supported};
use crate::bytecode::Code;
use crate::bytecode::shape::{Bound, Entry, State};
use pyo3::prelude::*;
use std::sync::Arc;

/// A value of a packet, in terms of the frame's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketPart {
    /// What a slot holds: an object, or a cell as such.
    Slot(usize),
    /// Nothing: the variable is unbound.
    Unbound,
    /// An entry of the value stack.
    Stack(usize),
    /// The exception that was pushed where this entry of the stack holds the one handled before.
    Handled(usize),
}

/// The continuation in which a frame goes on, and the values that it gets.
#[derive(Debug)]
pub struct FramePacket {
    /// The continuation; its constant is none of any code.
    pub continuation: Continuation,
    /// The packet's values.
    pub parts: Vec<PacketPart>,
}

/// The continuation that runs `code` from instruction `at` on, before which the frame is in `state`: every slot of it holds something
/// for certain, or nothing.
pub fn frame_packet(py: Python<'_>, code: &Code, at: usize, state: &State) -> Result<FramePacket, Refusal> {
    supported(py, code)?;
    let start = code.start().ok_or(Refusal::Unreachable(at))?;
    let root = RootCode::of(py, code, start);
    let key = Key { resume: root.instr(at)?, state: root.state(state) };
    let layout = PacketLayout::new(&root.root, &key.state);
    let plain = (0..layout.prefix).map(|slot| match layout.bound[slot] {
        Bound::No => PacketPart::Unbound,
        Bound::Yes | Bound::Maybe => PacketPart::Slot(root.slot(slot)),
    });
    let later = layout.slots.iter().map(|(slot, _)| PacketPart::Slot(root.slot(*slot)));
    let stack = layout.stack.iter().enumerate().filter_map(|(index, entry)| match entry {
        Entry::Null => None,
        Entry::PreviousException => Some(PacketPart::Handled(index)),
        Entry::Object | Entry::Unit | Entry::ObjectOrNull | Entry::IndexOrNull => Some(PacketPart::Stack(index)),
    });
    let parts = plain.chain(later).chain(stack).collect();
    let code = Arc::clone(&root.root);
    Ok(FramePacket { continuation: Continuation { key, constant: usize::MAX, way: Exit::Next, root: code }, parts })
}
