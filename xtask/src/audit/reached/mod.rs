//! Which tests run which generated functions, as a run of them was measured. Data, made by `audit tests`.
//!
//! In: `xtask/reached.json`. Out: `Reached`. A test runs a function if a trace enters its generated body during the test, in the test's
//! own process.
mod line;
mod make;

pub use line::Tests;
pub use make::{Options, run};

use super::dossier::Key;
use crate::place;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The schema of the file.
const SCHEMA: &str = "slotrt-reached-1";

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Reached {
    schema: String,
    /// The interpreter: `3.13.0`.
    pub release: String,
    /// How many tests entered some generated function.
    pub measured: usize,
    /// The test files, which tests name by number.
    files: Vec<String>,
    /// By C file and name.
    functions: BTreeMap<String, BTreeMap<String, Tests>>,
}

/// The committed file.
fn place_of() -> PathBuf {
    place::root().join("xtask").join("reached.json")
}

/// What was measured last.
pub fn committed() -> Result<Reached> {
    let path = place_of();
    let text = std::fs::read_to_string(&path).with_context(|| place::shown(&path))?;
    serde_json::from_str(&text).with_context(|| place::shown(&path))
}

impl Reached {
    /// How many tests run a function, and those of them that run the fewest others, as `FILE TEST`.
    pub fn of(&self, key: &Key) -> (usize, Vec<String>) {
        let Some(tests) = self.functions.get(&key.0).and_then(|file| file.get(&key.1)) else { return (0, Vec::new()) };
        let name = |(file, test): &(usize, String)| Some(format!("{} {test}", self.files.get(*file)?));
        (tests.count, tests.focussed.iter().filter_map(name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_of_this_checkout() {
        let reached = committed().unwrap();
        assert_eq!(reached.schema, SCHEMA);
        for file in &reached.files {
            assert!(place::root().join(file).is_file(), "{file} is gone: `cargo xtask audit tests` measures again");
        }
        let (count, tests) = reached.of(&("Objects/abstract.c".to_owned(), "PyNumber_Or".to_owned()));
        assert!(count >= tests.len() && !tests.is_empty(), "{count} {tests:?}");
        assert_eq!(reached.of(&("Objects/abstract.c".to_owned(), "nonsense".to_owned())), (0, Vec::new()));
    }
}
