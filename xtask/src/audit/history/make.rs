//! `audit history`: makes the history again from source trees.
use super::{Change, History, Key, Known, SCHEMA, Step, Steps, committed, numbers, parent, place_of};
use crate::obtain::sources;
use crate::place;
use crate::ui::{self, Advise, Step as Progress};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use slotgen::diff::meaning::{self, ByMeaning};
use slotgen::facts::{Facts, Function};
use slotgen::meaning::Meanings;
use slotgen::source::{Tree, pins};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How much of a digest is kept.
const DIGEST: usize = 8;

#[derive(Args, Debug)]
pub struct Options {
    /// A source directory or a release tarball; may be given more than once
    #[arg(long = "source", value_name = "DIR|TARBALL")]
    sources: Vec<PathBuf>,
    /// Fail if the committed history is another one than these sources give
    #[arg(long)]
    check: bool,
}

/// A release that can be compared.
struct Read {
    facts: Facts,
    meanings: Meanings,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let before = committed().ok();
    let trees = trees(&options.sources)?;
    let made = made(&trees, before.as_ref())?;
    let text = serde_json::to_string_pretty(&made)? + "\n";
    let path = place_of();
    let is_same = std::fs::read_to_string(&path).is_ok_and(|known| known == text);
    let releases = made.names().join(", ");
    anstream::println!("{} functions over CPython {releases}", made.keys().len());
    if options.check {
        return if is_same {
            Ok(())
        } else {
            Err(anyhow!("{} differs from what these sources give", place::shown(&path)))
        }
        .advise("`cargo xtask audit history` with the same sources writes it again");
    }
    std::fs::write(&path, text).with_context(|| place::shown(&path))?;
    anstream::println!("{} {}", if is_same { "Unchanged:" } else { "Written:" }, place::shown(&path));
    Ok(())
}

/// The trees by release: those given, then pinned ones that can be had.
fn trees(given: &[PathBuf]) -> Result<BTreeMap<Vec<u32>, (String, PathBuf)>> {
    let mut found = BTreeMap::new();
    for path in given {
        let sources = sources::obtain_any(path)?;
        found.insert(numbers(&sources.version), (sources.version, sources.path));
    }
    for pin in pins().iter().filter(|pin| !pin.on_demand) {
        match sources::obtain(&pin.release, None) {
            Ok(sources) => drop(found.entry(numbers(&pin.release)).or_insert((sources.version, sources.path))),
            Err(error) => ui::note(format!("CPython {} is not read: {error:#}", pin.release)),
        }
    }
    Ok(found)
}

fn read(path: &std::path::Path) -> Result<Read> {
    let step = Progress::start(format!("Reading {}", place::shown(path)));
    let tree = Tree::open(path).with_context(|| path.display().to_string())?;
    let facts = slotgen::facts_of(&tree)?;
    let meanings = Meanings::of_tree(&tree).map_err(|reason| anyhow!("{}: {reason}", path.display()))?;
    step.done(format!("CPython {}: {} functions", facts.release, facts.functions.len()));
    Ok(Read { facts, meanings })
}

