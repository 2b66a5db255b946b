//! Row types of the per-release tables.

use crate::slots::Slot;

/// A row of `slotdefs[]`: how a special method and a slot stand for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slotdef {
    /// The special method, such as `__or__`.
    pub name: &'static str,
    /// The slot.
    pub slot: Slot,
    /// The C function that calls the method, such as `slot_nb_or`.
    pub function: Option<&'static str>,
    /// The C function that calls the slot, such as `wrap_binaryfunc_l`.
    pub wrapper: Option<&'static str>,
    /// `PyWrapperFlag_KEYWORDS` is 1.
    pub flags: u32,
    /// The method's doc string with its text signature.
    pub doc: &'static str,
}

/// Where the content of a slot comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The type's own initialiser or slot array.
    Own,
    /// The own slot of this base.
    Inherited(&'static str),
    /// `PyType_Ready` or its callers.
    Ready,
}

/// A C type and its filled slots, in the order of [`Slot`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type {
    /// The C variable: a `PyTypeObject`, or a `PyType_Spec` if `heap`.
    pub c_name: &'static str,
    /// `tp_name`.
    pub tp_name: &'static str,
    /// The compiled C file.
    pub file: &'static str,
    /// The C variable of the base, if one is named.
    pub base: Option<&'static str>,
    /// Whether the type is made from a `PyType_Spec`.
    pub heap: bool,
    /// Slot, C function, origin.
    pub slots: &'static [(Slot, &'static str, Origin)],
}

impl Type {
    /// What a slot holds: the C function and where it comes from.
    pub fn slot(&self, slot: Slot) -> Option<(&'static str, Origin)> {
        let position = self.slots.binary_search_by_key(&slot, |row| row.0).ok()?;
        self.slots.get(position).map(|row| (row.1, row.2))
    }
}
