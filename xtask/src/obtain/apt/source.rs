//! The upstream tarball inside Debian's source package.
use super::Suite;
use crate::obtain::releases::{self, Package};
use crate::run;
use anyhow::{Context, Result, anyhow, bail};
use slotgen::source::Pin;
use std::path::{Path, PathBuf};

/// The tarball's bytes.
pub fn fetch(pin: &Pin) -> Result<Vec<u8>> {
    let package = releases::package(&pin.release)?
        .ok_or_else(|| anyhow!("no Debian suite is known to hold CPython {}", pin.release))?;
    let suite = Suite::open(&package.suite, "deb-src")?;
    let download = ["--download-only", "source", &package.name];
    run::output(suite.apt_get().args(download).current_dir(suite.path("source")))?;
    let tarball = tarball(&suite.path("source"), &package, pin)?;
    std::fs::read(&tarball).with_context(|| format!("{} cannot be read", tarball.display()))
}

/// The `.orig.tar.*` of the wanted version.
fn tarball(directory: &Path, package: &Package, pin: &Pin) -> Result<PathBuf> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&format!("{}_{}.orig.tar.", package.name, pin.release)) && !name.ends_with(".asc") {
            return Ok(entry.path());
        }
        names.push(name);
    }
    names.sort();
    let Package { suite, name, .. } = package;
    bail!("suite {suite} has no {name} {} any more; it serves {}", pin.release, names.join(", "))
}
