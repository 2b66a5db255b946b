//! Everything that is known of a release.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::effects::{FunctionEffects, ModuleFunction};
use super::{Function, FunctionType, Macro, Opcodes, Prototype, Slot, Slotdef, Struct, Type, integer, json, types};

/// Where facts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// C sources.
    C,
    /// A compiled library.
    Binary,
}

/// Everything that is known of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The release, such as `3.13.5`.
    pub release: String,
    /// Where the facts come from.
    pub source: Origin,
    /// The build configuration under which the sources were read.
    pub configuration: String,
    /// Digest of the sources.
    pub digest: String,
    /// The slot structs, in the order of `PyHeapTypeObject`, and the layouts of frames, code, functions and threads.
    pub structs: Vec<Struct>,
    /// Slots that `inherit_slots` copies from a base, in its order.
    pub inherits: Vec<String>,
    /// `slotdefs[]`, in its order.
    pub slotdefs: Vec<Slotdef>,
    /// Types by file and name.
    pub types: Vec<Type>,
    /// Functions by file and name.
    pub functions: Vec<Function>,
    /// Functions declared in headers, by name.
    pub prototypes: Vec<Prototype>,
    /// Function pointer typedefs, by name.
    pub function_types: Vec<FunctionType>,
    /// The instruction set.
    pub opcodes: Opcodes,
    /// Numbers of the macros that stand in flags: `METH_…`, `Py_TPFLAGS_…`, member types and flags.
    #[serde(default)]
    pub constants: BTreeMap<String, i64>,
    /// The macros of the API, by name.
    #[serde(default)]
    pub macros: Vec<Macro>,
    /// What each function does, by file and name: of `Objects/`, of the builtins, and of the modules that `data/effects.toml` names.
    #[serde(default)]
    pub effects: Vec<FunctionEffects>,
    /// The functions that Python code finds in those modules, by module and name.
    #[serde(default)]
    pub module_functions: Vec<ModuleFunction>,
    /// What the sources do not have, or what was not understood of them and is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

/// Something that is left out of the facts of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    /// The rule that found it, such as `extract/layout`.
    pub code: String,
    /// The file.
    pub file: String,
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: u32,
    /// What is missing, and why.
    pub what: String,
}

/// Facts by how near their release is to `release`, older ones first where two are as near.
pub fn nearest<'f>(release: &str, all: &'f [Facts]) -> Vec<&'f Facts> {
    let minor = |release: &str| release.split('.').nth(1).and_then(|minor| minor.parse::<i64>().ok()).unwrap_or(0);
    let mut found: Vec<&Facts> = all.iter().collect();
    found.sort_by_key(|facts| ((minor(&facts.release) - minor(release)).abs(), facts.release.clone()));
    found
}

impl Facts {
    /// The published JSON: sorted, stable, one row of a table a line.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        json::rows(&serde_json::to_value(self)?)
    }

    /// Every slot, in the order of the structs.
    pub fn slots(&self) -> Vec<Slot<'_>> {
        let names: FxHashSet<&str> = self.function_types.iter().map(|ty| ty.name.as_str()).collect();
        types::slots(&self.structs, &|ty| names.contains(ty))
    }

    /// The sum of flags as written; `None` where a name has no number.
    pub fn bits(&self, flags: &[String]) -> Option<i64> {
        flags.iter().try_fold(0, |sum, flag| {
            let known = self.constants.get(flag).copied();
            Some(sum | known.or_else(|| integer(flag))?)
        })
    }

    /// A struct by name.
    pub fn structure(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|layout| layout.name == name)
    }
}
