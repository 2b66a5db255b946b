//! Stack depth before every reachable instruction, as CPython's compiler computes it.
use super::code::Code;
use super::error::{Error, Problem};
use super::flag;
use super::instr::Instr;
use super::isa::Isa;
use generated::opcodes::Op;

const DEEPEST: u32 = 1 << 24;

/// From 3.13 on every code object has room for one value.
const LEAST: u32 = cfg!(Py_3_13) as u32;

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
        let mut walk = self.walked(DEEPEST)?;
        let before = walk.before.clone();
        walk.dead_handlers();
        Ok(Depths { before, max: std::cmp::max(walk.max, LEAST) })
    }

    /// Whether control flow fits together and needs no more stack than the code object declares: the interpreter writes
    /// beyond its frames where it does.
    pub fn check_stack(&self) -> Result<(), Error> {
        self.walked(self.stacksize).map(|_| ())
    }

    /// Follows control flow, with at most `limit` values on the stack.
    fn walked(&self, limit: u32) -> Result<Walk<'_>, Error> {
        let mut walk = Walk {
            code: self,
            isa: self.isa(),
            indices: self.indices(),
            before: vec![None; self.instrs.len()],
            work: Vec::new(),
            max: 0,
            limit: limit.min(DEEPEST),
        };
        if self.instrs.is_empty() {
            return Err(Error::new(0, Problem::FallsOffTheEnd));
        }
        walk.later(0, 0, u32::from(self.sent_at_the_start()))?;
        walk.follow(None)?;
        Ok(walk)
    }

    /// Whether the compiler counts the value sent to a generator from its first instruction on: up to 3.12, where
    /// `RETURN_GENERATOR` leaves nothing.
    fn sent_at_the_start(&self) -> bool {
        self.flags & flag::GENERATOR_LIKE != 0 && self.isa().pushed(Op::RETURN_GENERATOR, 0) == Some(0)
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
    indices: super::code::Indices,
    before: Vec<Option<u32>>,
    work: Vec<usize>,
    max: u32,
    limit: u32,
}

