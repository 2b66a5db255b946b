//! Everything that is known of a C function: its place, its Rust, effects, callers, messages, history, tests.
use super::index::{self, Entry, Index};
use crate::place;
use crate::testing::bodies;
use anyhow::{Context, Result};
use serde::Serialize;
use slotgen::effects::FunctionEffects;
use slotgen::facts::Facts;
use slotgen::source::pins;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Names that a dossier lists of one kind.
const NAMES: usize = 40;

/// A C function by its compiled file and name.
pub type Key = (String, String);

/// What is known of a C function.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Dossier {
    /// `dict_or`.
    pub name: String,
    /// The compiled file.
    pub unit: String,
    /// The file it stands in.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// Its last line.
    pub end: u32,
    /// The digest of its text.
    pub digest: String,
    /// The generated Rust; empty if there is none.
    pub rust: String,
    /// What it may do; none if that was not analysed.
    pub effects: Option<FunctionEffects>,
    /// Functions that call it.
    pub callers: Vec<String>,
    /// Functions that it calls.
    pub calls: Vec<String>,
    /// Its string literals: messages, formats, names.
    pub messages: Vec<String>,
    /// Its text and meaning in each release whose sources are known, oldest first.
    pub history: Vec<Moment>,
    /// Test files that name it.
    pub tests: Vec<String>,
}

/// A function in one release.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// `3.13.15`.
    pub release: String,
    /// The digest of its text; none where it does not exist.
    pub digest: Option<String>,
    /// How it differs from the release before that has it.
    pub change: &'static str,
}

/// The digests of a text, and of its meaning where that is known.
type Digests = (String, Option<String>);

/// What dossiers are made from.
pub struct Archive {
    /// The release's C sources.
    pub index: Index,
    effects: BTreeMap<Key, FunctionEffects>,
    rust: BTreeMap<Key, String>,
    /// Digests by release, oldest first.
    digests: Vec<(String, BTreeMap<Key, Digests>)>,
    callers: BTreeMap<String, Vec<usize>>,
    /// Words of the test files.
    tests: Vec<(String, BTreeSet<String>)>,
}

