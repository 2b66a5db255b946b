//! What translated functions mean: their bodies without what only their text has.
//!
//! In: the translation of a release. Out: `Meanings`, a normal form and a digest per function. Names of variables, temporaries,
//! casts, reference counts and exceptions that are only passed on leave no trace in it; for two releases, helpers that one of
//! them has inlined are inlined in the other, too. It does not say what a difference is called.

mod digest;
mod forms;
mod inline;
mod names;
mod normal;
mod read;
#[cfg(test)]
mod tests;
mod values;
mod ways;

pub(crate) use names::{function as plain_name, without_meaning};
pub use normal::{Meaning, Step};
pub(crate) use normal::{PARAMETER, VALUE, replaced, visit};

use std::collections::{BTreeMap, BTreeSet};

use self::digest::short;
use crate::diagnostics::Diagnostics;
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;
use crate::translate::{self, Translation};

/// A function by its C file and name.
pub type Key = (String, String);

/// The translated functions of a release by what they mean.
#[derive(Debug, Clone, Default)]
pub struct Meanings {
    /// The release, such as `3.13.5`.
    pub release: String,
    functions: BTreeMap<Key, Known>,
    left: BTreeMap<Key, String>,
    /// The plain names of all functions that the C files define.
    defined: BTreeSet<String>,
}

/// A translated function.
#[derive(Debug, Clone)]
struct Known {
    meaning: Meaning,
    /// Digest of the translated text.
    text: String,
    is_static: bool,
}

impl Meanings {
    /// Translates a source tree and reads what its functions mean.
    pub fn of_tree(tree: &Tree) -> Result<Self, String> {
        let configuration = Configuration::named("release", tree.release()).map_err(|error| error.to_string())?;
        let preprocessor = Preprocessor::new(tree, &configuration).map_err(|found| found.to_string())?;
        let nowhere = translate::Elsewhere::default();
        let found = translate::translate(tree, &preprocessor, translate::UNITS, nowhere, &mut Diagnostics::default())?;
        Ok(Self::of(&found, &tree.release().to_string()))
    }

    /// What the functions of a translation mean.
    #[must_use]
    pub fn of(translation: &Translation, release: &str) -> Self {
        let members = translation.members();
        let mut functions = BTreeMap::new();
        for one in translation.translated.values().flatten() {
            let meaning = read::meaning(one.body(), one.parameters(), &members);
            let known = Known { meaning, text: short(&one.body().to_string()), is_static: one.is_static() };
            functions.insert((one.file().to_owned(), one.name().to_owned()), known);
        }
        let left = translation.left.iter().map(|one| ((one.unit.clone(), one.name.clone()), one.construct.clone()));
        let defined = translation.defined().map(names::function).collect();
        Self { release: release.to_owned(), functions, left: left.collect(), defined }
    }

    /// The digest of what a function does itself, its callees by name; nothing where it is not translated, or where several
    /// files have a function of the name.
    #[must_use]
    pub fn digest(&self, function: &str) -> Option<String> {
        Some(self.only(function)?.meaning.digest())
    }

    /// The digest of what a function does with all that it calls, as far as that is translated.
    #[must_use]
    pub fn whole_digest(&self, function: &str) -> Option<String> {
        let key = self.functions.keys().find(|key| key.1 == function).filter(|_| self.only(function).is_some())?;
        let mut reached = BTreeSet::new();
        self.reach(key, &mut reached);
        let each =
            reached.iter().filter_map(|key| Some(format!("{}={}", key.1, self.functions.get(key)?.meaning.digest())));
        Some(short(&each.collect::<Vec<_>>().join("\n")))
    }

    /// Digest of the translated text, and of the meaning, of every function.
    pub fn digests(&self) -> impl Iterator<Item = (&Key, &str, String)> {
        self.functions.iter().map(|(key, known)| (key, known.text.as_str(), known.meaning.digest()))
    }

    /// Why a function is not translated.
    #[must_use]
    pub fn why_not(&self, key: &Key) -> Option<&str> {
        self.left.get(key).map(String::as_str)
    }

    /// The functions.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.functions.keys()
    }

    /// Whether a function is translated to the same text in another release; nothing where one of them has no translation.
    pub(crate) fn same_text(&self, other: &Self, key: &Key) -> Option<bool> {
        Some(self.functions.get(key)?.text == other.functions.get(key)?.text)
    }

    /// What a function means beside another release: helpers of its own that the other does not have are part of it.
    pub(crate) fn beside(&self, other: &Self, key: &Key) -> Option<Meaning> {
        let known = self.functions.get(key)?;
        let helper = |name: &str| {
            let (_, helper) = self.by_plain_name(&key.0, name)?;
            (!other.defined.contains(name)).then(|| helper.meaning.clone())
        };
        Some(inline::inlined(&known.meaning, &helper))
    }

    /// The function that a call in the normal form means.
    fn by_plain_name(&self, file: &str, name: &str) -> Option<(&Key, &Known)> {
        let named = || self.functions.iter().filter(|(key, _)| key.1 == name || names::function(&key.1) == name);
        named().find(|(key, _)| key.0 == file).or_else(|| named().find(|(_, known)| !known.is_static))
    }

    fn only(&self, function: &str) -> Option<&Known> {
        let mut found = self.functions.iter().filter(|(key, _)| key.1 == function);
        let (_, first) = found.next()?;
        found.next().is_none().then_some(first)
    }

    fn reach(&self, key: &Key, into: &mut BTreeSet<Key>) {
        let Some(known) = self.functions.get(key).filter(|_| into.insert(key.clone())) else { return };
        for name in known.meaning.calls() {
            if let Some((next, _)) = self.by_plain_name(&key.0, &name) {
                self.reach(next, into);
            }
        }
    }
}
