//! Macros that no rule knows and whose calls are no C: they are found by what the parser makes of a text when they are expanded.
//!
//! A release never seen brings such macros. Their bodies do not show it where they take parts of a declaration as arguments.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::syntax::{Syntax, walk};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::lower::function_macros;
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;

/// How many macros are tried for one file, and how many files are looked at.
const TRIES: usize = 40;
const FILES: usize = 60;

/// The configuration under which more of the files is C, with a warning for each macro that is expanded now.
pub fn learn(tree: &Tree, configuration: &Configuration, files: &[&str]) -> (Configuration, Diagnostics) {
    let macros = defined(tree);
    let suspects: Vec<BTreeSet<String>> =
        files.par_iter().take(FILES).map(|path| expanded_for(tree, configuration, path, &macros)).collect();
    let names: BTreeSet<String> = suspects.into_iter().flatten().collect();
    let warning = |name: &String| Diagnostic {
        severity: Severity::Warning,
        code: "preprocess/learned-macro",
        file: macros.get(name).map_or_else(String::new, |found| found.file.to_owned()),
        line: 0,
        column: 0,
        message: format!("a call of the macro `{name}` is no C by itself: it is expanded"),
        help: "a row of slotgen/data/rules.toml says so for good".to_owned(),
    };
    let told = names.iter().filter(|name| !configuration.expanded().contains(*name)).map(warning).collect();
    (configuration.clone().expanding(names), Diagnostics(told))
}

/// A macro with arguments.
struct Defined<'t> {
    file: &'t str,
    body: String,
}

/// The macros of `Include/` that take arguments, by name.
fn defined(tree: &Tree) -> BTreeMap<String, Defined<'_>> {
    let mut all = BTreeMap::new();
    for file in tree.files().iter().filter(|file| file.has_api_macros()) {
        for (name, _, body) in function_macros(file.text()) {
            all.entry(name).or_insert(Defined { file: file.path(), body });
        }
    }
    all
}

/// The macros whose expansion leaves fewer places of a file that are no C, with the macros in their bodies.
fn expanded_for(
    tree: &Tree,
    configuration: &Configuration,
    path: &str,
    macros: &BTreeMap<String, Defined<'_>>,
) -> BTreeSet<String> {
    let mut chosen = BTreeSet::new();
    let Some(mut left) = broken(tree, configuration, path) else { return chosen };
    let mut tried = BTreeSet::new();
    while !left.is_empty() && tried.len() < TRIES {
        let next = left
            .iter()
            .flat_map(|place| words(place))
            .find(|word| macros.contains_key(*word) && !tried.contains(*word));
        let Some(name) = next.map(str::to_owned) else { break };
        tried.insert(name.clone());
        let mut with = chosen.clone();
        closure(&name, macros, &mut with);
        let under = configuration.clone().expanding(with.iter().cloned());
        if let Some(now) = broken(tree, &under, path).filter(|now| now.len() < left.len()) {
            (chosen, left) = (with, now);
        }
    }
    chosen
}

/// A macro and those that its body calls.
fn closure(name: &str, macros: &BTreeMap<String, Defined<'_>>, into: &mut BTreeSet<String>) {
    let Some(found) = macros.get(name) else { return };
    if into.insert(name.to_owned()) {
        words(&found.body).for_each(|word| closure(word, macros, into));
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The places of a file that are no C, each with the text that leads to it.
fn broken(tree: &Tree, configuration: &Configuration, path: &str) -> Option<Vec<String>> {
    let preprocessor = Preprocessor::new(tree, configuration).ok()?;
    let unit = preprocessor.unit(path).ok()?;
    let wanted = super::body_filter::wanted(&unit.text, &unit.bodies);
    let syntax = Syntax::parse_only(&unit.text, &wanted)?;
    let mut found = Vec::new();
    let mut before = String::new();
    walk(syntax.root(), &mut |node| {
        if node.parent().is_some_and(|parent| parent.parent().is_none()) && !node.has_error() {
            before = syntax.text(node).to_owned();
        }
        if node.is_error() || node.is_missing() {
            let mut whole = node;
            while let Some(parent) = whole.parent().filter(|parent| parent.parent().is_some()) {
                whole = parent;
            }
            found.push(format!("{} {} {before}", syntax.text(node), syntax.text(whole)));
        }
        node.has_error() && !node.is_error()
    });
    Some(found)
}
