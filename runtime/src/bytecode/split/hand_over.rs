//! The block after the natively run instruction: takes the frame's state down into a packet and returns it.
use super::super::code::Code;
use super::super::instr::{Handler, Instr, Label, Position};
use super::super::op::Op;
use super::super::shape::{Bound, Entry, State};
use super::{Cargo, Continuation, Marks, Refusal, Split, Way, continuation, is_free};
use pyo3::prelude::*;

/// Puts a hand-over on every way out of instruction `at` of `split.code` (a copy of `original`).
pub(super) fn install(
    py: Python<'_>,
    original: &Code,
    split: &mut Split,
    at: usize,
    state: &State,
    marks: &Marks,
) -> Result<(), Refusal> {
    let mut ways = Ways { py, original, marks, blocks: Vec::new(), temporaries: reserve(&mut split.code, state) };
    let native = original.instrs[at];
    let mut after = state.clone();
    after.step(&split.code, &split.code.instrs[at].clone());
    let mut last = at;
    if split.code.instrs.get(at + 1).is_some_and(|next| next.offset.is_none() && next.op == Op::PUSH_NULL) {
        last = at + 1;
        after.stack.push(Entry::Null);
    }
    let at_id = split.code.instrs[at].id;
    if let (Some(handler), Some(raised)) = (native.handler, state.raised(&native)) {
        let block = ways.block(split, Way::Raise, handler.target, raised, native.position)?;
        for index in at..=last {
            split.code.instrs[index].handler = Some(Handler { target: block, ..handler });
        }
    }
    if let Some(target) = native.target {
        let (target, head, after) = skipped(original, target, native.op, after.clone());
        let block = ways.block(split, Way::Jump, target, after, native.position)?;
        let block = ways.precede(split, block, head);
        let index = split.code.index(at_id).ok_or(Refusal::Unreachable(at))?;
        split.code.instrs[index].target = Some(block);
    }
    if !original.isa().ends_block(native.op) {
        let next = original.instrs.get(at + 1).ok_or(Refusal::Unreachable(at + 1))?.id;
        ways.block(split, Way::Next, next, after, native.position)?;
        let block = ways.blocks.pop().unwrap_or_default();
        split.code.insert(last + 1, block);
    }
    for block in ways.blocks {
        split.code.instrs.extend(block);
    }
    Ok(())
}

/// Slots for the stack's entries, after the plain locals.
fn reserve(code: &mut Code, state: &State) -> usize {
    let names: Vec<String> = (0..state.stack.len() + 4).map(|index| format!(".stack{index}")).collect();
    let at = code.nlocals();
    code.insert_locals(at, &names);
    at
}

/// A loop's end is skipped by the interpreter where the iterator is exhausted; a copy of it heads the block.
fn skipped(code: &Code, target: Label, op: Op, mut state: State) -> (Label, Vec<Instr>, State) {
    let mut head = Vec::new();
    let Some(mut index) = code.index(target) else { return (target, head, state) };
    if op == Op::FOR_ITER {
        for expected in [Op::END_FOR, Op::POP_TOP] {
            if let Some(instr) = code.instrs.get(index).filter(|instr| instr.op == expected) {
                state.step(code, instr);
                head.push(*instr);
                index += 1;
            }
        }
    }
    (code.instrs.get(index).map_or(target, |instr| instr.id), head, state)
}

struct Ways<'a, 'py> {
    py: Python<'py>,
    original: &'a Code,
    marks: &'a Marks,
    blocks: Vec<Vec<Instr>>,
    /// First of the slots for stack entries.
    temporaries: usize,
}

impl Ways<'_, '_> {
    /// Builds the block and its continuation; gives the block's label.
    fn block(
        &mut self,
        split: &mut Split,
        way: Way,
        resume: Label,
        state: State,
        position: Position,
    ) -> Result<Label, Refusal> {
        let resume = self.original.index(resume).ok_or(Refusal::Unreachable(resume.0 as usize))?;
        let cargo = Cargo::new(self.original, &state)?;
        split.code.consts.push(self.py.None());
        let constant = split.code.consts.len() - 1;
        let code = continuation::build(self.py, self.original, resume, &cargo, self.marks);
        split.continuations.push(Continuation { code, constant, way, resume });
        let mut block =
            Block { code: &mut split.code, instrs: Vec::new(), rescue: Vec::new(), shift: 0, first: self.temporaries };
        block.shift = block.code.locals.len() - self.original.locals.len();
        block.write(self.py, &cargo, constant, self.marks);
        let mut instrs = block.instrs;
        instrs.extend(block.rescue);
        instrs.iter_mut().for_each(|instr| instr.position = position);
        let label = instrs.first().map_or(Label(0), |instr| instr.id);
        self.blocks.push(instrs);
        Ok(label)
    }

