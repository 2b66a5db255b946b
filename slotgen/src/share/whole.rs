//! Modules that releases share as a whole, or not at all.

use std::collections::BTreeMap;

use super::releases::{Releases, Set};
use crate::emit::File;

/// A module of this name by what each release has in it.
#[must_use]
pub fn whole(releases: &Releases, name: &str, texts: &[String]) -> Vec<File> {
    let mut sets: BTreeMap<&str, Set> = BTreeMap::new();
    for (place, text) in texts.iter().enumerate() {
        sets.entry(text).or_default().insert(place);
    }
    sets.iter().map(|(text, set)| releases.file(set, name, text)).collect()
}
