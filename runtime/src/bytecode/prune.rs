//! Drops instructions that are unreachable.
use super::code::{Code, Indices};
use super::instr::{Instr, Label};
use generated::opcodes::Op;
use pyo3::Python;

impl Code {
    /// Drops what neither the first `start` instructions nor what they lead to reaches, in any way that the interpreter knows of; those
    /// first ones stay. Before where a jump or a handler leads, the handler stays the one that it was: jumps that handle signals (up to
    /// 3.12) and calls that enter another frame (3.13) look there.
    pub(crate) fn prune(&mut self, start: usize) {
        let mut reach = Reach::new(self);
        (0..start).for_each(|index| reach.run(index));
        self.instrs = reach.kept();
    }

    /// A copy of what this instruction leads to, and of itself, in the same way.
    pub(crate) fn rest(&self, py: Python<'_>, from: Label) -> Self {
        let mut reach = Reach::new(self);
        reach.lead(from);
        self.with(py, reach.kept())
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

impl<'a> Reach<'a> {
    fn new(code: &'a Code) -> Self {
        Self { code, indices: code.indices(), met: vec![Met::Never; code.instrs.len()], work: Vec::new() }
    }

    /// The instructions that are met from where it starts.
    fn kept(mut self) -> Vec<Instr> {
        while let Some(index) = self.work.pop() {
            self.follow(index);
        }
        let kept = |(instr, met): (&Instr, &Met)| match met {
            Met::Never => None,
            Met::Looked => Some(Instr { op: Op::NOP, arg: 0, target: None, prefixes: 0, ..*instr }),
            Met::Run => Some(Instr { target: self.named(instr), ..*instr }),
        };
        let mut instrs = Vec::with_capacity(self.met.iter().filter(|met| **met != Met::Never).count());
        instrs.extend(self.code.instrs.iter().zip(&self.met).filter_map(kept));
        instrs
    }

    /// The target of an instruction that is kept: where it only names one that is not, itself.
    fn named(&self, instr: &Instr) -> Option<Label> {
        let kept = |label: &Label| self.indices.get(*label).is_some_and(|index| self.met[index] == Met::Run);
        let branches = self.code.isa().branches(instr.op);
        instr.target.map(|target| if branches || kept(&target) { target } else { instr.id })
    }

    fn run(&mut self, index: usize) {
        if let Some(met) = self.met.get_mut(index).filter(|met| **met != Met::Run) {
            *met = Met::Run;
            self.work.push(index);
        }
    }

    /// Where an instruction leads other than to the next one.
    fn lead(&mut self, to: Label) {
        let mut next = Some(to);
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
        instr.leads_to(self.code.isa()).for_each(|label| self.lead(label));
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
