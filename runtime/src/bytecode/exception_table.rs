//! CPython's exception table (`co_exceptiontable`): sorted ranges of code units with handler, depth and `lasti`.
use super::error::{Error, Problem};

/// One range; offsets are code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub start: usize,
    pub end: usize,
    pub target: usize,
    pub depth: u32,
    pub lasti: bool,
}

/// The table's entries in order; they must ascend and not overlap.
pub(crate) fn decode(table: &[u8]) -> Result<Vec<Entry>, Error> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut at = 0;
    while at < table.len() {
        let begin = at;
        if table[at] & 0x80 == 0 {
            return Err(Error::new(at, Problem::ExceptionTable("an entry does not start with a start byte")));
        }
        let start = varint(table, &mut at)?;
        let length = varint(table, &mut at)?;
        let target = varint(table, &mut at)?;
        let depth = varint(table, &mut at)?;
        let entry = Entry {
            start: start as usize,
            end: start as usize + length as usize,
            target: target as usize,
            depth: depth >> 1,
            lasti: depth & 1 == 1,
        };
        if entries.last().is_some_and(|last| last.end > entry.start) {
            return Err(Error::new(begin, Problem::ExceptionTable("entries overlap or do not ascend")));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn varint(table: &[u8], at: &mut usize) -> Result<u32, Error> {
    let begin = *at;
    let mut value = 0u32;
    for index in 0..5 {
        let byte = *table.get(*at).ok_or(Error::new(*at, Problem::ExceptionTable("it ends inside an entry")))?;
        if index > 0 && byte & 0x80 != 0 {
            return Err(Error::new(*at, Problem::ExceptionTable("an entry starts inside another")));
        }
        *at += 1;
        value = (value << 6) | u32::from(byte & 63);
        if byte & 64 == 0 {
            return Ok(value);
        }
    }
    Err(Error::new(begin, Problem::ExceptionTable("a number has too many bytes")))
}

/// The table for these entries.
pub(crate) fn encode(entries: &[Entry]) -> Result<Vec<u8>, Error> {
    let mut table = Vec::with_capacity(entries.len() * 6);
    for entry in entries {
        let depth = (entry.depth as usize) << 1 | usize::from(entry.lasti);
        for (index, value) in [entry.start, entry.end - entry.start, entry.target, depth].into_iter().enumerate() {
            push(&mut table, value, index == 0)?;
        }
    }
    Ok(table)
}

fn push(table: &mut Vec<u8>, value: usize, first: bool) -> Result<(), Error> {
    if value >= 1 << 30 {
        return Err(Error::new(table.len(), Problem::TooLarge));
    }
    let mut mark = if first { 0x80 } else { 0 };
    for shift in [24, 18, 12, 6] {
        if value >= 1 << shift {
            table.push(((value >> shift) & 63) as u8 | 64 | mark);
            mark = 0;
        }
    }
    table.push((value & 63) as u8 | mark);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            items in prop::collection::vec((0..90_000usize, 1..90_000usize, 0..9_000_000usize, 0..3000u32, any::<bool>()), 0..40),
        ) {
            let mut start = 0;
            let mut entries = Vec::new();
            for (gap, length, target, depth, lasti) in items {
                start += gap;
                entries.push(Entry { start, end: start + length, target, depth, lasti });
                start += length;
            }
            let table = encode(&entries);
            prop_assert!(table.is_ok());
            prop_assert_eq!(table.and_then(|table| decode(&table)), Ok(entries));
        }

        #[test]
        fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let entries = decode(&bytes).unwrap_or_default();
            prop_assert!(entries.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
