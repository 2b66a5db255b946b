//! Facts of source trees, and the Rust of the releases that get it, which is made of all of them together.

use std::collections::BTreeMap;
use std::path::Path;

use super::GenerateError;
use super::committed::{newer, place_of, rank};
use super::instructions::{self, header, installations};
use super::sources::{Understood, add_effects, understood};
use crate::diagnostics::Diagnostics;
use crate::emit::{self, Change, File, Mode};
use crate::extract;
use crate::facts::Facts;
use crate::preprocess::Configuration;
use crate::share::{self, Column, Releases, Table};
use crate::source::Tree;
use crate::translate::{self, Rendered};

/// What a run found and did.
#[derive(Debug)]
pub struct Report {
    /// What was read of each tree, in the order given.
    pub read: Vec<Read>,
    /// Differences between `generated/` and what it should be; after `Write` they are gone.
    pub changes: Vec<Change>,
    /// Files that come of these sources.
    pub files: usize,
}

/// What was read of a tree.
#[derive(Debug)]
pub struct Read {
    /// The release, such as `3.13.5`.
    pub release: String,
    /// What the sources say.
    pub facts: Facts,
    /// The configuration under which they were read.
    configuration: Configuration,
    /// Findings that did not stop the run.
    pub diagnostics: Diagnostics,
}

/// A release that gets Rust.
struct Built {
    facts: Facts,
    rendered: Rendered,
}

/// Reads source trees and brings `root` (the folder `generated`) into line. `rust` are the series that Rust is made of; if
/// one of them is among the trees, all must be.
pub fn generate(trees: &[Tree], rust: &[String], root: &Path, mode: Mode) -> Result<Report, GenerateError> {
    let mut read = Vec::new();
    for tree in trees {
        let Understood { mut facts, configuration, diagnostics } = understood(tree)?;
        add_effects(tree, &configuration, &mut facts)?;
        read.push(Read { release: tree.release().to_string(), facts, configuration, diagnostics });
    }
    let mut files = Vec::new();
    let mut owned = Vec::new();
    for (tree, read) in trees.iter().zip(&read) {
        let path = format!("facts/{}.json", tree.release().series());
        owned.push(path.clone());
        files.push(facts_file(&read.facts, path)?);
    }
    if trees.iter().any(|tree| rust.contains(&tree.release().series())) {
        files.extend(of_rust(trees, rust, root, &mut read)?);
        owned.extend(["facts/vocabulary/".to_owned(), "src/".to_owned()]);
    }
    files.sort();
    let changes = emit::write(root, &owned, &files, mode)?;
    Ok(Report { read, changes, files: files.len() })
}

/// Everything that is made of the releases that get Rust.
fn of_rust(trees: &[Tree], rust: &[String], root: &Path, read: &mut [Read]) -> Result<Vec<File>, GenerateError> {
    let mut order: Vec<&String> = rust.iter().collect();
    order.sort_by_key(|series| rank(series));
    let mut vocabularies = BTreeMap::new();
    let mut built = BTreeMap::new();
    // A release calls what it asks of its world as those before it do.
    for series in &order {
        let found = trees.iter().zip(&mut *read).find(|(tree, _)| tree.release().series() == **series);
        let Some((tree, read)) = found else {
            return Err(GenerateError::Missing { wanted: rust.to_vec(), missing: (*series).clone() });
        };
        let output = translate::release(tree, &read.configuration, newer(&vocabularies, series));
        let output = output.map_err(GenerateError::Translation)?;
        read.diagnostics.0.extend(output.diagnostics.0);
        vocabularies.insert((*series).clone(), output.vocabulary);
        let one = Built { facts: read.facts.clone(), rendered: output.rendered };
        built.insert(place_of(series), ((*series).clone(), one));
    }
    let built: Vec<(String, Built)> = built.into_values().collect();
    let all: BTreeMap<String, Facts> = built.iter().map(|(series, one)| (series.clone(), one.facts.clone())).collect();
    let releases = Releases::new(built.iter().map(|(series, one)| header(&one.facts, series)).collect());
    let mut files = in_folders(&releases, built)?;
    files.extend(share::library(&releases, &files));
    for (series, vocabulary) in &vocabularies {
        files.push(as_json(format!("facts/vocabulary/{series}.json"), vocabulary)?);
    }
    let text = translate::capi(&newer(&vocabularies, "").newer).map_err(GenerateError::Translation)?;
    files.push(releases.of_all("src/capi.rs", &text));
    let mut facts: Vec<(&String, &Facts)> = all.iter().collect();
    facts.sort_by_key(|(series, _)| place_of(series));
    let facts: Vec<&Facts> = facts.into_iter().map(|(_, facts)| facts).collect();
    files.push(emit::slots(&releases.header(&releases.all()), &facts)?);
    files.extend(instructions::files(&all, &installations(root)?)?);
    Ok(files)
}

