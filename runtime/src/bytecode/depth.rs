//! Stack depth before every reachable instruction, as CPython's compiler computes it.
use super::code::Code;
use super::error::{Error, Problem};
use super::instr::Instr;
use super::isa::Isa;
use generated::opcodes::Op;

const DEEPEST: u32 = 1 << 24;

/// Depths of a code object's stack.
#[derive(Clone, Debug)]
pub struct Depths {
    /// Before each instruction; `None` where it is unreachable.
    pub before: Vec<Option<u32>>,
    /// The deepest anywhere.
    pub max: u32,
}

impl Code {
    /// Stack depths by following control flow and exception handlers from the first instruction.
    pub fn depths(&self) -> Result<Depths, Error> {
        let mut walk = Walk {
            code: self,
            isa: self.isa(),
            indices: self.indices(),
            before: vec![None; self.instrs.len()],
            work: Vec::new(),
            max: 0,
        };
        if self.instrs.is_empty() {
            return Err(Error::new(0, Problem::FallsOffTheEnd));
        }
        walk.reach(0, 0, 0)?;
        while let Some(index) = walk.work.pop() {
            walk.step(index)?;
        }
        Ok(Depths { before: walk.before, max: walk.max })
    }

    /// Byte offset for messages: of the original where there is one, else of nothing better than its index.
    pub(crate) fn offset_of(&self, index: usize) -> usize {
        self.instrs[..=index.min(self.instrs.len().saturating_sub(1))]
            .iter()
            .rev()
            .find_map(|instr| instr.offset)
            .unwrap_or(0) as usize
    }
}

struct Walk<'a> {
    code: &'a Code,
    isa: Isa,
    indices: rustc_hash::FxHashMap<super::Label, usize>,
    before: Vec<Option<u32>>,
    work: Vec<usize>,
    max: u32,
}

impl Walk<'_> {
    fn error(&self, index: usize, problem: Problem) -> Error {
        Error::new(self.code.offset_of(index), problem)
    }

    fn reach(&mut self, from: usize, index: usize, depth: u32) -> Result<(), Error> {
        if depth > DEEPEST {
            return Err(self.error(from, Problem::StackTooDeep(DEEPEST)));
        }
        self.max = self.max.max(depth);
        match self.before.get(index) {
            None => Err(self.error(from, Problem::FallsOffTheEnd)),
            Some(None) => {
                self.before[index] = Some(depth);
                self.work.push(index);
                Ok(())
            }
            Some(&Some(known)) if known == depth => Ok(()),
            Some(&Some(known)) => Err(self.error(index, Problem::StackMismatch { first: known, second: depth })),
        }
    }

    fn label(&self, from: usize, label: super::Label) -> Result<usize, Error> {
        self.indices.get(&label).copied().ok_or_else(|| self.error(from, Problem::UnknownLabel(label.0)))
    }

    fn step(&mut self, index: usize) -> Result<(), Error> {
        let depth = self.before[index].unwrap_or(0);
        let instr = self.code.instrs[index];
        let after = self.effect(index, &instr, depth)?;
        if let Some(handler) = instr.handler {
            let target = self.label(index, handler.target)?;
            // An exception cuts the stack; a range deeper than the stack at this instruction cannot raise here.
            if handler.depth <= depth {
                self.reach(index, target, handler.depth + u32::from(handler.lasti) + 1)?;
            }
        }
        if let Some(target) = instr.target {
            let target = self.label(index, target)?;
            self.reach(index, target, after)?;
        }
        if !self.isa.ends_block(instr.op) {
            self.reach(index, index + 1, after)?;
        }
        Ok(())
    }

    fn effect(&self, index: usize, instr: &Instr, depth: u32) -> Result<u32, Error> {
        let meaningless = Problem::BadStackArgument { op: instr.op, arg: instr.arg };
        let effect = self.isa.popped(instr.op, instr.arg).zip(self.isa.pushed(instr.op, instr.arg));
        // COPY and SWAP count from one.
        let effect = effect.filter(|_| instr.arg > 0 || !matches!(instr.op, Op::COPY | Op::SWAP));
        let (popped, pushed) = effect.ok_or_else(|| self.error(index, meaningless))?;
        let left = (depth as usize).checked_sub(popped);
        let underflow = Problem::StackUnderflow { op: instr.op, popped: popped as u32, depth };
        let left = left.ok_or_else(|| self.error(index, underflow))?;
        u32::try_from(left + pushed).map_err(|_| self.error(index, Problem::StackTooDeep(DEEPEST)))
    }
}
