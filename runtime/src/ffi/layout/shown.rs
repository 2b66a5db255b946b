//! Fields of structures, and what the interpreter shows of each by other ways.
use crate::ffi::raw::read;
use std::ffi::c_int;

/// What must stand in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Number(c_int),
    /// A pointer to this address.
    Address(usize),
    Byte(u8),
}

/// A field as slotrt knows it, and what must stand there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// `STRUCT.FIELD`.
    pub name: &'static str,
    pub offset: usize,
    pub shown: Shown,
}

/// `field!(STRUCT.FIELD, SHOWN)`.
macro_rules! field {
    ($structure:ident . $field:ident, $shown:expr) => {
        $crate::ffi::layout::shown::Field {
            name: concat!(stringify!($structure), ".", stringify!($field)),
            offset: std::mem::offset_of!($structure, $field),
            shown: $shown,
        }
    };
}
pub(super) use field;

/// The first of the fields where something else stands.
///
/// # Safety
/// `base` must be a live structure that is larger than all the offsets.
pub(super) unsafe fn differing(base: *const u8, fields: &[Field]) -> Option<&'static str> {
    let found = fields.iter().find(|field| {
        // SAFETY: as the caller promises.
        let there = unsafe {
            match field.shown {
                Shown::Number(_) => Shown::Number(read(base, field.offset)),
                Shown::Address(_) => Shown::Address(read(base, field.offset)),
                Shown::Byte(_) => Shown::Byte(read(base, field.offset)),
            }
        };
        there != field.shown
    });
    found.map(|field| field.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Built {
        flags: c_int,
        count: c_int,
        names: usize,
        owner: u8,
    }

    /// The same in another patch release.
    #[repr(C)]
    struct Running {
        flags: c_int,
        added: c_int,
        count: c_int,
        names: usize,
        owner: u8,
    }

    #[test]
    fn the_field_that_differs_is_named() {
        let fields = [
            field!(Built.flags, Shown::Number(3)),
            field!(Built.count, Shown::Number(7)),
            field!(Built.names, Shown::Address(0x1000)),
            field!(Built.owner, Shown::Byte(1)),
        ];
        let built = Built { flags: 3, count: 7, names: 0x1000, owner: 1 };
        let running = Running { flags: 3, added: 0, count: 7, names: 0x1000, owner: 1 };
        // SAFETY: both are live, and larger than the offsets.
        unsafe {
            assert_eq!(differing((&raw const built).cast(), &fields), None);
            assert_eq!(differing((&raw const running).cast(), &fields), Some("Built.count"));
            assert_eq!(differing((&raw const running).cast(), &fields[2..]), Some("Built.names"));
        }
    }
}
