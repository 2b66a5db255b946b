//! What comes without C sources: facts of a compiled library, and tables of an installation's headers.

use std::collections::BTreeMap;
use std::path::Path;

use super::GenerateError;
use super::committed::committed;
use super::instructions::{self, installations};
use super::releases::facts_file;
use super::sources::not_understood;
use crate::diagnostics::Diagnostics;
use crate::emit::{self, Change, File, Mode};
use crate::extract;
use crate::facts::{Facts, Installed};
use crate::preprocess::Configuration;
use crate::source::{SourceError, Tree};

/// Brings the facts of `series`, read from a compiled library, into line; gives what changes.
pub fn generate_binary(facts: &Facts, series: &str, root: &Path, mode: Mode) -> Result<Vec<Change>, GenerateError> {
    let file = facts_file(facts, format!("facts/{series}.json"))?;
    Ok(emit::write(root, std::slice::from_ref(&file.path), std::slice::from_ref(&file), mode)?)
}

/// Reads the headers of an installation of `series` and its `opcode.py`, and brings the tables of code objects and
/// frames into line; gives what changes. `rust` are the series that Rust is made of.
pub fn generate_installed(
    (include, opcode_py): (&Path, &Path),
    series: &str,
    rust: &[String],
    root: &Path,
    mode: Mode,
) -> Result<Vec<Change>, GenerateError> {
    let found = read(&installation(include, opcode_py)?, series)?;
    let path = format!("facts/installed/{series}.json");
    let text = serde_json::to_string_pretty(&found).map(|text| text + "\n");
    let text = text.map_err(|error| GenerateError::Facts { path: path.clone(), reason: error.to_string() })?;
    let mut installed = installations(root)?;
    installed.insert(series.to_owned(), found);
    let known = rust.iter().map(|series| Ok((series.clone(), committed(root, series)?)));
    let known: BTreeMap<String, Facts> = known.collect::<Result<_, GenerateError>>()?;
    let mut files = instructions::files(&known, &installed)?;
    files.push(File { path: path.clone(), text });
    files.sort();
    let owned = [path, "src/opcodes/".to_owned(), "src/layouts/".to_owned()];
    Ok(emit::write(root, &owned, &files, mode)?)
}

fn read(tree: &Tree, series: &str) -> Result<Installed, GenerateError> {
    if tree.release().series() != series {
        return Err(GenerateError::Release { wanted: series.to_owned(), found: tree.release().to_string() });
    }
    let mut diagnostics = Diagnostics::default();
    let configuration = Configuration::named("release", tree.release())?;
    let found = extract::installed(tree, &configuration, &mut diagnostics);
    found.filter(|_| !diagnostics.has_errors()).ok_or_else(|| not_understood(tree, diagnostics))
}

/// The headers of an installation and its `opcode.py` as one tree.
fn installation(include: &Path, opcode_py: &Path) -> Result<Tree, GenerateError> {
    let text = std::fs::read_to_string(opcode_py)
        .map_err(|error| SourceError::Unreadable { path: opcode_py.to_owned(), error })?;
    Ok(Tree::open(include)?.with("Lib/opcode.py", text)?)
}
