//! What functions do, as rows of the published facts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The effects of one function.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FunctionEffects {
    /// The function.
    pub name: String,
    /// The compiled file.
    pub file: String,
    /// `pure`, `pure by slots`, `changes arguments`, `impure` or `unknown`.
    pub verdict: String,
    /// Effects that do not depend on the arguments: `python`, `raises`, `allocates`, `io`, `reads global`, `writes global`, `unknown`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub flags: Vec<String>,
    /// Whose memory is read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reads: Vec<String>,
    /// Whose memory is changed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mutates: Vec<String>,
    /// Variables of the caller that are set.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sets: Vec<String>,
    /// Whose references are given up so that an object may die in the call.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub releases: Vec<String>,
    /// Slots that are called, and whose: Python code may run through them alone unless `flags` says `python`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub slots: BTreeMap<String, Vec<String>>,
}

/// A function that Python code finds in a module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ModuleFunction {
    /// The module's name, as `PyModuleDef` has it.
    pub module: String,
    /// The Python name.
    pub name: String,
    /// The C function.
    pub function: String,
    /// The file.
    pub file: String,
    /// `METH_…` flags, as written.
    pub flags: Vec<String>,
}
