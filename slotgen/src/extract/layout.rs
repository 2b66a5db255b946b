//! Offsets, sizes and alignments as the x86-64 System V ABI lays structs out.

use rustc_hash::FxHashMap;

use super::ctype::{Aggregate, CType, Field};
use super::unit_facts::UnitFacts;
use crate::facts::{Expression, Field as Placed, Struct};

/// Deepest nesting of types that is followed.
const MAX_DEPTH: u32 = 64;

/// Structs of which the beginning is all that is laid out, with its last field: behind it come types of other libraries.
const BEGINNINGS: [(&str, &str); 2] = [("PyInterpreterState", "ceval"), ("_PyRuntimeState", "ceval")];

/// The types of the headers.
pub(super) struct Types<'f> {
    tagged: FxHashMap<&'f str, (&'f Aggregate, &'f str, u32)>,
    typedefs: FxHashMap<&'f str, (&'f CType, &'f str, u32)>,
    constants: FxHashMap<&'f str, i64>,
    own_macros: FxHashMap<&'f str, &'f str>,
    macros: &'f dyn Fn(&str) -> Option<String>,
}

#[derive(Clone, Copy)]
struct Size {
    size: u64,
    align: u64,
}

impl<'f> Types<'f> {
    /// Collects the types of headers; `macros` gives the body of an object-like macro.
    pub(super) fn new(headers: &'f [UnitFacts], macros: &'f dyn Fn(&str) -> Option<String>) -> Self {
        let mut types = Self {
            tagged: FxHashMap::default(),
            typedefs: FxHashMap::default(),
            constants: FxHashMap::default(),
            own_macros: FxHashMap::default(),
            macros,
        };
        for header in headers {
            for tagged in &header.tagged {
                types.tagged.entry(&tagged.name).or_insert((&tagged.aggregate, &tagged.file, tagged.line));
            }
            for typedef in &header.typedefs {
                types.typedefs.entry(&typedef.name).or_insert((&typedef.ty, &typedef.file, typedef.line));
            }
            types.own_macros.extend(header.macros.iter().map(|(name, body)| (name.as_str(), body.as_str())));
            types.constants.extend(header.constants.iter().map(|(name, &value)| (name.as_str(), value)));
        }
        types
    }

    /// The struct that a name (a tag without `struct`, or a typedef) stands for.
    pub(super) fn aggregate(&self, name: &str) -> Option<(&'f Aggregate, &'f str, u32)> {
        let mut name = name.to_owned();
        for _ in 0..MAX_DEPTH {
            if let Some(&found) =
                self.tagged.get(name.as_str()).or_else(|| self.tagged.get(format!("struct {name}").as_str()))
            {
                return Some(found);
            }
            match self.typedefs.get(name.as_str())? {
                (CType::Aggregate(aggregate), file, line) => return Some((aggregate, file, *line)),
                (CType::Named(next), ..) => name = next.clone(),
                _ => return None,
            }
        }
        None
    }

    /// Whether a type is a typedef of a function pointer.
    pub(super) fn is_function_pointer(&self, ty: &str) -> bool {
        let mut name = ty;
        for _ in 0..MAX_DEPTH {
            match self.typedefs.get(name) {
                Some((CType::Pointer(inner), ..)) => return matches!(inner.as_ref(), CType::Function(..)),
                Some((CType::Named(next), ..)) => name = next,
                _ => return false,
            }
        }
        false
    }

    /// The layout of a struct, or why it cannot be computed.
    pub(super) fn layout(&self, name: &str) -> Result<Struct, String> {
        let (aggregate, file, line) = self.aggregate(name).ok_or_else(|| format!("no header defines `{name}`"))?;
        let mut fields = Vec::new();
        let last = BEGINNINGS.iter().find(|(known, _)| *known == name).map(|(_, last)| *last);
        let whole = self.place_until(aggregate, last, 0, &mut fields, 0)?;
        let (size, align) = (whole.size as u32, whole.align as u32);
        Ok(Struct { name: name.to_owned(), file: file.to_owned(), line, size, align, fields })
    }

    fn place(&self, aggregate: &Aggregate, start: u64, out: &mut Vec<Placed>, depth: u32) -> Result<Size, String> {
        self.place_until(aggregate, None, start, out, depth)
    }

    /// Up to and with the field `last`, if that is given.
    fn place_until(
        &self,
        aggregate: &Aggregate,
        last: Option<&str>,
        start: u64,
        out: &mut Vec<Placed>,
        depth: u32,
    ) -> Result<Size, String> {
        if depth > MAX_DEPTH {
            return Err("types are nested too deeply".to_owned());
        }
        let (mut bits, mut largest, mut align) = (0u64, 0u64, 1u64);
        for field in &aggregate.fields {
            let held = self.size(&field.ty, depth + 1)?;
            let offset = if let Some(width) = &field.bits {
                let width = self.number(width).ok_or_else(|| format!("the width `{width}` is no number"))? as u64;
                let unit = held.size * 8;
                if width == 0 || bits / unit != (bits + width - 1) / unit {
                    bits = bits.next_multiple_of(unit);
                }
                let offset = bits / unit * held.size;
                bits += width;
                offset
            } else {
                let offset = bits.div_ceil(8).next_multiple_of(held.align);
                bits = (offset + held.size) * 8;
                offset
            };
            // Unnamed bit-fields do not align the struct.
            if field.bits.is_none() || field.name.is_some() {
                align = align.max(held.align);
            }
            let offset = if aggregate.is_union { 0 } else { offset };
            largest = largest.max(bits.div_ceil(8));
            if aggregate.is_union {
                bits = 0;
            }
            self.record(field, start + offset, held, out, depth)?;
            if last.is_some() && field.name.as_deref() == last {
                break;
            }
        }
        let size = if aggregate.is_union { largest } else { bits.div_ceil(8) };
        Ok(Size { size: size.next_multiple_of(align), align })
    }

