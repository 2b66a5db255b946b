//! From a source tree to its facts, all of which must be understood.

use super::GenerateError;
use crate::diagnostics::Diagnostics;
use crate::facts::Facts;
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;
use crate::{effects, extract, model};

/// The facts of a source tree, inherited slots included.
pub fn facts_of(tree: &Tree) -> Result<Facts, GenerateError> {
    Ok(understood(tree, &Configuration::named("release", tree.release())?)?.0)
}

/// The facts, and findings that are no errors; with one error there are no facts, and all of them are told.
pub(super) fn understood(tree: &Tree, configuration: &Configuration) -> Result<(Facts, Diagnostics), GenerateError> {
    let mut diagnostics = Diagnostics::default();
    match extract::extract(tree, configuration, &mut diagnostics).filter(|_| !diagnostics.has_errors()) {
        Some(mut facts) => {
            model::link(&mut facts);
            Ok((facts, diagnostics))
        }
        None => Err(not_understood(tree, diagnostics)),
    }
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
