//! Where functions, types and macros stand in the C sources of a release, what they call and say; kept under `target/audit`.
use crate::facts;
use crate::obtain::{releases, sources};
use crate::place;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Changes with what an index holds.
const FORMAT: u32 = 4;

/// A name of C with its place.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Entry {
    /// `dict_or`, `PyDict_Type`, `Py_INCREF`.
    pub name: String,
    /// The compiled file that it belongs to.
    pub unit: String,
    /// The file it stands in.
    pub file: String,
    /// The line of its name.
    pub line: u32,
    /// Its last line.
    pub end: u32,
    /// The digest of its text; empty for a type.
    pub digest: String,
    /// Whether its file hides it.
    pub is_static: bool,
    /// Names that stand before `(` in its body.
    #[serde(default)]
    pub calls: Vec<String>,
    /// Its string literals: messages, formats, names.
    #[serde(default, rename = "messages")]
    pub strings: Vec<String>,
}

/// The index of a release.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Index {
    /// `3.13.15`.
    pub release: String,
    /// Functions, types and macros.
    pub entries: Vec<Entry>,
    /// Every C file and header.
    pub files: BTreeSet<String>,
}

/// Where the index of a release is kept.
fn place_of(version: &str) -> PathBuf {
    place::target().join("audit").join(format!("index-{version}-{FORMAT}.json"))
}

/// The index of a release, if it was made before.
pub fn kept(version: &str) -> Option<Index> {
    serde_json::from_str(&std::fs::read_to_string(place_of(version)).ok()?).ok()
}

/// The index of a pinned release.
pub fn of(release: &str) -> Result<Index> {
    let version = &releases::named(release)?.release;
    if let Some(index) = kept(version) {
        return Ok(index);
    }
    let kept = place_of(version);
    let tree = sources::obtain(version, None)?.path;
    let facts = facts::from_sources(version, None)?;
    let mut texts = Texts { root: tree, lines: BTreeMap::new() };
    let mut entries = Vec::new();
    for function in &facts.functions {
        let stop = if function.through_macro.is_some() { Stop::Macro } else { Stop::Function };
        entries.push(Entry {
            name: function.name.clone(),
            unit: function.unit().to_owned(),
            file: function.file.clone(),
            line: function.line,
            end: texts.end(&function.file, function.line, stop),
            digest: function.digest.clone(),
            is_static: function.is_static,
            calls: function.calls.clone(),
            strings: function.strings.clone(),
        });
    }
    let plain = |name: &str, file: &str, line, end, digest: &str| Entry {
        name: name.to_owned(),
        unit: file.to_owned(),
        file: file.to_owned(),
        line,
        end,
        digest: digest.to_owned(),
        is_static: true,
        calls: Vec::new(),
        strings: Vec::new(),
    };
    for ty in &facts.types {
        let end = texts.end(&ty.file, ty.line, Stop::Function);
        entries.push(plain(&ty.c_name, &ty.file, ty.line, end, ""));
    }
    for known in &facts.macros {
        let end = texts.end(&known.file, known.line, Stop::Macro);
        entries.push(plain(&known.name, &known.file, known.line, end, &known.digest));
    }
    let files = entries.iter().map(|entry| entry.file.clone()).collect();
    let index = Index { release: version.clone(), entries, files };
    std::fs::create_dir_all(place::target().join("audit"))?;
    std::fs::write(&kept, serde_json::to_vec(&index)?).with_context(|| place::shown(&kept))?;
    Ok(index)
}

/// What ends a text of C.
#[derive(Clone, Copy)]
enum Stop {
    /// A brace in the first column.
    Function,
    /// The first line that is not continued.
    Macro,
}

struct Texts {
    root: PathBuf,
    lines: BTreeMap<String, Vec<String>>,
}

impl Texts {
    fn end(&mut self, file: &str, line: u32, stop: Stop) -> u32 {
        let root = &self.root;
        let lines = self.lines.entry(file.to_owned()).or_insert_with(|| {
            let text = std::fs::read(root.join(file)).unwrap_or_default();
            String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
        });
        let from = line.saturating_sub(1) as usize;
        let rest = lines.iter().skip(from);
        let length = match stop {
            Stop::Function => rest.clone().position(|text| text.starts_with('}')),
            Stop::Macro => rest.clone().position(|text| !text.ends_with('\\')),
        };
        line + u32::try_from(length.unwrap_or(0)).unwrap_or(0)
    }
}

impl Index {
    /// Every entry of a name.
    pub fn named(&self, name: &str) -> Vec<&Entry> {
        self.entries.iter().filter(|entry| entry.name == name).collect()
    }

    /// The entry that a file means by a name.
    pub fn find(&self, name: &str, file: &str) -> Option<&Entry> {
        let all = self.named(name);
        let own = all.iter().find(|entry| entry.file == file || entry.unit == file);
        own.or_else(|| all.iter().find(|entry| !entry.is_static)).or(all.first()).copied()
    }

    /// The functions of a file that have the same name but for prefixes and suffixes: what took the place of one that is gone, most likely.
    pub fn successors(&self, name: &str, file: &str) -> Vec<&Entry> {
        let bare_name = bare(name);
        let others = self.entries.iter().filter(|entry| entry.name != name && !entry.digest.is_empty());
        others.filter(|entry| (entry.file == file || entry.unit == file) && bare(&entry.name) == bare_name).collect()
    }

    /// The entry whose text has a line of a file.
    pub fn at(&self, file: &str, line: u32) -> Option<&Entry> {
        let within = self.entries.iter().filter(|entry| entry.file == file && entry.line <= line && line <= entry.end);
        within.min_by_key(|entry| entry.end - entry.line)
    }
}

/// A name without what CPython puts around it when a function becomes internal, public or a part of another: `_PySet_Contains`, `set_contains`
/// and `set_contains_lock_held` are one.
fn bare(name: &str) -> String {
    const PARTS: [&str; 5] = ["_lock_held", "_impl", "_inner", "_internal", "_unlocked"];
    let name = name.trim_start_matches('_');
    let name = name.strip_prefix("Py").unwrap_or(name);
    let name = PARTS.iter().fold(name, |name, part| name.strip_suffix(part).unwrap_or(name));
    // `set___contains__` is a method of Python.
    match name.contains("__") {
        true => name.to_owned(),
        false => name.chars().filter(|c| *c != '_').collect::<String>().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_ends_and_calls() {
        let Ok(index) = of("3.13") else { return };
        let found = index.find("dict_or", "Objects/dictobject.c").unwrap();
        assert!(found.end > found.line && found.end - found.line < 40);
        assert_eq!(index.at("Objects/dictobject.c", found.line + 1).map(|entry| entry.name.as_str()), Some("dict_or"));
        assert!(found.calls.iter().any(|name| name == "dict_update_arg"));
    }
}