/// The history that trees give; steps between releases that are not at hand are those of the history before.
fn made(trees: &BTreeMap<Vec<u32>, (String, PathBuf)>, before: Option<&History>) -> Result<History> {
    let known = before.into_iter().flat_map(|history| &history.releases);
    let mut releases: BTreeMap<Vec<u32>, Known> = known.map(|known| (numbers(&known.release), known.clone())).collect();
    for (key, (release, _)) in trees {
        releases.entry(key.clone()).or_insert(Known { release: release.clone(), digest: String::new() });
    }
    let names: Vec<String> = releases.values().map(|known| known.release.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut functions: BTreeMap<Key, Vec<Step>> = BTreeMap::new();
    let mut open: BTreeMap<&str, Read> = BTreeMap::new();
    for (at, release) in names.iter().copied().enumerate() {
        let older = parent(release, &names);
        let Some((_, path)) = trees.get(&numbers(release)) else {
            copied(release, older, before, &mut functions)?;
            continue;
        };
        let now = read(path)?;
        releases.entry(numbers(release)).and_modify(|known| known.digest.clone_from(&now.facts.digest));
        match older {
            None => first(release, &now, &mut functions),
            Some(older) => {
                if !open.contains_key(older) {
                    let (_, path) = trees
                        .get(&numbers(older))
                        .ok_or_else(|| {
                            anyhow!("CPython {release} is compared with {older}, whose sources are not at hand")
                        })
                        .advise("pass them, too, with `--source DIR|TARBALL`")?;
                    open.insert(older, read(path)?);
                }
                if let Some(then) = open.get(older) {
                    compared(release, then, &now, &mut functions);
                }
            }
        }
        open.insert(release, now);
        // What no later release is compared with is let go.
        let wanted: BTreeSet<&str> = names.iter().skip(at + 1).filter_map(|later| parent(later, &names)).collect();
        open.retain(|release, _| wanted.contains(release));
    }
    let mut files: BTreeMap<String, BTreeMap<String, Steps>> = BTreeMap::new();
    for ((file, name), steps) in functions {
        files.entry(file).or_default().insert(name, Steps(steps));
    }
    Ok(History { schema: SCHEMA.to_owned(), releases: releases.into_values().collect(), functions: files })
}

/// The steps that the history before has for a release.
fn copied(
    release: &str,
    older: Option<&str>,
    before: Option<&History>,
    functions: &mut BTreeMap<Key, Vec<Step>>,
) -> Result<()> {
    let before = before.with_context(|| format!("nothing is known of CPython {release}"))?;
    if parent(release, &before.order()) != older {
        let older = older.unwrap_or("nothing");
        return Err(anyhow!("CPython {release} has to be compared with {older} now"))
            .advise(format!("pass the sources of CPython {release}, too, with `--source DIR|TARBALL`"));
    }
    for key in before.keys() {
        let steps = before.of(&key).iter().filter(|step| step.release == release).cloned();
        let steps: Vec<Step> = steps.collect();
        if !steps.is_empty() {
            functions.entry(key).or_default().extend(steps);
        }
    }
    Ok(())
}

/// The functions of a release by file and name.
fn by_key(facts: &Facts) -> BTreeMap<Key, &Function> {
    facts.functions.iter().map(|function| ((function.unit().to_owned(), function.name.clone()), function)).collect()
}

fn short(digest: &str) -> String {
    digest.chars().take(DIGEST).collect()
}

fn step(release: &str, change: Change, function: Option<&Function>, what: String) -> Step {
    let digest = function.map(|function| short(&function.digest)).unwrap_or_default();
    Step { release: release.to_owned(), change, digest, what }
}

fn first(release: &str, now: &Read, functions: &mut BTreeMap<Key, Vec<Step>>) {
    for (key, function) in by_key(&now.facts) {
        functions.entry(key).or_default().push(step(release, Change::There, Some(function), String::new()));
    }
}

/// Adds what changed from one release to another.
fn compared(release: &str, then: &Read, now: &Read, functions: &mut BTreeMap<Key, Vec<Step>>) {
    let found = meaning::by_meaning((&then.meanings, &then.facts), (&now.meanings, &now.facts));
    let otherwise = otherwise(&found);
    let left: BTreeSet<&str> = found.not_compared.iter().map(|(name, _)| name.as_str()).collect();
    let translated =
        |read: &Read| -> BTreeSet<Key> { read.meanings.digests().map(|(key, _, _)| key.clone()).collect() };
    let both: BTreeSet<Key> = translated(then).intersection(&translated(now)).cloned().collect();
    let (old, new) = (by_key(&then.facts), by_key(&now.facts));
    for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
        let (one, other) = (old.get(key).copied(), new.get(key).copied());
        let what = otherwise.get(&(key.0.as_str(), key.1.as_str()));
        let (change, what) = match (one, other) {
            (None, Some(_)) => (Change::There, String::new()),
            (Some(_), None) => (Change::Gone, String::new()),
            // What the same text calls may mean something else; that is told of the callee.
            (Some(one), Some(other)) if one.digest == other.digest => continue,
            (Some(_), Some(_)) if what.is_some() => (Change::Meaning, what.cloned().unwrap_or_default()),
            _ if both.contains(key) && !left.contains(key.1.as_str()) => (Change::Text, String::new()),
            _ => (Change::Unknown, String::new()),
        };
        functions.entry(key.clone()).or_default().push(step(release, change, other, what));
    }
}

/// In which ways functions mean something else, by file and name.
fn otherwise(found: &ByMeaning) -> BTreeMap<(&str, &str), String> {
    let mut all = BTreeMap::new();
    for row in &found.rows {
        let kinds: BTreeSet<&str> = row.changes.iter().map(|change| change.kind.words()).collect();
        let words = kinds.into_iter().collect::<Vec<_>>().join(", ");
        for function in &row.functions {
            all.insert((row.file.as_str(), function.as_str()), words.clone());
        }
    }
    all
}
