//! A CPython source tree in memory.

use super::units::why_no_unit;
use super::{Release, SourceError, SourceFile, file::hex};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Directories of a tree whose C is read.
const DIRECTORIES: [&str; 6] = ["Include", "Modules", "Objects", "Parser", "Programs", "Python"];
/// Files that are no C and hold facts: before 3.13 the opcodes' kinds stand only here.
const TABLES: [&str; 1] = ["Lib/opcode.py"];
/// No C file of any CPython has a tenth of this.
const FILE_LIMIT: u64 = 32 << 20;
/// A CPython has about 30 MB of C and headers.
const TREE_LIMIT: u64 = 512 << 20;
/// Deeper than any directory of CPython.
const DEPTH_LIMIT: usize = 12;

/// A CPython source tree (or the headers of an installation): release and C files, sorted by path.
#[derive(Debug, Clone)]
pub struct Tree {
    release: Release,
    files: Arc<[Arc<SourceFile>]>,
    by_path: FxHashMap<String, usize>,
    of_one_build: Vec<String>,
}

impl Tree {
    /// Opens a source tree, or the include directory of an installed CPython.
    pub fn open(root: &Path) -> Result<Tree, SourceError> {
        let mut paths = Vec::new();
        if root.join("Include/patchlevel.h").is_file() {
            for directory in DIRECTORIES {
                if root.join(directory).is_dir() {
                    list(root, Path::new(directory), directory, &mut paths, 0)?;
                }
            }
            for path in TABLES {
                if let Ok(metadata) = root.join(path).metadata() {
                    paths.push(Listed { on_disk: root.join(path), path: path.to_owned(), size: metadata.len() });
                }
            }
        } else if root.join("patchlevel.h").is_file() {
            list(root, Path::new(""), "Include", &mut paths, 0)?;
        } else if root.is_dir() {
            return Err(SourceError::NotCPython { path: root.to_owned() });
        } else {
            let error = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(SourceError::Unreadable { path: root.to_owned(), error });
        }
        let total: u64 = paths.iter().map(|listed| listed.size).sum();
        if total > TREE_LIMIT || paths.len() > 20_000 {
            return Err(SourceError::TreeTooLarge { path: root.to_owned(), limit: TREE_LIMIT });
        }
        let files: Result<Vec<_>, _> = paths.into_par_iter().map(Listed::read).collect();
        Tree::build(files?)
    }

    /// A tree made of texts, for tests and for trees that are not on disk; it needs `Include/patchlevel.h`.
    pub fn from_files(files: impl IntoIterator<Item = (String, String)>) -> Result<Tree, SourceError> {
        let file = |(path, text): (String, String)| SourceFile::new(path, text.into_bytes());
        Tree::build(files.into_iter().map(file).collect())
    }

    /// The same tree with one file more, or with another text of a file.
    pub fn with(&self, path: &str, text: String) -> Result<Tree, SourceError> {
        let others = self.files.iter().filter(|file| file.path() != path);
        let files = others.map(|file| (file.path().to_owned(), file.text().to_owned()));
        Tree::from_files(files.chain([(path.to_owned(), text)]))
    }

    fn build(mut files: Vec<SourceFile>) -> Result<Tree, SourceError> {
        files.sort_by(|a, b| a.path().cmp(b.path()));
        let patchlevel = files.iter().find(|f| f.path() == "Include/patchlevel.h");
        let patchlevel = patchlevel.ok_or(SourceError::NotCPython { path: PathBuf::from(".") })?;
        let unmerged: Vec<_> = files.iter().filter_map(|file| Some((file.path(), file.unmerged()?))).collect();
        if let Some((file, line)) = unmerged.first() {
            return Err(SourceError::Unmerged { file: (*file).to_owned(), line: *line, files: unmerged.len() });
        }
        let release = Release::from_patchlevel(patchlevel.path(), patchlevel.text())?;
        let mut of_one_build = Vec::new();
        if files.iter().any(|file| file.path().ends_with(".c")) {
            let (out, kept): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_of_one_build(file.path()));
            files = kept;
            of_one_build = out.iter().map(|file| file.path().to_owned()).collect();
        }
        let by_path = files.iter().enumerate().map(|(i, f)| (f.path().to_owned(), i)).collect();
        Ok(Tree { release, files: files.into_iter().map(Arc::new).collect(), by_path, of_one_build })
    }

    /// The release that `Include/patchlevel.h` names.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// The headers that say how one machine builds. Among sources none of them is read: the table of configurations stands in their
    /// place. An installation, which has headers alone, has its own, which is read.
    pub fn of_one_build(&self) -> &[String] {
        &self.of_one_build
    }

    /// All C files and headers, sorted by path.
    pub fn files(&self) -> &Arc<[Arc<SourceFile>]> {
        &self.files
    }

    /// The file of that path.
    pub fn file(&self, path: &str) -> Option<&Arc<SourceFile>> {
        self.index(path).and_then(|index| self.files.get(index))
    }

    /// The file of that path, or the only file of its name: releases move files.
    pub fn locate(&self, path: &str) -> Option<&Arc<SourceFile>> {
        self.index(path).or_else(|| self.only_file(path)).and_then(|index| self.files.get(index))
    }

    /// The only file with the last part of this path as its name, of headers the only one in `Include`.
    pub(crate) fn only_file(&self, path: &str) -> Option<usize> {
        let name = path.rsplit('/').next()?;
        let named = |file: &&(usize, &str)| file.1.rsplit('/').next() == Some(name);
        let paths = self.files.iter().map(|file| file.path()).enumerate();
        let found: Vec<(usize, &str)> = paths.filter(|file| named(&file)).collect();
        let api: Vec<_> = found.iter().filter(|(_, path)| path.starts_with("Include/")).collect();
        match (found.as_slice(), api.as_slice()) {
            ([only], _) => Some(only.0),
            (_, [only]) => Some(only.0),
            _ => None,
        }
    }

    /// The position in `files` of that path.
    pub(crate) fn index(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Paths of the `.c` files below a directory such as `Objects` that a Linux build compiles, sorted.
    pub fn units<'s>(&'s self, directory: &'s str) -> Vec<&'s str> {
        let sources = self.sources(directory);
        sources.filter(|path| why_no_unit(path).is_none()).collect()
    }

    /// The other `.c` files below the directory, each with the reason why it is no unit.
    pub fn not_units<'s>(&'s self, directory: &'s str) -> Vec<(&'s str, &'static str)> {
        let sources = self.sources(directory);
        sources.filter_map(|path| why_no_unit(path).map(|reason| (path, reason))).collect()
    }

    fn sources<'s>(&'s self, directory: &'s str) -> impl Iterator<Item = &'s str> {
        let below = move |path: &&str| {
            path.ends_with(".c") && path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
        };
        self.files.iter().map(|file| file.path()).filter(below)
    }

    /// SHA-256 over the paths and digests of all files: what output depends on.
    pub fn digest(&self) -> String {
        let mut all = Sha256::new();
        for file in self.files.iter() {
            all.update(file.path());
            all.update([0]);
            all.update(file.sha256());
            all.update([b'\n']);
        }
        hex(&all.finalize())
    }
}

