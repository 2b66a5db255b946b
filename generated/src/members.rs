//! Hand-written: where members of C structs lie in memory, for a world that works on it.

use std::cmp::Ordering;

use crate::tables::{Row, Rows};

/// A member of a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The method of the vocabulary that reads it, such as `seqiterobject_it_index`.
    ///
    /// `set_` in front of it sets it; `_at` behind it is an element, `_all` are all elements, `_text` is the C string there.
    pub name: &'static str,
    /// Bytes from the start of the struct. Behind each but the last lies a pointer, from whose target the next one counts.
    pub path: &'static [usize],
    /// What lies there.
    pub kind: Kind,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pointer to an object, or NULL.
    Object,
    /// A pointer to an array of objects, each of which may be NULL.
    Objects,
    /// The objects themselves: an array at the end of the struct.
    ObjectsHere,
    /// A pointer to anything else, or NULL.
    Pointer,
    /// A struct within the struct: what is read is its address.
    Struct,
    /// A pointer to a function, or NULL.
    Function,
    /// A pointer to a C string, or NULL.
    Text,
    /// The characters themselves.
    TextHere,
    /// `signed char`.
    I8,
    /// `unsigned char`, `bool`.
    U8,
    /// `short`.
    I16,
    /// `unsigned short`.
    U16,
    /// `int`.
    I32,
    /// `unsigned int`.
    U32,
    /// `long`, `Py_ssize_t`, `Py_hash_t`.
    I64,
    /// `unsigned long`, `size_t`.
    U64,
    /// `double`.
    F64,
}

/// A struct and its size in bytes.
pub type Struct = (&'static str, usize);

impl Row for Field {
    type Key = &'static str;
    fn key(&self) -> Self::Key {
        self.name
    }
}

impl Row for Struct {
    type Key = &'static str;
    fn key(&self) -> Self::Key {
        self.0
    }
}

/// The member that a method of the vocabulary reads.
pub fn field(fields: Rows<Field>, name: &str) -> Option<&'static Field> {
    found(fields, |field| field.name.cmp(name))
}

/// The size of a struct in bytes.
pub fn size(structs: Rows<Struct>, name: &str) -> Option<usize> {
    found(structs, |row| row.0.cmp(name)).map(|row| row.1)
}

fn found<T>(rows: Rows<T>, compared: impl Fn(&T) -> Ordering) -> Option<&'static T> {
    let find = |part: &&'static [T]| part.get(part.binary_search_by(&compared).ok()?);
    rows.0.iter().find_map(find)
}
