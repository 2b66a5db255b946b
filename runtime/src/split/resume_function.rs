//! The resume function, a continuation's code: it restores the state from its parameters and jumps into a copy of what can still run.
use super::async_generator::as_coroutine;
use super::constants::TransferConstants;
use super::continuation::Continuation;
use super::metadata::ResumeMetadata;
use super::packet_layout::PacketLayout;
use super::refusal::Refusal;
use crate::bytecode::shape::{Bound, Entry};
use crate::bytecode::{Code, Error, Handler, Instr, Label, Local, LocalKind, Position, Problem};
use generated::opcodes::Op;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

impl Continuation {
    /// The continuation's code: a function whose parameters are the packet's values, in order.
    pub fn build(&self, py: Python<'_>, constants: &TransferConstants) -> Result<Code, Refusal> {
        let layout = PacketLayout::new(&self.root, &self.key.state);
        Ok(build(py, self, &layout, constants)?)
    }
}

/// `RESUME_AFTER_YIELD_FROM`: no signals are handled here, where no handler of the program is. What the program itself runs
/// handles them: each of its own checks is made, natively before a transfer or in the copy after the prologue.
const UNINTERRUPTED: usize = 2;

/// The code of a continuation.
fn build(
    py: Python<'_>,
    continuation: &Continuation,
    layout: &PacketLayout,
    constants: &TransferConstants,
) -> Result<Code, Error> {
    let (root, resume) = (&continuation.root, continuation.key.resume);
    let Instr { id: target, position, .. } = root.instrs[resume];
    let mut code = as_coroutine(py, root, constants).as_ref().unwrap_or(root).rest(py, target);
    let names: Vec<String> = (0..layout.extras()).map(|index| format!(".state{index}")).collect();
    code.insert_hidden(layout.prefix, &names);
    code.take_by_position(layout.prefix + names.len());
    let ends_handling = matches!(root.instrs[resume].op, Op::POP_EXCEPT | Op::RERAISE);
    let mut prologue = Prologue { code: &mut code, instrs: Vec::new(), next: layout.prefix, ends_handling };
    prologue.first_argument();
    prologue.cells();
    if layout.delegates {
        prologue.push(Op::RETURN_GENERATOR, 0);
        prologue.push(Op::POP_TOP, 0);
    }
    prologue.slots(py, layout, constants);
    prologue.push(Op::RESUME, UNINTERRUPTED);
    prologue.stack(py, layout, constants).map_err(|error| Error::new(0, Problem::Object(error.to_string())))?;
    let jump = prologue.code.jump(Op::JUMP_FORWARD, target);
    prologue.instrs.push(jump);
    let mut instrs = prologue.instrs;
    instrs.iter_mut().for_each(|instr| instr.position = position);
    let length = instrs.len();
    code.insert(0, instrs);
    keep_lines(&mut code, root, layout);
    let first = code.index(target).ok_or_else(|| Error::new(0, Problem::UnknownLabel(target.0)))?;
    let metadata = ResumeMetadata::new(continuation, &code, length, first, layout);
    code.consts
        .push(Py::new(py, metadata).map_err(|error| Error::new(0, Problem::Object(error.to_string())))?.into_any());
    Ok(code)
}

/// Where an exception came from that the continuation may raise again, the frame stands then: each such line has an instruction, which
/// nothing runs where no other has the line.
fn keep_lines(code: &mut Code, root: &Code, layout: &PacketLayout) {
    let comes_here = |handler: Handler| handler.lasti && layout.stack.get(handler.depth as usize) == Some(&Entry::Unit);
    for instr in root.instrs.iter().filter(|instr| instr.handler.is_some_and(comes_here)) {
        let line = instr.position.line;
        if code.instrs.iter().all(|own| own.position.line != line) {
            let place = Instr { position: Position::line(line), ..code.instr(Op::NOP, 0) };
            code.instrs.push(place);
        }
    }
}