    fn precede(&mut self, split: &mut Split, block: Label, head: Vec<Instr>) -> Label {
        let mut label = block;
        if let Some(instrs) = self.blocks.last_mut() {
            for instr in head.into_iter().rev() {
                label = split.code.new_label();
                instrs.insert(0, Instr { id: label, handler: None, offset: None, ..instr });
            }
        }
        label
    }
}

struct Block<'a> {
    code: &'a mut Code,
    instrs: Vec<Instr>,
    /// Handlers for unbound variables, after the block.
    rescue: Vec<Instr>,
    /// How far the slots after the plain locals have moved.
    shift: usize,
    /// First temporary.
    first: usize,
}

impl Block<'_> {
    fn push(&mut self, op: Op, arg: usize) {
        let instr = self.code.instr(op, arg as u32);
        self.instrs.push(instr);
    }

    fn write(&mut self, py: Python<'_>, cargo: &Cargo, constant: usize, marks: &Marks) {
        let carried = self.take_down(py, cargo, marks);
        self.push(Op::LOAD_CONST, constant);
        let mut depth = 1;
        for slot in 0..cargo.prefix {
            self.load(py, slot, cargo.bound[slot], depth, marks);
            depth += 1;
        }
        for (slot, bound) in cargo.slots.clone() {
            self.load(py, slot + self.shift, bound, depth, marks);
            depth += 1;
        }
        for temporary in carried {
            self.push(Op::LOAD_FAST_AND_CLEAR, temporary);
            depth += 1;
        }
        self.push(Op::BUILD_TUPLE, depth as usize);
        self.push(Op::RETURN_VALUE, 0);
    }

    /// Stores the stack's entries, top first; gives the slots of those that travel, bottom first.
    fn take_down(&mut self, py: Python<'_>, cargo: &Cargo, marks: &Marks) -> Vec<usize> {
        let mut carried = Vec::new();
        for (index, entry) in cargo.stack.iter().enumerate().rev() {
            let temporary = self.first + index;
            match entry {
                Entry::Null => self.push(Op::STORE_FAST, temporary),
                Entry::PreviousException => {
                    self.handled_exception(py, marks, temporary);
                    carried.push(temporary);
                }
                Entry::Object | Entry::ObjectOrNull => {
                    self.push(Op::STORE_FAST, temporary);
                    carried.push(temporary);
                }
            }
        }
        carried.reverse();
        carried
    }

    /// The exception being handled comes up when another one is pushed; then both are let go.
    fn handled_exception(&mut self, py: Python<'_>, marks: &Marks, temporary: usize) {
        let mark = self.code.constant(marks.exception.bind(py)) as usize;
        self.push(Op::LOAD_CONST, mark);
        self.push(Op::PUSH_EXC_INFO, 0);
        self.push(Op::POP_TOP, 0);
        self.push(Op::COPY, 1);
        self.push(Op::STORE_FAST, temporary);
        self.push(Op::POP_EXCEPT, 0);
        self.push(Op::POP_EXCEPT, 0);
    }

    fn load(&mut self, py: Python<'_>, slot: usize, bound: Bound, depth: u32, marks: &Marks) {
        match bound {
            Bound::Yes if is_free(self.code, slot) => self.push(Op::LOAD_FAST, slot),
            Bound::Yes => self.push(Op::LOAD_FAST_AND_CLEAR, slot),
            Bound::No => {
                let none = self.code.constant(py.None().bind(py)) as usize;
                self.push(Op::LOAD_CONST, none);
            }
            Bound::Maybe => self.load_maybe(py, slot, depth, marks),
        }
    }

    /// Tries to load; the handler loads the mark instead.
    fn load_maybe(&mut self, py: Python<'_>, slot: usize, depth: u32, marks: &Marks) {
        let mark = self.code.constant(marks.unbound.bind(py));
        let (caught, next) = (self.code.instr(Op::POP_TOP, 0), self.code.instr(Op::NOP, 0));
        let handler = Some(Handler { target: caught.id, depth, lasti: false });
        let load = self.code.instr(Op::LOAD_FAST_CHECK, slot as u32);
        self.instrs.extend([Instr { handler, ..load }, next]);
        let (mark, back) = (self.code.instr(Op::LOAD_CONST, mark), self.code.jump(Op::JUMP_BACKWARD, next.id));
        self.rescue.extend([caught, mark, back]);
    }
}
