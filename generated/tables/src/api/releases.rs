//! Releases, and how large their tables are.
use super::answer;
use crate::packed::{Release, Table, releases};
use crate::rows::slotrt_release;
use crate::status::{SLOTRT_BAD_ARGUMENT, SLOTRT_OUT_OF_RANGE, slotrt_status};

/// The version of this header: the major version in the upper 16 bits, which changes where a program must be compiled again.
pub const SLOTRT_TABLES_VERSION: u32 = 0x0001_0000;

/// The version of the library. It serves programs compiled against the same major and the same or an earlier minor version.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_tables_version() -> u32 {
    SLOTRT_TABLES_VERSION
}

/// How many releases the tables hold.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_release_count() -> u32 {
    releases()
}

/// The release at an index, oldest first.
///
/// # Safety
/// `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_release_at(index: u32, out: *mut slotrt_release) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let release = Release::at(index).ok_or(SLOTRT_OUT_OF_RANGE)?;
            Ok(slotrt_release {
                series: release.series(),
                from_binary: release.origin(),
                version: release.version(),
                have_argument: release.have_argument(),
            })
        })
    }
}

/// How many rows a table of a release has. `table` is one of `slotrt_table`.
///
/// # Safety
/// `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_count(release: u32, table: i32, out: *mut u32) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let tables = [Table::Slots, Table::Slotdefs, Table::Wrappers, Table::Types, Table::Opcodes, Table::Structs];
            let table = usize::try_from(table).ok().and_then(|table| tables.get(table)).ok_or(SLOTRT_BAD_ARGUMENT)?;
            Ok(Release::of(release)?.count(*table))
        })
    }
}
