//! The lists of modules: the crate's own, and that of every folder.

use std::collections::{BTreeMap, BTreeSet};

use super::releases::{Releases, Set};
use crate::emit::File;

/// Modules of the crate that people write: what generated code shares.
const HAND: &[&str] = &["buffers", "calls", "effects", "members", "tables"];

/// The `mod.rs` of every folder that has one of `files`, and the crate's `lib.rs`.
#[must_use]
pub fn library(releases: &Releases, files: &[File]) -> Vec<File> {
    let mut folders: BTreeMap<Set, BTreeSet<&str>> = BTreeMap::new();
    for set in sets(releases) {
        let prefix = format!("src/{}/", releases.folder(&set));
        let modules: BTreeSet<&str> = files.iter().filter_map(|file| module(&file.path, &prefix)).collect();
        if !modules.is_empty() {
            folders.insert(set, modules);
        }
    }
    let mut lists: Vec<File> = folders.keys().map(|set| list(releases, set, &folders)).collect();
    let names: Vec<String> = folders.keys().map(|set| releases.folder(set)).collect();
    let mut modules: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    modules.extend(HAND);
    modules.extend(["capi", "layouts", "opcodes", "release", "slots"]);
    let lines = modules.iter().map(|name| match HAND.contains(name) || ["layouts", "opcodes"].contains(name) {
        true => format!("pub mod {name};\n"),
        false => format!("#[rustfmt::skip]\npub mod {name};\n"),
    });
    let text = format!(
        "//! What slotgen wrote, a folder for each release and for what releases have in common.\n\n\
        // Generated code mirrors C line by line and table by table; lints of style would make it a worse mirror.\n\
        #![allow(clippy::all)]\n\n{}",
        lines.collect::<String>()
    );
    lists.push(releases.of_all("src/lib.rs", &text));
    lists
}

/// Every set of releases.
fn sets(releases: &Releases) -> Vec<Set> {
    let mut sets: Vec<Set> = vec![Set::new()];
    for place in releases.places() {
        let with: Vec<Set> = sets.iter().map(|set| set.iter().copied().chain([place]).collect()).collect();
        sets.extend(with);
    }
    sets.into_iter().filter(|set| !set.is_empty()).collect()
}

/// `slots` for `src/v3_13/slots.rs`.
fn module<'f>(path: &'f str, prefix: &str) -> Option<&'f str> {
    path.strip_prefix(prefix)?.strip_suffix(".rs").filter(|name| !name.contains('/'))
}

/// The modules of a folder: those that stand there, and those of wider sets.
fn list(releases: &Releases, set: &Set, folders: &BTreeMap<Set, BTreeSet<&str>>) -> File {
    let Some(own) = folders.get(set) else { return releases.file(set, "mod", "") };
    let words = releases.words(set);
    let mut text = match set.len() {
        1 => format!(
            "//! CPython {words}: what it has of its own, and the way to what it has in common with others.\n\n"
        ),
        _ => format!("//! What CPython {words} have in common.\n\n"),
    };
    own.iter().for_each(|module| text += &format!("pub mod {module};\n"));
    let mut seen = own.clone();
    let mut wider: Vec<&Set> = folders.keys().filter(|other| other.is_superset(set) && *other != set).collect();
    wider.sort_by_key(|other| other.len());
    for other in wider {
        let modules: Vec<&str> = folders.get(other).into_iter().flatten().copied().collect();
        let modules: Vec<&str> = modules.into_iter().filter(|module| seen.insert(module)).collect();
        if !modules.is_empty() {
            text +=
                &format!("pub use crate::{}::{{\n{}}};\n", releases.folder(other), crate::emit::filled(&modules, 4));
        }
    }
    if set.len() == 1 {
        text += "pub use release::Release;\n";
    }
    releases.file(set, "mod", &text)
}
