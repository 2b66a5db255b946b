//! The CPython releases whose sources can be obtained, read from `xtask/releases.toml`.
use crate::ui::Advise;
use anyhow::{Context, Result, anyhow};
use serde::Deserialize;

/// One pinned release.
#[derive(Clone, Debug, Deserialize)]
pub struct Pin {
    /// `3.13.5`.
    pub version: String,
    /// `3.13`.
    pub series: String,
    /// `tar.xz` or `tgz`.
    pub extension: String,
    /// SHA-256 of the tarball, lower-case hex.
    pub sha256: String,
    /// Debian suite whose source package holds this very tarball.
    pub suite: String,
    /// Name of that source package.
    pub package: String,
}

impl Pin {
    /// Name of the tarball on python.org.
    pub fn file_name(&self) -> String {
        format!("Python-{}.{}", self.version, self.extension)
    }
}

#[derive(Deserialize)]
struct File {
    release: Vec<Pin>,
}

/// All pinned releases.
pub fn all() -> Result<Vec<Pin>> {
    let file: File = toml::from_str(include_str!("../../releases.toml")).context("xtask/releases.toml is damaged")?;
    Ok(file.release)
}

/// The release that a user means by `3.13` or `3.13.15`.
pub fn named(name: &str) -> Result<Pin> {
    let all = all()?;
    let found = all.iter().find(|pin| pin.version == name || pin.series == name).cloned();
    let known = all.iter().map(|pin| pin.version.as_str()).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| anyhow!("no sources are known for CPython {name}")).advise(format!(
        "pinned releases: {known}; for others pass `--source DIR|TARBALL`, or add a row to xtask/releases.toml"
    ))
}

/// `3.13.5` → `3.13`.
pub fn series_of(version: &str) -> String {
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_means_its_first_release() {
        assert_eq!(named("3.13").unwrap().version, "3.13.5");
        assert_eq!(named("3.13.15").unwrap().version, "3.13.15");
        assert!(named("3.1").is_err());
        assert_eq!(series_of("3.13.15"), "3.13");
    }

    #[test]
    fn pins_are_whole() {
        for pin in all().unwrap() {
            assert_eq!(pin.sha256.len(), 64, "{}", pin.version);
            assert_eq!(pin.series, series_of(&pin.version));
        }
    }
}
