//! The link kit: a prefix with libraries, headers and package files.
use crate::place;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The place of everything in it.
#[derive(Clone, Debug)]
pub struct Kit {
    root: PathBuf,
}

impl Kit {
    /// The kit in this folder.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The prefix itself.
    pub fn prefix(&self) -> &Path {
        &self.root
    }

    /// Headers.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// Libraries that need no Python.
    pub fn lib(&self) -> PathBuf {
        self.root.join("lib")
    }

    /// Libraries for the interpreters of a release.
    pub fn lib_for(&self, series: &str) -> PathBuf {
        self.lib().join("slotrt").join(series)
    }

    /// Puts a text into the prefix.
    pub fn put(&self, path: &Path, text: &str) -> Result<()> {
        let path = self.root.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text).with_context(|| place::shown(&path))
    }

    /// Copies a file into a folder of the prefix.
    pub fn copy(&self, from: &Path, folder: &Path, name: &str) -> Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let to = folder.join(name);
        std::fs::copy(from, &to).with_context(|| format!("{} is missing", place::shown(from)))?;
        Ok(to)
    }

    /// The licences.
    pub fn licences(&self) -> Result<()> {
        let folder = self.root.join("share").join("licenses").join("slotrt");
        for name in ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-PSF"] {
            self.copy(&place::root().join(name), &folder, name)?;
        }
        Ok(())
    }
}
