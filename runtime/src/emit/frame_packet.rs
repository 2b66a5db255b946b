//! Packets of the frames that the outermost one has entered: each goes on from a call instruction of the frame around it.
use super::failure::{Failure, fault};
use super::frame_state::{handled_at, state};
use super::host::Host;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::bytecode::shape::State;
use crate::ffi::callable;
use crate::split::{PacketPart, frame_packet};
use crate::trace::state::outcome::{Entered, StackEntry};
use pyo3::prelude::*;

/// What a packet names and carries.
#[derive(Debug)]
pub struct Packet {
    state: State,
    callable: Py<PyAny>,
    parts: Vec<PacketPart>,
    suspender: Py<PyAny>,
}

impl Packet {
    /// Of a frame that goes on where it stands.
    pub fn new(py: Python<'_>, entered: &Entered, host: &dyn Host) -> Result<Self, Failure> {
        let state = state(&entered.code, entered.at, &entered.stack, &entered.locals)?;
        let resumed = frame_packet(py, &entered.code, entered.at, &state)?;
        let callable = host.entered(py, &entered.function, &resumed.continuation)?;
        Ok(Self { state, callable, parts: resumed.parts, suspender: host.constants().suspender(py).unbind() })
    }
}

impl Writer<'_, '_> {
    /// Pushes what goes on with the first of the frames when it is called; that one goes on at the call of the next.
    pub(super) fn entered(&mut self, frames: &[Entered], packets: &[Packet]) -> Result<(), Failure> {
        let (Some((frame, frames)), Some((packet, packets))) = (frames.split_first(), packets.split_first()) else {
            return Err(fault("a call of no frame".into()));
        };
        self.constant(packet.suspender.bind(self.py).clone());
        self.constant(packet.callable.bind(self.py).clone());
        self.constant(callable::mark(self.py)?.clone());
        // No frame object outlives a frame that no traceback names.
        self.constant(self.py.None().into_bound(self.py));
        for part in &packet.parts {
            self.part(*part, frame, packet, &|writer| writer.entered(frames, packets))?;
        }
        self.plain(Op::BUILD_TUPLE, packet.parts.len() as u32 + 3);
        let (op, arg) = self.code.isa().subscription();
        self.plain(op, arg);
        Ok(())
    }

    fn part(
        &mut self,
        part: PacketPart,
        frame: &Entered,
        packet: &Packet,
        callee: &dyn Fn(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let missing = || fault("a packet carries what its frame does not hold".into());
        match part {
            PacketPart::Unbound => self.constant(self.py.None().into_bound(self.py)),
            PacketPart::Slot(slot) => {
                let value = frame.locals.get(slot).copied().flatten().ok_or_else(missing)?;
                self.load(value)?;
            }
            PacketPart::Handled(index) => {
                let value = handled_at(index, &frame.stack, &packet.state, frame.handled)?;
                self.load(value)?;
            }
            PacketPart::Stack(index) => match frame.stack.get(index) {
                Some(StackEntry::Object(value)) => self.load(*value)?,
                Some(StackEntry::Callee) => callee(self)?,
                Some(StackEntry::Null) | None => return Err(missing()),
            },
        }
        Ok(())
    }
}
