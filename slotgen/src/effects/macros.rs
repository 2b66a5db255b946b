//! Macros of the API as functions: those that are called by name and whose bodies read as an expression or as statements.

use std::collections::{BTreeMap, BTreeSet};

use super::program::{Program, Unit};
use super::state::names;
use crate::lower::{Declarations, Function, Text, parse};
use crate::preprocess::{MacroDefinition, Preprocessor};
use crate::source::Tree;

/// Adds the macros that the program calls, and those that they call.
pub(super) fn add(program: &mut Program, tree: &Tree, preprocessor: &Preprocessor<'_>, known: &Declarations) {
    let mut wanted: BTreeSet<String> = program.functions.iter().flat_map(|defined| names(&defined.function)).collect();
    let others = others(tree);
    let mut seen = BTreeSet::new();
    while let Some(name) = wanted.pop_first() {
        if program.has(&name) || !seen.insert(name.clone()) {
            continue;
        }
        let all = match preprocessor.api_macro(&name) {
            Some(found) => vec![found],
            None => others.get(&name).cloned().unwrap_or_default(),
        };
        let Some(found) = all.first() else { continue };
        if found.parameters.is_none() {
            if let Some(of) = aliased(&found.body).filter(|_| all.len() == 1) {
                wanted.insert(of.to_owned());
                program.alias(name, of.to_owned());
            }
            continue;
        }
        if let Some(function) = function(&all, known) {
            wanted.extend(names(&function));
            program.add(Unit { path: found.file.clone(), map: None }, vec![function]);
        }
    }
}

/// What a macro without parameters is another name of: a name, perhaps its address, in parentheses or a cast to an object.
fn aliased(body: &str) -> Option<&str> {
    let mut words = body
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty() && !matches!(*word, "PyObject" | "_PyObject_CAST"));
    let plain = body.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '&' | '(' | ')' | '*' | ' '));
    let word = words.next().filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))?;
    (plain && words.next().is_none()).then_some(word)
}

/// The macros that headers define, as their text has them, whatever the conditions are.
fn others(tree: &Tree) -> BTreeMap<String, Vec<MacroDefinition>> {
    let mut found: BTreeMap<String, Vec<MacroDefinition>> = BTreeMap::new();
    for file in tree.files().iter().filter(|file| file.path().starts_with("Include/")) {
        let text = file.text().replace("\\\n", " ");
        for line in text.lines() {
            let Some(rest) =
                line.trim_start().strip_prefix('#').and_then(|line| line.trim_start().strip_prefix("define "))
            else {
                continue;
            };
            let rest = rest.trim();
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, rest) = rest.split_at(end);
            let (parameters, body) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
                Some((list, body)) => (Some(list.split(',').map(|word| word.trim().to_owned()).collect()), body),
                None => (None, rest),
            };
            let body = body.split("/*").next().unwrap_or_default().split("//").next().unwrap_or_default().trim();
            let made = MacroDefinition {
                name: name.to_owned(),
                parameters,
                body: body.to_owned(),
                file: file.path().to_owned(),
                line: 0,
            };
            let all = found.entry(name.to_owned()).or_default();
            if !all.iter().any(|one| one.body == made.body) {
                all.push(made);
            }
        }
    }
    found
}

/// The macro as a function, if each of its bodies is C that can stand alone; of several, any may be meant.
fn function(all: &[MacroDefinition], known: &Declarations) -> Option<Function> {
    let first = all.first()?;
    let names: Vec<String> = first.parameters.clone()?.into_iter().filter(|name| !name.is_empty()).collect();
    let same = all.iter().all(|one| one.parameters == first.parameters);
    if !same || names.iter().any(|name| name == "...") || all.iter().any(|one| one.body.contains("##")) {
        return None;
    }
    let parameters: Vec<String> = names.iter().map(|name| format!("void *{name}")).collect();
    let head = format!("static void *{}({})", first.name, parameters.join(", "));
    let bodies = |form: &dyn Fn(&str) -> String| all.iter().map(|one| form(&one.body)).collect::<String>();
    let as_value = format!("{head} {{ {} }}\n", bodies(&|body| format!("return ({body});")));
    let as_statements = format!("{head} {{ {} }}\n", bodies(&|body| format!("{body};")));
    [as_value, as_statements].into_iter().find_map(|text| {
        let parsed = parse(&text).filter(|parsed| !parsed.root_node().has_error())?;
        Text::new(&text, known).with_pointers().functions(parsed.root_node(), &first.file).pop()
    })
}
