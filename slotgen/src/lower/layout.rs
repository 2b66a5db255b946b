//! Where the members of structs lie in memory on 64-bit Linux, as the C declarations say.

use super::ctype::{CType, integer};
use super::declarations::{Declarations, Shape};

/// A member's place: what leads to it, and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the start of the struct; behind each but the last lies a pointer to the struct that the next counts from.
    pub path: Vec<usize>,
    /// The variant of `generated::members::Kind`.
    pub kind: &'static str,
}

/// Size and alignment.
type Room = (usize, usize);

/// A struct that others begin with: its name, its members with their offsets, its size.
type Head = (&'static str, &'static [(&'static str, usize)], usize);

/// Heads whose declarations are unions and macros.
const HEADS: [Head; 2] =
    [("PyObject", &[("ob_refcnt", 0), ("ob_type", 8)], 16), ("PyVarObject", &[("ob_base", 0), ("ob_size", 16)], 24)];

impl Declarations {
    /// The size of a struct, if all its members are understood.
    pub fn size_of(&self, structure: &str) -> Option<usize> {
        self.room(structure, 0).map(|room| room.0)
    }

    /// Where a member lies.
    pub fn field(&self, structure: &str, path: &[String]) -> Option<Field> {
        let mut name = structure.trim_start_matches("struct ").to_owned();
        let mut offsets = vec![0];
        for (index, member) in path.iter().enumerate() {
            let (offset, shape) = self.offset(&name, member)?;
            *offsets.last_mut()? += offset;
            if index + 1 == path.len() {
                return Some(Field { path: offsets, kind: self.kind(&shape)? });
            }
            match (shape.stars, &shape.array) {
                (0, None) => {}
                (1, None) => offsets.push(0),
                _ => return None,
            }
            name = shape.base.trim_start_matches("struct ").to_owned();
        }
        None
    }

    fn offset(&self, structure: &str, member: &str) -> Option<(usize, Shape)> {
        if let Some((_, members, _)) = HEADS.iter().find(|head| head.0 == structure) {
            let (name, offset) = members.iter().find(|one| one.0 == member)?;
            let (base, stars) = match *name {
                "ob_type" => ("PyTypeObject", 1),
                "ob_base" => ("PyObject", 0),
                _ => ("Py_ssize_t", 0),
            };
            let shape = Shape { name: None, base: base.to_owned(), stars, array: None, function: false, bits: false };
            return Some((*offset, shape));
        }
        let mut at = 0usize;
        for shape in self.shapes.members.get(structure)? {
            let (size, align) = self.room_of(shape, 0)?;
            at = at.next_multiple_of(align);
            let here = if self.shapes.unions.contains(structure) { 0 } else { at };
            if shape.name.as_deref() == Some(member) {
                return Some((here, shape.clone()));
            }
            at += size;
        }
        None
    }

    fn room(&self, structure: &str, depth: usize) -> Option<Room> {
        let structure = structure.trim_start_matches("struct ");
        if let Some(head) = HEADS.iter().find(|head| head.0 == structure) {
            return Some((head.2, 8));
        }
        if depth > 8 {
            return None;
        }
        let (mut at, mut most, mut largest) = (0usize, 1, 0);
        for shape in self.shapes.members.get(structure)? {
            let (size, align) = self.room_of(shape, depth + 1)?;
            at = at.next_multiple_of(align) + size;
            most = most.max(align);
            largest = largest.max(size);
        }
        let size = if self.shapes.unions.contains(structure) { largest } else { at };
        Some((size.next_multiple_of(most), most))
    }

    fn room_of(&self, shape: &Shape, depth: usize) -> Option<Room> {
        if shape.bits || shape.name.is_none() {
            return None;
        }
        let (size, align) = if shape.stars > 0 || shape.function || self.functions.contains_key(&shape.base) {
            (8, 8)
        } else {
            self.plain(&shape.base, depth)?
        };
        Some(match &shape.array {
            None => (size, align),
            // A flexible array has no size of its own.
            Some(None) => (0, align),
            Some(Some(text)) => (size * text.trim().parse::<usize>().ok()?, align),
        })
    }

    fn plain(&self, base: &str, depth: usize) -> Option<Room> {
        let size = match base {
            "double" => 8,
            "float" => 4,
            "bool" | "_Bool" => 1,
            _ => match integer(base).or_else(|| self.integers.get(base).copied()) {
                Some(int) => width(int),
                None => return self.room(base, depth),
            },
        };
        Some((size, size))
    }

    fn kind(&self, shape: &Shape) -> Option<&'static str> {
        if shape.bits {
            return None;
        }
        if shape.function {
            return Some("Function");
        }
        let array = shape.array.is_some();
        Some(match CType::of(&shape.base, shape.stars, self) {
            _ if array && matches!((shape.base.as_str(), shape.stars), ("char", 0)) => "TextHere",
            CType::Object if array => "ObjectsHere",
            CType::Objects if !array => "Objects",
            _ if array => return None,
            CType::Object => "Object",
            CType::Double => "F64",
            CType::Str => "Text",
            CType::Function(_) => "Function",
            CType::Int(_) if matches!(shape.base.as_str(), "bool" | "_Bool") => "U8",
            CType::Int(int) => number(int),
            CType::OutInt(_) | CType::Thread | CType::Suite(_) => "Pointer",
            CType::Opaque(text) if text.ends_with('*') => "Pointer",
            CType::Opaque(_) if shape.stars == 0 => "Struct",
            _ => return None,
        })
    }
}

fn width(int: &str) -> usize {
    match int {
        "i8" | "u8" => 1,
        "i16" | "u16" => 2,
        "i32" | "u32" => 4,
        _ => 8,
    }
}

fn number(int: &str) -> &'static str {
    match int {
        "i8" => "I8",
        "u8" => "U8",
        "i16" => "I16",
        "u16" => "U16",
        "i32" => "I32",
        "u32" => "U32",
        "u64" | "usize" => "U64",
        _ => "I64",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::declarations;

    fn read(text: &str) -> Declarations {
        let mut known = Declarations::default();
        for _ in 0..3 {
            declarations(text, &mut known);
        }
        known
    }

    #[test]
    fn members_lie_where_c_puts_them() {
        let known = read(
            "typedef struct { PyObject ob_base; int a; char b; long c; PyObject *d; } one;
             typedef struct { int kind; union { double x; int y; } u; one inner; one *outer; PyObject *items[1]; } two;
             typedef struct { unsigned int a:2; int b; } three;",
        );
        let field = |structure: &str, path: &[&str]| {
            let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
            known.field(structure, &path).map(|field| (field.path, field.kind))
        };
        assert_eq!(field("one", &["a"]), Some((vec![16], "I32")));
        assert_eq!(field("one", &["c"]), Some((vec![24], "I64")));
        assert_eq!(field("one", &["d"]), Some((vec![32], "Object")));
        assert_eq!(known.size_of("one"), Some(40));
        assert_eq!(field("two", &["inner", "d"]), Some((vec![48], "Object")));
        assert_eq!(field("two", &["outer", "d"]), Some((vec![56, 32], "Object")));
        assert_eq!(field("two", &["items"]), Some((vec![64], "ObjectsHere")));
        assert_eq!(field("three", &["b"]), None);
    }
}