struct Listed {
    on_disk: PathBuf,
    path: String,
    size: u64,
}

impl Listed {
    fn read(self) -> Result<SourceFile, SourceError> {
        if self.size > FILE_LIMIT {
            return Err(SourceError::TooLarge { path: self.on_disk, size: self.size, limit: FILE_LIMIT });
        }
        match std::fs::read(&self.on_disk) {
            Ok(bytes) => Ok(SourceFile::new(self.path, bytes)),
            Err(error) => Err(SourceError::Unreadable { path: self.on_disk, error }),
        }
    }
}

/// Lists the C files below `root/directory`, naming them below `prefix`.
fn list(root: &Path, directory: &Path, prefix: &str, out: &mut Vec<Listed>, depth: usize) -> Result<(), SourceError> {
    let here = root.join(directory);
    let unreadable = |error| SourceError::Unreadable { path: here.clone(), error };
    for entry in std::fs::read_dir(&here).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        // A link is not followed: it could lead out of the tree, or back.
        let metadata = entry.metadata().map_err(unreadable)?;
        let path = format!("{prefix}/{name}");
        if metadata.is_dir() {
            if depth < DEPTH_LIMIT {
                list(root, &directory.join(&name), &path, out, depth + 1)?;
            }
        } else if metadata.is_file() && is_c(&name) {
            out.push(Listed { on_disk: entry.path(), path, size: metadata.len() });
        }
    }
    Ok(())
}

fn is_of_one_build(path: &str) -> bool {
    path.rsplit('/').next() == Some("pyconfig.h")
}

fn is_c(name: &str) -> bool {
    [".c", ".h", ".inc", ".macros"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_patchlevel_is_refused() {
        let error = Tree::open(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err();
        assert!(error.to_string().contains("no CPython source tree"), "{error}");
    }

    const PATCHLEVEL: &str = "#define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_MAJOR_VERSION 3\n\
        #define PY_MINOR_VERSION 14\n#define PY_MICRO_VERSION 7\n#define PY_RELEASE_SERIAL 0\n";

    fn tree(files: &[(&str, &str)]) -> Result<Tree, SourceError> {
        let files = [("Include/patchlevel.h", PATCHLEVEL)].iter().chain(files);
        Tree::from_files(files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned())))
    }

    #[test]
    fn a_merge_that_is_not_finished_is_refused_with_its_place() {
        let unmerged = "int a;\n<<<<<<< HEAD\nint b;\n=======\nint c;\n>>>>>>> 3.14\n";
        let error = tree(&[("Objects/a.c", unmerged), ("Objects/b.c", unmerged)]).unwrap_err().to_string();
        assert!(error.starts_with("Objects/a.c:2: a merge that is not finished, in 2 of"), "{error}");
        assert!(tree(&[("Objects/a.c", "/*\n=======\n<<<<<<< x */\n")]).is_ok());
    }

    #[test]
    fn line_ends_of_windows_are_read_as_others() {
        let tree = tree(&[("Objects/a.c", "#define A \\\r\n  1\r\nint a;\r\n")]).unwrap();
        assert_eq!(tree.file("Objects/a.c").unwrap().text(), "#define A \\\n  1\nint a;\n");
    }

    #[test]
    fn an_absent_directory_is_refused() {
        let error = Tree::open(Path::new("no/such/directory")).unwrap_err();
        assert!(matches!(error, SourceError::Unreadable { .. }));
    }
}
