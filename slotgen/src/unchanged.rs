//! Remembers what a check depended on, so that the same check is not made twice.
//!
//! A check depends on the sources, on the program that makes it, and on `generated/`, all by content: no time stamp counts.
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::source::{Tree, hex, sha256};

/// Where it is remembered what a check found, and what it depended on.
#[derive(Debug)]
pub struct Unchanged<'u> {
    /// A folder of its own.
    pub records: &'u Path,
    /// The source trees.
    pub trees: &'u [Tree],
    /// The folder `generated`.
    pub generated: &'u Path,
}

impl Unchanged<'_> {
    /// What was found when everything was as it is now.
    pub fn recall(&self) -> Option<String> {
        std::fs::read_to_string(self.record().ok()?).ok()
    }

    /// Keeps what was found, for as long as everything stays as it is now.
    pub fn remember(&self, found: &str) -> io::Result<()> {
        std::fs::create_dir_all(self.records)?;
        std::fs::write(self.record()?, found)
    }

    fn record(&self) -> io::Result<PathBuf> {
        Ok(self.records.join(key(self.trees, self.generated)?))
    }
}

fn key(trees: &[Tree], generated: &Path) -> io::Result<String> {
    let mut all = Sha256::new();
    all.update(std::fs::read(std::env::current_exe()?)?);
    for tree in trees {
        all.update(tree.release().to_string());
        all.update(tree.digest());
    }
    let mut files = Vec::new();
    list(generated, &mut files)?;
    files.sort();
    let digests: io::Result<Vec<String>> = files.par_iter().map(|path| Ok(sha256(&std::fs::read(path)?))).collect();
    for (path, digest) in files.iter().zip(digests?) {
        all.update(path.strip_prefix(generated).unwrap_or(path).to_string_lossy().as_bytes());
        all.update([0]);
        all.update(digest);
    }
    Ok(hex(&all.finalize()))
}

/// The files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => waiting.push(path),
                false => files.push(path),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_of_contents() {
        let folder = std::env::temp_dir().join(format!("slotgen-unchanged-{}", std::process::id()));
        let inside = folder.join("src");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(inside.join("a.rs"), "1").unwrap();
        let tree = |minor: u32| {
            let text = format!(
                "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION {minor}\n#define PY_MICRO_VERSION 5\n\
                #define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_RELEASE_SERIAL 0\n"
            );
            Tree::from_files([("Include/patchlevel.h".to_owned(), text)]).unwrap()
        };
        let first = key(&[tree(13)], &folder).unwrap();
        assert_eq!(first, key(&[tree(13)], &folder).unwrap());
        assert_ne!(first, key(&[tree(12)], &folder).unwrap());
        std::fs::write(inside.join("a.rs"), "2").unwrap();
        assert_ne!(first, key(&[tree(13)], &folder).unwrap());
        let trees = [tree(13)];
        let unchanged = Unchanged { records: &folder.join("records"), trees: &trees, generated: &inside };
        assert_eq!(unchanged.recall(), None);
        unchanged.remember("well").unwrap();
        assert_eq!(unchanged.recall().as_deref(), Some("well"));
        std::fs::write(inside.join("b.rs"), "").unwrap();
        assert_eq!(unchanged.recall(), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
