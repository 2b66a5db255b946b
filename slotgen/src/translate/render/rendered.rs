//! A release's translation as text: what the rooms behind compare between releases, and put where it belongs.

use std::collections::BTreeSet;

use crate::translate::world::{Convention, ParamKind, Returns};

/// What one release's translation gives.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    /// The C files, in the order of their names.
    pub units: Vec<Unit>,
    /// From the identity of a function to its translation, per typedef of function pointers.
    pub dispatchers: Vec<Dispatcher>,
    /// Rows of members of structs by the method that reads them.
    pub fields: Vec<(String, String)>,
    /// Rows of the sizes of structs by name.
    pub structs: Vec<(String, String)>,
}

/// The functions of a C file.
#[derive(Debug, Clone)]
pub struct Unit {
    /// `Objects/abstract.c`.
    pub file: String,
    /// The Rust module's name.
    pub module: String,
    /// Whether the layout of its objects in memory is the world's.
    pub is_memory: bool,
    /// The functions in the order of C.
    pub functions: Vec<Function>,
}

/// A translated function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its C name.
    pub name: String,
    /// Its `FunctionId`.
    pub id: String,
    /// The Rust, with its comment.
    pub text: String,
    /// What it takes and gives.
    pub head: Head,
    /// The generated functions that it calls: module and name.
    pub calls: BTreeSet<(String, String)>,
    /// Its row in the table of functions.
    pub row: String,
    /// The expression that calls it with arguments that only the run knows, if any can.
    pub arm: Option<String>,
}

/// What a function takes and gives, as Rust types over `C: CApi`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The types of the parameters behind `c`.
    pub params: Vec<String>,
    /// The type of the result, if nothing is raised.
    pub returns: String,
}

/// The functions that a pointer of one typedef may lead to.
#[derive(Debug, Clone)]
pub struct Dispatcher {
    /// `binaryfunc`.
    pub typedef: String,
    /// What such a function takes and gives.
    pub head: Head,
    /// Module and name of a function, its `FunctionId`, and the expression that calls it.
    pub arms: Vec<Arm>,
}

/// A function that a pointer may lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// Module and name.
    pub key: (String, String),
    /// Its `FunctionId`.
    pub id: String,
    /// The expression that calls it.
    pub call: String,
}

impl Head {
    pub(super) fn new(convention: &Convention) -> Self {
        let kept = convention.params.iter().filter(|kind| **kind != ParamKind::Nothing);
        Self { params: kept.map(param).collect(), returns: result(&convention.returns) }
    }

    /// `c: &mut C, a0: …`.
    #[must_use]
    pub fn declared(&self) -> String {
        let params = self.params.iter().enumerate().map(|(index, ty)| format!(", a{index}: {ty}"));
        std::iter::once("c: &mut C".to_owned()).chain(params).collect()
    }

    /// `c, a0, …`.
    #[must_use]
    pub fn passed(&self) -> String {
        let params = (0..self.params.len()).map(|index| format!(", a{index}"));
        std::iter::once("c".to_owned()).chain(params).collect()
    }
}

/// The Rust type of a parameter.
pub(super) fn param(kind: &ParamKind) -> String {
    let maybe = |ty: &str, nullable: bool| if nullable { format!("Option<{ty}>") } else { ty.to_owned() };
    match kind {
        ParamKind::Object(nullable) => maybe("&C::Object", *nullable),
        ParamKind::Int(int) => (*int).to_owned(),
        ParamKind::Double => "f64".to_owned(),
        ParamKind::Str(nullable) => maybe("&str", *nullable),
        ParamKind::Slice => "&[C::Object]".to_owned(),
        ParamKind::OutObject(nullable) => maybe("&mut Option<C::Object>", *nullable),
        ParamKind::OutInt(int, nullable) => maybe(&format!("&mut {int}"), *nullable),
        ParamKind::Function(_, nullable) => maybe("&C::Function", *nullable),
        ParamKind::Arguments => "&[Argument<C::Object>]".to_owned(),
        ParamKind::Parsed => "&mut [Parsed<'_, C::Object>]".to_owned(),
        ParamKind::Strings => "&[&str]".to_owned(),
        ParamKind::Ints(int) => format!("&[{int}]"),
        ParamKind::Chars => "&mut [i8]".to_owned(),
        ParamKind::Pending(nullable) => maybe("&C::Error", *nullable),
        ParamKind::Nothing | ParamKind::Unsupported(_) => "()".to_owned(),
    }
}

/// The Rust type of a result.
pub(super) fn result(returns: &Returns) -> String {
    match returns {
        Returns::Unit | Returns::Unsupported(_) => "()".to_owned(),
        Returns::Object => "C::Object".to_owned(),
        Returns::Optional => "Option<C::Object>".to_owned(),
        Returns::Int(int, _) => (*int).to_owned(),
        Returns::Bool => "bool".to_owned(),
        Returns::Objects => "Vec<C::Object>".to_owned(),
        Returns::Optionals => "Vec<Option<C::Object>>".to_owned(),
        Returns::Double => "f64".to_owned(),
        Returns::Str => "String".to_owned(),
        Returns::Function(_) => "Option<C::Function>".to_owned(),
        Returns::Error => "C::Error".to_owned(),
    }
}
