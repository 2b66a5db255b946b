//! Puts a prologue before its frame and makes the function that runs both.
use super::failure::Failure;
use super::frame_end::{Frame, TailEntry};
use super::function_like::function_like;
use super::host::Host;
use super::prologue::{Arg, Prologue, PrologueInstr, RESUME_UNINTERRUPTED};
use crate::bytecode::{Code, Handler, Instr, Label, Op, Position};
use crate::names::name;
use crate::split::{Split, interrupts};
use pyo3::prelude::*;

/// A function and its code object.
pub struct AssembledFunction {
    /// Takes the values of all parameters positionally.
    pub function: Py<PyAny>,
    /// What it runs.
    pub code: Py<PyAny>,
}

/// Assembles prologue and frame; `uninterrupted`: no other thread may run between guards and prologue.
pub fn assemble<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    frame: Frame,
    prologue: Prologue,
    host: &dyn Host,
    uninterrupted: bool,
) -> Result<AssembledFunction, Failure> {
    let original = function.getattr(name!("__code__"))?;
    let slots = Slots { nlocals: original.getattr(name!("co_nlocals"))?.extract()?, inserted: 0, temporaries: 0 };
    let mut code = match frame {
        Frame::Whole(code) => whole(py, code, prologue, slots),
        Frame::Tail(tail) => self::tail(py, tail.split, tail.way, prologue, slots, host)?,
    };
    if uninterrupted {
        code.instrs
            .iter_mut()
            .filter(|instr| instr.op == Op::RESUME)
            .take(1)
            .for_each(|instr| instr.arg = RESUME_UNINTERRUPTED);
    }
    code.flatten();
    let code = code.assemble_in_place(py)?;
    let made = function_like(&code, function)?;
    Ok(AssembledFunction { function: made.unbind(), code: code.unbind() })
}

/// Assembles a frame that has no prologue.
pub fn assemble_split<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    split: Split,
    host: &dyn Host,
) -> Result<Py<PyAny>, Failure> {
    let Split { mut code, continuations, .. } = split;
    for continuation in &continuations {
        code.consts[continuation.constant] = host.continuation(py, continuation)?;
    }
    code.flatten();
    Ok(function_like(&code.assemble_in_place(py)?, function)?.unbind())
}

fn whole(py: Python<'_>, mut code: Code, prologue: Prologue, slots: Slots) -> Code {
    let position = Position::line(code.firstlineno);
    let at = code.instrs.len();
    put(py, &mut code, at, prologue, slots, position);
    code
}

fn tail(
    py: Python<'_>,
    split: Split,
    way: TailEntry,
    prologue: Prologue,
    slots: Slots,
    host: &dyn Host,
) -> Result<Code, Failure> {
    let Split { mut code, entry, body, continuations } = split;
    for continuation in &continuations {
        let callable = host.continuation(py, continuation)?;
        code.consts[continuation.constant] = callable;
    }
    let line = code.index(entry).and_then(|at| code.instrs.get(at)).map_or(Position::NONE, |instr| instr.position);
    let at = code.index(body).unwrap_or(0);
    let inserted = code.nlocals() - slots.nlocals;
    let written = put(py, &mut code, at, prologue, Slots { inserted, ..slots }, line);
    let jumps = way_in(py, &mut code, entry, way);
    let start = at + written + jumps.len();
    code.insert(at + written, jumps.into_iter().map(|jump| Instr { position: line, ..jump }));
    code.prune(start);
    Ok(code)
}

/// The jump from the prologue to the instruction that broke. A continuation's start handles no signals, and the loops that its trace
/// followed do not run again: signals are handled here, so that no program runs for ever without; so are pending ones.
fn way_in(py: Python<'_>, code: &mut Code, entry: Label, way: TailEntry) -> Vec<Instr> {
    if way == TailEntry::Jump && !code.is_continuation(py) {
        return vec![code.jump(Op::JUMP_FORWARD, entry)];
    }
    let handler = code.index(entry).and_then(|at| code.instrs.get(at)).and_then(|instr| instr.handler);
    interrupts::check(code, entry, handler).into()
}

/// How slots of the traced code are numbered after temporaries were inserted behind its plain locals.
#[derive(Clone, Copy)]
struct Slots {
    nlocals: usize,
    /// By splitting.
    inserted: usize,
    /// By the prologue.
    temporaries: usize,
}

impl Slots {
    fn original(self, slot: usize) -> usize {
        if slot < self.nlocals { slot } else { slot + self.inserted + self.temporaries }
    }

    fn temporary(self, index: usize) -> usize {
        self.nlocals + self.inserted + index
    }
}

/// Inserts the prologue at `at`; gives its length.
fn put(py: Python<'_>, code: &mut Code, at: usize, prologue: Prologue, slots: Slots, position: Position) -> usize {
    let names: Vec<String> = (0..prologue.temporaries).map(|index| format!(".value{index}")).collect();
    code.insert_hidden(slots.temporary(0), &names);
    let slots = Slots { temporaries: names.len(), ..slots };
    let at = at.min(code.instrs.len());
    let mut made = |written: Vec<PrologueInstr>| -> Vec<Instr> {
        written.into_iter().map(|written| instruction(py, code, written, slots, position)).collect()
    };
    let mut instrs = made(prologue.written);
    let handler = prologue
        .deoptimisation
        .map(|handler| (handler.watched, made(handler.written), handler.asks, made(handler.leaves)));
    let length = instrs.len();
    if let Some((watched, mut written, asks, leaves)) = handler {
        let entry =
            |written: &[Instr]| written.first().map(|first| Handler { target: first.id, depth: 0, lasti: false });
        written[asks].handler = entry(&leaves);
        let handler = entry(&written);
        instrs[watched].iter_mut().for_each(|instr| instr.handler = handler);
        code.insert(at, instrs);
        code.instrs.extend(written);
        code.instrs.extend(leaves);
    } else {
        code.insert(at, instrs);
    }
    length
}

fn instruction(py: Python<'_>, code: &mut Code, written: PrologueInstr, slots: Slots, position: Position) -> Instr {
    let PrologueInstr { op, arg, position: own } = written;
    let position = own.unwrap_or(position);
    let arg = match arg {
        Arg::Plain(arg) => arg,
        Arg::Slot(slot) => slots.original(slot) as u32,
        Arg::Temporary(index) => slots.temporary(index) as u32,
        Arg::Constant(object) => code.constant(object.bind(py)),
        Arg::Name(name) => code.name_index(&name) << code.isa().name_shift(op),
    };
    Instr { position, ..code.instr(op, arg) }
}
