//! What one file states, as data.

use rustc_hash::FxHashMap;

use super::ctype::{Aggregate, CType};
use super::value::Value;
use crate::diagnostics::Diagnostics;
use crate::facts::{Function, Prototype};

/// What one file says.
#[derive(Debug, Default)]
pub(super) struct UnitFacts {
    pub path: String,
    pub functions: Vec<Function>,
    pub prototypes: Vec<Prototype>,
    pub typedefs: Vec<Typedef>,
    pub tagged: Vec<Tagged>,
    pub constants: FxHashMap<String, i64>,
    /// Bodies of the object-like macros that it defines.
    pub macros: FxHashMap<String, String>,
    pub variables: Vec<Variable>,
    pub assignments: Vec<Assignment>,
    pub creations: Vec<Creation>,
    /// Slots that `inherit_slots` copies.
    pub inherits: Vec<String>,
    pub diagnostics: Diagnostics,
}

/// `typedef TYPE NAME;`
#[derive(Debug)]
pub(super) struct Typedef {
    pub name: String,
    pub ty: CType,
    pub file: String,
    pub line: u32,
}

/// `struct TAG { … };`
#[derive(Debug)]
pub(super) struct Tagged {
    pub name: String,
    pub aggregate: Aggregate,
    pub file: String,
    pub line: u32,
}

/// A variable with an initialiser, of a type that the tables are made of.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub name: String,
    pub ty: String,
    pub value: Value,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// `NAME.field = value;` in a function body, for fields of types.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub object: String,
    pub field: String,
    pub value: Value,
}

/// `TARGET = PyType_FromModuleAndSpec(module, &SPEC, BASES)` and its relatives.
#[derive(Debug, Clone)]
pub(super) struct Creation {
    pub spec: Value,
    /// What stands for the bases: a name, `state->field`, or the arguments of `PyTuple_Pack`.
    pub bases: Vec<Value>,
    /// The metatype, if one is given.
    pub metatype: Option<Value>,
    /// Type flags that the call adds.
    pub flags: Vec<String>,
    /// The variable or last field that takes the result in the end.
    pub target: Option<String>,
    /// The variable that takes it first.
    pub variable: Option<String>,
}
