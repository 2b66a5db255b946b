//! Slots, slotdefs, wrappers, and the types that fill slots.
use super::{answer, text};
use crate::packed::{Release, Row, Table};
use crate::rows::*;
use crate::status::{SLOTRT_NOT_FOUND, SLOTRT_OUT_OF_RANGE, slotrt_status};
use core::ffi::{CStr, c_char};

fn at(release: u32, table: Table, index: u32) -> Result<Row, slotrt_status> {
    Release::of(release)?.row(table, index)
}

/// A slot of a release.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_slot_at(release: u32, index: u32, out: *mut slotrt_slot) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = at(release, Table::Slots, index)?;
            Ok(slotrt_slot {
                name: row.text(0),
                suite: row.text(1),
                signature: row.text(2),
                offset: row.word(3),
                heap_offset: row.word(4),
                mask: row.word(5),
                bit: row.word(6),
            })
        })
    }
}

/// The index of the slot of this name.
///
/// # Safety
/// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_slot_find(release: u32, name: *const c_char, out: *mut u32) -> slotrt_status {
    // SAFETY: as above.
    unsafe { answer(out, || index(release, Table::Slots, &[0], name)) }
}

/// The index of the first row that has this name in one of the columns, which are tried in order.
///
/// # Safety
/// `name` is NULL or a text that ends with NUL.
unsafe fn index(release: u32, table: Table, columns: &[usize], name: *const c_char) -> Result<u32, slotrt_status> {
    // SAFETY: as above.
    let name = unsafe { text(name) }?;
    let release = Release::of(release)?;
    let found = columns.iter().find_map(|column| release.named(table, *column, name));
    found.map(|(index, _)| index).ok_or(SLOTRT_NOT_FOUND)
}

/// A row of `slotdefs[]`.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_slotdef_at(release: u32, index: u32, out: *mut slotrt_slotdef) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = at(release, Table::Slotdefs, index)?;
            Ok(slotrt_slotdef {
                name: row.text(0),
                slot: row.word(1),
                offset: row.word(2),
                function: row.text(3),
                wrapper: row.text(4),
                flags: row.word(5),
                doc: row.text(6),
            })
        })
    }
}

/// A wrapper function.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_wrapper_at(release: u32, index: u32, out: *mut slotrt_wrapper) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = at(release, Table::Wrappers, index)?;
            Ok(slotrt_wrapper { name: row.text(0), signature: row.text(1), flags: row.word(2) })
        })
    }
}

/// A C type.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_type_at(release: u32, index: u32, out: *mut slotrt_type) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = at(release, Table::Types, index)?;
            Ok(slotrt_type {
                c_name: row.text(0),
                tp_name: row.text(1),
                file: row.text(2),
                base: row.text(3),
                metatype: row.text(4),
                basicsize: row.text(5),
                itemsize: row.text(6),
                flags: row.text(7),
                line: row.word(8),
                kind: row.word(9),
                slots: row.word(11),
                methods: row.word(13),
                getsets: row.word(15),
                members: row.word(17),
            })
        })
    }
}

/// The index of the type with this C variable (`PyList_Type`), else of the first with this `tp_name` (`list`).
///
/// # Safety
/// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_type_find(release: u32, name: *const c_char, out: *mut u32) -> slotrt_status {
    // SAFETY: as above.
    unsafe { answer(out, || index(release, Table::Types, &[0, 1], name)) }
}

/// Columns of a type that say where its rows of another table start; the count is in the next one.
const PARTS: [(Table, usize); 4] =
    [(Table::Values, 10), (Table::Methods, 12), (Table::Getsets, 14), (Table::Members, 16)];

/// A row of a type's part of a table.
fn part(release: u32, ty: u32, part: usize, index: u32) -> Result<Row, slotrt_status> {
    let release = Release::of(release)?;
    let ty = release.row(Table::Types, ty)?;
    let (table, column) = PARTS.get(part).copied().ok_or(SLOTRT_OUT_OF_RANGE)?;
    if index >= ty.word(column + 1) {
        return Err(SLOTRT_OUT_OF_RANGE);
    }
    release.row(table, ty.word(column) + index)
}

/// A filled slot of a type; they are sorted by `slot`.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_type_slot_at(
    release: u32,
    type_: u32,
    index: u32,
    out: *mut slotrt_held,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = part(release, type_, 0, index)?;
            Ok(slotrt_held { slot: row.word(0), function: row.text(1), origin: row.word(2), from: row.text(3) })
        })
    }
}

/// A method of a type.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_type_method_at(
    release: u32,
    type_: u32,
    index: u32,
    out: *mut slotrt_method,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = part(release, type_, 1, index)?;
            let flags = row.word(3);
            Ok(slotrt_method { name: row.text(0), function: row.text(1), signature: row.text(2), flags })
        })
    }
}

/// A getter of a type.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_type_getset_at(
    release: u32,
    type_: u32,
    index: u32,
    out: *mut slotrt_getset,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = part(release, type_, 2, index)?;
            Ok(slotrt_getset { name: row.text(0), get: row.text(1), set: row.text(2), closure: row.text(3) })
        })
    }
}

/// A member of a type.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_type_member_at(
    release: u32,
    type_: u32,
    index: u32,
    out: *mut slotrt_member,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = part(release, type_, 3, index)?;
            Ok(slotrt_member { name: row.text(0), type_: row.text(1), field: row.text(2), flags: row.text(3) })
        })
    }
}

/// What `tp_iternext` of a class holds that is no iterator; it counts as an empty slot, as in PyTorch.
pub(super) const NO_ITERATOR: &CStr = c"_PyObject_NextNotImplemented";

/// Which slots a type of the tables fills, once `PyType_Ready` has run. What PyTorch's `get_type_slots` says of the live type.
///
/// # Safety
/// `out` is NULL or points to memory for the masks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_type_masks(release: u32, type_: u32, out: *mut slotrt_slot_masks) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let of = Release::of(release)?;
            let ty = of.row(Table::Types, type_)?;
            let mut masks = slotrt_slot_masks::default();
            for index in 0..ty.word(11) {
                let held = part(release, type_, 0, index)?;
                if held.str(1) != Some(NO_ITERATOR) {
                    masks.set(of.row(Table::Slots, held.word(0))?);
                }
            }
            Ok(masks)
        })
    }
}

/// Whether a mask has a bit, as PyTorch's `has_slot`: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_has_slot(mask: u64, bit: u32) -> i32 {
    i32::from(1u64.checked_shl(bit).is_some_and(|bit| mask & bit != 0))
}

impl slotrt_slot_masks {
    /// Sets the bit of a slot.
    pub(crate) fn set(&mut self, slot: Row) {
        let bit = 1u64.checked_shl(slot.word(6)).unwrap_or(0);
        match slot.word(5) {
            0 => self.sequence |= bit,
            1 => self.mapping |= bit,
            2 => self.number |= bit,
            3 => self.type_ |= bit,
            4 => self.other |= bit,
            _ => {}
        }
    }
}
