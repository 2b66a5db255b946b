//! What the tests that cross rooms share: where the sources are.
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// CPython's sources of a release (`3.13.5`), where `cargo xtask fetch` keeps them.
///
/// # Errors
/// A sentence that says how to obtain them.
pub fn sources(release: &str) -> Result<PathBuf, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir));
    let path = target.join("cpython").join(release);
    if path.is_dir() { Ok(path) } else { Err(format!("run `cargo xtask fetch {release}` first")) }
}
