//! Where things are: the repository, and what is kept under `target/`.
use anyhow::{Context, Result};
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

/// The files that hold a release's Rust: its own first, then those that it has in common with others.
pub fn generated(series: &str) -> Result<Vec<PathBuf>> {
    let source = root().join("generated").join("src");
    let own = format!("v{}", series.replace('.', "_"));
    let names = |folder: &Path| -> Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(folder).with_context(|| shown(folder))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        Ok(paths)
    };
    // `v3_11_v3_13` is what these two have in common.
    let takes_part =
        |name: &str| name == "shared" || name.split("_v").any(|part| part.trim_start_matches('v') == &own[1..]);
    let mut folders = names(&source)?;
    folders.retain(|path| path.is_dir() && path.file_name().and_then(|name| name.to_str()).is_some_and(takes_part));
    folders.sort_by_key(|path| (!path.ends_with(&own), path.ends_with("shared")));
    let files: Vec<Vec<PathBuf>> = folders.iter().map(|folder| names(folder)).collect::<Result<_>>()?;
    Ok(files.into_iter().flatten().collect())
}

/// A path as a person likes to read it: relative to the repository where it lies inside.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