/// What stands in the folders of releases, and of what they have in common.
fn in_folders(releases: &Releases, built: Vec<(String, Built)>) -> Result<Vec<File>, GenerateError> {
    let facts: Vec<Facts> = built.iter().map(|(_, one)| one.facts.clone()).collect();
    let rendered: Vec<Rendered> = built.into_iter().map(|(_, one)| one.rendered).collect();
    let mut files = share::functions(releases, &rendered);
    for table in tables(&facts, &rendered) {
        files.extend(table.files(releases));
    }
    let texts =
        |of: &dyn Fn(&Facts) -> Result<String, emit::RenderError>| facts.iter().map(of).collect::<Result<Vec<_>, _>>();
    files.extend(share::whole(releases, "slots", &texts(&emit::release_slots)?));
    files.extend(share::whole(releases, "slotdefs", &texts(&emit::release_slotdefs)?));
    let layouts = |facts: &Facts| emit::layouts(&facts.structs, &facts.function_types, extract::LAYOUTS);
    files.extend(share::whole(releases, "layouts", &texts(&layouts)?));
    Ok(files)
}

/// The tables of rows.
fn tables(facts: &[Facts], rendered: &[Rendered]) -> Vec<Table> {
    let functions = rendered.iter().map(|one| {
        let each = one.units.iter().flat_map(|unit| unit.functions.iter().map(move |function| (&unit.file, function)));
        each.map(|(file, function)| (format!("{file}\0{}", function.name), function.row.clone())).collect()
    });
    let rows = |of: fn(&Rendered) -> &[(String, String)]| -> Vec<BTreeMap<String, String>> {
        rendered.iter().map(|one| of(one).iter().cloned().collect()).collect()
    };
    let table = |module, doc, uses, columns| Table { module, doc, uses, columns };
    let column = |name, doc, row, releases| Column { name, doc, row, releases, grouped: false };
    vec![
        table(
            "types",
            "The C types and what their slots hold.",
            "crate::tables::{Rows, Type}",
            vec![column("TYPES", "Types by C file and name.", "Type", facts.iter().map(emit::type_rows).collect())],
        ),
        table(
            "effects",
            "What the C functions do that Python code reaches, as `slotgen::effects` found it.",
            "crate::{effects::Owner, tables::Rows}",
            vec![Column {
                grouped: true,
                ..column(
                    "EFFECTS",
                    "Owner (a type's `tp_name` or a module); a line for each name (of a slot, a method or a function): C function and effects.",
                    "Owner",
                    facts.iter().map(emit::effect_rows).collect(),
                )
            }],
        ),
        table(
            "functions",
            "Translated functions and their C prototypes.",
            "crate::{calls::Function, capi::FunctionId, tables::Rows}",
            vec![column("FUNCTIONS", "Every translated function, by file and name.", "Function", functions.collect())],
        ),
        table(
            "members",
            "Where the members of structs lie that translated functions read or set.",
            "crate::{members::{Field, Kind, Struct}, tables::Rows}",
            vec![
                column(
                    "FIELDS",
                    "Members by the names of the methods that read them, sorted.",
                    "Field",
                    rows(|one| &one.fields),
                ),
                column(
                    "STRUCTS",
                    "Bytes of the structs that they are members of, sorted.",
                    "Struct",
                    rows(|one| &one.structs),
                ),
            ],
        ),
    ]
}

fn as_json(path: String, data: &impl serde::Serialize) -> Result<File, GenerateError> {
    match serde_json::to_string_pretty(data) {
        Ok(text) => Ok(File { path, text: text + "\n" }),
        Err(error) => Err(GenerateError::Facts { path, reason: error.to_string() }),
    }
}

/// The published facts of a release.
pub(super) fn facts_file(facts: &Facts, path: String) -> Result<File, GenerateError> {
    match facts.to_json() {
        Ok(text) => Ok(File { path, text }),
        Err(error) => Err(GenerateError::Facts { path, reason: error.to_string() }),
    }
}
