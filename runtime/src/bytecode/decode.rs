//! Bytes of a code object to instructions.
use super::error::{Error, Problem};
use super::instr::{Handler, Instr, Label, Position};
use super::isa::Isa;
use super::{exception_table, line_table};
use generated::opcodes::Op;

/// The three byte strings of a code object that say what runs.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    /// `co_code`.
    pub code: &'a [u8],
    /// `co_linetable`.
    pub line_table: &'a [u8],
    /// `co_exceptiontable`.
    pub exception_table: &'a [u8],
    /// `co_firstlineno`.
    pub first_line: i32,
}

/// Decodes to instructions labelled 0, 1, 2… in order.
pub fn decode(bytes: Bytes<'_>, isa: Isa) -> Result<Vec<Instr>, Error> {
    if !bytes.code.len().is_multiple_of(2) {
        return Err(Error::new(bytes.code.len(), Problem::OddLength));
    }
    let units = bytes.code.len() / 2;
    let mut scan = scan(bytes.code, isa)?;
    resolve_jumps(&mut scan, isa)?;
    attach_handlers(&mut scan, bytes.exception_table)?;
    let positions = line_table::decode(bytes.line_table, bytes.first_line, units)?;
    for instr in &mut scan.instrs {
        let unit = instr.offset.unwrap_or(0) as usize / 2;
        instr.position = positions.get(unit).copied().unwrap_or(Position::NONE);
    }
    Ok(scan.instrs)
}

/// Whether the bytes are instructions of programs, none that the interpreter puts in their place while it runs, with nothing in their
/// caches: it does not look.
///
/// # Errors
/// Where they are not.
pub fn check_instructions(code: &[u8], isa: Isa) -> Result<(), Error> {
    if !code.len().is_multiple_of(2) {
        return Err(Error::new(code.len(), Problem::OddLength));
    }
    let scan = scan(code, isa)?;
    for (instr, end) in scan.instrs.iter().zip(&scan.ends) {
        let unit = instr.offset.unwrap_or(0) as usize / 2 + 1;
        if code[unit * 2..end * 2].iter().any(|byte| *byte != 0) {
            return Err(Error::new(unit * 2, Problem::FullCache(instr.op)));
        }
    }
    Ok(())
}

struct Scan {
    instrs: Vec<Instr>,
    /// First code unit (with prefixes) of each instruction, and one past the last.
    starts: Vec<usize>,
    /// Code unit after each instruction's caches.
    ends: Vec<usize>,
}

impl Scan {
    fn at(&self, unit: usize) -> Option<Label> {
        let index = self.starts.binary_search(&unit).ok()?;
        Some(Label(index as u32))
    }
}

fn scan(code: &[u8], isa: Isa) -> Result<Scan, Error> {
    let units = code.len() / 2;
    let mut scan = Scan {
        instrs: Vec::with_capacity(units / 2),
        starts: Vec::with_capacity(units / 2),
        ends: Vec::with_capacity(units / 2),
    };
    let mut unit = 0;
    while unit < units {
        let start = unit;
        let (op, arg, prefixes) = instruction(code, &mut unit, isa)?;
        let end = unit + isa.caches(op);
        if end > units {
            return Err(Error::new(start * 2, Problem::Truncated("inline caches are missing")));
        }
        let id = Label(u32::try_from(scan.instrs.len()).map_err(|_| Error::new(start * 2, Problem::TooLarge))?);
        let offset = u32::try_from((unit - 1) * 2).map_err(|_| Error::new(start * 2, Problem::TooLarge))?;
        scan.instrs.push(Instr {
            id,
            op,
            arg,
            target: None,
            handler: None,
            position: Position::NONE,
            offset: Some(offset),
            prefixes,
        });
        scan.starts.push(start);
        scan.ends.push(end);
        unit = end;
    }
    Ok(scan)
}

fn instruction(code: &[u8], unit: &mut usize, isa: Isa) -> Result<(Op, u32, u8), Error> {
    let start = *unit;
    let (mut arg, mut prefixes) = (0u32, 0u8);
    loop {
        let offset = *unit * 2;
        let (Some(&number), Some(&low)) = (code.get(offset), code.get(offset + 1)) else {
            return Err(Error::new(start * 2, Problem::Truncated("EXTENDED_ARG without an instruction")));
        };
        let op = isa.op(number).filter(|op| *op != Op::CACHE);
        let op = op.ok_or(Error::new(offset, Problem::UnknownOpcode(number)))?;
        *unit += 1;
        arg = (arg << 8) | u32::from(low);
        if op != Op::EXTENDED_ARG {
            return Ok((op, arg, prefixes));
        }
        prefixes += 1;
        if prefixes > 3 {
            return Err(Error::new(start * 2, Problem::TooManyExtendedArgs));
        }
    }
}

fn resolve_jumps(scan: &mut Scan, isa: Isa) -> Result<(), Error> {
    for index in 0..scan.instrs.len() {
        let Instr { op, arg, offset, .. } = scan.instrs[index];
        if !isa.jumps(op) {
            continue;
        }
        let distance = if isa.jumps_backward(op) { -i64::from(arg) } else { i64::from(arg) };
        let unit = scan.ends[index] as i64 + distance;
        let label = usize::try_from(unit).ok().and_then(|unit| scan.at(unit));
        let problem = Problem::BadJumpTarget { op, target: unit * 2 };
        scan.instrs[index].target = Some(label.ok_or(Error::new(offset.unwrap_or(0) as usize, problem))?);
    }
    Ok(())
}

fn attach_handlers(scan: &mut Scan, table: &[u8]) -> Result<(), Error> {
    let units = scan.ends.last().copied().unwrap_or(0);
    for entry in exception_table::decode(table)? {
        let bad = |unit: usize| Error::new(unit * 2, Problem::ExceptionTableOffset(unit * 2));
        let target = scan.at(entry.target).ok_or_else(|| bad(entry.target))?;
        let first = scan.starts.partition_point(|start| *start < entry.start);
        let last = scan.starts.partition_point(|start| *start < entry.end);
        let bounded = |unit: usize| unit == units || scan.starts.binary_search(&unit).is_ok();
        for unit in [entry.start, entry.end] {
            if !bounded(unit) {
                return Err(bad(unit));
            }
        }
        for instr in &mut scan.instrs[first..last] {
            instr.handler = Some(Handler { target, depth: entry.depth, lasti: entry.lasti });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail(
            code in prop::collection::vec(any::<u8>(), 0..300),
            line_table in prop::collection::vec(any::<u8>(), 0..40),
            exception_table in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let bytes = Bytes { code: &code, line_table: &line_table, exception_table: &exception_table, first_line: 1 };
            if let Ok(instrs) = decode(bytes, Isa::running()) {
                let known = |label: Label| (label.0 as usize) < instrs.len();
                prop_assert!(instrs.iter().filter_map(|instr| instr.target).all(known));
                prop_assert!(instrs.iter().filter_map(|instr| instr.handler).all(|handler| known(handler.target)));
            }
        }
    }
}
