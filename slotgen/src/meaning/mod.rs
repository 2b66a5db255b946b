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

pub(crate) use names::{function as plain_name, only_looks, without_meaning};
pub use normal::{Meaning, Step};
pub(crate) use normal::{PARAMETER, VALUE, replaced, visit};

use std::collections::{BTreeMap, BTreeSet};

use self::digest::short;
use crate::diagnostics::Diagnostics;
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;
use crate::translate::{self, Translation};

/// How many layers of helpers are looked through.
const ROUNDS: usize = 5;

/// A function by its C file and name.
pub type Key = (String, String);

/// The translated functions of a release by what they mean.
#[derive(Debug, Clone, Default)]
pub struct Meanings {
    /// The release, such as `3.13.5`.
    pub release: String,
    functions: BTreeMap<Key, Known>,
    /// By their plain names.
    named: BTreeMap<String, Vec<Key>>,
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
        let mut named: BTreeMap<String, Vec<Key>> = BTreeMap::new();
        for one in translation.translated.values().flatten() {
            let meaning = read::meaning(one.body(), one.parameters(), &members);
            let known = Known { meaning, text: short(&one.body().to_string()), is_static: one.is_static() };
            let key = (one.file().to_owned(), one.name().to_owned());
            named.entry(names::function(&key.1)).or_default().push(key.clone());
            functions.insert(key, known);
        }
        let left = translation.left.iter().map(|one| ((one.unit.clone(), one.name.clone()), one.construct.clone()));
        let defined = translation.defined().map(names::function).collect();
        Self { release: release.to_owned(), functions, named, left: left.collect(), defined }
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

    /// What a function means in two releases, so that both are told by the same calls: a helper is a part of it where the
    /// other release does not have it, or where the other does itself what the helper does.
    pub(crate) fn pair(&self, other: &Self, key: &Key) -> Option<(Meaning, Meaning)> {
        let mut one = self.functions.get(key)?.meaning.clone();
        let mut two = other.functions.get(key)?.meaning.clone();
        for _ in 0..ROUNDS {
            let (left, right) = (called(&one), called(&two));
            let first = inline::inlined(&one, &|name| self.helper(key, name, other, (&left, &right)));
            let second = inline::inlined(&two, &|name| other.helper(key, name, self, (&right, &left)));
            if first.is_none() && second.is_none() {
                break;
            }
            (one, two) = (first.unwrap_or(one), second.unwrap_or(two));
        }
        Some((one, two))
    }

    /// Whether a function relies on one of its file that is not translated, and that the other release does not call: what it does
    /// with the result is not known.
    pub(crate) fn relies_on_untranslated(&self, other: &Self, key: &Key) -> bool {
        let calls =
            |meanings: &Self| meanings.functions.get(key).map(|known| called(&known.meaning)).unwrap_or_default();
        let (own, others) = (calls(self), calls(other));
        let only_here: Vec<&String> = own.difference(&others).collect();
        let mut left = self.left.keys().filter(|left| left.0 == key.0 && !self.functions.contains_key(*left));
        left.any(|left| only_here.iter().any(|name| **name == names::function(&left.1)))
    }

    /// The body of a helper that is to stand in the place of its call.
    fn helper(
        &self,
        key: &Key,
        name: &str,
        other: &Self,
        (own, others): (&BTreeSet<String>, &BTreeSet<String>),
    ) -> Option<Meaning> {
        let (found, helper) = self.by_plain_name(&key.0, name, Some(key))?;
        let is_itself = name == names::function(&key.1);
        let is_missing = !other.defined.contains(name);
        let does_it = || {
            helper.is_static
                && found.0 == key.0
                && !others.contains(name)
                && helper.meaning.calls().iter().any(|call| others.contains(call) && !own.contains(call))
        };
        (is_itself || is_missing || does_it()).then(|| helper.meaning.clone())
    }

    /// The function that a call in the normal form means, if it is another than `but`.
    fn by_plain_name(&self, file: &str, name: &str, but: Option<&Key>) -> Option<(&Key, &Known)> {
        let named = || {
            let keys = self.named.get(name).into_iter().flatten().filter(|key| Some(*key) != but);
            keys.filter_map(|key| self.functions.get_key_value(key))
        };
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
            if let Some((next, _)) = self.by_plain_name(&key.0, &name, None) {
                self.reach(next, into);
            }
        }
    }
}

fn called(meaning: &Meaning) -> BTreeSet<String> {
    meaning.calls().into_iter().collect()
}