impl Walk<'_> {
    /// CPython's compiler counts handlers whose `try` body it found unable to raise, and leaves them in the code.
    fn dead_handlers(&mut self) {
        for (index, instr) in self.code.instrs.iter().enumerate() {
            if instr.op != Op::PUSH_EXC_INFO || self.before[index].is_some() {
                continue;
            }
            let depth = instr.handler.map_or(1, |handler| handler.depth);
            // No instruction here ever runs: what does not fit together does no harm.
            let mut next = self.reach(index, index, depth.max(1)).is_ok_and(|new| new).then_some(index);
            while self.follow(next.take()).is_err() {}
        }
        (0..self.code.instrs.len()).rev().for_each(|index| self.dead(index));
    }

    /// Dead code has the depth that where it leads to has.
    fn dead(&mut self, index: usize) {
        let instr = &self.code.instrs[index];
        if self.before[index].is_some() {
            return;
        }
        let target = instr.target.filter(|_| self.isa.branches(instr.op)).and_then(|target| self.indices.get(target));
        let next = if self.isa.ends_block(instr.op) { None } else { Some(index + 1) };
        let ways = [(next, false), (target, true)];
        self.before[index] = ways.into_iter().find_map(|(to, jump)| {
            let after = (*self.before.get(to?)?)?;
            let before = i64::from(after) - self.isa.effect(instr.op, instr.arg, jump)?;
            u32::try_from(before).ok().filter(|before| *before <= DEEPEST)
        });
        self.max = self.max.max(self.before[index].unwrap_or(0));
    }

    fn error(&self, index: usize, problem: Problem) -> Error {
        Error::new(self.code.offset_of(index), problem)
    }

    /// Follows control flow from an instruction, and from what is left to do, on.
    fn follow(&mut self, mut next: Option<usize>) -> Result<(), Error> {
        while let Some(index) = next.or_else(|| self.work.pop()) {
            next = self.step(index)?;
        }
        Ok(())
    }

    fn later(&mut self, from: usize, index: usize, depth: u32) -> Result<(), Error> {
        if self.reach(from, index, depth)? {
            self.work.push(index);
        }
        Ok(())
    }

    /// Whether it is reached for the first time.
    fn reach(&mut self, from: usize, index: usize, depth: u32) -> Result<bool, Error> {
        if depth > self.limit {
            let problem = if self.limit < DEEPEST {
                Problem::StackSize { declared: self.limit, needed: depth }
            } else {
                Problem::StackTooDeep(DEEPEST)
            };
            return Err(self.error(from, problem));
        }
        self.max = self.max.max(depth);
        match self.before.get(index) {
            None => Err(self.error(from, Problem::FallsOffTheEnd)),
            Some(None) => {
                self.before[index] = Some(depth);
                Ok(true)
            }
            Some(&Some(known)) if known == depth => Ok(false),
            Some(&Some(known)) => Err(self.error(index, Problem::StackMismatch { first: known, second: depth })),
        }
    }

    fn label(&self, from: usize, label: super::Label) -> Result<usize, Error> {
        self.indices.get(label).ok_or_else(|| self.error(from, Problem::UnknownLabel(label.0)))
    }

    /// Reaches where the instruction leads; gives the next one, if it is new.
    fn step(&mut self, index: usize) -> Result<Option<usize>, Error> {
        let code = self.code;
        let (depth, instr) = (self.before[index].unwrap_or(0), &code.instrs[index]);
        self.check(index, instr, depth)?;
        if let Some(handler) = instr.handler {
            let target = self.label(index, handler.target)?;
            // An exception cuts the stack; a range deeper than the stack at this instruction cannot raise here.
            if handler.depth <= depth {
                self.later(index, target, handler.depth + u32::from(handler.lasti) + 1)?;
            }
        }
        if let Some(target) = instr.target.filter(|_| self.isa.branches(instr.op)) {
            let target = self.label(index, target)?;
            self.check_loop(index, instr, target)?;
            self.later(index, target, self.after(index, instr, depth, true)?)?;
        }
        if self.isa.ends_block(instr.op) {
            return Ok(None);
        }
        let after = self.after(index, instr, depth, false)?;
        Ok(self.reach(index, index + 1, after)?.then_some(index + 1))
    }

    /// Whether the argument means something, and the stack holds what is taken.
    fn check(&self, index: usize, instr: &Instr, depth: u32) -> Result<(), Error> {
        // COPY and SWAP count from one.
        let counts = instr.arg > 0 || !matches!(instr.op, Op::COPY | Op::SWAP);
        match self.isa.popped(instr.op, instr.arg).filter(|_| counts) {
            None => Err(self.meaningless(index, instr)),
            Some(popped) if popped > depth as usize => {
                Err(self.error(index, Problem::StackUnderflow { op: instr.op, popped: popped as u32, depth }))
            }
            // Where it is specialised it calls, and skips what comes next, without looking.
            Some(_)
                if instr.op == Op::PRECALL
                    && self.code.instrs.get(index + 1).is_none_or(|next| next.op != Op::CALL) =>
            {
                Err(self.error(index, Problem::Parted(instr.op)))
            }
            Some(_) => Ok(()),
        }
    }

    /// At the end of its iterator `FOR_ITER` jumps past the instructions that its target must be, without looking.
    fn check_loop(&self, index: usize, instr: &Instr, target: usize) -> Result<(), Error> {
        let skipped: &[Op] = match (instr.op, self.isa.minor()) {
            (Op::FOR_ITER, 13) => &[Op::END_FOR, Op::POP_TOP],
            (Op::FOR_ITER, 12 | 14..) => &[Op::END_FOR],
            _ => &[],
        };
        let there = self.code.instrs[target..].iter().take(skipped.len());
        if there.map(|instr| instr.op).eq(skipped.iter().copied()) {
            return Ok(());
        }
        Err(self.error(index, Problem::LoopEnd(instr.op)))
    }

    fn meaningless(&self, index: usize, instr: &Instr) -> Error {
        self.error(index, Problem::BadStackArgument { op: instr.op, arg: instr.arg })
    }

    fn after(&self, index: usize, instr: &Instr, depth: u32, jump: bool) -> Result<u32, Error> {
        let effect = self.isa.effect(instr.op, instr.arg, jump).ok_or_else(|| self.meaningless(index, instr))?;
        u32::try_from(i64::from(depth) + effect).map_err(|_| self.error(index, Problem::StackTooDeep(DEEPEST)))
    }
}
