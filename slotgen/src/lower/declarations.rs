//! What C text declares, as data.

use std::collections::{BTreeMap, BTreeSet};

use super::ctype::{CType, Known};
use super::ir::Signature;

/// What a text declares at its top level.
#[derive(Debug, Default)]
pub struct Declarations {
    /// Struct typedefs that begin with an object head.
    pub objects: BTreeSet<String>,
    /// Typedefs of function pointers with their heads.
    pub functions: BTreeMap<String, Signature>,
    /// Function prototypes and definitions by name.
    pub prototypes: BTreeMap<String, Signature>,
    /// Members of structs: `(struct, member)` to its type.
    pub members: BTreeMap<(String, String), CType>,
    /// Members in order, by struct.
    pub structs: BTreeMap<String, Vec<String>>,
    /// Enumeration constants.
    pub constants: BTreeMap<String, i128>,
    /// Typedefs of integers and enumerations, by their Rust type.
    pub integers: BTreeMap<String, &'static str>,
    /// File-level variables with their types.
    pub globals: BTreeMap<String, CType>,
    /// Members as they are declared, for their places in memory.
    pub shapes: Shapes,
}

impl Known for Declarations {
    fn is_object(&self, name: &str) -> bool {
        matches!(name, "PyObject" | "PyVarObject" | "PyTypeObject") || self.objects.contains(name)
    }
    fn is_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }
    fn integer(&self, name: &str) -> Option<&'static str> {
        self.integers.get(name).copied()
    }
}

/// A member as it is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Its name; nothing for what has none, such as an anonymous union.
    pub name: Option<String>,
    /// The type without pointers and arrays.
    pub base: String,
    /// Pointers in front of it.
    pub stars: usize,
    /// The size of an array as it is written.
    pub array: Option<Option<String>>,
    /// Whether it is a pointer to a function, written out.
    pub function: bool,
    /// Whether it shares its bytes with others.
    pub bits: bool,
}

/// The members of structs and unions as they are declared.
#[derive(Debug, Default)]
pub struct Shapes {
    /// By the name of the struct.
    pub members: BTreeMap<String, Vec<Shape>>,
    /// Those that are unions.
    pub unions: std::collections::BTreeSet<String>,
}
