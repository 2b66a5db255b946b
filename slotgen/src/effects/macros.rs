//! Macros of the API as functions: those that are called by name and whose bodies read as an expression or as statements.

use std::collections::BTreeSet;

use super::program::{Program, Unit};
use super::state::names;
use crate::preprocess::{MacroDefinition, Preprocessor};
use crate::translate::ir::Function;
use crate::translate::lower::{Declarations, Text, parse};

/// Adds the macros that the program calls, and those that they call.
pub(super) fn add(program: &mut Program, preprocessor: &Preprocessor<'_>, known: &Declarations) {
    let mut wanted: BTreeSet<String> = program.functions.iter().flat_map(|defined| names(&defined.function)).collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = wanted.pop_first() {
        if program.has(&name) || !seen.insert(name.clone()) {
            continue;
        }
        let Some(found) = preprocessor.api_macro(&name) else { continue };
        let body = found.body.trim().trim_start_matches('&').trim();
        if found.parameters.is_none() {
            if body.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !body.is_empty() {
                wanted.insert(body.to_owned());
                program.alias(name, body.to_owned());
            }
            continue;
        }
        if let Some(function) = function(&found, known) {
            wanted.extend(names(&function));
            program.add(Unit { path: found.file.clone(), map: None }, vec![function]);
        }
    }
}

/// The macro as a function, if its body is C that can stand alone.
fn function(found: &MacroDefinition, known: &Declarations) -> Option<Function> {
    let parameters = found.parameters.as_ref()?;
    if parameters.iter().any(|name| name == "...") || found.body.contains("##") {
        return None;
    }
    let parameters: Vec<String> = parameters.iter().map(|name| format!("void *{name}")).collect();
    let head = format!("static void *{}({})", found.name, parameters.join(", "));
    let as_value = format!("{head} {{ return ({}); }}\n", found.body);
    let as_statements = format!("{head} {{ {}; }}\n", found.body);
    [as_value, as_statements].into_iter().find_map(|text| {
        let parsed = parse(&text).filter(|parsed| !parsed.root_node().has_error())?;
        Text::new(&text, known).functions(parsed.root_node(), &found.file).pop()
    })
}
