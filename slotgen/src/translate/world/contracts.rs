//! The reviewed table of what prototypes cannot say, and the conventions of calls that follow from it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::lower::{CType, Signature};

/// A row of the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// What calling it means.
    pub meaning: String,
    /// Parameters that may be NULL.
    #[serde(default)]
    pub nullable: Vec<usize>,
    /// Untyped parameters that are pointers to functions.
    #[serde(default)]
    pub functions: Vec<usize>,
    /// Whether it answers a caller's mistake (NULL where an object must be), so that a test for NULL before it says nothing.
    #[serde(default)]
    pub guard: bool,
    /// Parameters that are room for characters.
    #[serde(default)]
    pub chars: Vec<usize>,
    /// Untyped parameters, or pointers to bytes, that are objects.
    #[serde(default)]
    pub objects: Vec<usize>,
    /// Parameters that vanish: room that the caller lends.
    #[serde(default)]
    pub gone: Vec<usize>,
    /// The same by name, where releases have others before them.
    #[serde(default)]
    pub room: Vec<String>,
    /// Parameters by name that some releases have, and that vanish: only a call that gives 0 is translated.
    #[serde(default)]
    pub zero: Vec<String>,
    /// The parameter that says how many of the objects that it gives are not NULL.
    #[serde(default)]
    pub required: Option<usize>,
    /// Whether it hands an exception on: with NULL as an argument, it gives NULL.
    #[serde(default)]
    pub through: bool,
    /// The head of a function of the C library, whose headers are not read.
    #[serde(default)]
    pub prototype: String,
    /// The same in Rust, for every world, in the words of the prototype's parameters.
    #[serde(default)]
    pub rust: String,
    /// Whether it is about the pending exception, which the world is given before the arguments.
    #[serde(default)]
    pub pending: bool,
    /// Whether it is asked without a pending exception, too.
    #[serde(default)]
    pub either: bool,
    /// Whether no exception is pending any more behind it.
    #[serde(default)]
    pub clears: bool,
    /// Whether it sets no exception, whatever it gives; unlike what is `infallible` it may run others' code.
    #[serde(default)]
    pub silent: bool,
    /// What it gives with an exception, where that is not -1.
    #[serde(default)]
    pub error: Option<i128>,
    /// What it always gives; its arguments are evaluated and forgotten.
    #[serde(default)]
    pub constant: Option<i32>,
    /// Why the row is right; every row must say.
    pub reason: String,
}

/// The table.
#[derive(Debug, Default)]
pub struct Contracts(BTreeMap<String, Contract>);

impl Contracts {
    /// The table that comes with slotgen.
    pub fn load() -> Result<Self, String> {
        let rows: BTreeMap<String, Contract> =
            toml::from_str(include_str!("contracts.toml")).map_err(|error| format!("contracts.toml: {error}"))?;
        match rows.iter().find(|(_, row)| row.reason.trim().is_empty()) {
            Some((name, _)) => Err(format!("contracts.toml: the row `{name}` gives no reason")),
            None => Ok(Self(rows)),
        }
    }
    /// Whether other files ask the world for what a file defines: the layout of its objects in memory is the world's.
    pub fn memory(&self, file: &str) -> bool {
        self.meaning(file) == "memory"
    }
    /// The heads that rows give.
    pub fn prototypes(&self) -> String {
        self.0.values().filter(|row| !row.prototype.is_empty()).map(|row| format!("{};\n", row.prototype)).collect()
    }
    /// The typedefs of functions that slots, or what is like them, hold.
    pub fn slots(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, row)| row.meaning == "slot").map(|(name, _)| name.as_str())
    }
    /// The row of a name.
    pub fn get(&self, name: &str) -> Option<&Contract> {
        self.0.get(name)
    }
    /// The meaning of a name, or nothing.
    pub fn meaning(&self, name: &str) -> &str {
        self.get(name).map_or("", |row| &row.meaning)
    }
    /// Whether a function is asked of the world although its body is at hand.
    pub fn kept(&self, name: &str) -> bool {
        let meaning = self.meaning(name);
        !meaning.is_empty() && !["slot", "own", "world"].iter().any(|word| meaning.split('-').next() == Some(word))
    }
}

