//! Which CPython release a user means, and which Debian source package holds its tarball.
use crate::ui::Advise;
use anyhow::{Context, Result, anyhow};
use serde::Deserialize;
use slotgen::source::{Pin, pin, pins};

/// A Debian source package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// `3.13.5`.
    release: String,
    /// `trixie`.
    pub suite: String,
    /// `python3.13`.
    pub name: String,
}

#[derive(Deserialize)]
struct File {
    package: Vec<Package>,
}

/// The release that a user means by `3.13` or `3.13.15`.
pub fn named(name: &str) -> Result<&'static Pin> {
    let known = pins().iter().map(|pin| pin.release.as_str()).collect::<Vec<_>>().join(", ");
    pin(name).ok_or_else(|| anyhow!("no sources are known for CPython {name}")).advise(format!(
        "pinned releases: {known}; for others pass `--source DIR|TARBALL`, or add a row to slotgen/data/releases.toml"
    ))
}

/// Debian's source package of the release, if one is known.
pub fn package(release: &str) -> Result<Option<Package>> {
    let file: File = toml::from_str(include_str!("../../debian.toml")).context("xtask/debian.toml is damaged")?;
    Ok(file.package.into_iter().find(|package| package.release == release))
}

/// `3.13.5` → `3.13`.
pub fn series_of(version: &str) -> String {
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_means_one_release() {
        assert_eq!(named("3.13").unwrap().release, "3.13.5");
        assert_eq!(named("3.13.15").unwrap().release, "3.13.15");
        assert!(named("3.1").is_err());
        assert_eq!(series_of("3.13.15"), "3.13");
    }

    #[test]
    fn every_package_is_of_a_pinned_release() {
        assert_eq!(package("3.13.15").unwrap().unwrap().suite, "forky");
        for pin in pins() {
            assert!(pin.on_demand || package(&pin.release).unwrap().is_some(), "{}", pin.release);
        }
    }
}
