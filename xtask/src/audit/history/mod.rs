//! How C functions went through the releases: where their text, and where their meaning changed. Data, made by `audit history`.
//!
//! In: `xtask/history.json`. Out: `History`. Each release is compared with one before it: a patch release with the one before it in its
//! series, the first of a series with the first of the series before. So a mend that both branches got is one change.
mod line;
mod make;

pub use line::{Change, Step};
pub use make::{Options, run};

use super::dossier::{Key, numbers};
use crate::place;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The schema of the file.
const SCHEMA: &str = "slotrt-history-1";

/// A release that was read.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Known {
    /// `3.13.15`.
    pub release: String,
    /// The digest of its sources.
    pub digest: String,
}

/// The history of all functions.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct History {
    schema: String,
    /// The releases, by number.
    pub releases: Vec<Known>,
    /// By C file and name: the steps, oldest first.
    functions: BTreeMap<String, BTreeMap<String, Steps>>,
}

/// Steps in one line.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(into = "String", from = "String")]
struct Steps(Vec<Step>);

impl From<String> for Steps {
    fn from(text: String) -> Self {
        Self(line::read(&text))
    }
}

impl From<Steps> for String {
    fn from(steps: Steps) -> Self {
        line::written(&steps.0)
    }
}

/// How a function differs between two releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    /// Its text is the same.
    SameText,
    /// Its text is another, its meaning the same.
    SameMeaning,
    /// It means something else: in which releases since, and how.
    Otherwise(Vec<String>),
    /// Its text is another, and its meaning was not compared.
    Unknown,
    /// One of them has no such function.
    Missing,
}

/// The committed file.
fn place_of() -> PathBuf {
    place::root().join("xtask").join("history.json")
}

/// The committed history.
pub fn committed() -> Result<History> {
    let path = place_of();
    let text = std::fs::read_to_string(&path).with_context(|| place::shown(&path))?;
    serde_json::from_str(&text).with_context(|| place::shown(&path))
}

/// The release that another one of the same list is compared with.
fn parent<'r>(release: &str, all: &[&'r str]) -> Option<&'r str> {
    let series = |release: &str| numbers(release).into_iter().take(2).collect::<Vec<_>>();
    let older: Vec<&str> = all.iter().copied().filter(|other| numbers(other) < numbers(release)).collect();
    let own = older.iter().rev().find(|other| series(other) == series(release));
    let before = || {
        let nearest = series(older.last()?);
        older.iter().find(|other| series(other) == nearest)
    };
    own.or_else(before).copied()
}

impl History {
    /// What a function went through; empty where it is not known.
    pub fn of(&self, key: &Key) -> &[Step] {
        self.functions.get(&key.0).and_then(|file| file.get(&key.1)).map_or(&[], |steps| &steps.0)
    }

    /// The file that a comment means by a name: the one it cites, else the only one that has it.
    pub fn file_of<'h>(&'h self, name: &str, cited: &'h str) -> Option<&'h str> {
        if self.functions.get(cited).is_some_and(|file| file.contains_key(name)) {
            return Some(cited);
        }
        let mut having = self.functions.iter().filter(|(_, names)| names.contains_key(name));
        having.next().filter(|_| having.next().is_none()).map(|(file, _)| file.as_str())
    }

    /// The releases that were read, by number.
    pub fn names(&self) -> Vec<String> {
        self.releases.iter().map(|known| known.release.clone()).collect()
    }

    fn order(&self) -> Vec<&str> {
        self.releases.iter().map(|known| known.release.as_str()).collect()
    }

