//! The block after the natively run instruction: packs the frame's state into a frame packet and returns it.
use super::constants::TransferConstants;
use super::packet_layout::PacketLayout;
use crate::bytecode::shape::{Bound, Entry};
use crate::bytecode::{Code, Handler, Instr, LocalKind};
use generated::opcodes::Op;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

/// A block while it is written.
pub(super) struct Block<'a> {
    pub code: &'a mut Code,
    pub instrs: Vec<Instr>,
    /// Exception handlers of the block, after it.
    pub handlers: Vec<Instr>,
    /// This code's slot for a root's slot.
    pub slot: &'a dyn Fn(usize) -> usize,
    /// First temporary.
    pub first: usize,
    /// Whether the frame ends, and another one that stays goes on with the packet.
    pub packs: bool,
    /// The stack entry that says where the exception came from, and what it is to say.
    pub unit: Option<(usize, u32)>,
    /// The stack entries that are to become iterators, with the sequences below them.
    pub indices: Vec<usize>,
}

impl Block<'_> {
    pub fn push(&mut self, op: Op, arg: usize) {
        let instr = self.code.instr(op, arg as u32);
        self.instrs.push(instr);
    }

    /// Writes the block: packs what the frame holds, and returns the packet or delegates.
    pub fn write(
        &mut self,
        py: Python<'_>,
        layout: &PacketLayout,
        constant: usize,
        constants: &TransferConstants,
    ) -> PyResult<()> {
        let carried = self.take_down(py, layout, constants)?;
        let delegates = layout.delegates && !self.packs;
        let callee: Vec<_> = if delegates {
            let delegator = self.code.constant(constants.delegator.bind(py).as_any());
            [delegator, constant as u32].map(|loaded| self.code.instr(Op::LOAD_CONST, loaded)).into()
        } else {
            let mark = self.code.constant(constants.packet.bind(py));
            let begin = [self.code.instr(Op::LOAD_CONST, constant as u32), self.code.instr(Op::LOAD_CONST, mark)];
            begin.into_iter().chain(self.survivors(py, constants)).collect()
        };
        let mut depth = if delegates { callee.len() as u32 } else { 3 };
        self.instrs.extend(callee);
        let plain = (0..layout.prefix).map(|slot| (slot, layout.bound[slot]));
        for (slot, bound) in plain.chain(layout.slots.clone()) {
            self.load(py, (self.slot)(slot), bound, depth, constants);
            depth += 1;
        }
        for (temporary, bound) in carried {
            self.load(py, temporary, bound, depth, constants);
            depth += 1;
        }
        if delegates {
            self.delegate(py, depth as usize - 2, constants);
            return Ok(());
        }
        if layout.namespace {
            let namespace = self.code.load_namespace(py, constants);
            self.instrs.extend(namespace);
            depth += 1;
        }
        self.push(Op::BUILD_TUPLE, depth as usize);
        self.push(Op::RETURN_VALUE, 0);
        Ok(())
    }

    /// Pushes the surviving frames.
    fn survivors(&mut self, py: Python<'_>, constants: &TransferConstants) -> Vec<Instr> {
        let none = self.code.constant(py.None().bind(py));
        let none = self.code.instr(Op::LOAD_CONST, none);
        let survivors = self.code.constant(constants.survivors.bind(py).as_any());
        vec![self.code.instr(Op::LOAD_CONST, survivors), none, self.code.subscribe()]
    }

    /// Stores the stack's entries, top first; gives the slots of those that travel, bottom first.
    fn take_down(
        &mut self,
        py: Python<'_>,
        layout: &PacketLayout,
        constants: &TransferConstants,
    ) -> PyResult<Vec<(usize, Bound)>> {
        let mut carried = Vec::new();
        let replaced = self.unit.map(|(at, _)| at);
        let isa = self.code.isa();
        let reads = |index: usize| layout.stack[index].may_be_integer(isa) && replaced != Some(index);
        if !self.indices.is_empty() || (0..layout.stack.len()).any(reads) {
            let reader = self.code.constant(constants.unit_reader.bind(py).as_any());
            let indices = PyTuple::new(py, &self.indices)?;
            let indices = self.code.constant(indices.as_any());
            let (subscribe, drop) = (self.code.subscribe(), self.code.instr(Op::POP_TOP, 0));
            let loads = [reader, indices].map(|constant| self.code.instr(Op::LOAD_CONST, constant));
            self.instrs.extend(loads.into_iter().chain([subscribe, drop]));
        }
        for (index, entry) in layout.stack.iter().enumerate().rev() {
            let temporary = self.first + index;
            match entry {
                Entry::Null => self.push(Op::STORE_FAST, temporary),
                Entry::PreviousException => {
                    self.handled_exception(py, constants, temporary);
                    carried.push((temporary, Bound::Yes));
                }
                Entry::Object | Entry::Unit => {
                    if let Some((_, unit)) = self.unit.filter(|(at, _)| *at == index) {
                        let unit = self.code.constant(PyInt::new(py, unit).as_any()) as usize;
                        self.push(Op::POP_TOP, 0);
                        self.push(Op::LOAD_CONST, unit);
                    }
                    self.push(Op::STORE_FAST, temporary);
                    carried.push((temporary, Bound::Yes));
                }
                Entry::ObjectOrNull | Entry::IndexOrNull => {
                    self.push(Op::STORE_FAST, temporary);
                    carried.push((temporary, Bound::Maybe));
                }
            }
        }
        carried.reverse();
        Ok(carried)
    }

    /// Pushing another exception gives the one being handled; then both are popped.
    fn handled_exception(&mut self, py: Python<'_>, constants: &TransferConstants, temporary: usize) {
        let mark = self.code.constant(constants.exception.bind(py)) as usize;
        self.push(Op::LOAD_CONST, mark);
        self.push(Op::PUSH_EXC_INFO, 0);
        self.push(Op::POP_TOP, 0);
        self.push(Op::COPY, 1);
        self.push(Op::STORE_FAST, temporary);
        self.push(Op::POP_EXCEPT, 0);
        self.push(Op::POP_EXCEPT, 0);
    }

    fn load(&mut self, py: Python<'_>, slot: usize, bound: Bound, depth: u32, constants: &TransferConstants) {
        match bound {
            Bound::Yes if is_free(self.code, slot) => self.push(Op::LOAD_FAST, slot),
            Bound::Yes => {
                let instrs = self.code.take_slot(slot);
                self.instrs.extend(instrs);
            }
            Bound::No => {
                let none = self.code.constant(py.None().bind(py)) as usize;
                self.push(Op::LOAD_CONST, none);
            }
            Bound::Maybe => self.load_maybe(py, slot, depth, constants),
        }
    }

    /// Tries to load; the handler loads the mark instead.
    fn load_maybe(&mut self, py: Python<'_>, slot: usize, depth: u32, constants: &TransferConstants) {
        let mark = self.code.constant(constants.unbound.bind(py));
        let (caught, next) = (self.code.instr(Op::POP_TOP, 0), self.code.instr(Op::NOP, 0));
        let handler = Some(Handler { target: caught.id, depth, lasti: false });
        let load = self.code.load_checked(slot);
        self.instrs.extend([Instr { handler, ..load }, next]);
        let (mark, back) =
            (self.code.instr(Op::LOAD_CONST, mark), self.code.jump(Op::JUMP_BACKWARD_NO_INTERRUPT, next.id));
        self.handlers.extend([caught, mark, back]);
    }
}

fn is_free(code: &Code, slot: usize) -> bool {
    code.locals.get(slot).is_some_and(|local| local.kind.contains(LocalKind::FREE))
}
