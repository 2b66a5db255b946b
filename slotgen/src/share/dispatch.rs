//! `dispatch.rs`: from the identity of a C function to its translation, with an arm where the body stands.

use std::collections::{BTreeMap, BTreeSet};

use super::bodies::Bodies;
use super::releases::{Releases, Set};
use crate::emit::File;
use crate::translate::{Arm, Dispatcher, Rendered};

const USES: &str =
    "#![allow(non_snake_case, clippy::all)]\n#[allow(unused_imports)]\nuse crate::{calls, capi::{CApi, FunctionId}};\n";

/// The arms of each typedef in the folder of a set.
type Folders<'r> = BTreeMap<Set, BTreeMap<&'r str, Vec<&'r Arm>>>;

/// The files of all sets.
#[must_use]
pub fn files(releases: &Releases, rendered: &[Rendered], bodies: &Bodies<'_>) -> Vec<File> {
    let tables: Vec<_> = rendered.iter().map(dispatchers).collect();
    let mut folders = Folders::new();
    for (release, of) in tables.iter().enumerate() {
        for (typedef, dispatcher) in of {
            for arm in &dispatcher.arms {
                let set = set_of(&tables, bodies, release, dispatcher, arm);
                let arms = folders.entry(set.clone()).or_default().entry(typedef).or_default();
                if set.last() == Some(&release) {
                    arms.push(arm);
                }
            }
        }
    }
    let mut files = Vec::new();
    for (release, of) in tables.iter().enumerate() {
        let own = Set::from([release]);
        let functions = of.values().map(|one| function(releases, &folders, &own, one)).collect();
        files.push(releases.file(&own, "dispatch", &text(functions)));
    }
    for (set, arms) in folders.iter().filter(|(set, _)| set.len() > 1) {
        let Some(of) = set.last().and_then(|newest| tables.get(*newest)) else { continue };
        let functions = arms.keys().filter_map(|typedef| Some(function(releases, &folders, set, of.get(typedef)?)));
        files.push(releases.file(set, "dispatch", &text(functions.collect())));
    }
    files
}

fn dispatchers(rendered: &Rendered) -> BTreeMap<&str, &Dispatcher> {
    rendered.dispatchers.iter().map(|one| (one.typedef.as_str(), one)).collect()
}

/// The releases that share an arm: those that share the body, if they call it alike.
fn set_of(
    tables: &[BTreeMap<&str, &Dispatcher>],
    bodies: &Bodies<'_>,
    release: usize,
    own: &Dispatcher,
    arm: &Arm,
) -> Set {
    let alike = |place: &usize| {
        let other = tables.get(*place).and_then(|of| of.get(own.typedef.as_str()));
        other.is_some_and(|other| other.head == own.head && other.arms.contains(arm))
    };
    let set = bodies.set(release, &arm.key).filter(|set| set.iter().all(alike));
    set.cloned().unwrap_or_else(|| Set::from([release]))
}

fn text(functions: Vec<String>) -> String {
    format!("//! From the identity of a C function to its translation.\n{USES}{}", functions.concat())
}

fn function(releases: &Releases, folders: &Folders<'_>, set: &Set, one: &Dispatcher) -> String {
    let typedef = one.typedef.as_str();
    let arms = folders.get(set).and_then(|of| of.get(typedef)).map(Vec::as_slice).unwrap_or_default();
    let arms: String = arms.iter().map(|arm| format!("        FunctionId::{} => {},\n", arm.id, arm.call)).collect();
    let wider: BTreeSet<&Set> = folders
        .iter()
        .filter(|(other, of)| set.len() == 1 && other.len() > 1 && other.is_superset(set) && of.contains_key(typedef))
        .map(|(other, _)| other)
        .collect();
    let call = |set: &Set| format!("crate::{}::dispatch::{typedef}({})", releases.folder(set), one.passed("id"));
    let rest = wider
        .iter()
        .map(|set| call(set))
        .rev()
        .reduce(|rest, call| format!("match {call} {{ Some(found) => Some(found), None => {rest} }}"));
    let rest = rest.unwrap_or_else(|| "None".to_owned());
    format!(
        "/// Runs the translation of `id` as a `{typedef}`; `None` if there is none.\n#[allow(unused_variables)]\n\
        pub fn {typedef}<C: CApi>({}) -> Option<Result<{}, C::Error>> {{\n    match id {{\n{arms}        _ => {rest},\n    }}\n}}\n",
        one.declared("id: FunctionId"),
        one.head.returns,
    )
}

impl Dispatcher {
    /// The parameters with another one behind `c`.
    fn declared(&self, more: &str) -> String {
        self.head.declared().replacen("&mut C", &format!("&mut C, {more}"), 1)
    }

    /// The arguments with another one behind `c`.
    fn passed(&self, more: &str) -> String {
        self.head.passed().replacen('c', &format!("c, {more}"), 1)
    }
}
