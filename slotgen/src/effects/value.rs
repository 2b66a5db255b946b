//! What the analysis knows of a C value.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::origin::Origin;
use crate::lower::CType;

/// What a value is, as far as loads from it are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Class {
    /// A number, or a pointer to what is no object.
    #[default]
    Data,
    /// A pointer to numbers: what is loaded from it leads nowhere.
    Numbers,
    /// A pointer to an object.
    Object,
    /// An object's own array of objects.
    Objects,
    /// An array of arguments, or a variable of the caller: its objects count as the arguments themselves.
    Arguments,
    /// A structure, or a pointer to one.
    Struct,
    /// Thread or interpreter state.
    Thread,
    /// Cannot be told.
    Unknown,
}

/// What a function pointer may point to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pointer {
    /// A slot of the types of these origins.
    Slot(Origin, String),
    /// The slot at the offset that a parameter gives.
    SlotAt(Origin, usize),
    /// A function of the program.
    Function(usize),
    /// A leaf.
    Leaf(String),
    /// What a parameter holds.
    Parameter(usize),
    /// What a member of this name holds.
    Member(String),
    /// The offset of a slot.
    Offset(String),
    /// Cannot be told; what it was loaded from.
    Unknown(String),
}

/// A value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Value {
    pub origin: Origin,
    pub class: Class,
    pub pointers: BTreeSet<Pointer>,
    /// The local variable whose memory this points to.
    pub local: Option<String>,
    /// The file-level variable that this is the address of.
    pub global: Option<String>,
    /// The structure that it is, or points to.
    pub structure: Option<Rc<str>>,
}

impl Value {
    pub fn new(origin: Origin, class: Class) -> Self {
        Self { origin, class, ..Self::default() }
    }

    pub fn pointer(pointer: Pointer) -> Self {
        Self { pointers: BTreeSet::from([pointer]), ..Self::default() }
    }

    /// Adds what another path gives; tells whether that was new.
    pub fn join(&mut self, other: &Self) -> bool {
        let before = (self.origin, self.pointers.len(), self.class);
        self.origin.add(other.origin);
        self.pointers.extend(other.pointers.iter().cloned());
        if self.class == Class::Data && self.origin.is_none() {
            self.class = other.class;
        }
        if self.local.is_none() {
            self.local.clone_from(&other.local);
        }
        if self.global.is_none() {
            self.global.clone_from(&other.global);
        }
        if self.structure.is_none() {
            self.structure.clone_from(&other.structure);
        }
        before != (self.origin, self.pointers.len(), self.class)
    }
}

/// The class of a declared type.
pub fn class_of(ctype: &CType) -> Class {
    match ctype {
        CType::Object => Class::Object,
        CType::Objects => Class::Objects,
        CType::Thread => Class::Thread,
        CType::Suite(_) | CType::Opaque(_) => Class::Struct,
        // A `uintptr_t` may be a pointer with marks.
        CType::OutInt("usize") => Class::Data,
        CType::Str | CType::OutInt(_) => Class::Numbers,
        CType::Void | CType::Int(_) | CType::Double | CType::Function(_) => Class::Data,
    }
}
