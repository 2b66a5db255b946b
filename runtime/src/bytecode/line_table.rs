//! CPython's location table (`co_linetable`) to one position per code unit, and back.
use super::error::{Error, Problem};
use super::instr::Position;

const SHORT: std::ops::RangeInclusive<u8> = 0..=9;
const ONE_LINE: std::ops::RangeInclusive<u8> = 10..=12;
const NO_COLUMNS: u8 = 13;
const LONG: u8 = 14;
const NONE: u8 = 15;
const MAX_UNITS: usize = 8;

/// Positions of `units` code units; units beyond the table's end have none.
pub(crate) fn decode(table: &[u8], first_line: i32, units: usize) -> Result<Vec<Position>, Error> {
    let mut reader = Reader { table, at: 0 };
    let mut positions = Vec::with_capacity(units);
    let mut line = first_line;
    while reader.at < table.len() {
        let start = reader.at;
        let first = reader.byte()?;
        if first & 0x80 == 0 {
            return Err(Error::new(start, Problem::LineTable("an entry does not start with a start byte")));
        }
        let position = reader.entry((first >> 3) & 15, &mut line, start)?;
        for _ in 0..=(first & 7) {
            positions.push(position);
        }
        if positions.len() > units {
            return Err(Error::new(start, Problem::LineTable("it covers more than the code")));
        }
    }
    positions.resize(units, Position::NONE);
    Ok(positions)
}

struct Reader<'a> {
    table: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.table.get(self.at).copied();
        self.at += 1;
        byte.ok_or(Error::new(self.at - 1, Problem::LineTable("it ends inside an entry")))
    }

    fn varint(&mut self) -> Result<u32, Error> {
        let start = self.at;
        let mut value = 0u32;
        for shift in (0..36).step_by(6) {
            let byte = self.byte()?;
            value |= u32::from(byte & 63).checked_shl(shift).unwrap_or(0);
            if byte & 64 == 0 {
                return Ok(value);
            }
        }
        Err(Error::new(start, Problem::LineTable("a number has too many bytes")))
    }

    fn signed(&mut self) -> Result<i32, Error> {
        let value = self.varint()?;
        let magnitude = (value >> 1).cast_signed();
        Ok(if value & 1 == 1 { -magnitude } else { magnitude })
    }

    fn entry(&mut self, code: u8, line: &mut i32, start: usize) -> Result<Position, Error> {
        let overflow = || Error::new(start, Problem::LineTable("a line number overflows"));
        let mut advance = |delta: i32| -> Result<i32, Error> {
            *line = line.checked_add(delta).ok_or_else(overflow)?;
            Ok(*line)
        };
        Ok(match code {
            NONE => Position::NONE,
            LONG => {
                let line = advance(self.signed()?)?;
                let end = i32::try_from(self.varint()?)
                    .ok()
                    .and_then(|delta| line.checked_add(delta))
                    .ok_or_else(overflow)?;
                let column = self.column()?;
                Position { line, end_line: end, column, end_column: self.column()? }
            }
            NO_COLUMNS => Position::line(advance(self.signed()?)?),
            code if ONE_LINE.contains(&code) => {
                let line = advance(i32::from(code - ONE_LINE.start()))?;
                let column = i32::from(self.byte()?);
                Position { line, end_line: line, column, end_column: i32::from(self.byte()?) }
            }
            code => {
                let byte = self.byte()?;
                let column = (i32::from(code) << 3) | i32::from((byte >> 4) & 7);
                Position { line: *line, end_line: *line, column, end_column: column + i32::from(byte & 15) }
            }
        })
    }

    fn column(&mut self) -> Result<i32, Error> {
        Ok(self.varint()?.cast_signed().wrapping_sub(1))
    }
}

/// Whether neighbours at one position share entries: 3.11 has an entry for every instruction.
const SHARED: bool = cfg!(Py_3_12);

/// The table for instructions given as (position, code units), as CPython's assembler writes it.
pub(crate) fn encode(instrs: impl Iterator<Item = (Position, usize)>, first_line: i32) -> Vec<u8> {
    let mut writer = Writer { table: Vec::new(), line: first_line };
    let mut current = Position::NONE;
    let mut units = 0;
    for (position, size) in instrs {
        if position != current || !SHARED {
            writer.entries(current, units);
            current = position;
            units = 0;
        }
        units += size;
    }
    writer.entries(current, units);
    writer.table
}

struct Writer {
    table: Vec<u8>,
    line: i32,
}

impl Writer {
    fn entries(&mut self, position: Position, mut units: usize) {
        while units > 0 {
            let size = units.min(MAX_UNITS);
            self.entry(position, size);
            units -= size;
        }
    }

    fn start(&mut self, code: u8, units: usize) {
        let length = u8::try_from(units - 1).unwrap_or(7) & 7;
        self.table.push(0x80 | (code << 3) | length);
    }

    fn varint(&mut self, mut value: u32) {
        while value >= 64 {
            self.table.push(64 | (value & 63) as u8);
            value >>= 6;
        }
        self.table.push(value as u8);
    }

    fn signed(&mut self, value: i32) {
        let magnitude = value.unsigned_abs() << 1;
        self.varint(if value < 0 { magnitude | 1 } else { magnitude });
    }

    // CPython: Python/assemble.c, write_location_info_entry
    fn entry(&mut self, at: Position, units: usize) {
        if at.line == -1 {
            return self.start(NONE, units);
        }
        let delta = at.line.wrapping_sub(self.line);
        self.line = at.line;
        if at.column < 0 || at.end_column < 0 {
            if at.end_line == at.line || at.end_line < 0 {
                self.start(NO_COLUMNS, units);
                return self.signed(delta);
            }
        } else if at.end_line == at.line {
            let width = at.end_column - at.column;
            if delta == 0 && at.column < 80 && (0..16).contains(&width) {
                self.start(*SHORT.start() + (at.column >> 3) as u8, units);
                return self.table.push(((at.column & 7) as u8) << 4 | width as u8);
            }
            if (0..3).contains(&delta) && at.column < 128 && at.end_column < 128 {
                self.start(*ONE_LINE.start() + delta as u8, units);
                return self.table.extend([at.column as u8, at.end_column as u8]);
            }
        }
        self.start(LONG, units);
        self.signed(delta);
        self.varint(at.end_line.wrapping_sub(at.line).cast_unsigned());
        self.varint(at.column.wrapping_add(1).cast_unsigned());
        self.varint(at.end_column.wrapping_add(1).cast_unsigned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn position() -> impl Strategy<Value = Position> {
        let full = (1..5000i32, 0..40i32, 0..200i32, 0..200i32).prop_map(|(line, lines, column, end_column)| {
            Position { line, end_line: line + lines, column, end_column }
        });
        prop_oneof![full, (1..5000i32).prop_map(Position::line), Just(Position::NONE)]
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(items in prop::collection::vec((position(), 1..12usize), 0..60), first in 1..5000i32) {
            let table = encode(items.iter().copied(), first);
            let units = items.iter().map(|(_, size)| size).sum();
            let expected: Vec<Position> = items.iter().flat_map(|(at, size)| std::iter::repeat_n(*at, *size)).collect();
            prop_assert_eq!(decode(&table, first, units), Ok(expected));
        }

        #[test]
        fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), first in any::<i32>()) {
            if let Ok(positions) = decode(&bytes, first, 100) {
                prop_assert_eq!(positions.len(), 100);
            }
        }
    }
}
