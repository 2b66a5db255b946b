//! `calls.rs`: every translated function by its identity, with arguments that only the run knows; an arm stands where the body does.

use std::collections::BTreeMap;

use super::bodies::Bodies;
use super::releases::{Releases, Set};
use crate::emit::File;
use crate::translate::{Rendered, Unit};

const USES: &str = "#![allow(non_snake_case, clippy::all)]\n#[allow(unused_imports)]\nuse crate::calls::Value;\n\
    #[allow(unused_imports)]\nuse crate::capi::{CApi, FunctionId};\n";

const HEAD: &str = "<C: CApi>(c: &mut C, id: FunctionId, args: &[Value<C::Object>])";

/// The arms of each C file in the folder of a set.
type Folders<'r> = BTreeMap<Set, BTreeMap<&'r str, Vec<&'r str>>>;

/// The files of all sets.
#[must_use]
pub fn files(releases: &Releases, rendered: &[Rendered], bodies: &Bodies<'_>) -> Vec<File> {
    let mut folders = Folders::new();
    for (release, of) in rendered.iter().enumerate() {
        for unit in &of.units {
            for function in &unit.functions {
                let key = (unit.module.clone(), function.name.clone());
                let (Some(set), Some(arm)) = (bodies.set(release, &key), &function.arm) else { continue };
                let arms = folders.entry(set.clone()).or_default().entry(&unit.file).or_default();
                if set.last() == Some(&release) {
                    arms.push(arm);
                }
            }
        }
    }
    let mut files = Vec::new();
    for (release, of) in rendered.iter().enumerate() {
        let own = Set::from([release]);
        let parts: String = of.units.iter().map(|unit| part(releases, &folders, &own, &unit.file)).collect();
        files.push(releases.file(&own, "calls", &format!("{}{parts}", entry(&of.units))));
    }
    for (set, of) in folders.iter().filter(|(set, _)| set.len() > 1) {
        let parts: String = of.keys().map(|file| part(releases, &folders, set, file)).collect();
        let words = releases.words(set);
        let text = format!("//! Functions that CPython {words} have in common, by identity.\n{USES}{parts}");
        files.push(releases.file(set, "calls", &text));
    }
    files
}

/// Where a release's calls begin.
fn entry(units: &[Unit]) -> String {
    let memory = units.iter().filter(|unit| unit.is_memory).map(|unit| format!("    {:?},\n", unit.file));
    let arms = units.iter().map(|unit| format!("        {:?} => {}(c, id, args)?,\n", unit.file, name(&unit.file)));
    format!(
        "//! Translated functions by identity, with arguments that only the run knows.\n{USES}\n\
        /// Files whose objects' layout in memory is the world's: what they define is asked of the world by the others.\n\
        pub static MEMORY: &[&str] = &[\n{}];\n\n\
        /// Runs the translation of `id`.\n\
        pub fn call{HEAD} -> Result<Value<C::Object>, C::Error> {{\n    let value = match id.file() {{\n{}        _ => None,\n    }};\n    \
        match value {{\n        Some(value) => Ok(value),\n        None => Err(c.unsupported(id.name())),\n    }}\n}}\n",
        memory.collect::<String>(),
        arms.collect::<String>(),
    )
}

/// `abstract_of` for `Objects/abstract.c`.
fn name(file: &str) -> String {
    let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".c");
    format!("of_{}", stem.replace(['.', '-'], "_"))
}

/// The arms of one C file, and where the others are.
fn part(releases: &Releases, folders: &Folders<'_>, set: &Set, file: &str) -> String {
    let arms = folders.get(set).and_then(|of| of.get(file)).map(|arms| arms.concat()).unwrap_or_default();
    let wider = folders
        .iter()
        .filter(|(other, of)| set.len() == 1 && other.len() > 1 && other.is_superset(set) && of.contains_key(file));
    let name = name(file);
    let mut calls: Vec<String> =
        wider.map(|(other, _)| format!("crate::{}::calls::{name}(c, id, args)", releases.folder(other))).collect();
    let last = calls.pop().unwrap_or_else(|| "Ok(None)".to_owned());
    let before = calls.iter().map(|call| format!("if let Some(value) = {call}? {{ value }} else {{ "));
    let closed = " }".repeat(calls.len());
    let rest = format!("        _ => {}return {last}{closed},\n", before.collect::<String>());
    let body = format!("    Ok(Some(match id {{\n{arms}{rest}    }}))\n");
    let reach = if set.len() == 1 { "" } else { "pub " };
    format!(
        "\n/// Functions of {file}.\n{reach}fn {name}{HEAD} -> Result<Option<Value<C::Object>>, C::Error> {{\n{body}}}\n"
    )
}
