//! What changed between two releases for somebody who mirrors CPython: tables, and bodies that no table shows.

mod functions;
mod render;
mod tables;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::facts::Facts;

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
    /// Opcodes that came, went, or changed caches, flags or stack effect.
    pub opcodes: Vec<Entry>,
    /// Types that came, went or changed, each with its slots, flags, base, methods.
    pub types: Vec<TypeChange>,
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

/// Functions that changed, by how they are reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Functions {
    /// Slot → changed functions that fill it, or stand for it in `slotdefs[]`.
    pub by_slot: BTreeMap<String, Vec<FunctionChange>>,
    /// File → other changed functions of the sources.
    pub by_file: BTreeMap<String, Vec<FunctionChange>>,
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
    /// Slots from which it is reached through calls, nearest first.
    pub slots: Vec<String>,
    /// Functions of the object protocol (`PyNumber_Power`, …) from which it is reached, nearest first.
    pub protocol: Vec<String>,
    /// Messages and other strings that are new in it.
    pub strings_added: Vec<String>,
    /// Messages and other strings that are gone from it.
    pub strings_removed: Vec<String>,
}

/// Compares two releases; the facts must come from C sources for bodies to be compared.
pub fn diff(before: &Facts, after: &Facts) -> Diff {
    Diff {
        from: before.release.clone(),
        to: after.release.clone(),
        slots: tables::slots(before, after),
        slotdefs: tables::slotdefs(before, after),
        opcodes: tables::opcodes(before, after),
        types: tables::types(before, after),
        functions: functions::functions(before, after),
    }
}

impl Diff {
    /// Whether nothing that matters changed.
    pub fn is_empty(&self) -> bool {
        let tables =
            self.slots.is_empty() && self.slotdefs.is_empty() && self.opcodes.is_empty() && self.types.is_empty();
        tables && self.functions.by_slot.is_empty() && self.functions.by_file.is_empty()
    }

    /// The differences as plain text.
    pub fn to_text(&self) -> String {
        render::render(self, &render::TEXT)
    }

    /// The differences as Markdown.
    pub fn to_markdown(&self) -> String {
        render::render(self, &render::MARKDOWN)
    }

    /// The differences as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}

/// Entries for the keys of two maps whose values differ.
fn entries(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Entry> {
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    changed
        .map(|key| Entry { name: key.clone(), before: before.get(key).cloned(), after: after.get(key).cloned() })
        .collect()
}
