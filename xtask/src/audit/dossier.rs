//! Everything that is known of a C function: its place, its Rust, effects, callers, messages, history, tests.
use super::history::{self, History, Step};
use super::index::{self, Entry, Index};
use super::reached::{self, Reached};
use crate::place;
use crate::testing::bodies;
use anyhow::{Context, Result};
use serde::Serialize;
use slotgen::effects::FunctionEffects;
use slotgen::facts::Facts;
use std::collections::{BTreeMap, BTreeSet};

/// Names that a dossier lists of one kind.
const NAMES: usize = 40;

/// A C function by its compiled file and name.
pub type Key = (String, String);

/// What is known of a C function.
#[derive(Clone, Debug, Serialize)]
pub struct Dossier {
    /// Its place, what it calls and says; long lists are cut.
    #[serde(flatten)]
    pub entry: Entry,
    /// The generated Rust; empty if there is none.
    pub rust: String,
    /// What it may do; none if that was not analysed.
    pub effects: Option<FunctionEffects>,
    /// Functions that call it.
    pub callers: Vec<String>,
    /// The releases in which it, its text or its meaning became another, oldest first.
    pub history: Vec<Step>,
    /// How many tests run its generated Rust.
    pub reached: usize,
    /// Those of them that run the fewest other functions.
    pub tests: Vec<String>,
}

/// What dossiers are made from.
pub struct Archive {
    /// The release's C sources.
    pub index: Index,
    /// How functions went through the releases.
    pub history: History,
    effects: BTreeMap<Key, FunctionEffects>,
    rust: BTreeMap<Key, String>,
    callers: BTreeMap<String, Vec<usize>>,
    reached: Reached,
}

impl Archive {
    /// Reads it; `bodies` is the release whose generated Rust counts.
    fn read(index: Index, facts: Option<Facts>, bodies: Option<&str>) -> Result<Self> {
        let effects = facts.into_iter().flat_map(|facts| facts.effects);
        let effects = effects.map(|row| ((row.file.clone(), row.name.clone()), row)).collect();
        let mut callers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, entry) in index.entries.iter().enumerate() {
            entry.calls.iter().for_each(|name| callers.entry(name.clone()).or_default().push(at));
        }
        let rust = bodies.map(rust).transpose()?.unwrap_or_default();
        Ok(Self { effects, rust, callers, history: history::committed()?, reached: reached::committed()?, index })
    }

    /// The dossier of a function.
    pub fn of(&self, entry: &Entry) -> Dossier {
        let key = (entry.unit.clone(), entry.name.clone());
        let called_by =
            self.callers.get(&entry.name).into_iter().flatten().filter_map(|at| self.index.entries.get(*at));
        let called_by = called_by.filter(|other| !entry.is_static || other.unit == entry.unit);
        let callers: BTreeSet<String> = called_by.map(|other| other.name.clone()).collect();
        let (reached, tests) = self.reached.of(&key);
        let mut shown = entry.clone();
        shown.calls.truncate(NAMES);
        shown.strings.truncate(NAMES);
        Dossier {
            entry: shown,
            rust: self.rust.get(&key).cloned().unwrap_or_default(),
            effects: self.effects.get(&key).cloned(),
            callers: callers.into_iter().take(NAMES).collect(),
            history: self.history.of(&key).to_vec(),
            reached,
            tests,
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

/// The archive of the newest release with C sources among these; none if none has some.
pub fn newest(series: &[String]) -> Result<Option<Archive>> {
    let pinned = |series: &&String| crate::obtain::releases::named(series).is_ok();
    let Some(series) = series.iter().filter(pinned).max_by_key(|series| numbers(series)) else { return Ok(None) };
    archive(series).map(Some)
}

/// The archive of a release.
pub fn archive(series: &str) -> Result<Archive> {
    let index = index::of(series)?;
    let facts = slotgen::committed(&place::root().join("generated"), series).ok();
    Archive::read(index, facts, bodies(series).as_deref())
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
