//! The transfer of a frame to continuations: a block on every way out of the natively run instruction.
use super::block::Block;
use super::constants::TransferConstants;
use super::continuation::{Continuation, Exit, Key, Split};
use super::interrupts;
use super::metadata::RootCode;
use super::packet_layout::PacketLayout;
use super::refusal::Refusal;
use crate::bytecode::shape::State;
use crate::bytecode::{Code, Error, Handler, Instr, Label, Position, Problem};
use generated::opcodes::Op;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

/// Where a code object is split.
pub(super) struct Site<'a> {
    pub original: &'a Code,
    pub root: &'a RootCode,
    pub at: usize,
    pub constants: &'a TransferConstants,
}

/// Puts a transfer on every way out of the instruction in `split.code`, a copy of the original.
pub(super) fn install(py: Python<'_>, split: &mut Split, site: &Site<'_>, state: State) -> Result<(), Refusal> {
    let Site { original: code, at, constants, .. } = *site;
    let native = code.instrs[at];
    let after = |jump: bool| {
        let mut after = state.clone();
        after.step(code, &native, jump);
        after
    };
    let (jumped, mut after) = (after(true), after(false));
    let run = natively_run(code, at);
    code.instrs[at + 1..at + run].iter().for_each(|instr| after.step(code, instr, false));
    let next = code.instrs.get(at + run).map(|next| next.id);
    // A handler's stack is cut to less than the instruction's, plus `lasti` and the exception.
    let temporaries = reserve(&mut split.code, state.stack.len().max(after.stack.len()).max(jumped.stack.len()) + 2);
    let mut exits = Exits { py, site, blocks: Vec::new(), temporaries };
    let mut throwing = None;
    if let Some(cleanup) = cleanup_throw(code, at) {
        exits.thrown(split, cleanup, &state)?;
    } else if let Some(handler) = exits.raised(split, at, &state)? {
        for index in region(&split.code, native.id, next)? {
            split.code.instrs[index].handler = Some(handler);
        }
    }
    if let Some(target) = native.target.filter(|_| code.isa().branches(native.op)) {
        let raised = interrupts::raising(code, &native)
            .and_then(|before| Some((before.handler?, jumped.raised(before)?)))
            .map(|(handler, raised)| {
                let target = exits.block(split, Exit::Raise, handler.target, &raised, at)?;
                Ok::<_, Refusal>(Handler { target, ..handler })
            })
            .transpose()?;
        let (target, head, after) = skipped(code, target, native.op, jumped);
        let block = exits.block(split, Exit::Jump, target, &after, at)?;
        let block = exits.precede(split, block, head);
        let landing = interrupts::land(&mut split.code, &native, block, raised);
        let index = split.code.index(native.id).ok_or(Refusal::Unreachable(at))?;
        split.code.instrs[index].target = Some(landing);
        throwing = c_throws_past(code, at).then_some((landing, next));
    }
    if !code.isa().ends_block(native.op) {
        let next = next.ok_or(Refusal::Unreachable(at + 1))?;
        let label = exits.block(split, Exit::Next, next, &after, at)?;
        let first = exits.blocks.last().and_then(|block| block.first());
        let block_position = first.map_or(Position::NONE, |first| first.position);
        let index = region(&split.code, native.id, Some(next))?.end;
        if stands_apart(code, at) {
            let jump = Instr { position: block_position, ..split.code.jump(Op::JUMP_FORWARD, label) };
            split.code.insert(index, [jump]);
        } else {
            split.code.insert(index, exits.blocks.pop().unwrap_or_default());
        }
    }
    if let Some(next) = next {
        interrupts::keep(&mut split.code, code, next, code.instrs[at + run - 1].handler);
    }
    if let Some((landing, Some(suspended))) = throwing {
        keep_send(&mut split.code, &native, suspended, landing);
    }
    for block in exits.blocks {
        split.code.instrs.extend(block);
    }
    if code.is_continuation(py) && may_run_code(native.op) {
        copy_to_survivors(py, split, constants, native.id);
    }
    Ok(())
}

