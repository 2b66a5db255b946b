//! Paths: the repository, and the folders under `target/`.
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The target directory that cargo uses for this build.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Cargo's target directory for builds against the interpreter of a release (`3.13`), so that releases do not thrash each other.
pub fn python_target(series: &str) -> PathBuf {
    target().join("python").join(series)
}

/// A path as a person likes to read it: relative to the repository where it lies inside.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
