//! The one writer: compares, and replaces the whole directory or nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::file::{File, MARK};

/// What to do with the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Replace the directory.
    Write,
    /// Only compare, for `--check`.
    Check,
    /// Only compare, and say what `Write` would do.
    DryRun,
}

/// A difference between what is on disk and what should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The file is missing.
    Added(String),
    /// The file differs, first in this line.
    Changed(String, usize),
    /// The file is generated and no longer wanted.
    Removed(String),
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Added(path) => write!(f, "missing: {path}"),
            Self::Changed(path, line) => write!(f, "differs: {path}, line {line}"),
            Self::Removed(path) => write!(f, "stale: {path}"),
        }
    }
}

/// Why `generated/` could not be read or replaced.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file system refused.
    #[error("{path}: {error}")]
    Io {
        /// The path that was being read or written.
        path: PathBuf,
        /// What the file system said.
        error: io::Error,
    },
    /// A hand-written file stands where a generated one belongs.
    #[error(
        "{0} is not a generated file (its first line does not say `{MARK}`); move it away and run the command again"
    )]
    HandWritten(String),
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, WriteError> {
    result.map_err(|error| WriteError::Io { path: path.to_owned(), error })
}

/// Brings the generated files below `root` into line with `files`.
///
/// `owned` are the folders and files that this run is responsible for: a generated file there that is not among
/// `files` is stale. Nothing is touched unless something changed, and then the whole of `root` is replaced by a
/// finished copy.
pub fn write(root: &Path, owned: &[String], files: &[File], mode: Mode) -> Result<Vec<Change>, WriteError> {
    recover(root)?;
    let mut present = BTreeMap::new();
    read_below(root, "", &mut present)?;
    let changes = compare(&present, owned, files)?;
    if mode == Mode::Write && !changes.is_empty() {
        for change in &changes {
            if let Change::Removed(path) = change {
                present.remove(path);
            }
        }
        for file in files {
            present.insert(file.path.clone(), file.text.clone().into_bytes());
        }
        replace(root, &present)?;
    }
    Ok(changes)
}

fn compare(present: &BTreeMap<String, Vec<u8>>, owned: &[String], files: &[File]) -> Result<Vec<Change>, WriteError> {
    let mut changes = Vec::new();
    for file in files {
        match present.get(&file.path) {
            None => changes.push(Change::Added(file.path.clone())),
            Some(bytes) if bytes == file.text.as_bytes() => {}
            Some(bytes) if is_generated(&file.path, bytes) => {
                changes.push(Change::Changed(file.path.clone(), first_difference(bytes, file.text.as_bytes())));
            }
            Some(_) => return Err(WriteError::HandWritten(file.path.clone())),
        }
    }
    for (path, bytes) in present {
        let ours = owned.iter().any(|prefix| path == prefix || (prefix.ends_with('/') && path.starts_with(prefix)));
        if ours && is_generated(path, bytes) && !files.iter().any(|file| file.path == *path) {
            changes.push(Change::Removed(path.clone()));
        }
    }
    changes.sort();
    Ok(changes)
}

/// JSON has no comments: what lies in `facts/` is generated.
fn is_generated(path: &str, bytes: &[u8]) -> bool {
    path.starts_with("facts/") || bytes.split(|&byte| byte == b'\n').next().is_some_and(|line| contains(line, MARK))
}

fn contains(line: &[u8], words: &str) -> bool {
    line.windows(words.len()).any(|window| window == words.as_bytes())
}

fn first_difference(left: &[u8], right: &[u8]) -> usize {
    let same = left.iter().zip(right).take_while(|(a, b)| a == b);
    same.filter(|(byte, _)| **byte == b'\n').count() + 1
}

fn read_below(directory: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), WriteError> {
    for entry in at(directory, fs::read_dir(directory))? {
        let entry = at(directory, entry)?;
        let path = entry.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let name = format!("{prefix}{name}");
        if at(&path, entry.file_type())?.is_dir() {
            read_below(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, at(&path, fs::read(&path))?);
        }
    }
    Ok(())
}

fn sibling(root: &Path, suffix: &str) -> PathBuf {
    let mut name = root.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    root.with_file_name(name)
}

/// Finishes a replacement that was interrupted between its two renames.
fn recover(root: &Path) -> Result<(), WriteError> {
    let old = sibling(root, ".old");
    if !root.exists() && old.exists() {
        at(&old, fs::rename(&old, root))?;
    }
    Ok(())
}

/// Writes a finished copy beside `root`, then puts it in its place.
fn replace(root: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), WriteError> {
    let (new, old) = (sibling(root, ".new"), sibling(root, ".old"));
    for leftover in [&new, &old] {
        if leftover.exists() {
            at(leftover, fs::remove_dir_all(leftover))?;
        }
    }
    for (path, bytes) in files {
        let path = new.join(path);
        if let Some(parent) = path.parent() {
            at(parent, fs::create_dir_all(parent))?;
        }
        at(&path, fs::write(&path, bytes))?;
    }
    at(root, fs::rename(root, &old))?;
    at(&new, fs::rename(&new, root))?;
    at(&old, fs::remove_dir_all(&old))
}
