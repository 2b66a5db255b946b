//! Instructions to the bytes of a code object.
use super::code::{Code, Indices};
use super::error::{Error, Problem};
use super::exception_table::{self, Entry};
use super::instr::{Handler, Instr, Label};
use super::isa::Isa;
use super::line_table;
use generated::opcodes::Op;

/// What the assembler makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// `co_code`.
    pub code: Vec<u8>,
    /// `co_linetable`.
    pub line_table: Vec<u8>,
    /// `co_exceptiontable`.
    pub exception_table: Vec<u8>,
    /// `co_stacksize`.
    pub stacksize: u32,
}

impl Code {
    /// Bytes, tables and stack size of the instructions as they are now.
    pub fn assemble_bytes(&self) -> Result<Assembled, Error> {
        let isa = self.isa();
        let depths = self.depths()?;
        let indices = self.indices();
        let mut layout = Layout::new(self, isa, &indices)?;
        layout.settle()?;
        Ok(Assembled {
            code: layout.code()?,
            line_table: line_table::encode(
                self.instrs.iter().enumerate().map(|(i, instr)| (instr.position, layout.size(i))),
                self.firstlineno,
            ),
            exception_table: exception_table::encode(&layout.handlers()?)?,
            stacksize: depths.max.max(self.stacksize),
        })
    }
}

struct Layout<'a> {
    code: &'a Code,
    isa: Isa,
    indices: &'a Indices,
    /// Operation as written: unconditional jumps follow the direction of their target.
    ops: Vec<Op>,
    args: Vec<u32>,
    prefixes: Vec<u8>,
    /// First code unit of each instruction, and the end.
    starts: Vec<usize>,
}

fn prefixes_for(arg: u32) -> u8 {
    u8::from(arg > 0xff) + u8::from(arg > 0xffff) + u8::from(arg > 0xff_ffff)
}

impl<'a> Layout<'a> {
    fn new(code: &'a Code, isa: Isa, indices: &'a Indices) -> Result<Self, Error> {
        let mut ops = Vec::with_capacity(code.instrs.len());
        for (index, instr) in code.instrs.iter().enumerate() {
            let op = match instr.target {
                Some(target) => isa.directed(instr.op, resolve(code, indices, index, target)? > index),
                None => Some(instr.op),
            };
            ops.push(op.ok_or_else(|| Error::new(code.offset_of(index), Problem::JumpDirection(instr.op)))?);
        }
        let args: Vec<u32> =
            code.instrs.iter().map(|instr| if instr.target.is_some() { 0 } else { instr.arg }).collect();
        let first = |(instr, arg): (&Instr, &u32)| instr.target.map_or(prefixes_for(*arg), |_| instr.prefixes);
        let prefixes = code.instrs.iter().zip(&args).map(first).collect();
        Ok(Self { code, isa, indices, ops, args, prefixes, starts: Vec::new() })
    }

    fn size(&self, index: usize) -> usize {
        usize::from(self.prefixes[index]) + 1 + self.isa.caches(self.ops[index])
    }

    fn place(&mut self) {
        self.starts.clear();
        let mut unit = 0;
        for index in 0..self.ops.len() {
            self.starts.push(unit);
            unit += self.size(index);
        }
        self.starts.push(unit);
    }

    /// Gives every jump the `EXTENDED_ARG`s that it needs. First they only grow, from what the original had: a jump back over its own
    /// `EXTENDED_ARG` may need it for that alone, and then keeps it. Then they only shrink, which makes no distance longer: an edit that
    /// shortened a jump leaves no `EXTENDED_ARG` of 0, which CPython's debug builds refuse. So both end.
    fn settle(&mut self) -> Result<(), Error> {
        while self.measure(|needed, has| needed > has)? {}
        while self.measure(|needed, has| needed < has)? {}
        Ok(())
    }

    /// Measures all jumps; whether one got another number of `EXTENDED_ARG`s, because the one that it needs is `wanted` in place of the one
    /// that it has.
    fn measure(&mut self, wanted: impl Fn(u8, u8) -> bool) -> Result<bool, Error> {
        self.place();
        let mut changed = false;
        for index in 0..self.ops.len() {
            let Some(target) = self.code.instrs[index].target else { continue };
            let target = self.starts[resolve(self.code, self.indices, index, target)?];
            let distance = target.abs_diff(self.starts[index + 1]);
            let arg = u32::try_from(distance).map_err(|_| Error::new(self.code.offset_of(index), Problem::TooLarge))?;
            self.args[index] = arg;
            let needed = prefixes_for(arg);
            if wanted(needed, self.prefixes[index]) {
                self.prefixes[index] = needed;
                changed = true;
            }
        }
        Ok(changed)
    }

    fn code(&self) -> Result<Vec<u8>, Error> {
        let extended = self.number(0, Op::EXTENDED_ARG)?;
        let mut bytes = Vec::with_capacity(self.starts.last().copied().unwrap_or(0) * 2);
        for (index, op) in self.ops.iter().enumerate() {
            let arg = self.args[index].to_be_bytes();
            for prefix in (1..=usize::from(self.prefixes[index])).rev() {
                bytes.extend([extended, arg[3 - prefix]]);
            }
            bytes.extend([self.number(index, *op)?, arg[3]]);
            bytes.resize(bytes.len() + 2 * self.isa.caches(*op), 0);
        }
        Ok(bytes)
    }

    fn number(&self, index: usize, op: Op) -> Result<u8, Error> {
        self.isa.number(op).ok_or_else(|| Error::new(self.code.offset_of(index), Problem::NotInRelease(op)))
    }

    fn handlers(&self) -> Result<Vec<Entry>, Error> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut open: Option<Handler> = None;
        for (index, Instr { handler, .. }) in self.code.instrs.iter().enumerate() {
            match handler {
                Some(handler) if open != Some(*handler) => {
                    let target = self.starts[resolve(self.code, self.indices, index, handler.target)?];
                    entries.push(Entry {
                        start: self.starts[index],
                        end: self.starts[index + 1],
                        target,
                        depth: handler.depth,
                        lasti: handler.lasti,
                    });
                }
                Some(_) => {
                    if let Some(last) = entries.last_mut() {
                        last.end = self.starts[index + 1];
                    }
                }
                None => {}
            }
            open = *handler;
        }
        Ok(entries)
    }
}

fn resolve(code: &Code, indices: &Indices, from: usize, label: Label) -> Result<usize, Error> {
    indices.get(label).ok_or_else(|| Error::new(code.offset_of(from), Problem::UnknownLabel(label.0)))
}