/// Whether the instruction may run code that reads surviving frames.
fn may_run_code(op: Op) -> bool {
    let name = op.name();
    ["CALL", "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "BINARY", "STORE_SUBSCR", "COMPARE", "CONTAINS", "FORMAT"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || matches!(op, Op::KW_NAMES | Op::PRECALL | Op::FOR_ITER | Op::GET_ITER | Op::UNPACK_SEQUENCE)
}

/// Copies the variables to the frame's survivors before the instruction runs.
fn copy_to_survivors(py: Python<'_>, split: &mut Split, constants: &TransferConstants, native: Label) {
    let Some(index) = split.code.index(native) else { return };
    // The instructions of a call belong together.
    let within = index.checked_sub(1).and_then(|before| split.code.instrs.get(before));
    if within.is_some_and(|before| matches!(before.op, Op::KW_NAMES | Op::PRECALL)) {
        return;
    }
    let (sharer, none) =
        (split.code.constant(constants.sharer.bind(py).as_any()), split.code.constant(py.None().bind(py)));
    let load = |code: &mut Code, constant| code.instr(Op::LOAD_CONST, constant);
    let (sharer, none) = (load(&mut split.code, sharer), load(&mut split.code, none));
    let steps = [sharer, none, split.code.subscribe(), split.code.instr(Op::POP_TOP, 0)];
    let Instr { handler, position, .. } = split.code.instrs[index];
    split.entry = sharer.id;
    split.code.insert(index, steps.map(|step| Instr { handler, position, ..step }));
}

/// Whether a handler, and each that takes what it raises, does nothing but unbind variables and raise again: they run where they are, so
/// that the frame that raised is the one that ends. What a continuation exchanges exceptions with has no place in its root to go on at.
fn only_raises_again(site: &Site<'_>, handler: Label) -> bool {
    const CLEANUP: [Op; 10] = [
        Op::NOP,
        Op::LOAD_COMMON_CONSTANT,
        Op::CALL_INTRINSIC_1,
        Op::COPY,
        Op::POP_EXCEPT,
        Op::LOAD_CONST,
        Op::STORE_FAST,
        Op::STORE_DEREF,
        Op::DELETE_FAST,
        Op::DELETE_DEREF,
    ];
    let code = site.original;
    let goes_on = |at: usize, op: Op| CLEANUP.contains(&op) || op != Op::RERAISE && site.root.instr(at).is_err();
    let raised_again = |handler: &Label| {
        let mut rest = (code.index(*handler)?..code.instrs.len()).map(|at| (at, &code.instrs[at]));
        rest.find(|(at, instr)| !goes_on(*at, instr.op)).map(|(_, end)| end).filter(|end| end.op == Op::RERAISE)
    };
    let mut next = Some(handler);
    // No more handlers than instructions: they could lead in a circle.
    for _ in &code.instrs {
        let Some(label) = next else { return true };
        let Some(end) = raised_again(&label) else { return false };
        next = end.handler.map(|handler| handler.target);
    }
    false
}

/// The `CLEANUP_THROW` that gets what is thrown into the frame where it delegates at this `YIELD_VALUE`.
fn cleanup_throw(code: &Code, at: usize) -> Option<usize> {
    let native = code.instrs.get(at).filter(|native| native.op == Op::YIELD_VALUE)?;
    code.index(native.handler?.target).filter(|target| code.instrs[*target].op == Op::CLEANUP_THROW)
}

/// Whether this is a `SEND` that C reads when something is thrown into the suspended frame: up to 3.11 it takes what stands
/// before the `YIELD_VALUE` for a `SEND`, and goes on where that jumps to, once what is delegated to has ended.
fn c_throws_past(code: &Code, at: usize) -> bool {
    let next = code.instrs.get(at + 1).map(|next| next.op);
    code.isa().minor() < 12 && code.instrs[at].op == Op::SEND && next == Some(Op::YIELD_VALUE)
}

/// Puts a `SEND` that nothing runs before the `YIELD_VALUE`, where a transfer parts it from its own, and the way to
/// `landing` where C looks for it: close by, for C knows no `EXTENDED_ARG`.
fn keep_send(code: &mut Code, send: &Instr, suspended: Label, landing: Label) {
    let (Some(index), Some(end)) = (code.index(suspended), send.target.and_then(|end| code.index(end))) else { return };
    let away = Instr { position: send.position, ..code.jump(Op::JUMP_FORWARD, landing) };
    let read = Instr { position: send.position, ..code.jump(Op::SEND, away.id) };
    code.insert(end, [away]);
    code.insert(index, [read]);
}

/// How many instructions run before the transfer: a loop's end belongs together, for the interpreter skips it as a whole,
/// so does a call, whose first instructions leave what is on no stack, and a `yield` with the `RESUME` that tells C whether
/// the frame delegates (up to 3.12) and whether closing it runs a handler (from 3.13 on).
fn natively_run(code: &Code, at: usize) -> usize {
    let rest = code.instrs.get(at..).unwrap_or_default();
    let end = code.isa().loop_end();
    if rest.first().is_some_and(|first| Some(&first.op) == end.first()) {
        return rest.iter().zip(end).take_while(|(instr, op)| instr.op == **op).count();
    }
    let tells = |op: Op| matches!(op, Op::KW_NAMES | Op::PRECALL | Op::YIELD_VALUE);
    1 + rest.iter().take_while(|instr| tells(instr.op)).count()
}

/// Whether the block must not stand behind the instruction, where it would part a `SEND` from its target: up to 3.11 it is C
/// that jumps there, and it knows no `EXTENDED_ARG`.
fn stands_apart(code: &Code, at: usize) -> bool {
    code.isa().minor() < 12 && matches!(code.instrs[at].op, Op::YIELD_VALUE | Op::RESUME)
}

/// The instructions that stand for the original one: it, and what splitting it up put behind it.
fn region(code: &Code, first: Label, next: Option<Label>) -> Result<std::ops::Range<usize>, Refusal> {
    let start = code.index(first).ok_or(Refusal::Unreachable(first.0 as usize))?;
    let end = next.and_then(|next| code.index(next)).unwrap_or(code.instrs.len());
    Ok(start..end)
}

/// Slots for the stack's entries, after the plain locals.
fn reserve(code: &mut Code, count: usize) -> usize {
    let names: Vec<String> = (0..count).map(|index| format!(".stack{index}")).collect();
    let at = code.nlocals();
    code.insert_hidden(at, &names);
    at
}

/// A loop's end is skipped by the interpreter where the iterator is exhausted; a copy of it heads the block.
fn skipped(code: &Code, target: Label, op: Op, mut state: State) -> (Label, Vec<Instr>, State) {
    let mut head = Vec::new();
    let Some(mut index) = code.index(target) else { return (target, head, state) };
    if op == Op::FOR_ITER {
        for expected in code.isa().loop_end() {
            if let Some(instr) = code.instrs.get(index).filter(|instr| instr.op == *expected) {
                state.step(code, instr, false);
                head.push(*instr);
                index += 1;
            }
        }
    }
    (code.instrs.get(index).map_or(target, |instr| instr.id), head, state)
}

struct Exits<'a, 'py> {
    py: Python<'py>,
    site: &'a Site<'a>,
    blocks: Vec<Vec<Instr>>,
    /// First of the slots for stack entries.
    temporaries: usize,
}

impl Exits<'_, '_> {
    /// A block for what the instruction `from` raises in this state: the handler that leads there; `None` where its own one stays.
    fn raised(&mut self, split: &mut Split, from: usize, state: &State) -> Result<Option<Handler>, Refusal> {
        let native = self.site.original.instrs[from];
        let (Some(handler), Some(raised)) = (native.handler, state.raised(&native)) else { return Ok(None) };
        if only_raises_again(self.site, handler.target) {
            return Ok(None);
        }
        let target = self.block(split, Exit::Raise, handler.target, &raised, from)?;
        Ok(Some(Handler { target, ..handler }))
    }

    /// What is thrown into a frame that delegates gets to its `CLEANUP_THROW` there: that belongs to frames which something was thrown into,
    /// as CPython's debug builds check, and a continuation begins like any call. The transfer comes after it.
    fn thrown(&mut self, split: &mut Split, cleanup: usize, state: &State) -> Result<(), Refusal> {
        let code = self.site.original;
        let Some(mut thrown) = state.raised(&code.instrs[self.site.at]) else { return Ok(()) };
        let raised = self.raised(split, cleanup, &thrown)?;
        let instr = code.instrs[cleanup];
        thrown.step(code, &instr, false);
        let next = code.instrs.get(cleanup + 1).ok_or(Refusal::Unreachable(cleanup + 1))?.id;
        let label = self.block(split, Exit::Next, next, &thrown, cleanup)?;
        let index = split.code.index(instr.id).ok_or(Refusal::Unreachable(cleanup))?;
        split.code.instrs[index].handler = raised.or(instr.handler);
        let away = Instr { position: instr.position, ..split.code.jump(Op::JUMP_FORWARD, label) };
        split.code.insert(index + 1, [away]);
        Ok(())
    }

    /// Builds the block for a way out of the instruction `from`, and names its continuation; gives the block's label.
    fn block(
        &mut self,
        split: &mut Split,
        way: Exit,
        resume: Label,
        state: &State,
        from: usize,
    ) -> Result<Label, Refusal> {
        let Site { original, root, constants, .. } = self.site;
        let Instr { handler, position, .. } = original.instrs[from];
        let index = original.index(resume).ok_or(Refusal::Unreachable(resume.0 as usize))?;
        let unit = match (way, handler) {
            (Exit::Raise, Some(Handler { lasti: true, depth, .. })) => {
                original.root_unit(self.py, from).map(|unit| (depth as usize, unit))
            }
            _ => None,
        };
        let key = Key { resume: root.instr(index)?, state: root.state(state) };
        let layout = PacketLayout::new(&root.root, &key.state);
        let resumed = key.resume;
        // A place for the continuation, which no other constant is: constants are found by identity.
        split.code.consts.push(PyList::empty(self.py).into_any().unbind());
        let constant = split.code.consts.len() - 1;
        split.continuations.push(Continuation { key, constant, way, root: Arc::clone(&root.root) });
        let shift = split.code.locals.len() - original.locals.len();
        let slot = |of_root: usize| {
            let slot = root.slot(of_root);
            if slot < self.temporaries { slot } else { slot + shift }
        };
        let mut block = Block {
            code: &mut split.code,
            instrs: Vec::new(),
            handlers: Vec::new(),
            slot: &slot,
            first: self.temporaries,
            packs: original.is_continuation(self.py),
            unit,
            indices: root.indices(state),
        };
        let written = block.write(self.py, &layout, constant, constants);
        written.map_err(|error| Error::new(index, Problem::Object(error.to_string())))?;
        let mut instrs = block.instrs;
        instrs.extend(block.handlers);
        // The frame's start stands on the `def` line, which no trace function may see as a line that runs.
        let starts = original.instrs.get(self.site.at).is_some_and(|instr| instr.op == Op::RESUME);
        let position = match (starts, layout.delegates) {
            (false, _) => position,
            (true, false) => Position::NONE,
            // A frame that stays must have a line to show.
            (true, true) => Position::line(root.root.line(resumed)),
        };
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
