//! From a source tree to its facts: what is not understood is left out and named, and stops only where going on would be a guess.

use std::collections::BTreeSet;

use super::{GenerateError, mixed};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::facts::{Facts, Gap};
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;
use crate::{effects, extract, model};

/// What is understood of a tree.
pub(super) struct Understood {
    pub(super) facts: Facts,
    /// The configuration under which most of it is.
    pub(super) configuration: Configuration,
    /// Findings that are no errors.
    pub(super) diagnostics: Diagnostics,
}

/// The facts of a source tree, inherited slots included.
pub fn facts_of(tree: &Tree) -> Result<Facts, GenerateError> {
    Ok(understood(tree)?.facts)
}

/// The facts, with gaps for what is left out; with one error there are none, and all findings are told.
pub(super) fn understood(tree: &Tree) -> Result<Understood, GenerateError> {
    let mut configuration = Configuration::named("release", tree.release())?;
    let mut diagnostics = Diagnostics::default();
    let mut found = extract::extract(tree, &configuration, &mut diagnostics);
    let broken: BTreeSet<&str> =
        diagnostics.iter().filter(|one| one.code == "extract/syntax").map(|one| &*one.file).collect();
    if !broken.is_empty() {
        let (learned, told) = extract::learn(tree, &configuration, &broken.into_iter().collect::<Vec<_>>());
        if !told.is_empty() {
            configuration = learned;
            diagnostics = told;
            found = extract::extract(tree, &configuration, &mut diagnostics);
        }
    }
    tree.of_one_build().iter().for_each(|path| diagnostics.push(one_build(path)));
    match found.filter(|_| !diagnostics.has_errors()) {
        Some(mut facts) => {
            mixed::findings(tree, &facts.functions).into_iter().for_each(|found| diagnostics.push(found));
            model::link(&mut facts);
            facts.gaps = diagnostics.iter().filter(|one| one.severity == Severity::Gap).map(gap).collect();
            facts.gaps.sort();
            facts.gaps.dedup();
            Ok(Understood { facts, configuration, diagnostics })
        }
        None => Err(not_understood(tree, diagnostics)),
    }
}

/// A header of another machine would give half of its build and half of the table's.
fn one_build(path: &str) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        code: "preprocess/one-build",
        file: path.to_owned(),
        line: 0,
        column: 0,
        message: "says how one machine builds, and is not read: the facts are those of Linux on x86-64".to_owned(),
        help: "what such a build defines stands in slotgen/data/configurations.toml".to_owned(),
    }
}

fn gap(found: &Diagnostic) -> Gap {
    Gap { code: found.code.to_owned(), file: found.file.clone(), line: found.line, what: found.message.clone() }
}

pub(super) fn not_understood(tree: &Tree, diagnostics: Diagnostics) -> GenerateError {
    let text = diagnostics.render(&|path| tree.file(path).map(|file| file.text()));
    GenerateError::Sources { release: tree.release().to_string(), diagnostics, text }
}

/// What the functions do, as their bodies and those of their callees have it.
pub(super) fn add_effects(tree: &Tree, configuration: &Configuration, facts: &mut Facts) -> Result<(), GenerateError> {
    let preprocessor =
        Preprocessor::new(tree, configuration).map_err(|diagnostics| not_understood(tree, diagnostics))?;
    let analysis = effects::analyse(tree, &preprocessor, facts, &mut Diagnostics::default())?;
    facts.effects = effects::publish(&analysis);
    facts.module_functions = analysis.modules;
    facts.module_functions.sort();
    facts.module_functions.dedup();
    Ok(())
}
