//! Dropping instructions that no way leads to.
use super::code::{Code, Indices};
use super::instr::{Instr, Label};
use generated::opcodes::Op;

impl Code {
    /// Drops what neither the first `start` instructions nor what they lead to reaches, in any way that the interpreter knows of; those
    /// first ones stay. Before where a jump or a handler leads, the handler stays the one that it was: jumps that handle signals (up to
    /// 3.12) and calls that enter another frame (3.13) look there.
    pub(crate) fn prune(&mut self, start: usize) {
        let met = vec![Met::Never; self.instrs.len()];
        let mut reach = Reach { code: self, indices: self.indices(), met, work: Vec::new() };
        (0..start).for_each(|index| reach.run(index));
        while let Some(index) = reach.work.pop() {
            reach.follow(index);
        }
        let met = reach.met;
        for (instr, _) in self.instrs.iter_mut().zip(&met).filter(|(_, met)| **met == Met::Looked) {
            *instr = Instr { op: Op::NOP, arg: 0, target: None, prefixes: 0, ..*instr };
        }
        let mut met = met.into_iter();
        self.instrs.retain(|_| met.next() != Some(Met::Never));
    }
}

/// How the interpreter comes to an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Met {
    Never,
    /// It only looks for its handler.
    Looked,
    Run,
}

struct Reach<'a> {
    code: &'a Code,
    indices: Indices,
    met: Vec<Met>,
    work: Vec<usize>,
}

impl Reach<'_> {
    fn run(&mut self, index: usize) {
        if let Some(met) = self.met.get_mut(index).filter(|met| **met != Met::Run) {
            *met = Met::Run;
            self.work.push(index);
        }
    }

    /// Where an instruction leads other than to the next one.
    fn lead(&mut self, to: Option<Label>) {
        let mut next = to;
        while let Some(index) = next.take().and_then(|label| self.indices.get(label)) {
            self.run(index);
            let before = index.checked_sub(1).filter(|before| self.met[*before] == Met::Never);
            next = before.and_then(|before| {
                self.met[before] = Met::Looked;
                self.code.instrs[before].handler.map(|handler| handler.target)
            });
        }
    }

    fn follow(&mut self, index: usize) {
        let instr = &self.code.instrs[index];
        self.lead(instr.handler.map(|handler| handler.target));
        self.lead(instr.target);
        if !self.code.isa().ends_block(instr.op) {
            self.run(index + 1);
        }
        // What is thrown into a frame that delegates goes on where the SEND before says. CPython, up to 3.11: `_gen_throw`.
        let before = index.checked_sub(1).filter(|_| instr.op == Op::YIELD_VALUE);
        if let Some(before) = before.filter(|before| self.code.instrs[*before].op == Op::SEND) {
            self.run(before);
        }
    }
}