struct Prologue<'a> {
    code: &'a mut Code,
    instrs: Vec<Instr>,
    /// Next parameter beyond the plain locals.
    next: usize,
    /// Whether it goes on where a handler is left with the exception: the one handled before lies on the stack twice, or was taken up again.
    ends_handling: bool,
}

impl Prologue<'_> {
    fn push(&mut self, op: Op, arg: usize) {
        let instr = self.code.instr(op, arg as u32);
        self.instrs.push(instr);
    }

    /// Pushes what the slot holds, and empties it.
    fn take_slot(&mut self, slot: usize) {
        let instrs = self.code.take_slot(slot);
        self.instrs.extend(instrs);
    }

    /// `super()` without arguments takes the first argument out of its cell only in code that begins by making cells, which CPython's debug
    /// builds check. The cell that arrives is put into another one for as long as that takes.
    fn first_argument(&mut self) {
        let is_cell = self.code.locals.first().is_some_and(|first| first.kind.contains(LocalKind::CELL));
        let class = |local: &Local| local.kind.contains(LocalKind::FREE) && local.name == "__class__";
        if is_cell && self.code.locals.iter().any(class) {
            [Op::MAKE_CELL, Op::LOAD_DEREF, Op::STORE_FAST].into_iter().for_each(|op| self.push(op, 0));
        }
    }

    /// `locals()` and debuggers look into a cell only if a `MAKE_CELL` stands before the current instruction; ours
    /// are jumped over, for the cells arrive made.
    fn cells(&mut self) {
        let cells = |local: &Local| local.kind.contains(LocalKind::CELL);
        let slots: Vec<usize> = (0..self.code.locals.len()).filter(|slot| cells(&self.code.locals[*slot])).collect();
        if slots.is_empty() {
            return;
        }
        let over = self.code.instr(Op::NOP, 0);
        let jump = self.code.jump(Op::JUMP_FORWARD, over.id);
        self.instrs.push(jump);
        slots.into_iter().for_each(|slot| self.push(Op::MAKE_CELL, slot));
        self.instrs.push(over);
    }

    fn slots(&mut self, py: Python<'_>, layout: &PacketLayout, constants: &TransferConstants) {
        for slot in 0..layout.prefix {
            match layout.bound[slot] {
                Bound::Yes => {}
                Bound::No => self.push(Op::DELETE_FAST, slot),
                Bound::Maybe => self.unbind(py, slot, constants),
            }
        }
        let shift = layout.extras();
        for (slot, bound) in layout.slots.clone() {
            let parameter = self.take();
            self.take_slot(parameter);
            self.push(Op::STORE_FAST, slot + shift);
            if bound == Bound::Maybe {
                self.unbind(py, slot + shift, constants);
            }
        }
    }

    fn take(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// Empties the slot if it holds the mark.
    fn unbind(&mut self, py: Python<'_>, slot: usize, constants: &TransferConstants) {
        let next = self.code.instr(Op::NOP, 0);
        self.test(py, slot, constants, next.id);
        self.push(Op::DELETE_FAST, slot);
        self.instrs.push(next);
    }

    /// Jumps unless the slot holds the mark.
    fn test(&mut self, py: Python<'_>, slot: usize, constants: &TransferConstants, otherwise: Label) {
        let mark = self.code.constant(constants.unbound.bind(py)) as usize;
        self.push(Op::LOAD_FAST, slot);
        self.push(Op::LOAD_CONST, mark);
        self.push(Op::IS_OP, 0);
        let jump = self.code.unless(otherwise);
        self.instrs.push(jump);
    }

    /// Pushes NULL if the parameter is the mark, else the parameter; empties it.
    fn object_or_null(&mut self, py: Python<'_>, parameter: usize, constants: &TransferConstants) {
        let (object, next) = (self.code.take_slot(parameter), self.code.instr(Op::NOP, 0));
        self.test(py, parameter, constants, object.first().map_or(next.id, |first| first.id));
        self.push(Op::DELETE_FAST, parameter);
        self.push(Op::PUSH_NULL, 0);
        let jump = self.code.jump(Op::JUMP_FORWARD, next.id);
        self.instrs.push(jump);
        self.instrs.extend(object);
        self.instrs.push(next);
    }

    fn stack(&mut self, py: Python<'_>, layout: &PacketLayout, constants: &TransferConstants) -> PyResult<()> {
        for entry in &layout.stack {
            if *entry == Entry::Null {
                self.push(Op::PUSH_NULL, 0);
                continue;
            }
            let parameter = self.take();
            match entry {
                Entry::ObjectOrNull | Entry::IndexOrNull => self.object_or_null(py, parameter, constants),
                Entry::Unit => self.unit(py, parameter, constants),
                _ => self.take_slot(parameter),
            }
            if *entry == Entry::PreviousException {
                self.handle(py, constants);
            }
        }
        self.units(py, layout, constants)
    }

    /// What is on top becomes the exception that is handled; the one before takes its place.
    fn handle(&mut self, py: Python<'_>, constants: &TransferConstants) {
        if !self.ends_handling {
            self.push(Op::PUSH_EXC_INFO, 0);
            self.push(Op::POP_TOP, 0);
            return;
        }
        // `PUSH_EXC_INFO` takes an exception only, as CPython's debug builds check: where none is handled, one is for as long as it takes.
        let (nothing, next) = (self.code.instr(Op::POP_TOP, 0), self.code.instr(Op::NOP, 0));
        let none = self.code.constant(py.None().bind(py)) as usize;
        let mark = self.code.constant(constants.exception.bind(py)) as usize;
        self.push(Op::COPY, 1);
        self.push(Op::LOAD_CONST, none);
        self.push(Op::IS_OP, 1);
        let (jump, over) = (self.code.unless(nothing.id), self.code.jump(Op::JUMP_FORWARD, next.id));
        self.instrs.push(jump);
        self.push(Op::PUSH_EXC_INFO, 0);
        self.push(Op::POP_TOP, 0);
        self.instrs.extend([over, nothing]);
        self.push(Op::LOAD_CONST, mark);
        for (op, arg) in [(Op::PUSH_EXC_INFO, 0), (Op::POP_TOP, 0), (Op::COPY, 1), (Op::POP_EXCEPT, 0)] {
            self.push(op, arg);
        }
        self.instrs.push(next);
    }

    /// Pushes the place in the continuation's own code for that of the root's which the parameter holds; empties it.
    fn unit(&mut self, py: Python<'_>, parameter: usize, constants: &TransferConstants) {
        let placer = self.code.constant(constants.unit_placer.bind(py).as_any()) as usize;
        self.push(Op::LOAD_CONST, placer);
        self.take_slot(parameter);
        let subscribe = self.code.subscribe();
        self.instrs.push(subscribe);
    }

    /// Makes integers of the objects that travelled for them, and says so to those who ask what lies on the stack.
    fn units(&mut self, py: Python<'_>, layout: &PacketLayout, constants: &TransferConstants) -> PyResult<()> {
        let isa = self.code.isa();
        let told = |entry: Entry| entry == Entry::Unit || entry.may_be_integer(isa);
        let places: Vec<usize> = (0..layout.stack.len()).filter(|index| told(layout.stack[*index])).collect();
        if !places.is_empty() && isa.tags_units() {
            let writer = self.code.constant(constants.unit_writer.bind(py).as_any()) as usize;
            let argument = self.code.constant(PyTuple::new(py, &places)?.as_any()) as usize;
            self.push(Op::LOAD_CONST, writer);
            self.push(Op::LOAD_CONST, argument);
            let subscribe = self.code.subscribe();
            self.instrs.push(subscribe);
            self.push(Op::POP_TOP, 0);
        }
        places.iter().for_each(|place| self.push(Op::NOP, layout.stack.len() - place));
        Ok(())
    }
}
