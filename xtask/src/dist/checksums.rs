//! `SHA256SUMS`, in the form that `sha256sum --check` reads.
use crate::place;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const NAME: &str = "SHA256SUMS";

/// Writes the sums of all files in a folder.
pub fn write(folder: &Path) -> Result<()> {
    let mut text = String::new();
    for path in files(folder)? {
        let bytes = std::fs::read(folder.join(&path)).with_context(|| place::shown(&path))?;
        let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{sum}  {}", path.display())?;
    }
    Ok(std::fs::write(folder.join(NAME), text)?)
}

/// The files of a folder, but the sums, as paths from it, sorted.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    below(folder, folder, &mut found)?;
    found.retain(|path| path != Path::new(NAME));
    found.sort();
    Ok(found)
}

fn below(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| place::shown(folder))? {
        let path = entry?.path();
        if path.is_dir() {
            below(root, &path, found)?;
        } else {
            found.push(path.strip_prefix(root)?.to_owned());
        }
    }
    Ok(())
}
