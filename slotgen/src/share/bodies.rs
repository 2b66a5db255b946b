//! Decides which releases have a function in common, and how its callers reach it.
//!
//! Bodies are shared where their texts are equal. A shared body calls other functions by module and name, as every body does: the name
//! leads to the one body that all releases with the function have, or to the running release's own.

use std::collections::{BTreeMap, BTreeSet};

use super::releases::Set;
use crate::translate::{Function, Head, Rendered};

/// A function's module and name.
pub type Key = (String, String);

/// Where the bodies of all releases stand.
#[derive(Debug, Default)]
pub struct Bodies<'r> {
    /// The functions of each release.
    functions: Vec<BTreeMap<Key, &'r Function>>,
    /// The releases that share a body with a release.
    sets: Vec<BTreeMap<Key, Set>>,
    /// Functions that shared bodies call and that the running release answers for, with what they take and give.
    pub forwarded: BTreeMap<Key, Head>,
}

impl<'r> Bodies<'r> {
    /// Compares what the releases give, oldest first.
    #[must_use]
    pub fn of(releases: &'r [Rendered]) -> Self {
        let functions = releases.iter().map(functions).collect::<Vec<_>>();
        let mut bodies =
            Self { sets: functions.iter().map(|of| equal(of, &functions)).collect(), functions, ..Self::default() };
        while let Some(key) = bodies.misled() {
            // What cannot be reached from a shared body keeps its callers apart.
            bodies.part(&key);
        }
        bodies.forwarded = bodies.needed();
        bodies
    }

    /// The function of a release.
    #[must_use]
    pub fn function(&self, release: usize, key: &Key) -> Option<&'r Function> {
        self.functions.get(release)?.get(key).copied()
    }

    /// The releases that share the body that a release has; none if it has none.
    #[must_use]
    pub fn set(&self, release: usize, key: &Key) -> Option<&Set> {
        self.sets.get(release)?.get(key)
    }

    /// The sets in which the bodies of a function stand.
    #[must_use]
    pub fn sets(&self, key: &Key) -> BTreeSet<Set> {
        self.sets.iter().filter_map(|of| of.get(key)).cloned().collect()
    }

    /// Every function of any release.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<&Key> {
        self.functions.iter().flat_map(BTreeMap::keys).collect()
    }

    /// Shared functions with their sets.
    fn shared(&self) -> impl Iterator<Item = (&Key, &Set, &'r Function)> {
        let each = self.sets.iter().zip(&self.functions).enumerate();
        each.flat_map(|(release, (sets, functions))| {
            let own = sets.iter().filter(move |(_, set)| set.len() > 1 && set.first() == Some(&release));
            own.filter_map(|(key, set)| Some((key, set, *functions.get(key)?)))
        })
    }

    /// Whether a shared body finds a function under its name without asking the running release.
    fn is_plain(&self, key: &Key, callers: &Set) -> bool {
        let sets = self.sets(key);
        sets.len() == 1 || sets.contains(callers)
    }

    /// What a forwarded function takes and gives: what the newest release with it says.
    fn head(&self, key: &Key) -> Option<&'r Head> {
        self.functions.iter().rev().find_map(|of| of.get(key)).map(|function| &function.head)
    }

    /// A shared body that calls a function which not all its releases call alike.
    fn misled(&self) -> Option<Key> {
        let reaches = |callee: &Key, set: &Set| {
            let alike = |release: &usize| {
                self.function(*release, callee).is_some_and(|function| Some(&function.head) == self.head(callee))
            };
            self.is_plain(callee, set) || set.iter().all(alike)
        };
        let mut shared = self.shared();
        let misled = shared.find(|(_, set, function)| !function.calls.iter().all(|callee| reaches(callee, set)));
        misled.map(|(key, ..)| key.clone())
    }

    /// Gives every release its own copy.
    fn part(&mut self, key: &Key) {
        for (release, sets) in self.sets.iter_mut().enumerate() {
            if let Some(set) = sets.get_mut(key) {
                *set = Set::from([release]);
            }
        }
    }

    fn needed(&self) -> BTreeMap<Key, Head> {
        let called =
            self.shared().flat_map(|(_, set, function)| function.calls.iter().map(move |callee| (callee, set)));
        let asked = called.filter(|(callee, set)| !self.is_plain(callee, set));
        asked.filter_map(|(callee, _)| Some((callee.clone(), self.head(callee)?.clone()))).collect()
    }
}

fn functions(rendered: &Rendered) -> BTreeMap<Key, &Function> {
    let each = rendered.units.iter().flat_map(|unit| unit.functions.iter().map(|one| (&unit.module, one)));
    each.map(|(module, function)| ((module.clone(), function.name.clone()), function)).collect()
}

/// The releases in which each function of a release has the same text.
fn equal(own: &BTreeMap<Key, &Function>, all: &[BTreeMap<Key, &Function>]) -> BTreeMap<Key, Set> {
    let same = |key: &Key, function: &Function| {
        let has = |of: &BTreeMap<Key, &Function>| of.get(key).is_some_and(|other| other.text == function.text);
        all.iter().enumerate().filter(|(_, of)| has(of)).map(|(place, _)| place).collect()
    };
    own.iter().map(|(key, function)| (key.clone(), same(key, function))).collect()
}
