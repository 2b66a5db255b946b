//! What the translation of one release asks of its world, kept as data so that all releases share one trait.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::contracts::{Convention, ParamKind, Returns};

/// The methods, globals and functions of one release, or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vocabulary {
    /// Methods of `CApi` by name.
    pub methods: BTreeMap<String, Method>,
    /// Global objects of C.
    pub globals: BTreeSet<String>,
    /// Functions with an identity: their file (empty if it is not translated) and name.
    pub functions: BTreeMap<String, (String, String)>,
}

/// How a method is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// Names and kinds of the parameters that do not vanish.
    pub params: Vec<(String, String)>,
    /// The kind of the result.
    pub returns: String,
    /// Its Rust for every world, where it needs none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rust: String,
    /// Whether any world can pass its arguments on to a C function of that name.
    #[serde(default)]
    pub asked: bool,
    /// Whether it reads or sets a member of a struct.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub member: bool,
}

/// A release's own names for what other releases call otherwise.
#[derive(Debug, Clone, Default)]
pub struct Elsewhere {
    /// What newer releases ask of their worlds.
    pub newer: Vocabulary,
    /// What is put behind the name of a method that newer releases call in another way, such as `_3_11`.
    pub suffix: String,
}

impl Vocabulary {
    /// The union with an older release; where two disagree, what is here stays.
    #[must_use]
    pub fn and(mut self, older: &Self) -> Self {
        for (name, method) in &older.methods {
            self.methods.entry(name.clone()).or_insert_with(|| method.clone());
        }
        self.globals.extend(older.globals.iter().cloned());
        for (id, key) in &older.functions {
            self.functions.entry(id.clone()).or_insert_with(|| key.clone());
        }
        self
    }

    /// Whether a parameter of a method may be NULL.
    pub(crate) fn may_be_null(&self, method: &str, index: usize) -> bool {
        let kind = self.methods.get(method).and_then(|method| method.params.get(index));
        kind.is_some_and(|(_, kind)| kind.ends_with('?'))
    }
}

impl Method {
    /// A method of this convention, whose parameters have these names.
    pub(crate) fn new(convention: &Convention, names: &[String], rust: &str) -> Self {
        let kept = convention.params.iter().zip(names).filter(|(kind, _)| **kind != ParamKind::Nothing);
        Self {
            params: kept.map(|(kind, name)| (name.clone(), kind.to_string())).collect(),
            returns: convention.returns.to_string(),
            rust: rust.to_owned(),
            asked: false,
            member: false,
        }
    }

    /// Whether two releases call it in the same way.
    pub(crate) fn is_called_like(&self, other: &Self) -> bool {
        let kinds = |method: &Self| method.params.iter().map(|(_, kind)| kind.clone()).collect::<Vec<_>>();
        self.returns == other.returns && kinds(self) == kinds(other)
    }
}

impl std::fmt::Display for ParamKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Object(false) => write!(f, "object"),
            Self::Object(true) => write!(f, "object?"),
            Self::Int(int) => write!(f, "{int}"),
            Self::Double => write!(f, "f64"),
            Self::Str(false) => write!(f, "str"),
            Self::Str(true) => write!(f, "str?"),
            Self::Slice => write!(f, "[object]"),
            Self::Strings => write!(f, "[str]"),
            Self::Ints(int) => write!(f, "[{int}]"),
            Self::Chars => write!(f, "chars"),
            Self::OutObject(nullable) => write!(f, "&object{}", if *nullable { "?" } else { "" }),
            Self::OutInt(int, nullable) => write!(f, "&{int}{}", if *nullable { "?" } else { "" }),
            Self::Function(_, false) => write!(f, "function"),
            Self::Function(_, true) => write!(f, "function?"),
            Self::Arguments => write!(f, "arguments"),
            Self::Parsed => write!(f, "parsed"),
            Self::Nothing => write!(f, "nothing"),
            Self::Pending(false) => write!(f, "error"),
            Self::Pending(true) => write!(f, "error?"),
            Self::Unsupported(text) => write!(f, "unsupported {text}"),
        }
    }
}

impl std::fmt::Display for Returns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unit | Self::Unsupported(_) => write!(f, "nothing"),
            Self::Object => write!(f, "object"),
            Self::Optional => write!(f, "object?"),
            Self::Int(int, _) => write!(f, "{int}"),
            Self::Bool => write!(f, "bool"),
            Self::Objects => write!(f, "[object]"),
            Self::Optionals => write!(f, "[object?]"),
            Self::Double => write!(f, "f64"),
            Self::Str => write!(f, "str"),
            Self::Function(_) => write!(f, "function?"),
            Self::Error => write!(f, "error"),
        }
    }
}

/// The Rust type of a parameter's kind as [`ParamKind`] writes it.
pub(crate) fn rust_param(kind: &str) -> String {
    match kind {
        "object" => "&Self::Object".to_owned(),
        "object?" => "Option<&Self::Object>".to_owned(),
        "str" => "&str".to_owned(),
        "str?" => "Option<&str>".to_owned(),
        "[object]" => "&[Self::Object]".to_owned(),
        "[str]" => "&[&str]".to_owned(),
        "&object" => "&mut Option<Self::Object>".to_owned(),
        "&object?" => "Option<&mut Option<Self::Object>>".to_owned(),
        "error" => "&Self::Error".to_owned(),
        "error?" => "Option<&Self::Error>".to_owned(),
        "function" => "&Self::Function".to_owned(),
        "function?" => "Option<&Self::Function>".to_owned(),
        "arguments" => "&[Argument<Self::Object>]".to_owned(),
        "chars" => "&mut [i8]".to_owned(),
        other if other.starts_with('[') => format!("&{other}"),
        "parsed" => "&mut [Parsed<'_, Self::Object>]".to_owned(),
        other => match other.strip_prefix('&') {
            Some(int) => match int.strip_suffix('?') {
                Some(int) => format!("Option<&mut {int}>"),
                None => format!("&mut {int}"),
            },
            None => other.to_owned(),
        },
    }
}

/// The Rust type of a result's kind as [`Returns`] writes it.
pub(crate) fn rust_result(kind: &str) -> String {
    match kind {
        "nothing" => "()".to_owned(),
        "object" => "Self::Object".to_owned(),
        "object?" => "Option<Self::Object>".to_owned(),
        "[object]" => "Vec<Self::Object>".to_owned(),
        "[object?]" => "Vec<Option<Self::Object>>".to_owned(),
        "str" => "String".to_owned(),
        "function?" => "Option<Self::Function>".to_owned(),
        "error" => "Self::Error".to_owned(),
        other => other.to_owned(),
    }
}
