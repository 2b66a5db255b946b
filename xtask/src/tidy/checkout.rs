//! The files that the rules look at: what git tracks or would track.
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// A text file of the checkout.
#[derive(Debug)]
pub struct File {
    /// Path from the workspace root, with `/`.
    pub path: String,
    /// Its text; files that are not UTF-8 are left out.
    pub text: String,
}

impl File {
    /// Whether slotgen writes it.
    pub fn is_generated(&self) -> bool {
        let generated = self.path.starts_with("generated/");
        generated
            && !matches!(self.path.as_str(), "generated/Cargo.toml" | "generated/src/lib.rs")
            && !crate_facade(&self.path)
    }
}

/// Hand-written modules of the generated crate say so in their first line.
fn crate_facade(path: &str) -> bool {
    std::fs::read_to_string(root().join(path))
        .is_ok_and(|text| text.lines().next().is_some_and(|line| line.contains("Hand-written")))
}

/// The workspace root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// All text files, sorted by path.
pub fn files() -> Result<Vec<File>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .context("tidy asks git which files belong to the project; is git installed?")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut files: Vec<File> = listing.split('\0').filter(|path| !path.is_empty()).filter_map(read).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}

fn read(path: &str) -> Option<File> {
    let text = std::fs::read_to_string(root().join(path)).ok()?;
    Some(File { path: path.to_owned(), text })
}
