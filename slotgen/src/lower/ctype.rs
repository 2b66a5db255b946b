//! C types as far as the translation tells them apart.

/// What a C value is to the translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CType {
    /// `void`.
    Void,
    /// A pointer to any Python object, types included.
    Object,
    /// An integer, by its Rust name.
    Int(&'static str),
    /// `double`.
    Double,
    /// `const char *`.
    Str,
    /// `PyThreadState *`: vanishes.
    Thread,
    /// A function pointer, by its typedef.
    Function(String),
    /// A pointer to a suite of slots: the type's field, such as `tp_as_number`.
    Suite(&'static str),
    /// `T **` or an array of objects.
    Objects,
    /// A pointer to an integer that the callee sets.
    OutInt(&'static str),
    /// Anything else, by its C text.
    Opaque(String),
}

/// The field of a type that points to a suite struct.
pub fn suite_field(structure: &str) -> Option<&'static str> {
    Some(match structure {
        "PyNumberMethods" => "tp_as_number",
        "PySequenceMethods" => "tp_as_sequence",
        "PyMappingMethods" => "tp_as_mapping",
        "PyAsyncMethods" => "tp_as_async",
        "PyBufferProcs" => "tp_as_buffer",
        _ => return None,
    })
}

/// The Rust integer type of a C integer type on 64-bit Linux.
pub fn integer(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" | "signed" | "int32_t" | "PySendResult" | "Py_UCS4_signed" | "wchar_t" => "i32",
        "unsigned" | "unsigned int" | "uint32_t" | "Py_UCS4" | "digit" => "u32",
        "long" | "long int" | "int64_t" | "long long" | "Py_intptr_t" | "ptrdiff_t" => "i64",
        "unsigned long" | "uint64_t" | "unsigned long long" => "u64",
        "Py_ssize_t" | "Py_hash_t" | "ssize_t" | "intptr_t" => "isize",
        "size_t" | "Py_uhash_t" | "uintptr_t" => "usize",
        "char" | "signed char" => "i8",
        "unsigned char" | "uint8_t" | "Py_UCS1" => "u8",
        "short" | "sdigit_short" => "i16",
        "unsigned short" | "uint16_t" | "Py_UCS2" => "u16",
        "bool" | "_Bool" => "i32",
        _ => return None,
    })
}

/// Whether a C type is a pointer to a struct that is no Python object, by its text.
pub fn is_pointer(text: &str) -> bool {
    if is_place(text) {
        return true;
    }
    text.strip_suffix('*').is_some_and(|name| {
        name != "void" && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ')) && integer(name).is_none()
    })
}

/// Whether a C type is a pointer to a pointer: to a struct that is no object, or to anything (`void **`).
pub fn is_place(text: &str) -> bool {
    text.strip_suffix("**").is_some_and(|name| {
        name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ')) && integer(name).is_none()
    })
}

impl CType {
    /// The type of `name` behind `stars` pointers; `objects` and `functions` are the known struct and function typedef names.
    pub fn of(name: &str, stars: usize, known: &dyn Known) -> Self {
        let name = name.trim_start_matches("enum ");
        if is_reference(name) {
            return Self::of("PyObject", stars + 1, known);
        }
        match (name, stars) {
            ("void", 0) => return Self::Void,
            ("double", 0) => return Self::Double,
            ("double", 1) => return Self::OutInt("f64"),
            ("char", 1) => return Self::Str,
            ("PyThreadState" | "PyInterpreterState", 1) => return Self::Thread,
            _ => {}
        }
        if known.is_object(name) {
            match stars {
                1 => return Self::Object,
                2 => return Self::Objects,
                _ => {}
            }
        }
        if let (Some(field), 1) = (suite_field(name), stars) {
            return Self::Suite(field);
        }
        if known.is_function(name) && stars == 0 {
            return Self::Function(name.to_owned());
        }
        match (integer(name).or_else(|| known.integer(name)), stars) {
            (Some(int), 0) => Self::Int(int),
            (Some(int), 1) => Self::OutInt(int),
            _ => Self::Opaque(format!("{name}{}", "*".repeat(stars))),
        }
    }
}

/// Whether a type is a reference of the evaluation stack, or a struct of one: an object, with the GIL.
pub(super) fn is_reference(name: &str) -> bool {
    matches!(name, "_PyStackRef" | "_PyCStackRef")
}

/// Names that a release's headers and the file itself define.
pub trait Known {
    /// Whether a struct typedef describes a Python object.
    fn is_object(&self, name: &str) -> bool;
    /// Whether a typedef is a pointer to a function.
    fn is_function(&self, name: &str) -> bool;
    /// The Rust type of a typedef that is an integer or an enumeration.
    fn integer(&self, name: &str) -> Option<&'static str>;
}
