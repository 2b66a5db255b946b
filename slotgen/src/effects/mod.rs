//! What each C function does: pure, reads, mutates, runs Python code, raises, …, by a fixpoint over the call graph.
//!
//! Bodies are read, not guessed: an effect is there if some statement, or a function that is called, has it. Functions without a
//! body at hand come from the reviewed table `data/effects.toml`; whatever is in neither makes its callers *unknown*.

mod apply;
mod calls;
mod evidence;
mod held;
mod leaves;
mod macros;
mod memory;
mod methods;
mod origin;
mod program;
mod publish;
mod state;
mod summary;
mod value;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

pub use evidence::Link;
pub use leaves::{LeafError, Leaves};
pub use methods::ModuleFunction;
pub use origin::Origin;
pub use program::{Program, Unit};
pub use publish::{FunctionEffects, publish, row};
pub use summary::{Flags, Summary};
pub use walk::{Known, Step};

use crate::diagnostics::Diagnostics;
use crate::facts::Facts;
use crate::lower::Function;
use crate::lower::{Declarations, Text, declarations, parse};
use crate::preprocess::Preprocessor;
use crate::source::Tree;

/// What was found out about a release.
pub struct Analysis {
    /// What was read.
    pub program: Program,
    /// What is known of each function, by its number.
    pub known: Vec<Known>,
    /// Functions of modules.
    pub modules: Vec<ModuleFunction>,
}

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
        tables.extend(held::tables(&unit.text, &own).into_iter().map(|table| (program.units.len(), table)));
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
fn lower(text: &str, path: &str, shared: &Declarations) -> (Declarations, Vec<Function>) {
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

impl Analysis {
    /// What is known of a function.
    pub fn known(&self, id: usize) -> Option<&Known> {
        self.known.get(id)
    }

    /// The functions that made others unknown, by how many of `entries` they spoil.
    pub fn causes(&self, entries: &[usize]) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for entry in entries {
            let (mut seen, mut work, mut found) = (BTreeSet::from([*entry]), vec![*entry], BTreeSet::new());
            while let Some(id) = work.pop() {
                let Some(known) = self.known(id).filter(|known| known.summary.flags.meets(Flags::UNKNOWN)) else {
                    continue;
                };
                found.extend(known.causes.keys().cloned());
                let called = state::names(&self.program.functions[id].function);
                for name in called {
                    if let program::Callee::Function(callee) =
                        self.program.resolve(self.program.functions[id].unit, &name)
                        && seen.insert(callee)
                    {
                        work.push(callee);
                    }
                }
            }
            for cause in found {
                *counts.entry(cause).or_default() += 1;
            }
        }
        counts
    }
}

/// How many functions do what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Functions that are counted.
    pub functions: usize,
    /// By verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// By effect; a function counts once for each that it may have.
    pub flags: BTreeMap<String, usize>,
}

impl Analysis {
    /// The functions of a name: one, unless files have their own.
    pub fn find(&self, name: &str) -> Vec<usize> {
        (0..self.known.len()).filter(|id| self.program.name(*id) == name).collect()
    }

    /// The evidence of each effect of a function.
    pub fn chains(&self, id: usize) -> Vec<(String, Vec<Link>)> {
        let effects =
            self.known(id).map(|known| known.evidence.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
        effects.into_iter().map(|effect| (effect.clone(), self.evidence(id, &effect))).collect()
    }

    /// Counts over the published functions.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for row in publish(self) {
            tally.functions += 1;
            *tally.verdicts.entry(row.verdict).or_default() += 1;
            let extra =
                [("mutates an argument", !row.mutates.is_empty()), ("calls slots of arguments", !row.slots.is_empty())];
            let extra = extra.iter().filter(|(_, holds)| *holds).map(|(word, _)| (*word).to_owned());
            for word in row.flags.into_iter().chain(extra) {
                *tally.flags.entry(word).or_default() += 1;
            }
        }
        tally
    }

    /// Where the chains of an effect end, by how many published functions lead there: the first chain of each function counts.
    pub fn ends(&self, effect: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for id in (0..self.known.len()).filter(|id| publish::is_published(self.program.path(*id))) {
            if let Some(end) = self.evidence(id, effect).pop() {
                *counts.entry(format!("{} ({}:{}): {}", end.function, end.file, end.line, end.text)).or_default() += 1;
            }
        }
        counts
    }

    /// What makes published functions unknown, by how many it spoils.
    pub fn published_causes(&self) -> BTreeMap<String, usize> {
        let entries: Vec<usize> =
            (0..self.known.len()).filter(|id| publish::is_published(self.program.path(*id))).collect();
        self.causes(&entries)
    }
}
