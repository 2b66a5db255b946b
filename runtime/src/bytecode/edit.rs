//! Editing a decoded code object: insert, delete, retarget, new labels, locals, constants.
use super::code::{Code, Local, LocalKind};
#[cfg(slotrt_hooks)]
use super::flag;
use super::instr::{Instr, Label, Position};
use generated::opcodes::{Op, OpFlags};
use pyo3::prelude::*;

impl Code {
    /// The call's arguments, `*args` and `**kwargs` included, become parameters by position.
    #[cfg(slotrt_hooks)]
    pub(crate) fn flatten(&mut self) {
        self.take_by_position(self.arguments());
    }

    /// The first `count` variables are the parameters, all by position.
    #[cfg(slotrt_hooks)]
    pub(crate) fn take_by_position(&mut self, count: usize) {
        self.argcount = count as u32;
        (self.posonlyargcount, self.kwonlyargcount) = (0, 0);
        self.flags &= !(flag::VARARGS | flag::VARKEYWORDS);
    }

    /// A label that no instruction has yet.
    pub fn new_label(&mut self) -> Label {
        let label = Label(self.next_label);
        self.next_label += 1;
        label
    }

    /// A new instruction without jump, handler and position; insert it with [`Code::insert`].
    pub fn instr(&mut self, op: Op, arg: u32) -> Instr {
        Instr {
            id: self.new_label(),
            op,
            arg,
            target: None,
            handler: None,
            position: Position::NONE,
            offset: None,
            prefixes: 0,
        }
    }

    /// A new jump.
    pub fn jump(&mut self, op: Op, target: Label) -> Instr {
        Instr { target: Some(target), ..self.instr(op, 0) }
    }

    /// Inserts instructions before the one at `index`; jumps to that one still go to it, past the inserted ones.
    pub fn insert(&mut self, index: usize, instrs: impl IntoIterator<Item = Instr>) {
        self.instrs.splice(index..index, instrs);
    }

    /// Deletes the instruction at `index`; jumps and handlers to it go to the one after it.
    pub fn delete(&mut self, index: usize) {
        let removed = self.instrs.remove(index);
        if let Some(next) = self.instrs.get(index).map(|instr| instr.id) {
            self.retarget(removed.id, next);
        }
    }

    /// Moves the instructions of `range` before the one that is at `to` now. Jumps and handlers follow them; control that
    /// came to the first one, or left the last one, by running on now does so at the new place.
    pub fn relocate(&mut self, range: std::ops::Range<usize>, to: usize) {
        let count = range.len();
        if to <= range.start {
            self.instrs[to..range.end].rotate_right(count);
        } else if to >= range.end {
            self.instrs[range.start..to].rotate_left(count);
        }
    }

    /// Sends every jump and handler that goes to `from` to `to`.
    pub fn retarget(&mut self, from: Label, to: Label) {
        for instr in &mut self.instrs {
            if instr.target == Some(from) {
                instr.target = Some(to);
            }
            if let Some(handler) = &mut instr.handler
                && handler.target == from
            {
                handler.target = to;
            }
        }
    }

    /// Index of this object (by identity) in `consts`, appended if it is not there.
    pub fn constant(&mut self, object: &Bound<'_, PyAny>) -> u32 {
        let found = self.consts.iter().position(|constant| constant.as_ptr() == object.as_ptr());
        let index = found.unwrap_or_else(|| {
            self.consts.push(object.clone().unbind());
            self.consts.len() - 1
        });
        index as u32
    }

    /// Index of this name in `names`, appended if it is not there.
    pub fn name_index(&mut self, name: &str) -> u32 {
        let found = self.names.iter().position(|known| known == name);
        let index = found.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        index as u32
    }

    /// Appends a plain local after the existing ones and gives its index; cells and free variables move up by one.
    pub fn add_local(&mut self, name: &str) -> u32 {
        let at = self.nlocals();
        self.insert_locals(at, &[name.to_owned()]);
        at as u32
    }

    /// Inserts plain locals at localsplus index `at` (at most the number of locals); every argument that names a later slot moves up.
    pub fn insert_locals(&mut self, at: usize, names: &[String]) {
        self.insert_slots(at, names, LocalKind::LOCAL);
    }

    /// The same for slots that the program does not have: `locals()` passes them over (up to 3.11 only where the variables lie
    /// in a namespace).
    pub fn insert_hidden(&mut self, at: usize, names: &[String]) {
        self.insert_slots(at, names, LocalKind::LOCAL | LocalKind::HIDDEN);
    }

    fn insert_slots(&mut self, at: usize, names: &[String], kind: LocalKind) {
        let locals = names.iter().map(|name| Local { name: name.clone(), kind });
        self.locals.splice(at..at, locals);
        let (at, count) = (at as u32, names.len() as u32);
        let moved = |slot: u32| if slot >= at { slot + count } else { slot };
        let packed = |instr: &Instr| [moved(instr.arg >> 4), moved(instr.arg & 15)];
        self.split_fused(|instr| packed(instr).iter().any(|slot| *slot > 15));
        let isa = self.isa();
        for instr in &mut self.instrs {
            if fused(instr.op).is_some() {
                let [high, low] = packed(instr);
                instr.arg = high << 4 | low;
            } else if (isa.has(instr.op, OpFlags::LOCAL) || isa.has(instr.op, OpFlags::FREE))
                && instr.op != Op::COPY_FREE_VARS
            {
                instr.arg = moved(instr.arg);
            }
        }
    }

    /// Has each load of a variable make a reference that counts: one that is borrowed (3.14) must not be stored in another variable, which may
    /// outlive the one that it was borrowed from.
    pub(crate) fn count_references(&mut self) {
        for instr in &mut self.instrs {
            instr.op = match instr.op {
                Op::LOAD_FAST_BORROW => Op::LOAD_FAST,
                Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW => Op::LOAD_FAST_LOAD_FAST,
                other => other,
            };
        }
    }

    /// Splits instructions that pack two slots, and that are asked for, into the two that they stand for.
    pub(crate) fn split_fused(&mut self, wanted: impl Fn(&Instr) -> bool) {
        let parts = |instr: &Instr| fused(instr.op).filter(|_| wanted(instr));
        if !self.instrs.iter().any(|instr| parts(instr).is_some()) {
            return;
        }
        let mut instrs = Vec::with_capacity(self.instrs.len());
        for instr in std::mem::take(&mut self.instrs) {
            let Some((first, second)) = parts(&instr) else {
                instrs.push(instr);
                continue;
            };
            let id = self.new_label();
            instrs.push(Instr { op: first, arg: instr.arg >> 4, ..instr });
            instrs.push(Instr { id, op: second, arg: instr.arg & 15, offset: None, ..instr });
        }
        self.instrs = instrs;
    }
}

/// The two operations of an instruction whose argument packs two slots.
pub(crate) fn fused(op: Op) -> Option<(Op, Op)> {
    match op {
        Op::LOAD_FAST_LOAD_FAST => Some((Op::LOAD_FAST, Op::LOAD_FAST)),
        Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW => Some((Op::LOAD_FAST_BORROW, Op::LOAD_FAST_BORROW)),
        Op::STORE_FAST_LOAD_FAST => Some((Op::STORE_FAST, Op::LOAD_FAST)),
        Op::STORE_FAST_STORE_FAST => Some((Op::STORE_FAST, Op::STORE_FAST)),
        _ => None,
    }
}
