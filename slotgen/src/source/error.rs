//! Why a directory, or an archive, could not be used as a CPython source tree.

use std::path::PathBuf;

/// Why a directory, or an archive, could not be used as a CPython source tree.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The directory is absent or cannot be listed.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// There is no `Include/patchlevel.h` (nor `patchlevel.h`) to tell the release.
    #[error(
        "{path} is no CPython source tree: it has no Include/patchlevel.h\n  help: name the directory that holds Include/, Objects/ and Python/"
    )]
    NotCPython {
        /// The directory.
        path: PathBuf,
    },
    /// `patchlevel.h` does not define what tells the release.
    #[error("{file}: `{name}` is not defined as a number, so the release is unknown")]
    NoRelease {
        /// The header.
        file: String,
        /// The macro that is missing.
        name: &'static str,
    },
    /// Somebody has merged two releases, or branches, and not finished: which side is meant is not known.
    #[error(
        "{file}:{line}: a merge that is not finished, in {files} of the tree's files\n  help: finish the merge, or take the files of one side; git diff --name-only --diff-filter=U lists them"
    )]
    Unmerged {
        /// The first file.
        file: String,
        /// Its first line that says so.
        line: usize,
        /// How many files there are.
        files: usize,
    },
    /// A file is larger than any source file of CPython could be.
    #[error("{path} has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The tree as a whole is larger than any CPython could be.
    #[error("{path} holds more than {limit} bytes of C in more files than a CPython has")]
    TreeTooLarge {
        /// The root directory.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The archive is not the one upstream published.
    #[error(
        "{name}: SHA-256 is {found}, but {expected} is pinned\n  help: fetch the archive again; it is damaged or not the upstream one"
    )]
    WrongHash {
        /// The archive's name.
        name: String,
        /// The pinned digest.
        expected: String,
        /// The digest found.
        found: String,
    },
}
