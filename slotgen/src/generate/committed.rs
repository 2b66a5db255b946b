//! What the folder `generated` holds of other releases, as data.

use std::collections::BTreeMap;
use std::path::Path;

use super::GenerateError;
use crate::facts::Facts;
use crate::source::built;
use crate::translate::{Elsewhere, Vocabulary};

/// The committed facts of a series in the folder `generated`.
pub fn committed(root: &Path, series: &str) -> Result<Facts, GenerateError> {
    let path = format!("facts/{series}.json");
    let wrong = |reason: String| GenerateError::Facts { path: path.clone(), reason };
    let text = std::fs::read_to_string(root.join(&path)).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

/// What newer releases than `series` in the folder `generated` ask of their worlds.
pub fn elsewhere(root: &Path, series: &str) -> Result<Elsewhere, GenerateError> {
    Ok(newer(&read_vocabularies(root, series)?, series))
}

/// The committed vocabularies of the other releases that Rust is made of.
fn read_vocabularies(root: &Path, but: &str) -> Result<BTreeMap<String, Vocabulary>, GenerateError> {
    read_json(root, "facts/vocabulary", but)
}

/// The order of series: 3.9 before 3.13.
pub(super) fn place_of(series: &str) -> Vec<u32> {
    series.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// The order in which releases name what they ask of their worlds: first those that the runtime is written for, newest first,
/// so that no release that somebody adds changes how they call it.
pub(super) fn rank(series: &str) -> (bool, std::cmp::Reverse<Vec<u32>>) {
    (!built().iter().any(|known| known == series), std::cmp::Reverse(place_of(series)))
}

/// What the releases that come before `series` ask of their worlds: there it takes over what it can.
pub(super) fn newer(vocabularies: &BTreeMap<String, Vocabulary>, series: &str) -> Elsewhere {
    let mut newer: Vec<_> =
        vocabularies.iter().filter(|(other, _)| series.is_empty() || rank(other) < rank(series)).collect();
    newer.sort_by_key(|(series, _)| rank(series));
    if newer.is_empty() {
        return Elsewhere::default();
    }
    let newer = newer.into_iter().fold(Vocabulary::default(), |all, (_, one)| all.and(one));
    Elsewhere { newer, suffix: format!("_{}", series.replace('.', "_")) }
}

/// The data files of a folder by series, all but one.
pub(super) fn read_json<T: serde::de::DeserializeOwned>(
    root: &Path,
    folder: &str,
    but: &str,
) -> Result<BTreeMap<String, T>, GenerateError> {
    let mut all = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return Ok(all) };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|name| *name != but) else {
            continue;
        };
        let wrong = |reason: String| GenerateError::Facts { path: format!("{folder}/{name}.json"), reason };
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        all.insert(name.to_owned(), serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(all)
}
