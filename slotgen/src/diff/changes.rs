//! The differences between two releases as data.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// A function by its C file and name.
pub type Key = (String, String);

/// Functions that Rust is generated from.
pub type Generated = BTreeSet<Key>;

/// The differences between two releases, older first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// The older release.
    pub from: String,
    /// The newer release.
    pub to: String,
    /// Slots that came or went, or changed their signature.
    pub slots: Vec<Entry>,
    /// Rows of `slotdefs[]` that came, went or changed.
    pub slotdefs: Vec<Entry>,
    /// Macros of the API that came, went or changed; the values are digests of their bodies.
    pub macros: Vec<Entry>,
    /// Opcodes that came, went, or changed caches, flags or stack effect.
    pub opcodes: Vec<Entry>,
    /// Opcodes that have another number.
    pub opcode_numbers: Vec<Entry>,
    /// Types that came, went or changed, each with its slots, flags, base, methods.
    pub types: Vec<TypeChange>,
    /// Whether bodies were compared: both releases were read from C sources.
    pub bodies: bool,
    /// Functions whose text changed, came or went, by what reaches them.
    pub functions: Functions,
}

/// Something that came, went or changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it was; none if it is new.
    pub before: Option<String>,
    /// What it is; none if it is gone.
    pub after: Option<String>,
}

/// A type that came, went or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeChange {
    /// The C variable.
    pub c_name: String,
    /// `tp_name`.
    pub tp_name: String,
    /// The C file.
    pub file: String,
    /// Whether the type exists before and after.
    pub exists: [bool; 2],
    /// Changed slots, flags, base, methods; empty for a type that came or went.
    pub changes: Vec<Entry>,
}

/// Functions that changed, each in one part, by how they are reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Functions {
    /// Wrappers of `slotdefs[]`: `wrap_binaryfunc`, …
    pub wrappers: Vec<FunctionChange>,
    /// Slot → changed functions that fill it in some type, or stand for it in `slotdefs[]`.
    pub by_slot: BTreeMap<String, Vec<FunctionChange>>,
    /// Other functions that Rust is generated from.
    pub generated: Vec<FunctionChange>,
    /// Functions that these call, by what is nearest to them.
    pub reached: Vec<ReachedGroup>,
    /// File → functions that no slot and no generated function reaches.
    pub by_file: BTreeMap<String, Vec<FunctionChange>>,
}

impl Functions {
    /// Every change once.
    pub fn all(&self) -> Vec<&FunctionChange> {
        let reached = self.reached.iter().flat_map(|group| &group.functions);
        let lists = self.by_slot.values().flatten().chain(&self.wrappers).chain(&self.generated).chain(reached);
        let mut all: Vec<&FunctionChange> = lists.chain(self.by_file.values().flatten()).collect();
        all.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
        all.dedup_by(|a, b| a == b);
        all
    }
}

/// Functions that the same slots and generated functions reach by the shortest chains of calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReachedGroup {
    /// The generated functions.
    pub generated: Vec<String>,
    /// The slots.
    pub slots: Vec<String>,
    /// The functions that changed.
    pub functions: Vec<FunctionChange>,
}

/// A function whose text changed, came or went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionChange {
    /// Its name.
    pub name: String,
    /// Where it is (or was): file and line.
    pub file: String,
    /// The line in the newer release, or in the older one if it is gone.
    pub line: u32,
    /// `changed`, `added` or `removed`.
    pub what: &'static str,
    /// Whether Rust is generated from it.
    pub is_generated: bool,
    /// Slots from which it is reached through calls, nearest first; at most twelve.
    pub slots: Vec<String>,
    /// Generated functions (`PyNumber_Power`, …) from which it is reached, nearest first; at most twelve.
    pub generated_from: Vec<String>,
    /// Messages and other strings that are new in it.
    pub strings_added: Vec<String>,
    /// Messages and other strings that are gone from it.
    pub strings_removed: Vec<String>,
}

/// Entries for the keys of two maps whose values differ.
pub(super) fn entries(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Entry> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    changed
        .map(|key| Entry { name: key.clone(), before: before.get(key).cloned(), after: after.get(key).cloned() })
        .collect()
}
