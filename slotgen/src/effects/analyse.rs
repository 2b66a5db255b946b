//! Reads the functions of a tree and derives their effects.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::{Analysis, LeafError, Leaves, Program, Unit, macros, member_functions, methods};
use crate::diagnostics::Diagnostics;
use crate::facts::Facts;
use crate::lower::{Declarations, Function, Text, declarations, parse};
use crate::preprocess::Preprocessor;
use crate::source::Tree;

/// Reads the functions of a tree and derives their effects.
pub fn analyse(
    tree: &Tree,
    preprocessor: &Preprocessor<'_>,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> Result<Analysis, LeafError> {
    let leaves = Leaves::load()?;
    let slots: BTreeSet<String> = facts.slots().iter().map(|slot| slot.name.to_owned()).collect();
    let of_type = |ty: &crate::facts::Type| {
        let slots = ty.slots.iter().map(|(slot, value)| (slot.clone(), value.function.clone())).collect();
        (ty.c_name.clone(), slots)
    };
    let types = facts.types.iter().map(of_type).collect();
    let paths = paths(tree, &leaves);
    let mut program = Program::new(leaves, slots, types);
    let headers: Vec<&str> = tree.files().iter().map(|file| file.path()).filter(|path| is_header(path)).collect();
    let read = |path: &&str| preprocessor.unit(path);
    let headers: Vec<_> = headers.par_iter().map(read).filter_map(Result::ok).collect();
    let mut known = Declarations::default();
    for _ in 0..2 {
        headers.iter().for_each(|unit| declarations(&unit.text, &mut known));
    }
    let units: Vec<_> = paths.par_iter().map(read).collect();
    let mut sources = Vec::new();
    for unit in units {
        match unit {
            Ok(unit) => sources.push(unit),
            Err(found) => diagnostics.extend(found),
        }
    }
    let lowered: Vec<(Declarations, Vec<Function>)> =
        sources.iter().map(|unit| lower(&unit.text, &unit.path, &known)).collect();
    let modules = sources.iter().flat_map(|unit| methods::module_functions(&unit.text, &unit.path)).collect();
    headers.iter().chain(&sources).for_each(|unit| program.scan(&unit.text));
    let mut tables = Vec::new();
    for (unit, (own, functions)) in sources.into_iter().zip(lowered) {
        tables.extend(member_functions::tables(&unit.text, &own).into_iter().map(|table| (program.units.len(), table)));
        program.declare(&own);
        program.add(Unit { path: unit.path, map: Some(unit.map) }, functions);
    }
    program.declare(&known);
    for unit in headers {
        let (_, functions) = lower(&unit.text, &unit.path, &known);
        program.add(Unit { path: unit.path, map: Some(unit.map) }, functions);
    }
    macros::add(&mut program, tree, preprocessor, &known);
    program.find_held(&tables);
    let known = program.solve();
    Ok(Analysis { program, known, modules })
}

fn is_header(path: &str) -> bool {
    path.starts_with("Include/") && path.ends_with(".h") && !path.contains("mimalloc")
}

fn paths<'t>(tree: &'t Tree, leaves: &Leaves) -> Vec<&'t str> {
    let named = |path: &str| {
        leaves
            .modules
            .iter()
            .any(|module| path == module || (module.ends_with('/') && path.starts_with(module.as_str())))
    };
    let mut found: Vec<&str> = tree.units("Objects").into_iter().chain(tree.units("Python")).collect();
    found.extend(tree.units("Modules").into_iter().filter(|path| named(path)));
    found
}

/// What a file declares, and its functions.
pub(super) fn lower(text: &str, path: &str, shared: &Declarations) -> (Declarations, Vec<Function>) {
    let mut own = Declarations {
        objects: shared.objects.clone(),
        functions: shared.functions.clone(),
        structs: shared.structs.clone(),
        ..Declarations::default()
    };
    declarations(text, &mut own);
    declarations(text, &mut own);
    let functions = match parse(text) {
        Some(parsed) => Text::new(text, &own).with_pointers().functions(parsed.root_node(), path),
        None => Vec::new(),
    };
    (own, functions)
}
