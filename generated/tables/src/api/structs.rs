//! Layouts of structs: frames, code objects, functions, threads, types.
use super::{answer, text};
use crate::packed::{Release, Row, Table};
use crate::rows::{slotrt_field, slotrt_struct};
use crate::status::{SLOTRT_NOT_FOUND, SLOTRT_OUT_OF_RANGE, slotrt_status};
use core::ffi::{CStr, c_char};

/// The struct at an index.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_struct_at(release: u32, index: u32, out: *mut slotrt_struct) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let row = Release::of(release)?.row(Table::Structs, index)?;
            Ok(slotrt_struct {
                name: row.text(0),
                file: row.text(1),
                line: row.word(2),
                size: row.word(3),
                align: row.word(4),
                fields: row.word(6),
            })
        })
    }
}

/// The index of the struct of this name: `_PyInterpreterFrame`, `PyCodeObject`, …
///
/// # Safety
/// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_struct_find(release: u32, name: *const c_char, out: *mut u32) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let name = text(name)?;
            Release::of(release)?.named(Table::Structs, 0, name).map(|(index, _)| index).ok_or(SLOTRT_NOT_FOUND)
        })
    }
}

fn field(row: Row) -> slotrt_field {
    slotrt_field { name: row.text(0), type_: row.text(1), offset: row.word(2), size: row.word(3) }
}

/// A field of a struct, in order.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_field_at(
    release: u32,
    struct_: u32,
    index: u32,
    out: *mut slotrt_field,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let release = Release::of(release)?;
            let layout = release.row(Table::Structs, struct_)?;
            if index >= layout.word(6) {
                return Err(SLOTRT_OUT_OF_RANGE);
            }
            Ok(field(release.row(Table::Fields, layout.word(5) + index)?))
        })
    }
}

/// The field of a struct by their names.
///
/// # Safety
/// `struct_` and `name` are NULL or texts that end with NUL; `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_field_find(
    release: u32,
    struct_: *const c_char,
    name: *const c_char,
    out: *mut slotrt_field,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let (layout, name) = (text(struct_)?, text(name)?);
            find(Release::of(release)?, layout, name).map(field).ok_or(SLOTRT_NOT_FOUND)
        })
    }
}

/// The row of a field.
pub(super) fn find(release: Release, layout: &CStr, name: &CStr) -> Option<Row> {
    let (_, layout) = release.named(Table::Structs, 0, layout)?;
    let rows = (0..layout.word(6)).filter_map(|index| release.row(Table::Fields, layout.word(5) + index).ok());
    let mut found = rows.filter(|row| row.str(0) == Some(name));
    found.next()
}