    fn record(&self, field: &Field, offset: u64, held: Size, out: &mut Vec<Placed>, depth: u32) -> Result<(), String> {
        match (&field.name, &field.ty) {
            (Some(name), ty) => {
                out.push(Placed {
                    name: name.clone(),
                    ty: ty.to_string(),
                    offset: offset as u32,
                    size: held.size as u32,
                });
            }
            (None, CType::Aggregate(inner)) => {
                self.place(inner, offset, out, depth + 1)?;
            }
            (None, _) => {}
        }
        Ok(())
    }

    fn size(&self, ty: &CType, depth: u32) -> Result<Size, String> {
        if depth > MAX_DEPTH {
            return Err("types are nested too deeply".to_owned());
        }
        match ty {
            CType::Pointer(_) => Ok(Size { size: 8, align: 8 }),
            CType::Const(inner) => self.size(inner, depth + 1),
            CType::Array(inner, length) => {
                let element = self.size(inner, depth + 1)?;
                let count = if length.is_empty() { Some(0) } else { self.number(length) };
                let count = count.and_then(|count| u64::try_from(count).ok());
                let count = count.ok_or_else(|| format!("the array length `{length}` is no number"))?;
                let size = element.size.checked_mul(count).ok_or_else(|| format!("`{ty}` is too large"))?;
                Ok(Size { size, align: element.align })
            }
            CType::Function(..) => Err("a function has no size".to_owned()),
            CType::Aggregate(aggregate) => self.place(aggregate, 0, &mut Vec::new(), depth + 1),
            CType::Named(name) => self.named(name, depth),
        }
    }

    fn named(&self, name: &str, depth: u32) -> Result<Size, String> {
        if depth > MAX_DEPTH {
            return Err("types are nested too deeply".to_owned());
        }
        if let Some(size) = primitive(name) {
            return Ok(Size { size, align: size.min(8) });
        }
        if let Some((aggregate, ..)) = self.tagged.get(name) {
            return self.place(aggregate, 0, &mut Vec::new(), depth + 1);
        }
        match self.typedefs.get(name) {
            Some((ty, ..)) => self.size(ty, depth + 1),
            // `PY_UINT32_T` and its like are macros for a type.
            None => match self.body(name) {
                Some(body) if body != name => self.named(&body, depth + 1),
                _ => Err(format!("the size of `{name}` is not known")),
            },
        }
    }

    /// The value of a constant expression.
    pub(super) fn number(&self, text: &str) -> Option<i64> {
        self.number_within(text, 0)
    }

    fn number_within(&self, text: &str, depth: u32) -> Option<i64> {
        if depth > 16 {
            return None;
        }
        let expression: Expression = text.parse().ok()?;
        expression.evaluate(&|name| {
            let known = self.constants.get(name).copied();
            known.or_else(|| self.number_within(&self.body(name)?, depth + 1))
        })
    }

    /// The body of an object-like macro: of the API, or of a header that `Python.h` does not bring.
    fn body(&self, name: &str) -> Option<String> {
        (self.macros)(name).or_else(|| self.own_macros.get(name).map(|body| (*body).to_owned()))
    }
}

/// Sizes of the types that C and the platform's headers define.
fn primitive(name: &str) -> Option<u64> {
    if name == "enum" || name.starts_with("enum ") {
        return Some(4);
    }
    Some(match name {
        "char" | "signed char" | "unsigned char" | "bool" | "_Bool" | "int8_t" | "uint8_t" => 1,
        "short" | "unsigned short" | "int16_t" | "uint16_t" => 2,
        "int" | "unsigned int" | "unsigned" | "signed int" | "int32_t" | "uint32_t" | "float" | "wchar_t" => 4,
        "long" | "unsigned long" | "long long" | "unsigned long long" | "long int" | "unsigned long int" => 8,
        "int64_t" | "uint64_t" | "size_t" | "ssize_t" | "Py_ssize_t" | "intptr_t" | "uintptr_t" | "double"
        | "time_t" | "dev_t" | "ino_t" | "atomic_uintptr_t" => 8,
        "uint" | "atomic_int" | "sig_atomic_t" | "pthread_key_t" | "NATIVE_TSS_KEY_T" => 4,
        "pthread_cond_t" => 48,
        "pthread_mutex_t" => 40,
        _ => return None,
    })
}