impl Archive {
    /// Reads it; `bodies` is the release whose generated Rust counts.
    pub fn read(index: Index, facts: &[Facts], others: &[Index], bodies: Option<&str>) -> Result<Self> {
        let series: String = index.release.split('.').take(2).collect::<Vec<_>>().join(".");
        let own = facts.iter().find(|facts| facts.release.starts_with(&format!("{series}.")));
        let effects = own.into_iter().flat_map(|facts| &facts.effects);
        let effects = effects.map(|row| ((row.file.clone(), row.name.clone()), row.clone())).collect();
        let mut digests: Vec<(String, BTreeMap<Key, Digests>)> = Vec::new();
        // Indices know meanings, too: they come first.
        for other in std::iter::once(&index).chain(others) {
            let rows = other.entries.iter();
            let rows =
                rows.map(|row| ((row.unit.clone(), row.name.clone()), (row.digest.clone(), row.meaning.clone())));
            digests.push((other.release.clone(), rows.collect()));
        }
        for facts in facts.iter().filter(|facts| !facts.functions.is_empty()) {
            let rows = facts.functions.iter();
            let rows = rows.map(|row| ((row.unit().to_owned(), row.name.clone()), (row.digest.clone(), None)));
            digests.push((facts.release.clone(), rows.collect()));
        }
        let mut seen = BTreeSet::new();
        digests.retain(|(release, _)| seen.insert(release.clone()));
        digests.sort_by_key(|(release, _)| numbers(release));
        let mut callers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, entry) in index.entries.iter().enumerate() {
            entry.calls.iter().for_each(|name| callers.entry(name.clone()).or_default().push(at));
        }
        let rust = bodies.map(rust).transpose()?.unwrap_or_default();
        Ok(Self { effects, rust, digests, callers, tests: tests()?, index })
    }

    /// The dossier of a function.
    pub fn of(&self, entry: &Entry) -> Dossier {
        let key = (entry.unit.clone(), entry.name.clone());
        let called_by =
            self.callers.get(&entry.name).into_iter().flatten().filter_map(|at| self.index.entries.get(*at));
        let called_by = called_by.filter(|other| !entry.is_static || other.unit == entry.unit);
        let callers: BTreeSet<String> = called_by.map(|other| other.name.clone()).collect();
        let tests = self.tests.iter().filter(|(_, words)| words.contains(&entry.name)).map(|(path, _)| path.clone());
        Dossier {
            name: entry.name.clone(),
            unit: entry.unit.clone(),
            file: entry.file.clone(),
            line: entry.line,
            end: entry.end,
            digest: entry.digest.clone(),
            rust: self.rust.get(&key).cloned().unwrap_or_default(),
            effects: self.effects.get(&key).cloned(),
            callers: callers.into_iter().take(NAMES).collect(),
            calls: entry.calls.iter().take(NAMES).cloned().collect(),
            messages: entry.strings.iter().take(NAMES).cloned().collect(),
            history: history(&self.digests, &key),
            tests: tests.take(NAMES).collect(),
        }
    }

    /// Functions whose generated Rust names a slot, as `Slot::nb_or`: they read it.
    pub fn readers(&self, slot: &str) -> Vec<&Key> {
        let wanted = format!("Slot::{slot}");
        let names = |text: &str| {
            text.match_indices(&wanted)
                .any(|(at, _)| !text[at + wanted.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        };
        self.rust.iter().filter(|(_, text)| names(text)).map(|(key, _)| key).collect()
    }

    /// The dossier of the function that a file means by a name.
    pub fn named(&self, name: &str, file: &str) -> Option<Dossier> {
        self.index.find(name, file).map(|entry| self.of(entry))
    }
}

/// How a function went through the releases.
fn history(digests: &[(String, BTreeMap<Key, Digests>)], key: &Key) -> Vec<Moment> {
    let mut last: Option<&Digests> = None;
    let mut found = Vec::new();
    for (release, all) in digests {
        let now = all.get(key);
        let change = match (last, now) {
            (_, None) => "not there",
            (None, Some(_)) => "there",
            (Some((old, _)), Some((new, _))) if old == new => "the same text",
            (Some((_, Some(old))), Some((_, Some(new)))) if old == new => "another text, the same meaning",
            (Some((_, Some(_))), Some((_, Some(_)))) => "another meaning",
            _ => "another text; whether the meaning changed is not known",
        };
        found.push(Moment { release: release.clone(), digest: now.map(|(digest, _)| digest.clone()), change });
        last = now.or(last);
    }
    found
}

/// The archive of the newest release with C sources among these; none if none has some.
pub fn newest(series: &[String]) -> Result<Option<Archive>> {
    let pinned = |series: &&String| crate::obtain::releases::named(series).is_ok();
    let Some(series) = series.iter().filter(pinned).max_by_key(|series| numbers(series)) else { return Ok(None) };
    archive(series).map(Some)
}

/// The archive of a release, with the history of its functions in all releases whose sources are known.
pub fn archive(series: &str) -> Result<Archive> {
    let index = index::of(series)?;
    let mut facts = Vec::new();
    for pin in pins() {
        let committed = slotgen::committed(&place::root().join("generated"), pin.series());
        facts.extend(committed.ok().filter(|facts| facts.release == pin.release));
    }
    // Sources that are not committed as facts are read only if they are indexed already.
    let others: Vec<Index> = pins().iter().filter_map(|pin| index::kept(&pin.release)).collect();
    Archive::read(index, &facts, &others, bodies(series).as_deref())
}

/// 3, 13, 5 for `3.13.5`.
pub fn numbers(release: &str) -> Vec<u32> {
    release.split('.').filter_map(|part| part.parse().ok()).collect()
}

/// The generated Rust of each function of a release.
fn rust(series: &str) -> Result<BTreeMap<Key, String>> {
    let mut found = BTreeMap::new();
    for path in place::generated(series)? {
        let text = std::fs::read_to_string(&path).with_context(|| place::shown(&path))?;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some((file, name)) = line.strip_prefix("/// CPython: ").and_then(|rest| rest.split_once(", `")) else {
                continue;
            };
            let name = name.split('`').next().unwrap_or_default();
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            found.entry((file.to_owned(), name.to_owned())).or_insert_with(|| format!("{}\n}}\n", body.join("\n")));
        }
    }
    Ok(found)
}

/// The words of every test file.
fn tests() -> Result<Vec<(String, BTreeSet<String>)>> {
    let mut paths = Vec::new();
    collect(&place::root().join("tests"), &mut paths)?;
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).with_context(|| place::shown(&path))?;
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| word.len() > 3);
        found.push((place::shown(&path), words.map(str::to_owned).collect()));
    }
    Ok(found)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| place::shown(folder))?;
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "py" || extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_functions_are_found_whole() {
        let found = rust("3.13").unwrap();
        let text = &found[&("Objects/abstract.c".to_owned(), "PyNumber_Or".to_owned())];
        assert!(text.starts_with("pub fn PyNumber_Or") && text.ends_with("}\n"));
        assert!(syn::parse_str::<syn::ItemFn>(text).is_ok());
    }

    #[test]
    fn releases_are_ordered_by_number() {
        assert!(numbers("3.9.2") < numbers("3.11.2") && numbers("3.13.5") < numbers("3.13.15"));
    }
}
