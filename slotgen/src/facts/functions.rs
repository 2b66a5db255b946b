//! Functions, prototypes and the typedefs of function pointers.

use serde::{Deserialize, Serialize};

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its C type, such as `PyObject *`; `...` for variadic ones.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
}

/// What a function takes and gives.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Signature {
    /// The C type of the result.
    pub returns: String,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
}

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Function {
    /// Its name; unique only together with `unit`.
    pub name: String,
    /// The file its name stands in.
    pub file: String,
    /// The line of its name (of the macro's use, if a macro made it).
    pub line: u32,
    /// The compiled file, where it is another than `file` (templates, `clinic/*.h`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<String>,
    /// The macro it came through, such as `SLOT1BINFULL`.
    #[serde(rename = "macro", skip_serializing_if = "Option::is_none", default)]
    pub through_macro: Option<String>,
    /// Whether it is `static`.
    #[serde(rename = "static")]
    pub is_static: bool,
    /// Digest of its text; comments and white space do not count.
    pub digest: String,
    /// What it takes and gives; not part of the JSON, where `digest` covers it.
    #[serde(skip)]
    pub signature: Signature,
    /// Names that stand before `(` in its body, sorted; not part of the JSON.
    #[serde(skip)]
    pub calls: Vec<String>,
    /// String literals of its body, as written, sorted; not part of the JSON.
    #[serde(skip)]
    pub strings: Vec<String>,
}

impl Function {
    /// The compiled file that the function belongs to.
    pub fn unit(&self) -> &str {
        self.unit.as_deref().unwrap_or(&self.file)
    }
}

/// A function declared in a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prototype {
    /// Its name.
    pub name: String,
    /// The header.
    pub file: String,
    /// The line of its name.
    pub line: u32,
    /// What it takes and gives.
    #[serde(flatten)]
    pub signature: Signature,
}

/// A typedef of a function pointer, such as `binaryfunc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionType {
    /// Its name.
    pub name: String,
    /// The header.
    pub file: String,
    /// The line of its name.
    pub line: u32,
    /// What the function takes and gives.
    #[serde(flatten)]
    pub signature: Signature,
}

/// A macro of the API, as `Python.h` leaves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// The header.
    pub file: String,
    /// The line of its name.
    pub line: u32,
    /// Its parameters; none for an object-like macro.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parameters: Option<Vec<String>>,
    /// Digest of its body; white space does not count.
    pub digest: String,
}
