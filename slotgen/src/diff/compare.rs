//! Compares two releases.

use super::{Diff, Functions, Generated, functions, tables};
use crate::diagnostics::Diagnostics;
use crate::facts::{Facts, Origin};
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;
use crate::translate;

/// The functions of a source tree that Rust is generated from.
pub fn generated(tree: &Tree) -> Result<Generated, String> {
    let configuration = Configuration::named("release", tree.release()).map_err(|error| error.to_string())?;
    let preprocessor = Preprocessor::new(tree, &configuration).map_err(|found| found.to_string())?;
    let translation = translate::translate(
        tree,
        &preprocessor,
        translate::UNITS,
        translate::Elsewhere::default(),
        &mut Diagnostics::default(),
    )?;
    let translated = translation.translated.iter();
    let keys = translated.flat_map(|(file, all)| all.iter().map(|one| (file.clone(), one.name().to_owned())));
    Ok(keys.collect())
}

/// Compares two releases; bodies are compared where both were read from C sources.
pub fn diff(before: &Facts, after: &Facts, generated: &Generated) -> Diff {
    let bodies = before.source == Origin::C && after.source == Origin::C;
    Diff {
        from: before.release.clone(),
        to: after.release.clone(),
        slots: tables::slots(before, after),
        slotdefs: tables::slotdefs(before, after),
        macros: tables::macros(before, after),
        opcodes: tables::opcodes(before, after),
        opcode_numbers: tables::opcode_numbers(before, after),
        types: tables::types(before, after),
        bodies,
        functions: if bodies { functions::functions(before, after, generated) } else { Functions::default() },
    }
}
