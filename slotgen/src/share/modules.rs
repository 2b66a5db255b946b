//! The modules of bodies: one for each C file, in the folder of every set of releases that has bodies of it.

use std::collections::{BTreeMap, BTreeSet};

use super::bodies::{Bodies, Key};
use super::releases::{Releases, Set};
use crate::emit::File;
use crate::translate::{Function, Head, Rendered};

/// What a module of bodies needs in scope.
const USES: &str = "#![allow(non_snake_case, unused_comparisons, clippy::all)]\n\
    #[allow(unused_imports)]\nuse crate::capi::{Argument, CApi, FunctionId, Global, Parsed, Slot, Suite, offsetof};\n";

/// A module of a folder, while it is put together.
#[derive(Default)]
struct Module<'r> {
    /// Its C file.
    file: String,
    functions: Vec<&'r Function>,
    /// Functions from the folders of other sets.
    taken: BTreeMap<Set, BTreeSet<String>>,
    forwarded: Vec<(Key, Head)>,
}

/// Sets of releases with the modules that stand in their folders.
type Folders<'r> = BTreeMap<Set, BTreeMap<String, Module<'r>>>;

/// The files of all bodies.
#[must_use]
pub fn modules(releases: &Releases, rendered: &[Rendered], bodies: &Bodies<'_>) -> Vec<File> {
    let mut folders = Folders::new();
    for release in releases.places() {
        for unit in rendered.get(release).into_iter().flat_map(|rendered| &rendered.units) {
            for function in &unit.functions {
                place(&mut folders, releases, bodies, (release, &unit.file, &unit.module), function);
            }
        }
    }
    for (key, head) in &bodies.forwarded {
        if let Some(module) = module(&mut folders, &releases.all(), &file_of(rendered, &key.0), &key.0) {
            module.forwarded.push((key.clone(), head.clone()));
        }
    }
    let mut files = Vec::new();
    for (set, modules) in &folders {
        let wide = folders.get(&releases.all()).filter(|_| *set != releases.all());
        for (name, module) in modules {
            let shared = wide.is_some_and(|wide| wide.contains_key(name));
            files.push(releases.file(set, name, &text(releases, set, module, name, shared)));
        }
    }
    files
}

fn file_of(rendered: &[Rendered], module: &str) -> String {
    let mut units = rendered.iter().flat_map(|rendered| &rendered.units);
    units.find(|unit| unit.module == module).map(|unit| unit.file.clone()).unwrap_or_default()
}

fn module<'f, 'r>(folders: &'f mut Folders<'r>, set: &Set, file: &str, name: &str) -> Option<&'f mut Module<'r>> {
    let module = folders.entry(set.clone()).or_default().entry(name.to_owned()).or_default();
    module.file = file.to_owned();
    Some(module)
}

/// Puts a function of a release where it belongs, and its name where the release looks for it.
fn place<'r>(
    folders: &mut Folders<'r>,
    releases: &Releases,
    bodies: &Bodies<'_>,
    (release, file, name): (usize, &str, &str),
    function: &'r Function,
) {
    let key = (name.to_owned(), function.name.clone());
    let Some(set) = bodies.set(release, &key) else { return };
    // The newest release says in which order functions stand.
    if set.last() == Some(&release)
        && let Some(module) = module(folders, set, file, name)
    {
        module.functions.push(function);
    }
    if set.len() < 2 || *set == releases.all() {
        return;
    }
    let mut readers = vec![Set::from([release])];
    // A body that all releases with the function have is found under its name in the bodies of all, too.
    if bodies.sets(&key).len() == 1 {
        readers.push(releases.all());
    }
    for reader in readers {
        if let Some(module) = module(folders, &reader, file, name) {
            module.taken.entry(set.clone()).or_default().insert(function.name.clone());
        }
    }
}

fn text(releases: &Releases, set: &Set, module: &Module<'_>, name: &str, shared: bool) -> String {
    let whose = match set.len() {
        1 => format!("what CPython {} has of its own", releases.words(set)),
        _ => format!("what CPython {} have in common", releases.words(set)),
    };
    let mut text = format!("//! {}: {whose}, in C's order.\n{USES}", module.file);
    if shared {
        text += &format!("#[allow(unused_imports)]\npub use crate::shared::{name}::*;\n");
    }
    for (from, names) in &module.taken {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let path = format!("crate::{}::{name}", releases.folder(from));
        text += &format!("pub use {path}::{{\n{}}};\n", crate::emit::filled(&names, 4));
    }
    module.functions.iter().for_each(|function| text += &function.text);
    if !module.forwarded.is_empty() {
        text += "\n// What differs between releases: the running one's.\n";
    }
    for (key, head) in &module.forwarded {
        text += &format!(
            "/// `{}` as the running release has it.\n#[inline(always)]\npub fn {}<C: CApi>({}) -> Result<{}, C::Error> {{\n    <C::Release as crate::release::Release>::{}({})\n}}\n",
            key.1,
            key.1,
            head.declared(),
            head.returns,
            super::forward::method(key),
            head.passed(),
        );
    }
    text
}