/// What a parameter becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamKind {
    /// `&C::Object`, or an `Option` of it.
    Object(bool),
    /// A Rust integer.
    Int(&'static str),
    /// `f64`.
    Double,
    /// `&str`, or an `Option` of it.
    Str(bool),
    /// `&[C::Object]`.
    Slice,
    /// `&[&str]`.
    Strings,
    /// A slice of integers, to read.
    Ints(&'static str),
    /// `&mut [i8]`: room for characters.
    Chars,
    /// `&mut Option<C::Object>`, or an `Option` of it.
    OutObject(bool),
    /// `&mut` integer, or an `Option` of it.
    OutInt(&'static str, bool),
    /// `&C::Function`, or an `Option` of it; with its typedef.
    Function(String, bool),
    /// Vanishes.
    Nothing,
    /// `&[Argument<C::Object>]`.
    Arguments,
    /// `&mut [Parsed<C::Object>]`: variables that a parser of arguments sets.
    Parsed,
    /// `&C::Error`: the pending exception; or an `Option` of it, where there may be none.
    Pending(bool),
    /// Cannot be translated: the C type.
    Unsupported(String),
}

impl ParamKind {
    /// Whether NULL may be given, where the kind leaves that open.
    pub fn nullable(&self) -> Option<bool> {
        match self {
            Self::Object(nullable)
            | Self::Str(nullable)
            | Self::Function(_, nullable)
            | Self::OutObject(nullable)
            | Self::OutInt(_, nullable) => Some(*nullable),
            _ => None,
        }
    }
    /// The same, but for functions, to be changed.
    pub fn nullable_mut(&mut self) -> Option<&mut bool> {
        match self {
            Self::Object(nullable) | Self::Str(nullable) | Self::OutObject(nullable) | Self::OutInt(_, nullable) => {
                Some(nullable)
            }
            _ => None,
        }
    }
    /// Takes over from another use of the same parameter that NULL may be given.
    pub fn widen(&mut self, other: &Self) {
        if let (Some(mine), true) = (self.nullable_mut(), other.nullable() == Some(true)) {
            *mine = true;
        }
    }
}

/// What a result becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Returns {
    /// `()`.
    Unit,
    /// An object.
    Object,
    /// An object or nothing.
    Optional,
    /// An integer and whether it is never negative.
    Int(&'static str, bool),
    /// A truth value.
    Bool,
    /// Objects that a pointer leads to.
    Objects,
    /// The same, each of which may be NULL.
    Optionals,
    /// `f64`.
    Double,
    /// A string.
    Str,
    /// A function pointer or NULL, by its typedef.
    Function(String),
    /// The exception to raise.
    Error,
    /// Cannot be translated: the C type.
    Unsupported(String),
}

/// How a function is called and what it gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Convention {
    /// Parameters, as many as in C.
    pub params: Vec<ParamKind>,
    /// The result.
    pub returns: Returns,
    /// Whether it may set an exception.
    pub raises: bool,
    /// The C value that comes with an exception; `None` is NULL.
    pub error: Option<i128>,
    /// Whether paths that give another value with an exception are not followed.
    pub strict: bool,
}

/// What a parameter of a type becomes, unless something is known of it.
pub fn param_kind(ctype: &CType, nullable: bool) -> ParamKind {
    match ctype {
        CType::Object => ParamKind::Object(nullable),
        CType::Int(int) => ParamKind::Int(int),
        CType::Double => ParamKind::Double,
        CType::Str => ParamKind::Str(nullable),
        CType::Thread => ParamKind::Nothing,
        CType::Objects => ParamKind::OutObject(nullable),
        CType::OutInt(int) => ParamKind::OutInt(int, nullable),
        CType::Function(name) => ParamKind::Function(name.clone(), nullable),
        CType::Suite(name) => ParamKind::Unsupported((*name).to_owned()),
        CType::Void => ParamKind::Unsupported("void".to_owned()),
        CType::Opaque(text) if crate::lower::is_parser(text) => ParamKind::Strings,
        CType::Opaque(text) if crate::lower::is_pointer(text) => ParamKind::Object(nullable),
        CType::Opaque(text) if text == "char**" => ParamKind::Strings,
        CType::Opaque(text) => ParamKind::Unsupported(text.clone()),
    }
}

/// The convention that a prototype, and the row of its name, say.
pub fn convention(name: &str, signature: &Signature, row: Option<&Contract>) -> Convention {
    let meaning = row
        .map_or("", |row| row.meaning.as_str())
        .trim_start_matches("keep-")
        .trim_start_matches("own-")
        .trim_start_matches("world-")
        .trim_start_matches("slot-");
    let nullable = |index: &usize| row.is_some_and(|row| row.nullable.contains(index));
    let mut params: Vec<_> =
        signature.params.iter().enumerate().map(|(index, param)| param_kind(&param.ctype, nullable(&index))).collect();
    for index in row.iter().flat_map(|row| &row.functions) {
        if let Some(kind) = params.get_mut(*index) {
            *kind = ParamKind::Function(String::new(), nullable(index));
        }
    }
    for index in row.iter().flat_map(|row| &row.gone) {
        if let Some(kind) = params.get_mut(*index) {
            *kind = ParamKind::Nothing;
        }
    }
    for (kind, param) in params.iter_mut().zip(&signature.params) {
        if row.is_some_and(|row| row.room.contains(&param.name) || row.zero.contains(&param.name)) {
            *kind = ParamKind::Nothing;
        }
    }
    for index in row.iter().flat_map(|row| &row.chars) {
        if let Some(kind) = params.get_mut(*index) {
            *kind = ParamKind::Chars;
        }
    }
    for index in row.iter().flat_map(|row| &row.objects) {
        if let Some(kind) = params.get_mut(*index) {
            *kind = ParamKind::Object(nullable(index));
        }
    }
    if signature.variadic {
        params.push(if meaning == "zero-fails" { ParamKind::Parsed } else { ParamKind::Arguments });
    }
    let pointer =
        matches!(&signature.returns, CType::Opaque(text) if text == "void*" || crate::lower::is_pointer(text));
    let test =
        name.ends_with("_Check") || name.ends_with("_CheckExact") || name.starts_with("Py_Is") || name == "Py_IS_TYPE";
    let silent = row.is_some_and(|row| row.silent);
    let raises = !(test || silent || matches!(meaning, "infallible" | "same"));
    let (returns, error) = match &signature.returns {
        _ if meaning == "raises" => (Returns::Error, None),
        CType::Object if meaning == "optional" => (Returns::Optional, None),
        CType::Object => (Returns::Object, None),
        CType::Objects if meaning == "optionals" => (Returns::Optionals, None),
        CType::Objects if meaning == "optional" => (Returns::Optional, None),
        CType::Objects => (Returns::Object, None),
        _ if pointer && meaning == "optional" => (Returns::Optional, None),
        _ if pointer => (Returns::Object, None),
        CType::Int(int) if meaning == "zero-fails" => (Returns::Int(int, true), Some(0)),
        CType::Int(_) if test => (Returns::Bool, Some(-1)),
        CType::Int(int) => {
            let error = row.and_then(|row| row.error).unwrap_or(-1);
            (Returns::Int(int, meaning != "ambiguous" && raises), Some(error))
        }
        CType::Void => (Returns::Unit, None),
        CType::Double => (Returns::Double, Some(-1)),
        CType::Str => (Returns::Str, None),
        CType::Function(function) => (Returns::Function(function.clone()), None),
        other => (Returns::Unsupported(format!("{other:?}")), None),
    };
    let raises = raises
        && !matches!(signature.returns, CType::Function(_))
        && (signature.returns != CType::Void || meaning == "raises");
    Convention { params, returns, raises, error, strict: false }
}