    /// The newest release of a series that is not newer than the one named; the first of the series for its bare name.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let wanted = numbers(name);
        let names = self.order();
        let series = wanted.get(..2)?;
        let own: Vec<&str> = names.into_iter().filter(|release| numbers(release).starts_with(series)).collect();
        let older = own.iter().rev().find(|release| numbers(release) <= wanted);
        older.or(own.first()).copied()
    }

    /// The releases that lead to one, itself first.
    fn line_of<'h>(&'h self, release: &'h str) -> Vec<&'h str> {
        let all = self.order();
        std::iter::successors(Some(release), |release| parent(release, &all)).collect()
    }

    /// How a function differs between two releases that are known.
    pub fn between(&self, key: &Key, from: &str, to: &str) -> Between {
        let steps = self.of(key);
        let there = |release: &str| {
            let line = self.line_of(release);
            let own = line.iter().find_map(|known| steps.iter().find(|step| step.release == *known));
            own.is_some_and(|step| step.change != Change::Gone)
        };
        if !there(from) || !there(to) {
            return Between::Missing;
        }
        let (one, other) = (self.line_of(from), self.line_of(to));
        // What both lines have was before they parted.
        let passed = |step: &&Step| one.contains(&step.release.as_str()) != other.contains(&step.release.as_str());
        let passed: Vec<&Step> = steps.iter().filter(passed).collect();
        let has = |change: Change| passed.iter().any(|step| step.change == change);
        if passed.is_empty() {
            Between::SameText
        } else if has(Change::Meaning) {
            let told = passed.iter().filter(|step| step.change == Change::Meaning);
            Between::Otherwise(told.map(|step| format!("{}: {}", step.release, step.what)).collect())
        } else if passed.iter().all(|step| step.change == Change::Text) {
            Between::SameMeaning
        } else {
            Between::Unknown
        }
    }

    /// Every function.
    fn keys(&self) -> BTreeSet<Key> {
        let of = |(file, names): (&String, &BTreeMap<String, Steps>)| {
            names.keys().map(|name| (file.clone(), name.clone())).collect::<Vec<_>>()
        };
        self.functions.iter().flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(steps: &str) -> History {
        let known = |release: &&str| Known { release: (*release).to_owned(), digest: String::new() };
        History {
            schema: SCHEMA.to_owned(),
            releases: ["3.12.0", "3.12.13", "3.13.0", "3.13.5", "3.14.0"].iter().map(known).collect(),
            functions: BTreeMap::from([(
                "a.c".to_owned(),
                BTreeMap::from([("f".to_owned(), Steps::from(steps.to_owned()))]),
            )]),
        }
    }

    #[test]
    fn a_patch_follows_its_series_and_a_series_the_start_of_the_one_before() {
        let all = ["3.12.0", "3.12.13", "3.13.0", "3.13.5", "3.14.0"];
        let parents: Vec<Option<&str>> = all.iter().map(|release| parent(release, &all)).collect();
        assert_eq!(parents, [None, Some("3.12.0"), Some("3.12.0"), Some("3.13.0"), Some("3.13.0")]);
    }

    #[test]
    fn releases_are_compared_over_the_lines_that_lead_to_them() {
        let key = ("a.c".to_owned(), "f".to_owned());
        let known = history("3.12.0 there aa; 3.12.13 meaning bb calls; 3.13.0 text cc; 3.14.0 unknown dd");
        let between = |from, to| known.between(&key, from, to);
        assert_eq!(between("3.13.0", "3.13.5"), Between::SameText);
        assert_eq!(between("3.12.0", "3.13.5"), Between::SameMeaning);
        assert_eq!(between("3.12.13", "3.13.5"), Between::Otherwise(vec!["3.12.13: calls".to_owned()]));
        assert_eq!(between("3.13.5", "3.14.0"), Between::Unknown);
        let known = history("3.13.0 there aa; 3.14.0 gone");
        assert_eq!(known.between(&key, "3.12.0", "3.13.0"), Between::Missing);
        assert_eq!(known.between(&key, "3.13.5", "3.14.0"), Between::Missing);
    }

    #[test]
    fn a_tag_means_the_release_before_it_that_is_known() {
        let known = history("");
        assert_eq!(known.nearest("3.13.3"), Some("3.13.0"));
        assert_eq!((known.nearest("3.13"), known.nearest("3.13.99")), (Some("3.13.0"), Some("3.13.5")));
        assert_eq!((known.nearest("3.7.1"), known.nearest("main")), (None, None));
    }

    #[test]
    fn the_committed_history_is_whole() {
        let known = committed().unwrap();
        assert_eq!(known.schema, SCHEMA);
        let series: BTreeSet<String> =
            known.releases.iter().map(|known| crate::obtain::releases::series_of(&known.release)).collect();
        for wanted in ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"] {
            assert!(series.contains(wanted), "{wanted}");
        }
        let releases = known.order();
        for key in known.keys() {
            let steps = known.of(&key);
            assert!(!steps.is_empty() && steps.iter().all(|step| releases.contains(&step.release.as_str())), "{key:?}");
        }
    }
}
