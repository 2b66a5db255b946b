//! Opcodes, inline caches, stack effects.
use super::{answer, text};
use crate::effect::{Operands, evaluate};
use crate::packed::{Release, Row, Table};
use crate::rows::slotrt_opcode;
use crate::status::{SLOTRT_BAD_ARGUMENT, SLOTRT_NOT_FOUND, SLOTRT_NOT_KNOWN, slotrt_status};
use core::ffi::c_char;

fn opcode(row: Row) -> slotrt_opcode {
    slotrt_opcode {
        name: row.text(0),
        number: row.word(1),
        kind: row.word(2),
        base: row.word(3),
        caches: row.word(4),
        has_argument: row.word(5),
        flags: row.text(6),
        popped: row.text(7),
        pushed: row.text(8),
        effect: row.text(9),
    }
}

/// The opcode at an index, sorted by number.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_opcode_at(release: u32, index: u32, out: *mut slotrt_opcode) -> slotrt_status {
    // SAFETY: as above.
    unsafe { answer(out, || Ok(opcode(Release::of(release)?.row(Table::Opcodes, index)?))) }
}

/// The opcode of this name.
///
/// # Safety
/// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_opcode_find(
    release: u32,
    name: *const c_char,
    out: *mut slotrt_opcode,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let name = text(name)?;
            let found = Release::of(release)?.named(Table::Opcodes, 0, name);
            found.map(|(_, row)| opcode(row)).ok_or(SLOTRT_NOT_FOUND)
        })
    }
}

/// The opcode with this number.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_opcode_numbered(release: u32, number: u32, out: *mut slotrt_opcode) -> slotrt_status {
    // SAFETY: as above.
    unsafe { answer(out, || numbered(Release::of(release)?, number).map(opcode)) }
}

fn numbered(release: Release, number: u32) -> Result<Row, slotrt_status> {
    let rows = (0..release.count(Table::Opcodes)).filter_map(|index| release.row(Table::Opcodes, index).ok());
    let mut found = rows.filter(|row| row.word(1) == number);
    found.next().ok_or(SLOTRT_NOT_FOUND)
}

/// The 256 bytes of `_PyOpcode_Caches`: inline cache entries, in code units, of each opcode that the compiler emits. All are 0 before
/// 3.11. The bytes are static. NULL if the tables do not hold the release.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_opcode_caches(release: u32) -> *const u8 {
    let caches = Release::of(release).map(Release::caches).ok().filter(|caches| caches.len() == 256);
    caches.map_or(core::ptr::null(), <[u8]>::as_ptr)
}

/// What an instruction does to the depth of the stack, as `dis.stack_effect` says. `jump`: 1 if it jumps, 0 if not, -1 for the larger
/// of the two. `SLOTRT_NOT_KNOWN` for specialised and pseudo instructions of releases that do not say.
///
/// # Safety
/// `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_stack_effect(
    release: u32,
    number: u32,
    oparg: u32,
    jump: i32,
    out: *mut i32,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = numbered(Release::of(release)?, number)?;
            let of = |jump| effect(row, Operands { oparg: i64::from(oparg), jump });
            let found = match jump {
                0 | 1 => of(i64::from(jump)),
                -1 => of(0).zip(of(1)).map(|(stays, jumps)| stays.max(jumps)),
                _ => return Err(SLOTRT_BAD_ARGUMENT),
            };
            found.and_then(|effect| i32::try_from(effect).ok()).ok_or(SLOTRT_NOT_KNOWN)
        })
    }
}

fn effect(row: Row, operands: Operands) -> Option<i64> {
    let value = |column: usize| evaluate(row.str(column)?.to_bytes(), operands);
    match row.str(9) {
        Some(_) => value(9),
        None => value(8)?.checked_sub(value(7)?),
    }
}
